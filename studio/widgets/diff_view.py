"""What changed between two versions of code, as a unified diff one scrolls by keyboard."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from textual.content import Content

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
        text, self._changes = unified(before, after)
        self.show_text(text)

    def jump(self, step: int) -> bool:
        """Scroll to the next (1) or the previous (-1) change; False when there is none."""
        here = self.scroll_offset.y
        ahead = [line for line in self._changes if (line > here if step > 0 else line < here)]
        if not ahead:
            return False
        self.scroll_to(y=ahead[0] if step > 0 else ahead[-1], animate=False)
        return True


def unified(before: str, after: str) -> tuple[Content, tuple[int, ...]]:
    """The diff as text, and the rows where its changes begin."""
    from studio.highlighting import python_lines, text_lines

    old, new = python_lines(before), python_lines(after)
    old_text, new_text = text_lines(before), text_lines(after)
    width = len(str(max(len(old), len(new), 1)))
    rows: list[Content] = []
    changes: list[int] = []
    matcher = difflib.SequenceMatcher(None, old_text, new_text, autojunk=False)
    for group in matcher.get_grouped_opcodes(CONTEXT):
        if rows:
            rows.append(Content.styled(f"{'⋯':>{width}}", FAINT))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                rows.extend(_row(" ", j + 1, new[j], width) for j in range(j1, j2))
                continue
            changes.append(len(rows))
            rows.extend(_row("-", i + 1, old[i], width) for i in range(i1, i2))
            rows.extend(_row("+", j + 1, new[j], width) for j in range(j1, j2))
    if not rows:
        rows.append(Content.styled("No difference.", MUTED))
    return Content("\n").join(rows), tuple(changes)


_BACKGROUNDS = {" ": "", "+": "on $success 15%", "-": "on $error 15%"}
_GUTTERS = {" ": FAINT, "+": "$text-success", "-": "$text-error"}


def _row(mark: str, number: int, line: Content, width: int) -> Content:
    gutter = Content.styled(f"{number:>{width}} {mark} ", _GUTTERS[mark])
    row = Content.assemble(gutter, line)
    return row.stylize_before(_BACKGROUNDS[mark]) if mark != " " else row
