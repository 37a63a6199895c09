"""The boxes a flat is drawn of, in their colours, with its drawers and fridge as they stand."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.rearrange import pieces
from engine.worlds.rearrange.drawing import Colour, shade
from engine.worlds.rearrange.geometry import CUPBOARD, HEADINGS, WALL, Box, Floats, Frame
from engine.worlds.rearrange.layout import Layout, generate
from engine.worlds.rearrange.names import FRIDGE_HANDLE, RECEPTACLE_NAMES

Joints = tuple[float, float, float, float, float]

AJAR: Final = 0.02
"""A joint that is moved no more than this looks closed."""
_STEEL: Final = (166, 172, 180)
_DARK: Final = (46, 48, 54)
_FRIDGE: Final = (222, 228, 232)
_LIGHT: Final = (255, 250, 214)
_SHELF: Final = (150, 190, 214)
_FRONTS: Final = (
    (206, 186, 150),
    (170, 120, 78),
    (226, 226, 220),
    (112, 140, 120),
    (150, 158, 176),
)
_SOFAS: Final = ((70, 104, 150), (150, 72, 66), (86, 128, 84), (206, 150, 70), (128, 104, 150))
_WALLS: Final = (
    (226, 220, 206),
    (206, 222, 228),
    (216, 226, 206),
    (232, 212, 206),
    (222, 214, 232),
)
_FLOORS: Final = ((176, 138, 98), (146, 110, 80), (190, 176, 156), (158, 146, 132), (196, 156, 110))


@dataclass(frozen=True, slots=True)
class Scene:
    """What is drawn of a flat but objects."""

    boxes: Floats
    """Least and greatest corners, shape (n, 2, 3)."""
    sides: Floats
    """Colour of the sides of each, shape (n, 3), 0 to 255."""
    tops: Floats
    """Colour of what is seen of each from above."""
    walls: Floats
    """Colours of the walls seen when looking east, north, west, south: shape (4, 3)."""
    floor: Floats
    """Colour of the floor, shape (3,)."""
    size: tuple[float, float]


class _Boxes:
    """Boxes with their colours, as they are added."""

    def __init__(self) -> None:
        self.boxes: list[NDArray[np.float32]] = []
        self.sides: list[Colour] = []
        self.tops: list[Colour] = []

    def add(self, box: object, side: Colour, top: Colour | None = None) -> None:
        self.boxes.append(np.asarray(box, np.float32))
        self.sides.append(side)
        self.tops.append(side if top is None else top)

    def add_local(self, frame: Frame, boxes: Iterable[Box], side: Colour) -> None:
        for box in boxes:
            self.add(frame.box(box), side)


def scene(layout: Layout, joints: Joints) -> Scene:
    """What is seen of a flat with these joints; made once, as flats of one number are the same."""
    return _scene(layout.macro, layout.variant, tuple(round(joint, 2) for joint in joints))


@functools.lru_cache(maxsize=1024)
def _scene(macro: int, variant: int, joints: tuple[float, ...]) -> Scene:
    layout = generate(macro, variant)
    rng = np.random.default_rng((macro, variant, 77))
    found = _Boxes()
    fridge = RECEPTACLE_NAMES.index("fridge")
    colours = _colours(macro)
    number = dict.fromkeys(range(CUPBOARD, len(RECEPTACLE_NAMES)), 0)
    for box, kind in zip(layout.solids, layout.solid_kinds.tolist(), strict=True):
        if kind == fridge:
            continue
        sides = colours[kind]
        side, top = sides[min(number[kind], len(sides) - 1)]
        number[kind] += 1
        found.add(box, side, top)
    _add_fridge(found, _frame(layout, "fridge", pieces.fridge().stand), joints[FRIDGE_HANDLE])
    front = shade(_FRONTS[macro], 1.25)
    for handle, (name, offset, inside) in pieces.DRAWERS.items():
        stand = pieces.sink(1.0).stand if name == "sink" else pieces.counter(1.0).stand
        frame = _frame(layout, name, stand).moved(offset)
        _add_drawer(found, frame, inside, joints[handle], front)
    _add_windows(found, layout, rng)
    tint = rng.uniform(0.94, 1.04, 3)
    sides = np.array([_WALLS[macro]] * 4) * tint * np.array([[0.92], [1.0], [0.86], [0.96]])
    return Scene(
        boxes=np.stack(found.boxes),
        sides=np.array(found.sides, np.float32),
        tops=np.array(found.tops, np.float32),
        walls=np.clip(sides, 0, 255).astype(np.float32),
        floor=np.clip(np.array(_FLOORS[macro]) * tint, 0, 255).astype(np.float32),
        size=layout.size,
    )


def _colours(macro: int) -> dict[int, tuple[tuple[Colour, Colour], ...]]:
    """By kind of solid: colours of the sides and the top of its boxes, in the order they come."""
    front, fabric, wall = _FRONTS[macro], _SOFAS[macro], _WALLS[macro]
    black, brown = (40, 40, 44), (124, 76, 40)
    worktop, wood = (96, 92, 92), (196, 160, 116)
    counter = ((front, front), (worktop, shade(worktop, 1.25)))
    named: dict[str, tuple[tuple[Colour, Colour], ...]] = {
        "black_table": ((black, (62, 62, 68)),),
        "brown_table": ((brown, shade(brown, 1.2)),),
        "tv_stand": ((shade(wood, 0.8), wood), (_DARK, _DARK), (_DARK, _DARK)),
        "sink": (
            (front, shade(_STEEL, 0.85)),
            *((_STEEL, shade(_STEEL, 1.5)),) * 4,
            (_DARK, _DARK),
        ),
        "right_counter": counter,
        "left_counter": counter,
        "sofa": (
            (shade(fabric, 0.9), shade(fabric, 1.15)),
            (shade(fabric, 0.75), fabric),
            (shade(fabric, 0.8), fabric),
        ),
        "chair": ((wood, shade(wood, 1.3)), (shade(wood, 0.85), wood)),
    }
    by_kind = {RECEPTACLE_NAMES.index(name): colours for name, colours in named.items()}
    return by_kind | {
        WALL: ((shade(wall, 0.9), wall),),
        CUPBOARD: ((shade(front, 0.8), shade(front, 0.9)),),
    }


def _frame(layout: Layout, name: str, stand: float) -> Frame:
    """Where a piece stands, from where its user does."""
    x, y, heading = (float(value) for value in layout.stands[RECEPTACLE_NAMES.index(name)])
    facing = int(np.argmin([abs(heading - other) for other in HEADINGS]))
    return Frame(x, y, facing).moved(0.0, -stand)


def _add_fridge(found: _Boxes, frame: Frame, joint: float) -> None:
    """A closed box with a handle, or a lit inside with shelves and the door at its side."""
    grip = (196, 60, 52)
    if joint <= AJAR:
        found.add(frame.box((-0.38, 0.38, 0.0, 0.68, 0.0, 1.8)), shade(_FRIDGE, 0.9))
        panels = ((-0.37, 0.37, 0.68, 0.7, 0.04, 0.58), (-0.37, 0.37, 0.68, 0.7, 0.62, 1.78))
        found.add_local(frame, panels, _FRIDGE)
        found.add_local(frame, ((0.26, 0.31, 0.7, 0.74, 0.8, 1.4),), grip)
        return
    shell = (
        (-0.38, 0.38, 0.0, 0.05, 0.0, 1.8),
        (-0.38, 0.38, 0.0, 0.68, 0.0, 0.1),
        (-0.38, 0.38, 0.0, 0.68, 1.72, 1.8),
        (-0.38, -0.33, 0.0, 0.68, 0.0, 1.8),
        (0.33, 0.38, 0.0, 0.68, 0.0, 1.8),
    )
    found.add_local(frame, shell, _LIGHT)
    shelves = tuple((-0.33, 0.33, 0.05, 0.64, z - 0.03, z) for z in (0.5, 0.88, 1.3))
    found.add_local(frame, shelves, _SHELF)
    out = 0.7 + 0.7 * min(joint / 1.22, 1.0)
    found.add(frame.box((-0.46, -0.39, 0.68, out, 0.04, 1.78)), _FRIDGE)
    found.add_local(frame, ((-0.39, -0.36, out - 0.12, out - 0.06, 0.8, 1.4),), grip)


def _add_drawer(found: _Boxes, frame: Frame, inside: Box, joint: float, front: Colour) -> None:
    """A front with a grip; pulled out, a tray behind it and a dark hole where it was."""
    u0, u1, _, v1, z0, z1 = inside
    out = joint if joint > AJAR else 0.0
    face = v1 + out
    found.add(frame.box((u0 - 0.02, u1 + 0.02, face, face + 0.02, z0, z1)), front)
    middle = (z0 + z1) / 2
    grip = (-0.08, 0.08, face + 0.02, face + 0.05, middle - 0.015, middle + 0.015)
    found.add(frame.box(grip), _DARK)
    if out:
        found.add(frame.box((u0, u1, v1, v1 + 0.004, z0, z1)), (30, 26, 24))
        tray, side = (236, 222, 190), (206, 190, 156)
        found.add(frame.box((u0, u1, v1 - 0.05, face, z0 - 0.03, z0)), side, tray)
        for left in (u0, u1 - 0.02):
            found.add(frame.box((left, left + 0.02, v1, face, z0, z1 - 0.05)), side)


def _add_windows(found: _Boxes, layout: Layout, rng: np.random.Generator) -> None:
    """A window or picture on each wall, so that walls tell where one is."""
    width, depth = layout.size
    for wall in range(4):
        length = (depth, width)[wall % 2]
        middle = rng.uniform(0.3, 0.7) * length
        half = rng.uniform(0.4, 0.8)
        colour = ((150, 196, 232), (214, 150, 96), (120, 170, 140), (190, 120, 140))[wall]
        a, b = middle - half, middle + half
        x, y = ((width - 0.02, width), (a, b)) if wall % 2 == 0 else ((a, b), (depth - 0.02, depth))
        if wall >= 2:
            x, y = ((0.0, 0.02), (a, b)) if wall == 2 else ((a, b), (0.0, 0.02))
        found.add(((x[0], y[0], 1.35), (x[1], y[1], 2.1)), colour)
