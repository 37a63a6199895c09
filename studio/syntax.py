"""Where a text stops being Python; nothing is executed."""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """The first error of a text; line and column count from 1, 0 where unknown."""

    message: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


def syntax_problem(code: str) -> SyntaxProblem | None:
    """Why text is no Python, with the line; None when it parses."""
    try:
        ast.parse(code)
    except SyntaxError as error:
        return SyntaxProblem(error.msg, error.lineno or 0, error.offset or 0)
    except ValueError as error:
        return SyntaxProblem(str(error))
    return None
