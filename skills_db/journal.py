"""The journal: everything about runs, the only thing between a run's process and a screen."""

from __future__ import annotations

from skills_db.approvals import ApprovalStore
from skills_db.history import HistoryStore
from skills_db.live import LiveStore
from skills_db.runs import RunStore


class Journal(RunStore, HistoryStore, ApprovalStore, LiveStore):
    """Runs with their events, approvals, commands and frames.

    Every method is one transaction of its own and may be called from any thread.
    """
