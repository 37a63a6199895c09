"""Backward chaining over a world's recipes: from what is wanted to the steps that bring it about.

Everything here is read off `World.recipes()` and `World.vocabulary()`. Only the meaning of the
words for creatures (`eat_`, `defeat_`, `wake_up`) is knowledge of these rules.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from engine.errors import AgentError, PlanError
from engine.worlds.base import Recipe, TaskSpec, Vocabulary, World
from engine.worlds.predicate import AllOf, AnyOf, Compare, Node, Not, Number, Term, parse

Kind = Literal["collect", "place", "make", "eat", "defeat", "rest"]
INVENTORY_LIMIT = 9
"""No step ever waits for more of an item than this."""
FENCE = "collect_stone"
"""What is grown is shut in with stones, or others eat it."""
FENCE_AMOUNT = 4
SHELTER_ITEM = "stone"
SHELTER_AMOUNT = 4
"""Open sides and the entrance of a closed room are shut with so many."""
CHEAP = ("wood", "stone")
"""What lies about in plenty: a thing made of it is worth the way."""
_KINDS: dict[str, Kind] = {"collect": "collect", "place": "place", "make": "make"}


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to bring about, named as the world names its achievement (`make_iron_pickaxe`)."""

    name: str
    kind: Kind
    target: str
    """The item, the thing placed or the creature."""
    done: str
    """Predicate that says it was brought about once."""
    recipe: Recipe | None = None
    after: tuple[str, ...] = ()
    """Names of the steps it needs, in a workable order."""


@dataclass(frozen=True, slots=True)
class Use:
    """A step that spends an item; `done` is None for an amount the task itself asks for."""

    amount: int
    done: str | None


@dataclass
class Chain:
    """The steps towards a task, in a workable order."""

    world: World
    steps: list[Step] = field(default_factory=list)
    wanted: dict[str, int] = field(default_factory=dict)
    """Amounts of items the task itself asks for."""

    def step(self, name: str) -> Step | None:
        """The step of that name, if it is part of the chain."""
        return next((step for step in self.steps if step.name == name), None)

    @property
    def goal(self) -> Step | None:
        """The step that takes the most others before it; the last of them when several do."""
        return deepest(self.steps)

    @property
    def path(self) -> frozenset[str]:
        """Names of the goal and of all it needs; the other steps are at the side of the way."""
        return _needed_by(self.goal, self.steps)

    def leaves(self) -> tuple[Step, ...]:
        """The steps that no other step needs: what the task is about."""
        needed = {name for step in self.steps for name in step.after}
        return tuple(step for step in self.steps if step.name not in needed)

    def uses(self, item: str, *, path_only: bool = False) -> tuple[Use, ...]:
        """What the steps spend an item on, in order; the task's own wish last."""
        path = self.path if path_only else None
        spent = [
            Use(step.recipe.needs[item], step.done)
            for step in self.steps
            if step.recipe is not None
            and item in step.recipe.needs
            and (path is None or step.name in path)
        ]
        goal = self.goal
        if goal is not None and item == "stone" and FENCE in goal.after:
            spent.append(Use(FENCE_AMOUNT, goal.done))
        rest = next((step for step in self.steps if step.kind == "rest"), None)
        if rest is not None and item == SHELTER_ITEM and not spent:
            spent = [Use(SHELTER_AMOUNT, rest.done)]
        wish = self.wanted.get(item, 0)
        return tuple([*spent, Use(wish, None)] if wish else spent)

    def needed(self, item: str) -> tuple[Use, ...]:
        """The uses an item is gathered for.

        What is cheap is gathered for all of them at once. What is rare is gathered for the goal
        first; the steps at the side of the way get what is near, and the rest later.
        """
        uses = self.uses(item)
        return uses if item in CHEAP else self.uses(item, path_only=True) or uses

    def enough(self, item: str) -> str | None:
        """Predicate: the item suffices for what it is gathered for; None when nothing needs it."""
        uses = self.needed(item)
        if not uses:
            return None
        clauses: list[str] = []
        amount = INVENTORY_LIMIT + 1
        for index, use in enumerate(uses):
            ahead = min(INVENTORY_LIMIT, sum(later.amount for later in uses[index:]))
            if ahead < amount:
                before = uses[index - 1].done if index else None
                held = f"{item} >= {ahead}"
                clauses.append(held if before is None else f"({before} and {held})")
            amount = ahead
            if use.done is None:
                return " or ".join(clauses)
        return " or ".join([*clauses, str(uses[-1].done)])

    def needs_station(self, material: str) -> bool:
        """Whether a step has to be done beside this material."""
        return any(step.recipe and material in step.recipe.nearby for step in self.steps)


