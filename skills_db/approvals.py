"""Approval requests: asked by a run, decided once, by one person."""

from __future__ import annotations

from typing import cast

from sqlalchemy import delete, select, update

from skills_db.connection import Store
from skills_db.errors import AlreadyDecided, DatabaseError, NotFound
from skills_db.models import Approval
from skills_db.records import ApprovalKind, ApprovalRecord, Decision, Json
from skills_db.types import json_hash


class ApprovalStore(Store):
    """What a person must decide."""

    def request_approval(
        self, run_id: str, kind: ApprovalKind, subject: str, payload: Json
    ) -> ApprovalRecord:
        """Asks; when the very same is asked already and still open, that request is returned.

        A run asks one thing at a time: another request of it that is still open was left by a
        process that is gone, and is withdrawn. A run keeps the id in its progress, so that a
        decision made while no process ran is found again with `approval`.
        """
        digest = json_hash(payload)
        with self._write() as session:
            self._lock_run(session, run_id)
            is_open = (Approval.run_id == run_id, Approval.decision.is_(None))
            for row in session.scalars(select(Approval).where(*is_open)):
                if (row.kind, row.subject, row.payload_hash) == (kind, subject, digest):
                    return _record(row)
            session.execute(delete(Approval).where(*is_open))
            row = Approval(
                run_id=run_id,
                kind=kind,
                subject=subject,
                payload=payload,
                payload_hash=digest,
                created_at=self._clock(),
                comment="",
            )
            session.add(row)
            session.flush()
            return _record(row)

    def pending(self, run_id: str) -> ApprovalRecord | None:
        """What the run waits for now, if anything."""
        query = (
            select(Approval)
            .where(Approval.run_id == run_id, Approval.decision.is_(None))
            .order_by(Approval.id.desc())
            .limit(1)
        )
        with self._read() as session:
            row = session.scalars(query).first()
            return None if row is None else _record(row)

    def approval(self, approval_id: int) -> ApprovalRecord:
        """One request, decided or not."""
        with self._read() as session:
            row = session.get(Approval, approval_id)
            if row is None:
                raise _no_approval(approval_id)
            return _record(row)

    def approvals(self, run_id: str) -> tuple[ApprovalRecord, ...]:
        """All requests of a run in order, decided or not."""
        query = select(Approval).where(Approval.run_id == run_id).order_by(Approval.id)
        with self._read() as session:
            return tuple(_record(row) for row in session.scalars(query))

    def decide(
        self,
        approval_id: int,
        decision: Decision,
        *,
        by: str,
        comment: str = "",
        payload: Json | None = None,
        expected_hash: str | None = None,
    ) -> ApprovalRecord:
        """Decides a request once and for all.

        Args:
            payload: for `modify`, what is approved instead of what was asked.
            expected_hash: hash of what the person saw; another one is refused.

        `decided_hash` of the answer is the hash of exactly what was approved; None for `reject`
        and `stop`.

        Raises:
            AlreadyDecided: somebody was faster.
            NotFound: no such request, or it was withdrawn.
            DatabaseError: `modify` without a payload, a payload without `modify`, or another hash.
        """
        if (payload is not None) != (decision == "modify"):
            raise DatabaseError(
                f"Decision {decision!r} {'with' if payload is not None else 'without'} a changed "
                "version cannot stand.",
                "Only `modify` comes with what is approved instead.",
            )
        with self._write() as session:
            row = session.get(Approval, approval_id)
            if row is None:
                raise _no_approval(approval_id)
            if expected_hash is not None and expected_hash != row.payload_hash:
                raise DatabaseError(
                    f"Request {approval_id} is not the one that was shown "
                    f"(hash {row.payload_hash[:12]!r}, not {expected_hash[:12]!r}).",
                    "Look at it again, then decide.",
                )
            approved = {
                "approve": row.payload_hash,
                "modify": json_hash(payload) if payload is not None else None,
            }
            # `decision IS NULL` in the UPDATE itself: of two at the same time one finds no row.
            answer = (
                update(Approval)
                .where(Approval.id == approval_id, Approval.decision.is_(None))
                .values(
                    decision=decision,
                    decided_at=self._clock(),
                    decided_by=by,
                    comment=comment,
                    decided_payload=payload,
                    decided_hash=approved.get(decision),
                )
                .returning(Approval.id)
            )
            decided = session.execute(answer).first() is not None
            session.refresh(row)
            if not decided:
                raise AlreadyDecided(
                    f"Request {approval_id} ({row.subject!r}) was already decided: "
                    f"{row.decision!r} by {row.decided_by!r}.",
                    "The run goes on with that decision.",
                )
            return _record(row)


def _no_approval(approval_id: int) -> NotFound:
    return NotFound(
        f"There is no approval request {approval_id!r}.",
        "The run may have withdrawn it and may ask something else now.",
    )


def _record(row: Approval) -> ApprovalRecord:
    return ApprovalRecord(
        id=row.id,
        run_id=row.run_id,
        kind=cast(ApprovalKind, row.kind),
        subject=row.subject,
        payload=row.payload,
        payload_hash=row.payload_hash,
        created_at=row.created_at,
        decision=cast(Decision | None, row.decision),
        decided_at=row.decided_at,
        decided_by=row.decided_by,
        comment=row.comment,
        decided_payload=row.decided_payload,
        decided_hash=row.decided_hash,
    )
