"""A Gymnasium environment whose actions are a world's primitives and coded actions.

One step runs one decision: a primitive action (one env frame) or a whole coded action (k env
frames). That makes it a semi-Markov decision process (Sutton, Precup & Singh 1999): the reward of
a decision is `sum(gamma**j * r_j)` over its frames, and what follows it counts `gamma**k`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from engine.rl.goals import GoalTracker
from engine.rl.option_set import Mask, OptionSet, feature_count
from engine.rl.options import OptionEnd
from engine.worlds.base import Observation, WorldEnv

OnFrame = Callable[[WorldEnv, str], None]

TASK = "<task>"
"""Name under which the task's own predicate is tracked; no identifier, so it cannot clash."""


@dataclass(frozen=True, slots=True)
class Bonus:
    """Extra reward in training, paid once per episode; zero in evaluation."""

    goal: float = 0.0
    """For each goal of the plan that comes true."""
    task: float = 0.0
    """For the task itself."""


@dataclass(frozen=True, slots=True)
class EpisodeSummary:
    """What happened in one finished episode; the return is the world's own, without bonuses."""

    episodic_return: float
    frames: int
    achievements: tuple[str, ...]
    task_success: bool
    goals: tuple[str, ...]
    decisions: int
    coded_decisions: int


@dataclass(frozen=True, slots=True)
class EpisodeState:
    """Where an `OptionEnv` stands between two decisions, to go on from there."""

    snapshot: bytes
    rng: str
    """State of the generator of episode seeds, as JSON."""
    episodic_return: float
    decisions: int
    coded_decisions: int
    reached: tuple[str, ...]
    armed: tuple[str, ...]
    spent: tuple[int, ...]


@dataclass(slots=True)
class _Span:
    """What one decision has gathered so far."""

    reward: float = 0.0
    discount: float = 1.0
    world_reward: float = 0.0
    frames: int = 0
    terminated: bool = False
    truncated: bool = False
    outcome: str = ""


