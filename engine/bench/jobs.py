"""A benchmark as jobs: one training per arm and seed, evaluations cut into ranges of worlds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.bench.config import ARM_TITLES, Arm, BenchConfig

CHUNK = 25
"""Worlds of one evaluation job: few enough that little is lost, and all cores stay busy."""


def slug(arm: Arm) -> str:
    """The arm as part of a file name."""
    return arm.replace("+", "_")


@dataclass(frozen=True, slots=True)
class TrainJob:
    """Train one arm from one training seed."""

    arm: Arm
    seed: int

    @property
    def key(self) -> str:
        """Its name, also of its files."""
        return f"train-{slug(self.arm)}-{self.seed}"

    @property
    def title(self) -> str:
        """Its name for a person."""
        return f"training {ARM_TITLES[self.arm]}, seed {self.seed}"


@dataclass(frozen=True, slots=True)
class EvalJob:
    """Play one policy in some unseen worlds; `seed` is None where nothing was trained."""

    arm: Arm
    seed: int | None
    start: int
    stop: int

    @property
    def key(self) -> str:
        """Its name, also of its files."""
        trained = "" if self.seed is None else f"-{self.seed}"
        return f"eval-{slug(self.arm)}{trained}-{self.start}"

    @property
    def title(self) -> str:
        """Its name for a person."""
        trained = "" if self.seed is None else f", seed {self.seed}"
        return f"evaluating {ARM_TITLES[self.arm]}{trained}, worlds {self.start}:{self.stop}"

    @property
    def needs(self) -> TrainJob | None:
        """The training whose policy it plays."""
        return None if self.seed is None else TrainJob(self.arm, self.seed)

    @property
    def episodes(self) -> int:
        """How many it plays."""
        return self.stop - self.start


Job = TrainJob | EvalJob


def train_jobs(config: BenchConfig) -> tuple[TrainJob, ...]:
    """All trainings, seed by seed, so that early figures are of all arms."""
    return tuple(
        TrainJob(arm, seed) for seed in range(config.seeds) for arm in reversed(config.trained_arms)
    )


def eval_jobs(config: BenchConfig) -> tuple[EvalJob, ...]:
    """All evaluations; code alone is played once, whatever the number of training seeds."""
    found: list[EvalJob] = []
    if "code" in config.arms:
        found += _chunks("code", None, config.unseen)
    for training in train_jobs(config):
        found += _chunks(training.arm, training.seed, config.unseen)
    return tuple(found)


def all_jobs(config: BenchConfig) -> tuple[Job, ...]:
    """Trainings first: they take longest, and evaluations wait for them."""
    return (*train_jobs(config), *eval_jobs(config))


def ready(job: Job, finished: Iterable[Job]) -> bool:
    """True when what the job needs is there."""
    return isinstance(job, TrainJob) or job.needs is None or job.needs in finished


def _chunks(arm: Arm, seed: int | None, worlds: range) -> list[EvalJob]:
    return [
        EvalJob(arm, seed, start, min(start + CHUNK, worlds.stop))
        for start in range(worlds.start, worlds.stop, CHUNK)
    ]
