"""Read-only Python code with line numbers and the findings of the static check in place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from studio.widgets.paint import FAINT
from studio.widgets.reader import Reader

if TYPE_CHECKING:
    from engine.agents.plan import CodeDiagnostic


class CodeView(Reader):
    """Code to read: highlighted, numbered, each finding under its line, long lines folded."""

    def show(self, code: str, findings: Sequence[CodeDiagnostic] = ()) -> None:
        """Show code from its first line."""
        self.show_drawn(lambda width: numbered(code, findings, width))


def numbered(code: str, findings: Sequence[CodeDiagnostic] = (), width: int = 1000) -> Content:
    """Highlighted code with a gutter, folded to `width`; a finding stands under its line."""
    from studio.highlighting import python_lines  # Pygments waits until there is code

    by_line: dict[int, list[CodeDiagnostic]] = {}
    for finding in findings:
        by_line.setdefault(finding.line, []).append(finding)
    lines = python_lines(code)
    digits = len(str(max(1, len(lines))))
    rows = [row for f in by_line.pop(0, []) for row in _finding(f, digits, width)]
    for number, line in enumerate(lines, 1):
        style = "$text-error" if number in by_line else FAINT
        rows.extend(folded(f"{number:>{digits}}  ", style, line, width))
        for finding in by_line.pop(number, []):
            rows.extend(_finding(finding, digits, width))
    for finding in (finding for rest in by_line.values() for finding in rest):
        rows.extend(_finding(finding, digits, width))
    return Content("\n").join(rows)


def folded(gutter: str, style: str, line: Content, width: int) -> Iterator[Content]:
    """A line beside its gutter, in as many rows as it needs; nothing of it is cut away."""
    room = max(8, width - len(gutter))
    parts = line.fold(room) if line.cell_length > room else [line]
    for index, part in enumerate(parts):
        yield Content.assemble((gutter if index == 0 else " " * len(gutter), style), part)


def _finding(finding: CodeDiagnostic, digits: int, width: int) -> Iterator[Content]:
    """Under the place it is about; further left when it would not fit there."""
    text = Content(f"▲ {finding.code}: {finding.message}")
    indent = digits + 2 + max(0, finding.column - 1)
    if indent + text.cell_length > width:
        indent = digits + 2
    for line in text.wrap(max(8, width - indent)):
        yield Content.styled(" " * indent + line.plain, "$text-error")
