"""Dialogs: a choice, a comment, an error. Each fits into 24 rows and backs out on esc."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static, TextArea
from textual.widgets.option_list import Option

from studio import keymap
from studio.screens.base import StudioModal
from studio.widgets.key_bar import KeyBar
from studio.widgets.paint import MUTED


@dataclass(frozen=True, slots=True)
class Choice:
    """One named outcome of a dialog, with the letter that picks it."""

    key: str
    words: str
    value: str
    help: str = ""


class ChoiceList(OptionList):
    """The outcomes, one a line; letters pick directly, j/k and enter as in every list."""

    BINDINGS = keymap.bindings("list")

    def __init__(self, choices: Sequence[Choice]) -> None:
        super().__init__(*(Option(_line(choice), id=choice.value) for choice in choices))
        self.can_focus = True


class ChoiceDialog(StudioModal[str | None]):
    """Asks for one of a few outcomes; None when the person backs out."""

    BINDINGS = keymap.bindings("dialog", only=frozenset({"dialog.back"}))

    def __init__(self, title: str, text: str | Content, choices: Sequence[Choice]) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._choices = tuple(choices)

    def compose(self) -> ComposeResult:
        """Title, text, choices."""
        with Vertical(classes="dialog") as box:
            box.border_title = Content(self._title)
            with VerticalScroll(classes="dialog-text", can_focus=False):
                yield Static(self._text, markup=False)
            yield ChoiceList(self._choices)
        yield KeyBar()

    def on_mount(self) -> None:
        """The keyboard is where the choices are."""
        self.query_one(ChoiceList).focus()

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)

    def on_key(self, event: events.Key) -> None:
        """A choice's own letter picks it."""
        for choice in self._choices:
            if event.key == choice.key or event.character == choice.key:
                event.stop()
                self.dismiss(choice.value)
                return

    def action_back(self) -> None:
        """Nothing was chosen."""
        self.dismiss(None)


class ErrorDialog(ChoiceDialog):
    """What failed, why, and the next step."""

    def __init__(self, title: str, cause: str, hint: str) -> None:
        text = Content(cause)
        if hint:
            text = Content.assemble(cause, "\n\n", ("Next  ", "$text-accent"), hint)
        super().__init__(title, text, (Choice("o", "Ok", "ok"),))
        self.add_class("-error")


class CommentArea(TextArea):
    """Several lines of text; enter sends, a pasted text keeps its lines."""

    class Sent(Message):
        """The person is done with the comment."""

    def on_key(self, event: events.Key) -> None:
        """Enter sends instead of breaking the line."""
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.post_message(self.Sent())


class CommentDialog(StudioModal[str | None]):
    """Asks for words to an agent; None when the person backs out, maybe empty when not."""

    BINDINGS = keymap.bindings("dialog")

    def __init__(self, title: str, text: str, placeholder: str = "") -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._placeholder = placeholder

    def compose(self) -> ComposeResult:
        """Title, explanation, text area."""
        with Vertical(classes="dialog") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("enter send · esc back")
            yield Static(self._text, markup=False, classes="dialog-text")
            yield CommentArea(placeholder=self._placeholder, compact=True)
        yield KeyBar()

    def on_mount(self) -> None:
        """Typing begins at once."""
        self.query_one(CommentArea).focus()

    @on(CommentArea.Sent)
    def action_accept(self) -> None:
        """Send the comment."""
        self.dismiss(self.query_one(CommentArea).text.strip())

    def action_back(self) -> None:
        """Nothing is sent."""
        self.dismiss(None)


def _line(choice: Choice) -> Content:
    key = Content.styled(f" {choice.key} ", "bold $text-accent")
    if not choice.help:
        return Content.assemble(key, " ", choice.words)
    return Content.assemble(key, " ", (choice.words, "bold"), "\n    ", (choice.help, MUTED))
