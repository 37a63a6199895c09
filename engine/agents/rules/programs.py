"""Program texts: which behaviour fits a sub-action, and its blanks filled in."""

from __future__ import annotations

import functools
import re
import textwrap
from collections.abc import Callable, Sequence
from importlib.resources import files
from string import Template

from engine.agents.plan import SubAction
from engine.agents.rules.chain import INVENTORY_LIMIT, RecipeBook, Use, sources
from engine.agents.rules.planner import chain_for
from engine.agents.rules.survival import companion
from engine.agents.rules.variants import Variant
from engine.errors import AgentError
from engine.worlds.base import Recipe, TaskSpec, World
from engine.worlds.predicate import AllOf, AnyOf, Compare, Constant, Node, Not, Number, Term, parse

FAR = 25
"""Frames to a station beyond which putting up another one is the shorter way."""
DETOUR = 8
"""Frames that are worth walking for something that is only to spare."""
SEARCH_ROOM = 90
"""Frames to find or build a closed room."""
SPARE_STONES = 3
"""Stones beyond what recipes ask for: for bridges, walls and a closed room."""
_GUARD = "        if defend():\n            continue\n"
_VERBS = (
    "gather_more", "gather", "reach", "set_up_another", "set_up", "craft", "find", "hunt", "chase",
    "fight", "get", "fence", "tend", "stand_by_for",
)  # fmt: skip

Blanks = dict[str, object]


