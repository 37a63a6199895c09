"""MaskablePPO that treats primitives and coded actions as the semi-MDP they are."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, cast

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv

from engine.rl.acting import act, values_of
from engine.rl.choices import Choices
from engine.rl.decision_buffer import DecisionBuffer
from engine.rl.decisions import Finished
from engine.rl.network import PlanPolicy
from engine.rl.option_batch import OptionBatch
from engine.rl.reward_scale import RewardScale
from engine.rl.sight import Sight, Spans


class SmdpPPO(MaskablePPO):
    """PPO over decisions of different lengths; `num_timesteps` counts env frames.

    One update is `collect` and then `train` (sb3-contrib's own). A rollout has `n_steps` frames of
    every place, so no place waits for another; what is still running at its end is cut, valued by
    the critic, and put to the policy again. With one frame per decision the same parameters are
    trained as by `MaskablePPO`, to the last bit.

    On CUDA the network learns on the device while a copy of it acts on the CPU, where the worlds
    are: observations are sent once per update, not once per frame.
    """

    def __init__(
        self,
        policy: str | type[MaskableActorCriticPolicy],
        batch: OptionBatch,
        *,
        choices: tuple[str, ...] = (),
        unseen: Spans = (),
        reward_scale: RewardScale | None = None,
        **settings: Any,
    ) -> None:
        """Build the networks for the spaces of `batch`.

        Args:
            choices: what it may choose beside what the plan would do; all when empty.
            unseen: what of the observation it does not see (`engine.rl.sight`).
            reward_scale: brings the rewards of all decisions to one scale.
            settings: of `MaskablePPO`.

        Raises:
            ConfigError: there is no action of such a name.
        """
        options = batch.options
        self._choices = Choices(options.names, len(options.actions), choices)
        self._sight = Sight(unseen)
        self.reward_scale = reward_scale
        super().__init__(
            policy,
            DummyVecEnv([lambda: _Spaces(batch.observation_size, len(batch.options))]),
            # Not a kind of `RolloutBuffer`: that one has a row per place and frame.
            rollout_buffer_class=cast(Any, DecisionBuffer),
            **settings,
        )
        self.decisions = cast(DecisionBuffer, self.rollout_buffer)
        self.set_logger(Logger(folder=None, output_formats=[]))
        self.plan_kl_coef = 0.0
        """Cost of KL(policy || untrained policy), beside advantages of standard deviation 1."""
        self.slow_down = 1.0
        """Factor on the learning rate of the schedule."""
        self._primitives = batch.options.primitives
        self._actor = self.policy
        if self.device.type != "cpu":
            torch.set_float32_matmul_precision("high")
            self._actor = copy.deepcopy(self.policy).to("cpu")

    def collect(
        self,
        batch: OptionBatch,
        on_finished: Callable[[Finished], None] | None = None,
        *,
        forget: bool = True,
    ) -> None:
        """Fill the buffer with `n_steps` frames of every place; all must have begun an episode.

        Args:
            on_finished: told of the decisions that ended in each frame.
        """
        buffer = self.decisions
        buffer.reset()
        if self._actor is not self.policy:
            self._actor.load_state_dict(self.policy.state_dict())
        self._actor.set_training_mode(False)
        for _ in range(self.n_steps):
            self._choose(batch)
            finished = batch.advance()
            self._close(finished)
            self.num_timesteps += batch.size
            if on_finished is not None:
                on_finished(finished)
        self._close(batch.interrupt_all(forget=forget))
        buffer.finish(values_of(self._actor, self._sight.of(batch.observe(np.arange(batch.size)))))

    def _choose(self, batch: OptionBatch) -> None:
        waiting = batch.waiting
        while waiting.size:
            observations, masks = batch.look(waiting)
            masks = self._choices.narrow(masks, observations)
            observations = self._sight.of(observations)
            chosen, values, log_probs = act(self._actor, observations, masks)
            self.decisions.open(waiting, observations, chosen, values, log_probs, masks)
            waiting = batch.choose(waiting, chosen)

    def _close(self, finished: Finished) -> None:
        rewards = finished.rewards
        if self.reward_scale is not None:
            rewards = self.reward_scale.scaled(
                finished.places, rewards, finished.discounts, finished.over
            )
        if finished.cut.any():
            # What an episode that was cut would have gone on with counts as if it had.
            rewards = rewards.astype(np.float32)
            discounts = finished.discounts[finished.cut].astype(np.float32)
            # One by one, as in Stable-Baselines3: a batch would round otherwise.
            values = [values_of(self._actor, row[None])[0] for row in self._sight.of(finished.last)]
            rewards[finished.cut] += discounts * np.array(values, np.float32)
        self.decisions.close(finished.places, rewards, finished.discounts, finished.over)

    def train(self) -> None:
        """One update; with `plan_kl_coef`, what leaves the plan has to be worth it."""
        policy = self.policy
        if not isinstance(policy, PlanPolicy):
            super().train()
            return
        # The policy weighs entropy and distance to the plan itself, in what the learner takes for
        # the entropy.
        policy.entropy_weight, policy.plan_weight = self.ent_coef, self.plan_kl_coef
        self.ent_coef = 1.0
        try:
            super().train()
        finally:
            self.ent_coef = policy.entropy_weight
            entropy = policy.take_entropy()
        self.logger.record("train/entropy_loss", -entropy)

    @property
    def plan_share(self) -> float | None:
        """Share of the last rollout's decisions that followed the plan, where it said anything."""
        samples = self.decisions.samples
        coded = samples.action_masks.shape[1] - self._primitives
        comes_next = samples.observations[:, samples.observations.shape[1] - coded :]
        says = comes_next.any(dim=1)
        if not coded or not says.any():
            return None
        chosen = samples.actions[says].flatten().long() - self._primitives
        followed = chosen == comes_next[says].argmax(dim=1)
        return float(followed.float().mean())

    def _update_learning_rate(
        self, optimizers: list[torch.optim.Optimizer] | torch.optim.Optimizer
    ) -> None:
        super()._update_learning_rate(optimizers)
        if self.slow_down != 1.0:
            for optimizer in optimizers if isinstance(optimizers, list) else [optimizers]:
                for group in optimizer.param_groups:
                    group["lr"] *= self.slow_down

    def progress(self, done: float) -> None:
        """Tell the schedules which share of the budget is spent, 0..1."""
        self._current_progress_remaining = 1.0 - done


def linear(first: float, last: float | None) -> float | Callable[[float], float]:
    """A schedule from `first` to `last` over the budget; constant without `last`."""
    if last is None:
        return first
    return lambda left: last + (first - last) * left


class _Spaces(gymnasium.Env[NDArray[np.float32], np.int64]):
    """The spaces of an option batch, for a constructor that wants an environment."""

    def __init__(self, observation_size: int, actions: int) -> None:
        self.observation_space = gymnasium.spaces.Box(
            -np.inf, np.inf, (observation_size,), np.float32
        )
        self.action_space = gymnasium.spaces.Discrete(actions)
