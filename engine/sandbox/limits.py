"""Limits of the operating system for a process that runs policy code beside the learner.

In fast mode code is kept in by what it can name and by bounds on every step; these limits stand
behind that. A process that has them cannot take the machine's memory, leaves no core file with its
memory in it, and cannot gain rights by starting programs.

There is no timer here. A turn of fast mode ends by counting steps
(`engine.sandbox.fast.meter`), at the same step on every machine; every helper bounds what one call
of it can take, so no turn gets past the count. An alarm would end turns elsewhere each time, works
in the main thread only, may strike while the learner runs, and could not interrupt a single long
call of a built-in function either.
"""

from __future__ import annotations

import logging
import os
import shutil
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

_log = logging.getLogger(__name__)
_NO_NEW_PRIVILEGES = 38
"""`PR_SET_NO_NEW_PRIVS` of prctl(2)."""
GIB = 2**30


@dataclass(frozen=True, slots=True)
class Confinement:
    """What was limited; None and False where this system or its settings do not allow it."""

    memory_bytes: int | None
    """Address space of the process, what it had before included."""
    open_files: int | None
    core_files: bool
    """Whether it may still leave one."""
    new_privileges: bool
    """Whether programs it starts may still gain rights."""


def confine_process(
    extra_memory: int | None = 4 * GIB, open_files: int | None = 4096
) -> Confinement:
    """Limit this process and all it starts, for good; only the administrator could lift the limits.

    Call it once, in the process that trains, after PyTorch (and CUDA, where it is used) is
    imported: what is in memory already is not counted.

    Args:
        extra_memory: bytes of address space beyond what the process has now; None leaves it. CUDA
            reserves address space by the hundred GiB, so with a GPU leave it.
        open_files: at most; sandbox workers take four each. None leaves it.
    """
    try:
        import resource
    except ImportError:  # Windows has none of this.
        return Confinement(None, None, core_files=True, new_privileges=True)
    memory = None
    if extra_memory is not None and (used := _address_space()) is not None:
        memory = _lower(resource.RLIMIT_AS, used + extra_memory)
    files = None if open_files is None else _lower(resource.RLIMIT_NOFILE, open_files)
    core = _lower(resource.RLIMIT_CORE, 0)
    made = Confinement(memory, files, core != 0, not _forbid_new_privileges())
    _log.info("this process is limited: %s", made)
    return made


def _lower(kind: int, value: int) -> int | None:
    """Bring a limit down to a value, hard; what holds now, or None if it cannot be set."""
    import resource

    _, hard = resource.getrlimit(kind)
    wanted = value if hard == resource.RLIM_INFINITY else min(value, hard)
    try:
        resource.setrlimit(kind, (wanted, wanted))
    except (OSError, ValueError) as error:
        _log.warning("limit %s cannot be set to %s: %s", kind, wanted, error)
        return None
    return wanted


def _address_space() -> int | None:
    """Bytes of address space of this process; None where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _forbid_new_privileges() -> bool:
    """Whether from now on no program that is started can gain rights."""
    if sys.platform != "linux" or _wall_needs_privileges():
        return False
    import ctypes

    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return False
    return bool(prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0)


def _wall_needs_privileges() -> bool:
    """Whether bubblewrap, the wall around Monty's workers, gains rights to do its work."""
    bwrap = shutil.which("bwrap")
    try:
        return bwrap is not None and bool(os.stat(bwrap).st_mode & stat.S_ISUID)
    except OSError:
        return False
