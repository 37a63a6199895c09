from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.app import App, ComposeResult

from skills_db.records import FrameRecord
from studio.widgets.frame_view import FrameView

MakeFrame = Callable[..., FrameRecord]


class FrameApp(App[None]):
    ascii_only = False

    def compose(self) -> ComposeResult:
        yield FrameView()

    @property
    def view(self) -> FrameView:
        return self.query_one(FrameView)

    @property
    def text(self) -> str:
        return "\n".join(self.view.render_line(y).text for y in range(self.view.size.height))


async def test_picture_and_caption(make_frame: MakeFrame) -> None:
    app = FrameApp()
    async with app.run_test(size=(80, 40)):
        assert "no picture yet" in app.text
        app.view.show(make_frame())
        assert app.text.count("▀" * 63) == 32
        assert "collect_wood · seed 3 · frame 12" in app.text


async def test_ascii_draws_without_half_blocks(make_frame: MakeFrame) -> None:
    app = FrameApp()
    app.ascii_only = True
    async with app.run_test(size=(80, 40)):
        app.view.show(make_frame(caption="frame 1"))
        backgrounds = {
            segment.style.bgcolor
            for y in range(app.view.size.height)
            for segment in app.view.render_line(y)
            if segment.style
        }
        assert app.text.isascii()
        assert len(backgrounds) > 10


async def test_no_color_says_what_cannot_be_shown(
    make_frame: MakeFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = FrameApp()
    async with app.run_test(size=(80, 20)):
        app.view.show(make_frame())
        assert "▀" not in app.text
        assert "collect_wood · seed 3 · frame 12" in app.text
        assert "NO_COLOR" in app.text


async def test_frames_that_come_too_fast_are_dropped_but_not_the_last(
    make_frame: MakeFrame,
) -> None:
    app = FrameApp()
    async with app.run_test(size=(80, 20)) as pilot:
        for seq in range(1, 20):
            app.view.show(make_frame(seq))
        assert app.view.frame is not None
        assert app.view.frame.seq == 1
        while app.view.frame.seq == 1:
            await pilot.pause(0.02)
        assert app.view.frame.seq == 19


@pytest.mark.parametrize("size", [(12, 4), (20, 5), (200, 60)])
async def test_any_size_is_drawn(make_frame: MakeFrame, size: tuple[int, int]) -> None:
    app = FrameApp()
    async with app.run_test(size=size):
        app.view.show(make_frame())
        assert all(len(line) == size[0] for line in app.text.splitlines())


async def test_a_broken_picture_is_said_not_raised() -> None:
    app = FrameApp()
    async with app.run_test(size=(80, 20)):
        app.view.show(FrameRecord("run1", 1, 8, 8, b"short", "x"))
        assert "needs 192 bytes, got 5" in app.text