class ProgramWriter:
    """Writes the program of a sub-action."""

    def __init__(self, world: World, task: TaskSpec) -> None:
        self._book = RecipeBook(world)
        self._chain = chain_for(world, task)

    def behaviour(self, sub_action: SubAction) -> str:
        """Name of the behaviour text that fits.

        Raises:
            AgentError: none does.
        """
        return self._compose(sub_action)[0]

    def write(self, sub_action: SubAction, variant: Variant) -> str:
        """The program text.

        Raises:
            AgentError: no behaviour fits the sub-action.
        """
        behaviour, blanks = self._compose(sub_action)
        guard = _GUARD if variant.defend else ""
        filled: Blanks = {
            "headline": _headline(sub_action.instruction),
            "patience": variant.patience,
            "guard": guard,
            **blanks,
        }
        if variant.prefer is not None:
            filled["prefer"] = variant.prefer
        if "stand" in filled:
            filled["stand"] = Template(str(filled["stand"])).safe_substitute(guard=guard)
        text = Template(_behaviour_text(behaviour)).substitute(filled)
        if guard and _GUARD in text:
            head, _, tail = text.partition("\n\ndef ")
            text = f"{head.rstrip()}\n{_behaviour_text('defend').rstrip()}\n\n\ndef {tail}"
        return _tidy(text)

    # --- which behaviour ----------------------------------------------------------------

    def _compose(self, sub_action: SubAction) -> tuple[str, Blanks]:
        done: Blanks = {"done": self._code(sub_action.success)}
        fixed: dict[str, Callable[[], tuple[str, Blanks]]] = {
            "fend_off": lambda: ("fend_off", {}),
            "drink": self._drink,
            "eat": lambda: ("eat", {"full": 7, "prefer": "grass"}),
            "recover": lambda: ("rest", _rest("health", "count('health') >= 7")),
            "sleep_safely": lambda: ("sleep", done),
            "nap": lambda: ("rest", _rest("energy", self._code(sub_action.success))),
            "take_shelter": lambda: ("shelter", {}),
            "find_bedroom": lambda: ("shelter", {}),
            "find_sickroom": lambda: ("shelter", {}),
            "survive": lambda: ("survive", {}),
            "look_around": lambda: ("roam", {**done, "prefer": "grass"}),
            "flee": lambda: ("flee", {"block": "", "first": "step_away()"}),
            "block": lambda: (
                "flee",
                {
                    "block": _behaviour_text("block").rstrip(),
                    "first": "stone_ahead() or step_away()",
                },
            ),
            "fight": lambda: ("fight", {}),
            "wait_in_shelter": lambda: ("wait", done),
            "wait_for_day": lambda: ("wait_for_day", done),
            "hide_until_day": lambda: ("hide_until_day", {**done, "search": SEARCH_ROOM}),
            "explore_grassland": lambda: ("roam", {**done, "prefer": "grass"}),
            "explore_mountains": lambda: ("roam", {**done, "prefer": "mountain"}),
            "go_to_water": lambda: ("go_to", {**done, "target": "water"}),
            "go_to_cow": lambda: ("go_to", {**done, "target": "cow"}),
        }
        if sub_action.name in fixed:
            return fixed[sub_action.name]()
        verb = next((v for v in _VERBS if sub_action.name.startswith(f"{v}_")), None)
        target = sub_action.name.removeprefix(f"{verb}_") if verb else ""
        found = self._by_verb(verb, target, sub_action) or self._by_success(sub_action)
        if found is None:
            raise AgentError(
                f"the rules know no behaviour for {sub_action.name!r} ({sub_action.success})",
                "write the code yourself, mark the sub-action rl, or use `--agents llm`",
            )
        return found

    def _by_verb(
        self, verb: str | None, target: str, sub_action: SubAction
    ) -> tuple[str, Blanks] | None:
        recipe = self._book.giving(target)
        creatures = self._book.words.tests.get("seen", frozenset())
        if verb == "gather" and recipe is not None and recipe.kind == "collect":
            return self._gather(target, recipe, sub_action)
        if verb in ("reach", "gather_more") and recipe is not None and recipe.kind == "collect":
            return self._obtain(target, recipe, sub_action)
        if verb in ("set_up", "set_up_another") and self._book.placing(target) is not None:
            return self._put(target, sub_action)
        if verb == "craft" and recipe is not None and recipe.kind == "make":
            return self._craft(target, recipe)
        if verb == "stand_by_for" and recipe is not None and recipe.kind == "make":
            return self._stand_by(recipe)
        if verb == "find" and target in creatures:
            return "find", {"target": target, "prefer": self._land(target)}
        if target not in creatures:
            return None
        done = self._code(sub_action.success)
        if verb in ("hunt", "fight", "get"):
            prey = f"ripe_{target}" if self._book.placing(target) else target
            land = "mountain" if target == "skeleton" else "grass"
            return "hunt", {"target": prey, "prefer": land, "done": done}
        if verb in ("chase", "fence", "tend"):
            return verb, {"target": target, "done": done}
        return None

    def _by_success(self, sub_action: SubAction) -> tuple[str, Blanks] | None:
        """A sub-action a person named otherwise, recognised by what it is to bring about."""
        for term in parse(sub_action.success, self._book.words).terms():
            if term.name == "seen" and term.argument is not None:
                return self._by_verb("find", term.argument, sub_action)
            if term.name == "enclosed":
                return "shelter", {}
            name = self._book.step_towards(term) or ""
            verb, _, target = name.partition("_")
            verbs = {"collect": "reach", "place": "set_up", "make": "craft"}
            found = self._by_verb(verbs.get(verb, "hunt"), target, sub_action)
            if found is not None:
                return found
        return None

    # --- blanks -------------------------------------------------------------------------

    def _gather(self, item: str, recipe: Recipe, sub_action: SubAction) -> tuple[str, Blanks]:
        uses, wishes = self._chain.needed(item), self._chain.uses(item)
        if not uses:
            return self._obtain(item, recipe, sub_action)
        wanted = Template(_behaviour_text("wanted").rstrip()).substitute(
            wishes=self._amounts(wishes)
        )
        more = len(wishes) > len(uses)
        return "gather", {
            "item": item,
            "source": sources(recipe)[0],
            "prefer": self._land(sources(recipe)[0]),
            "needed": self._amounts(uses),
            "wanted": f"{wanted}\n" if more else "",
            "most": "wanted()" if more else "needed()",
            "spare": self._spare(item),
            "detour": DETOUR,
            "limit": INVENTORY_LIMIT,
        }

    def _amounts(self, uses: Sequence[Use]) -> str:
        return "\n".join(_need(use, self._code) for use in uses)

    def _obtain(self, item: str, recipe: Recipe, sub_action: SubAction) -> tuple[str, Blanks]:
        source = sources(recipe)[0]
        return "obtain", {
            "item": item,
            "source": source,
            "prefer": self._land(source),
            "done": self._code(sub_action.success),
        }

    def _put(self, thing: str, sub_action: SubAction) -> tuple[str, Blanks]:
        beside = companion(self._book, thing)
        blanks: Blanks = {"thing": thing, "done": self._code(sub_action.success)}
        if beside is None:
            return "put", {**blanks, "stand": "", "approach": ""}
        blanks["stand"] = self._stand_near(beside, self._ahead_at(thing))
        blanks["approach"] = (
            f"    if not stand_near_{beside}(deadline):\n"
            f'        return "could not get to a {beside}"\n'
        )
        return "put", blanks

    def _craft(self, item: str, recipe: Recipe) -> tuple[str, Blanks]:
        held = ", ".join(f"{{count('{need}')}} {need}" for need in recipe.needs)
        blanks: Blanks = {"item": item, "action": recipe.action, "held": held}
        if len(recipe.nearby) == 1:
            station = recipe.nearby[0]
            stand = self._stand_near(station, dict(recipe.needs))
            return "craft", {**blanks, "station": station, "stand": stand}
        first, second = recipe.nearby[:2]
        stand = self._stand_near(first, dict(recipe.needs))
        return "craft_beside_two", {
            **blanks,
            "first": first,
            "second": second,
            "far": FAR,
            "stand": stand,
            "affordable": self._affordable(second, {}),
        }

    def _stand_by(self, recipe: Recipe) -> tuple[str, Blanks]:
        station = recipe.nearby[0]
        return "stand_by", {
            "station": station,
            "stand": self._stand_near(station, dict(recipe.needs)),
        }

    def _drink(self) -> tuple[str, Blanks]:
        recipe = self._book.giving("drink")
        if recipe is None:
            raise AgentError("no recipe of this world gives drink", "delete the sub-action")
        source = sources(recipe)[0]
        return "drink", {"vital": "drink", "source": source, "full": 9, "prefer": "any"}

    def _stand_near(self, station: str, needs: dict[str, int]) -> str:
        return Template(_behaviour_text("stand_near").rstrip()).safe_substitute(
            station=station, far=FAR, affordable=self._affordable(station, needs)
        )

    def _ahead_at(self, station: str) -> dict[str, int]:
        """What the steps of the task will spend at a station; none of it is to spare."""
        spent: dict[str, int] = {}
        for step in self._chain.steps:
            if step.recipe is not None and station in step.recipe.nearby:
                for item, amount in step.recipe.needs.items():
                    spent[item] = spent.get(item, 0) + amount
        return spent

    def _affordable(self, station: str, needs: dict[str, int]) -> str:
        """Condition: enough is held for another station and for what will be made there."""
        recipe = self._book.placing(station)
        spent = {} if recipe is None else dict(recipe.needs)
        return " and ".join(
            f'count("{item}") >= {amount + needs.get(item, 0)}' for item, amount in spent.items()
        )

    def _spare(self, item: str) -> int:
        """Beyond what is needed: another station far from the first, and stones for walls."""
        stations = [
            recipe.needs[item]
            for recipe in self._book.world.recipes()
            if recipe.kind == "place"
            and item in recipe.needs
            and self._chain.needs_station(recipe.target)
        ]
        wall = SPARE_STONES if item == "stone" else 0
        return wall or max(stations, default=0)

    def _land(self, source: str) -> str:
        """Where to look for a source: what takes a tool is inside mountains."""
        for recipe in self._book.world.recipes():
            if recipe.kind == "collect" and source in recipe.where:
                return "mountain" if recipe.requires else "any"
        return "grass"

    def _code(self, predicate: str) -> str:
        return in_code(parse(predicate, self._book.words).root)


