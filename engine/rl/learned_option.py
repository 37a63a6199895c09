"""Learned actions at work: a trained policy in charge at some places of a batch.

Every place has its own execution, with its own step limit and random stream; the network is asked
once per frame, for all places together that need a choice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.agents.plan import Outcome
from engine.errors import ConfigError
from engine.rl.decisions import Ints
from engine.rl.learned_action import LearnedAction
from engine.rl.options import Condition, OptionEnd
from engine.rl.policies import ask
from engine.rl.policy_file import NetworkPolicy
from engine.worlds.base import REST, PlayerState

if TYPE_CHECKING:
    from engine.rl.option_runner import OptionRunner


class LearnedOption:
    """One learned action over all places of a batch; gives out executions of single places."""

    def __init__(self, action: LearnedAction, runner: OptionRunner) -> None:
        """Load the network.

        Args:
            runner: over the actions of the policy itself, on the same batch; nobody else uses it.

        Raises:
            ConfigError: the policy is for other observations or primitives.
            EngineError: its weights are damaged.
        """
        spec = action.policy.spec
        _require_fitting(action, runner)
        self.action = action
        self.runner = runner
        self._policy = NetworkPolicy.load(spec, action.policy.weights)
        self._waits: NDArray[np.bool_] = np.zeros(runner.batch.size, np.bool_)

    def execution(self, place: int, seed: int, success: Condition) -> LearnedExecution:
        """A fresh execution at a place whose episode is of this world seed."""
        return LearnedExecution(self, place, seed, success)

    def begin(self, place: int, seed: int) -> None:
        """Take charge of a place.

        What the policy draws depends on its training seed, on the world and on the frame it begins
        in, and on nothing before: a training that is resumed goes on with the same draws.
        """
        self.runner.places[place].seed = seed
        self._policy.begin_execution(place, seed, self.runner.batch.frames(place))
        self._waits[place] = True

    def next_primitives(self, places: Ints) -> Ints:
        """What the policy does next at these places, all of which it is in charge of."""
        waiting = places[self._waits[places]]
        while waiting.size:
            self._waits[waiting] = False
            waiting = self.runner.choose(waiting, ask(self._policy, self.runner, waiting))
        return self.runner.next_primitives(places)[places]

    def proceed(self, place: int, changed: bool) -> None:
        """A frame was played there, and the policy stays in charge."""
        if self.runner.proceed(place, changed) is not None:
            self._waits[place] = True

    def come_back(self, place: int) -> None:
        """Take charge again where something else has acted: what ran there stands aside."""
        self.runner.places[place].put_aside()
        self._waits[place] = True

    def leave(self, place: int, detail: str) -> None:
        """Not in charge any more; what the policy had under way there is dropped."""
        self.runner.places[place].drop(detail)
        self._waits[place] = False


class LearnedExecution:
    """One execution of a learned action at one place, by the words of `OptionExecution`.

    Which primitive comes next is not known when a frame has been played, but only when the policy
    has been asked for all places: until then it is `REST`. There is no detector of circles: the
    policy draws its actions, and its step limit ends what gets nowhere.
    """

    def __init__(self, option: LearnedOption, place: int, seed: int, success: Condition) -> None:
        """Prepare; nothing runs yet."""
        self._option = option
        self._place = place
        self._seed = seed
        self._success = success
        self._frames = 0

    def begin(self, player: PlayerState) -> int | OptionEnd:
        """Start, unless there is nothing left to do."""
        if self._success.holds(player):
            return OptionEnd("success", "already done", 0)
        self._option.begin(self._place, self._seed)
        return REST

    def proceed(self, player: PlayerState, changed: bool) -> int | OptionEnd:
        """Go on after an env step, or how it ended with that step."""
        self._frames += 1
        if self._success.holds(player):
            return self._end("success", f"`{self._option.action.success}` holds")
        most = self._option.action.max_frames
        if self._frames >= most:
            return self._end("out_of_frames", f"not done after {most} frames")
        self._option.proceed(self._place, changed)
        return REST

    def catch_up(self, player: PlayerState) -> int | OptionEnd:
        """Go on after others have acted."""
        if self._success.holds(player):
            return self._end("success", f"`{self._option.action.success}` holds")
        self._option.come_back(self._place)
        return REST

    def drop(self, detail: str) -> OptionEnd:
        """End an execution that stands still: the policy above went on with something else."""
        return self._end("interrupted", detail)

    def cut(self, outcome: Outcome, detail: str) -> OptionEnd:
        """End from outside, after an env step whose episode is over."""
        self._frames += 1
        return self._end(outcome, detail)

    def _end(self, outcome: Outcome, detail: str) -> OptionEnd:
        self._option.leave(self._place, detail)
        return OptionEnd(outcome, detail, self._frames)


def _require_fitting(action: LearnedAction, runner: OptionRunner) -> None:
    spec, world = action.policy.spec, runner.options.world
    reason = ""
    if (spec.world, spec.primitives) != (world.name, world.primitives):
        reason = f"it was trained in {spec.world!r}, and this is {world.name!r}"
    elif spec.observation_size != runner.observation_size:
        reason = f"it sees {spec.observation_size} numbers, and here are {runner.observation_size}"
    if reason:
        raise ConfigError(
            f"the policy of {action.name!r} cannot be an action: {reason}",
            "Leave it out, or train it anew.",
        )
