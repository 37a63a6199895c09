from __future__ import annotations

from types import ModuleType

import pytest
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll

from engine import events
from studio.widgets.bars import spark_line
from studio.widgets.metric_chart import MetricChart
from studio.widgets.training_layout import layout
from studio.widgets.training_panel import TrainingPanel
from studio.widgets.usage_table import UsageTable


class TableApp(App[None]):
    def __init__(self, plain: bool = False) -> None:
        super().__init__()
        self.ascii_only = plain

    def compose(self) -> ComposeResult:
        yield TrainingPanel()

    @property
    def panel(self) -> TrainingPanel:
        return self.query_one(TrainingPanel)

    @property
    def lines(self) -> list[str]:
        table = self.query_one(UsageTable)
        drawn = table.render_lines(table.outer_size.region)
        return [text for strip in drawn if (text := strip.text.rstrip())]

    def feed(self, made: list[events.Event]) -> None:
        for event in made:
            match event:
                case events.TrainingStarted():
                    self.panel.started(event)
                case events.TrainingMetrics():
                    self.panel.metrics(event)


def line_of(app: TableApp, name: str) -> list[str]:
    return next(line for line in app.lines if line.startswith(name)).split()


async def test_share_trend_and_change_of_each_action(make: ModuleType) -> None:
    app = TableApp()
    async with app.run_test(size=(60, 60)) as pilot:
        app.feed(make.training_events(400))
        await pilot.pause()
        assert app.lines[0].split() == ["actions", "frames", "trend", "change"]
        _, share, sign, trend, change = line_of(app, "collect_wood")
        # From 49.9 % in the first update to 10.5 % over the last ten.
        assert (share, sign, change) == ("10", "%", "-39")
        assert (trend[0], trend[-1]) == ("▇", "▂")
        assert line_of(app, "find_diamond")[-1] == "+39"
        assert line_of(app, "take_shelter")[-1] == "0"
        # 39 and 40 % in turn; the first update left 39 % to them.
        assert line_of(app, "primitives")[1:3] == ["40", "%"]
        assert not any(line.startswith("drink") for line in app.lines), "never used"
        plan = line_of(app, "decisions on plan")
        assert (plan[3:5], plan[-1]) == (["85", "%"], "-10")


@pytest.mark.parametrize("width", [30, 40, 55, 71, 80, 120])
async def test_no_line_is_wider_than_there_is_room(make: ModuleType, width: int) -> None:
    app = TableApp()
    async with app.run_test(size=(width, 50)) as pilot:
        app.feed(make.training_events(400))
        await pilot.pause()
        used = app.lines
        assert max(map(len, used)) <= width
        assert used[-1].startswith(("decisions on", "follows plan")), "nothing was wrapped"
        assert "85 %" in used[-1]
        assert any("-39" in line for line in used)


async def test_two_columns_where_there_is_room(make: ModuleType) -> None:
    app = TableApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.feed(make.training_events(400))
        await pilot.pause(0.2)
        assert app.lines[0].split() == ["actions", *["frames", "trend", "change"] * 2]
        row = line_of(app, "find_diamond")
        assert "take_shelter" in row, "down the first column, then the second"
        plan = line_of(app, "follows plan")
        assert (plan[2:4], plan[-4:]) == (["85", "%"], ["-10", "of", "the", "decisions"])


async def test_ascii_alone(make: ModuleType) -> None:
    app = TableApp(plain=True)
    async with app.run_test(size=(60, 60)) as pilot:
        app.feed(make.training_events(100))
        await pilot.pause()
        assert "\n".join(app.lines).isascii()
        assert line_of(app, "find_diamond")[3].startswith(("_", "."))
        assert line_of(app, "find_diamond")[3].endswith("#")


async def test_what_does_not_fit_shares_a_line(make: ModuleType) -> None:
    app = TableApp()
    async with app.run_test(size=(60, 60)) as pilot:
        app.feed(make.training_events(1))
        for update in range(2, 30):
            usage = {f"step_{number:02}": (40 - number) / 1000 for number in range(20)}
            app.panel.metrics(make.training_events(update)[-2].model_copy(update={"usage": usage}))
        await pilot.pause(0.3)
        assert line_of(app, "primitives")[1:3] == ["39", "%"]
        assert [line.split()[0] for line in app.lines[2:5]] == ["step_00", "step_01", "step_02"]
        # 17 steps with 61 - 4.0 - 3.9 - 3.8 % of the frames, and the three actions of before.
        assert line_of(app, "20 others")[2:4] == ["49", "%"]


async def test_a_run_of_an_older_version_has_no_table(make: ModuleType) -> None:
    app = TableApp()
    async with app.run_test(size=(120, 40)) as pilot:
        old = [
            event.model_copy(update={"usage": {}, "plan_share": None})
            if isinstance(event, events.TrainingMetrics)
            else event
            for event in make.training_events(20)
        ]
        app.feed(old)
        await pilot.pause()
        assert not app.query_one(UsageTable).display
        before = app.query(MetricChart).first().size.height
        app.feed(make.training_events(400))
        await pilot.pause(0.3)
        assert app.query_one(UsageTable).display
        assert app.query(MetricChart).first().size.height < before
        assert app.query_one(VerticalScroll).max_scroll_y == 0
        app.panel.clear()
        await pilot.pause()
        assert not app.query_one(UsageTable).display


async def test_a_resumed_run_shows_its_whole_history(make: ModuleType) -> None:
    app = TableApp()
    async with app.run_test(size=(60, 60)) as pilot:
        made = make.training_events(400)
        app.feed(made)
        await pilot.pause()
        whole = app.lines
        app.feed(made[:301])
        again = made[0].model_copy(update={"frames_done": 200 * 1024})
        app.panel.clear()
        app.feed([*made[:251], again, *made[201:]])
        await pilot.pause(0.3)
        assert app.lines == whole


def test_heights_fit_the_body_or_scroll() -> None:
    for body in range(8, 60):
        for rows in (2, 3, 6):
            for actions in (0, 2, 6):
                found = layout(body=body, rows=rows, below=9, actions=actions)
                assert found.chart >= 6
                assert found.usage == 0 or found.usage >= min(actions, 3) + 2
                used = rows * found.chart + found.usage + found.gap * (rows - 1 + bool(actions))
                assert found.scrolls or used + 9 <= body


def test_a_spark_line_goes_from_nothing_to_the_largest() -> None:
    values = [0.0, 0.5, None, 1.0]
    assert spark_line(values, "").plain == "▁▄ ▇"
    assert spark_line(values, "", ascii_only=True).plain == "_= #"
    assert spark_line([0.0, 0.0], "").plain == "▁▁"
    assert spark_line([], "").plain == ""
