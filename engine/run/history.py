"""Reading back a run's own history."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from skills_db.journal import Journal
from skills_db.records import EventRecord, Json

PAGE = 1000


def events_of(journal: Journal, run_id: str, kinds: Collection[str]) -> Iterator[EventRecord]:
    """All events of some kinds in order, read page by page."""
    after = 0
    while rows := journal.events(run_id, after=after, limit=PAGE, kinds=set(kinds)):
        yield from rows
        after = rows[-1].seq


def last_payload(journal: Journal, run_id: str, kind: str) -> Json | None:
    """Payload of the newest event of a kind, or None."""
    found: Json | None = None
    for event in events_of(journal, run_id, {kind}):
        found = event.payload
    return found
