"""Version, paths, usage errors, and what the way into the screen imports."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from studio import cli_output
from studio.cli import main
from studio.program_name import program_name

OPEN = """
import sys
from types import ModuleType
class Terminal:
    def __init__(self, stream): self.stream = stream
    def isatty(self): return True
    def __getattr__(self, name): return getattr(self.stream, name)
sys.stdin, sys.stdout = Terminal(sys.stdin), Terminal(sys.stdout)
app = ModuleType("studio.app")
class StudioApp:
    return_code = {code}
    def __init__(self, paths, settings, attach=None):
        sys.stdout.write(f"{{paths.home}} {{settings.task}} {{attach}}\\n")
    def run(self):
        return "come back: rlgpt-studio attach X"
app.StudioApp = StudioApp
sys.modules["studio.app"] = app
from studio.cli import main
code = main({arguments!r})
heavy = {{"sqlalchemy", "pydantic", "numpy", "torch", "typer", "click", "gymnasium", "alembic",
          "tomlkit", "openai"}}
sys.stdout.write(f"{{sorted(heavy & set(sys.modules))}}\\n")
sys.exit(code)
"""


def test_version(cli):
    answer = cli("--version")
    assert (answer.code, answer.out, answer.err) == (
        0, f"rlgpt-studio {version('rlgpt-studio')}\n", "",
    )  # fmt: skip


def test_paths_follow_the_environment(cli, home, monkeypatch):
    assert cli("paths", "--output", "json").json == {
        "home": str(home),
        "database": f"sqlite:///{home / 'studio.db'}",
        "config": str(home / "config.toml"),
        "log": str(home / "studio.log"),
    }
    monkeypatch.setenv("RLGPT_STUDIO_DB", "postgresql+psycopg://me:secret@host/db")
    answer = cli("paths")
    assert "postgresql+psycopg://me:***@host/db" in answer.out
    assert str(home) in answer.out
    assert not home.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (["run"], "Missing argument 'TASK'"),
        (["run", "x", "--approve", "maybe"], "'ask', 'all', 'none'"),
        (["run", "x", "--frames", "many"], "--frames"),
        (["run", "x", "--headless", "--frames", "3"], "`frames` cannot be 3"),
        (["run", "x", "--headless", "--set", "trails=3"], "Did you mean 'trials'?"),
        (["run", "x", "--headless", "--set", "training.n_env=3"], "'training.n_envs'"),
        (["run", "x", "--headless", "--set", "trials"], "--set trials=3"),
        (["run", "x", "--headless", "--world", "craftr"], "'crafter'"),
        (["resume", "x"], "There is no run 'x'"),
        (["resume", "x", "--headless"], "There is no run 'x'"),
        (["runs", "show", "x"], "There is no run 'x'"),
        (["skills", "show", "x"], "There is no skill 'x'"),
        (["runs", "list", "--output", "xml"], "'text', 'json'"),
        (["eval"], "one of --run, --skill and --policy"),
        (["eval", "--run", "x", "--policy", "random"], "one of --run, --skill and --policy"),
        (["eval", "--policy", "random", "--seeds", "9:3"], "0 seeds"),
        (["eval", "--policy", "random", "--seeds", "1:3", "--episodes", "5"], "2 seeds for 5"),
        (["eval", "--policy", "random", "--seeds", "a:b"], "--seeds 1000:1020"),
        (["eval", "--policy", "random", "--world", "craftr"], "'crafter'"),
        (["eval", "--run", "x"], "There is no run 'x'"),
        (["eval", "--skill", "x@one"], "no version"),
    ],
)
def test_bad_usage_is_said_on_stderr_alone(cli, arguments, says):
    answer = cli(*arguments)
    assert says in answer.err
    assert (answer.code, answer.out) == (cli_output.USAGE, "")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "x"], "Add --headless"),
        (["attach"], "needs a terminal"),
        (["attach", "x"], "needs a terminal"),
        ([], "needs a terminal"),
    ],
)
def test_without_a_terminal_the_studio_cannot_work(cli, arguments, says):
    answer = cli(*arguments)
    assert says in answer.err
    assert (answer.code, answer.out) == (cli_output.BROKEN, "")


def test_commands_in_words_can_be_typed_here(monkeypatch, capsys):
    monkeypatch.setattr(cli_output, "program_name", lambda: ".venv/bin/rlgpt-studio")
    cli_output.tell("Update rlgpt-studio.", "`rlgpt-studio runs list` shows all of them.")
    cli_output.tell("Back: rlgpt-studio attach X", "Or: .venv/bin/rlgpt-studio resume X")
    assert capsys.readouterr().err.splitlines() == [
        "Update rlgpt-studio.",
        "  `.venv/bin/rlgpt-studio runs list` shows all of them.",
        "Back: .venv/bin/rlgpt-studio attach X",
        "  Or: .venv/bin/rlgpt-studio resume X",
    ]


def test_an_unknown_run_is_told_with_one_that_is_alike(cli, database):
    run = database.journal.create_run(
        kind="task", task="t", world="crafter", agents="rules", config={}
    )
    answer = cli("runs", "show", run.id[:-1] + "!")
    assert answer.code == 2
    assert f"Did you mean {run.id!r}?" in answer.err


@pytest.mark.parametrize(("arguments", "attach"), [([], None), (["attach"], "latest"),
                                                   (["attach", "k3f9"], "k3f9")])  # fmt: skip
def test_the_way_into_the_screen_imports_nothing_heavy(home, arguments, attach):
    done = subprocess.run(
        [sys.executable, "-c", OPEN.format(code=0, arguments=arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{home} collect a diamond {attach}", "[]"]
    assert done.stderr == f"come back: {program_name()} attach X\n"


def test_the_screen_gives_its_exit_code(home):
    done = subprocess.run(
        [sys.executable, "-c", OPEN.format(code=2, arguments=[])], check=False, timeout=60,
        capture_output=True,
    )  # fmt: skip
    assert done.returncode == 2


def test_the_installed_command_completes_in_a_shell(home):
    command = Path(sys.executable).parent / "rlgpt-studio"
    shown = subprocess.run(
        [command, "ru"],
        env={
            "RLGPT_STUDIO_HOME": str(home),
            "_RLGPT_STUDIO_COMPLETE": "complete_bash",
            "COMP_WORDS": "rlgpt-studio ru",
            "COMP_CWORD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert shown.stdout.split() == ["run", "runs"], shown.stderr


def test_help_names_the_exit_codes(cli):
    answer = cli("-h")
    assert answer.code == 0
    assert "4 it waits" in " ".join(answer.out.split())


def test_what_steers_a_terminal_is_never_written():
    assert cli_output.plain("a\x1b[31mb\x07\nc\td\x9b") == "a�[31mb�\nc\td�"


def test_numbers_that_json_cannot_say_become_null(capsys):
    cli_output.give("json", {"a": float("nan"), "b": [float("inf"), 1.5]}, "")
    assert capsys.readouterr().out.split() == ["{", '"a":', "null,", '"b":', "[", "null,", "1.5",
                                               "]", "}"]  # fmt: skip


def test_an_error_of_the_program_is_not_hidden(monkeypatch):
    monkeypatch.setattr("studio.cli_app.here", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["runs", "list"])


@pytest.mark.parametrize("arguments", [("runs", "show"), ("attach",), ("run",)])
def test_an_argument_that_is_no_text_is_refused(cli, arguments):
    answer = cli(*arguments, os.fsdecode(b"a\xff"))
    assert (answer.code, answer.out) == (2, "")
    assert r"'a\xff' is not UTF-8" in answer.err


def test_long_input_is_told_shortly(cli):
    for arguments in (("runs", "show"), ("skills", "show"), ("eval", "--run")):
        answer = cli(*arguments, "x" * 10_000)
        assert answer.code == 2
        assert answer.err.startswith(("Error: There is no", "Error: No"))
        assert len(answer.err) < 800


@pytest.mark.parametrize("arguments", [("paths",), ("--version",), ("runs", "list")])
@pytest.mark.parametrize("where", ["full", "closed"])
def test_a_result_that_cannot_be_written_is_told(arguments, where):
    redirected = ">/dev/full" if where == "full" else ">&-"
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m studio.cli "$@" {redirected}', sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    reason = "No space left on device" if where == "full" else "it is closed"
    assert done.stderr.splitlines()[0] == (
        f"Error: The result cannot be written to stdout: {reason}."
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_without_stderr_the_result_is_given_all_the_same(home):
    done = subprocess.run(
        ["sh", "-c", '"$0" -m studio.cli paths 2>&-; "$0" -m studio.cli runs show no 2>/dev/full',
         sys.executable], capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert str(home) in done.stdout
    assert done.returncode == 2


def test_a_variable_that_means_nothing_is_told_of(cli, monkeypatch):
    monkeypatch.setenv("RLGPT_STUDIO_RUN_FRAMES", "5000")
    answer = cli("paths")
    assert answer.code == 0
    assert answer.err == (
        "Warning: The variable 'RLGPT_STUDIO_RUN_FRAMES' means nothing here and is ignored. "
        "Did you mean RLGPT_STUDIO_RUN__FRAMES?\n"
    )
