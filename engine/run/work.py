"""The run's process: claim the run, go through its phases, leave a final state behind."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.config import Home, RunConfig
from engine.errors import BudgetSpent, EngineError
from engine.events import Resumed, RunFailed, RunFinished
from engine.process import LOG_NAME, Heartbeat, owner
from engine.run.history import last_payload
from engine.run.learner import Learner, LocalLearner
from engine.run.learning import evaluate_policies, train
from engine.run.play import play
from engine.run.progress import Phase, Progress
from engine.run.result import result
from engine.run.saving import save_skills
from engine.run.session import FrameCount, RunStopped, RunWaits, Session
from engine.run.setup import agents_and_context
from engine.run.stop import StopWish
from engine.run.training_process import TrainingProcess
from engine.run.two_loop import plan_and_code
from engine.sandbox.pool import Sandbox
from engine.worlds.registry import get_world
from skills_db.database import Database
from skills_db.errors import DatabaseError
from skills_db.records import RunRecord, RunState

log = logging.getLogger(__name__)

FINISHED, FAILED, WAITING, INTERRUPTED = 0, 3, 4, 130

_STEPS: Mapping[Phase, Callable[[Session], None]] = {
    "plan": plan_and_code,
    "code": plan_and_code,
    "train": train,
    "evaluate": evaluate_policies,
    "save": save_skills,
}
"""What is done in each phase; it ends in another one, and a training may lead back to the plan."""


def work(run_id: str, db_url: str, home: Path) -> int:
    """Work on one run until it is over, waits for a person, or fails.

    Returns:
        Exit code: 0 finished, 3 failed, 4 waiting for an approval, 130 stopped.

    Raises:
        RunIsAlive: another process works on it.
        DatabaseError: the database cannot be opened.
    """
    database = Database.open(db_url)
    try:
        me = owner()
        run = database.journal.claim(run_id, me)
        stop = StopWish(database.file)
        stop.obey_signals()
        count = FrameCount(run.frames)
        try:
            with Heartbeat(db_url, run.id, me.token, frames=lambda: count.frames):
                return _work(run, database, Home(home), stop, count)
        finally:
            # Only once the heart has stopped: it would take a released run for a stolen one.
            database.journal.release(run.id, me.token)
    finally:
        database.close()


def _work(run: RunRecord, database: Database, home: Home, stop: StopWish, count: FrameCount) -> int:
    journal = database.journal
    try:
        if run.kind == "play":
            play(run, database, stop.is_set)
            return FINISHED
        config = RunConfig.model_validate(run.config)
        world = get_world(config.world)
        progress = Progress.model_validate(run.progress) if run.progress else Progress()
        with (
            Sandbox(world.stub(), world.queries | {world.primitive_function}) as sandbox,
            _learner(run.id, config, home, sandbox) as learner,
        ):
            session = Session(
                run.id,
                config,
                database,
                home,
                world,
                sandbox,
                learner,
                progress=progress,
                stop_signal=stop.is_set,
                count=count,
            )
            with _told_to_the_end(session):
                code = _phases(session, resumed=run.progress is not None)
            stop.require_database()
            return code
    except (EngineError, DatabaseError) as error:
        log.exception("run %s failed", run.id)
        _fail(database, run.id, error.message, error.hint)
    except Exception as error:  # the process's last line of defence: leave a readable state
        log.exception("run %s failed", run.id)
        message = f"{type(error).__name__}: {error}"
        hint = f"Details are in {str(home.run_folder(run.id) / 'process.log')!r}."
        _fail(database, run.id, message, f"{hint} Then: rlgpt-studio resume {run.id}")
    return FAILED if journal.run(run.id).state is RunState.FAILED else FINISHED


@contextmanager
def _told_to_the_end(session: Session) -> Iterator[None]:
    """What led to a failure is written before the failure."""
    try:
        yield
    except Exception:
        with suppress(DatabaseError):
            session.flush()
        raise


@contextmanager
def _learner(run_id: str, config: RunConfig, home: Home, sandbox: Sandbox) -> Iterator[Learner]:
    """Who trains and evaluates: this process, or in fast mode one of its own."""
    if not config.fast_mode:
        yield LocalLearner(sandbox)
        return
    log_file = str(home.run_folder(run_id) / LOG_NAME)
    with TrainingProcess(
        world=config.world,
        device=config.training.device,
        next_step=f"Go on from its last checkpoint: rlgpt-studio resume {run_id}. "
        f"Details are in {log_file!r}.",
        secrets={config.llm.api_key_env},
    ) as process:
        yield process


def _phases(session: Session, *, resumed: bool) -> int:
    try:
        if resumed:
            _tell_resumed(session)
        steps = _prepared(session)
        while (do := steps.get(session.progress.phase)) is not None:
            do(session)
    except RunStopped:
        return _end(session, RunState.STOPPED, INTERRUPTED)
    except RunWaits:
        session.save(asked=session.progress.asked)
        return WAITING
    except BudgetSpent as error:
        session.log(f"{error.message} {error.hint}", "warning")
        return _end(session, RunState.STOPPED, INTERRUPTED)
    return _end(session, RunState.FINISHED, FINISHED)


def _prepared(session: Session) -> Mapping[Phase, Callable[[Session], None]]:
    """What is done in each phase of this run; options have agents, other policies need none."""
    if session.config.policy is None:
        agents_and_context(session)
        return _STEPS
    from engine.llarp.phases import steps

    return steps()


def _tell_resumed(session: Session) -> None:
    journal, run_id = session.journal, session.run_id
    saved = last_payload(journal, run_id, "checkpoint") or {}
    kept = int(saved.get("frames", 0)) if Path(str(saved.get("file", ""))).is_file() else 0
    seen = int((last_payload(journal, run_id, "metrics") or {}).get("frames", 0))
    phase = session.progress.phase
    if phase == "train" and seen > kept:
        lost = f"{seen - kept} env frames of training since the last checkpoint are done again"
    elif phase == "train":
        lost = "nothing"
    else:
        lost = f"the step of phase `{phase}` that was under way is done again"
    session.emit(Resumed(phase=phase, frames=kept if phase == "train" else 0, lost=lost))


def _end(session: Session, state: RunState, code: int) -> int:
    session.save()
    outcome = result(session, state)
    if state is RunState.FINISHED:
        session.emit(RunFinished(result=outcome))
    detail = "" if state is RunState.FINISHED else f"in phase {session.progress.phase}"
    session.enter(state, detail, outcome)
    return code


def _fail(database: Database, run_id: str, message: str, hint: str) -> None:
    event = RunFailed(message=message, hint=hint)
    try:
        database.journal.append(run_id, [(event.KIND, event.model_dump(mode="json"))])
        database.journal.set_state(run_id, RunState.FAILED, message)
    except DatabaseError:
        log.exception("the failure of run %s could not be recorded", run_id)
