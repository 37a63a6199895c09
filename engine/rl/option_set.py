"""The discrete action space of a policy: a world's primitives, then the coded actions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.rl.options import (
    CodedAction,
    Condition,
    LoadedProgram,
    OptionExecution,
    ProgramLoader,
)
from engine.sandbox.shelf import ProgramShelf
from engine.worlds.base import World
from engine.worlds.predicate import parse

Mask = NDArray[np.bool_]


class OptionSet:
    """Coded actions, parsed once; owns their programs.

    Environments of a batch share a set, and its programs are kept on a shelf: there are as many of
    a coded action as environments run it at once, and what is free is used again.
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
        words = world.vocabulary()
        self.preconditions = [parse(action.precondition, words) for action in self.actions]
        self.dues = [parse(action.due, words) for action in self.actions]
        self.successes = [parse(action.success, words) for action in self.actions]
        self.interrupts = [parse(action.interrupt, words) for action in self.actions]
        self._shelf: ProgramShelf[LoadedProgram] = ProgramShelf(sandbox.load)
        try:
            for action in self.actions:
                # One of each at once: code that does not load is found before anything runs.
                self._shelf.give_back(action.code, self._shelf.take(action.code))
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self.names)

    def execution(
        self,
        index: int,
        interrupt: Condition | None = None,
        success: Condition | None = None,
    ) -> OptionExecution:
        """A fresh execution of the coded action at this index of the action space.

        Args:
            interrupt: checked in place of the action's own predicate.
            success: checked in place of the action's own predicate.
        """
        option = index - self.primitives
        action = self.actions[option]
        program = self._shelf.take(action.code)
        return OptionExecution(
            action,
            program,
            self.world,
            interrupt or self.interrupts[option],
            success or self.successes[option],
            on_end=partial(self._shelf.give_back, action.code, program),
        )

    def close(self) -> None:
        """Give the programs back to the sandbox, also of executions that are under way."""
        self._shelf.close()

    def __enter__(self) -> OptionSet:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
