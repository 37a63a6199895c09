"""The only road between the screens and a run: the database, read in a thread worker."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual.worker import get_current_worker

from studio.deciders import person
from studio.messages import (
    ApprovalAsked,
    BridgeFailed,
    CompletionArrived,
    EventsArrived,
    FrameArrived,
    RunChanged,
)

if TYPE_CHECKING:
    from textual.message import Message
    from textual.message_pump import MessagePump
    from textual.worker import Worker

    from engine.config import RunConfig
    from skills_db.database import Database
    from skills_db.journal import Journal
    from skills_db.library import Library
    from skills_db.records import (
        ApprovalRecord,
        CommandKind,
        Decision,
        FrameRecord,
        Json,
        RunRecord,
    )
    from studio.app import StudioApp

_LOG = logging.getLogger(__name__)
POLL_SECONDS = 0.2
RETRY_SECONDS = 2.0
WATCH_SECONDS = 3.0
BATCH = 500


class StudioData:
    """The database, opened when it is first needed; use it only from thread workers."""

    def __init__(self, database_url: str) -> None:
        self.database_url = database_url
        self._lock = threading.Lock()
        self._database: Database | None = None

    def _open(self) -> Database:
        with self._lock:
            if self._database is None:
                from skills_db.database import Database  # SQLAlchemy waits for the first paint

                self._database = Database.open(self.database_url)
            return self._database

    @property
    def journal(self) -> Journal:
        """Runs, events and approvals.

        Raises:
            DatabaseError: the database cannot be opened; says what to do.
        """
        return self._open().journal

    @property
    def library(self) -> Library:
        """Skills and their versions; raises as `journal` does."""
        return self._open().library

    def close(self) -> None:
        """Close the database if it was ever opened."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None


class RunBridge:
    """Follows one run and carries what the person decides back to it.

    `follow` starts a thread worker that posts messages to the app. `start`, `decide`, `send` and
    `resume` block on the database and are to be called from a thread worker.
    """

    def __init__(self, app: StudioApp, data: StudioData, home: Path) -> None:
        self._app = app
        self._data = data
        self._home = home
        self._wake = threading.Event()
        self._worker: Worker[None] | None = None
        self._target: MessagePump | None = None
        self.wants_frames = False
        """True while a picture of the world is on the screen."""
        self.wants_text = False
        """True while what a language model writes would be on the screen."""

    def follow(self, run_id: str, target: MessagePump) -> None:
        """Post the whole history of a run to `target`, then what is new, until another follows."""
        self.unfollow(self._target)
        self._target = target
        self._worker = self._app.run_worker(
            lambda: self._poll(run_id, target),
            name=f"follow {run_id}",
            # One group a bridge: watching a skill play must not end the following of a run.
            group=f"bridge {id(self)}",
            exclusive=True,
            thread=True,
            exit_on_error=False,
        )

    def unfollow(self, target: MessagePump | None) -> None:
        """Tell `target` nothing more; the run itself does not notice."""
        if self._worker is not None and target is self._target:
            self._worker.cancel()
            self._worker = self._target = None
            self._wake.set()

    def stop(self) -> None:
        """Follow nothing any more; the studio is closing."""
        self.unfollow(self._target)

    def start(self, config: RunConfig) -> str:
        """Write a new run and launch its process; the id of the run.

        Raises:
            DatabaseError: the run could not be written.
            OSError: its process could not be started.
        """
        run = self._data.journal.create_run(
            kind="task",
            task=config.task,
            world=config.world,
            agents=config.agents,
            config=config.model_dump(mode="json"),
        )
        self.resume(run.id)
        return run.id

    def resume(self, run_id: str) -> None:
        """Launch a process that goes on with the run where its last one ended."""
        from engine.process import launch

        launch(run_id, db_url=self._data.database_url, home=self._home)
        self._wake.set()

    def decide(
        self,
        approval: ApprovalRecord,
        decision: Decision,
        *,
        comment: str = "",
        payload: Json | None = None,
    ) -> None:
        """Write the decision, and launch the run again when no process waits for it.

        Raises:
            AlreadyDecided: somebody was faster, or what is asked is no longer what was shown.
        """
        journal = self._data.journal
        journal.decide(
            approval.id,
            decision,
            by=person(),
            comment=comment,
            payload=payload,
            expected_hash=approval.payload_hash,
        )
        if not has_process(journal.run(approval.run_id)):
            self.resume(approval.run_id)
        self._wake.set()

    def send(self, run_id: str, command: CommandKind) -> None:
        """Tell the run's process to pause, continue, stop and keep, or approve all from here."""
        self._data.journal.send(run_id, command)
        self._wake.set()

    def _poll(self, run_id: str, target: MessagePump) -> None:
        worker = get_current_worker()

        def post(message: Message) -> None:
            if not worker.is_cancelled:
                target.post_message(message)

        reader = _Reader(run_id, post)
        failing = False
        while not worker.is_cancelled:
            try:
                journal = self._data.journal
                reader.read(journal, lambda: worker.is_cancelled)
                if self.wants_frames:
                    reader.read_frame(journal)
                if self.wants_text:
                    reader.read_completion(journal)
                failing = False
            except Exception as error:
                if worker.is_cancelled:
                    return  # the studio closes its database while it leaves
                _LOG.exception("Reading run %s failed", run_id)
                if not failing:
                    post(BridgeFailed(run_id, error))
                failing = True
            self._wake.wait(RETRY_SECONDS if failing else POLL_SECONDS)
            self._wake.clear()


