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


def text_lines(code: str) -> list[str]:
    """Lines as an editor counts them: only a line feed ends one, a last empty one is none."""
    lines = code.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def visible(line: str) -> str:
    """A line with every character that would not be seen, or would turn others round, spelled out.

    Who approves code must see all of it (CVE-2021-42574: bidirectional controls in source text).
    """
    line = line.expandtabs(4)
    if line.isprintable():
        return line
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)


def python_lines(code: str) -> list[Content]:
    """Highlighted lines of Python code, one `Content` for each of `text_lines`."""
    lines = [visible(line) for line in text_lines(code)]
    if not lines:
        return []
    coloured = highlight("\n".join(lines), language="python", theme=CalmTheme)
    drawn = coloured.split("\n", allow_blank=True)[: len(lines)]
    # A lexer that sees other line ends than we do must not move the line numbers.
    return drawn if len(drawn) == len(lines) else [Content(line) for line in lines]
