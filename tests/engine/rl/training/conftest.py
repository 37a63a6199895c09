"""Trainings on the meadow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from engine.config import TrainingConfig
from engine.events import Event, TrainingMetrics
from engine.rl.control import Control
from engine.rl.train import Trainer, TrainingJob, TrainingResult

Run = tuple[TrainingResult, Sequence[Event]]


class Killed(BaseException):
    """Stands for the death of the process."""


@pytest.fixture
def killed() -> type[Killed]:
    return Killed


@pytest.fixture
def tiny() -> TrainingConfig:
    """A configuration that learns the meadow in seconds."""
    return TrainingConfig(
        n_envs=4,
        n_steps=32,
        batch_size=64,
        n_epochs=4,
        learning_rate=2e-3,
        net_arch=(32,),
        checkpoint_frames=500,
        end_on_success=False,
        device="cpu",
    )


@pytest.fixture
def make_job(
    world: Any, make_action: Callable[..., Any], tiny: TrainingConfig, tmp_path: Path
) -> Callable[..., TrainingJob]:
    def make(
        name: str = "checkpoint",
        *,
        frames: int = 3000,
        config: dict[str, Any] | None = None,
        **changes: Any,
    ) -> TrainingJob:
        settings = {
            "world": world,
            "actions": (
                make_action(max_frames=6),
                make_action("idle", "idle", max_frames=9, interrupt="x >= 4"),
            ),
            "goals": {"one": "gems >= 1"},
            "task_success": "gems >= 3",
            "seed": 5,
            "episode_length": None,
            **changes,
        }
        return TrainingJob(
            config=tiny.model_copy(update=config or {}),
            frames=frames,
            checkpoint_file=tmp_path / f"{name}.safetensors",
            **settings,
        )

    return make


@pytest.fixture
def train(sandbox: Any) -> Callable[..., Run]:
    """Run a job; the result and the events."""

    def run(
        job: TrainingJob,
        control: Callable[[], Control] = lambda: "go",
        report: Callable[[Event], None] | None = None,
        on_frame: Any = None,
    ) -> Run:
        events: list[Event] = []

        def keep(event: Event) -> None:
            events.append(event)
            if report is not None:
                report(event)

        trainer = Trainer(job, sandbox, report=keep, control=control, on_frame=on_frame)
        try:
            return trainer.run(), events
        finally:
            assert all(program.closed for program in sandbox.programs)

    return run


@pytest.fixture
def curve() -> Callable[[Sequence[Event]], list[dict[str, Any]]]:
    """Figures of each update, without those that time decides; NaN compares as a word."""

    def figures(events: Sequence[Event]) -> list[dict[str, Any]]:
        timed = {"sps", "eta_seconds"}
        return [
            {name: str(value) for name, value in event.model_dump(exclude=timed).items()}
            for event in events
            if isinstance(event, TrainingMetrics)
        ]

    return figures


@pytest.fixture
def same_weights() -> Callable[[TrainingResult, TrainingResult], bool]:
    def compare(one: TrainingResult, other: TrainingResult) -> bool:
        ours, theirs = (safetensors.torch.load(result.policy.weights) for result in (one, other))
        return ours.keys() == theirs.keys() and all(
            torch.equal(value, theirs[name]) for name, value in ours.items()
        )

    return compare
