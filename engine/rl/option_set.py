"""The discrete action space of a policy: a world's primitives, then the coded actions."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.rl.options import CodedAction, LoadedProgram, OptionExecution, ProgramLoader
from engine.worlds.base import PlayerState, World
from engine.worlds.predicate import parse

Mask = NDArray[np.bool_]
_FEATURES = ("may_run", "done", "comes_next")
FEATURE_WEIGHT = 3.0
"""What a true feature counts: a handful of them stands beside a hundred cells of view."""


def feature_count(coded_actions: int) -> int:
    """Numbers that `OptionSet.features` adds to the observation."""
    return len(_FEATURES) * coded_actions


class OptionSet:
    """Coded actions, parsed and loaded once; owns their programs.

    Environments that are stepped one after another may share a set, because an execution of a
    coded action begins and ends within one step of one environment.
    """

    def __init__(
        self, world: World, actions: Sequence[CodedAction], sandbox: ProgramLoader
    ) -> None:
        self.world = world
        self.actions = tuple(actions)
        self.names = (*world.primitives, *(action.name for action in self.actions))
        self.primitives = len(world.primitives)
        if len(set(self.names)) != len(self.names):
            twice = sorted({name for name in self.names if self.names.count(name) > 1})
            raise ConfigError(
                f"these actions share a name: {', '.join(twice)}",
                "Rename the coded action, or keep one version of it.",
            )
        vocabulary = world.vocabulary()
        self._preconditions = [parse(action.precondition, vocabulary) for action in self.actions]
        self._interrupts = [parse(action.interrupt, vocabulary) for action in self.actions]
        self._dues = [parse(action.due, vocabulary) for action in self.actions]
        self._successes = [parse(action.success, vocabulary) for action in self.actions]
        self._programs: list[LoadedProgram] = []
        try:
            for action in self.actions:
                self._programs.append(sandbox.load(action.code))
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self.names)

    def mask(self, player: PlayerState) -> Mask:
        """Which actions may be chosen now: all primitives, and options whose precondition holds."""
        mask = np.ones(len(self.names), dtype=np.bool_)
        for index, precondition in enumerate(self._preconditions, start=self.primitives):
            mask[index] = precondition.holds(player)
        return mask

    def features(self, player: PlayerState, mask: Mask) -> NDArray[np.float32]:
        """What the plan says of each coded action now, 0 for no.

        First for all of them whether it may run (the mask), then whether what it is for is done
        already, then which one comes next: the first in plan order that may run, is due and is not
        done. Whether to follow the plan is what the policy learns.
        """
        features = np.zeros((len(_FEATURES), len(self.actions)), dtype=np.float32)
        may_run, done, comes_next = features
        may_run[:] = mask[self.primitives :]
        done[:] = [success.holds(player) for success in self._successes]
        for candidate in np.flatnonzero(may_run > done):
            if self._dues[candidate].holds(player):
                comes_next[candidate] = 1.0
                break
        return features.ravel() * np.float32(FEATURE_WEIGHT)

    def execution(self, index: int) -> OptionExecution:
        """A fresh execution of the coded action at this index of the action space."""
        option = index - self.primitives
        return OptionExecution(
            self.actions[option],
            self._programs[option],
            self.world,
            self._interrupts[option],
            self._successes[option],
        )

    def close(self) -> None:
        """Give the programs back to the sandbox."""
        while self._programs:
            self._programs.pop().close()

    def __enter__(self) -> OptionSet:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
