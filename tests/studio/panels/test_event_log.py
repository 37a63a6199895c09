from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Input

from engine import events
from skills_db.records import EventRecord
from studio.widgets.event_log import EventLog

START = datetime(2026, 5, 3, 10, 0, tzinfo=UTC)


def records(made: Sequence[events.Event], first: int = 1, **step: float) -> list[EventRecord]:
    return [
        EventRecord(
            "run1", first + i, START + i * timedelta(**(step or {"seconds": 1})), *events.encode(e)
        )
        for i, e in enumerate(made)
    ]


def lines(count: int, word: str = "line") -> list[events.Event]:
    return [events.LogLine(level="info", text=f"{word} {i}") for i in range(count)]


def metrics(frames: int) -> events.TrainingMetrics:
    return events.TrainingMetrics(
        frames=frames,
        frames_total=100_000,
        success_rate=0.5,
        episodic_return=1.0,
        episodic_length=100.0,
        sps=1000.0,
        entropy=1.0,
        approx_kl=0.01,
        clipfrac=0.1,
        explained_variance=0.5,
        policy_loss=0.0,
        value_loss=0.0,
        decisions=100,
        coded_share=0.2,
        eta_seconds=10.0,
    )


class LogApp(App[None]):
    def __init__(self, max_lines: int = 2000) -> None:
        super().__init__()
        self._max = max_lines

    def compose(self) -> ComposeResult:
        yield EventLog(max_lines=self._max)

    @property
    def log_widget(self) -> EventLog:
        return self.query_one(EventLog)

    @property
    def visible(self) -> list[str]:
        shown = self.log_widget.lines
        return [shown.render_line(y).text.rstrip() for y in range(shown.size.height)]


@pytest.fixture(autouse=True)
def _utc(utc: None) -> None:
    """Times in the log are local times."""


async def test_time_and_words() -> None:
    app = LogApp()
    async with app.run_test() as pilot:
        app.log_widget.add(records([events.TokensUsed(tokens=7, cost_usd=0.5)]))
        await pilot.pause()
        assert app.visible[0] == "10:00:00  7 tokens, $0.50 so far"


async def test_the_newest_line_is_in_view_until_one_scrolls_up() -> None:
    app = LogApp()
    async with app.run_test(size=(80, 10)) as pilot:
        app.log_widget.add(records(lines(50)))
        await pilot.pause()
        assert app.visible[-1].endswith("line 49")
        app.log_widget.lines.focus()
        await pilot.press("k", "k")
        before = app.visible
        assert before[-1].endswith("line 47")
        app.log_widget.add(records(lines(5, "later")))
        await pilot.pause()
        assert app.visible == before
        assert app.log_widget.lines.unseen == 5
        assert "5 new lines below" in str(app.log_widget.border_subtitle)
        await pilot.press("G")
        assert app.visible[-1].endswith("later 4")
        assert app.log_widget.lines.unseen == 0
        app.log_widget.add(records(lines(1, "last")))
        await pilot.pause()
        assert app.visible[-1].endswith("last 0")


async def test_lines_are_bounded_and_the_reader_keeps_the_place() -> None:
    app = LogApp(max_lines=30)
    async with app.run_test(size=(80, 10)) as pilot:
        app.log_widget.add(records(lines(30)))
        app.log_widget.lines.focus()
        await pilot.pause()
        await pilot.press("k", "k", "k")
        before = app.visible
        app.log_widget.add(records(lines(8, "later")))
        await pilot.pause()
        assert len(app.log_widget.lines.entries) == 30
        assert app.visible == before


async def test_filter_by_slash_and_back_by_escape() -> None:
    app = LogApp()
    async with app.run_test(size=(80, 12)) as pilot:
        app.log_widget.add(records([*lines(3, "wood"), *lines(3, "Stone")]))
        app.log_widget.lines.focus()
        await pilot.press("slash", *"stone")
        await pilot.pause()
        assert [line[10:] for line in app.visible if line] == ["Stone 0", "Stone 1", "Stone 2"]
        assert "3 of 6 lines" in str(app.log_widget.border_subtitle)
        app.log_widget.add(records(lines(1, "wood")))
        app.log_widget.add(records(lines(1, "new stone")))
        await pilot.press("enter")
        assert [line[10:] for line in app.visible if line][-1] == "new stone 0"
        assert not app.query_one(Input).has_focus
        await pilot.press("escape")
        await pilot.pause()
        assert len([line for line in app.visible if line]) == 8


async def test_figures_that_come_all_the_time_keep_one_line() -> None:
    app = LogApp()
    async with app.run_test() as pilot:
        app.log_widget.add(records([*lines(1), metrics(1000), metrics(2000)]))
        app.log_widget.add(records([metrics(3000)]))
        await pilot.pause()
        assert len(app.log_widget.lines.entries) == 2
        assert "frame 3,000 of 100,000" in app.visible[1]
        app.log_widget.add(records([*lines(1), metrics(4000)]))
        assert len(app.log_widget.lines.entries) == 4


async def test_long_words_wrap_under_themselves() -> None:
    app = LogApp()
    async with app.run_test(size=(40, 12)) as pilot:
        text = "a long sentence that does not fit into one line of forty cells"
        app.log_widget.add(records([events.AgentSaid(role="critic", author="rules", text=text)]))
        await pilot.pause()
        assert app.visible[0].startswith("10:00:00  critic: a long")
        assert app.visible[1].startswith(" " * 10)
        await pilot.resize_terminal(120, 12)
        await pilot.pause()
        assert app.visible[0].endswith(text)


async def test_text_is_never_markup() -> None:
    app = LogApp()
    async with app.run_test() as pilot:
        text = "for k in d[/a]: [bold]x[/bold]"
        app.log_widget.add(records([events.LogLine(level="info", text=text)]))
        await pilot.pause()
        assert app.visible[0].endswith(text)


async def test_a_new_day_is_said() -> None:
    app = LogApp()
    async with app.run_test() as pilot:
        app.log_widget.add(records(lines(2), hours=20))
        await pilot.pause()
        assert app.visible[1] == "Monday, 4 May 2026"
        assert app.visible[2].startswith("06:00:00")


async def test_episodes_of_an_evaluation_keep_one_line() -> None:
    def episodes(policy: str) -> list[events.Event]:
        details = [policy, *(f"{policy}: episode {i} of 9" for i in range(1, 10))]
        return [events.StateChanged(state="evaluating", detail=detail) for detail in details]

    app = LogApp()
    async with app.run_test() as pilot:
        for event in [*episodes("code_only"), *episodes("trained")]:
            app.log_widget.add(records([event]))
        await pilot.pause()
        assert [line[10:] for line in app.visible if line] == [
            "state: evaluating (code only: episode 9 of 9)",
            "state: evaluating (trained: episode 9 of 9)",
        ]
