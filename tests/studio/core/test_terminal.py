"""The studio in a real pseudo-terminal: signals, and the person's own editor."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import stat
import struct
import subprocess
import sys
import termios
import time

import pexpect
import pytest

from engine.events import TrainingMetrics
from skills_db.records import RunState

STUDIO = """
import sys
import engine.process
engine.process.launch = lambda run_id, *, db_url, home: 1
import studio.run_bridge
studio.run_bridge.POLL_SECONDS = 0.01
from pathlib import Path
from studio.app import StudioApp
from studio.paths import Paths
from studio.settings import Settings
home = Path({home!r})
app = StudioApp(
    Paths(home, {url!r}, home / "config.toml", home / "log"),
    Settings(theme="studio-dark"), attach={run!r},
)
print("LEFT:", app.run())
"""
MOUSE_ON, MOUSE_OFF = "\x1b[?1000h", "\x1b[?1000l"
ALTERNATE_OFF = "\x1b[?1049l"


@pytest.fixture
def terminal(paths, run):
    """Start the studio on the run in a pseudo-terminal of 100 by 30."""
    children = []

    def start(**env):
        # A test runner may say how wide its own output is; the pseudo-terminal has its own size.
        own = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
        code = STUDIO.format(home=str(paths.home), url=paths.database_url, run=run.id)
        child = pexpect.spawn(
            sys.executable,
            ["-c", code],
            dimensions=(30, 100),
            encoding="utf-8",
            timeout=30,
            env={**own, "TERM": "xterm-256color", "TEXTUAL_ANIMATIONS": "none", **env},
        )
        children.append(child)
        return child

    yield start
    for child in children:
        child.close(force=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_the_terminal_clean(run, terminal, number):
    run.approve_plan()
    run.enter(RunState.TRAINING)
    child = terminal()
    child.expect_exact(MOUSE_ON)
    child.expect_exact("gather_wood")
    child.kill(number)
    child.expect_exact(ALTERNATE_OFF)
    child.expect_exact("LEFT: The run goes on. Come back with: ")
    child.expect_exact(f"rlgpt-studio attach {run.id}")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 0
    assert run.journal.take_commands(run.id) == ()


BUSY = """
from textual.app import App
def paint(self):
    self.set_interval(0.001, lambda: self._driver.write("x"))
App.on_ready = paint
"""
STUCK = """
import time
from textual.app import App
App.exit = lambda *_: time.sleep(60)
"""


@pytest.mark.parametrize(
    ("before", "ends"),
    [("", (0,)), (BUSY, (0, 129)), (STUCK, (129,))],
    ids=["idle", "busy", "stuck"],
)
def test_the_studio_ends_with_a_terminal_that_nobody_hangs_up(paths, run, before, ends):
    """A terminal that is not the controlling one goes without a SIGHUP."""
    run.approve_plan()
    run.enter(RunState.TRAINING)
    code = before + STUDIO.format(home=str(paths.home), url=paths.database_url, run=run.id)
    code = code.replace('print("LEFT:", app.run())', "app.run()")  # there is nothing to print to
    own = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        env={**own, "TERM": "xterm-256color", "TEXTUAL_ANIMATIONS": "none"},
    )  # fmt: skip
    try:
        os.close(slave)
        shown = b""
        while b"gather_wood" not in shown:
            shown += os.read(master, 65536)
        os.close(master)
        assert child.wait(timeout=5) in ends
    finally:
        child.kill()
        child.wait()
    assert run.journal.take_commands(run.id) == ()


@pytest.mark.parametrize("kind", ["dumb", ""])
def test_a_terminal_that_cannot_be_drawn_in_is_refused(kind):
    child = pexpect.spawn(
        sys.executable,
        ["-m", "studio.cli"],
        encoding="utf-8",
        timeout=30,
        env={**os.environ, "TERM": kind},
    )
    child.expect(pexpect.EOF)
    assert "cannot draw here" in child.before
    assert "--headless" in child.before
    assert "\x1b" not in child.before
    child.wait()
    assert child.exitstatus == 1


def test_the_terminal_gets_its_mouse_back(run, terminal):
    run.enter(RunState.FINISHED)
    child = terminal()
    child.expect_exact("finished")
    child.send("q")
    child.expect_exact(MOUSE_OFF)
    child.expect_exact("LEFT: The run is finished.")
    child.expect(pexpect.EOF)


def test_the_own_editor_has_the_terminal_while_metrics_keep_coming(run, terminal, tmp_path):
    """Textual waits for itself for ever when anything repaints while it is suspended."""
    script = tmp_path / "editor"
    script.write_text(
        "#!/bin/sh\necho EDITOR OPEN $(basename $1)\nread answer\n"
        'echo "# $answer" >> "$1"\n'
    )  # fmt: skip
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    run.approve_plan()
    asked = run.ask_code()
    child = terminal(VISUAL=str(script))
    child.expect_exact("gather_wood version 1")
    child.send("\x05")
    child.expect_exact("EDITOR OPEN gather_wood.py")
    for update in range(1, 100):
        run.emit(TrainingMetrics(
            frames=update, frames_total=100, success_rate=0.1, episodic_return=1.0,
            episodic_length=1.0, sps=1.0, entropy=1.0, approx_kl=0.0, clipfrac=0.0,
            explained_variance=0.0, policy_loss=0.0, value_loss=0.0, decisions=1,
            coded_share=0.0, eta_seconds=None))  # fmt: skip
        time.sleep(0.02)  # each one is to be repainted
    child.sendline("from outside")
    child.expect_exact("with your edit")
    deadline = time.monotonic() + 20
    while run.journal.approval(asked.id).decision is None and time.monotonic() < deadline:
        child.send("a")
        child.expect([pexpect.TIMEOUT, r".+"], timeout=0.3)
    record = run.journal.approval(asked.id)
    assert record.decision == "modify"
    assert record.decided_payload["code"].endswith("# from outside\n")
    child.send("q")
    child.expect_exact("Leave the studio?")
    child.send("d")
    child.expect_exact("LEFT:")