class RecipeBook:
    """Finds the step that brings something about."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._recipes = world.recipes()

    @cached_property
    def words(self) -> Vocabulary:
        """The words of the world."""
        return self.world.vocabulary()

    def giving(self, item: str) -> Recipe | None:
        """The recipe that gives an item."""
        return next((recipe for recipe in self._recipes if item in recipe.gives), None)

    def placing(self, thing: str) -> Recipe | None:
        """The recipe that puts a thing into the world."""
        found = (r for r in self._recipes if r.kind == "place" and r.target == thing)
        return next(found, None)

    def chain(self, task: TaskSpec) -> Chain:
        """The steps towards a task.

        Raises:
            AgentError: the task's predicate asks for something no recipe or rule brings about.
        """
        chain = Chain(self.world)
        for goal, amount in self._goals(task):
            self._add(chain, goal, ())
            if amount > 1 and (step := chain.step(goal)) is not None:
                chain.wanted[step.target] = max(amount, chain.wanted.get(step.target, 0))
        chain.steps = _arranged(_critical_path_first(chain.steps))
        return chain

    def step_towards(self, term: Term) -> str | None:
        """Name of the step that makes a term of a predicate true."""
        if term.name == "unlocked" and term.argument is not None:
            return term.argument
        if term.name in ("near", "seen") and term.argument is not None:
            return f"place_{term.argument}" if self.placing(term.argument) else None
        recipe = self.giving(term.name)
        return None if recipe is None else _name_of(recipe)

    def _goals(self, task: TaskSpec) -> Iterator[tuple[str, int]]:
        for term, amount in _wishes(parse(task.success, self.words).root):
            name = self.step_towards(term)
            if name is not None:
                yield name, amount

    def _add(self, chain: Chain, name: str, path: tuple[str, ...]) -> Step:
        known = chain.step(name)
        if known is not None:
            return known
        if name in path:
            circle = " -> ".join([*path, name])
            raise PlanError(
                f"the recipes of {self.world.name!r} go round in a circle: {circle}",
                "check the world's recipe data",
            )
        step, before = self._resolve(name)
        after = [self._add(chain, other, (*path, name)).name for other in before]
        step = Step(step.name, step.kind, step.target, step.done, step.recipe, tuple(after))
        chain.steps.append(step)
        return step

    def _resolve(self, name: str) -> tuple[Step, tuple[str, ...]]:
        """A step without its `after`, and the names of the steps to come before it."""
        recipe = next((r for r in self._recipes if _name_of(r) == name), None)
        if recipe is not None:
            target = _item_of(recipe)
            step = Step(name, _KINDS[recipe.kind], target, self._done(name, target), recipe)
            # Tools and ingredients first: a station is put up where the crafting will be done.
            items = [*recipe.requires, *recipe.needs]
            before = [self._bringing(item) for item in items]
            return step, (*dict.fromkeys(before), *(f"place_{near}" for near in recipe.nearby))
        verb, _, target = name.partition("_")
        done = self._done(name, target)
        if verb in ("eat", "defeat") and target in self.words.tests.get("seen", ()):
            before = [f"place_{target}", FENCE] if self.placing(target) else []
            return Step(name, "eat" if verb == "eat" else "defeat", target, done), tuple(before)
        if name == "wake_up":
            # Asleep in the open a player is lost; a closed room takes a pickaxe and a stone.
            before = [f"collect_{SHELTER_ITEM}"] if self.giving(SHELTER_ITEM) else []
            return Step(name, "rest", target, done), tuple(before)
        raise self._beyond(name)

    def _bringing(self, item: str) -> str:
        recipe = self.giving(item)
        if recipe is None:
            raise self._beyond(item)
        return _name_of(recipe)

    def _done(self, name: str, target: str) -> str:
        if name in self.words.tests.get("unlocked", ()):
            return f"unlocked({name})"
        return f"{target} >= 1"

    def _beyond(self, what: str) -> AgentError:
        known = sorted({*(_name_of(r) for r in self._recipes), *self.world.achievements})
        close = difflib.get_close_matches(what, known, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        return AgentError(
            f"no recipe or rule of the world {self.world.name!r} brings about {what!r}",
            f"{hint}the rules can plan for: {', '.join(known)}",
        )


def _critical_path_first(steps: list[Step]) -> list[Step]:
    """The steps in a workable order in which what the most depends on comes first."""
    by_name = {step.name: step for step in steps}
    ahead = dict.fromkeys(by_name, 0)
    for step in reversed(steps):
        for other in step.after:
            ahead[other] = max(ahead[other], ahead[step.name] + 1)
    ordered: list[Step] = []
    while len(ordered) < len(steps):
        placed = {step.name for step in ordered}
        ready = [s for s in steps if s.name not in placed and placed.issuperset(s.after)]
        ordered.append(max(ready, key=lambda step: ahead[step.name]))
    return ordered


def deepest(steps: Sequence[Step]) -> Step | None:
    """The step that takes the most others before it; the last of them when several do."""
    depth: dict[str, int] = {}
    for step in steps:
        depth[step.name] = 1 + max((depth[name] for name in step.after), default=0)
    return max(reversed(steps), key=lambda step: depth[step.name], default=None)


def _needed_by(goal: Step | None, steps: Sequence[Step]) -> frozenset[str]:
    needed = set() if goal is None else {goal.name}
    for step in reversed(steps):
        if step.name in needed:
            needed.update(step.after)
    return frozenset(needed)


def is_grown(step: Step, steps: Sequence[Step]) -> bool:
    """Whether a step has to do with something that is placed, grows, and is eaten one day."""
    by_name = {one.name: one for one in steps}
    for harvest in steps:
        planting = by_name.get(f"place_{harvest.target}") if harvest.kind == "eat" else None
        if planting and step.name in (harvest.name, planting.name, *planting.after):
            return True
    return False


def _arranged(steps: list[Step]) -> list[Step]:
    """The steps of the goal in their order, with the others where they cost the least time.

    What has to grow comes first. What is made or placed from the same things is done right after,
    while the player stands there. What may come by at any time (creatures, water) comes before what
    is searched for, once the last weapon of cheap things is made.
    """
    path = _needed_by(deepest(steps), steps)
    sides = [step for step in steps if step.name not in path]
    ordered = [step for step in sides if is_grown(step, sides) and path.isdisjoint(step.after)]
    waiting = [step for step in sides if step not in ordered]
    for step in steps:
        if step.name not in path:
            continue
        ordered.append(step)
        done = {other.name for other in ordered}
        for other in [one for one in waiting if done.issuperset(one.after)]:
            same = other.kind == "make" and step.kind == "make"
            if same or other.kind == "place" or is_grown(other, sides):
                ordered.append(other)
                waiting.remove(other)
        if step.kind == "make" and not any(_is_cheap(other) for other in waiting):
            passing = [other for other in waiting if other.kind not in ("make", "rest")]
            ordered += passing
            waiting = [other for other in waiting if other not in passing]
    return [*ordered, *waiting]


def _is_cheap(step: Step) -> bool:
    """Whether a step makes a thing of what lies about in plenty."""
    return step.kind == "make" and step.recipe is not None and set(step.recipe.needs) <= set(CHEAP)


def _wishes(node: Node) -> Iterator[tuple[Term, int]]:
    """The terms a predicate wants to be true, with the amount where it is a comparison."""
    match node:
        case Term():
            yield node, 1
        case Compare(left=Term() as term, symbol=symbol, right=Number(value=value)):
            if symbol in (">=", ">", "=="):
                yield term, int(value) + (symbol == ">")
        case AllOf(parts=parts) | AnyOf(parts=parts):
            for part in parts:
                yield from _wishes(part)
        case Not():
            pass


def _item_of(recipe: Recipe) -> str:
    return next(iter(recipe.gives), recipe.target) if recipe.kind == "collect" else recipe.target


def _name_of(recipe: Recipe) -> str:
    return f"{recipe.kind}_{_item_of(recipe)}"


def sources(recipe: Recipe) -> tuple[str, ...]:
    """The materials a collected item comes from."""
    return recipe.where or (recipe.target,)