def in_code(node: Node) -> str:
    """A predicate as an expression over the functions of the stub."""
    match node:
        case Constant(value=value):
            return str(value)
        case Number():
            return str(node)
        case Term(name=name, argument=None):
            return f"{name}()" if name in _SENSES else f'count("{name}")'
        case Term(name=name, argument=argument):
            return f'{name}("{argument}")'
        case Compare(left=left, symbol=symbol, right=right):
            return f"{_operand(left)} {symbol} {_operand(right)}"
        case Not(part=part):
            return f"not ({in_code(part)})"
        case AllOf(parts=parts):
            return " and ".join(f"({in_code(part)})" for part in parts)
        case AnyOf(parts=parts):
            return " or ".join(f"({in_code(part)})" for part in parts)


_SENSES = frozenset(
    {
        "daylight", "threat", "frames", "day_frame", "grass_in_view", "sleeping", "enclosed",
        "danger", "fenced",
    }
)  # fmt: skip


def _operand(side: Term | Number) -> str:
    if isinstance(side, Number):
        return str(side)
    return f"{side.name}()" if side.name in _SENSES else f'count("{side.name}")'


def _need(use: Use, code: Callable[[str], str]) -> str:
    if use.done is None:
        return f"    amount += {use.amount}"
    return f"    if not {code(use.done)}:\n        amount += {use.amount}"


def _rest(vital: str, rested: str) -> Blanks:
    return {"vital": vital, "rested": rested.replace("'", '"'), "search": SEARCH_ROOM}


def _headline(instruction: str) -> str:
    """The instruction as the program's docstring, without anything that could end it early."""
    plain = re.sub(r'["\\\x00-\x1f]', " ", instruction).strip() or "Do as the sub-action says."
    return textwrap.fill(plain, width=96)


def _tidy(text: str) -> str:
    """Two blank lines before each function, one newline at the end."""
    return re.sub(r"\n+(?=def )", "\n\n\n", text).rstrip() + "\n"


@functools.cache
def _behaviour_text(name: str) -> str:
    return (files("engine.agents.rules") / "behaviours" / f"{name}.policy").read_text()
