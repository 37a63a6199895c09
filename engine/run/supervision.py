"""The run as the one who follows its learner: events, wishes, frames for the eye."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.events import CheckpointSaved, Event, TrainingMetrics, TrainingStarted
from engine.rl.control import Control
from skills_db.records import RunState

if TYPE_CHECKING:
    from engine.run.learner import PolicyName
    from engine.run.session import Session


class RunSupervisor:
    """Passes everything on between a session and its learner."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def report(self, event: Event) -> None:
        """Something happened that belongs into the history."""
        self._session.emit(event)

    def control(self) -> Control:
        """What the person wants now."""
        return self._session.shown_control()

    def watched(self) -> bool:
        """Whether somebody looks at the frames."""
        return self._session.watched()

    def draw(self, rgb: NDArray[np.uint8], caption: str) -> None:
        """A frame for the eye, shape (size, size, 3)."""
        self._session.draw(rgb, caption)

    def episode_over(self, done: int, of: int) -> None:
        """Training tells of updates, not of episodes."""


class TrainingSupervisor(RunSupervisor):
    """*Abort* keeps a checkpoint too. Frames are those of the run, over all of its trainings."""

    def __init__(self, session: Session, before: int = 0, total: int | None = None) -> None:
        """Follow one training.

        Args:
            before: env frames of the trainings before this one.
            total: env frames of all of them together; None when this is the only one.
        """
        super().__init__(session)
        self._before = before
        self._total = total

    def report(self, event: Event) -> None:
        """Something happened that belongs into the history."""
        event = self._as_part(event)
        super().report(event)
        if isinstance(event, TrainingMetrics):
            self._session.count.frames = event.frames

    def control(self) -> Control:
        """What the person wants now."""
        wish = super().control()
        return "stop_and_keep" if wish == "abort" else wish

    def _as_part(self, event: Event) -> Event:
        if self._total is None:
            return event
        if isinstance(event, TrainingStarted):
            done = event.frames_done + self._before
            return event.model_copy(update={"frames_done": done, "frames_total": self._total})
        if isinstance(event, CheckpointSaved):
            return event.model_copy(update={"frames": event.frames + self._before})
        if isinstance(event, TrainingMetrics):
            frames = event.frames + self._before
            left = max(self._total - frames, 0)
            changes = {
                "frames": frames,
                "frames_total": self._total,
                "eta_seconds": left / event.sps if event.sps > 0 else None,
            }
            return event.model_copy(update=changes)
        return event


class EvaluationSupervisor(RunSupervisor):
    """Tells of episodes."""

    def __init__(self, session: Session, policy: PolicyName) -> None:
        super().__init__(session)
        self._policy = policy

    def episode_over(self, done: int, of: int) -> None:
        """So many episodes are over."""
        self._session.enter(RunState.EVALUATING, f"{self._policy}: episode {done} of {of}")
