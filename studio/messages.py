"""What the bridge tells the screens about the run it follows."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from engine.events import Event
    from skills_db.records import (
        ApprovalRecord,
        CompletionRecord,
        EventRecord,
        FrameRecord,
        RunRecord,
    )


class RunMessage(Message):
    """Base: a message about one run, so that late ones about another can be dropped."""

    def __init__(self, run_id: str) -> None:
        super().__init__()
        self.run_id = run_id


class EventsArrived(RunMessage):
    """New events in order; at an attach the whole history arrives this way, in batches."""

    def __init__(
        self, run_id: str, events: tuple[EventRecord, ...], decoded: tuple[Event | None, ...]
    ) -> None:
        super().__init__(run_id)
        self.events = events
        self.decoded = decoded
        """The typed event of each row; None for a kind a newer version wrote."""
        self.applied = threading.Event()
        """To be set once they are drawn: the next batch waits for it, so that keys get through."""


class RunChanged(RunMessage):
    """The run's own record is another than before."""

    def __init__(self, run: RunRecord) -> None:
        super().__init__(run.id)
        self.run = run


class ApprovalAsked(RunMessage):
    """What the person must decide now; None once nothing is asked any more."""

    def __init__(self, run_id: str, approval: ApprovalRecord | None) -> None:
        super().__init__(run_id)
        self.approval = approval


class FrameArrived(RunMessage):
    """A newer picture of the world."""

    def __init__(self, frame: FrameRecord) -> None:
        super().__init__(frame.run_id)
        self.frame = frame

    def can_replace(self, message: Message) -> bool:
        """An undrawn older picture is of no use to anybody."""
        return isinstance(message, FrameArrived) and message.run_id == self.run_id


class CompletionArrived(RunMessage):
    """A language model has written on."""

    def __init__(self, completion: CompletionRecord) -> None:
        super().__init__(completion.run_id)
        self.completion = completion

    def can_replace(self, message: Message) -> bool:
        """The newer text begins with all of the undrawn older one."""
        return isinstance(message, CompletionArrived) and message.run_id == self.run_id


class BridgeFailed(RunMessage):
    """The database could not be read; the bridge keeps trying."""

    def __init__(self, run_id: str, error: Exception) -> None:
        super().__init__(run_id)
        self.error = error
