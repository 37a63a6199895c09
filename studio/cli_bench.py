"""`bench`: trains the arms, plays them in unseen worlds, and gives the one table of both halves."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from engine.errors import ConfigError
from studio.cli_output import FAILED, FINISHED, INTERRUPTED, brief, give, tell
from studio.cli_place import here

if TYPE_CHECKING:
    from engine.bench.config import BenchConfig
    from engine.bench.scheduler import JobEnded, News, Outcome, Status
    from engine.bench.store import BenchFile, BenchStore

STATUS_SECONDS = 30.0


def bench(
    world: Annotated[str, typer.Argument(metavar="WORLD", help="World to measure in.")] = (
        "crafter"
    ),
    agents: Annotated[
        Literal["rules"] | None, typer.Option(help="Who plans and writes the coded actions.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="Task in words; every achievement if not said.")
    ] = None,
    arms: Annotated[
        str | None, typer.Option(metavar="A,B", help="Of code, rl and code+rl; all if not said.")
    ] = None,
    frames: Annotated[
        int | None, typer.Option(help="Env frames of each training; 1,000,000 without --minutes.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Wall clock of each training; what comes first ends it.")
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="Training seeds; 3 if not said.")] = None,
    episodes: Annotated[
        int | None, typer.Option(help="Unseen worlds each policy plays in; 200 if not said.")
    ] = None,
    fast_mode: Annotated[
        bool, typer.Option("--fast-mode", help="Run the agents' code in the training process.")
    ] = False,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=JSON", help="Any setting of training: n_envs=16"),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Processes at a time; one per core.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Where the work is kept; else in the studio's home.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Go on there, with its own settings.")
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Do nothing; give the table of what is finished.")
    ] = False,
    length: Annotated[int | None, typer.Option(hidden=True)] = None,
    output: Annotated[
        Literal["table", "json"],
        typer.Option("--output", "-o", help="A table for people, or one JSON object."),
    ] = "table",
) -> None:
    """Measure code alone, RL alone and both together, with intervals, over unseen worlds.

    Trains every arm from every seed and plays each policy in worlds that no training has seen.
    Kill it whenever you like: the same command goes on where it was.
    """
    settings = dict(map(_assignment, changes)) if changes else None
    given: dict[str, Any] = {
        "agents": agents,
        "arms": None if arms is None else _names(arms),
        "frames": frames,
        "minutes": minutes,
        "seeds": seeds,
        "episodes": episodes,
        "fast_mode": fast_mode or None,
        "episode_length": length,
        "training": settings,
        "rl_training": settings,
    }
    if folder is not None and resume is not None and folder != resume:
        raise ConfigError("--folder and --resume name two folders.", "Give one of them.")
    config = _config(world, task, given, resume)
    where = resume or folder or _default_folder(config)
    raise typer.Exit(_bench(config, where.absolute(), jobs or _cores(), report, output))


def _bench(config: BenchConfig, folder: Path, jobs: int, report_only: bool, output: str) -> int:
    from engine.bench.arms import setup_for
    from engine.bench.report import build_report
    from engine.bench.store import BenchFile, BenchStore, refuse_other
    from engine.bench.table import render
    from engine.bench.versions import versions

    store = BenchStore(folder)
    setup = setup_for(config)
    wanted = BenchFile(config=config, versions=versions(), plan_sha256=setup.sha256)
    code, failures = FINISHED, {}
    if report_only:
        refuse_other(folder, store.read(), wanted)
    else:
        outcome = _work(store, wanted, jobs)
        failures = outcome.failures
        if outcome.stopped:
            tell("Stopped; what is finished is kept.", _resume_hint(folder))
            return INTERRUPTED
        if failures:
            count = "One job" if len(failures) == 1 else f"{len(failures)} jobs"
            tell(f"{count} failed; what is finished is kept.", _resume_hint(folder))
            code = FAILED
    found = build_report(store, wanted, setup, failures)
    give("json" if output == "json" else "text", found.model_dump(mode="json"), render(found))
    return code


def _work(store: BenchStore, wanted: BenchFile, jobs: int) -> Outcome:
    from engine.bench.jobs import all_jobs
    from engine.bench.scheduler import Scheduler

    config = wanted.config
    with store.locked(), _presses() as presses:
        begun = store.open(wanted)
        total = all_jobs(config)
        finished = sum(store.is_finished(job) for job in total)
        before = f", {finished} finished before" if begun else ""
        tell(f"Benchmark in {store.folder}: {len(total)} jobs, {jobs} at a time{before}.")
        if jobs > _cores() and config.minutes is not None:
            tell(f"Warning: {jobs} jobs share {_cores()} cores, so each minute does less.")
        return Scheduler(
            store, config, jobs, _tell_news, presses, status_seconds=STATUS_SECONDS
        ).run()


@contextmanager
def _presses() -> Iterator[Callable[[], int]]:
    """How often a person has asked to stop, by Ctrl-C or by ending the process."""
    count: list[int] = []

    def press(*_: object) -> None:
        count.append(1)
        if len(count) == 1:
            tell("Stopping at the next safe point. Ctrl-C again leaves at once.")

    names = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    before = {name: signal.getsignal(name) for name in names}
    try:
        for name in names:
            if before[name] is not signal.SIG_IGN:  # `nohup` has asked that it be ignored
                signal.signal(name, press)
        yield lambda: len(count)
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def _resume_hint(folder: Path) -> str:
    return f"Go on with it: rlgpt-studio bench --resume {folder}"


# --- settings -------------------------------------------------------------------------------


def _config(
    world: str, task: str | None, given: dict[str, Any], resume: Path | None
) -> BenchConfig:
    from pydantic import ValidationError

    from engine.bench.arms import task_name
    from engine.bench.config import DEFAULT_FRAMES, BenchConfig
    from engine.bench.store import BenchStore

    values = {name: value for name, value in given.items() if value is not None}
    if resume is not None:
        there = BenchStore(resume.absolute()).read().config.model_dump()
        values |= {
            name: {**there[name], **values.get(name, {})} for name in ("training", "rl_training")
        }
        values = {**there, **values}
        if task is not None:
            values["task"] = task_name(there["world"], task)
    else:
        values |= {"world": world, "task": task_name(world, task)}
        if "frames" not in values and "minutes" not in values:
            values["frames"] = DEFAULT_FRAMES
    try:
        return BenchConfig.model_validate(values)
    except ValidationError as error:
        found = error.errors()[0]
        where = ".".join(str(part) for part in found["loc"]) or "settings"
        shown = "" if not found["loc"] else f" ({brief(repr(found['input']), 60)})"
        raise ConfigError(
            f"`{where}` cannot be so{shown}: {found['msg']}", "See: rlgpt-studio bench --help"
        ) from error


def _names(text: str) -> tuple[str, ...]:
    from engine.bench.config import ARMS

    names = tuple(part.strip() for part in text.split(",") if part.strip())
    for name in names:
        if name not in ARMS:
            raise ConfigError(
                f"`--arms {brief(text, 60)}`: there is no arm {brief(name, 40)!r}.",
                f"The arms are {', '.join(ARMS)}.",
            )
    return tuple(arm for arm in ARMS if arm in names)


def _assignment(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ConfigError(
            f"`--set {brief(text, 60)}` says no value.", "Write it like --set n_envs=16."
        )
    try:
        return name.strip().removeprefix("training."), json.loads(value)
    except json.JSONDecodeError:
        return name.strip().removeprefix("training."), value.strip()


def _default_folder(config: BenchConfig) -> Path:
    """A folder of the studio's home for just these settings, so that the same command goes on."""
    digest = hashlib.sha256(config.model_dump_json().encode()).hexdigest()[:8]
    return here().paths.home / "bench" / f"{config.world}-{config.task}-{digest}"


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# --- progress -------------------------------------------------------------------------------


