"""A real pseudo-terminal with the real binary in it, read through a terminal emulator."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pyte
import pytest

BINARY = Path(sys.executable).with_name("rlgpt-studio")
PATIENCE = float(os.environ.get("E2E_PATIENCE", "120"))

SMALL = """
[run]
frames = 2000
trials = 2
eval_episodes = 2
episode_length = 300
[training]
n_envs = 2
n_steps = 32
batch_size = 32
n_epochs = 1
net_arch = [16]
checkpoint_frames = 500
"""


class Terminal:
    """One studio in one terminal of a fixed size."""

    def __init__(self, home: Path, arguments: list[str], columns: int, rows: int) -> None:
        environment = {
            **os.environ,
            "RLGPT_STUDIO_HOME": str(home),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "OMP_NUM_THREADS": "1",
            "LANG": "C.UTF-8",
        }
        # A test runner may say how wide its own output is; the pseudo-terminal has its own size.
        for name in ("NO_COLOR", "COLUMNS", "LINES"):
            environment.pop(name, None)
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.started = time.monotonic()
        self.raw = b""
        self.process = pexpect.spawn(
            str(BINARY), arguments, env=environment, dimensions=(rows, columns), timeout=PATIENCE
        )

    def text(self) -> str:
        """What the screen shows now."""
        return "\n".join(self.screen.display)

    def pump(self, seconds: float = 0.1) -> None:
        """Read what the program drew."""
        try:
            data = self.process.read_nonblocking(size=1 << 16, timeout=seconds)
        except pexpect.TIMEOUT:
            return
        except pexpect.EOF:
            return
        self.raw += data
        self._stream.feed(data)

    def wait(self, *words: str, gone: str | None = None, seconds: float = PATIENCE) -> str:
        """Wait until all words are on the screen (and `gone` is not)."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.pump()
            shown = self.text()
            if all(word in shown for word in words) and (gone is None or gone not in shown):
                return shown
            if not self.process.isalive():
                self.pump()
                break
        raise AssertionError(f"waited in vain for {words!r}; the screen shows:\n{self.text()}")

    def press(self, *keys: str) -> None:
        """Send keys as a person's keyboard would, one after the other."""
        names = {"enter": "\r", "escape": "\x1b", "f1": "\x1bOP", "f2": "\x1bOQ", "f3": "\x1bOR",
                 "ctrl+s": "\x13", "ctrl+u": "\x15", "ctrl+c": "\x03", "down": "\x1b[B",
                 "ctrl+n": "\x0e", "ctrl+q": "\x11", "tab": "\t"}  # fmt: skip
        for key in keys:
            self.process.send(names.get(key, key))
            self.pump(0.15)

    def leave(self) -> int:
        """Wait for the end of the program; its exit status."""
        deadline = time.monotonic() + PATIENCE
        while self.process.isalive() and time.monotonic() < deadline:
            self.pump()
        self.process.close()
        return int(self.process.exitstatus if self.process.exitstatus is not None else -1)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "config.toml").write_text(SMALL)
    return folder


@pytest.fixture
def studio(home: Path) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def open_studio(*arguments: str, columns: int = 120, rows: int = 40) -> Terminal:
        terminal = Terminal(home, list(arguments), columns, rows)
        opened.append(terminal)
        return terminal

    yield open_studio
    for terminal in opened:
        if terminal.process.isalive():
            terminal.process.terminate(force=True)
