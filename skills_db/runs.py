"""Runs: their rows, who works on them, and their state."""

from __future__ import annotations

import difflib
import secrets
from datetime import datetime
from typing import cast

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from skills_db.connection import Store, no_run
from skills_db.errors import DatabaseError, LostRun, NotFound, RunIsAlive
from skills_db.liveness import is_owned, seen_state
from skills_db.models import Command, Run
from skills_db.records import Json, Owner, RunKind, RunRecord, RunState

LATEST = "latest"
"""May stand for the id of the newest task run."""

_SUFFIX_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"


class RunStore(Store):
    """The rows of the runs."""

    def create_run(
        self, *, kind: RunKind, task: str, world: str, agents: str, config: Json
    ) -> RunRecord:
        """A new run in state `created` that nobody works on yet."""
        for _ in range(8):
            now = self._clock()
            run = Run(
                id=new_run_id(now),
                kind=kind,
                task=task,
                world=world,
                agents=agents,
                config=config,
                state=RunState.CREATED.value,
                detail="",
                frames=0,
                created_at=now,
                updated_at=now,
                last_seq=0,
            )
            try:
                with self._write() as session:
                    session.add(run)
            except IntegrityError:
                continue  # the same four letters in the same second
            return self._record(run)
        raise DatabaseError("No free run id was found.", "Try again in a second.")

    def run(self, run_id: str) -> RunRecord:
        """One run by its id, by a beginning or an end of it that fits only one, or `latest`.

        Raises:
            NotFound: no run fits, or more than one does.
        """
        with self._read() as session:
            return self._record(_resolve(session, run_id))

    def runs(self, *, kind: RunKind | None = "task", limit: int = 200) -> tuple[RunRecord, ...]:
        """Runs of one kind (None: of all), the newest first."""
        query = select(Run).order_by(Run.created_at.desc(), Run.id.desc()).limit(limit)
        if kind is not None:
            query = query.where(Run.kind == kind)
        with self._read() as session:
            return tuple(self._record(run) for run in session.scalars(query))

    def claim(self, run_id: str, owner: Owner) -> RunRecord:
        """Makes `owner` the one process that works on the run.

        Raises:
            NotFound: no such run.
            RunIsAlive: another process works on it and still shows life.
        """
        with self._write() as session:
            self._lock_run(session, run_id)
            run = session.get_one(Run, run_id)
            now = self._clock()
            if run.owner_token != owner.token and is_owned(run, now):
                raise RunIsAlive(
                    f"Process {run.owner_pid} on {run.owner_host!r} works on run {run_id!r}.",
                    f"Follow it with `rlgpt-studio attach {run_id}`.",
                )
            if run.state != RunState.CREATED:
                self._drop_commands(session, run_id)
            run.owner_pid, run.owner_host, run.owner_token = owner.pid, owner.host, owner.token
            run.heartbeat_at = run.updated_at = now
            return self._record(run)

    def heartbeat(self, run_id: str, token: str, frames: int | None = None) -> None:
        """Says that the process with this token is alive, and how many env frames it has done.

        Raises:
            LostRun: another process has taken the run over, or the run was released.
        """
        values: dict[str, object] = {"heartbeat_at": self._clock()}
        if frames is not None:
            values["frames"] = frames
        mine = update(Run).where(Run.id == run_id, Run.owner_token == token)
        with self._write() as session:
            if session.execute(mine.values(**values).returning(Run.id)).first() is None:
                raise LostRun(
                    f"Run {run_id!r} is not worked on by this process any more.",
                    "Another process has taken it over; this one must stop.",
                )

    def release(self, run_id: str, token: str) -> None:
        """Frees the run; does nothing when it belongs to another process."""
        mine = update(Run).where(Run.id == run_id, Run.owner_token == token)
        nobody = {"owner_pid": None, "owner_host": None, "owner_token": None}
        with self._write() as session:
            change = mine.values(**nobody, heartbeat_at=None).returning(Run.id)
            if session.execute(change).first() is not None:
                self._drop_commands(session, run_id)

    def set_config(self, run_id: str, config: Json) -> None:
        """What the run is to go on with; for a run that is resumed."""
        change = update(Run).where(Run.id == run_id).values(config=config).returning(Run.id)
        with self._write() as session:
            if session.execute(change).first() is None:
                raise no_run(run_id)

    def set_state(
        self, run_id: str, state: RunState, detail: str = "", *, result: Json | None = None
    ) -> None:
        """Enters a state; `result` (when given) is kept as the run's result."""
        values: dict[str, object] = {
            "state": state.value,
            "detail": detail,
            "updated_at": self._clock(),
        }
        if result is not None:
            values["result"] = result
        change = update(Run).where(Run.id == run_id).values(**values).returning(Run.id)
        with self._write() as session:
            if session.execute(change).first() is None:
                raise no_run(run_id)

    def _drop_commands(self, session: Session, run_id: str) -> None:
        """What was meant for a process that has ended must not stop the next one."""
        waiting = (Command.run_id == run_id, Command.taken_at.is_(None))
        session.execute(
            update(Command)
            .where(*waiting, Command.command != "approve_all")
            .values(taken_at=self._clock())
        )

    def _record(self, run: Run) -> RunRecord:
        owner = None
        if run.owner_token is not None and run.owner_pid is not None:
            owner = Owner(run.owner_pid, run.owner_host or "", run.owner_token)
        return RunRecord(
            id=run.id,
            kind=cast(RunKind, run.kind),
            task=run.task,
            world=run.world,
            agents=run.agents,
            config=run.config,
            state=RunState(run.state),
            detail=run.detail,
            frames=run.frames,
            created_at=run.created_at,
            updated_at=run.updated_at,
            owner=owner,
            heartbeat_at=run.heartbeat_at,
            progress=run.progress,
            result=run.result,
            seen_state=seen_state(run, self._clock()),
        )


def new_run_id(now: datetime) -> str:
    """A short id that sorts by time (UTC): `20261130-140312-k3f9`."""
    suffix = "".join(secrets.choice(_SUFFIX_LETTERS) for _ in range(4))
    return f"{now:%Y%m%d-%H%M%S}-{suffix}"


def _resolve(session: Session, run_id: str) -> Run:
    exact = session.get(Run, run_id)
    if exact is not None:
        return exact
    newest = select(Run).order_by(Run.created_at.desc(), Run.id.desc())
    if run_id == LATEST:
        latest = session.scalars(newest.where(Run.kind == "task").limit(1)).first()
        if latest is None:
            raise NotFound(
                "There is no run yet.", 'Start one: rlgpt-studio run "collect a diamond"'
            )
        return latest
    found: list[Run] = []
    if run_id:
        fits = Run.id.startswith(run_id, autoescape=True) | Run.id.endswith(run_id, autoescape=True)
        found = list(session.scalars(newest.where(fits).limit(6)))
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(run.id for run in found[:5]) + (", …" if len(found) > 5 else "")
        raise NotFound(f"More than one run fits {run_id!r}: {names}.", "Write more of the id.")
    known = list(session.scalars(select(Run.id).order_by(Run.created_at.desc()).limit(500)))
    alike = difflib.get_close_matches(run_id, known, n=1, cutoff=0.6)
    raise no_run(run_id, f"Did you mean {alike[0]!r}?" if alike else "")
