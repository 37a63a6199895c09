"""Worlds, plans and trials as text for prompts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence

from engine.agents.plan import Critique, LearningProposal, SubAction, Subtask, Trial
from engine.agents.plan_record import Attempt, TrainingResult
from engine.agents.prompts.render import SHIPPED, PromptBook
from engine.agents.protocols import Feedback, KnownSkill, WorkingCode
from engine.worlds.base import Vocabulary, World

_ACTIONS_SHOWN = 24
_TRIALS_SHOWN = 8
_SKILLS_SHOWN = 8
_ATTEMPTS_SHOWN = 12
_TRAININGS_SHOWN = 3
_LONGEST_FAILURE = 160
_FINDING = re.compile(r"line (\d+): ")


def predicates(words: Vocabulary, book: PromptBook = SHIPPED) -> str:
    """The grammar of predicates with the words of a world."""
    tests = [f"  - {', '.join(tests)}: {names}" for names, tests in _tests_by_names(words).items()]
    return book.render(
        "predicates",
        numbers=_listed(words.numbers),
        flags=_listed(words.flags),
        tests="\n".join(tests) or "  - none",
        example_test=_example_test(words) or "test(name)",
        example=_example(words),
    )


def skills(known: tuple[KnownSkill, ...], *, with_code: bool = False) -> str:
    """The best skills of the library, one a line, with their programs where they are wanted."""
    if not known:
        return "none"
    best = sorted(known, key=lambda skill: (-skill.success_rate, skill.name))[:_SKILLS_SHOWN]
    lines = []
    for skill in best:
        lines.append(f"- `{skill.name}` ({skill.success_rate:.0%} success): {skill.description}")
        if with_code:
            lines += ["```python", skill.code.strip(), "```"]
    return "\n".join(lines)


def subtasks(found: Iterable[Subtask]) -> str:
    """Subtasks that are still to be divided, one a line."""
    return "\n".join(
        f"- `{s.name}` until `{s.success}`: {s.goal}"
        + (f" (the planner wants reused here: {names(s.reuses)})" if s.reuses else "")
        for s in found
    )


def names(found: Iterable[str]) -> str:
    """Names as they are written in an answer."""
    return ", ".join(f"`{name}`" for name in found) or "none"


def sub_actions(actions: Iterable[SubAction]) -> str:
    """Sub-actions of an earlier plan, one a line."""
    return "\n".join(
        f"- `{a.name}` ({a.mode}, {a.budget} frames): {a.instruction} Success `{a.success}`, "
        f"precondition `{a.precondition}`, interrupt `{a.interrupt}`, due `{a.due}`."
        + (f" Choices {', '.join(a.choices)}." if a.choices else "")
        for a in actions
    )


def given(others: Mapping[str, Iterable[SubAction]]) -> str:
    """What other subtasks have got so far, one line a subtask."""
    lines = [
        f"- {name}: " + ", ".join(f"`{a.name}` ({a.mode}) until `{a.success}`" for a in actions)
        for name, actions in others.items()
        if actions
    ]
    return "\n".join(lines) or "none"


def working(codes: Iterable[WorkingCode]) -> str:
    """Coded actions a learner has, one a line."""
    lines = [
        f"- `{code.sub_action.name}` until `{code.sub_action.success}` "
        f"({_rate(code.success_rate)}): {code.sub_action.instruction}"
        for code in codes
    ]
    return "\n".join(lines) or "none"


def learning(proposal: LearningProposal) -> str:
    """How something was to be learnt, one field a line."""
    terms = [f"`{term.predicate}` +{term.bonus:g}" for term in proposal.shaping]
    fields = {
        "actions": ", ".join(proposal.actions) or "[]",
        "observation": ", ".join(proposal.observation) or "[]",
        "shaping": ", ".join(terms) or "[]",
        "reason": proposal.reason,
    }
    return "\n".join(f"- `{name}`: {value}" for name, value in fields.items())


def critiques(found: Iterable[Critique]) -> str:
    """Judgements, one a line."""
    lines = [
        f"- `{c.sub_action}`: {verdict(c)} {c.text}"
        + (f" {c.suggestion}" if c.suggestion != c.text else "")
        for c in found
    ]
    return "\n".join(line.rstrip() for line in lines) or "- none was tried"


def verdict(critique: Critique) -> str:
    """The figures of a critique in words."""
    if critique.author == "person":
        return "rejected by a person."
    if critique.author == "training":
        return f"RL reached it in {critique.success_rate:.0%} of the training episodes."
    if critique.trials == 0:
        return "no trial could start."
    good = round(critique.success_rate * critique.trials)
    return f"{good} of {critique.trials} trials succeeded."


def attempts(found: Sequence[Attempt]) -> str:
    """Every version of a subtask's code, one a line; the newest where they are many."""
    lines = [_attempt(attempt) for attempt in found[-_ATTEMPTS_SHOWN:]]
    if len(found) > _ATTEMPTS_SHOWN:
        lines.insert(0, f"- {len(found) - _ATTEMPTS_SHOWN} older ones are left out")
    return "\n".join(lines) or "- none was tried"


def trainings(found: Sequence[TrainingResult]) -> str:
    """What RL reached, one line an iteration."""
    return "\n".join(_training(result) for result in found[-_TRAININGS_SHOWN:]) or "- no training"


