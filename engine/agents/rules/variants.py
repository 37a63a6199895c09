"""What can differ between versions of one behaviour, and what to change after a failure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.agents.plan import SubAction, Trial
from engine.agents.protocols import Feedback

LANDS = ("any", "grass", "mountain")
_PATIENCE = re.compile(r"^PATIENCE = (\d+)", re.MULTILINE)
_PREFER = re.compile(r'^PREFER = "(\w+)"', re.MULTILINE)
_DETOUR = re.compile(r"^DETOUR = (\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Variant:
    """The settings of one version."""

    patience: int
    """Frames before the program gives up by itself."""
    prefer: str | None = None
    """Land to explore first; None leaves it to the behaviour."""
    defend: bool = False
    """Deal with danger inside the program instead of leaving it to the policy."""

    @classmethod
    def first(cls, sub_action: SubAction) -> Variant:
        """The settings of version 1: within two thirds of the budget."""
        return cls(patience=max(10, sub_action.budget * 2 // 3))


def read_variant(code: str, sub_action: SubAction) -> Variant:
    """The settings a version was written with, as far as its text still shows them."""
    patience, prefer = _PATIENCE.search(code), _PREFER.search(code)
    return Variant(
        patience=int(patience.group(1)) if patience else Variant.first(sub_action).patience,
        prefer=prefer.group(1) if prefer else None,
        defend="def defend()" in code,
    )


def change(
    before: Variant, sub_action: SubAction, feedback: Feedback
) -> Iterator[tuple[Variant, str]]:
    """Next settings to try with a comment that says what changed, the most fitting first."""
    if feedback.comment:
        yield from _as_asked(before, sub_action, feedback.comment)
        return
    if feedback.trials and not any(trial.started for trial in feedback.trials):
        return  # Nothing is known against the code: it never ran.
    wounded = sum(trial.outcome in ("died", "interrupted") for trial in feedback.trials)
    slow = sum(_ran_out(trial) for trial in feedback.trials)
    options = [_defended(before), _patient(before, sub_action), _elsewhere(before)]
    if slow > wounded:
        options = [options[1], options[2], options[0]]
    elif not wounded:
        options = [options[2], options[1], options[0]]
    yield from (option for option in options if option is not None)


def _ran_out(trial: Trial) -> bool:
    return trial.outcome == "out_of_frames" or "frames are over" in trial.detail


def _as_asked(
    before: Variant, sub_action: SubAction, comment: str
) -> Iterator[tuple[Variant, str]]:
    """What a person asked for, as far as these rules can follow it."""
    words = comment.lower()
    number = re.search(r"\b(\d+) (?:more )?frames?\b", words)
    if number or re.search(r"patien|longer|give up|too (early|soon)|time", words):
        after = _patient(before, sub_action)
        if number:
            wanted = min(sub_action.budget, max(1, int(number.group(1))))
            after = replace(before, patience=wanted), f"gives up after {wanted} frames, as asked"
        if after is not None:
            yield after
    if re.search(r"defen|fight|zombie|skeleton|arrow|danger|attack|hurt", words):
        after = _defended(before)
        if after is not None:
            yield after
    for land in LANDS[1:]:
        if land in words and before.prefer not in (None, land):
            yield replace(before, prefer=land), f"explores {land} first, as asked"
    for other in (_patient(before, sub_action), _defended(before), _elsewhere(before)):
        if other is not None:
            variant, what = other
            yield (
                variant,
                f"the rules cannot follow the comment {comment.strip()[:200]!r}; instead it {what}",
            )


def _patient(before: Variant, sub_action: SubAction) -> tuple[Variant, str] | None:
    patience = min(sub_action.budget, before.patience * 2)
    if patience <= before.patience:
        return None
    return replace(before, patience=patience), f"gives up after {patience} frames, not earlier"


def _defended(before: Variant) -> tuple[Variant, str] | None:
    if before.defend:
        return None
    return replace(before, defend=True), "dodges arrows and strikes back while it works"


def _elsewhere(before: Variant) -> tuple[Variant, str] | None:
    """The next land in a fixed order, which ends: the same one never comes twice."""
    if before.prefer is None or before.prefer == LANDS[0]:
        return None
    land = LANDS[LANDS.index(before.prefer) - 1]
    return replace(before, prefer=land), f"explores {land} land first"
