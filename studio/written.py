"""The readable part of what a language model is writing: JSON that has not ended yet, unescaped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["code", "field", "text"]
_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*"?)|(?P<mark>[{}\[\]:,])|(?P<bare>[^\s{}\[\]:,"]+)""", re.DOTALL
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_FENCE = re.compile(r"^[ \t]*```[ \t]*([\w+-]*)[ \t]*$", re.MULTILINE)
_CODE_KEYS = frozenset({"code"})


@dataclass(frozen=True, slots=True)
class Part:
    """One readable piece: code, a named value of the answer, or words around it."""

    kind: Kind
    text: str
    name: str = ""
    """Name of the value."""
    begins: bool = False
    """True for the first value of an object inside a list: a new item of the answer."""


def readable(text: str) -> tuple[Part, ...]:
    """What a person can read of a reply so far, in order; nothing of it is needed to be complete.

    A JSON answer gives its values, with `code` as code; a reply in words gives them as text and its
    fenced blocks as code.
    """
    start = _object_start(text)
    if start is None:
        return tuple(_fenced(text))
    before = text[:start].replace("```json", "").replace("```", "").strip()
    parts = [Part("text", before)] if before else []
    return (*parts, *_values(text[start:]))


def _object_start(text: str) -> int | None:
    """Where the answer's object begins; None while there is none, or it is Python in a fence."""
    found = re.search(r'\{(?=\s*(?:"|$))', text)
    if found is None:
        return None
    fence = _FENCE.search(text)
    if fence is not None and fence.start() < found.start() and fence[1] not in ("", "json"):
        return None
    return found.start()


def _values(text: str) -> Iterator[Part]:
    """The values of partial JSON, each with its key; keys of lists count for all their items."""
    key, wants_value, begins = "", False, False
    for token in _TOKEN.finditer(text):
        mark, string, bare = token["mark"], token["string"], token["bare"]
        if mark == ":":
            wants_value = True
        elif mark in ("[", "{"):
            begins = begins or mark == "{"
            wants_value = mark == "["
        elif mark in ("}", "]"):
            wants_value = False
        elif mark == ",":
            continue
        elif string is not None and not wants_value:
            ended = len(string) > 1 and string.endswith('"')
            # Strings of a list need no key of their own: one that no colon follows is a value.
            if ended and _is_key(text, token.end()):
                key = unescaped(string)
            elif ended:
                yield Part("field", unescaped(string), key)
        elif string is not None:
            value = unescaped(string)
            if key in _CODE_KEYS:
                yield Part("code", value, key)
            else:
                yield Part("field", value, key, begins)
            wants_value = begins = False
        elif bare is not None and bare != "null" and wants_value:
            yield Part("field", bare, key, begins)
            wants_value = begins = False


def _is_key(text: str, end: int) -> bool:
    rest = text[end : end + 20].lstrip()
    return rest.startswith(":") or not rest


def unescaped(string: str) -> str:
    """The text of a JSON string that may have been cut off anywhere."""
    inside = string[1:]
    if inside.endswith('"') and not _is_escaped(inside, len(inside) - 1):
        inside = inside[:-1]
    inside = re.sub(r"\\u[0-9a-fA-F]{0,3}$", "", inside)
    if inside.endswith("\\") and not _is_escaped(inside, len(inside) - 1):
        inside = inside[:-1]
    plain = _ESCAPE.sub(_character, inside)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _is_escaped(text: str, place: int) -> bool:
    """True when the character there stands behind an odd number of backslashes."""
    before = text[:place]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _character(escape: re.Match[str]) -> str:
    what = escape[1]
    if len(what) == 5:
        return chr(int(what[1:], 16))
    return _SHORT.get(what, what)


def _fenced(text: str) -> Iterator[Part]:
    """Words and fenced blocks in turn; the last block may still be open."""
    place, inside, language = 0, False, ""
    for fence in (*_FENCE.finditer(text), None):
        piece = text[place:] if fence is None else text[place : fence.start()]
        if inside and language != "json":
            yield Part("code", piece.strip("\n"))
        elif piece.strip():
            yield Part("text", piece.strip())
        if fence is not None:
            place, inside, language = fence.end(), not inside, fence[1]
