"""What a benchmark is asked to measure: fixed when its folder is made, compared on each resume."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from engine.config import TrainingConfig

Arm = Literal["code", "rl", "code+rl"]
ARMS: tuple[Arm, ...] = ("code", "rl", "code+rl")
ARM_TITLES: dict[Arm, str] = {"code": "code only", "rl": "RL only", "code+rl": "code + RL"}
DEFAULT_FRAMES = 1_000_000
"""Env frames of each training when no budget is given: the public benchmark's own budget."""
DEFAULT_EPISODES = 200
EVAL_SEED_START = 1_000_000
"""First unseen world seed: training stays below."""
WITH_CODE = TrainingConfig(
    n_envs=128,
    n_steps=128,
    segment_updates=16,
    batch_size=1024,
    learning_rate=5e-4,
    learning_rate_final=5e-5,
    gae_lambda=0.95,
    plan_prior=3.0,
    plan_kl_coef=0.002,
    checkpoint_frames=200_000,
)
"""For millions of frames: many places, so that an update hangs on no episode, and a plan that is
left often enough to see what that brings. Chosen on worlds that no evaluation plays."""
ALONE = TrainingConfig(gamma=0.99, ent_coef=0.01, checkpoint_frames=200_000)
"""Plain PPO as it is commonly set: a learner of primitives needs a horizon and entropy."""


class BenchConfig(BaseModel):
    """Everything the figures depend on, besides the versions of the software."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    world: str = "crafter"
    task: str
    """Name of a task of the world, not words."""
    agents: Literal["rules"] = "rules"
    arms: tuple[Arm, ...] = ARMS
    seeds: int = Field(default=3, ge=1, le=1_000)
    """Training seeds `0..seeds-1` of every arm that trains."""
    frames: int | None = Field(default=None, ge=1_000, le=10_000_000_000)
    """Budget of each training in env frames."""
    minutes: float | None = Field(default=None, gt=0, le=100_000)
    """Budget of each training in minutes of wall clock; with `frames`, what comes first ends it."""
    episodes: int = Field(default=DEFAULT_EPISODES, ge=1, le=100_000)
    """Evaluation episodes of each policy, one in each unseen world."""
    eval_seed_start: int = Field(default=EVAL_SEED_START, ge=1)
    episode_length: int | None = Field(default=None, ge=10)
    """Env frames of an episode, when not the world's own: such figures compare with nothing."""
    fast_mode: bool = False
    """Coded actions run in the process that trains or plays, as far as fast mode accepts them."""
    training: TrainingConfig = WITH_CODE
    """Of code + RL; what is not given is as in `WITH_CODE`."""
    rl_training: TrainingConfig = ALONE
    """Of RL alone; what is not given is as in `ALONE`."""

    @field_validator("training", "rl_training", mode="before")
    @classmethod
    def _completed(cls, given: object, info: ValidationInfo) -> object:
        if not isinstance(given, dict):
            return given
        defaults = WITH_CODE if info.field_name == "training" else ALONE
        return {**defaults.model_dump(), **given}

    def training_of(self, arm: Arm) -> TrainingConfig:
        """The settings an arm learns with."""
        return self.rl_training if arm == "rl" else self.training

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if not self.arms or len(set(self.arms)) != len(self.arms):
            raise ValueError(f"arms must be some of {', '.join(ARMS)}, each once")
        if self.frames is None and self.minutes is None:
            raise ValueError("a training needs a budget: frames, minutes or both")
        return self

    @property
    def trained_arms(self) -> tuple[Arm, ...]:
        """The arms that learn something."""
        return tuple(arm for arm in self.arms if arm != "code")

    @property
    def unseen(self) -> range:
        """World seeds of the evaluation."""
        return range(self.eval_seed_start, self.eval_seed_start + self.episodes)


def differences(there: BenchConfig, wanted: BenchConfig) -> list[str]:
    """Each setting that is not the same, as `name: there -> wanted`."""
    return _differences("", there.model_dump(mode="json"), wanted.model_dump(mode="json"))


def _differences(prefix: str, there: dict[str, object], wanted: dict[str, object]) -> list[str]:
    found: list[str] = []
    for name, new in wanted.items():
        old = there.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            found += _differences(f"{prefix}{name}.", old, new)
        elif old != new:
            found.append(f"{prefix}{name}: {old!r} -> {new!r}")
    return found
