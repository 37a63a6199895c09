"""Steering a run: pause, continue, stop and keep, resume."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from textual import work

from engine.errors import EngineError, UnknownName
from studio.run_bridge import has_process
from studio.screens.dialogs import Choice, ChoiceDialog
from studio.screens.run_screen import RunScreen
from studio.task_check import check_task

if TYPE_CHECKING:
    from skills_db.records import CommandKind, RunRecord

_LOG = logging.getLogger(__name__)
RESUMABLE = frozenset({"interrupted", "failed", "stopped"})
PAUSABLE = frozenset({"planning", "coding", "trials", "training", "evaluating", "saving"})
STOP_TEXT = (
    "Training ends after its present update, is evaluated and can be saved. Before the training, "
    "the run stops where it is and can be resumed."
)


def is_pausable(run: RunRecord | None) -> bool:
    """True while a process is at work that can stand still."""
    return run is not None and run.seen_state in PAUSABLE and has_process(run)


def is_resumable(run: RunRecord | None) -> bool:
    """True when a new process can go on with the run."""
    return run is not None and run.seen_state in RESUMABLE


def is_open(run: RunRecord | None) -> bool:
    """True when the run is not over."""
    return run is not None and not run.seen_state.is_final


class Steering(RunScreen):
    """Actions on the run itself."""

    @work(group="steer")
    async def action_pause(self) -> None:
        """Let the run stand still."""
        await self._send("pause", "Pausing: the run stands still after what it is just doing.")

    @work(group="steer")
    async def action_continue(self) -> None:
        """Let the run go on."""
        await self._send("continue", "Going on.")

    @work(group="steer")
    async def action_stop(self) -> None:
        """Stop and keep, after one question."""
        choices = (
            Choice("s", "Stop and keep", "stop", STOP_TEXT),
            Choice("b", "Back", "back", "The run goes on."),
        )
        dialog = ChoiceDialog("Stop this run?", self.model.run.task if self.model.run else "",
                              choices)  # fmt: skip
        if await self.app.push_screen_wait(dialog) == "stop":
            await self.stop_and_keep()

    async def stop_and_keep(self) -> bool:
        """Stop without a further question; True when the run was told."""
        approval = self.model.approval
        if approval is not None:
            return await self.bridge_job(
                "The run could not be stopped", lambda: self.app.bridge.decide(approval, "stop")
            )
        return await self._send("stop_and_keep", "Stopping; what was learnt is kept.")

    @work(group="steer")
    async def action_resume(self) -> None:
        """Launch a process that goes on where the last one ended."""
        run_id = self.model.run_id
        if await self.bridge_job(
            "The run could not be resumed", lambda: self.app.bridge.resume(run_id)
        ):
            self.app.toast("Resuming from the last checkpoint.")

    @work(group="cure", exclusive=True)
    async def look_for_cure(self, run: RunRecord) -> None:
        """Find out whether a failed run can be helped by going on with it.

        A task the world does not know fails as often as it is tried.
        """
        try:
            await self.app.in_thread(lambda: _check(run))
        except UnknownName:
            self.model.is_hopeless = True
            self.redraw()
            self.refresh_bindings()
        except (EngineError, ValueError) as error:
            _LOG.info("run %s cannot be checked: %s", run.id, error)

    async def _send(self, command: CommandKind, said: str) -> bool:
        run_id = self.model.run_id
        done = await self.bridge_job(
            "The run could not be told", lambda: self.app.bridge.send(run_id, command)
        )
        if done:
            self.app.toast(said)
        return done


def _check(run: RunRecord) -> None:
    """Raises `UnknownName` for a task the run's world does not have."""
    from engine.config import RunConfig

    check_task(RunConfig.model_validate(run.config))
