"""Iterations side by side: one column each, the same sub-action in the same rows of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from studio.widgets.paint import FAINT, MUTED, toned
from studio.widgets.plan_rows import badge
from studio.words import approver_words, author_words, compact, percent, plural

if TYPE_CHECKING:
    from studio.iterations import Iteration, Iterations, Piece

WIDE = 110
"""From this width on three stand side by side."""
NARROW = 50
"""Below this width one stands alone."""
MOST_LINES = 6
"""Lines of a critique that are shown; the log has all of it."""
_GAP = " │ "

Cell = list[Content]


def fitting(width: int) -> int:
    """How many columns fit."""
    return 3 if width >= WIDE else 2 if width >= NARROW else 1


def columns(
    iterations: Iterations, first: int, width: int, *, only_changes: bool = False
) -> Content:
    """The iterations from `first` on, as many as fit, in one text.

    Args:
        only_changes: leave out what is the same in all that are shown.
    """
    shown = range(first, min(first + fitting(width), len(iterations.all)))
    count = max(1, len(shown))
    room = (width - (count - 1) * len(_GAP)) // count
    lines = list(_side_by_side([_head(iterations.all[i], room) for i in shown], room))
    dropped = 0
    for subtask, names in _order([iterations.all[i] for i in shown]):
        rows: list[list[Cell]] = []
        for name in names:
            if only_changes and not any(_differs(iterations, i, name) for i in shown[1:]):
                dropped += 1
                continue
            rows.append([_cell(iterations, i, name, room) for i in shown])
        if rows:
            lines += [Content(), Content.styled(subtask, "bold")]
            for row in rows:
                lines += _side_by_side(row, room)
    if dropped:
        lines += [Content(), toned(f"{plural(dropped, 'sub-action')} the same in all", "muted")]
    lines += [Content(), Content.styled("what came of it", "bold")]
    lines += _side_by_side([_outcome(iterations.all[i], room) for i in shown], room)
    return Content("\n").join(lines)


def _side_by_side(cells: Sequence[Cell], room: int) -> Iterator[Content]:
    for number in range(max(len(cell) for cell in cells)):
        parts: list[Content] = []
        for place, cell in enumerate(cells):
            line = cell[number] if number < len(cell) else Content()
            if place:
                parts.append(Content.styled(_GAP, FAINT))
            parts.append(_exactly(line, room if place < len(cells) - 1 else 0))
        yield Content("").join(parts)


def _exactly(line: Content, room: int) -> Content:
    return line.pad_right(max(0, room - line.cell_length)) if room else line


def _order(shown: Sequence[Iteration]) -> list[tuple[str, list[str]]]:
    """Subtasks with the names of their sub-actions; the newest plan's order, then what is gone."""
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    for one in reversed(shown):
        for name, piece in one.pieces.items():
            if name not in seen:
                seen.add(name)
                found.setdefault(piece.subtask, []).append(name)
    return list(found.items())


def _differs(iterations: Iterations, index: int, name: str) -> bool:
    here = iterations.all[index].pieces.get(name)
    before = iterations.all[index - 1].pieces.get(name)
    if here is None or before is None:
        return here is not before
    return bool(iterations.change(index, name)) or here.best != before.best


def _head(one: Iteration, room: int) -> Cell:
    by = author_words(one.plan.author)
    approved = f"approved by {approver_words(one.approved_by)}" if one.approved_by else "proposed"
    return [
        Content.styled(f"Iteration {one.number}", "bold $text-accent"),
        *_wrapped(f"{by}; {approved}", room, MUTED),
    ]


def _cell(iterations: Iterations, index: int, name: str, room: int) -> Cell:
    piece = iterations.all[index].pieces.get(name)
    if piece is None:
        before = index > 0 and name in iterations.all[index - 1].pieces
        return [toned("   ✗ gone" if before else "   -", "warn" if before else "muted")]
    change = iterations.change(index, name)
    mark = toned(f"  {change}", "warn" if change else "plain")
    head = Content.assemble(badge(piece.action.mode), " ", name)
    if head.cell_length + mark.cell_length > room:
        lines = [head.truncate(room, ellipsis=True), Content("    ") + mark]
    else:
        lines = [head + mark]
    if change and change != "new":
        lines += _indented(_what_changed(iterations, index, name), room)
    return lines + list(_tried(piece, room))


def _what_changed(iterations: Iterations, index: int, name: str) -> str:
    """The fields that are otherwise than before, with their new values."""
    here = iterations.all[index].pieces[name].action
    before = iterations.all[index - 1].pieces[name].action
    fields = ("success", "precondition", "interrupt", "due", "instruction", "budget", "reason")
    changed = [field for field in fields if getattr(here, field) != getattr(before, field)]
    if here.mode != before.mode:
        return here.reason
    return "; ".join(f"{field} {_value(getattr(here, field))}" for field in changed)


def _value(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _tried(piece: Piece, room: int) -> Iterator[Content]:
    """Each version of the code with its success rate, and the critic's last words."""
    rates: list[Content] = []
    for proposal in piece.versions:
        critique = piece.critiques.get(proposal.version)
        if critique is None:
            found = len(proposal.diagnostics)
            words = f"v{proposal.version} {plural(found, 'finding') if found else 'not tried'}"
            rates.append(toned(words, "muted"))
        else:
            mark, tone = ("✔", "good") if critique.works else ("✗", "bad")
            words = f"v{proposal.version} {percent(critique.success_rate)} {mark}"
            rates.append(toned(words, "good" if tone == "good" else "bad"))
    if rates:
        line = Content(", ").join(rates)
        yield from (Content("    ") + part for part in line.wrap(max(8, room - 4)))
    if piece.critiques:
        last = piece.critiques[max(piece.critiques)]
        said = " ".join(text for text in (last.text, last.suggestion) if text)
        lines = _indented(f"“{said}”", room) if said and not last.works else []
        yield from lines[:MOST_LINES]
        if len(lines) > MOST_LINES:
            yield toned("    …", "muted")


def _outcome(one: Iteration, room: int) -> Cell:
    review = one.review
    if review is None:
        return [toned("not reviewed yet", "muted")]
    working = sum(rate is not None and name not in review.given_up
                  for name, rate in review.code.items())  # fmt: skip
    lines = [Content(f"code   {working} of {len(review.code)} works")]
    if review.given_up:
        lines += _wrapped(f"given up: {', '.join(review.given_up)}", room, "$text-error")
    if review.task_success is None:
        lines.append(toned("rl     nothing trained", "muted"))
    else:
        lines.append(Content(f"rl     task {percent(review.task_success)} in training"))
        lines += [Content(f"       {name} {percent(rate)}") for name, rate in review.goals.items()]
        lines.append(toned(f"       {compact(review.frames)} frames in all", "muted"))
    return [*lines, *_wrapped(review.verdict, room, MUTED)]


def _wrapped(text: str, room: int, style: str = "") -> Cell:
    if not text:
        return []
    return list(Content.styled(" ".join(text.split()), style).wrap(max(8, room)))


def _indented(text: str, room: int) -> Cell:
    return [Content("    ") + line for line in _wrapped(text, room - 4, MUTED)]
