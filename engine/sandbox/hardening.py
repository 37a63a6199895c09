"""An outer wall of the operating system around the sandbox, where `bwrap` works.

Monty is a sandbox of the language: its worker has no code that reaches files or the network on
behalf of a program. bubblewrap takes away what a flaw in it could reach: no network, no files but
the worker's own libraries, no other processes, no environment.
"""

from __future__ import annotations

import logging
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

_log = logging.getLogger(__name__)
_PROBE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Hardening:
    """Whether sandbox workers run inside bubblewrap, and why not."""

    active: bool
    detail: str


def monty_binary() -> str:
    """Path of the worker binary that ships with `pydantic-monty`.

    Raises:
        FileNotFoundError: it is not installed.
    """
    from pydantic_monty._binary import find_monty_binary

    return find_monty_binary()


def write_wrapper(folder: Path) -> Path | None:
    """A script in `folder` that starts the worker inside bubblewrap; None where that fails."""
    hardening, script = _try(folder)
    _log.debug("sandbox hardening: %s", hardening.detail)
    return script


def hardening_status() -> Hardening:
    """What `doctor` reports: found out by starting a worker inside bubblewrap once."""
    with TemporaryDirectory(prefix="rlgpt-sandbox-") as folder:
        hardening, _ = _try(Path(folder))
    return hardening


def _try(folder: Path) -> tuple[Hardening, Path | None]:
    if sys.platform != "linux":
        return Hardening(False, "bubblewrap exists on Linux only"), None
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return Hardening(False, "bwrap is not installed (package `bubblewrap`)"), None
    try:
        script = _write(folder, bwrap, str(Path(monty_binary()).resolve()))
        done = subprocess.run(
            [str(script), "--version"],
            capture_output=True,
            text=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Hardening(False, f"{bwrap} could not be started: {error}"), None
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        return Hardening(False, f"{bwrap} does not work here: {reason[0]}"), None
    return Hardening(True, f"workers run inside {bwrap}"), script


def _write(folder: Path, bwrap: str, binary: str) -> Path:
    command = [
        bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--clearenv",
        "--ro-bind", "/usr", "/usr",
        "--ro-bind-try", "/lib", "/lib",
        "--ro-bind-try", "/lib64", "/lib64",
        "--ro-bind", binary, "/monty",
        "--proc", "/proc", "--dev", "/dev", "--chdir", "/",
        "/monty",
    ]  # fmt: skip
    script = folder / "monty-in-bwrap.sh"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    script.chmod(0o700)
    return script
