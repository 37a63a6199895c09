"""A run's append-only history: events, progress, and the calls of language models."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from skills_db.connection import Store, no_run
from skills_db.models import Event, LlmCall, Run
from skills_db.records import EventRecord, Json, LlmCallRecord


class HistoryStore(Store):
    """Events and what is written with them in one transaction."""

    def append(self, run_id: str, events: Sequence[tuple[str, Json]]) -> int:
        """Appends (kind, payload) rows in order; returns the last `seq` of the run."""
        with self._write() as session:
            return self._append(session, run_id, events)

    def save_progress(
        self, run_id: str, progress: Json, events: Sequence[tuple[str, Json]] = ()
    ) -> int:
        """Sets where the run can go on and appends events: both happen, or neither.

        Returns the last `seq` of the run.
        """
        with self._write() as session:
            last = self._append(session, run_id, events)
            session.execute(update(Run).where(Run.id == run_id).values(progress=progress))
            return last

    def events(
        self,
        run_id: str,
        *,
        after: int = 0,
        limit: int = 1000,
        kinds: Collection[str] | None = None,
    ) -> tuple[EventRecord, ...]:
        """Events with `seq > after` in order, at most `limit`; of some kinds when given."""
        query = (
            select(Event.seq, Event.time, Event.kind, Event.payload)
            .where(Event.run_id == run_id, Event.seq > after)
            .order_by(Event.seq)
            .limit(limit)
        )
        if kinds is not None:
            query = query.where(Event.kind.in_(kinds))
        with self._read() as session:
            return tuple(
                EventRecord(run_id, seq, time, kind, payload)
                for seq, time, kind, payload in session.execute(query)
            )

    def last_seq(self, run_id: str) -> int:
        """Number of the newest event; 0 when there is none."""
        with self._read() as session:
            return session.scalar(select(Run.last_seq).where(Run.id == run_id)) or 0

    def record_call(self, call: LlmCallRecord) -> None:
        """Keeps one call of a language model as it was sent and answered."""
        with self._write() as session:
            self._lock_run(session, call.run_id)
            session.add(
                LlmCall(
                    run_id=call.run_id,
                    time=call.time or self._clock(),
                    role=call.role,
                    model=call.model,
                    mode=call.mode,
                    prompt=call.prompt,
                    reply=call.reply,
                    prompt_tokens=call.prompt_tokens,
                    completion_tokens=call.completion_tokens,
                    seconds=call.seconds,
                    cost_usd=call.cost_usd,
                    error=call.error,
                )
            )

    def calls(self, run_id: str) -> tuple[LlmCallRecord, ...]:
        """All calls of a run in order."""
        query = select(LlmCall).where(LlmCall.run_id == run_id).order_by(LlmCall.id)
        with self._read() as session:
            return tuple(
                LlmCallRecord(
                    run_id=call.run_id,
                    role=call.role,
                    model=call.model,
                    mode=call.mode,
                    prompt=call.prompt,
                    reply=call.reply,
                    prompt_tokens=call.prompt_tokens,
                    completion_tokens=call.completion_tokens,
                    seconds=call.seconds,
                    cost_usd=call.cost_usd,
                    error=call.error,
                    time=call.time,
                )
                for call in session.scalars(query)
            )

    def _append(self, session: Session, run_id: str, events: Sequence[tuple[str, Json]]) -> int:
        # The counter in the run's row locks the row until the commit, on every database: two
        # writers cannot take the same number, and a number taken by a failed one is given back.
        now = self._clock()
        count = (
            update(Run)
            .where(Run.id == run_id)
            .values(last_seq=Run.last_seq + len(events), updated_at=now)
            .returning(Run.last_seq)
        )
        last = session.execute(count).scalar_one_or_none()
        if last is None:
            raise no_run(run_id)
        if events:
            first = last - len(events) + 1
            session.execute(
                insert(Event),
                [
                    {"run_id": run_id, "seq": seq, "time": now, "kind": kind, "payload": payload}
                    for seq, (kind, payload) in enumerate(events, start=first)
                ],
            )
        return last
