"""`doctor`: what is installed, what works, what is missing and how to get it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio.cli_output import table
from studio.doctor_check import Check, Status
from studio.doctor_llarp import habitat, model_packages, small_model, visual_encoder
from studio.paths import Paths, find_paths
from studio.settings import Settings, load_settings

if TYPE_CHECKING:
    from engine.config import LlmConfig

_SIGNS: Mapping[Status, str] = {"ok": "ok", "missing": "missing", "broken": "BROKEN"}
_REINSTALL = "Install the studio anew: make clean run"
_MIN_FREE_GB, _SOME_FREE_GB = 0.2, 2.0
_CONNECT_SECONDS = 2.0
_PROBE_SECONDS = 20.0
_TRY_LIMITS = (
    "import dataclasses, json; from engine.sandbox.limits import confine_process; "
    "print(json.dumps(dataclasses.asdict(confine_process())))"
)


def examine(env: Mapping[str, str]) -> tuple[Check, ...]:
    """Looks at everything the studio needs or can use; nothing is changed."""
    paths = find_paths(env)
    settings, configuration = _configuration(paths, env)
    looks: tuple[Callable[[], Check], ...] = (
        _python,
        _torch,
        lambda: _package("stable-baselines3", "stable-baselines3"),
        lambda: _package("sb3-contrib", "sb3-contrib"),
        _gpu,
        _crafter,
        lambda: _package("numba", "numba"),
        _gym,
        lambda: _package("sandbox", "pydantic-monty"),
        _bwrap,
        _fast_mode,
        lambda: _llm(settings, env, paths),
        lambda: _terminal(env),
        lambda: _database(paths),
        lambda: _disk(paths),
    )
    optional: tuple[Callable[[], Check], ...] = (
        small_model,
        model_packages,
        lambda: visual_encoder(paths),
        habitat,
    )
    return (
        configuration,
        *(_guarded(look) for look in looks),
        *(_guarded(look, "missing") for look in optional),
    )


def report(checks: Iterable[Check]) -> str:
    """The findings as a table, and below it what to do."""
    listed = tuple(checks)
    text = table(
        ("", "WHAT", "FOUND"),
        [(_SIGNS[check.status], check.name, check.detail) for check in listed],
    )
    fixes = [f"{check.name}: {check.fix}" for check in listed if check.fix]
    return text + ("\n\n" + "\n".join(fixes) if fixes else "")


def _guarded(look: Callable[[], Check], status: Status = "broken") -> Check:
    try:
        return look()
    except Exception as error:  # a broken package may raise anything when it is imported
        name = getattr(look, "__name__", "check").strip("_")
        return Check(name, status, f"{type(error).__name__}: {error}", _REINSTALL)


def _configuration(paths: Paths, env: Mapping[str, str]) -> tuple[Settings, Check]:
    from engine.errors import EngineError

    try:
        settings = load_settings(paths.config_file, env)
    except EngineError as error:
        return Settings(), Check("settings", "broken", error.message, error.hint)
    there = "" if paths.config_file.exists() else " (not there: the defaults are used)"
    return settings, Check("settings", "ok", f"{paths.config_file}{there}")


def _python() -> Check:
    found = ".".join(str(part) for part in sys.version_info[:3])
    return Check("python", "ok", f"{found} ({sys.executable})")


def _package(name: str, package: str) -> Check:
    try:
        return Check(name, "ok", f"{package} {version(package)}")
    except PackageNotFoundError:
        return Check(name, "broken", f"the package {package!r} is not installed", _REINSTALL)


def _torch() -> Check:
    found = _package("torch", "torch")
    if found.status != "ok":
        return found
    import torch

    if torch.cuda.is_available():
        device = f"CUDA {torch.version.cuda}, {torch.cuda.get_device_name()}"
    else:
        device = "CPU"
    return Check("torch", "ok", f"torch {torch.__version__}, device {device}")


def _gpu() -> Check:
    from engine.telemetry import DeviceSampler

    sampler = DeviceSampler()
    try:
        sample = sampler.sample()
    finally:
        sampler.close()
    if sample.is_gpu:
        memory = f", {sample.memory_total_gb:.0f} GB" if sample.memory_total_gb else ""
        return Check("gpu", "ok", f"{sample.name}{memory}")
    return Check(
        "gpu",
        "missing",
        f"no NVIDIA GPU is seen; training uses the CPU ({sample.name})",
        "Not needed. With a GPU: install its driver and a CUDA build of torch.",
    )


def _crafter() -> Check:
    from engine.worlds.registry import get_world

    found = _package("world crafter", "crafter")
    if found.status != "ok":
        return found
    world = get_world("crafter")
    return Check(
        "world crafter", "ok", f"{found.detail}, {len(world.tasks())} tasks, "
        f"{len(world.primitives)} primitive actions",
    )  # fmt: skip


def _gym() -> Check:
    try:
        found = version("gym")
    except PackageNotFoundError:
        return Check("gym", "ok", "not installed, as it must be")
    return Check(
        "gym",
        "broken",
        f"the old package gym {found} is installed; it breaks Gymnasium worlds on numpy 2",
        f"{sys.executable} -m pip uninstall gym",
    )


def _bwrap() -> Check:
    from engine.sandbox.hardening import hardening_status

    found = hardening_status()
    if found.active:
        return Check("bwrap", "ok", found.detail)
    return Check(
        "bwrap",
        "missing",
        f"{found.detail}; the sandbox works without this second wall",
        "Not needed. On Debian and Ubuntu: sudo apt install bubblewrap",
    )


def _fast_mode() -> Check:
    """Limits a process of its own as the training process would be, and asks what it got."""
    from engine.run.fast_mode import EXTRA_MEMORY, confinement_told
    from engine.sandbox.limits import Confinement

    name, fix = "fast mode", "Not needed: fast mode is off unless you allow it."
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _TRY_LIMITS],
            capture_output=True,
            text=True,
            timeout=_PROBE_SECONDS,
            check=True,
        )
        made = Confinement(**json.loads(done.stdout))
    except (OSError, ValueError, TypeError, subprocess.SubprocessError) as error:
        return Check(name, "missing", f"its limits could not be tried: {error}", fix)
    limited = made.memory_bytes is not None
    told = confinement_told(
        replace(made, memory_bytes=EXTRA_MEMORY if limited else None),
        beyond=" beyond torch's (no such limit on a GPU)",
    )
    whole = limited and made.open_files and not made.core_files and not made.new_privileges
    detail = f"off unless allowed; its process is kept to {told}"
    return Check(name, "ok", detail) if whole else Check(name, "missing", detail, fix)


def _llm(settings: Settings, env: Mapping[str, str], paths: Paths) -> Check:
    from engine.errors import ConfigError

    name = "language model"
    config = settings.run_config(folder=paths.config_file.parent).llm
    try:
        where = f"{config.model} at {config.base_url}, {_known_of(config, paths)}"
    except ConfigError as error:
        return Check(name, "missing", error.message, error.hint)
    key = env.get(config.api_key_env, "")
    if not settings.llm:
        if key:
            return Check(name, "ok", f"{where}, key in {config.api_key_env} (not tried)")
        return Check(
            name,
            "missing",
            "none is configured; the rules agents work without one",
            f"Set {config.api_key_env}, or write base_url and model under [llm] of the settings.",
        )
    answer = _reach(config.base_url, key)
    told = f"{where}, {'key in' if key else 'no key in'} {config.api_key_env}: {answer}"
    if answer.startswith("answers"):
        return Check(name, "ok", told)
    return Check(name, "missing", told, "Start the server, or correct [llm] of the settings.")


def _known_of(config: LlmConfig, paths: Paths) -> str:
    """What a model costs, and in which form its server was found to answer."""
    from engine.config import Home
    from engine.llm.modes import ModeMemory
    from engine.llm.prices import price_of

    known = price_of(config)
    told = "price unknown, only tokens are counted"
    if known is not None:
        price = known.price
        told = f"${price.prompt:g}/${price.completion:g} per million tokens by {known.source}"
    mode = ModeMemory(Home(paths.home).llm_modes).get(config.base_url, config.model)
    return told if mode is None else f"{told}, answers by {mode}"


def _reach(base_url: str, key: str) -> str:
    """`answers`, or why the server of the language model does not."""
    import urllib.error
    import urllib.request

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        request = urllib.request.Request(f"{base_url.rstrip('/')}/models", headers=headers)
        with urllib.request.urlopen(request, timeout=_CONNECT_SECONDS):
            return "answers"
    except urllib.error.HTTPError as error:
        if error.code in (401, 403):
            return f"refuses the key (HTTP {error.code})"
        return f"answers (HTTP {error.code} for its list of models)"
    except (OSError, ValueError) as error:
        return f"not reached: {getattr(error, 'reason', error)}"


def _terminal(env: Mapping[str, str]) -> Check:
    if not sys.stdout.isatty():
        return Check(
            "terminal", "missing", "the output is no terminal", "The studio itself needs one."
        )
    columns, rows = shutil.get_terminal_size()
    colours = "no colours (NO_COLOR)" if env.get("NO_COLOR") else _colours(env)
    encoding = (sys.stdout.encoding or "ascii").lower()
    told = f"{columns}x{rows}, {env.get('TERM', 'unknown')}, {colours}, {encoding}"
    if "utf" not in encoding:
        return Check("terminal", "missing", told, "Use a UTF-8 locale: export LANG=C.UTF-8")
    if columns < 80 or rows < 24:
        return Check("terminal", "missing", told, "Make it 80x24 or larger.")
    return Check("terminal", "ok", told)


def _colours(env: Mapping[str, str]) -> str:
    if env.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return "16 million colours"
    return "256 colours" if "256" in env.get("TERM", "") else "16 colours"


def _database(paths: Paths) -> Check:
    from skills_db.connection import shown
    from skills_db.database import Database
    from skills_db.errors import DatabaseError
    from skills_db.schema import SCHEMA_VERSION

    try:
        from sqlalchemy.engine import make_url

        place = shown(make_url(paths.database_url))
        if paths.database_url.startswith("sqlite") and not Path(place).exists():
            return _room_for(Path(place))
        with Database.open(paths.database_url) as database:
            database.check_writable()
    except DatabaseError as error:
        return Check("database", "broken", error.message, error.hint)
    return Check("database", "ok", f"{place}, schema {SCHEMA_VERSION}, writable")


def _room_for(file: Path) -> Check:
    folder = _existing(file.parent)
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        return Check(
            "database",
            "broken",
            f"{file} cannot be made: {folder} cannot be written",
            "Choose another place with RLGPT_STUDIO_HOME or RLGPT_STUDIO_DB.",
        )
    return Check("database", "ok", f"{file} (will be made when it is needed)")


def _existing(path: Path) -> Path:
    """The path, or the nearest folder above it that is there."""
    return next((place for place in (path, *path.parents) if place.exists()), Path("/"))


def _disk(paths: Paths) -> Check:
    free = shutil.disk_usage(_existing(paths.home)).free / 1e9
    told = f"{free:.1f} GB free for {paths.home}"
    fix = "Free some space, or choose another place with RLGPT_STUDIO_HOME."
    if free < _MIN_FREE_GB:
        return Check("disk", "broken", told, fix)
    return (
        Check("disk", "missing", told, fix) if free < _SOME_FREE_GB else Check("disk", "ok", told)
    )


def as_json(checks: Iterable[Check]) -> dict[str, Any]:
    """All findings as one JSON object."""
    listed = [check.as_json() for check in checks]
    return {"ok": all(check["status"] != "broken" for check in listed), "checks": listed}
