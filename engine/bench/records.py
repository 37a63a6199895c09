"""What finished jobs leave behind, one JSON file each."""

from __future__ import annotations

from typing import Any

from engine.agents.plan import Record
from engine.bench.config import Arm


class EpisodeRecord(Record):
    """One evaluation episode in one unseen world."""

    seed: int
    achievements: tuple[str, ...]
    reward: float
    """The world's own, without bonuses."""
    frames: int
    task_success: bool


class EvaluationRecord(Record):
    """A policy in some unseen worlds."""

    arm: Arm
    seed: int | None
    policy_sha256: str | None
    """Weights that were played; an evaluation of other weights does not count."""
    episodes: tuple[EpisodeRecord, ...]
    seconds: float
    source: str
    """Digest of the program's own text when the job ran."""


class CurvePoint(Record):
    """A training between the point before and this one."""

    frames: int
    seconds: float
    """Wall clock at work so far, over all processes of this training; compiling is not counted."""
    episodic_return: float | None = None
    success_rate: float | None = None
    usage: dict[str, float] = {}
    """Share of the env frames since the point before that each coded action took."""


class TrainingRecord(Record):
    """A finished training; its weights lie beside."""

    arm: Arm
    seed: int
    frames: int
    seconds: float
    ended: str
    """`budget`: its frames are used up; `minutes`: its time is; else why it ended early."""
    policy_spec: dict[str, Any]
    policy_sha256: str
    training_success: dict[str, float]
    """Share of all training episodes by achievement: the standard protocol."""
    training_episodes: int
    usage: tuple[dict[str, float], ...]
    """Share of frames by coded action in each tenth of the training; empty: there was none."""
    curve: tuple[CurvePoint, ...]
    peak_memory_gb: float
    """Largest resident memory of the process, its sandbox workers apart."""
    source: str
    """Digest of the program's own text when the job ended."""