class _Reader:
    """What was read of a run so far, so that only news are posted."""

    def __init__(self, run_id: str, post: Callable[[Message], None]) -> None:
        self._run_id = run_id
        self._post = post
        self._seq = 0
        self._frame = 0
        self._completion = 0
        self._watched_at = 0.0
        self._run: RunRecord | None = None
        self._approval: int | None = None

    def read(self, journal: Journal, cancelled: Callable[[], bool]) -> None:
        """Events before the run's state and what it asks, so that neither runs ahead of them."""
        run = journal.run(self._run_id)
        self._read_events(journal, run.id, cancelled)
        if self._run is None or _visible(run) != _visible(self._run):
            self._run = run
            self._post(RunChanged(run))
        pending = journal.pending(run.id)
        if (pending.id if pending else None) != self._approval:
            self._approval = pending.id if pending else None
            self._post(ApprovalAsked(run.id, pending))

    def _read_events(self, journal: Journal, run_id: str, cancelled: Callable[[], bool]) -> None:
        from engine.events import decode

        while not cancelled():
            events = journal.events(run_id, after=self._seq, limit=BATCH)
            if not events:
                return
            decoded = tuple(decode(event.kind, event.payload) for event in events)
            self._seq = events[-1].seq
            message = EventsArrived(run_id, events, decoded)
            self._post(message)
            while not cancelled() and not message.applied.wait(POLL_SECONDS):
                pass
            if len(events) < BATCH:
                return

    def read_frame(self, journal: Journal) -> None:
        """The newest picture of the world, and word to the run that somebody looks."""
        run_id = self._full_id
        now = time.monotonic()
        if now - self._watched_at > WATCH_SECONDS / 3:
            self._watched_at = now
            journal.watch(run_id, WATCH_SECONDS)
        frame: FrameRecord | None = journal.frame(run_id, after=self._frame)
        if frame is not None:
            self._frame = frame.seq
            self._post(FrameArrived(frame))

    def read_completion(self, journal: Journal) -> None:
        """What a language model has written so far, if that is more than before."""
        completion = journal.completion(self._full_id, after=self._completion)
        if completion is not None:
            self._completion = completion.seq
            self._post(CompletionArrived(completion))

    @property
    def _full_id(self) -> str:
        return self._run_id if self._run is None else self._run.id


def _visible(run: RunRecord) -> tuple[object, ...]:
    """What a screen draws of it; `agents` may change while it runs."""
    agents = run.config.get("agents")
    return (run.state, run.seen_state, run.detail, run.frames, run.result, agents, has_process(run))


def has_process(run: RunRecord) -> bool:
    """True when a process works on the run, as far as the database can tell."""
    return run.owner is not None and run.seen_state != "interrupted"
