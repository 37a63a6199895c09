"""What Language Rearrangement costs. By hand: `python tests/benchmarks/bench_rearrange.py [views]`.

Prints CPU time on one core, so that other work on the machine counts less: pictures of robots that
go from place to place over the 63 flats of the training set with 35 objects in each, and whole
steps of a batch with the pictures that come of them, by random actions and by tidying, where
nearly all change something.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

from engine.worlds.rearrange.batch import RearrangeBatch
from engine.worlds.rearrange.episode import Episode, Placed
from engine.worlds.rearrange.goals import And, Atom, Exists, Nand
from engine.worlds.rearrange.layout import OPEN_AIR, Layout, generate, spots, start_pose
from engine.worlds.rearrange.names import ACTION_INDEX, ACTIONS, CATEGORIES, ENTITIES, INSTANCES
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


def bench_steps(size: int, count: int, batch: int, busy: bool) -> None:
    """Steps per second with a picture after each, new episodes counted in."""
    rng = np.random.default_rng(0)
    episodes = [tidying(furnished(generate(*flat), rng)) for flat in FLATS * 2]
    world = RearrangeBatch(batch, picture=size)
    plans = [[busy_plan(episode, rng) for _ in range(16)] for episode in episodes]
    running: list[list[int]] = [[]] * batch
    possible: list[float] = []

    def begin(index: int) -> None:
        which = rng.integers(len(episodes))
        world.begin(index, episodes[which])
        running[index] = plans[which][rng.integers(16)]
        age[index] = 0

    def step() -> int:
        if busy:
            actions = np.array([plan[at] for plan, at in zip(running, age, strict=True)])
        else:
            actions = rng.integers(len(ACTIONS), size=batch)
        age[:] += 1
        taken = world.step(actions)
        possible.append(1 - float(taken.invalid.mean()))
        for index in np.flatnonzero(taken.done):
            begin(int(index))
        world.observe(range(batch))
        return batch

    age = np.zeros(batch, int)
    for index in range(batch):
        begin(index)
    per_second(count, step)  # compiles, and fills what is kept
    rate = per_second(count, step)
    kind = "tidying" if busy else "at random"
    _report(f"{size}: steps of {batch}, {kind}, {np.mean(possible):.0%} possible", rate)


def tidying(view: View) -> Episode:
    """An episode that no action solves, so that all of it is played."""
    never = Nand((And(()),))
    atoms = (Atom("on_top", "it", 6), Atom("not_holding"))
    goal = And((Exists((("it", 0),), And(atoms)), never))
    objects = tuple(
        Placed(int(category), int(instance), (float(x), float(y), float(z)))
        for category, instance, (x, y, z) in zip(
            view.categories, view.instances, view.positions, strict=True
        )
    )
    return Episode(
        f"{view.layout.macro}.{view.layout.variant}", "bench", "move", "Put the ball on the sofa.",
        view.layout.macro, view.layout.variant, view.pose, CLOSED, objects, goal, (goal,) * 4, (),
    )  # fmt: skip


def busy_plan(episode: Episode, rng: np.random.Generator) -> list[int]:
    """32 actions: go to an object, pick it, go elsewhere, place it, and so on."""
    surfaces = generate(episode.macro, episode.variant).surfaces
    plan: list[int] = []
    for index in rng.permutation(len(CATEGORIES))[:8]:
        placed = episode.objects[index]
        position = np.array(placed.position)
        within = ((surfaces[:, 0] <= position) & (position <= surfaces[:, 1])).all(1)
        target = ENTITIES[int(rng.choice(OPEN_AIR))]
        plan += [
            ACTION_INDEX[name]
            for name in (
                f"nav({ENTITIES[int(np.flatnonzero(within)[0])]})",
                f"pick_{CATEGORIES[placed.category]}",
                f"nav({target})",
                f"place({target})",
            )
        ]
    return plan


def _report(name: str, rate: float) -> None:
    print(f"{name:44} {rate:9.0f} /s {1e6 / rate:9.1f} us")  # noqa: T201


if __name__ == "__main__":
    COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    for pixels in (64, 128):
        bench_pictures(pixels, COUNT)
        for in_batch in (8, 32):
            for every in (False, True):
                bench_steps(pixels, COUNT, in_batch, every)
