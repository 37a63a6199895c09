from __future__ import annotations

import math

import pytest
from textual.app import App, ComposeResult

from studio.widgets.metric_chart import MetricChart


class ChartApp(App[None]):
    CSS = "MetricChart { width: 40; height: 10; }"

    def __init__(self, ascii_only: bool = False) -> None:
        super().__init__()
        self.ascii_only = ascii_only

    def compose(self) -> ComposeResult:
        yield MetricChart("success rate", y_low=0, y_high=1)

    @property
    def chart(self) -> MetricChart:
        return self.query_one(MetricChart)

    @property
    def lines(self) -> list[str]:
        return [self.chart.render_line(y).text for y in range(self.chart.size.height)]


async def test_title_value_labels_and_axis() -> None:
    app = ChartApp()
    async with app.run_test():
        for step in range(11):
            app.chart.add(step * 1000, step / 10)
        lines = app.lines
        assert lines[0].startswith("success rate")
        assert lines[0].endswith(" 1")
        assert lines[1].startswith("     1┤")
        assert lines[8].startswith("     0┤")
        assert lines[9].startswith("      └0 ")
        assert lines[9].endswith(" 10k frames")
        assert all(len(line) == 40 for line in lines)
        assert any(0x2800 < ord(letter) < 0x2900 for letter in "".join(lines))


async def test_ascii_has_only_ascii() -> None:
    app = ChartApp(ascii_only=True)
    async with app.run_test():
        for step in range(500):
            app.chart.add(step * 1000, 0.5 + 0.4 * math.sin(step / 20))
        text = "\n".join(app.lines)
        assert text.isascii()
        assert "|" in text


async def test_no_figures_yet() -> None:
    app = ChartApp()
    async with app.run_test():
        assert app.lines[0].endswith(" -")
        assert any("no figures yet" in line for line in app.lines)
        app.chart.add(0, None)
        assert any("no figures yet" in line for line in app.lines)


@pytest.mark.parametrize("size", [(1, 1), (5, 3), (20, 5), (16, 2), (200, 60)])
async def test_any_size_is_drawn(size: tuple[int, int]) -> None:
    app = ChartApp()
    async with app.run_test(size=(200, 60)) as pilot:
        app.chart.styles.min_width = app.chart.styles.min_height = 1
        app.chart.styles.width, app.chart.styles.height = size
        app.chart.add(0, 0.1)
        app.chart.add(5000, 0.9)
        await pilot.pause()
        assert app.chart.size == size
        assert all(len(line) == size[0] for line in app.lines)


async def test_many_points_show_the_mean_on_the_band() -> None:
    app = ChartApp()
    async with app.run_test():
        for step in range(2000):
            app.chart.add(step, step % 2)
        styles = {
            segment.style.color
            for y in range(1, 9)
            for segment in app.chart.render_line(y)
            if segment.style and any(0x2800 < ord(letter) < 0x2900 for letter in segment.text)
        }
        assert len(styles) == 2


async def test_a_theme_change_redraws() -> None:
    app = ChartApp()
    async with app.run_test() as pilot:
        app.chart.add(0, 0.1)
        app.chart.add(5000, 0.9)
        before = app.chart.render_line(4)
        app.theme = "textual-light"
        await pilot.pause()
        assert app.chart.render_line(4) != before
