"""A call of a language model as text: one row of the list, and its page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.content import Content

from studio.event_words import role_words
from studio.widgets.paint import FAINT, spread, toned
from studio.widgets.thinking import drawn
from studio.words import compact, moment, shorten

if TYPE_CHECKING:
    from skills_db.records import LlmCallRecord

_SUBJECT = re.compile(r"^(?:Sub-action|Subtask|Task)[: ]+`?([^`:\n]{1,60})", re.MULTILINE)
_PART = re.compile(r"^## (system|user|assistant)$", re.MULTILINE)
_WHO = 12


def subject_of(call: LlmCallRecord) -> str:
    """What the call is about, as far as its prompt says; empty where it does not."""
    found = _SUBJECT.search(call.prompt)
    return "" if found is None else found[1].strip()


def row(number: int, call: LlmCallRecord, width: int) -> Content:
    """Number, role, subject, and at the right mode, tokens, seconds, cost; an error in red."""
    left = Content.assemble(
        toned(f"{number:>3}  ", "muted"), f"{role_words(call.role):<{_WHO}}", subject_of(call)
    )
    if call.error:
        left += toned(f"  ✗ {shorten(call.error, 60)}", "bad")
    tokens = f"{compact(call.prompt_tokens)} + {compact(call.completion_tokens)} tokens"
    facts = [f"{tokens:>20}", f"{call.seconds:6.1f} s", f"${call.cost_usd:.4f}"]
    if width >= 100:
        facts.insert(0, call.mode)
    return spread(left, toned("  ".join(facts), "muted"), width)


def page(call: LlmCallRecord, width: int) -> Content:
    """Everything that was sent and answered; shown as it is, but code in colours."""
    when = "" if call.time is None else moment(call.time)
    about = ", ".join(text for text in (call.model, call.mode, when) if text)
    lines = [
        spread(Content.styled(role_words(call.role), "bold"), toned(about, "muted"), width),
    ]
    if call.error:
        lines += [*Content.styled(call.error, "$text-error").wrap(width)]
    lines += [Content(), _title("reply", width)]
    lines.append(drawn(call.reply, width) if call.reply else toned("none", "muted"))
    for name, text in _prompt_parts(call.prompt):
        lines += [Content(), _title(name, width)]
        for line in text.strip("\n").split("\n"):
            lines += [*Content(line).wrap(width)] if line.strip() else [Content()]
    return Content("\n").join(lines)


def _prompt_parts(prompt: str) -> Iterator[tuple[str, str]]:
    """The messages of a prompt by who said them; the whole where they are not marked."""
    marks = [*_PART.finditer(prompt)]
    if not marks:
        yield "prompt", prompt
        return
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        end = len(prompt) if following is None else following.start()
        yield f"prompt: {mark[1]}", prompt[mark.end() : end]


def _title(text: str, width: int) -> Content:
    return Content.assemble(
        (text, "$text-accent"), (" " + "─" * max(0, width - len(text) - 1), FAINT)
    )
