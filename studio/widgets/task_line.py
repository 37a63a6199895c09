"""The task line: what should be learnt, where, by which agents, in how many frames, how fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Label, Select, Static

from studio import keymap
from studio.counts import CountError, parse_count
from studio.widgets.paint import MUTED
from studio.words import FAST_MODE

AGENTS = (("rules", "rules"), ("llm", "llm"), ("replay", "replay"))
EXECUTORS = (("the sandbox", "monty"), ("fast mode", "fast"))
AGENT_WORDS = {
    "rules": "rules: no model, no key, no network",
    "llm": "llm: a language model plans and writes the code",
    "replay": "replay: the recorded answers of a model are given again, for free",
}


@dataclass(frozen=True, slots=True)
class Wish:
    """What the person typed, not yet checked against anything."""

    task: str
    world: str
    agents: str
    frames: int
    seed: int
    fast_mode: bool = False


class TaskInput(Input):
    """A field of the task line; enter in it is the registry's key for starting."""

    BINDINGS = keymap.bindings("start")

    async def action_go(self) -> None:
        """Submit."""
        await self.action_submit()


class TaskLine(Vertical):
    """A form that is complete from the start: enter anywhere in it starts the run."""

    class Submitted(Message):
        """The person wants this run."""

        def __init__(self, wish: Wish) -> None:
            super().__init__()
            self.wish = wish

    def __init__(self, wish: Wish, worlds: Sequence[str], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._wish = wish
        self._worlds = tuple(worlds)
        self._missing = ""

    def compose(self) -> ComposeResult:
        """The task on a line of its own, the rest on the next."""
        wish = self._wish
        yield Label("What should be learnt?", classes="task-title", markup=False)
        yield TaskInput(wish.task, placeholder="a task in words", id="task")
        with Horizontal(classes="task-options"):
            yield Label("world", markup=False)
            worlds = [(name, name) for name in self._worlds]
            yield Select(worlds, value=wish.world, allow_blank=False, compact=True, id="world")
            yield Label("agents", markup=False)
            kind, _, source = wish.agents.partition(":")
            yield Select(AGENTS, value=kind, allow_blank=False, compact=True, id="agents")
            yield Label("frames", markup=False)
            yield TaskInput(f"{wish.frames:,}", compact=True, id="frames")
            yield Label("seed", markup=False)
            yield TaskInput(str(wish.seed), compact=True, id="seed")
        with Horizontal(classes="task-options"):
            yield Label("in training, approved code runs in", markup=False)
            chosen = "fast" if wish.fast_mode else "monty"
            yield Select(EXECUTORS, value=chosen, allow_blank=False, compact=True, id="executor")
            yield Label("replay of", markup=False, classes="of-replay")
            hint = "a run, latest, or a file"
            yield TaskInput(
                source, placeholder=hint, compact=True, id="recording", classes="of-replay"
            )
        yield Static(markup=False, id="task-note")

    def on_mount(self) -> None:
        """Say what the chosen agents are."""
        self._note()

    @property
    def wish(self) -> Wish:
        """What stands in the fields now.

        Raises:
            CountError: frames or seed is no number.
        """
        return Wish(
            task=self.query_one("#task", Input).value.strip(),
            world=str(self.query_one("#world", Select).value),
            agents=self.agents + (f":{self.recording}" if self.agents == "replay" else ""),
            frames=parse_count(self.query_one("#frames", Input).value, "frames"),
            seed=parse_count(self.query_one("#seed", Input).value, "the seed"),
            fast_mode=self.fast_mode,
        )

    @property
    def agents(self) -> str:
        """The kind of agents chosen now."""
        return str(self.query_one("#agents", Select).value)

    @property
    def recording(self) -> str:
        """Run or file whose answers are played back; it counts when `replay` is chosen."""
        return self.query_one("#recording", Input).value.strip()

    @property
    def fast_mode(self) -> bool:
        """Whether fast mode is allowed."""
        return bool(self.query_one("#executor", Select).value == "fast")

    def begin_anew(self) -> None:
        """The keyboard to the task, all of it selected."""
        task = self.query_one("#task", Input)
        task.focus()
        task.select_all()

    def say_missing(self, missing: str) -> None:
        """What the language model still wants; said as long as it is chosen."""
        self._missing = missing
        self._note()

    def refuse(self, reason: str) -> None:
        """Say below the fields why the run cannot start."""
        self.query_one("#task-note", Static).update(Content.styled(f"✗ {reason}", "$text-error"))

    @on(Input.Submitted)
    def submit(self) -> None:
        """Start the run, or say what is missing."""
        try:
            wish = self.wish
        except CountError as error:
            self.refuse(str(error))
            return
        if not wish.task:
            self.refuse("say in words what should be learnt")
            self.query_one("#task", Input).focus()
            return
        if wish.agents == "replay:":
            self.refuse("say which run or file is played back")
            self.query_one("#recording", Input).focus()
            return
        self.post_message(self.Submitted(wish))

    @on(Select.Changed, "#agents, #executor")
    @on(Input.Changed)
    def _note(self) -> None:
        agents, parts = self.agents, []
        for widget in self.query(".of-replay"):
            widget.display = agents == "replay"
        parts.append(Content.styled(AGENT_WORDS.get(agents, agents), MUTED))
        if agents == "llm" and self._missing:
            parts.append(Content.styled(f"! {self._missing}", "$text-warning"))
        if self.fast_mode:
            parts.append(Content.styled(f"fast mode: {FAST_MODE}", MUTED))
        self.query_one("#task-note", Static).update(Content("\n").join(parts))