def _tell_news(news: News) -> None:
    from engine.bench.scheduler import JobBegan, JobEnded, JobGoesOn

    if isinstance(news, JobBegan):
        _say(f"begin   {news.job.title}")
    elif isinstance(news, JobGoesOn):
        _say(f"resume  {news.job.title}, from its checkpoint at {news.frames:,} frames")
    elif isinstance(news, JobEnded):
        _tell_end(news)
    else:
        _tell_status(news)


def _tell_end(news: JobEnded) -> None:
    if news.failure is None:
        _say(f"done    {news.job.title} ({_clock(news.seconds)})")
        return
    _say(f"FAILED  {news.job.title}: {brief(news.failure.message, 2_000)}", news.failure.hint)


def _tell_status(status: Status) -> None:
    for job, progress in status.running.items():
        _say(f"at work {job.title}{_progress(progress)}{_left(status.left[job])}")
    _say(f"{status.finished} of {status.total} jobs finished{_left(status.eta_seconds)}")


def _progress(progress: object) -> str:
    from engine.bench.messages import EvaluationProgress, TrainingProgress

    if isinstance(progress, EvaluationProgress):
        return f": {progress.done} episodes"
    if not isinstance(progress, TrainingProgress):
        return ""
    told = f": {progress.frames:,} frames in {_clock(progress.seconds)}"
    if progress.sps is not None:
        told += f", {progress.sps:,.0f} frames/s"
    if progress.episodic_return is not None:
        told += f", return {progress.episodic_return:.1f}"
    return told


def _left(seconds: float | None) -> str:
    return "" if seconds is None else f", about {_clock(seconds)} left"


def _clock(seconds: float) -> str:
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _say(text: str, hint: str = "") -> None:
    tell(f"{time.strftime('%H:%M:%S')}  {text}", hint)
