"""Tones as theme colours, so that every widget paints the same feeling the same way."""

from __future__ import annotations

from collections.abc import Mapping

from textual.content import Content

from studio.words import Sign, Tone

MUTED = "dim"
"""Less important text; works in every theme and without colours."""
FAINT = "$foreground 40%"
"""Text that only helps the eye: gutters, branches, labels."""
STYLES: Mapping[Tone, str] = {
    "plain": "",
    "good": "$text-success",
    "bad": "$text-error",
    "warn": "$text-warning",
    "muted": "dim",
    "accent": "$text-accent",
}


def toned(text: str, tone: Tone, *, bold: bool = False) -> Content:
    """Plain text in the colour of a tone; never parsed as markup."""
    style = STYLES[tone]
    return Content.styled(text, f"bold {style}".strip() if bold else style)


def painted(sign: Sign, words: str | None = None, *, ascii_only: bool = False) -> Content:
    """Glyph and word of a sign; `words` replaces the word."""
    return toned(f"{sign.mark(ascii_only)} {sign.word if words is None else words}", sign.tone)


def spread(left: Content, right: Content, width: int) -> Content:
    """One line with text at both ends; the left part is cut when both do not fit."""
    room = max(0, width - right.cell_length - 1)
    if left.cell_length > room:
        left = left.truncate(room, ellipsis=True)
    return Content.assemble(left, " " * max(1, width - left.cell_length - right.cell_length), right)
