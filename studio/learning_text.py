"""How to learn a sub-action as a text a person edits (TOML), and why a text cannot stand."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from studio.syntax import SyntaxProblem

if TYPE_CHECKING:
    from pydantic import ValidationError

    from engine.agents.plan import LearningProposal, Plan
    from engine.worlds.base import World

_HEAD = """\
# How `{name}` is to be learnt. A list that is empty means all there is.
# Each [[shaping]] pays its bonus once per episode when its predicate first comes true;
# it never enters an evaluation.
"""


class LearningProblem(Exception):
    """Why an edited text is no proposal; `where` says as much of the place as is known."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.where = SyntaxProblem(reason, line)


def as_text(proposal: LearningProposal) -> str:
    """The editable part of a proposal."""
    import tomlkit

    document = tomlkit.document()
    document["actions"] = list(proposal.actions)
    document["observation"] = list(proposal.observation)
    document["reason"] = proposal.reason
    terms = tomlkit.aot()
    for term in proposal.shaping:
        table = tomlkit.table()
        table["predicate"], table["bonus"] = term.predicate, term.bonus
        terms.append(table)
    if proposal.shaping:
        document["shaping"] = terms
    return _HEAD.format(name=proposal.sub_action) + "\n" + tomlkit.dumps(document)


def from_text(
    text: str, before: LearningProposal, plan: Plan | None = None, world: World | None = None
) -> LearningProposal:
    """The proposal an edited text stands for.

    Args:
        before: the proposal that was edited; name and version stay.
        plan: whose coded actions it may name; unchecked without one.
        world: whose predicates and parts of the observation it may name; unchecked without one.

    Raises:
        LearningProblem: it is not TOML, has a key or value that cannot be, or names what is not
            there.
    """
    from pydantic import ValidationError

    from engine.agents.plan import LearningProposal

    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LearningProblem(f"not valid TOML: {error}") from error
    unknown = sorted(values.keys() - {"actions", "observation", "reason", "shaping"})
    if unknown:
        raise LearningProblem(
            f"there is no {unknown[0]!r}: write actions, observation, reason or [[shaping]]",
            _line_of(text, unknown[0]),
        )
    author = before.author if before.author.endswith("+person") else f"{before.author}+person"
    kept = {"sub_action": before.sub_action, "version": before.version, "author": author}
    try:
        proposal = LearningProposal.model_validate({**values, **kept})
    except ValidationError as error:
        raise _not_valid(error, text) from error
    _check_names(proposal, text, plan, world)
    return proposal


def _not_valid(error: ValidationError, text: str) -> LearningProblem:
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    reason = str(first["msg"])
    return LearningProblem(
        f"{name} cannot be {first['input']!r}: {reason[:1].lower()}{reason[1:]}",
        _line_of(text, str(first["loc"][0])),
    )


def _check_names(
    proposal: LearningProposal, text: str, plan: Plan | None, world: World | None
) -> None:
    from engine.agents.learning_check import wrong_learning

    names = proposal.actions if plan is None else [a.name for a in plan.sub_actions("code")]
    for wrong in wrong_learning(
        proposal.actions, proposal.observation, proposal.shaping, coded=names, world=world
    ):
        place = wrong.value if wrong.field == "shaping" else wrong.field
        raise LearningProblem(wrong.reason, _line_of(text, place))


def _line_of(text: str, words: str) -> int:
    """Line that has the words, from 1; 0 where none has, or they are only in a comment."""
    for number, line in enumerate(text.splitlines(), 1):
        if words in line and not line.lstrip().startswith("#"):
            return number
    return 0
