"""Migrations equal the models; a new database is made; a strange one is refused."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from skills_db.connection import make_engine
from skills_db.database import Database
from skills_db.errors import DatabaseError
from skills_db.models import Base
from skills_db.schema import SCHEMA_VERSION, alembic_config


def test_migrations_make_exactly_the_models(database):
    with database.engine.connect() as connection:
        options = {"compare_type": True, "compare_server_default": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, Base.metadata) == []


def test_the_comparison_would_notice_a_missing_column(database):
    with database.engine.begin() as connection:
        connection.execute(text("ALTER TABLE frames DROP COLUMN caption"))
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, Base.metadata)


def test_the_known_version_is_the_newest_migration():
    assert ScriptDirectory.from_config(alembic_config()).get_current_head() == SCHEMA_VERSION


def test_an_opened_database_has_the_settings_of_the_house(database):
    with database.engine.connect() as connection:

        def pragma(name: str) -> object:
            return connection.exec_driver_sql(f"PRAGMA {name}").scalar()

        assert pragma("journal_mode") == "wal"
        assert pragma("foreign_keys") == 1
        assert pragma("busy_timeout") == 10_000
        assert pragma("synchronous") == 1


def test_opening_again_keeps_everything(url, database, run):
    with Database.open(url) as again:
        assert again.journal.run(run.id).task == "collect a diamond"


def test_opening_a_current_database_does_not_import_alembic(url, database):
    code = (
        "import sys; from skills_db.database import Database; "
        f"Database.open({url!r}).close(); sys.exit('alembic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_many_processes_may_make_the_same_new_database(url):
    code = f"from skills_db.database import Database; Database.open({url!r}).close()"
    processes = [
        subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) for _ in range(3)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors.decode()


def test_a_newer_schema_is_refused_and_untouched(url, database):
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(DatabaseError, match="schema '9999'") as caught:
        Database.open(url)
    assert "Update rlgpt-studio" in caught.value.hint
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == (
            "9999"
        )


def test_a_database_of_another_program_is_refused(tmp_path: Path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE runs (a INTEGER)")
    with pytest.raises(DatabaseError, match="belongs to another program"):
        Database.open(f"sqlite:///{path}")


@pytest.mark.parametrize("content", [b"this is a text file, not a database" * 100, b"x" * 5000])
def test_a_damaged_file_is_refused_and_kept(tmp_path: Path, content: bytes):
    path = tmp_path / "studio.db"
    path.write_bytes(content)
    with pytest.raises(DatabaseError, match="not a database") as caught:
        Database.open(f"sqlite:///{path}")
    assert "Move it away" in caught.value.hint
    assert path.read_bytes() == content


def test_damage_in_the_middle_is_reported(url, database, run):
    database.journal.append(run.id, [("log", {"text": "x" * 400})] * 300)
    database.close()
    path = Path(url.removeprefix("sqlite:///"))
    data = bytearray(path.read_bytes())
    data[8192:] = b"\xff" * (len(data) - 8192)
    path.write_bytes(data)
    with pytest.raises(DatabaseError) as caught, Database.open(url) as opened:
        opened.journal.events(run.id)
    assert "damaged" in caught.value.hint


def test_a_file_that_cannot_be_written_is_refused(url, database):
    database.close()
    path = url.removeprefix("sqlite:///")
    with Database.open(f"sqlite:///file:{path}?mode=ro&uri=true") as opened:
        with pytest.raises(DatabaseError, match="readonly") as caught:
            opened.journal.create_run(kind="task", task="t", world="w", agents="rules", config={})
        assert "RLGPT_STUDIO_DB" in caught.value.hint
        assert opened.journal.runs() == ()


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DatabaseError, match="cannot be made") as caught:
        Database.open(f"sqlite:///{tmp_path / 'file' / 'studio.db'}")
    assert "RLGPT_STUDIO_HOME" in caught.value.hint


def test_a_full_disk_is_reported_and_loses_nothing(database, run):
    journal = database.journal
    journal.append(run.id, [("log", {"text": "before"})])
    with database.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(DatabaseError, match="full") as caught:
        journal.append(run.id, [("log", {"text": "x" * 100_000})])
    assert "disk is full" in caught.value.hint
    assert [event.payload["text"] for event in journal.events(run.id)] == ["before"]
    assert journal.append(run.id, [("log", {"text": "after"})]) == 2


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "no url at all", "mars://x/y"])
def test_a_url_that_cannot_work_is_refused(url: str):
    with pytest.raises(DatabaseError) as caught:
        make_engine(url)
    assert caught.value.hint


def test_a_password_is_never_shown():
    with pytest.raises(DatabaseError) as caught:
        make_engine("mars://me:secret@host/db")
    assert "secret" not in str(caught.value)


def test_a_folder_in_the_place_of_the_database_is_named(tmp_path):
    (tmp_path / "studio.db").mkdir()
    with pytest.raises(DatabaseError, match="is a folder, not a file") as refused:
        Database.open(f"sqlite:///{tmp_path / 'studio.db'}")
    assert "RLGPT_STUDIO_DB" in refused.value.hint


@pytest.mark.parametrize("writer_is_there", [False, True])
def test_a_file_that_cannot_be_written_is_read(
    url, database, run, make_draft, monkeypatch, writer_is_there
):
    database.library.save(make_draft())
    if not writer_is_there:
        database.close()
    # Not by file modes: they do not hold for root.
    monkeypatch.setattr("skills_db.connection.os.access", lambda _, mode: mode != os.W_OK)
    with Database.open(url) as reading:
        assert [found.id for found in reading.journal.runs()] == [run.id]
        assert [skill.name for skill in reading.library.skills()] == ["collect_wood"]
        for write in (
            reading.check_writable,
            lambda: reading.journal.append(run.id, [("log", {})]),
        ):
            with pytest.raises(DatabaseError, match="readonly") as refused:
                write()
            assert "cannot be written" in refused.value.hint
