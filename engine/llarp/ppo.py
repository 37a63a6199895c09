"""PPO over whole episodes, with the released hyper-parameters (llarp.md, 1.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from engine.errors import ConfigError
from engine.llarp.sequences import Episode, Trainable


@dataclass(frozen=True, slots=True)
class PpoConfig:
    """The defaults are the released values."""

    learning_rate: float = 3e-4
    adam_eps: float = 1e-5
    weight_decay: float = 0.01
    epochs: int = 2
    minibatches: int = 8
    clip: float = 0.2
    clip_values: bool = True
    """Stop training a value once it moved by more than `clip`, as habitat-baselines does."""
    value_coef: float = 0.5
    entropy_coef: float = 0.01
    max_grad_norm: float = 0.2
    gamma: float = 0.99
    gae_lambda: float = 0.95
    normalise_advantages: bool = False

    def __post_init__(self) -> None:
        for name in ("learning_rate", "epochs", "minibatches", "clip", "max_grad_norm"):
            if not getattr(self, name) > 0:
                raise ConfigError(
                    f"{name} is {getattr(self, name)!r} and must be above 0", f"Raise {name!r}."
                )
        for name in ("gamma", "gae_lambda"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(
                    f"{name} is {getattr(self, name)!r}, not within 0 to 1", f"Change {name!r}."
                )


@dataclass(frozen=True, slots=True)
class UpdateMetrics:
    """Of one update: means over its minibatches, unless said otherwise."""

    policy_loss: float
    value_loss: float
    entropy: float
    approx_kl: float
    clipfrac: float
    explained_variance: float
    """Of the values that acted, over all steps."""
    grad_norm: float
    """Before it is clipped."""
    first_ratio_error: float
    """Largest |ratio - 1| of the first minibatch, before any change: only rounding."""
    steps: int
    episodes: int


def advantages_of(episode: Episode, gamma: float, gae_lambda: float) -> Tensor:
    """Generalised advantage estimates (t,) of a whole episode (Schulman et al. 2016, eq. 16).

    An episode's end is an end, also after its last allowed step, as in the released code: how
    many steps are left is seen from how many observations there were.
    """
    rewards, values = episode.rewards.tolist(), [*episode.values.tolist(), 0.0]
    advantage, found = 0.0, [0.0] * len(rewards)
    for step in reversed(range(len(rewards))):
        delta = rewards[step] + gamma * values[step + 1] - values[step]
        advantage = delta + gamma * gae_lambda * advantage
        found[step] = advantage
    return torch.tensor(found, dtype=torch.float32)


def split(lengths: Sequence[int], parts: int, rng: np.random.Generator) -> list[list[int]]:
    """Shuffle episodes into at most `parts` minibatches of about as many steps each."""
    order = rng.permutation(len(lengths))
    ends = np.cumsum([lengths[index] for index in order])
    middles = ends - np.array([lengths[index] for index in order]) / 2
    place = np.floor(middles * parts / ends[-1]).astype(int)
    groups = [order[place == part].tolist() for part in range(parts)]
    return [group for group in groups if group]


class Learner:
    """Trains a policy on rollouts; every step of every episode counts once per epoch."""

    def __init__(self, policy: Trainable, config: PpoConfig) -> None:
        """Make the optimiser for what the policy has to train."""
        self.policy = policy
        self.config = config
        self.optimizer = torch.optim.AdamW(
            list(policy.trained().values()),
            lr=config.learning_rate,
            eps=config.adam_eps,
            weight_decay=config.weight_decay,
        )

    def update(self, episodes: Sequence[Episode], rng: np.random.Generator) -> UpdateMetrics:
        """Go over the episodes `epochs` times.

        Args:
            episodes: of one rollout, played by the policy as it is.
            rng: shuffles them.

        Raises:
            ConfigError: there are no episodes.
        """
        if not episodes:
            raise ConfigError("there is no episode to learn from", "Collect a rollout first.")
        config = self.config
        advantages = [advantages_of(e, config.gamma, config.gae_lambda) for e in episodes]
        returns = [a + e.values for a, e in zip(advantages, episodes, strict=True)]
        variance = _explained_variance(torch.cat(returns), torch.cat([e.values for e in episodes]))
        if config.normalise_advantages:
            every = torch.cat(advantages)
            mean, deviation = every.mean(), every.std(correction=0) + 1e-5
            advantages = [(advantage - mean) / deviation for advantage in advantages]
        rows: list[dict[str, float]] = []
        for _ in range(config.epochs):
            for group in split([len(e) for e in episodes], config.minibatches, rng):
                rows.append(
                    self._step(
                        [episodes[index] for index in group],
                        torch.cat([advantages[index] for index in group]),
                        torch.cat([returns[index] for index in group]),
                    )
                )
        means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
        del means["ratio_error"]
        return UpdateMetrics(
            **means,
            explained_variance=variance,
            first_ratio_error=rows[0]["ratio_error"],
            steps=sum(map(len, episodes)),
            episodes=len(episodes),
        )

    def _step(
        self, episodes: Sequence[Episode], advantages: Tensor, returns: Tensor
    ) -> dict[str, float]:
        """One gradient step on a minibatch; losses are means over its steps."""
        config = self.config
        found = self.policy.evaluate(episodes)
        device = found.values.device
        advantages, returns = advantages.to(device), returns.to(device)
        old_log_probs = torch.cat([episode.log_probs for episode in episodes]).to(device)
        old_values = torch.cat([episode.values for episode in episodes]).to(device)
        log_ratio = found.log_probs - old_log_probs
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
        policy_loss = -torch.minimum(advantages * ratio, advantages * clipped).mean()
        values = found.values
        if config.clip_values:
            moved = values.detach() - old_values
            limited = old_values + moved.clamp(-config.clip, config.clip)
            values = torch.where(moved.abs() < config.clip, values, limited)
        value_loss = 0.5 * F.mse_loss(values, returns)
        entropy = found.entropies.mean()
        loss = policy_loss + config.value_coef * value_loss - config.entropy_coef * entropy
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        norm = torch.nn.utils.clip_grad_norm_(
            list(self.policy.trained().values()), config.max_grad_norm
        )
        self.optimizer.step()
        self.policy.changed()
        with torch.no_grad():
            off = (ratio - 1).abs()
            figures = {
                "policy_loss": policy_loss,
                "value_loss": value_loss,
                "entropy": entropy,
                "approx_kl": (ratio - 1 - log_ratio).mean(),
                "clipfrac": (off > config.clip).float().mean(),
                "grad_norm": norm,
                "ratio_error": off.max(),
            }
            return {name: float(figure) for name, figure in figures.items()}


def _explained_variance(returns: Tensor, values: Tensor) -> float:
    spread = returns.var(correction=0)
    if spread == 0:
        return float("nan")
    return float(1 - (returns - values).var(correction=0) / spread)
