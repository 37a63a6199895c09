"""Benchmarks without a world: small configurations and made-up records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.bench.config import BenchConfig
from engine.bench.records import CurvePoint, EpisodeRecord, EvaluationRecord, TrainingRecord


@pytest.fixture
def make_config() -> Callable[..., BenchConfig]:
    def make(**values: Any) -> BenchConfig:
        return BenchConfig.model_validate(
            {"task": "collect_diamond", "frames": 2_000, "seeds": 2, "episodes": 30, **values}
        )

    return make


@pytest.fixture
def episode() -> Callable[..., EpisodeRecord]:
    def make(seed: int, *achievements: str, reward: float = 1.0, frames: int = 100,
             task_success: bool = False) -> EpisodeRecord:  # fmt: skip
        return EpisodeRecord(
            seed=seed,
            achievements=achievements,
            reward=reward,
            frames=frames,
            task_success=task_success,
        )

    return make


@pytest.fixture
def training_record() -> Callable[..., TrainingRecord]:
    def make(**values: Any) -> TrainingRecord:
        known: dict[str, Any] = {
            "arm": "code+rl",
            "seed": 0,
            "frames": 2_000,
            "seconds": 10.0,
            "ended": "budget",
            "policy_spec": {},
            "policy_sha256": "none",
            "training_success": {"collect_wood": 0.5},
            "training_episodes": 8,
            "usage": (),
            "curve": (CurvePoint(frames=2_000, seconds=10.0),),
            "peak_memory_gb": 0.5,
            "source": "text",
        }
        return TrainingRecord.model_validate({**known, **values})

    return make


@pytest.fixture
def evaluation_record() -> Callable[..., EvaluationRecord]:
    def make(*episodes: EpisodeRecord, **values: Any) -> EvaluationRecord:
        known: dict[str, Any] = {
            "arm": "code",
            "seed": None,
            "policy_sha256": None,
            "episodes": episodes,
            "seconds": 2.0,
            "source": "text",
        }
        return EvaluationRecord.model_validate({**known, **values})

    return make
