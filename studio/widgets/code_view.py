"""Read-only Python code with line numbers and the findings of the static check in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from studio.widgets.paint import FAINT
from studio.widgets.reader import Reader

if TYPE_CHECKING:
    from engine.agents.plan import CodeDiagnostic


class CodeView(Reader):
    """Code to read: highlighted, numbered, each finding under its line."""

    def show(self, code: str, findings: Sequence[CodeDiagnostic] = ()) -> None:
        """Show code from its first line."""
        self.show_text(numbered(code, findings))


def numbered(code: str, findings: Sequence[CodeDiagnostic] = ()) -> Content:
    """Highlighted code with a gutter; a finding stands under its line with a mark."""
    from studio.highlighting import python_lines  # Pygments waits until there is code

    by_line: dict[int, list[CodeDiagnostic]] = {}
    for finding in findings:
        by_line.setdefault(finding.line, []).append(finding)
    lines = python_lines(code)
    width = len(str(max(1, len(lines))))
    rows: list[Content] = [_finding(f, width) for f in by_line.pop(0, [])]
    for number, line in enumerate(lines, 1):
        bad = number in by_line
        gutter = Content.styled(f"{number:>{width}} ", "$text-error" if bad else FAINT)
        rows.append(Content.assemble(gutter, " ", line))
        rows.extend(_finding(finding, width) for finding in by_line.pop(number, []))
    rows.extend(_finding(f, width) for rest in by_line.values() for f in rest)
    return Content("\n").join(rows)


def _finding(finding: CodeDiagnostic, width: int) -> Content:
    indent = " " * (width + 1 + max(0, finding.column - 1) + 1)
    return Content.styled(f"{indent}▲ {finding.code}: {finding.message}", "$text-error")
