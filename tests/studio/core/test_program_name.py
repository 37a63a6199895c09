"""The command that is named works from where the person is."""

from __future__ import annotations

import sys

from studio.program_name import program_name


def test_on_the_path_the_name_is_enough(tmp_path, monkeypatch):
    program = tmp_path / "rlgpt-studio"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program_name() == "rlgpt-studio"


def test_else_it_is_the_path_that_was_started(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    program = tmp_path / "my venv" / "bin" / "rlgpt-studio"
    monkeypatch.setattr(sys, "argv", [str(program), "attach"])
    monkeypatch.chdir("/")
    assert program_name() == f"'{str(program).removeprefix('/')}'"
    tmp_path.joinpath("my venv").mkdir()
    monkeypatch.chdir(tmp_path / "my venv")
    assert program_name() == "bin/rlgpt-studio"
    monkeypatch.setattr(sys, "argv", ["rlgpt-studio"])
    assert program_name() == "./rlgpt-studio"
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.setattr(sys, "argv", [str(other / "rlgpt-studio")])
    assert program_name() == str(other / "rlgpt-studio")


def test_another_program_names_the_one_beside_its_python(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "argv", ["/usr/bin/pytest"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.chdir("/usr")
    assert program_name() == "bin/pytest"
    (tmp_path / "rlgpt-studio").write_text("")
    assert program_name() == str(tmp_path / "rlgpt-studio")
