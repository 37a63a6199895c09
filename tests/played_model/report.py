"""What a run by a language model came to: programs that passed the check, trials, tokens.

    python tests/played_model/report.py HOME RUN [--keep NAME]

HOME is the studio's home the run lives in (or a file of `rlgpt-studio runs show RUN --calls -o
json`, which knows nothing of trials); RUN may be `latest`. `--keep` writes the run's calls and how
it ended to `transcripts/`, to be played back by a test. See README.md.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engine.agents.llm.answers import CodeAnswer, bare_code, code_in_text
from engine.config import TrainingConfig
from engine.events import CodeProposed, CritiqueGiven, PlanApproved, TrialFinished
from engine.llm.answers import InvalidReply, parse_answer
from engine.sandbox.pool import Sandbox
from engine.worlds.registry import get_world
from skills_db.database import Database

TRANSCRIPTS = Path(__file__).parent / "transcripts"
NOT_KEPT = ("llm", "agents", "approve", "prompts")
"""Settings that are of the machine a run was recorded on, or given anew by who plays it back."""
_SUB_ACTION = re.compile(r"Sub-action `([a-z0-9_]+)`")
_AGAIN = "\n\n## assistant\n"


@dataclass(frozen=True)
class Story:
    """A run as it was recorded."""

    run: str
    task: str
    world: str
    state: str
    config: Mapping[str, Any]
    result: Mapping[str, Any]
    calls: Sequence[Mapping[str, Any]]
    events: Sequence[tuple[str, Mapping[str, Any]]] = ()


@dataclass
class SubActionFigures:
    """One coded sub-action: how often it was written, and how well it worked at last."""

    name: str
    drafts: list[bool] = field(default_factory=list)
    """Of every program the model wrote: whether it passed the check."""
    versions: int = 0
    """Programs that passed and were tried, of which all but the last were not good enough."""
    trials: int = 0
    success_rate: float | None = None
    works: bool = False

    @property
    def first_passed(self) -> bool | None:
        """Whether the first program passed the check; None where the model wrote none."""
        return self.drafts[0] if self.drafts else None


@dataclass(frozen=True)
class RoleFigures:
    """What one role asked of the model."""

    calls: int
    asked_again: int
    """Calls that showed the model its answer and what was wrong with it."""
    prompt_tokens: int
    completion_tokens: int


def read(source: Path, run_id: str = "latest") -> Story:
    """The story of a run, from a studio's home or from a file of `runs show --calls -o json`."""
    if source.is_file():
        data = json.loads(source.read_text(encoding="utf-8"))
        return Story(
            run=data["run"],
            task=data["task"],
            world=data["world"],
            state=data["state"],
            config=data["config"],
            result=data["result"] or {},
            calls=data["calls"],
        )
    with closing(Database.open(f"sqlite:///{source.absolute() / 'studio.db'}")) as database:
        journal = database.journal
        run = journal.run(run_id)
        events: list[tuple[str, Mapping[str, Any]]] = []
        after = 0
        while rows := journal.events(run.id, after=after):
            events += [(row.kind, row.payload) for row in rows]
            after = rows[-1].seq
        return Story(
            run=run.id,
            task=run.task,
            world=run.world,
            state=run.seen_state.value,
            config=run.config,
            result=run.result or {},
            calls=[asdict(call) for call in journal.calls(run.id)],
            events=events,
        )


def sub_actions(story: Story) -> list[SubActionFigures]:
    """Figures of every coded sub-action, in the order in which they were first written."""
    found: dict[str, SubActionFigures] = {}
    world = get_world(story.world)
    with Sandbox(world.stub(), world.queries | {world.primitive_function}) as sandbox:
        for name, code in _programs(story.calls):
            figures = found.setdefault(name, SubActionFigures(name))
            figures.drafts.append(not sandbox.check(code))
    for kind, payload in story.events:
        if kind == CodeProposed.KIND:
            proposal = CodeProposed.model_validate(payload).proposal
            figures = found.setdefault(proposal.sub_action, SubActionFigures(proposal.sub_action))
        elif kind == CritiqueGiven.KIND:
            critique = CritiqueGiven.model_validate(payload).critique
            figures = found.setdefault(critique.sub_action, SubActionFigures(critique.sub_action))
            figures.versions += 1
            figures.trials = critique.trials
            figures.success_rate = critique.success_rate if critique.trials else None
            figures.works = critique.works
    return list(found.values())


def roles(calls: Iterable[Mapping[str, Any]]) -> dict[str, RoleFigures]:
    """Calls and tokens by role."""
    sums: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for call in calls:
        sums[call["role"]] += Counter(
            calls=1,
            asked_again=int(_AGAIN in call["prompt"]),
            prompt_tokens=call["prompt_tokens"],
            completion_tokens=call["completion_tokens"],
        )
    names = ("calls", "asked_again", "prompt_tokens", "completion_tokens")
    return {role: RoleFigures(*(counted[name] for name in names)) for role, counted in sums.items()}


