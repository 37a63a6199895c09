"""Reading back a run's own history."""

from __future__ import annotations

from skills_db.journal import Journal
from skills_db.records import Json

PAGE = 1000


def last_payload(journal: Journal, run_id: str, kind: str) -> Json | None:
    """Payload of the newest event of a kind, or None."""
    found: Json | None = None
    after = 0
    while rows := journal.events(run_id, after=after, limit=PAGE, kinds={kind}):
        found, after = rows[-1].payload, rows[-1].seq
    return found
