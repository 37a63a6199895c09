"""The discrete action space of a policy: a world's primitives, then coded and learned actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import TracebackType

from engine.errors import ConfigError
from engine.rl.learned_action import Action, LearnedAction
from engine.rl.options import (
    CodedAction,
    Condition,
    LoadedProgram,
    OptionExecution,
    ProgramLoader,
)
from engine.rl.policy_bundle import bound
from engine.sandbox.shelf import ProgramShelf
from engine.worlds.base import World
from engine.worlds.predicate import parse


class OptionSet:
    """Coded and learned actions, parsed once; owns the programs.

    Environments of a batch share a set, and its programs are kept on a shelf: there are as many of
    a coded action as environments run it at once, and what is free is used again.
    """

    def __init__(
        self,
        world: World,
        actions: Sequence[Action],
        sandbox: ProgramLoader,
        shelf: ProgramShelf[LoadedProgram] | None = None,
    ) -> None:
        """Load what the actions need.

        Args:
            shelf: of another set, which owns it; a new one by default.

        Raises:
            ConfigError: two actions share a name.
            SandboxError: some code does not load.
            EngineError: the policy of a learned action is damaged.
        """
        self.world = world
        self.actions = tuple(actions)
        self.names = (*world.primitives, *(action.name for action in self.actions))
        self.primitives = len(world.primitives)
        if len(set(self.names)) != len(self.names):
            twice = sorted({name for name in self.names if self.names.count(name) > 1})
            raise ConfigError(
                f"these actions share a name: {', '.join(twice)}",
                "Rename one of them, or keep one version of it.",
            )
        words = world.vocabulary()
        self.preconditions = [parse(action.precondition, words) for action in self.actions]
        self.dues = [parse(action.due, words) for action in self.actions]
        self.successes = [parse(action.success, words) for action in self.actions]
        self.interrupts = [parse(action.interrupt, words) for action in self.actions]
        self._owns_shelf = shelf is None
        self._shelf = ProgramShelf[LoadedProgram](sandbox.load) if shelf is None else shelf
        self.learned: Mapping[int, tuple[LearnedAction, OptionSet]] = {}
        """Learned actions by their index in the action space, each with the set of its own."""
        try:
            for action in self.actions:
                if isinstance(action, CodedAction):
                    # One of each at once: code that does not load is found before anything runs.
                    self._shelf.give_back(action.code, self._shelf.take(action.code))
            self.learned = {
                index: (action, self._inner(action, sandbox))
                for index, action in enumerate(self.actions, self.primitives)
                if isinstance(action, LearnedAction)
            }
        except BaseException:
            self.close()
            raise

    def _inner(self, action: LearnedAction, sandbox: ProgramLoader) -> OptionSet:
        policy = action.policy
        inside = bound(policy.spec.actions, policy.weights)
        return OptionSet(self.world, inside, sandbox, self._shelf)

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
        if not isinstance(action, CodedAction):
            raise TypeError(f"{action.name!r} is no coded action: its policy runs in a batch only")
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
        if self._owns_shelf:
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
