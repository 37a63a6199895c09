"""The tables. A change here needs a new migration; a test compares the two."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import (
    BigInteger,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from skills_db.records import Json
from skills_db.types import JsonText, UtcDateTime


class Base(DeclarativeBase):
    """Base of all tables; constraints get predictable names so that migrations can name them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {datetime: UtcDateTime(), Json: JsonText()}


class Run(Base):
    """One execution of one task, and the process that works on it."""

    __tablename__ = "runs"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    task: Mapped[str] = mapped_column(Text)
    world: Mapped[str] = mapped_column(String(64))
    agents: Mapped[str] = mapped_column(String(64))
    config: Mapped[Json]
    state: Mapped[str] = mapped_column(String(16))
    detail: Mapped[str] = mapped_column(Text)
    frames: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    owner_pid: Mapped[int | None] = mapped_column(Integer)
    owner_host: Mapped[str | None] = mapped_column(String(255))
    owner_token: Mapped[str | None] = mapped_column(String(64))
    heartbeat_at: Mapped[datetime | None]
    watched_until: Mapped[datetime | None]
    last_seq: Mapped[int] = mapped_column(Integer)
    """Number of events so far; the counter that makes `Event.seq` gapless."""
    progress: Mapped[Json | None]
    result: Mapped[Json | None]

    __table_args__ = (Index("ix_runs_created_at", "created_at"),)


class Event(Base):
    """One row of a run's append-only history."""

    __tablename__ = "events"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    time: Mapped[datetime]
    kind: Mapped[str] = mapped_column(String(32))
    payload: Mapped[Json]


class Approval(Base):
    """What a person must decide, and what was decided."""

    __tablename__ = "approvals"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), index=True)
    kind: Mapped[str] = mapped_column(String(16))
    subject: Mapped[str] = mapped_column(Text)
    payload: Mapped[Json]
    payload_hash: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime]
    decision: Mapped[str | None] = mapped_column(String(16))
    decided_at: Mapped[datetime | None]
    decided_by: Mapped[str | None] = mapped_column(Text)
    comment: Mapped[str] = mapped_column(Text)
    decided_payload: Mapped[Json | None]
    decided_hash: Mapped[str | None] = mapped_column(String(64))

    # A number is never given twice: a late decision must not meet another question.
    __table_args__ = ({"sqlite_autoincrement": True},)


class Command(Base):
    """What a studio asks of a run's process; `taken_at` is set when it was handed out."""

    __tablename__ = "commands"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), index=True)
    command: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime]
    taken_at: Mapped[datetime | None]


class Frame(Base):
    """The newest picture of a run."""

    __tablename__ = "frames"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(Integer)
    width: Mapped[int] = mapped_column(Integer)
    height: Mapped[int] = mapped_column(Integer)
    rgb: Mapped[bytes] = mapped_column(LargeBinary)
    caption: Mapped[str] = mapped_column(Text)


class Completion(Base):
    """What a language model is writing for a run now."""

    __tablename__ = "completions"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(Integer)
    role: Mapped[str] = mapped_column(String(32))
    subject: Mapped[str] = mapped_column(Text)
    text: Mapped[str] = mapped_column(Text)
    finished: Mapped[bool]


class LlmCall(Base):
    """One call of a language model."""

    __tablename__ = "llm_calls"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), index=True)
    time: Mapped[datetime]
    role: Mapped[str] = mapped_column(String(32))
    model: Mapped[str] = mapped_column(Text)
    mode: Mapped[str] = mapped_column(String(32))
    prompt: Mapped[str] = mapped_column(Text)
    reply: Mapped[str] = mapped_column(Text)
    prompt_tokens: Mapped[int] = mapped_column(Integer)
    completion_tokens: Mapped[int] = mapped_column(Integer)
    seconds: Mapped[float]
    cost_usd: Mapped[float]
    error: Mapped[str] = mapped_column(Text)


class Skill(Base):
    """A named skill. `versions` is how many there are, so also the number of the newest."""

    __tablename__ = "skills"

    name: Mapped[str] = mapped_column(String(128), primary_key=True)
    world: Mapped[str] = mapped_column(String(64))
    kind: Mapped[str] = mapped_column(String(16))
    description: Mapped[str] = mapped_column(Text)
    versions: Mapped[int] = mapped_column(Integer)
    updated_at: Mapped[datetime]


class SkillVersion(Base):
    """One version of a skill; a trigger refuses any change of a row."""

    __tablename__ = "skill_versions"

    skill: Mapped[str] = mapped_column(ForeignKey("skills.name"), primary_key=True)
    version: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    description: Mapped[str] = mapped_column(Text)
    code: Mapped[str] = mapped_column(Text)
    code_hash: Mapped[str] = mapped_column(String(64))
    weights_hash: Mapped[str | None] = mapped_column(ForeignKey("blobs.sha256"))
    success_rate: Mapped[float]
    episodes: Mapped[int] = mapped_column(Integer)
    run_id: Mapped[str | None] = mapped_column(String(32), index=True)
    """Where it came from. No foreign key: a skill outlives its run."""
    agents: Mapped[str] = mapped_column(String(64))
    approver: Mapped[str] = mapped_column(Text)
    metadata_: Mapped[Json] = mapped_column("metadata")
    created_at: Mapped[datetime]


class Blob(Base):
    """Weights by content, so that equal ones are stored once.

    In the database and not beside it: the policies of a small world are about 1 MB, where SQLite
    reads and writes as fast as a file does, and a skill stays one thing to copy and to back up.
    """

    __tablename__ = "blobs"

    sha256: Mapped[str] = mapped_column(String(64), primary_key=True)
    size: Mapped[int] = mapped_column(Integer)
    data: Mapped[bytes] = mapped_column(LargeBinary)
