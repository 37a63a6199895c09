"""The picture of the world, drawn with half blocks in whatever space there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.app import RenderResult
from textual.content import Content
from textual.strip import Strip
from textual.timer import Timer
from textual.visual import Visual
from textual.widget import Widget

from studio.widgets.charset import ascii_only, has_colour
from studio.widgets.half_blocks import block_strips, fit, half_block_strips, rows_of, scale
from studio.widgets.paint import MUTED, toned
from studio.words import shorten

if TYPE_CHECKING:
    from skills_db.records import FrameRecord

FRAMES_PER_SECOND = 8
"""More cannot be told apart in a terminal, and each redraw costs a few milliseconds."""
_EMPTY = "no picture yet"


class FrameView(Widget):
    """The newest frame, scaled to fit, with its caption below."""

    COMPONENT_CLASSES = {"frame-view--caption"}
    DEFAULT_CSS = """
    FrameView {
        height: 1fr;
        min-width: 12;
        min-height: 4;
        content-align: center middle;
        & > .frame-view--caption { color: $text-muted; }
        &:ansi > .frame-view--caption { text-style: dim; }
    }
    """

    def __init__(
        self, *, empty: str = _EMPTY, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._empty = empty
        self._frame: FrameRecord | None = None
        self._waiting: FrameRecord | None = None
        self._pause: Timer | None = None
        self._strips: list[Strip] = []
        self._drawn_for: tuple[object, ...] = ()

    @property
    def frame(self) -> FrameRecord | None:
        """What is drawn now."""
        return self._frame

    def show(self, frame: FrameRecord) -> None:
        """Draw a frame; those that come too fast are dropped, the newest one is drawn last."""
        if self._pause is not None:
            self._waiting = frame
            return
        self._draw_now(frame)
        if self.is_mounted:
            self._pause = self.set_timer(1 / FRAMES_PER_SECOND, self._go_on)

    def clear(self) -> None:
        """Back to no picture."""
        self._frame = self._waiting = None
        self.refresh()

    def render(self) -> RenderResult:
        """Text for what asks for the whole widget at once."""
        return "\n".join(strip.text for strip in self._draw())

    def render_line(self, y: int) -> Strip:
        """One line of the picture."""
        strips = self._draw()
        return strips[y] if y < len(strips) else Strip.blank(self.size.width, self.rich_style)

    def notify_style_update(self) -> None:
        """A theme change redraws what lies around the picture."""
        super().notify_style_update()
        self._drawn_for = ()

    def _draw_now(self, frame: FrameRecord) -> None:
        self._frame = frame
        self.refresh()

    def _go_on(self) -> None:
        self._pause = None
        if self._waiting is not None:
            frame, self._waiting = self._waiting, None
            self.show(frame)

    def _draw(self) -> list[Strip]:
        frame = self._frame
        key = None if frame is None else (frame.run_id, frame.seq, frame.caption)
        state = (self.size, key, has_colour(self), ascii_only(self))
        if state != self._drawn_for:
            self._strips = self._draw_strips(frame)
            self._drawn_for = state
        return self._strips

    def _draw_strips(self, frame: FrameRecord | None) -> list[Strip]:
        width, height = self.size
        if frame is None:
            return self._text_strips(toned(self._empty, "muted"))
        if not has_colour(self):
            return self._text_strips(_instead(frame))
        picture_height = max(1, height - 1)
        try:
            rows = rows_of(frame.rgb, frame.width, frame.height)
        except ValueError as error:
            return self._text_strips(Content.styled(str(error), "$text-error"))
        if ascii_only(self):
            size = fit(frame.width, frame.height, width // 2, picture_height)
            picture = block_strips(scale(rows, *size)) if min(size) else []
        else:
            size = fit(frame.width, frame.height, width, 2 * picture_height)
            picture = half_block_strips(scale(rows, *size)) if min(size) else []
        return self._placed(picture, frame.caption)

    def _placed(self, picture: list[Strip], caption: str) -> list[Strip]:
        """The picture in the middle, its caption right below it."""
        width, height = self.size
        base = self.rich_style
        left = (width - picture[0].cell_length) // 2 if picture else 0
        strips = []
        for strip in picture:
            # Half a pixel row at the bottom leaves the background of the theme below it.
            segments = [Segment(s.text, base + s.style if s.style else base) for s in strip]
            right = width - left - strip.cell_length
            strips.append(
                Strip([Segment(" " * left, base), *segments, Segment(" " * right, base)], width)
            )
        style = self.get_component_rich_style("frame-view--caption")
        text = shorten(caption, width).center(width)
        strips.append(Strip([Segment(text, style)], width))
        at_top = self.styles.content_align_vertical == "top"
        above = 0 if at_top else max(0, (height - len(strips)) // 2)
        return [*(Strip.blank(width, base) for _ in range(above)), *strips]

    def _text_strips(self, text: Content) -> list[Strip]:
        width, height = self.size
        strips = Visual.to_strips(self, text, width, None, self.visual_style, pad=True)
        centred = Strip.align(strips, self.rich_style, width, height, "center", "middle")
        return list(centred)


def _instead(frame: FrameRecord) -> Content:
    """What stands where a picture cannot: that it cannot, and what it would show."""
    return Content.assemble(
        (frame.caption or "a frame of the world", "bold"),
        "\n",
        (
            f"The picture ({frame.width} x {frame.height} pixels) needs colours; "
            "it is not drawn while NO_COLOR is set.",
            MUTED,
        ),
    )
