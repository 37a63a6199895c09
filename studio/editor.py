"""Editing a text in the person's own editor, with the studio out of the way meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

FALLBACKS = ("sensible-editor", "nano", "vi")


class EditorError(Exception):
    """The editor could not be started or ended badly; `hint` is the next step."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def command(env: Mapping[str, str], chosen: str | None = None) -> list[str]:
    """The editor's command line: the settings' own, `$VISUAL`, `$EDITOR`, or what is there.

    Raises:
        EditorError: none of them names a program.
    """
    import shutil

    for text in (chosen, env.get("VISUAL"), env.get("EDITOR"), *FALLBACKS):
        if not text or not text.strip():
            continue
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise EditorError(
                f"The editor command {text!r} cannot be read: {error}.", "Correct $EDITOR."
            ) from error
        if shutil.which(words[0], path=env.get("PATH")):
            return words
        if text not in FALLBACKS:
            raise EditorError(
                f"The editor {words[0]!r} is not installed.",
                "Set $VISUAL or $EDITOR to one that is, or edit in place with `e`.",
            )
    raise EditorError("No editor was found.", "Set $VISUAL or $EDITOR, or edit in place with `e`.")


async def edit(app: App[Any], text: str, name: str, chosen: str | None = None) -> str:
    """The text as the person left it.

    Args:
        name: file name the editor shows; its ending tells the language.
        chosen: the editor of the settings, if one is set.

    Raises:
        EditorError: the editor is missing, ended with an error, or left a file that is no text.
    """
    words = command(os.environ, chosen)
    with tempfile.TemporaryDirectory(prefix="rlgpt-studio-") as folder:
        file = Path(folder) / name
        file.write_text(text, encoding="utf-8")
        with _aside(app):
            process = await asyncio.create_subprocess_exec(*words, str(file))
            status = await process.wait()
        if status != 0:
            raise EditorError(
                f"The editor {words[0]!r} ended with status {status}.",
                "The code is as it was before.",
            )
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise EditorError(
                f"What the editor {words[0]!r} left cannot be read: {error}.",
                "The code is as it was before.",
            ) from error


@contextlib.contextmanager
def _aside(app: App[Any]) -> Iterator[None]:
    """The terminal without the studio in it.

    Nothing may repaint while the app is suspended, or Textual 8.2 waits for itself for ever: the
    metrics of a running training do repaint, so all of it is one batch.
    """
    with app.batch_update():
        try:
            with app.suspend():
                yield
        except SuspendNotSupported:  # a test, or a browser: the editor is no terminal program there
            yield