def trials(found: Iterable[Trial]) -> str:
    """Trials, failures first, with the end of what they did."""
    ordered = sorted(found, key=lambda trial: trial.outcome == "success")
    lines = [_trial(trial) for trial in ordered[:_TRIALS_SHOWN]]
    if len(ordered) > _TRIALS_SHOWN:
        lines.append(f"- and {len(ordered) - _TRIALS_SHOWN} more")
    return "\n".join(lines) or "- none"


def functions(stub: str) -> str:
    """What a stub offers, for those who plan: signatures with the first sentence about each."""
    tree = ast.parse(stub)
    lines = [ast.get_docstring(tree) or ""]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            returned = "None" if node.returns is None else ast.unparse(node.returns)
            about = " ".join((ast.get_docstring(node) or "").split()).partition(". ")[0]
            lines.append(f"- `{node.name}({ast.unparse(node.args)}) -> {returned}`: {about}")
    return "\n".join(lines).strip()


def example(world: World, book: PromptBook = SHIPPED) -> str:
    """A program that works in the world, where there is one to show."""
    name = f"example_{world.name}"
    return book.render(name) if book.has(name) else "none for this world"


def reason(feedback: Feedback, code: str, book: PromptBook = SHIPPED) -> str:
    """Why the version before, with this code, was not good enough."""
    parts = []
    if feedback.diagnostics:
        parts.append(book.render("reason_check", findings=findings(feedback.diagnostics, code)))
    if feedback.comment:
        parts.append(book.render("reason_person", comment=feedback.comment))
    if feedback.critique is not None:
        critique = feedback.critique
        parts.append(
            book.render(
                "reason_critique",
                verdict=verdict(critique),
                failure=critique.typical_failure or "none",
                text=critique.text,
                suggestion=critique.suggestion or "nothing",
                trials=trials(feedback.trials),
            )
        )
    return "\n\n".join(parts) or "It has to be done better."


def findings(diagnostics: str, code: str) -> str:
    """Findings of the check, each with the line of code that it is about."""
    lines = code.split("\n")
    told = []
    for finding in diagnostics.split("\n"):
        found = _FINDING.match(finding)
        number = int(found[1]) if found else 0
        about = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        told.append(f"{finding}\n    in: {about}" if about else finding)
    return "\n".join(told)


def numbered(code: str) -> str:
    """Code with line numbers, as findings and trials name them."""
    lines = code.rstrip("\n").split("\n")
    return "\n".join(f"{number:3d} {line}".rstrip() for number, line in enumerate(lines, 1))


def _rate(rate: float | None) -> str:
    return "never tried" if rate is None else f"{rate:.0%} success"


def _attempt(attempt: Attempt) -> str:
    good = round(attempt.success_rate * attempt.trials)
    told = f"{good} of {attempt.trials} trials succeeded"
    if attempt.trials == 0:
        told = "no trial could start" if attempt.outcomes else "not tried"
    ends = [f"{n} {outcome}" for outcome, n in attempt.outcomes.items() if outcome != "success"]
    if attempt.frames:
        ends.append(f"{attempt.frames:.0f} frames on average")
    why = " ".join(attempt.failure.split())
    if len(why) > _LONGEST_FAILURE:
        why = f"{why[:_LONGEST_FAILURE]}..."
    return (
        f"- iteration {attempt.iteration}, `{attempt.sub_action}` version {attempt.version}: {told}"
        + (f" ({', '.join(ends)})" if ends else "")
        + (f": {why}" if why else "")
    )


def _training(result: TrainingResult) -> str:
    rates = [] if result.task_success is None else [f"the task in {result.task_success:.0%}"]
    rates += [f"`{name}` in {rate:.0%}" for name, rate in result.goals.items()]
    reached = f"reached {', '.join(rates)} of the episodes" if rates else "no episode ended"
    return f"- iteration {result.iteration}, after {result.frames} env frames: {reached}"


def _trial(trial: Trial) -> str:
    if not trial.started:
        return f"- seed {trial.seed}: could not start: {trial.detail}"
    shown = [name if n == 1 else f"{name} x{n}" for name, n in trial.actions[-_ACTIONS_SHOWN:]]
    dots = "... " if len(trial.actions) > _ACTIONS_SHOWN else ""
    gained = ", ".join(f"{name} {change:+g}" for name, change in trial.gained.items() if change)
    return (
        f"- seed {trial.seed}: {trial.outcome} after {trial.frames} frames: {trial.detail or '-'}\n"
        f"  changed: {gained or 'nothing'}\n"
        f"  actions: {dots}{', '.join(shown) or 'none'}"
    )


def _tests_by_names(words: Vocabulary) -> dict[str, list[str]]:
    """Tests that accept the same names stand together: long lists are told once."""
    found: dict[str, list[str]] = {}
    for test, names in sorted(words.tests.items()):
        found.setdefault(_listed(names), []).append(f"`{test}(...)`")
    return found


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _example(words: Vocabulary) -> str:
    parts = [f"{min(words.numbers)} >= 2"] if words.numbers else []
    parts += [_example_test(words)] if words.tests else []
    parts += [f"not {min(words.flags)}"] if words.flags else []
    return " and ".join(parts) or "true"


def _example_test(words: Vocabulary) -> str:
    """The last one by name, where there is one."""
    tests = sorted(words.tests.items(), reverse=True)
    return next((f"{test}({min(names)})" for test, names in tests if names), "")
