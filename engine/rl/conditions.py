"""What holds for every place of a batch now: masks, interrupts, goals, all by one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.worlds.base import PlayerState, WorldBatch
from engine.worlds.predicate import Predicate
from engine.worlds.predicate_table import PredicateTable

if TYPE_CHECKING:
    from engine.rl.option_set import OptionSet

Flags = NDArray[np.bool_]


class Conditions:
    """Views, shape (size, coded actions) or (size, goals), into one table of truths."""

    def __init__(
        self,
        batch: WorldBatch,
        options: OptionSet,
        goals: Sequence[Predicate],
    ) -> None:
        self._batch = batch
        groups = (
            options.preconditions,
            options.dues,
            options.successes,
            options.interrupts,
            goals,
        )
        self._table = PredicateTable([p for group in groups for p in group], batch.term_names)
        self._values: Flags = np.zeros((batch.size, self._table.size), np.bool_)
        ends = np.cumsum([len(group) for group in groups])[:-1]
        (
            self.preconditions,
            self.dues,
            self.successes,
            self.interrupts,
            self.goals,
        ) = np.split(self._values, ends, axis=1)

    def refresh(self) -> None:
        """Check everything anew, after the batch has moved on."""
        self._table.evaluate(self._batch.terms, self._values)


class TableCondition:
    """One entry of a table of truths, as a `Condition` of an option."""

    def __init__(self, values: Flags, place: int, column: int) -> None:
        self._values = values
        self._place = place
        self._column = column

    def holds(self, player: PlayerState) -> bool:
        """Whether it was true when the table was last refreshed."""
        return bool(self._values[self._place, self._column])


class Never:
    """A condition that never holds."""

    def holds(self, player: PlayerState) -> bool:
        """No."""
        return False
