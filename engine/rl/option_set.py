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
from engine.worlds.base import World
from engine.worlds.predicate import parse

Mask = NDArray[np.bool_]


class OptionSet:
    """Coded actions, parsed once; owns their programs.

    Environments of a batch share a set. A program runs one execution at a time, so there are as
    many programs of a coded action as environments have run it at once; they are loaded when first
    needed and used again.
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
        self._sandbox = sandbox
        self._idle: list[list[LoadedProgram]] = [[] for _ in self.actions]
        self._programs: list[LoadedProgram] = []
        try:
            for option in range(len(self.actions)):
                # One of each at once: code that does not load is found before anything runs.
                self._idle[option].append(self._load(option))
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
        idle = self._idle[option]
        program = idle.pop() if idle else self._load(option)
        return OptionExecution(
            self.actions[option],
            program,
            self.world,
            interrupt or self.interrupts[option],
            success or self.successes[option],
            on_end=partial(idle.append, program),
        )

    def _load(self, option: int) -> LoadedProgram:
        program = self._sandbox.load(self.actions[option].code)
        self._programs.append(program)
        return program

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
