"""The training process of a run in fast mode: does what it is asked, inside its limits.

Started by `engine.run.training_process` as `python -m engine.run.training_worker FD WORLD DEVICE`.
It knows no database and no keys; it hears and speaks through one connection, and ends with it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import sys
import threading
import traceback
from multiprocessing.connection import Connection

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError
from engine.events import Event, LogLine
from engine.rl.control import Control
from engine.rl.policy_bundle import all_code, bound
from engine.run.fast_mode import (
    EXTRA_MEMORY,
    confine_training,
    confinement_told,
    executors_told,
    require_checked,
)
from engine.run.learner import EvaluationRequest, LocalLearner, TrainingRequest
from engine.run.training_messages import (
    ORDERS,
    Drawn,
    EpisodeOver,
    EvaluationOver,
    Failed,
    Leave,
    Line,
    Order,
    Steer,
    Told,
    TrainingOver,
)
from engine.sandbox.fast.sandbox import FastSandbox
from engine.sandbox.limits import GIB, Confinement
from engine.sandbox.pool import Sandbox
from engine.worlds.registry import get_world

_log = logging.getLogger(__name__)

ORPHANED = 9
"""Exit code when the run's process is gone."""
CONFUSED = 70
"""Exit code when it says something that cannot be understood."""

Request = TrainingRequest | EvaluationRequest


def main(fd: int, world_name: str, device: str) -> int:
    """Do what comes through the connection until there is nothing more to do."""
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    os.set_inheritable(fd, False)  # the sandbox's workers must not hold the line open
    # The run's process is told to stop and says so here. Handlers, not SIG_IGN: the programs that
    # are started from here would inherit that.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    line = Line(Connection(fd), ORDERS)
    inbox = _Inbox(line)
    threading.Thread(target=inbox.listen, name="listen", daemon=True).start()
    confined = confine_training(device)
    world = get_world(world_name)
    functions = world.queries | {world.primitive_function}
    with (
        Sandbox(world.stub(), functions) as sandbox,
        FastSandbox(sandbox, world.primitive_function) as fast,
    ):
        desk = _Desk(line, inbox, fast, confined)
        while (asked := inbox.requests.get()) is not None:
            desk.answer(*asked)
    return 0


class _Inbox:
    """What the run's process says: wishes hold at once, requests wait for their turn."""

    def __init__(self, line: Line[Order]) -> None:
        self._line = line
        self.requests: queue.Queue[tuple[Request, bytes] | None] = queue.Queue()
        self.control: Control = "go"
        self.watched = False

    def listen(self) -> None:
        """Listen until told to leave; a run's process that is gone takes this one with it."""
        try:
            while True:
                order, data = self._line.receive()
                if isinstance(order, Steer):
                    self.control, self.watched = order.control, order.watched
                elif isinstance(order, Leave):
                    self.control = "abort"
                    self.requests.put(None)
                    return
                else:
                    self.requests.put((order, data))
        except (EOFError, OSError):
            os._exit(ORPHANED)
        except BaseException:
            traceback.print_exc()
            os._exit(CONFUSED)


class _Supervisor:
    """The run's process, seen from here."""

    def __init__(self, line: Line[Order], inbox: _Inbox) -> None:
        self._line = line
        self._inbox = inbox

    def report(self, event: Event) -> None:
        self._line.send(Told.of(event))

    def control(self) -> Control:
        return self._inbox.control

    def watched(self) -> bool:
        return self._inbox.watched

    def draw(self, rgb: NDArray[np.uint8], caption: str) -> None:
        self._line.send(Drawn(caption=caption, size=rgb.shape[0]), rgb.tobytes())

    def episode_over(self, done: int, of: int) -> None:
        self._line.send(EpisodeOver(done=done, of=of))


class _Desk:
    """Does one request after another and says how each ended."""

    def __init__(
        self, line: Line[Order], inbox: _Inbox, fast: FastSandbox, confined: Confinement
    ) -> None:
        self._line = line
        self._supervisor = _Supervisor(line, inbox)
        self._fast = fast
        self._confined = confined

    def answer(self, request: Request, data: bytes) -> None:
        """Do it; what goes wrong is said too."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            try:
                self._do(request, data)
            except (BrokenPipeError, ConnectionResetError):
                raise  # nobody listens any more: `_Inbox` ends this process
            except EngineError as error:
                traceback.print_exc()
                self._line.send(Failed(message=error.message, hint=error.hint))
            except Exception as error:
                traceback.print_exc()
                self._line.send(_failed(error))

    def _do(self, request: Request, data: bytes) -> None:
        code = tuple(all_code(bound(request.actions, data)))
        require_checked(self._fast, code)
        learner = LocalLearner(self._fast)
        if isinstance(request, EvaluationRequest):
            figures = learner.evaluate(request, data, self._supervisor)
            self._line.send(EvaluationOver(evaluation=figures))
            return
        for text in executors_told(self._fast, code):
            self._supervisor.report(LogLine(level="info", text=text))
        kept_in = f"limits of the training process: {confinement_told(self._confined)}"
        self._supervisor.report(LogLine(level="info", text=kept_in))
        trained = learner.train(request, self._supervisor, data)
        over = TrainingOver(
            frames=trained.frames,
            ended=trained.ended,
            success_rate=trained.success_rate,
            spec=trained.spec,
            goals=dict(trained.goals),
            episodes=trained.episodes,
        )
        self._line.send(over, trained.weights)


def _failed(error: Exception) -> Failed:
    """An error that nobody foresaw, in words; too little memory has many."""
    text = f"{type(error).__name__}: {error}"
    # torch and numba say it in words of their own.
    if isinstance(error, MemoryError) or "allocate memory" in text or "not enough memory" in text:
        return Failed(
            message="there is not enough memory for the training",
            hint=f"In fast mode it may take {EXTRA_MEMORY / GIB:g} GiB. Go on without that limit: "
            "resume the run with `--no-fast-mode`, or start one with fewer `training.n_envs`.",
        )
    return Failed(message=text, hint="")


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), *sys.argv[2:]))
