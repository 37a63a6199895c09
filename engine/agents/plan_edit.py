"""Edits of a plan as pure functions, the check whether a plan can stand, and undo.

Every edit takes a plan and gives a new one whose author says that a person had a hand in it. Edits
raise `PlanError` for what cannot even be written down; whether the result makes sense in a world is
what `problems` answers, and `PlanHistory` refuses edits that make a plan worse.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from engine.agents.plan import Mode, Plan, Record, SubAction, Subtask
from engine.agents.plan_choices import bad_choices, rename_choices, without_lost_choices
from engine.errors import PlanError, PredicateError
from engine.worlds.base import Vocabulary, World
from engine.worlds.predicate import Constant, parse

Edit = Callable[[Plan], Plan]
SubtaskField = Literal["goal", "success", "depends_on"]
ActionField = Literal[
    "reason", "instruction", "success", "precondition", "interrupt", "due", "budget", "choices"
]
CODE_FRAMES = 300
"""Budget of a sub-action that becomes code: frames of one execution."""
TRAINING_FRAMES = 100_000
"""Budget of the first sub-action that becomes rl in a plan without any training."""

_R = TypeVar("_R", bound=Record)
_T = TypeVar("_T")


def add_subtask(plan: Plan, subtask: Subtask, at: int | None = None) -> Plan:
    """The plan with one more subtask, at the end or before position `at`."""
    _refuse_taken(plan, subtask.name)
    for action in subtask.sub_actions:
        _refuse_taken(plan, action.name)
    return _edited(plan, _inserted(plan.subtasks, subtask, at))


def delete_subtask(plan: Plan, name: str) -> Plan:
    """The plan without a subtask; nothing depends on it any longer."""
    find_subtask(plan, name)
    kept = [
        _with(subtask, depends_on=tuple(other for other in subtask.depends_on if other != name))
        for subtask in plan.subtasks
        if subtask.name != name
    ]
    return without_lost_choices(_edited(plan, kept), plan)


def move_subtask(plan: Plan, name: str, by: int) -> Plan:
    """The plan with a subtask moved up (`by` < 0) or down (`by` > 0)."""
    names = [subtask.name for subtask in plan.subtasks]
    old = names.index(find_subtask(plan, name).name)
    new = old + by
    if not 0 <= new < len(names):
        raise PlanError(
            f"subtask {name!r} cannot move by {by}: it is number {old + 1} of {len(names)}",
            "it is already at the end of the list",
        )
    subtasks = list(plan.subtasks)
    subtasks.insert(new, subtasks.pop(old))
    return _edited(plan, subtasks)


def rename_subtask(plan: Plan, name: str, new: str) -> Plan:
    """The plan with a subtask renamed, also where others depend on it."""
    find_subtask(plan, name)
    if new == name:
        return plan
    _refuse_taken(plan, new)
    renamed = [
        _with(
            subtask,
            name=new if subtask.name == name else subtask.name,
            depends_on=tuple(new if other == name else other for other in subtask.depends_on),
        )
        for subtask in plan.subtasks
    ]
    return _edited(plan, renamed)


def set_subtask(plan: Plan, name: str, field: SubtaskField, value: object) -> Plan:
    """The plan with one field of a subtask set."""
    return _replace_subtask(plan, _with(find_subtask(plan, name), **{field: value}))


def add_action(plan: Plan, subtask: str, action: SubAction, at: int | None = None) -> Plan:
    """The plan with one more sub-action in a subtask, at the end or before position `at`."""
    owner = find_subtask(plan, subtask)
    _refuse_taken(plan, action.name)
    return _replace_subtask(
        plan, _with(owner, sub_actions=_inserted(owner.sub_actions, action, at))
    )


def delete_action(plan: Plan, name: str) -> Plan:
    """The plan without a sub-action; no other one may choose it any longer."""
    owner, _ = find_action(plan, name)
    kept = tuple(action for action in owner.sub_actions if action.name != name)
    return without_lost_choices(_replace_subtask(plan, _with(owner, sub_actions=kept)), plan)


def move_action(plan: Plan, name: str, by: int) -> Plan:
    """The plan with a sub-action moved up or down; past the border into the next subtask."""
    owner, action = find_action(plan, name)
    position = owner.sub_actions.index(action) + by
    if 0 <= position < len(owner.sub_actions):
        actions = [other for other in owner.sub_actions if other != action]
        actions.insert(position, action)
        return _replace_subtask(plan, _with(owner, sub_actions=tuple(actions)))
    neighbour = plan.subtasks.index(owner) + (1 if by > 0 else -1)
    if not 0 <= neighbour < len(plan.subtasks):
        raise PlanError(
            f"sub-action {name!r} cannot move by {by}: there is no subtask beyond {owner.name!r}",
            "it is already at the end of the plan",
        )
    target = plan.subtasks[neighbour]
    at = 0 if by > 0 else len(target.sub_actions)
    moved = _replace_subtask(
        plan, _with(target, sub_actions=_inserted(target.sub_actions, action, at))
    )
    kept = tuple(other for other in owner.sub_actions if other != action)
    return _replace_subtask(moved, _with(owner, sub_actions=kept))


def rename_action(plan: Plan, name: str, new: str) -> Plan:
    """The plan with a sub-action renamed, also where others may choose it."""
    _, action = find_action(plan, name)
    if new == name:
        return plan
    _refuse_taken(plan, new)
    return rename_choices(_replace_action(plan, name, _with(action, name=new)), {name: new})


def set_action(plan: Plan, name: str, field: ActionField, value: object) -> Plan:
    """The plan with one field of a sub-action set."""
    _, action = find_action(plan, name)
    return _replace_action(plan, name, _with(action, **{field: value}))


def flip_mode(plan: Plan, name: str, *, budget: int | None = None) -> Plan:
    """The plan with a sub-action coded instead of learnt, or the other way round.

    Without `budget` the frames of training stay as many as they were: a new rl sub-action takes an
    equal share from the others, and a coded one leaves its share to them.
    """
    _, action = find_action(plan, name)
    mode: Mode = "code" if action.mode == "rl" else "rl"
    total = plan.training_frames or TRAINING_FRAMES
    share = CODE_FRAMES if mode == "code" else total // (len(plan.sub_actions("rl")) + 1)
    flipped = _with(
        action, mode=mode, reason=f"a person marked it {mode}", budget=budget or max(1, share)
    )
    changed = _replace_action(plan, name, flipped)
    return changed if budget is not None else share_training(changed, total, keep=(name,))


def share_training(plan: Plan, frames: int, *, keep: Collection[str] = ()) -> Plan:
    """The plan with rl budgets scaled to sum up to `frames`; those of `keep` stay. No edit."""
    rl = plan.sub_actions("rl")
    left = frames - sum(action.budget for action in rl if action.name in keep)
    scaled = [action for action in rl if action.name not in keep]
    old = sum(action.budget for action in scaled)
    budgets = {action.name: max(1, left * action.budget // old) for action in scaled}
    if scaled:
        budgets[scaled[-1].name] += max(0, left - sum(budgets.values()))
    subtasks = [
        _with(
            subtask,
            sub_actions=tuple(
                _with(action, budget=budgets.get(action.name, action.budget))
                for action in subtask.sub_actions
            ),
        )
        for subtask in plan.subtasks
    ]
    return _with(plan, subtasks=tuple(subtasks))


def find_subtask(plan: Plan, name: str) -> Subtask:
    """The subtask of that name."""
    for subtask in plan.subtasks:
        if subtask.name == name:
            return subtask
    known = [subtask.name for subtask in plan.subtasks]
    raise PlanError(f"the plan has no subtask {name!r}", _did_you_mean(name, known))


def find_action(plan: Plan, name: str) -> tuple[Subtask, SubAction]:
    """The sub-action of that name, after the subtask it belongs to."""
    for subtask in plan.subtasks:
        for action in subtask.sub_actions:
            if action.name == name:
                return subtask, action
    known = [action.name for action in plan.sub_actions()]
    raise PlanError(f"the plan has no sub-action {name!r}", _did_you_mean(name, known))


def problems(plan: Plan, world: World) -> tuple[str, ...]:
    """Every reason why a plan cannot stand in a world; empty when it can."""
    return tuple([*_broken(plan, world), *_unfinished(plan)])


class PlanHistory:
    """A plan under edit, with undo and redo.

    With a world, `apply` refuses an edit that brings a problem the plan did not have. That a part
    is still unfinished (a subtask without sub-actions) is allowed on the way; `problems` tells.
    """

    def __init__(self, plan: Plan, world: World | None = None) -> None:
        self._plans = [plan]
        self._position = 0
        self._world = world

    @property
    def current(self) -> Plan:
        """The plan as it is now."""
        return self._plans[self._position]

    @property
    def changed(self) -> bool:
        """Whether it differs from the plan the history began with."""
        return self.current != self._plans[0]

    def apply(self, edit: Edit) -> Plan:
        """Do an edit and give the plan after it.

        Raises:
            PlanError: the edit is impossible or makes the plan worse; the plan stays as it was.
        """
        after = edit(self.current)
        if self._world is not None:
            before = set(_broken(self.current, self._world))
            new = [problem for problem in _broken(after, self._world) if problem not in before]
            if new:
                raise PlanError("; ".join(new), "the plan was left as it is")
        if after != self.current:
            self._plans[self._position + 1 :] = [after]
            self._position += 1
        return after

    def undo(self) -> Plan:
        """One edit back; the plan stays as it is when there is none."""
        self._position = max(0, self._position - 1)
        return self.current

    def redo(self) -> Plan:
        """One undone edit forward; the plan stays as it is when there is none."""
        self._position = min(len(self._plans) - 1, self._position + 1)
        return self.current


def _broken(plan: Plan, world: World) -> Iterator[str]:
    """Problems no later edit excuses."""
    if plan.world != world.name:
        yield f"the plan is for the world {plan.world!r}, this is {world.name!r}"
    yield from _bad_names(plan, world)
    yield from _bad_order(plan)
    yield from bad_choices(plan, world)
    words = world.vocabulary()
    for subtask in plan.subtasks:
        where = f"subtask {subtask.name!r}"
        yield from _bad_predicate(where, "success", subtask.success, words, trivial=(True, False))
        for action in subtask.sub_actions:
            yield from _bad_action(action, world, words)


def _unfinished(plan: Plan) -> Iterator[str]:
    if not plan.subtasks:
        yield "the plan has no subtask: add one"
    for subtask in plan.subtasks:
        if not subtask.sub_actions:
            yield f"subtask {subtask.name!r} has no sub-action: add one or delete the subtask"


def _bad_names(plan: Plan, world: World) -> Iterator[str]:
    names = [subtask.name for subtask in plan.subtasks]
    names += [action.name for action in plan.sub_actions()]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield f"the name {name!r} is used {names.count(name)} times: rename all but one"
    for action in plan.sub_actions():
        if action.name in world.primitives:
            yield f"sub-action {action.name!r} has the name of a primitive action: rename it"


def _bad_order(plan: Plan) -> Iterator[str]:
    """Dependencies on what is not there or comes later; a cycle always has one of the latter."""
    names = [subtask.name for subtask in plan.subtasks]
    for position, subtask in enumerate(plan.subtasks):
        for other in subtask.depends_on:
            if other == subtask.name:
                yield f"subtask {other!r} depends on itself: remove that dependency"
            elif other not in names:
                yield (
                    f"subtask {subtask.name!r} depends on {other!r}, which is not in the plan: "
                    f"{_did_you_mean(other, names)}"
                )
            elif names.index(other) > position:
                yield (
                    f"subtask {subtask.name!r} depends on {other!r}, which comes later: "
                    f"move {other!r} before it, or remove the dependency"
                )


def _bad_action(action: SubAction, world: World, words: Vocabulary) -> Iterator[str]:
    where = f"sub-action {action.name!r}"
    yield from _bad_predicate(where, "success", action.success, words, trivial=(True, False))
    yield from _bad_predicate(where, "precondition", action.precondition, words, trivial=(False,))
    yield from _bad_predicate(where, "interrupt", action.interrupt, words, trivial=(True,))
    yield from _bad_predicate(where, "due", action.due, words, trivial=())
    if not action.instruction.strip():
        yield f"{where} has no instruction: say what should be coded or learnt"
    if action.budget <= 0:
        yield f"{where} has a budget of {action.budget!r} frames: it must be at least 1"
    elif action.mode == "code" and action.budget > world.episode_length:
        yield (
            f"{where} has a budget of {action.budget} frames for one execution, but an episode "
            f"has {world.episode_length}: choose a smaller one"
        )


def _bad_predicate(
    where: str, field: str, text: str, words: Vocabulary, *, trivial: Collection[bool]
) -> Iterator[str]:
    if not text.strip():
        yield f"{where} has no {field} predicate: write one, as in `{_example(words)}`"
        return
    try:
        root = parse(text, words).root
    except PredicateError as error:
        yield f"{where}: {field} {error.message} ({error.hint})"
        return
    if isinstance(root, Constant) and root.value in trivial:
        yield f"{where}: {field} is always {root}: write when it holds, as in `{_example(words)}`"


def _example(words: Vocabulary) -> str:
    for test, names in sorted(words.tests.items(), reverse=True):
        if names:
            return f"{test}({min(names)})"
    return f"{min(words.numbers, default='frames')} >= 1"


def _with(record: _R, **changes: Any) -> _R:
    """A validated copy with some fields changed."""
    try:
        return type(record).model_validate({**dict(record), **changes})
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise PlanError(
            f"{field} cannot be {first['input']!r}: {first['msg']}", _rule_of(field)
        ) from error


def _rule_of(field: str) -> str:
    if field == "name" or field.startswith(("depends_on", "choices")):
        return "names are lower case letters, digits and _, at most 48, as in `gather_wood`"
    if field == "budget":
        return "a whole number of env frames from 1 to 10000000000"
    return "write it as text"


def _edited(plan: Plan, subtasks: Sequence[Subtask]) -> Plan:
    author = plan.author if plan.author.endswith("+person") else f"{plan.author}+person"
    return _with(plan, subtasks=tuple(subtasks), author=author)


def _replace_subtask(plan: Plan, new: Subtask) -> Plan:
    return _edited(plan, [new if old.name == new.name else old for old in plan.subtasks])


def _replace_action(plan: Plan, name: str, new: SubAction) -> Plan:
    owner, _ = find_action(plan, name)
    actions = tuple(new if old.name == name else old for old in owner.sub_actions)
    return _replace_subtask(plan, _with(owner, sub_actions=actions))


def _inserted(items: Sequence[_T], item: _T, at: int | None) -> tuple[_T, ...]:
    position = len(items) if at is None else at
    if not 0 <= position <= len(items):
        raise PlanError(
            f"there is no position {at!r} in a list of {len(items)}",
            f"choose one from 0 to {len(items)}",
        )
    return (*items[:position], item, *items[position:])


def _refuse_taken(plan: Plan, name: str) -> None:
    taken = {subtask.name for subtask in plan.subtasks}
    taken |= {action.name for action in plan.sub_actions()}
    if name in taken:
        raise PlanError(f"the name {name!r} is taken in this plan", "choose another name")


def _did_you_mean(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known) or 'none'}"
