"""The skill library: search, read, compare versions, and watch a skill play."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import ContentSwitcher, OptionList, Static

from studio import keymap
from studio.screens.searching import FilterLine, Searching
from studio.widgets.code_view import CodeView
from studio.widgets.diff_view import DiffView
from studio.widgets.evaluation_panel import EvaluationPanel
from studio.widgets.key_bar import KeyBar
from studio.widgets.paint import spread, toned
from studio.widgets.pick_list import PickList
from studio.widgets.skill_rows import head, kinds_words, row
from studio.widgets.too_small import TooSmall
from studio.words import plural

if TYPE_CHECKING:
    from textual.widget import Widget

    from skills_db.records import SkillKind, SkillRecord, SkillVersionRecord
    from studio.run_bridge import StudioData

LIMIT = 200
_KINDS: tuple[SkillKind | None, ...] = (None, "coded_action", "policy")
_NONE_YET = """\
No skill yet.

A skill is code or a trained policy that worked. To get the first one, go back (esc), start
the task that is offered, approve its plan and its code, and save what works at the end."""
_NONE_FITS = "No skill fits. Esc shows all again; t and o change kind and world."
_FIRST_SEED = 1_000_000


class SkillsScreen(Searching[None]):
    """List at the left (above when narrow), the chosen skill beside it."""

    BINDINGS = keymap.bindings("find", "skills") + keymap.bindings(
        "dialog", only=frozenset({"dialog.back"})
    )

    def __init__(self, data: StudioData) -> None:
        super().__init__()
        self._data = data
        self._kind: SkillKind | None = None
        self._world: str | None = None
        self._worlds: tuple[str, ...] = ()
        self._skills: tuple[SkillRecord, ...] = ()
        self._versions: tuple[SkillVersionRecord, ...] = ()
        self._shown = 0
        self._diff = False

    def compose(self) -> ComposeResult:
        """Title, filter, list and page."""
        yield TooSmall()
        yield Static(markup=False, id="skills-title", classes="screen-title")
        yield FilterLine(placeholder="words in name, description or code", compact=True)
        with Container(classes="list-and-page"):
            yield PickList(classes="page-list")
            with Vertical(classes="page"):
                yield Static(markup=False, id="skill-head", classes="page-head")
                with ContentSwitcher(initial="skill-code", id="skill-body"):
                    yield CodeView(id="skill-code")
                    yield DiffView(id="skill-diff")
                    yield EvaluationPanel(id="skill-evaluation")
        yield Static(_NONE_YET, markup=False, id="skills-empty", classes="empty")
        yield KeyBar()

    def on_mount(self) -> None:
        """Read the library once there is something on the screen."""
        self.listed.focus()
        self._draw_title()

    # --- reading ------------------------------------------------------------------------------

    @work(group="skills", exclusive=True, exit_on_error=False)
    async def reload(self) -> None:
        """Query the library; the list keeps its place."""
        words, world, kind = self.words, self._world, self._kind
        try:
            self._skills = await self.app.in_thread(
                lambda: self._data.library.skills(words=words, world=world, kind=kind, limit=LIMIT)
            )
        except Exception as error:
            self.app.show_error("The skills could not be read", error)
            return
        self._worlds = tuple(sorted({*self._worlds, *(skill.world for skill in self._skills)}))
        self._draw()

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        name = event.option_id
        if name and not (self._versions and self._versions[0].skill == name):
            self._load(name)

    @work(group="skill", exclusive=True, exit_on_error=False)
    async def _load(self, name: str) -> None:
        try:
            self._versions = await self.app.in_thread(lambda: self._data.library.versions(name))
        except Exception as error:
            self.app.show_error(f"The skill {name!r} could not be read", error)
            return
        self._shown, self._diff = 0, False
        self._draw_page()

    # --- what one can do ----------------------------------------------------------------------

    @property
    def shown(self) -> SkillVersionRecord | None:
        """The version on the page."""
        return self._versions[self._shown] if self._versions else None

    @property
    def previous(self) -> SkillVersionRecord | None:
        """The version before it."""
        before = self._shown + 1
        return self._versions[before] if before < len(self._versions) else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what applies to the version on the page is offered."""
        shown = self.shown
        if action == "watch":
            return shown is not None
        if action == "copy_code":
            return shown is not None and bool(shown.code)
        if action == "toggle_diff":
            return shown is not None and self.previous is not None and bool(shown.code)
        if action == "next_world":
            return len(self._worlds) > 1
        return True

    def action_next_kind(self) -> None:
        """All kinds, coded actions, policies, and round again."""
        self._kind = _KINDS[(_KINDS.index(self._kind) + 1) % len(_KINDS)]
        self.reload()

    def action_next_world(self) -> None:
        """All worlds, then one after the other."""
        order = (None, *self._worlds)
        self._world = order[(order.index(self._world) + 1) % len(order)]
        self.reload()

    def action_version(self, step: int) -> None:
        """Another version of the same skill; the newest is first in the list."""
        other = self._shown - step
        if 0 <= other < len(self._versions):
            self._shown = other
            self._draw_page()

    def action_toggle_diff(self) -> None:
        """The whole code, or what changed since the version before."""
        self._diff = not self._diff
        self._draw_page()

    def action_copy_code(self) -> None:
        """The code goes to the clipboard by OSC 52, which works over SSH, too."""
        if self.shown is not None:
            self.app.copy_to_clipboard(self.shown.code)
            lines = plural(len(self.shown.code.splitlines()), "line")
            self.app.toast(f"Copied {self.shown.skill} v{self.shown.version}, {lines}.")

    def action_watch(self) -> None:
        """Let the skill play an episode of a world it was not trained in."""
        from studio.screens.play import PlayScreen

        if self.shown is not None:
            self.app.push_screen(PlayScreen(self._data, self.shown, _FIRST_SEED))

    # --- drawing --------------------------------------------------------------------------------

    def _draw(self) -> None:
        some = bool(self._skills)
        filtered = bool(self.words or self._kind or self._world)
        self.show_list(some)
        empty = self.query_one("#skills-empty", Static)
        empty.display = not some
        empty.update(_NONE_FITS if filtered else _NONE_YET)
        self._draw_title()
        if not some:
            self._versions = ()
        now = self.app.now()
        self.listed.show_rows(
            self._skills, lambda skill: skill.name, lambda skill, width: row(skill, width, now)
        )
        self._draw_page()

    def _draw_title(self) -> None:
        title = self.query_one("#skills-title", Static)
        kinds = "all kinds" if self._kind is None else f"{kinds_words(self._kind)} only"
        worlds = "all worlds" if self._world is None else self._world
        count = plural(len(self._skills), "skill")
        if len(self._skills) == LIMIT:
            count = f"the newest {LIMIT} skills"
        left = Content.assemble(("Skills", "bold $text-accent"), f"  {count}")
        right = toned(f"{kinds}, {worlds}", "muted")
        title.update(spread(left, right, max(20, self.size.width - 2)))

    def _draw_page(self) -> None:
        version = self.shown
        self.refresh_bindings()
        if version is None:
            return
        place = self.query_one("#skill-head", Static)
        width = max(20, place.content_size.width)
        place.update(head(version, len(self._versions), width, self.app.now()))
        switcher = self.query_one("#skill-body", ContentSwitcher)
        switcher.current = self._fill_body(version).id

    def _fill_body(self, version: SkillVersionRecord) -> Widget:
        previous = self.previous
        if self._diff and previous is not None and version.code:
            diff = self.query_one(DiffView)
            diff.show(previous.code, version.code)
            return diff
        evaluation = version.metadata.get("evaluation")
        if not version.code and isinstance(evaluation, dict):
            panel = self.query_one(EvaluationPanel)
            panel.show(evaluation, version.agents)
            return panel
        code = self.query_one(CodeView)
        code.show(version.code)
        return code
