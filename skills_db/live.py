"""The traffic between a studio and a living run: commands one way, pictures and words back."""

from __future__ import annotations

from datetime import timedelta
from typing import TypeVar, cast

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from skills_db.connection import Store
from skills_db.errors import DatabaseError, NotRunning
from skills_db.liveness import is_owned, seen_state
from skills_db.models import Command, Completion, Frame, Run
from skills_db.records import CommandKind, CompletionRecord, FrameRecord, RunState

_Newest = TypeVar("_Newest", Frame, Completion)


class LiveStore(Store):
    """Commands, the watch marker, the newest frame and what a model is writing."""

    def send(self, run_id: str, command: CommandKind) -> None:
        """Leaves a command for the process that works on the run (or is about to, when new).

        `approve_all` is for the run itself: it may be left for a process yet to come.

        Raises:
            NotRunning: nobody would take it; it must not reach a later process instead.
        """
        with self._write() as session:
            self._lock_run(session, run_id)
            run = session.get_one(Run, run_id)
            now = self._clock()
            begins = seen_state(run, now) is RunState.CREATED
            if command != "approve_all" and not begins and not is_owned(run, now):
                raise NotRunning(
                    f"No process works on run {run_id!r}: {command!r} would reach nobody.",
                    f"Go on with it: rlgpt-studio resume {run_id}",
                )
            session.add(Command(run_id=run_id, command=command, created_at=now))

    def take_commands(self, run_id: str) -> tuple[CommandKind, ...]:
        """Commands that were not handed out yet, the oldest first; each is handed out once."""
        waiting = (Command.run_id == run_id, Command.taken_at.is_(None))
        with self._read() as session:  # asked often, and mostly in vain: that costs no lock
            if session.scalar(select(Command.id).where(*waiting).limit(1)) is None:
                return ()
        take = update(Command).where(*waiting).values(taken_at=self._clock())
        with self._write() as session:
            taken = session.execute(take.returning(Command.id, Command.command)).all()
        return tuple(cast(CommandKind, command) for _, command in sorted(taken))

    def watch(self, run_id: str, seconds: float) -> None:
        """Says that somebody looks at the frames for that long from now."""
        until = self._clock() + timedelta(seconds=seconds)
        longer = (Run.watched_until.is_(None)) | (Run.watched_until < until)
        with self._write() as session:
            session.execute(update(Run).where(Run.id == run_id, longer).values(watched_until=until))

    def is_watched(self, run_id: str) -> bool:
        """True while somebody looks: only then is drawing worth its time."""
        with self._read() as session:
            until = session.scalar(select(Run.watched_until).where(Run.id == run_id))
            return until is not None and until > self._clock()

    def put_frame(self, run_id: str, width: int, height: int, rgb: bytes, caption: str) -> None:
        """Replaces the run's picture; `rgb` is height*width*3 bytes, row by row."""
        if len(rgb) != width * height * 3:
            raise DatabaseError(
                f"A frame of {width}x{height} has {width * height * 3} bytes, not {len(rgb)}.",
                "Pass uint8 RGB rows of the full picture.",
            )
        with self._write() as session:
            row = self._next(session, Frame, run_id)
            row.width, row.height, row.rgb, row.caption = width, height, rgb, caption

    def frame(self, run_id: str, after: int = 0) -> FrameRecord | None:
        """The newest picture when its `seq` is greater than `after`."""
        query = select(Frame).where(Frame.run_id == run_id, Frame.seq > after)
        with self._read() as session:
            row = session.scalars(query).first()
            if row is None:
                return None
            return FrameRecord(row.run_id, row.seq, row.width, row.height, row.rgb, row.caption)

    def put_completion(
        self, run_id: str, role: str, subject: str, text: str, *, finished: bool
    ) -> None:
        """Replaces what the run's language model has written so far."""
        with self._write() as session:
            row = self._next(session, Completion, run_id)
            row.role, row.subject, row.text, row.finished = role, subject, text, finished

    def completion(self, run_id: str, after: int = 0) -> CompletionRecord | None:
        """What a model writes or wrote last, when its `seq` is greater than `after`."""
        query = select(Completion).where(Completion.run_id == run_id, Completion.seq > after)
        with self._read() as session:
            row = session.scalars(query).first()
            if row is None:
                return None
            return CompletionRecord(
                row.run_id, row.seq, row.role, row.subject, row.text, row.finished
            )

    def _next(self, session: Session, kind: type[_Newest], run_id: str) -> _Newest:
        """The one row of a run, with the next number, to be filled anew."""
        self._lock_run(session, run_id)
        row = session.get(kind, run_id)
        if row is None:
            row = kind(run_id=run_id, seq=0)
            session.add(row)
        row.seq += 1
        return row
