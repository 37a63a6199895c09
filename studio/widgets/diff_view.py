"""What changed between two versions of code, as a unified diff one scrolls by keyboard."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from textual.content import Content

from studio.widgets.code_view import folded
from studio.widgets.paint import FAINT, MUTED
from studio.widgets.reader import Reader

CONTEXT = 3


class DiffView(Reader):
    """A diff to read, with jumps from change to change."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._changes: Sequence[int] = ()

    def show(self, before: str, after: str) -> None:
        """Show how `before` became `after`."""

        def draw(width: int) -> Content:
            text, self._changes = unified(before, after, width)
            return text

        self.show_drawn(draw)

    def jump(self, step: int) -> bool:
        """Scroll to the next (1) or the previous (-1) change; False when there is none."""
        here = self.scroll_offset.y
        ahead = [line for line in self._changes if (line > here if step > 0 else line < here)]
        if not ahead:
            return False
        self.scroll_to(y=ahead[0] if step > 0 else ahead[-1], animate=False)
        return True


def unified(before: str, after: str, width: int = 1000) -> tuple[Content, tuple[int, ...]]:
    """The diff as text folded to `width`, and the rows where its changes begin."""
    from studio.highlighting import python_lines, text_lines

    old, new = python_lines(before), python_lines(after)
    old_text, new_text = text_lines(before), text_lines(after)
    digits = len(str(max(len(old), len(new), 1)))
    rows: list[Content] = []
    changes: list[int] = []
    matcher = difflib.SequenceMatcher(None, old_text, new_text, autojunk=False)
    for group in matcher.get_grouped_opcodes(CONTEXT):
        if rows:
            rows.append(Content.styled(f"{'⋯':>{digits}}", FAINT))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                for j in range(j1, j2):
                    rows.extend(_rows(" ", f"{j + 1:>{digits}}", new[j], width))
                continue
            changes.append(len(rows))
            for i in range(i1, i2):
                rows.extend(_rows("-", f"{i + 1:>{digits}}", old[i], width))
            for j in range(j1, j2):
                rows.extend(_rows("+", f"{j + 1:>{digits}}", new[j], width))
    if not rows:
        rows.append(Content.styled("No difference.", MUTED))
    return Content("\n").join(rows), tuple(changes)


_BACKGROUNDS = {" ": "", "+": "on $success 15%", "-": "on $error 15%"}
_GUTTERS = {" ": FAINT, "+": "$text-success", "-": "$text-error"}


def _rows(mark: str, number: str, line: Content, width: int) -> Iterator[Content]:
    for row in folded(f"{number} {mark} ", _GUTTERS[mark], line, width):
        yield row.stylize_before(_BACKGROUNDS[mark]) if mark != " " else row
