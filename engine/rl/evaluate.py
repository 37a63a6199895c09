"""Evaluation of any policy on held-out seeds: deterministic, and free of bonuses."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from engine.agents.plan import Record
from engine.rl.departures import DepartureRecorder, Departures
from engine.rl.episodes import EpisodeSummary, ListedSeeds
from engine.rl.learned_action import Action
from engine.rl.option_batch import OptionBatch
from engine.rl.option_set import OptionSet
from engine.rl.options import ProgramLoader
from engine.rl.policies import Policy, ask
from engine.rl.watched import OnFrame
from engine.worlds.base import World


class Evaluation(Record):
    """Figures of one policy over the episodes that were finished."""

    policy: str
    seeds: str
    """World seeds asked for, half open: `1000000:1000020`."""
    episodes: int
    success: dict[str, float]
    """Share of episodes (0..1) by achievement."""
    score: float
    """The benchmark's own score in percent."""
    reward_mean: float
    """The world's own reward per episode, without bonuses."""
    length_mean: float
    """Env frames per episode."""
    task_success: float
    goals: dict[str, float]
    """Share of episodes in which each goal's predicate came true."""
    frames: int
    seconds: float
    departures: Departures | None = None
    """Where the policy left the plan, when somebody counted."""


PLACES = 8
"""Episodes played at the same time."""


def evaluate(
    world: World,
    policy: Policy,
    actions: Sequence[Action],
    sandbox: ProgramLoader,
    *,
    seeds: range,
    task_success: str,
    goals: Mapping[str, str],
    episode_length: int | None = None,
    on_frame: OnFrame | None = None,
    should_stop: Callable[[], bool] | None = None,
    progress: Callable[[int, int], None] | None = None,
    on_episode: Callable[[EpisodeSummary], None] | None = None,
    places: int = PLACES,
    departures: DepartureRecorder | None = None,
) -> Evaluation:
    """Play one episode in the world of each seed, on the world's own game.

    Args:
        actions: what the policy chooses from beside primitives (`engine.rl.policy_bundle.bound`
            has those of a spec).
        goals: name -> predicate, counted beside the task's own.
        on_frame: called after each frame of the first place, with a view of it and a caption.
        should_stop: asked after each frame; when true, the figures are of the episodes
            finished until then.
        progress: called with (episodes done, of how many) after each episode.
        on_episode: told of each finished episode.
        places: episodes played at the same time.
        departures: hears of every decision; what it found goes into the record.
    """
    began = time.monotonic()
    finished: list[EpisodeSummary] = []

    size = max(1, min(places, len(seeds)))
    with (
        OptionSet(world, actions, sandbox) as options,
        contextlib.closing(world.make_batch(size, episode_length, training=False)) as worlds,
    ):
        batch = OptionBatch(
            worlds,
            options,
            AnnouncedSeeds(seeds, policy),
            gamma=1.0,
            goals=goals,
            task_success=task_success,
            rechoice=policy.rechoice,
            on_frame=on_frame,
        )
        for summary in _episodes(batch, policy, should_stop, departures):
            finished.append(summary)
            if departures is not None:
                departures.episode_over(summary.seed)
            if on_episode is not None:
                on_episode(summary)
            if progress is not None:
                progress(len(finished), len(seeds))
    # In the order of their seeds, whichever ended first.
    finished.sort(key=lambda summary: summary.seed)
    found = figures(world, policy.name, seeds, finished, tuple(goals), time.monotonic() - began)
    if departures is None:
        return found
    return found.model_copy(update={"departures": departures.found()})


class AnnouncedSeeds(ListedSeeds):
    """Listed seeds, of each of which the policy is told."""

    def __init__(self, seeds: Sequence[int], policy: Policy) -> None:
        super().__init__(seeds)
        self._policy = policy

    def next_seed(self, index: int) -> int | None:
        """The next seed of the list."""
        seed = super().next_seed(index)
        if seed is not None:
            self._policy.begin_episode(index, seed)
        return seed


def _episodes(
    batch: OptionBatch,
    policy: Policy,
    should_stop: Callable[[], bool] | None,
    departures: DepartureRecorder | None,
) -> Iterator[EpisodeSummary]:
    heard = None if departures is None else partial(departures.note, batch)
    batch.begin()
    while batch.playing:
        waiting = batch.waiting
        while waiting.size:
            waiting = batch.choose(waiting, ask(policy, batch, waiting, heard))
        yield from batch.advance().summaries
        # After what this frame brought: an episode that ended with it counts.
        if should_stop is not None and should_stop():
            return


def figures(
    world: World,
    name: str,
    seeds: range,
    finished: Sequence[EpisodeSummary],
    goals: Sequence[str],
    seconds: float,
) -> Evaluation:
    """Rates and means over finished episodes."""
    episodes = max(len(finished), 1)

    def share(hits: int) -> float:
        return hits / episodes

    success = {
        achievement: share(sum(achievement in episode.achievements for episode in finished))
        for achievement in world.achievements
    }
    frames = sum(episode.frames for episode in finished)
    return Evaluation(
        policy=name,
        seeds=f"{seeds.start}:{seeds.stop}",
        episodes=len(finished),
        success=success,
        score=world.score(success),
        reward_mean=sum(episode.episodic_return for episode in finished) / episodes,
        length_mean=frames / episodes,
        task_success=share(sum(episode.task_success for episode in finished)),
        goals={goal: share(sum(goal in e.goals for e in finished)) for goal in goals},
        frames=frames,
        seconds=seconds,
    )
