"""A skill as text: one row of the library's list, and the head of its page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from textual.content import Content

from studio.widgets.paint import spread, toned
from studio.words import (
    KINDS,
    ago,
    approver_words,
    author_words,
    compact,
    moment,
    percent,
    plural,
    shorten,
)

if TYPE_CHECKING:
    from skills_db.records import SkillRecord, SkillVersionRecord

_NAME = 20
_MOST_ACTIONS = 8


def kind_words(kind: str) -> str:
    """`coded action` or `policy`."""
    return KINDS.get(kind, kind.replace("_", " "))


def kinds_words(kind: str) -> str:
    """`coded actions` or `policies`."""
    words = kind_words(kind)
    return f"{words[:-1]}ies" if words.endswith("y") else f"{words}s"


def row(skill: SkillRecord, width: int, now: datetime) -> Content:
    """Name, kind, version, success rate with its episodes, and when.

    In a narrow place the kind goes first, then the age.
    """
    latest = skill.latest
    columns = [
        (2, f"{kind_words(skill.kind):<14}", "muted"),
        (0, f"v{latest.version:<4}", "muted"),
        (0, f"{percent(latest.success_rate):>5} of {latest.episodes:<3}", "plain"),
        (1, f"{ago(latest.created_at, now):>11}", "muted"),
    ]
    for importance in (2, 1):
        if width - sum(len(text) for _, text, _ in columns) < _NAME:
            columns = [column for column in columns if column[0] != importance]
    right = Content("").join(
        toned(text, "muted" if tone == "muted" else "plain") for _, text, tone in columns
    )
    return spread(Content(skill.name), right, width)


def head(version: SkillVersionRecord, versions: int, width: int, now: datetime) -> Content:
    """Name, version, what it is for, how well it works, and where it comes from."""
    title = Content.assemble(
        (version.skill, "bold"),
        toned(f"  {kind_words(version.kind)} in {version.world}", "muted"),
    )
    number = toned(f"version {version.version} of {versions}", "muted")
    lines = [spread(title, number, width)]
    if version.description:
        lines.append(Content(" ".join(version.description.split())))
    rate = Content.assemble(
        (percent(version.success_rate), "bold"),
        f" success over {plural(version.episodes, 'episode')}",
    )
    extra = _policy_words(version.metadata) if version.kind == "policy" else ""
    lines.append(Content.assemble(rate, toned(f"   {extra}", "muted")) if extra else rate)
    lines += provenance(version, now)
    return Content("\n").join(lines)


def provenance(version: SkillVersionRecord, now: datetime) -> list[Content]:
    """Who wrote it, who approved it, in which run, and the hash of exactly what was approved."""
    kept = "kept" if version.kind == "policy" else "approved"
    approver = approver_words(version.approver) or "nobody"
    by = f"by {author_words(version.agents)}, {kept} by {approver}"
    origin = f"{moment(version.created_at, now)}, run {version.run_id or 'none'}"
    what, digest = "code", version.code_hash
    if version.weights_hash is not None:
        what, digest = "weights", version.weights_hash
    return [toned(by, "muted"), toned(f"{origin}, {what} sha256 {digest[:12]}", "muted")]


def _policy_words(metadata: Mapping[str, Any]) -> str:
    """Frames of training and the coded actions a policy chooses from."""
    words = []
    frames = metadata.get("training_frames")
    if isinstance(frames, int):
        words.append(f"{compact(frames)} frames of training")
    spec = metadata.get("spec")
    actions = spec.get("actions") if isinstance(spec, Mapping) else None
    if isinstance(actions, list | tuple):
        names = [str(action.get("name", "?")) for action in actions if isinstance(action, Mapping)]
        shown = ", ".join(names[:_MOST_ACTIONS]) + ("…" if len(names) > _MOST_ACTIONS else "")
        words.append(shorten(f"{plural(len(names), 'coded action')}: {shown}", 160))
    return "; ".join(words)
