from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from textual.app import App, ComposeResult

from skills_db.records import RunRecord, RunState
from studio.widgets.run_status import RunStatus

START = datetime(2026, 5, 3, 10, 0, tzinfo=UTC)
RUN = RunRecord(
    id="run-1",
    kind="task",
    task="collect a diamond",
    world="crafter",
    agents="llm",
    config={"llm": {"model": "gpt-5-mini"}},
    state=RunState.TRAINING,
    detail="",
    frames=41_000,
    created_at=START,
    updated_at=START + timedelta(minutes=5),
    owner=None,
    heartbeat_at=None,
    progress=None,
    result=None,
    seen_state=RunState.TRAINING,
)


class StatusApp(App[None]):
    time = START + timedelta(hours=2, minutes=13)

    def compose(self) -> ComposeResult:
        yield RunStatus(now=lambda: self.time)

    @property
    def line(self) -> str:
        return self.query_one(RunStatus).render_line(0).text


async def show(run: RunRecord | None, width: int) -> str:
    app = StatusApp()
    async with app.run_test(size=(width, 5)) as pilot:
        app.query_one(RunStatus).show(run)
        await pilot.pause()
        return app.line


async def test_everything_when_there_is_room() -> None:
    line = await show(RUN, 120)
    assert line.startswith("● training  collect a diamond")
    assert line.rstrip().endswith("crafter, LLM gpt-5-mini   41k frames   2 h 13 min")


async def test_the_less_important_goes_first() -> None:
    line = await show(RUN, 60)
    assert "gpt-5-mini" not in line
    assert line.rstrip().endswith("llm   41k frames   2 h 13 min")
    assert len(await show(RUN, 20)) == 20


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("state", [RunState.TRAINING, RunState.WAITING, RunState.INTERRUPTED])
async def test_who_is_at_work_is_said_in_any_width(width: int, state: RunState) -> None:
    busy = replace(RUN, seen_state=state, task="defeat a zombie and a skeleton", frames=999_999)
    assert "llm" in (await show(busy, width)).casefold()
    assert "rules" in await show(replace(busy, agents="rules"), width)


async def test_an_ended_run_has_lasted_until_its_last_word() -> None:
    result = {"tokens": 12_345, "cost_usd": 0.5}
    done = replace(RUN, state=RunState.FINISHED, seen_state=RunState.FINISHED, result=result)
    line = await show(done, 140)
    assert line.startswith("✔ finished")
    assert "5 min 00 s" in line
    assert line.rstrip().endswith("12.3k tokens, $0.50")


async def test_what_a_person_is_told_counts() -> None:
    assert (await show(replace(RUN, seen_state=RunState.INTERRUPTED), 100)).startswith(
        "! interrupted"
    )


async def test_no_run() -> None:
    assert (await show(None, 40)).strip() == "no run"
