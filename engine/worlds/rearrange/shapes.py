"""What each category of objects looks like: a silhouette of its own, in an instance's colours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from engine.worlds.rearrange.drawing import (
    Colour,
    Mask,
    bar,
    box,
    ellipse,
    polygon,
    ring,
    shade,
)

Layers = list[tuple[Mask, Colour]]

STEEL: Final = (176, 182, 190)
DARK: Final = (52, 54, 60)
WOOD: Final = (176, 122, 66)
LEAF: Final = (66, 150, 52)
CREAM: Final = (244, 240, 226)


def _ball(c: Colour) -> Layers:
    band = ellipse(0, 0, 0.98, 0.98) & box(-1, 1, -0.18, 0.18)
    return [(ellipse(0, 0, 0.98, 0.98), c), (band, CREAM), (ellipse(-0.35, 0.5, 0.2, 0.16), CREAM)]


def _clamp(c: Colour) -> Layers:
    frame = box(-0.95, 0.5, -0.95, 0.95) & ~box(-0.55, 0.6, -0.5, 0.5)
    screw = bar(-0.1, 0.05, 0.9, 0.05, 0.12)
    return [(frame, c), (screw, STEEL), (box(0.75, 0.98, -0.35, 0.45), DARK)]


def _hammer(c: Colour) -> Layers:
    head = box(-0.95, 0.6, 0.4, 0.9) | polygon((0.6, 0.9), (0.98, 0.45), (0.6, 0.4))
    return [(box(-0.2, 0.14, -0.98, 0.5), c), (head, DARK)]


def _screwdriver(c: Colour) -> Layers:
    shaft = bar(-0.1, -0.1, 0.9, 0.9, 0.09)
    return [(shaft, STEEL), (bar(-0.75, -0.75, -0.2, -0.2, 0.24), c)]


def _padlock(c: Colour) -> Layers:
    shackle = (ring(0, 0.25, 0.68, 0.4) & box(-1, 1, 0.2, 1)) | (
        box(-0.68, -0.4, -0.1, 0.25) | box(0.4, 0.68, -0.1, 0.25)
    )
    return [(shackle, STEEL), (box(-0.9, 0.9, -0.95, 0.05), c), (ellipse(0, -0.4, 0.18, 0.2), DARK)]


def _scissors(c: Colour) -> Layers:
    blades = bar(-0.35, -0.2, 0.5, 0.9, 0.11) | bar(0.35, -0.2, -0.5, 0.9, 0.11)
    rings = ring(-0.5, -0.55, 0.44, 0.2) | ring(0.5, -0.55, 0.44, 0.2)
    return [(blades, STEEL), (rings, c)]


def _block(c: Colour) -> Layers:
    top = polygon((0, 0.98), (0.9, 0.5), (0, 0.05), (-0.9, 0.5))
    left = polygon((-0.9, 0.5), (0, 0.05), (0, -0.98), (-0.9, -0.5))
    right = polygon((0.9, 0.5), (0, 0.05), (0, -0.98), (0.9, -0.5))
    return [(top, shade(c, 1.4)), (left, c), (right, shade(c, 0.65))]


def _drill(c: Colour) -> Layers:
    body = box(-0.85, 0.35, 0.2, 0.9)
    grip = polygon((-0.75, 0.3), (-0.2, 0.3), (-0.35, -0.6), (-0.9, -0.6))
    return [
        (box(0.3, 0.98, 0.47, 0.64), STEEL),
        (grip, c),
        (box(-0.98, 0.0, -0.95, -0.55), DARK),
        (body, c),
        (box(0.1, 0.5, 0.28, 0.82), DARK),
    ]


def _spatula(c: Colour) -> Layers:
    head = box(-0.9, 0.9, 0.15, 0.95)
    slots = [box(x - 0.1, x + 0.1, 0.32, 0.8) for x in (-0.5, 0.0, 0.5)]
    return [
        (box(-0.18, 0.18, -0.5, 0.3), STEEL),
        (box(-0.28, 0.28, -0.98, -0.3), c),
        (head & ~(slots[0] | slots[1] | slots[2]), DARK),
    ]


def _knife(c: Colour) -> Layers:
    blade = polygon((-0.25, -0.5), (0.98, 0.15), (0.6, 0.7), (-0.25, 0.7))
    return [(blade, (214, 218, 224)), (box(-0.98, -0.25, -0.3, 0.7), c)]


def _spoon(c: Colour) -> Layers:
    return [
        (box(-0.22, 0.22, -0.98, 0.3), c),
        (ellipse(0, 0.5, 0.85, 0.48), c),
        (ellipse(0, 0.5, 0.5, 0.3), shade(c, 0.7)),
    ]


def _plate(c: Colour) -> Layers:
    return [
        (ellipse(0, -0.12, 0.99, 0.82), shade(c, 0.7)),
        (ellipse(0, 0, 0.99, 0.8), c),
        (ellipse(0, 0, 0.6, 0.46), shade(c, 0.85)),
    ]


def _sponge(c: Colour) -> Layers:
    holes = (
        ellipse(-0.5, 0.4, 0.12, 0.2) | ellipse(0.1, 0.5, 0.1, 0.2) | ellipse(0.6, 0.2, 0.1, 0.2)
    )
    return [(box(-0.98, 0.98, -0.9, 0.9), c), (box(-0.98, 0.98, -0.9, -0.3), LEAF), (holes, WOOD)]


def _cleanser(c: Colour) -> Layers:
    bottle = box(-0.75, 0.75, -0.98, 0.1) | polygon(
        (-0.75, 0.1), (0.75, 0.1), (0.25, 0.45), (-0.25, 0.45)
    )
    nozzle = box(-0.3, 0.3, 0.4, 0.9) | box(-0.9, 0.3, 0.68, 0.92) | bar(0.2, 0.6, 0.6, 0.3, 0.1)
    return [(bottle, c), (nozzle, (220, 60, 50)), (box(-0.75, 0.75, -0.65, -0.15), CREAM)]


def _plum(c: Colour) -> Layers:
    cleft = bar(0.1, 0.85, -0.1, -0.5, 0.07)
    return [
        (ellipse(0, -0.08, 0.86, 0.9), c),
        (cleft, shade(c, 0.5)),
        (ellipse(-0.4, 0.3, 0.16, 0.2), shade(c, 1.5)),
    ]


def _pear(c: Colour) -> Layers:
    return [
        (bar(0, 0.6, 0.12, 0.95, 0.08), WOOD),
        (ellipse(0, -0.4, 0.8, 0.58), c),
        (polygon((-0.74, -0.2), (-0.3, 0.5), (0.3, 0.5), (0.74, -0.2)), c),
        (ellipse(0, 0.45, 0.36, 0.33), c),
    ]


def _peach(c: Colour) -> Layers:
    blush = ellipse(0.42, -0.2, 0.5, 0.62)
    return [
        (ellipse(0, -0.12, 0.95, 0.85), c),
        (blush, (226, 92, 84)),
        (polygon((0, 0.65), (0.4, 0.98), (0.95, 0.85), (0.5, 0.6)), LEAF),
    ]


def _apple(c: Colour) -> Layers:
    flesh = ellipse(-0.36, -0.12, 0.6, 0.78) | ellipse(0.36, -0.12, 0.6, 0.78)
    return [
        (flesh, c),
        (ellipse(-0.5, 0.2, 0.16, 0.2), shade(c, 1.5)),
        (bar(0, 0.45, 0.06, 0.95, 0.08), (92, 60, 30)),
        (polygon((0.06, 0.7), (0.35, 0.98), (0.8, 0.85), (0.45, 0.6)), LEAF),
    ]


def _lemon(c: Colour) -> Layers:
    tips = polygon((-0.99, 0), (-0.6, 0.45), (-0.6, -0.45)) | polygon(
        (0.99, 0), (0.6, 0.45), (0.6, -0.45)
    )
    return [(tips, c), (ellipse(0, 0, 0.78, 0.9), c), (ellipse(-0.3, 0.35, 0.2, 0.2), CREAM)]


def _can(c: Colour) -> Layers:
    side = box(-0.85, 0.85, -0.75, 0.72) | ellipse(0, -0.75, 0.85, 0.2)
    return [
        (side, STEEL),
        (box(-0.85, 0.85, -0.62, 0.5), c),
        (ellipse(0, -0.05, 0.4, 0.25), CREAM),
        (ellipse(0, 0.74, 0.85, 0.22), shade(STEEL, 1.4)),
    ]


def _box(c: Colour) -> Layers:
    front = box(-0.95, 0.5, -0.98, 0.7)
    side = polygon((0.5, -0.98), (0.95, -0.7), (0.95, 0.98), (0.5, 0.7))
    top = polygon((-0.95, 0.7), (0.5, 0.7), (0.95, 0.98), (-0.5, 0.98))
    label = box(-0.7, 0.25, -0.2, 0.4)
    return [(front, c), (side, shade(c, 0.6)), (top, shade(c, 1.4)), (label, CREAM)]


def _banana(c: Colour) -> Layers:
    crescent = ellipse(0, 0.35, 0.98, 1.33) & ~ellipse(0, 1.1, 0.88, 1.3)
    ends = ellipse(-0.88, 0.72, 0.12, 0.2) | ellipse(0.88, 0.72, 0.12, 0.2)
    return [(crescent & box(-1, 1, -1, 0.85), c), (ends, (96, 70, 30))]


def _strawberry(c: Colour) -> Layers:
    flesh = polygon((-0.75, 0.4), (0.75, 0.4), (0.5, -0.4), (0, -0.98), (-0.5, -0.4))
    flesh |= ellipse(-0.4, 0.3, 0.48, 0.4) | ellipse(0.4, 0.3, 0.48, 0.4)
    seeds = ellipse(-0.35, 0.05, 0.08, 0.1) | ellipse(0.35, 0.05, 0.08, 0.1)
    seeds |= ellipse(0, -0.35, 0.08, 0.1)
    cap = polygon((-0.8, 0.75), (0.8, 0.75), (0.35, 0.4), (0, 0.2), (-0.35, 0.4))
    return [(flesh, c), (seeds, (250, 224, 120)), (cap | box(-0.1, 0.1, 0.6, 0.98), LEAF)]


def _lego(c: Colour) -> Layers:
    studs = box(-0.8, -0.42, 0.3, 0.9) | box(-0.19, 0.19, 0.3, 0.9) | box(0.42, 0.8, 0.3, 0.9)
    return [(studs, shade(c, 1.3)), (box(-0.98, 0.98, -0.9, 0.45), c)]


def _cube(_: Colour) -> Layers:
    faces = (
        (210, 40, 40), (250, 214, 40), (40, 90, 200), (40, 160, 70), (240, 240, 236),
        (240, 130, 30), (250, 214, 40), (210, 40, 40), (40, 160, 70),
    )  # fmt: skip
    layers: Layers = [(box(-0.98, 0.98, -0.98, 0.98), (20, 20, 22))]
    for index, colour in enumerate(faces):
        x, y = -0.9 + 0.62 * (index % 3), -0.9 + 0.62 * (index // 3)
        layers.append((box(x, x + 0.54, y, y + 0.54), colour))
    return layers


def _book(c: Colour) -> Layers:
    cover = polygon((-0.98, -0.25), (0.35, -0.25), (0.98, 0.95), (-0.35, 0.95))
    pages = polygon(
        (-0.98, -0.3), (0.35, -0.3), (0.98, 0.85), (0.98, 0.4), (0.35, -0.8), (-0.98, -0.8)
    )
    back = polygon(
        (-0.98, -0.78), (0.35, -0.78), (0.98, 0.42), (0.98, 0.2), (0.35, -0.98), (-0.98, -0.98)
    )
    title = polygon((-0.35, 0.3), (0.4, 0.3), (0.6, 0.6), (-0.2, 0.6))
    return [(pages, CREAM), (back, c), (cover, c), (title, shade(c, 1.6))]


def _bowl(c: Colour) -> Layers:
    body = ellipse(0, 0.4, 0.98, 1.3) & box(-1, 1, -1, 0.4)
    return [
        (body, c),
        (ellipse(0, 0.42, 0.98, 0.42), c),
        (ellipse(0, 0.42, 0.8, 0.28), shade(c, 0.5)),
    ]


def _cup(c: Colour) -> Layers:
    body = polygon((-0.95, 0.75), (0.95, 0.75), (0.6, -0.98), (-0.6, -0.98))
    return [
        (body, c),
        (ellipse(0, 0.75, 0.95, 0.22), shade(c, 0.5)),
        (box(-0.8, 0.8, 0.0, 0.2), CREAM),
    ]


def _mug(c: Colour) -> Layers:
    handle = ring(0.4, -0.1, 0.58, 0.32)
    body = box(-0.95, 0.4, -0.95, 0.75)
    return [(handle, c), (body, c), (ellipse(-0.28, 0.75, 0.67, 0.2), shade(c, 0.45))]


def _orange(c: Colour) -> Layers:
    dimples = (
        ellipse(-0.3, -0.3, 0.1, 0.1) | ellipse(0.4, 0.1, 0.1, 0.1) | ellipse(0.1, -0.6, 0.1, 0.1)
    )
    star = ellipse(0, 0.7, 0.24, 0.14)
    return [(ellipse(0, 0, 0.98, 0.98), c), (dimples, shade(c, 0.75)), (star, LEAF)]


def _lid(c: Colour) -> Layers:
    dome = ellipse(0, -0.5, 0.9, 1.0) & box(-1, 1, -0.5, 1)
    return [
        (ellipse(0, 0.7, 0.24, 0.28), DARK),
        (dome, c),
        (box(-0.99, 0.99, -0.8, -0.45), shade(c, 0.6)),
        (ellipse(-0.35, -0.05, 0.12, 0.25), shade(c, 1.6)),
    ]


def _airplane(c: Colour) -> Layers:
    wings = polygon(
        (-0.1, 0.5),
        (0.2, 0.5),
        (0.98, -0.3),
        (0.98, -0.5),
        (0, -0.1),
        (-0.98, -0.5),
        (-0.98, -0.3),
        (-0.2, 0.5),
    )
    tail = polygon((-0.5, -0.98), (0.5, -0.98), (0.12, -0.6), (-0.12, -0.6))
    body = bar(0, 0.8, 0, -0.8, 0.17)
    return [(wings, c), (tail, c), (body, CREAM), (ellipse(0, 0.72, 0.12, 0.16), (70, 120, 190))]


def _wrench(c: Colour) -> Layers:
    heads = ellipse(-0.58, 0.58, 0.42, 0.42) | ellipse(0.58, -0.58, 0.42, 0.42)
    jaws = bar(-0.6, 0.6, -1, 1, 0.17) | bar(0.6, -0.6, 1, -1, 0.17)
    return [((bar(-0.5, 0.5, 0.5, -0.5, 0.21) | heads) & ~jaws, c)]


SHAPES: Final[Mapping[str, tuple[float, float, Callable[[Colour], Layers]]]] = MappingProxyType(
    {
        "ball": (0.22, 0.22, _ball),
        "clamp": (0.26, 0.24, _clamp),
        "hammer": (0.24, 0.30, _hammer),
        "screwdriver": (0.28, 0.28, _screwdriver),
        "padlock": (0.17, 0.23, _padlock),
        "scissors": (0.24, 0.30, _scissors),
        "block": (0.20, 0.21, _block),
        "drill": (0.30, 0.27, _drill),
        "spatula": (0.14, 0.34, _spatula),
        "knife": (0.36, 0.10, _knife),
        "spoon": (0.12, 0.32, _spoon),
        "plate": (0.36, 0.16, _plate),
        "sponge": (0.25, 0.13, _sponge),
        "cleanser": (0.18, 0.34, _cleanser),
        "plum": (0.15, 0.15, _plum),
        "pear": (0.17, 0.25, _pear),
        "peach": (0.18, 0.18, _peach),
        "apple": (0.19, 0.20, _apple),
        "lemon": (0.20, 0.14, _lemon),
        "can": (0.15, 0.23, _can),
        "box": (0.22, 0.28, _box),
        "banana": (0.30, 0.16, _banana),
        "strawberry": (0.16, 0.18, _strawberry),
        "lego": (0.28, 0.16, _lego),
        "rubriks_cube": (0.20, 0.20, _cube),
        "book": (0.34, 0.19, _book),
        "bowl": (0.30, 0.18, _bowl),
        "cup": (0.17, 0.20, _cup),
        "mug": (0.23, 0.20, _mug),
        "orange": (0.19, 0.19, _orange),
        "lid": (0.30, 0.16, _lid),
        "toy_airplane": (0.36, 0.28, _airplane),
        "wrench": (0.28, 0.28, _wrench),
    }
)
"""By category: width and height in metres, larger than life so that few pixels tell them apart, and
the figure in the colour of an instance."""

COLOURS: Final[Mapping[str, tuple[Colour, ...]]] = MappingProxyType(
    {
        "ball": ((214, 48, 44), (44, 96, 206), (240, 200, 40), (232, 120, 30), (48, 160, 84)),
        "clamp": ((236, 130, 30), (60, 110, 200), (200, 50, 50)),
        "hammer": (WOOD,),
        "screwdriver": ((222, 52, 44), (236, 190, 40)),
        "padlock": ((206, 160, 56),),
        "scissors": ((232, 96, 40),),
        "block": ((210, 60, 52), (60, 140, 220), (90, 180, 80)),
        "drill": ((240, 150, 30),),
        "spatula": ((206, 58, 58),),
        "knife": (DARK,),
        "spoon": ((200, 206, 214),),
        "plate": ((238, 238, 242),),
        "sponge": ((246, 214, 72),),
        "cleanser": ((70, 150, 226),),
        "plum": ((112, 40, 120),),
        "pear": ((178, 200, 66),),
        "peach": ((248, 176, 120),),
        "apple": ((204, 30, 38),),
        "lemon": ((250, 226, 50),),
        "can": ((206, 44, 44), (50, 120, 190), (60, 150, 70), (232, 180, 50)),
        "box": ((200, 60, 40), (236, 196, 60), (90, 60, 150), (70, 140, 110)),
        "banana": ((250, 214, 40),),
        "strawberry": ((224, 36, 52),),
        "lego": (
            (210, 40, 40), (40, 90, 200), (246, 206, 40), (40, 150, 70), (240, 240, 236),
            (236, 130, 36), (120, 70, 160),
        ),
        "rubriks_cube": ((20, 20, 22),),
        "book": (
            (40, 70, 140), (150, 40, 50), (40, 110, 80), (120, 80, 40), (90, 50, 120),
            (60, 64, 72),
        ),
        "bowl": (
            (226, 70, 60), (70, 130, 210), (90, 170, 100), (240, 190, 70), (236, 236, 232),
            (170, 110, 190),
        ),
        "cup": (
            (220, 50, 50), (60, 110, 200), (70, 160, 90), (240, 200, 60), (236, 130, 40),
            (140, 80, 170), (90, 190, 200), (230, 120, 170), (120, 84, 56), (60, 64, 70),
            (180, 210, 100), (30, 60, 110), (150, 30, 60), (200, 200, 210),
        ),
        "mug": ((196, 64, 56),),
        "orange": ((250, 146, 24),),
        "lid": ((150, 170, 196),),
        "toy_airplane": (
            (220, 50, 50), (50, 110, 210), (70, 160, 80), (240, 190, 50), (120, 124, 134),
        ),
        "wrench": ((140, 148, 158),),
    }
)  # fmt: skip
"""By category: the colour of each instance."""
