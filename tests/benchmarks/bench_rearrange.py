"""What Language Rearrangement costs. By hand: `python tests/benchmarks/bench_rearrange.py [views]`.

Prints CPU time on one core, so that other work on the machine counts less: pictures of robots that
go from place to place over the 63 flats of the training set with 35 objects in each.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

from engine.worlds.rearrange.layout import OPEN_AIR, Layout, generate, spots, start_pose
from engine.worlds.rearrange.names import CATEGORIES, ENTITIES, INSTANCES
from engine.worlds.rearrange.render import Renderer, View

FLATS = tuple((macro, variant) for macro in range(3) for variant in range(21))
OBJECTS = 35
CLOSED = (0.0, 0.0, 0.0, 0.0, 0.0)


def furnished(layout: Layout, rng: np.random.Generator) -> View:
    """A flat with objects on its open-air receptacles, seen from a random place."""
    categories = np.arange(OBJECTS) % len(CATEGORIES)
    instances = np.array([rng.integers(INSTANCES[CATEGORIES[c]]) for c in categories])
    on = rng.integers(len(OPEN_AIR), size=OBJECTS)
    positions = np.zeros((OBJECTS, 3), np.float32)
    for index, receptacle in enumerate(OPEN_AIR):
        here = on == index
        positions[here] = spots(layout, receptacle, int(here.sum()), rng)
    return View(layout, start_pose(layout, rng), CLOSED, categories, instances, positions)


def at_places(views: list[View], rng: np.random.Generator, batch: int) -> Iterator[list[View]]:
    """Batches of views from where `nav` leads to."""
    while True:
        chosen = [views[index] for index in rng.integers(len(views), size=batch)]
        entities = rng.integers(len(ENTITIES), size=batch)
        yield [_from(view, entity) for view, entity in zip(chosen, entities, strict=True)]


def _from(view: View, entity: int) -> View:
    x, y, heading = view.layout.stands[entity].tolist()
    return View(
        view.layout, (x, y, heading), CLOSED, view.categories, view.instances, view.positions
    )


def per_second(count: int, work: Callable[[], int]) -> float:
    """How many of what `work` says it did it does per second of CPU time."""
    done, start = 0, time.process_time()
    while done < count:
        done += work()
    return done / (time.process_time() - start)


def bench_pictures(size: int, count: int) -> None:
    """Pictures per second: of poses never seen before, and of places, at first and in the end."""
    rng = np.random.default_rng(0)
    views = [furnished(generate(*flat), rng) for flat in FLATS]
    renderer = Renderer(size)
    renderer.render(views)  # compiles
    fresh = iter([[furnished(view.layout, rng)] for view in views * 4])
    rate = per_second(len(views) * 4 - 1, lambda: len(renderer.render(next(fresh))))
    _report(f"{size}: poses seen for the first time", rate)
    batches = at_places(views, rng, 32)
    for name in ("places, first pass", "places, second pass", "places, third pass"):
        prepared = iter([next(batches) for _ in range(count // 32 + 1)])
        rate = per_second(count, lambda left=prepared: len(renderer.render(next(left))))
        _report(f"{size}: {name}", rate)


def _report(name: str, rate: float) -> None:
    print(f"{name:44} {rate:9.0f} /s {1e6 / rate:9.1f} us")  # noqa: T201


if __name__ == "__main__":
    COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    for pixels in (64, 128):
        bench_pictures(pixels, COUNT)
