"""The training process of a run in fast mode, seen from the run: started, steered, outlived.

Approved code runs beside the learner there, so it is a process of its own: started anew (never a
fork), with an environment that holds no keys, and limited by `engine.sandbox.limits`. It lives no
longer than the run's process, and what it says is data.
"""

from __future__ import annotations

import contextlib
import logging
import math
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Collection
from types import TracebackType
from typing import Self

import numpy as np

from engine.errors import EngineError
from engine.process import how_it_ended, scrubbed
from engine.rl.evaluate import Evaluation
from engine.run.learner import EvaluationRequest, Supervisor, Trained, TrainingRequest
from engine.run.training_messages import (
    REPLIES,
    Drawn,
    EpisodeOver,
    EvaluationOver,
    Failed,
    Leave,
    Line,
    Order,
    Reply,
    Steer,
    Told,
    TrainingOver,
)

_log = logging.getLogger(__name__)

POLL_SECONDS = 0.1
"""How long a wish of the person may wait here; the training itself asks every 0.2 s."""
LEAVE_SECONDS = 10.0


class TrainingProcess:
    """A `Learner` in a process of its own, which starts with the first request.

    Args:
        world: name of the world of all requests.
        device: where networks learn, as `TrainingConfig.device`.
        next_step: what a person does when it dies; ends the hint of the error.
        secrets: variables of the environment that it must not see, besides those that look so.
    """

    def __init__(
        self, *, world: str, device: str, next_step: str, secrets: Collection[str] = ()
    ) -> None:
        self._world = world
        self._device = device
        self._next_step = next_step
        self._secrets = frozenset(secrets)
        self._process: subprocess.Popen[bytes] | None = None
        self._line: Line[Reply] | None = None
        self._steer = Steer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """Of the process; None while there is none."""
        return None if self._process is None else self._process.pid

    def train(
        self, request: TrainingRequest, supervisor: Supervisor, policies: bytes = b""
    ) -> Trained:
        """Train to the budget, or until the supervisor says stop.

        Args:
            policies: of the learned actions (`engine.rl.policy_bundle.bundle`).

        Raises:
            EngineError: it cannot be done, or the process died; its last checkpoint is kept.
        """
        over, weights = self._ask(request, policies, supervisor)
        if not isinstance(over, TrainingOver):
            raise self._misunderstood(f"a training ended with {over.what!r}")
        return Trained(
            over.frames,
            over.ended,
            over.success_rate,
            over.spec,
            weights,
            goals=over.goals,
            episodes=over.episodes,
        )

    def evaluate(
        self, request: EvaluationRequest, weights: bytes, supervisor: Supervisor
    ) -> Evaluation:
        """Figures over the episodes that were over before the supervisor said abort.

        Raises:
            EngineError: it cannot be done, or the process died.
        """
        over, _ = self._ask(request, weights, supervisor)
        if not isinstance(over, EvaluationOver):
            raise self._misunderstood(f"an evaluation ended with {over.what!r}")
        return over.evaluation

    def close(self) -> None:
        """End the process; may be called again."""
        process, line = self._process, self._line
        self._process = self._line = None
        if process is None or line is None:
            return
        with contextlib.suppress(OSError):
            line.send(Leave())
        line.close()
        try:
            process.wait(LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            _log.warning("the training process %s did not leave and is killed", process.pid)
            process.kill()
            process.wait()

    # --- one request ----------------------------------------------------------------------

    def _ask(
        self, request: TrainingRequest | EvaluationRequest, data: bytes, supervisor: Supervisor
    ) -> tuple[TrainingOver | EvaluationOver, bytes]:
        line = self._started()
        self._say(line, request, data)
        while True:
            wanted = Steer(control=supervisor.control(), watched=supervisor.watched())
            if wanted != self._steer:
                self._steer = wanted
                self._say(line, wanted)
            heard = self._hear(line)
            if heard is None:
                continue
            reply, data = heard
            if isinstance(reply, TrainingOver | EvaluationOver):
                return reply, data
            self._pass_on(reply, data, supervisor)

    def _say(self, line: Line[Reply], order: Order, data: bytes = b"") -> None:
        try:
            line.send(order, data)
        except OSError as error:
            raise self._died() from error

    def _hear(self, line: Line[Reply]) -> tuple[Reply, bytes] | None:
        """What it says within the next moment."""
        try:
            return line.receive() if line.waits(POLL_SECONDS) else None
        except (EOFError, OSError) as error:
            raise self._died() from error
        except ValueError as error:
            raise self._misunderstood(str(error)) from error

    def _pass_on(self, reply: Reply, data: bytes, supervisor: Supervisor) -> None:
        if isinstance(reply, Told):
            supervisor.report(reply.event)
        elif isinstance(reply, Drawn):
            shape = (reply.size, reply.size, 3)
            if len(data) != math.prod(shape):
                raise self._misunderstood(f"a frame of {len(data)} bytes")
            supervisor.draw(np.frombuffer(data, np.uint8).reshape(shape), reply.caption)
        elif isinstance(reply, EpisodeOver):
            supervisor.episode_over(reply.done, reply.of)
        elif isinstance(reply, Failed):
            raise EngineError(reply.message, reply.hint or self._next_step)

    # --- its life -------------------------------------------------------------------------

    def _started(self) -> Line[Reply]:
        if self._line is not None:
            return self._line
        here, there = multiprocessing.Pipe()
        environment = scrubbed(os.environ, self._secrets)
        environment.setdefault("OMP_NUM_THREADS", "1")
        try:
            self._process = subprocess.Popen(
                # -P: not where the person stands, where there may be another `engine`.
                [sys.executable, "-P", "-m", "engine.run.training_worker",
                 str(there.fileno()), self._world, self._device],
                stdin=subprocess.DEVNULL,
                pass_fds=[there.fileno()],
                env=environment,
            )  # fmt: skip
        except OSError as error:
            here.close()
            raise EngineError(
                f"the training process could not be started: {error}", self._next_step
            ) from error
        finally:
            there.close()
        self._steer = Steer()
        self._line = Line(here, REPLIES)
        return self._line

    def _died(self) -> EngineError:
        """It is gone: say how, and let the next request start another one."""
        process, line = self._process, self._line
        self._process = self._line = None
        assert process is not None
        assert line is not None
        line.close()
        try:
            code = process.wait(LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        return EngineError(f"the training process ended {how_it_ended(code)}", self._next_step)

    def _misunderstood(self, what: str) -> EngineError:
        self.close()
        return EngineError(
            f"the training process says what cannot be understood: {what:.300}", self._next_step
        )
