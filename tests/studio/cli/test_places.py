"""Paths and the database where they cannot be: clear words, exit codes, nothing lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.paths import find_paths


def test_everything_is_under_the_home_that_is_named(tmp_path):
    paths = find_paths({"RLGPT_STUDIO_HOME": str(tmp_path / "a b%c")})
    assert paths.home == tmp_path / "a b%c"
    assert paths.database_url == f"sqlite:///{tmp_path / 'a b%c' / 'studio.db'}"
    assert paths.config_file.parent == paths.log_file.parent == paths.home
    assert not paths.home.exists()


def test_without_a_name_the_system_says_where(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    paths = find_paths({})
    assert paths.home == tmp_path / "data" / "rlgpt-studio"
    assert paths.config_file == tmp_path / "config" / "rlgpt-studio" / "config.toml"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("sqlite:///mine.db", "sqlite:///{here}/mine.db"),
        ("sqlite+pysqlite:///mine.db", "sqlite+pysqlite:///{here}/mine.db"),
        ("sqlite:////abs/mine.db", "sqlite:////abs/mine.db"),
        ("sqlite:///:memory:", "sqlite:///:memory:"),
        ("sqlite:///file:mine.db?uri=true", "sqlite:///file:mine.db?uri=true"),
        ("postgresql://host/db", "postgresql://host/db"),
    ],
)
def test_a_relative_database_is_made_absolute(monkeypatch, tmp_path, given, expected):
    monkeypatch.chdir(tmp_path)
    env = {"RLGPT_STUDIO_HOME": "rel", "RLGPT_STUDIO_DB": given}
    assert find_paths(env).database_url == expected.format(here=tmp_path)
    assert find_paths(env).home == tmp_path / "rel"


def test_the_database_may_be_elsewhere(cli, home, tmp_path, monkeypatch):
    monkeypatch.setenv("RLGPT_STUDIO_DB", f"sqlite:///{tmp_path / 'else' / 'where.db'}")
    assert cli("runs", "list", "--output", "json").json == {"runs": []}
    assert (tmp_path / "else" / "where.db").exists()
    assert not home.exists()


def test_a_home_that_cannot_be_made(cli, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RLGPT_STUDIO_HOME", str(tmp_path / "file" / "home"))
    answer = cli("run", "collect a diamond", "--headless", "--output", "json")
    assert (answer.code, answer.out) == (1, "")
    assert "cannot be made" in answer.err
    assert "RLGPT_STUDIO_HOME" in answer.err


def test_a_damaged_database(cli, home):
    home.mkdir()
    (home / "studio.db").write_text("this was a database once" * 100)
    answer = cli("skills", "list")
    assert (answer.code, answer.out) == (1, "")
    assert "not a database" in answer.err
    assert "Move it away" in answer.err


def test_a_database_of_a_newer_program(cli, database, home):
    from sqlalchemy import text

    with database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    answer = cli("runs", "list")
    assert answer.code == 1
    assert "Update rlgpt-studio" in answer.err


@pytest.mark.parametrize("command", [["runs", "list"], ["run", "x", "--headless"], ["doctor"]])
def test_a_broken_configuration_is_told_with_its_line(cli, home: Path, command):
    home.mkdir()
    (home / "config.toml").write_text("theme = 'nord'\n\n[training]\nn_envz = 3\n")
    answer = cli(*command)
    shown = answer.out + answer.err
    assert answer.code == (1 if command == ["doctor"] else 2)
    assert "config.toml, line 4" in shown
    assert "'training.n_envs'" in shown


@pytest.mark.parametrize(
    ("variable", "value"),
    [("RLGPT_STUDIO_HOME", "~nosuch/x"), ("RLGPT_STUDIO_DB", "sqlite:///~nosuch/x.db")],
)
def test_a_home_of_nobody(cli, monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    for command in (("paths",), ("runs", "list"), ("doctor",)):
        answer = cli(*command)
        assert (answer.code, answer.out) == (2, "")
        assert f"{variable} cannot be '~nosuch/x" in answer.err
        assert "Write the whole path" in answer.err


def test_a_broken_table_of_prices_is_told_with_its_line_before_there_is_a_run(cli, home: Path):
    home.mkdir()
    table = home / "prices.toml"
    table.write_text('[models]\n"mine" = { prompt = "dear", completion = 3 }\n')
    answer = cli("run", "collect wood", "--headless", "--agents", "llm", "--set", "llm.model=mine")
    assert answer.code == 2
    assert f"{str(table)!r}, line 2, is wrong at `models.mine.prompt`" in answer.err
    assert '"NAME" = { prompt = 0.25, completion = 2.0 }' in answer.err
    assert "Run " not in answer.err
    assert not (home / "studio.db").exists()