class OptionEnv(gymnasium.Env[Observation, np.int64]):
    """Primitives and coded actions of one `WorldEnv` as one discrete action space.

    Observation: the world's, followed by what the plan says of each coded action
    (`OptionSet.features`). `info` of `step` has `frames` (k), `discount` (`gamma**k`),
    `world_reward` (undiscounted, without bonuses), `outcome` (of a coded action, else "") and, at
    the end of an episode, `summary` (an `EpisodeSummary`).

    A coded action that ends without taking a single frame is masked until the next frame:
    choosing it again in the same state could only repeat that, for ever.
    """

    def __init__(
        self,
        env: WorldEnv,
        options: OptionSet,
        *,
        gamma: float,
        goals: Mapping[str, str],
        task_success: str,
        bonus: Bonus | None = None,
        episode_seeds: tuple[int, int] = (0, 0),
        seed_limit: int = 1_000_000,
        on_frame: OnFrame | None = None,
        tick: Callable[[], None] | None = None,
    ) -> None:
        """Wrap `env`.

        Args:
            gamma: discount per env frame.
            bonus: extra reward in training; none by default, as evaluation wants it.
            episode_seeds: (training seed, number of this environment), the source of the world
                seeds of the episodes that `reset()` without a seed begins.
            seed_limit: those world seeds stay below it; held-out seeds start there.
            on_frame: called after each env step with the environment and a caption.
            tick: called after each env step; may raise to stop everything.
        """
        self.env = env
        self.options = options
        self._gamma = gamma
        self._bonus = bonus or Bonus()
        self._goals = GoalTracker(options.world, {**goals, TASK: task_success})
        self._rng = np.random.default_rng(episode_seeds)
        self._seed_limit = seed_limit
        self._on_frame = on_frame
        self._tick = tick
        self._return = 0.0
        self._decisions = 0
        self._coded_decisions = 0
        self._spent: set[int] = set()
        self._mask: Mask = np.ones(len(options), dtype=np.bool_)
        seen = int(np.prod(env.observation_space.shape or ()))
        self.observation_size = seen + feature_count(len(options.actions))
        self.observation_space = gymnasium.spaces.Box(
            -np.inf, np.inf, (self.observation_size,), np.float32
        )
        self.action_space = gymnasium.spaces.Discrete(len(options))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode: in the world of `seed`, or in the next one of the training seeds."""
        if seed is None:
            seed = int(self._rng.integers(0, self._seed_limit))
        super().reset(seed=seed)
        observation, _ = self.env.reset(seed=seed, options=options)
        self._return = 0.0
        self._decisions = self._coded_decisions = 0
        self._spent.clear()
        self._goals.begin(self.env.player)
        return self._seen(observation), {"seed": seed}

    def action_masks(self) -> Mask:
        """Which actions may be chosen now (the name sb3-contrib looks for)."""
        return self._mask

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Run one decision to its end."""
        index = int(action)
        if not self._mask[index]:
            raise ValueError(
                f"action {self.options.names[index]!r} ({index}) is masked; "
                "choose one for which `action_masks()` is true"
            )
        self._decisions += 1
        span = _Span()
        if index < self.options.primitives:
            observation = self._frame(index, span, self.options.names[index])
        else:
            self._coded_decisions += 1
            observation = self._run(index, span)
        return (
            self._seen(observation),
            span.reward,
            span.terminated,
            span.truncated,
            self._info(span),
        )

    def state(self) -> EpisodeState:
        """Everything needed to go on from here with `resume`."""
        return EpisodeState(
            snapshot=self.env.snapshot(),
            rng=json.dumps(self._rng.bit_generator.state),
            episodic_return=self._return,
            decisions=self._decisions,
            coded_decisions=self._coded_decisions,
            reached=self._goals.reached,
            armed=self._goals.armed,
            spent=tuple(sorted(self._spent)),
        )

    def resume(self, state: EpisodeState) -> Observation:
        """Go back to a state; what follows is step for step what followed before."""
        observation = self.env.restore(state.snapshot)
        self._rng.bit_generator.state = json.loads(state.rng)
        self._return = state.episodic_return
        self._decisions = state.decisions
        self._coded_decisions = state.coded_decisions
        self._goals.resume(state.reached, state.armed)
        self._spent = set(state.spent)
        return self._seen(observation)

    def close(self) -> None:
        """Close the world's environment; the options stay with whoever made them."""
        self.env.close()

    def _run(self, index: int, span: _Span) -> Observation:
        execution = self.options.execution(index)
        player = self.env.player
        caption = self.options.names[index]
        following = execution.begin(player)
        if isinstance(following, OptionEnd):
            self._spent.add(index)
            span.outcome = following.outcome
            return self._last
        try:
            while not isinstance(following, OptionEnd):
                observation = self._frame(following, span, caption)
                if span.terminated:
                    following = execution.cut("died", "the episode ended")
                elif span.truncated:
                    following = execution.cut("out_of_frames", "the episode ran out of frames")
                else:
                    following = execution.proceed(self.env.player, self._changed)
        except BaseException:
            execution.cut("interrupted", "stopped from outside")
            raise
        span.outcome = following.outcome
        return observation

    def _frame(self, primitive: int, span: _Span, caption: str) -> Observation:
        observation, reward, terminated, truncated, info = self.env.step(np.int64(primitive))
        self._changed = bool(info["changed"])
        self._last = observation
        self._spent.clear()
        world_reward = float(reward)
        shaped = world_reward
        for name in self._goals.see(self.env.player):
            shaped += self._bonus.task if name == TASK else self._bonus.goal
        span.reward += span.discount * shaped
        span.discount *= self._gamma
        span.world_reward += world_reward
        span.frames += 1
        span.terminated, span.truncated = bool(terminated), bool(truncated)
        self._return += world_reward
        if self._on_frame is not None:
            self._on_frame(self.env, caption)
        if self._tick is not None:
            self._tick()
        return observation

    def _seen(self, observation: Observation) -> Observation:
        self._last = observation
        self._mask = self.options.mask(self.env.player)
        for index in self._spent:
            self._mask[index] = False
        features = self.options.features(self.env.player, self._mask)
        return np.concatenate((observation.ravel(), features), dtype=np.float32)

    def _info(self, span: _Span) -> dict[str, Any]:
        info: dict[str, Any] = {
            "frames": span.frames,
            "discount": span.discount,
            "world_reward": span.world_reward,
            "outcome": span.outcome,
        }
        if span.terminated or span.truncated:
            reached = self._goals.reached
            info["summary"] = EpisodeSummary(
                episodic_return=self._return,
                frames=self.env.episode_frames,
                achievements=tuple(sorted(self.env.achievements)),
                task_success=TASK in reached,
                goals=tuple(name for name in reached if name != TASK),
                decisions=self._decisions,
                coded_decisions=self._coded_decisions,
            )
        return info
