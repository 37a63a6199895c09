"""The original benchmark's evaluation episodes, set up in the flats of this project.

What is taken over: instruction, goal, fridge, and which object lies on which receptacle, in the
order of the original, which decides what `pick` takes first. What is not: the scene (arrangement
and variant of the same numbers stand for it), where on a receptacle an object lies, and the
recorded subgoals, which are computed here from a solution that has been played. Relations that an
instruction speaks of were true of the original's scenes and need not be of these flats.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from engine.worlds.rearrange.episode import Episode, Placed
from engine.worlds.rearrange.goals import And, Atom, Exists, ForAll, Goal, Nand, Or, Relation
from engine.worlds.rearrange.layout import Layout, generate, spots, start_pose
from engine.worlds.rearrange.names import CATEGORIES, FRIDGE_HANDLE, HANDLES
from engine.worlds.rearrange.names import RECEPTACLES as OURS
from engine.worlds.rearrange.oracle import solve
from engine.worlds.rearrange.original_file import OriginalFileError, read, values
from engine.worlds.rearrange.original_names import ASSETS, KINDS, RECEPTACLES
from engine.worlds.rearrange.original_names import HANDLES as HANDLE_OF
from engine.worlds.rearrange.solutions import carry, carry_near, turn_fridge

STARTS: Final = 20
"""Poses of the robot that are tried, so that the goal is not true from the start."""
_SCENE: Final = re.compile(r"v3_sc(\d+)_staging_(\d+)")
_PREDICATE: Final = re.compile(r"(\w+)\(([^()]*)\)")
_RELATIONS: Final[Mapping[str, Relation]] = {
    "on_top": "on_top",
    "in": "in",
    "robot_at": "robot_at",
    "robot_at_obj": "robot_at",
    "holding": "holding",
    "not_holding": "not_holding",
    "opened_fridge": "opened",
    "closed_fridge": "closed",
    "opened_cab": "opened",
    "closed_cab": "closed",
}


@dataclass(frozen=True, slots=True)
class Original:
    """What a file of the original benchmark gave."""

    episodes: tuple[Episode, ...]
    left_out: tuple[str, ...]
    """Ids of episodes that have no solution in the flats here."""


def load(path: Path) -> Original:
    """Read a dataset file of Language Rearrangement that the user has, such as
    `new_scenes.pickle`.

    Raises:
        OriginalFileError: The file cannot be read or an episode has another form.
    """
    content = read(path)
    names, found, left_out = content["idx_to_name"], [], []
    for index, told in enumerate(content["all_eps"]):
        name = f"original-{path.stem}-{index:05d}"
        try:
            episode = _set_up(name, path.stem, told, names)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise OriginalFileError(
                f"Episode {index} of {str(path)!r} has another form than those of Language"
                f" Rearrangement ({type(error).__name__}: {error}). Give a file as published."
            ) from error
        if episode is None:
            left_out.append(name)
        else:
            found.append(episode)
    return Original(tuple(found), tuple(left_out))


def _set_up(
    name: str, split: str, told: Mapping[str, Any], names: Mapping[int, str]
) -> Episode | None:
    """An episode with a solution here; `None` if there is none."""
    scene = _SCENE.search(told["scene_id"])
    if scene is None:
        raise ValueError(f"scene {told['scene_id']!r}")
    macro, variant = int(scene[1]), int(scene[2])
    layout = generate(macro, variant)
    pairs = [
        (names[thing], names[place])
        for thing, place in values(told["name_to_receptacle"]).reshape(-1, 2).tolist()
    ]
    goal = translate(told["goal_preds"])
    places = [RECEPTACLES[place] for _, place in pairs]
    rng = np.random.default_rng(zlib.crc32(repr((macro, variant, pairs)).encode()))
    objects = _lay([ASSETS[_asset(thing)] for thing, _ in pairs], places, layout, rng)
    lying = [(placed.category, place) for placed, place in zip(objects, places, strict=True)]
    if not isinstance(told["instruction"], str):
        raise TypeError(f"instruction {told['instruction']!r}")
    episode = Episode(
        id=name,
        split=split,
        kind=KINDS[str(told["instruct_id"]).partition("_")[0]],
        instruction=told["instruction"],
        macro=macro,
        variant=variant,
        start=(0.0, 0.0, 0.0),
        joints=_joints(told["start_preds"]),
        objects=objects,
        goal=goal,
        subgoals=(),
        solution=(),
    )
    return _solved(episode, layout, lying, rng)


def _solved(
    episode: Episode,
    layout: Layout,
    lying: Sequence[tuple[int, int]],
    rng: np.random.Generator,
) -> Episode | None:
    """The episode begun where its goal is not true, solved by a template or by search."""
    for _ in range(STARTS):
        begun = replace(episode, start=start_pose(layout, rng))
        template = _template(episode.goal, lying, layout)
        found = solve(begun, layout, template=template) if template else None
        found = found or solve(begun, layout)
        if found is not None and found.solution:
            return found
    return None


def _template(
    goal: Goal, lying: Sequence[tuple[int, int]], layout: Layout
) -> tuple[int, ...] | None:
    """Actions that ought to bring about a goal, told from its form; `None`: search for them."""
    match goal:
        case Exists(variables, And(parts)):
            wanted = {part.object: part.place for part in _atoms(parts, "on_top")}
            actions: list[int] = []
            for name, category in variables:
                sources = [place for what, place in lying if what == category]
                if name not in wanted or not sources:
                    return None
                if wanted[name] not in sources:
                    actions += carry(category, sources[0], wanted[name])
            return tuple(actions)
        case ForAll(_, category, And(parts)):
            targets = [part.place for part in _atoms(parts, "on_top")]
            loads = [load for load in lying if load[0] == category and load[1] not in targets]
            return carry_near(layout, loads, targets)
        case And((Atom("opened", _, handle),)) if handle == FRIDGE_HANDLE:
            return turn_fridge("open")
        case And((Atom("closed", _, handle),)) if handle == FRIDGE_HANDLE:
            return turn_fridge("close")
    return None


def _atoms(parts: Sequence[Goal], relation: Relation) -> Iterator[Atom]:
    return (part for part in parts if isinstance(part, Atom) and part.relation == relation)


def translate(told: str | Mapping[str, Any]) -> Goal:
    """A goal as this project writes it.

    A quantifier of the original stands before its connective: `NAND` over `EXISTS` means that there
    is an object for which not all parts hold.

    Raises:
        ValueError: It has a part that is not known.
        KeyError: It names something that is not known.
    """
    if isinstance(told, str):
        return _atom(told)
    parts = tuple(translate(part) for part in told["sub_exprs"])
    connectives: Mapping[str, type[And | Or | Nand]] = {"AND": And, "OR": Or, "NAND": Nand}
    body: Goal = connectives[told["expr_type"]](parts)
    variables = tuple(
        (entity["name"], CATEGORIES.index(entity["expr_type"].replace(" ", "_")))
        for entity in told.get("inputs", ())
    )
    match told.get("quantifier"):
        case None if not variables:
            return body
        case "EXISTS":
            return Exists(variables, body)
        case "FORALL":
            for name, category in reversed(variables):
                body = ForAll(name, category, body)
            return body
    raise ValueError(f"quantifier {told.get('quantifier')!r} of {variables!r}")


def _atom(told: str) -> Atom:
    match = _PREDICATE.fullmatch(told.strip())
    if match is None:
        raise ValueError(f"predicate {told!r}")
    relation = _RELATIONS[match[1]]
    arguments = [argument.strip() for argument in match[2].split(",") if argument.strip()]
    thing, place = "", -1
    for argument in arguments:
        if argument in RECEPTACLES:
            place = RECEPTACLES[argument]
        elif argument in HANDLE_OF:
            at = relation == "robot_at"
            place = HANDLE_OF[argument] + (len(OURS) if at else 0)
        else:
            thing = argument
    return Atom(relation, thing, place)


def _lay(
    items: Sequence[tuple[int, int]],
    places: Sequence[int],
    layout: Layout,
    rng: np.random.Generator,
) -> tuple[Placed, ...]:
    where: list[tuple[float, float, float]] = [(0.0, 0.0, 0.0)] * len(items)
    for place in sorted(set(places)):
        on = [index for index, other in enumerate(places) if other == place]
        for index, (x, y, z) in zip(on, spots(layout, place, len(on), rng).tolist(), strict=True):
            where[index] = (x, y, z)
    return tuple(Placed(*item, spot) for item, spot in zip(items, where, strict=True))


def _asset(name: str) -> str:
    """`056_tennis_ball` of `056_tennis_ball_:0000`."""
    return name.partition("_:")[0]


def _joints(predicates: Sequence[str]) -> tuple[float, float, float, float, float]:
    joints = [0.0] * len(HANDLES)
    for told in predicates:
        atom = _atom(told)
        if atom.relation not in ("opened", "closed"):
            raise ValueError(f"start {told!r}")
        joints[atom.place] = HANDLES[atom.place].opened if atom.relation == "opened" else 0.0
    return (joints[0], joints[1], joints[2], joints[3], joints[4])