def as_text(story: Story) -> str:
    """The report for people."""
    coded = sub_actions(story)
    lines = [f"run {story.run}: {story.task}, {story.state}", ""]
    lines.append(_row("sub-action", "written", "passed", "first", "tried", "trials", "success"))
    for one in coded:
        first = {True: "passed", False: "failed", None: "-"}[one.first_passed]
        rate = "-" if one.success_rate is None else f"{one.success_rate:.0%}"
        written, passed = len(one.drafts), sum(one.drafts)
        trials = one.trials if one.versions else "-"
        lines.append(_row(one.name, written, passed, first, one.versions, trials, rate))
    firsts = [one.first_passed for one in coded if one.first_passed is not None]
    drafts = [passed for one in coded for passed in one.drafts]
    lines += ["", f"first programs that passed the check: {_share(firsts)}"]
    lines.append(f"programs that passed the check: {_share(drafts)}")
    works = [one.works for one in coded if one.versions]
    lines.append(f"tried sub-actions that work: {_share(works)}")
    evaluation = story.result.get("evaluation")
    if evaluation:
        success, episodes = evaluation.get("task_success"), evaluation.get("episodes")
        shown = "-" if success is None else f"{success:.0%}"
        lines.append(f"task success ({evaluation.get('policy')}): {shown} of {episodes} episodes")
    lines += ["", _row("role", "calls", "again", "prompt", "reply", "tokens")]
    total = 0
    for role, asked in roles(story.calls).items():
        tokens = asked.prompt_tokens + asked.completion_tokens
        total += tokens
        counts = (asked.calls, asked.asked_again, asked.prompt_tokens, asked.completion_tokens)
        lines.append(_row(role, *counts, tokens))
    estimated = ", an estimate: characters / 4" if _by_a_reader(story) else ""
    lines.append(f"{total} tokens in {len(story.calls)} calls{estimated}")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def keep(story: Story, name: str, folder: Path = TRANSCRIPTS) -> tuple[Path, Path]:
    """Write the calls for a replay, and beside them the settings and how the run ended."""
    folder.mkdir(parents=True, exist_ok=True)
    calls = folder / f"{name}.jsonl"
    calls.write_text(
        "".join(json.dumps(call, default=str, ensure_ascii=False) + "\n" for call in story.calls),
        encoding="utf-8",
    )
    about = folder / f"{name}.json"
    config = {key: value for key, value in story.config.items() if key not in NOT_KEPT}
    # Of the many settings of a training only those that were chosen: the others may come and go.
    training = TrainingConfig.model_validate(config.get("training", {}))
    config["training"] = training.model_dump(mode="json", exclude_defaults=True)
    kept = {"config": config, "ended": ending(story)}
    about.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return calls, about


def ending(story: Story) -> dict[str, Any]:
    """How a run ended, as far as it is the same whenever its calls are played back."""
    plans = [payload["plan"] for kind, payload in story.events if kind == PlanApproved.KIND]
    last = PlanApproved.model_validate({"plan": plans[-1], "by": ""}).plan if plans else None
    working = {}
    for kind, payload in story.events:
        if kind == CritiqueGiven.KIND:
            critique = CritiqueGiven.model_validate(payload).critique
            working[critique.sub_action] = critique.works
    trials = Counter(
        payload["trial"]["sub_action"] for kind, payload in story.events
        if kind == TrialFinished.KIND
    )  # fmt: skip
    return {
        "state": story.state,
        "plan": [] if last is None else [[a.name, a.mode] for a in last.sub_actions()],
        "works": working,
        "trials": dict(sorted(trials.items())),
        "skills": sorted(skill["name"] for skill in story.result.get("skills", ())
                         if skill["kind"] == "coded_action"),
    }  # fmt: skip


def _programs(calls: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, str]]:
    """Name of the sub-action and code of every program in the fast agent's calls."""
    for call in calls:
        if call["role"] != "fast" or call["error"]:
            continue
        try:
            answer: CodeAnswer | None = parse_answer(call["reply"], CodeAnswer)
        except InvalidReply:
            answer = code_in_text(call["reply"])
        if answer is not None:
            named = _SUB_ACTION.search(call["prompt"])
            yield named[1] if named else "?", bare_code(answer.code)


def _by_a_reader(story: Story) -> bool:
    return any(call["model"] == "reader" for call in story.calls)


def _row(first: object, *others: object) -> str:
    return f"{first!s:32}" + "".join(f"{other!s:>9}" for other in others)


def _share(flags: Sequence[bool]) -> str:
    return f"{sum(flags)} of {len(flags)}" + (f" ({sum(flags) / len(flags):.0%})" if flags else "")


def main(arguments: list[str] | None = None) -> int:
    """Print the report of a run; keep its transcript if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", type=Path, help="a studio's home, or JSON of `runs show --calls`")
    parser.add_argument("run", nargs="?", default="latest", help="id of the run, or `latest`")
    parser.add_argument("--keep", metavar="NAME", help="write it to transcripts/NAME")
    given = parser.parse_args(arguments)
    story = read(given.source, given.run)
    sys.stdout.write(as_text(story))
    if given.keep:
        for path in keep(story, given.keep):
            sys.stdout.write(f"kept {path.name}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
