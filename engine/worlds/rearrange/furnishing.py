"""Puts the furniture of one variant in place: draws places until the flat is as it should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.worlds.rearrange import pieces
from engine.worlds.rearrange.geometry import (
    CLEARANCE,
    CUPBOARD,
    HEADINGS,
    WALL,
    Box,
    Floats,
    Frame,
    at,
    clear,
)
from engine.worlds.rearrange.names import ENTITIES, HANDLES, RECEPTACLE_NAMES
from engine.worlds.rearrange.plans import PLANS, Plan, Site, Special, specials

WALL_HEIGHT: Final = 2.5
_TRIES: Final = 20_000
_ALONE: Final = ("black_table", "brown_table", "tv_stand", "sofa", "chair")
_FREE: Final = frozenset({("tv_stand", "right_counter"), ("chair", "sofa"), ("chair", "tv_stand")})


@dataclass(slots=True)
class Flat:
    """A furnished flat as arrays; what they hold is said at `layout.Layout`."""

    size: tuple[float, float]
    positions: Floats
    stands: Floats
    surfaces: Floats
    insides: Floats
    solids: Floats
    kinds: list[int]


def furnish(macro: int, variant: int) -> Flat:
    """The flat of this number.

    Raises:
        RuntimeError: The plan leaves no room for what the variant asks for.
    """
    plan, special = PLANS[macro], specials(macro, variant)
    rng = np.random.default_rng((macro, variant, 91))
    for _ in range(_TRIES):
        placed, gaps = _kitchen(plan, special, rng)
        placed |= _alone(plan, special, placed, rng)
        flat = _assemble(plan, placed, gaps)
        if _fits(flat) and _near_as_wanted(flat, special):
            _add_walls(flat, plan)
            return flat
    raise RuntimeError(f"No flat {macro!r}.{variant!r} found: widen the sites of its plan.")


_Placed = dict[str, tuple[Frame, pieces.Piece]]


def _kitchen(
    plan: Plan, special: frozenset[Special], rng: np.random.Generator
) -> tuple[_Placed, list[tuple[Frame, Box]]]:
    """Fridge, left counter, sink, right counter, from left to right, and cupboards between."""
    compact = "compact" in special
    counter = pieces.counter(0.84 if compact else 1.0)
    sink = pieces.sink(0.84 if compact else 0.9)
    to_sink = 0.86 if compact else rng.uniform(0.95, 0.99)
    to_right = 0.86 if compact else rng.uniform(0.95, 0.99)
    if "wide_left" in special:
        to_sink = 1.98
    if "wide_right" in special:
        to_right = 1.98
    if "wider_right" in special:
        to_right = 1.805
    to_fridge = 2.05 if "far_fridge" in special else rng.uniform(0.96, 1.02)
    span = 0.38 + to_fridge + to_sink + to_right + counter.width / 2
    start = rng.uniform(*plan.kitchen_from)
    facing = plan.kitchen
    width, depth = plan.size
    wall = (depth, width, depth, width)[facing]
    if "tv_at_kitchen" in special:
        start = wall - span - 0.62 + rng.uniform(-0.06, 0.06)
    corner = Frame(*((width, depth), (0.0, depth), (0.0, 0.0), (width, 0.0))[facing], facing)
    left = start + 0.38 + to_fridge
    frames = {
        "fridge": corner.moved(start + 0.38),
        "left_counter": corner.moved(left),
        "sink": corner.moved(left + to_sink),
        "right_counter": corner.moved(left + to_sink + to_right),
    }
    shapes = {"fridge": pieces.fridge(), "sink": sink}
    placed = {name: (frame, shapes.get(name, counter)) for name, frame in frames.items()}
    ends = [
        (start + 0.76, left - counter.width / 2),
        (left + counter.width / 2, left + to_sink - sink.width / 2),
        (left + to_sink + sink.width / 2, left + to_sink + to_right - counter.width / 2),
    ]
    return placed, [
        (corner, (begin, end, 0.0, 0.56, 0.0, 0.78)) for begin, end in ends if end - begin > 0.01
    ]


def _alone(
    plan: Plan, special: frozenset[Special], kitchen: _Placed, rng: np.random.Generator
) -> _Placed:
    shapes = {
        "black_table": pieces.table(1.3, 0.8, 0.74),
        "brown_table": pieces.table(1.3, 0.8, 0.91),
        "tv_stand": pieces.tv_stand(),
        "sofa": pieces.sofa(),
        "chair": pieces.chair(),
    }
    frames = {name: _draw(plan.sites[name], rng) for name in _ALONE}
    side = float(rng.choice((-1.0, 1.0)))
    if "tv_at_kitchen" in special:
        right, _ = kitchen["right_counter"]
        width, depth = plan.size
        facing = (plan.kitchen - 1) % 4  # the wall on the right of who looks at the kitchen
        along = rng.uniform(1.9, 2.3)
        x, y = right.point(0.0, along)
        x, y = ((width, y), (x, depth), (0.0, y), (x, 0.0))[facing]
        frames["tv_stand"] = Frame(x, y, facing)
    tv = frames["tv_stand"]
    if "tv_at_black_table" in special:
        x, y = tv.point(side * rng.uniform(2.31, 2.4), rng.uniform(0.67, 0.85))
        frames["black_table"] = Frame(x, y, (tv.facing - int(side)) % 4)
    if "chair_at_sofa" in special:
        frames["chair"] = frames["sofa"].moved(side * rng.uniform(1.25, 1.4), 0.2)
    if "chair_at_tv" in special:
        frames["chair"] = tv.moved(float(rng.choice((-1.0, 1.0))) * rng.uniform(1.0, 1.3), 0.05)
    return {name: (frame, shapes[name]) for name, frame in frames.items()}


def _draw(site: Site, rng: np.random.Generator) -> Frame:
    return Frame(rng.uniform(*site.x), rng.uniform(*site.y), site.facing)


def _assemble(plan: Plan, placed: _Placed, gaps: list[tuple[Frame, Box]]) -> Flat:
    positions = np.zeros((len(ENTITIES), 3), np.float32)
    stands = np.zeros((len(ENTITIES), 3), np.float32)
    surfaces = np.zeros((len(RECEPTACLE_NAMES), 2, 3), np.float32)
    insides = np.zeros((len(HANDLES), 2, 3), np.float32)
    solids, kinds = [], []
    for name, (frame, piece) in placed.items():
        index = RECEPTACLE_NAMES.index(name)
        surfaces[index] = frame.box(piece.surface)
        positions[index] = _middle(surfaces[index])
        stands[index] = _stand(frame, piece.stand)
        solids += [frame.box(box) for box in piece.solids]
        kinds += [index] * len(piece.solids)
    for frame, box in gaps:
        solids.append(frame.box(box))
        kinds.append(CUPBOARD)
    for handle, (name, offset, box) in pieces.DRAWERS.items():
        frame = placed[name][0].moved(offset)
        insides[handle] = frame.box(box)
        entity = len(RECEPTACLE_NAMES) + handle
        positions[entity] = (*frame.point(0.0, 0.6), (box[4] + box[5]) / 2)
        stands[entity] = _stand(frame, pieces.DRAWER_STAND)
    for name, handle in pieces.DRAWER_RECEPTACLES.items():
        index = RECEPTACLE_NAMES.index(name)
        surfaces[index] = insides[handle]
        positions[index] = _middle(surfaces[index])
        stands[index] = stands[len(RECEPTACLE_NAMES) + handle]
    frame, piece = placed["fridge"]
    insides[4] = frame.box(pieces.FRIDGE_INSIDE)
    positions[-1] = (*frame.point(0.3, 0.72), 1.1)
    stands[-1] = _stand(frame, piece.stand)
    return Flat(
        plan.size, positions, stands, surfaces, insides, np.array(solids, np.float32), kinds
    )


def _middle(box: Floats) -> tuple[float, float, float]:
    return (
        float(box[0, 0] + box[1, 0]) / 2,
        float(box[0, 1] + box[1, 1]) / 2,
        float(box[0, 2]),
    )


def _stand(frame: Frame, distance: float) -> tuple[float, float, float]:
    return (*frame.point(0.0, distance), HEADINGS[frame.facing])


def _fits(flat: Flat) -> bool:
    """Nothing overlaps or leaves the room, and the robot can stand wherever it is put."""
    boxes = flat.solids
    width, depth = flat.size
    if (boxes[:, 0, :2] < -0.01).any() or (boxes[:, 1, :2] > (width + 0.01, depth + 0.01)).any():
        return False
    kinds = np.array(flat.kinds)
    kitchen = [RECEPTACLE_NAMES.index(n) for n in ("fridge", "left_counter", "sink")]
    kitchen.append(RECEPTACLE_NAMES.index("right_counter"))
    group = np.where(np.isin(kinds, [*kitchen, CUPBOARD]), CUPBOARD, kinds)
    low, high = boxes[:, None, 0, :2], boxes[:, None, 1, :2]
    near = ((low < high.transpose(1, 0, 2) + 0.03) & (low.transpose(1, 0, 2) < high + 0.03)).all(2)
    if (near & (group[:, None] != group[None])).any():
        return False
    for x, y, _ in flat.stands:
        inside = CLEARANCE < x < width - CLEARANCE and CLEARANCE < y < depth - CLEARANCE
        if not inside or not clear(boxes, float(x), float(y), CLEARANCE):
            return False
    return True


_GROUPS: Final = {name: name for name in _ALONE}


def near_wanted(special: frozenset[Special]) -> frozenset[tuple[str, str]]:
    """Receptacles (second) outside its own group that are near where `nav` (first) leads."""
    wanted = {
        "chair_at_sofa": ("sofa", "chair"),
        "chair_at_tv": ("tv_stand", "chair"),
        "tv_at_kitchen": ("tv_stand", "right_drawer"),
        "tv_at_black_table": ("tv_stand", "black_table"),
    }
    return frozenset(pair for name, pair in wanted.items() if name in special)


def _near_as_wanted(flat: Flat, special: frozenset[Special]) -> bool:
    """Across groups (the kitchen is one) exactly those are near that should be."""
    wanted = near_wanted(special)
    for start, name in enumerate(ENTITIES):
        x, y, heading = (float(value) for value in flat.stands[start])
        near = at(flat.positions, x, y, heading)
        for entity, other in enumerate(ENTITIES[: len(RECEPTACLE_NAMES)]):
            if _GROUPS.get(name) == _GROUPS.get(other) or (name, other) in _FREE:
                continue
            if near[entity] != ((name, other) in wanted):
                return False
    return True


def _add_walls(flat: Flat, plan: Plan) -> None:
    """Inner walls, where they leave room to whatever stands there."""
    for x0, x1, y0, y1 in plan.walls:
        wall = np.array([[[x0, y0, 0.0], [x1, y1, WALL_HEIGHT]]], np.float32)
        low, high = flat.solids[:, 0, :2], flat.solids[:, 1, :2]
        apart = ((low > wall[0, 1, :2]) | (high < wall[0, 0, :2])).any(1).all()
        if apart and all(clear(wall, float(x), float(y), 0.4) for x, y, _ in flat.stands):
            flat.solids = np.concatenate([flat.solids, wall])
            flat.kinds.append(WALL)
