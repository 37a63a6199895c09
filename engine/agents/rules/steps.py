"""From a step of the chain to coded sub-actions: what to do, when it can be done, when it is due.

`precondition` says what is possible at all; `due` when code alone does it. What lies at the side of
the way to the goal waits until it costs little: what has to grow is set before the first night, the
rest is done when it comes by, or once the goal is reached.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.agents.plan import SubAction
from engine.agents.rules import survival
from engine.agents.rules.chain import (
    CHEAP,
    FENCE_AMOUNT,
    Chain,
    RecipeBook,
    Step,
    is_grown,
    sources,
)
from engine.errors import AgentError
from engine.worlds.base import Recipe

GATHER_FRAMES = 300
CRAFT_FRAMES = 150
PLACE_FRAMES = 120
HUNT_FRAMES = 300
CHASE_FRAMES = 100
PLANTING_FRAMES = 120
"""What has to grow is planted by then, before the first night."""


class StepWriter:
    """Writes the coded sub-actions of one chain's steps."""

    def __init__(self, book: RecipeBook, chain: Chain) -> None:
        self._book = book
        self._chain = chain
        self._safe = survival.safe(book)
        self._day = survival.daytime(book)
        self._yield = survival.interrupt(book)

    def sub_actions(self, step: Step) -> tuple[SubAction, ...]:
        """What is coded for a step."""
        make: dict[str, Callable[[Step], tuple[SubAction, ...]]] = {
            "collect": lambda step: (self._gather(step),),
            "place": lambda step: (self._set_up(step),),
            "make": self._craft,
            "eat": self._harvest if self._book.placing(step.target) else self._hunt,
            "defeat": self._hunt,
            "rest": lambda step: (self._nap(step),),
        }
        return make[step.kind](step)

    # --- when ---------------------------------------------------------------------------

    def _is_side(self, step: Step) -> bool:
        return step.name not in self._chain.path

    @property
    def _goal_done(self) -> str:
        goal = self._chain.goal
        return "true" if goal is None else goal.done

    def _due(self, step: Step) -> str:
        """When code alone does a collecting or placing step."""
        if not self._is_side(step) or not is_grown(step, self._chain.steps):
            return self._safe
        made = [one.done for one in self._chain.steps if one.kind == "make" and self._on_path(one)]
        early = " or ".join([f"frames >= {PLANTING_FRAMES}", *made[-1:]])
        return f"({early}) and {self._safe}"

    def _on_path(self, step: Step) -> bool:
        return not self._is_side(step)

    def _after_all(self, step: Step) -> str:
        """Nothing else is left to do that moves the task on."""
        others = [
            one.done
            for one in self._chain.leaves()
            if one.name != step.name and one.kind in ("collect", "make", "defeat")
        ]
        return " and ".join(others) if self._is_side(step) and others else "true"

    # --- what ---------------------------------------------------------------------------

    def _gather(self, step: Step) -> SubAction:
        recipe = recipe_of(step)
        source = " or ".join(sources(recipe))
        tool = held(recipe)
        success = self._chain.enough(step.target) or step.done
        origin = "" if source == step.target else f" from {source}"
        due = self._due(step)
        if self._is_side(step) and self._is_vital(step.target):
            # It is drunk or eaten sooner or later anyway.
            due = f"near({source})"
        return SubAction(
            name=f"gather_{step.target}",
            mode="code",
            reason=(
                f"The recipe says all there is to know: stand before {source}"
                f"{f' with {tool} in hand' if tool else ''} and collect. The way there is a search "
                "over the remembered map, so there is nothing to learn."
            ),
            instruction=(
                f"Collect {step.target}{origin} until {_in_words(success)}. "
                f"Explore while no {source} is known."
            ),
            success=success,
            precondition=_all_held(recipe),
            interrupt=self._yield,
            due=due,
            budget=GATHER_FRAMES,
        )

    def _is_vital(self, item: str) -> bool:
        return item in ("drink", "food")

    def _gather_more(self, step: Step, item: str, amount: int) -> SubAction | None:
        """What a step at the side of the way lacks because the goal was served first."""
        recipe = self._book.giving(item)
        users = [use.done for use in self._chain.uses(item, path_only=True) if use.done is not None]
        if recipe is None or item in CHEAP or not users:
            return None
        source = sources(recipe)[0]
        goal = self._chain.goal
        sought = goal.target if goal is not None and goal.kind == "collect" else None
        near_by = f"seen({source})" + (f" and not seen({sought})" if sought else "")
        return SubAction(
            name=f"gather_more_{item}",
            mode="code",
            reason=(
                f"There was {item} for the goal only. What is known of it is fetched while the "
                "goal is not in sight, the rest when the goal is reached."
            ),
            instruction=f"Collect {item} from {source} for {with_article(step.target)}.",
            success=f"{item} >= {amount} or {step.done}",
            precondition=_all_held(recipe),
            interrupt=self._yield,
            due=(f"{' and '.join(users)} and (({near_by}) or {self._goal_done}) and {self._safe}"),
            budget=GATHER_FRAMES,
        )

    def _set_up(self, step: Step) -> SubAction:
        recipe = recipe_of(step)
        beside = survival.companion(self._book, step.target)
        where = f" beside the {beside}, where the crafting will be done" if beside else ""
        return SubAction(
            name=f"set_up_{step.target}",
            mode="code",
            reason=(
                f"Placing {with_article(step.target)} is one action once the cell in front can "
                f"take it ({', '.join(recipe.where)}); finding such a cell is a short search."
            ),
            instruction=f"Place {with_article(step.target)}{where}.",
            success=step.done,
            precondition=" and ".join(f"{item} >= {n}" for item, n in recipe.needs.items()),
            interrupt=self._yield,
            due=self._due(step),
            budget=PLACE_FRAMES,
        )

    def _craft(self, step: Step) -> tuple[SubAction, ...]:
        recipe = recipe_of(step)
        near = " and ".join(recipe.nearby)
        needs = ", ".join(f"{amount} {item}" for item, amount in recipe.needs.items())
        name = with_article(step.target.replace("_", " "))
        crafting = SubAction(
            name=f"craft_{step.target}",
            mode="code",
            reason=(
                f"The recipe is exact: {needs}, standing near {near}. Walk there, take one "
                "action, and check that it is held."
            ),
            instruction=(
                f"Make {name} from {needs} near {near}. Put up what is missing or too far away "
                "when there is enough to spare."
            ),
            success=step.done,
            precondition=" and ".join(
                [f"{item} >= {n}" for item, n in recipe.needs.items()]
                + [_known_or_affordable(self._book, station, recipe) for station in recipe.nearby]
            ),
            interrupt=self._yield,
            due=self._safe,
            budget=CRAFT_FRAMES,
        )
        if not self._is_side(step):
            return (crafting,)
        more = [self._gather_more(step, item, n) for item, n in recipe.needs.items()]
        return (crafting, *(action for action in more if action is not None))

    def _hunt(self, step: Step) -> tuple[SubAction, ...]:
        target = step.target
        side = self._is_side(step)
        weapon = "stone_sword" if self._chain.step("make_stone_sword") else None
        armed = f" and {weapon} >= 1 and {self._day}" if weapon and step.kind == "defeat" else ""
        due = f"in_view({target}) and {survival.STRONG}{armed}" if side else self._safe
        hunting = SubAction(
            name=f"{'chase' if side else 'hunt'}_{target}",
            mode="code",
            reason=(
                f"To walk up to {with_article(target)} and strike is a fixed pursuit; whether it "
                "is wise now is left to the policy."
            ),
            instruction=(
                f"Go at the {target} in view and strike; give up when it is lost."
                if side
                else f"Find {with_article(target)}, go there and strike."
            ),
            success=step.done,
            precondition=f"in_view({target})" if side else "health >= 4",
            interrupt="health <= 4" if step.kind == "defeat" else self._yield,
            due=due,
            budget=CHASE_FRAMES if side else HUNT_FRAMES,
        )
        if not side or step.kind == "eat":
            return (hunting,)
        return hunting, self._search(step)

    def _search(self, step: Step) -> SubAction:
        target = step.target
        return SubAction(
            name=f"find_{target}",
            mode="code",
            reason=(
                f"Where {with_article(target)} may be is unknown land of one kind, and to explore "
                "it is a search over the remembered map."
            ),
            instruction=f"Explore until {with_article(target)} is in view.",
            success=f"in_view({target}) or {step.done}",
            interrupt=self._yield,
            due=f"{self._goal_done} and {survival.STRONG}",
            budget=CHASE_FRAMES,
        )

    def _harvest(self, step: Step) -> tuple[SubAction, ...]:
        """What has been planted is shut in, looked after, and eaten when it is ripe."""
        thing = step.target
        grown = f"seen({thing}) or seen(ripe_{thing})"
        made = [one.done for one in self._chain.steps if one.kind == "make" and self._on_path(one)]
        fencing = f"in_view({thing}) and stone >= {FENCE_AMOUNT} and {self._day}"
        if self._is_side(step) and made:
            fencing += f" and {made[-1]}"
        after_all = self._after_all(step)
        again = f"{after_all} and {self._day}"
        return (
            SubAction(
                name=f"hunt_{thing}",
                mode="code",
                reason=f"A ripe {thing} stays where it is: walk there, open the fence, eat it.",
                instruction=f"Go to the nearest ripe {thing} and eat it.",
                success=step.done,
                precondition=f"seen(ripe_{thing})",
                interrupt=self._yield,
                due=f"{self._day} and health >= 5",
                budget=PLACE_FRAMES,
            ),
            SubAction(
                name=f"fence_{thing}",
                mode="code",
                reason=(
                    f"Whatever stands beside a {thing} eats it. To put a stone on each open side "
                    "is a short search for run-ups."
                ),
                instruction=f"Close all four sides of the nearest {thing} with stones.",
                success=f"fenced or {step.done}",
                precondition=f"stone >= 1 and ({grown})",
                interrupt=self._yield,
                due=fencing,
                budget=CHASE_FRAMES,
            ),
            *self._replace_lost(step, grown, again),
            SubAction(
                name=f"tend_{thing}",
                mode="code",
                reason=(
                    f"A {thing} grows only while the player is near. To wait in a closed room "
                    "beside it needs no skill, only patience."
                ),
                instruction=f"Stay near the {thing}, in a closed room, until it is ripe.",
                success=f"seen(ripe_{thing}) or {step.done}",
                precondition=f"seen({thing})",
                interrupt=self._yield,
                due=after_all,
                budget=CHASE_FRAMES,
            ),
        )

    def _replace_lost(self, step: Step, grown: str, again: str) -> tuple[SubAction, ...]:
        """Another one when the first was eaten by others."""
        recipe = self._book.placing(step.target)
        if recipe is None:
            return ()
        planted = next(one for one in self._chain.steps if one.name == f"place_{step.target}")
        needs = " and ".join(f"{item} >= {n}" for item, n in recipe.needs.items())
        seed = next(iter(recipe.needs))
        lost = f"{planted.done} and {again}"
        return (
            SubAction(
                name=f"gather_more_{seed}",
                mode="code",
                reason=f"The {step.target} is gone, eaten by others; the recipe is as before.",
                instruction=f"Collect another {seed}.",
                success=f"{needs} or {grown} or {step.done}",
                interrupt=self._yield,
                due=lost,
                budget=GATHER_FRAMES,
            ),
            SubAction(
                name=f"set_up_another_{step.target}",
                mode="code",
                reason=f"The {step.target} is gone, eaten by others; the recipe is as before.",
                instruction=f"Place another {step.target}.",
                success=f"{grown} or {step.done}",
                precondition=needs,
                interrupt=self._yield,
                due=f"{lost} and stone >= {FENCE_AMOUNT}",
                budget=PLACE_FRAMES,
            ),
        )

    def _nap(self, step: Step) -> SubAction:
        return SubAction(
            name="nap",
            mode="code",
            reason=(
                "A closed room, sleep until energy is full: each part is a fixed procedure, and "
                "nothing can come in meanwhile."
            ),
            instruction="Get into a closed room, sleep there and wake up.",
            success=step.done,
            precondition="energy <= 8 and wood_pickaxe >= 1",
            interrupt=self._yield,
            due=f"energy <= 6 and {self._goal_done if self._is_side(step) else self._safe}",
            budget=HUNT_FRAMES,
        )


def recipe_of(step: Step) -> Recipe:
    """The recipe of a step that has one."""
    if step.recipe is None:
        raise AgentError(f"step {step.name!r} has no recipe", "report this as a bug")
    return step.recipe


def held(recipe: Recipe) -> str:
    """The tools of a recipe in words."""
    return " and ".join(with_article(tool.replace("_", " ")) for tool in recipe.requires)


def with_article(noun: str) -> str:
    """`a table`, `an iron pickaxe`."""
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


def _all_held(recipe: Recipe) -> str:
    return " and ".join(f"{item} >= {n}" for item, n in recipe.requires.items()) or "true"


def _known_or_affordable(book: RecipeBook, station: str, made: Recipe) -> str:
    """Predicate: the station is known, or there is enough to put one up and still craft."""
    recipe = book.placing(station)
    if recipe is None:
        return f"seen({station})"
    afford = " and ".join(
        f"{item} >= {amount + made.needs.get(item, 0)}" for item, amount in recipe.needs.items()
    )
    return f"(seen({station}) or {afford})"


def _in_words(predicate: str) -> str:
    if " or " in predicate:
        return "there is enough for the steps still ahead"
    return f"{predicate} holds"
