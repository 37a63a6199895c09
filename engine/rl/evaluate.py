"""Evaluation of any policy on held-out seeds: deterministic, and free of bonuses."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from engine.agents.plan import Record
from engine.rl.option_env import EpisodeSummary, OnFrame, OptionEnv
from engine.rl.option_set import OptionSet
from engine.rl.options import CodedAction, ProgramLoader
from engine.rl.policies import Policy
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


class _Stopped(Exception):
    """The caller does not want to wait for the rest."""


def evaluate(
    world: World,
    policy: Policy,
    actions: Sequence[CodedAction],
    sandbox: ProgramLoader,
    *,
    seeds: range,
    task_success: str,
    goals: Mapping[str, str],
    episode_length: int | None = None,
    on_frame: OnFrame | None = None,
    should_stop: Callable[[], bool] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Play one episode in the world of each seed.

    Args:
        goals: name -> predicate, counted beside the task's own.
        on_frame: called after each env frame with the environment and a caption.
        should_stop: asked after each env frame; when true, the figures are of the episodes
            finished until then.
        progress: called with (episodes done, of how many) after each episode.
    """
    began = time.monotonic()
    finished: list[EpisodeSummary] = []

    def tick() -> None:
        if should_stop is not None and should_stop():
            raise _Stopped

    with OptionSet(world, actions, sandbox) as options:
        env = OptionEnv(
            world.make_env(episode_length),
            options,
            gamma=1.0,
            goals=goals,
            task_success=task_success,
            on_frame=on_frame,
            tick=tick,
        )
        try:
            for seed in seeds:
                finished.append(_episode(env, policy, seed))
                if progress is not None:
                    progress(len(finished), len(seeds))
        except _Stopped:
            pass
        finally:
            env.close()
    return _figures(world, policy.name, seeds, finished, tuple(goals), time.monotonic() - began)


def _episode(env: OptionEnv, policy: Policy, seed: int) -> EpisodeSummary:
    policy.begin_episode(seed)
    observation, _ = env.reset(seed=seed)
    while True:
        choice = policy.choose(observation, env.env.player, env.action_masks())
        observation, _, _, _, info = env.step(choice)
        summary = info.get("summary")
        if isinstance(summary, EpisodeSummary):
            return summary


def _figures(
    world: World,
    name: str,
    seeds: range,
    finished: Sequence[EpisodeSummary],
    goals: Sequence[str],
    seconds: float,
) -> Evaluation:
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
