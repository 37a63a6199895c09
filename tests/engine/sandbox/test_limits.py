"""Limits of the process that trains: they hold, for good; tried in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")


def run(script: str) -> dict[str, object]:
    begin = "import json, resource\nfrom engine.sandbox.limits import confine_process\nout = {}\n"
    end = "\nprint(json.dumps(out))\n"
    done = subprocess.run(
        [sys.executable, "-c", begin + script + end],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_memory_core_files_and_open_files_are_limited() -> None:
    seen = run(
        "made = confine_process(extra_memory=2**28, open_files=100)\n"
        "out['made'] = [made.memory_bytes, made.open_files, made.core_files]\n"
        "out['limits'] = [resource.getrlimit(kind) for kind in\n"
        "    (resource.RLIMIT_AS, resource.RLIMIT_NOFILE, resource.RLIMIT_CORE)]\n"
        "try:\n    bytearray(2**30)\nexcept MemoryError:\n    out['memory'] = 'refused'\n"
        "try:\n    files = [open('/dev/null') for _ in range(200)]\n"
        "except OSError as error:\n    out['files'] = error.errno\n"
        "try:\n    resource.setrlimit(resource.RLIMIT_AS, (2**40, 2**40))\n"
        "except ValueError:\n    out['lift'] = 'refused'\n"
    )
    memory, files, core = seen["made"]  # type: ignore[misc]
    assert (files, core) == (100, False)
    assert seen["limits"] == [[memory, memory], [100, 100], [0, 0]]
    assert seen["memory"] == "refused"
    assert seen["files"] == 24
    # The administrator may lift limits; a process without such rights may not.
    assert seen.get("lift") == "refused" or os.geteuid() == 0


def test_no_program_that_is_started_gains_rights() -> None:
    seen = run(
        "import shutil\nshutil.which = lambda name: None\n"
        "out['made'] = confine_process(None, None).new_privileges\n"
        "out['status'] = [line for line in open('/proc/self/status') if 'NoNewPrivs' in line]\n"
    )
    assert seen == {"made": False, "status": ["NoNewPrivs:\t1\n"]}


def test_a_wall_that_needs_rights_keeps_them() -> None:
    seen = run(
        "import shutil, tempfile, os\nfrom pathlib import Path\n"
        "bwrap = Path(tempfile.mkdtemp()) / 'bwrap'\nbwrap.write_text('')\n"
        "os.chmod(bwrap, 0o4755)\nshutil.which = lambda name: str(bwrap)\n"
        "out['made'] = confine_process(None, None).new_privileges\n"
        "out['status'] = [line for line in open('/proc/self/status') if 'NoNewPrivs' in line]\n"
        "shutil.rmtree(bwrap.parent)\n"
    )
    assert seen == {"made": True, "status": ["NoNewPrivs:\t0\n"]}


def test_code_that_finds_no_memory_left_cannot_go_on() -> None:
    seen = run(
        "from engine.sandbox.fast.code import FastCode\n"
        "from engine.sandbox.fast.program import FastProgram\n"
        "from engine.sandbox.program import Limits\n"
        "code = '''def run() -> str:\n    kept = []\n    while True:\n        try:\n"
        "            kept.append(list(range(300, 90000)))\n        except Exception:\n"
        "            act(\"caught\")\n'''\n"
        "program = FastProgram(FastCode(code, frozenset({'act'}), 'act'),\n"
        "    Limits(seconds_per_turn=1000.0, memory_bytes=2**40))\n"
        "confine_process(extra_memory=2**27)\n"
        "end = program.begin(lambda *_: True)\n"
        "out['end'] = [end.kind, end.line, end.message]\n"
        "out['again'] = program.begin(lambda *_: True).kind\n"
    )
    assert seen == {
        "end": ["memory", 5, "the machine is out of memory"],
        "again": "memory",
    }


def test_monty_s_workers_start_in_a_limited_process() -> None:
    seen = run(
        "from engine.sandbox.pool import Sandbox\n"
        "confine_process()\n"
        "with Sandbox('def act(a: str) -> bool: ...', frozenset({'act'})) as sandbox:\n"
        "    out['end'] = repr(sandbox.load('def run() -> str:\\n    return \"x\"\\n').start())\n"
    )
    assert seen == {"end": "Returned(value='x')"}
