"""The first tables: runs with their events, approvals and frames; skills with their versions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Makes all tables, and the trigger that keeps skill versions as they are."""
    _create_runs()
    _create_what_belongs_to_runs()
    _create_skills()
    _forbid_changes_of_skill_versions()


def _create_runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("task", sa.Text, nullable=False),
        sa.Column("world", sa.String(64), nullable=False),
        sa.Column("agents", sa.String(64), nullable=False),
        sa.Column("config", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("frames", sa.BigInteger, nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("updated_at", _TIME, nullable=False),
        sa.Column("owner_pid", sa.Integer),
        sa.Column("owner_host", sa.String(255)),
        sa.Column("owner_token", sa.String(64)),
        sa.Column("heartbeat_at", _TIME),
        sa.Column("watched_until", _TIME),
        sa.Column("last_seq", sa.Integer, nullable=False),
        sa.Column("progress", sa.Text),
        sa.Column("result", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_index("ix_runs_created_at", "runs", ["created_at"])


def _create_what_belongs_to_runs() -> None:
    op.create_table(
        "events",
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("seq", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("time", _TIME, nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "seq", name="pk_events"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_events_run_id_runs"),
    )
    op.create_table(
        "approvals",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("payload_hash", sa.String(64), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("decision", sa.String(16)),
        sa.Column("decided_at", _TIME),
        sa.Column("decided_by", sa.Text),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("decided_payload", sa.Text),
        sa.Column("decided_hash", sa.String(64)),
        sa.PrimaryKeyConstraint("id", name="pk_approvals"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_approvals_run_id_runs"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_approvals_run_id", "approvals", ["run_id"])
    op.create_table(
        "commands",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("command", sa.String(16), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("taken_at", _TIME),
        sa.PrimaryKeyConstraint("id", name="pk_commands"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_commands_run_id_runs"),
    )
    op.create_index("ix_commands_run_id", "commands", ["run_id"])
    op.create_table(
        "frames",
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("width", sa.Integer, nullable=False),
        sa.Column("height", sa.Integer, nullable=False),
        sa.Column("rgb", sa.LargeBinary, nullable=False),
        sa.Column("caption", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run_id", name="pk_frames"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_frames_run_id_runs"),
    )
    op.create_table(
        "llm_calls",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("time", _TIME, nullable=False),
        sa.Column("role", sa.String(32), nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("mode", sa.String(32), nullable=False),
        sa.Column("prompt", sa.Text, nullable=False),
        sa.Column("reply", sa.Text, nullable=False),
        sa.Column("prompt_tokens", sa.Integer, nullable=False),
        sa.Column("completion_tokens", sa.Integer, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("cost_usd", sa.Double, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_llm_calls"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_llm_calls_run_id_runs"),
    )
    op.create_index("ix_llm_calls_run_id", "llm_calls", ["run_id"])


def _create_skills() -> None:
    op.create_table(
        "blobs",
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("sha256", name="pk_blobs"),
    )
    op.create_table(
        "skills",
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("world", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("versions", sa.Integer, nullable=False),
        sa.Column("updated_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_skills"),
    )
    op.create_table(
        "skill_versions",
        sa.Column("skill", sa.String(128), nullable=False),
        sa.Column("version", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("code_hash", sa.String(64), nullable=False),
        sa.Column("weights_hash", sa.String(64)),
        sa.Column("success_rate", sa.Double, nullable=False),
        sa.Column("episodes", sa.Integer, nullable=False),
        sa.Column("run_id", sa.String(32)),
        sa.Column("agents", sa.String(64), nullable=False),
        sa.Column("approver", sa.Text, nullable=False),
        sa.Column("metadata", sa.Text, nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("skill", "version", name="pk_skill_versions"),
        sa.ForeignKeyConstraint(["skill"], ["skills.name"], name="fk_skill_versions_skill_skills"),
        sa.ForeignKeyConstraint(
            ["weights_hash"], ["blobs.sha256"], name="fk_skill_versions_weights_hash_blobs"
        ),
    )
    op.create_index("ix_skill_versions_run_id", "skill_versions", ["run_id"])


def _forbid_changes_of_skill_versions() -> None:
    dialect = op.get_bind().dialect.name
    if dialect == "sqlite":
        op.execute(
            "CREATE TRIGGER skill_versions_never_change BEFORE UPDATE ON skill_versions "
            "BEGIN SELECT RAISE(ABORT, 'a skill version never changes; save a new one'); END"
        )
    elif dialect == "postgresql":
        op.execute(
            "CREATE FUNCTION skill_versions_never_change() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'a skill version never changes; save a new one'; END $$"
        )
        op.execute(
            "CREATE TRIGGER skill_versions_never_change BEFORE UPDATE ON skill_versions "
            "FOR EACH ROW EXECUTE FUNCTION skill_versions_never_change()"
        )
