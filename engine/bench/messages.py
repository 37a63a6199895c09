"""What the process of a job tells the one that started it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """How far a training is."""

    frames: int
    seconds: float
    """Wall clock at work, over all processes of this training."""
    sps: float | None = None
    """Env frames per second, learning included; None before the first update."""
    episodic_return: float | None = None
    success_rate: float | None = None


@dataclass(frozen=True, slots=True)
class EvaluationProgress:
    """How many episodes of an evaluation are over, and what they took."""

    done: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Finished:
    """The job is over and its record is written."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The job was told to stop; what a checkpoint can keep is kept."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The job cannot be done; what failed and the next step."""

    message: str
    hint: str


Progress = TrainingProgress | EvaluationProgress
Message = Progress | Finished | Stopped | Failed


class JobStopped(Exception):
    """Raised inside a job that was told to stop."""


class Link(Protocol):
    """A job's line to the process that started it."""

    def tell(self, progress: Progress) -> None:
        """Say how far it is; cheap enough for every update."""
        ...

    def stopping(self) -> bool:
        """True once the job should stop at the next safe point."""
        ...
