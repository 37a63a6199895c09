"""MaskablePPO that treats primitives and coded actions as the semi-MDP they are."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import obs_as_tensor
from stable_baselines3.common.vec_env import VecEnv

from engine.rl.smdp_buffer import SmdpRolloutBuffer


class SmdpPPO(MaskablePPO):
    """PPO over decisions of different lengths; `num_timesteps` counts env frames.

    The environments say in `info` how many `frames` a decision took and its `discount`
    (`gamma**frames`); see `engine.rl.option_env.OptionEnv`. With one frame per decision it trains
    the same parameters as `MaskablePPO`, to the last bit.
    """

    rollout_buffer: SmdpRolloutBuffer

    def _setup_model(self) -> None:
        self.rollout_buffer_class = SmdpRolloutBuffer
        super()._setup_model()

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: RolloutBuffer | MaskableRolloutBuffer,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Fill the buffer with `n_rollout_steps` decisions of each environment.

        Follows `MaskablePPO.collect_rollouts` of sb3-contrib 2.9; what differs is the count of
        frames and the discounts.

        Returns:
            False when the callback stopped the rollout early.
        """
        if not isinstance(rollout_buffer, SmdpRolloutBuffer):
            raise TypeError(f"`SmdpPPO` needs a `SmdpRolloutBuffer`, not {rollout_buffer!r}")
        if not isinstance(self._last_obs, np.ndarray):
            raise RuntimeError("the environments were never reset; call `learn`")
        observations = self._last_obs
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        callback.on_rollout_start()
        for _ in range(n_rollout_steps):
            masks = get_action_masks(env) if use_masking else None
            with torch.no_grad():
                tensor = obs_as_tensor(observations, self.device)
                actions, values, log_probs = self.policy(tensor, action_masks=masks)
            chosen = actions.cpu().numpy()
            new_observations, rewards, dones, infos = env.step(chosen)
            self.num_timesteps += sum(info["frames"] for info in infos)
            callback.update_locals(locals())
            if not callback.on_step():
                return False
            discounts = np.array([info["discount"] for info in infos], dtype=np.float64)
            self._bootstrap_truncated(rewards, dones, infos)
            rollout_buffer.add(
                observations,
                chosen.reshape(-1, 1),
                rewards,
                self._last_episode_starts,
                values,
                log_probs,
                action_masks=masks,
                discounts=discounts,
            )
            observations = self._last_obs = cast(NDArray[np.float32], new_observations)
            self._last_episode_starts = dones
        with torch.no_grad():
            values = self.policy.predict_values(obs_as_tensor(observations, self.device))
        rollout_buffer.compute_returns_and_advantage(last_values=values, dones=dones)
        callback.on_rollout_end()
        return True

    def _bootstrap_truncated(
        self,
        rewards: NDArray[np.float32],
        dones: NDArray[np.bool_],
        infos: list[dict[str, Any]],
    ) -> None:
        """Add the value of what a truncated episode would have gone on with, in place."""
        for index in np.flatnonzero(dones):
            info = infos[index]
            if info.get("TimeLimit.truncated", False):
                terminal, _ = self.policy.obs_to_tensor(info["terminal_observation"])
                with torch.no_grad():
                    value = self.policy.predict_values(terminal)[0]
                rewards[index] += info["discount"] * value
