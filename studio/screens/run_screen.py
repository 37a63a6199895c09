"""What all screens of a run share: the model, the review, the way to the bridge."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from studio.notices import Notices
from studio.run_model import RunModel
from studio.screens.base import StudioScreen
from studio.widgets.review_view import ReviewView

if TYPE_CHECKING:
    from studio.app import StudioApp

GRACE_SECONDS = 0.5
"""What has just appeared cannot be approved by a key that was meant for something else."""


class RunScreen(StudioScreen[None]):
    """Base of the workspace and the review screen."""

    app: StudioApp
    model: RunModel

    @property
    def notices(self) -> Notices:
        """The sentences of the notice line, with the person's own keys."""
        return Notices(self.app.press)

    @property
    def review(self) -> ReviewView:
        """This screen's view of a code proposal."""
        return self.query_one(ReviewView)

    @property
    def is_editing(self) -> bool:
        """True while something is edited in place."""
        return self.review.editing

    def redraw(self) -> None:
        """Draw the model anew; each screen knows what it shows of it."""
        raise NotImplementedError

    def shows_asked(self) -> bool:
        """True when what is asked is in front of the person now."""
        raise NotImplementedError

    def bring_up_asked(self) -> None:
        """Put what is asked in front of the person."""
        raise NotImplementedError

    def note_shown(self) -> None:
        """Remember since when what is asked has been in front of the person."""
        if self.model.seen_at is None and self.model.approval is not None and self.shows_asked():
            self.model.seen_at = self.app.clock()

    def seen_from_now(self) -> None:
        """The grace begins anew: what is asked was brought to the front."""
        self.model.seen_at = None
        self.note_shown()

    def seen_again(self) -> None:
        """What is asked could not be seen for a while: the grace begins anew."""
        self.seen_from_now()

    @property
    def in_grace(self) -> bool:
        """True while what is asked is too new to be decided by a key."""
        seen = self.model.seen_at
        return seen is None or self.app.clock() - seen < GRACE_SECONDS

    async def bridge_job(self, what: str, job: Callable[[], object]) -> bool:
        """Do something with the database in a thread; a failure is told. True when it was done."""
        try:
            await self.app.in_thread(job)
        except Exception as error:
            self.app.show_error(what, error)
            return False
        return True
