"""Python code in the colours of the theme. Import it late: it brings Pygments along."""

from __future__ import annotations

from textual.content import Content
from textual.highlight import HighlightTheme, TokenType, highlight


class CalmTheme(HighlightTheme):
    """Few colours: keywords, strings and numbers stand out, names stay plain.

    A Pygments token is a tuple of its names, so plain tuples find it.
    """

    STYLES: dict[TokenType, str] = {
        ("Comment",): "dim italic",
        ("Error",): "$text-error",
        ("Keyword",): "$text-accent",
        ("Keyword", "Constant"): "$text-warning",
        ("Keyword", "Namespace"): "$text-accent",
        ("Literal", "Number"): "$text-warning",
        ("Literal", "String"): "$text-success",
        ("Literal", "String", "Doc"): "$text-success italic",
        ("Name", "Function"): "bold",
        ("Name", "Class"): "bold",
        ("Operator", "Word"): "$text-accent",
    }


def python_lines(code: str) -> list[Content]:
    """Highlighted lines of Python code, one `Content` each, tabs expanded."""
    if not code:
        return []
    return highlight(code, language="python", theme=CalmTheme, tab_size=4).split(
        "\n", allow_blank=True
    )[: code.count("\n") + (not code.endswith("\n"))]
