"""What runs at each place of a batch, and which primitive it takes next.

Nothing here steps the world, so several runners can stand on one `WorldBatch`: that of the policy
in training (inside an `OptionBatch`, which plays the frames), and below it one for each learned
action, whose policy has an action space of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from engine.rl.conditions import Conditions, Never, TableCondition
from engine.rl.decisions import Ints, Mask, Rechoice
from engine.rl.learned_option import LearnedOption
from engine.rl.option_set import OptionSet
from engine.rl.options import OptionEnd
from engine.rl.place import Place
from engine.rl.plan_features import feature_count, plan_features
from engine.worlds.base import REST, Observation, WorldBatch
from engine.worlds.predicate import Predicate


class OptionRunner:
    """Runs the options of one action space at the places of a batch.

    For each frame: `choose` where something must be chosen, `next_primitives`, then (the world has
    moved on) `refresh` and, for each place, `proceed` or `end`.
    """

    def __init__(
        self,
        batch: WorldBatch,
        options: OptionSet,
        rechoice: Rechoice,
        goals: Sequence[Predicate] = (),
    ) -> None:
        """Nothing runs yet.

        Args:
            goals: more predicates to be checked with those of the options.

        Raises:
            ConfigError: a learned action does not fit the batch.
        """
        self.batch = batch
        self.options = options
        self._rechoice = rechoice
        coded = len(options.actions)
        self._terms_seen = len(batch.term_names) if coded else 0
        self.observation_size = batch.observation_size + self._terms_seen + feature_count(coded)
        self.conditions = Conditions(batch, options, goals)
        self.places = [Place() for _ in range(batch.size)]
        self._next: Ints = np.full(batch.size, REST, np.int64)
        self._learned = {
            index: LearnedOption(action, OptionRunner(batch, inner, action.policy.spec.rechoice))
            for index, (action, inner) in options.learned.items()
        }

    def refresh(self) -> None:
        """Check all predicates anew, after the batch has moved on."""
        self.conditions.refresh()
        for learned in self._learned.values():
            learned.runner.refresh()

    # --- choosing -------------------------------------------------------------------------

    def look(self, places: Ints) -> tuple[Observation, Mask]:
        """What a choice at some places is made from: their observations and masks."""
        conditions = self.conditions
        masks = self.masks(places)
        running = np.array(
            [
                self.places[place].index - self.options.primitives
                if self.places[place].running is not None
                else -1
                for place in places
            ],
            np.int64,
        )
        features = plan_features(
            masks[:, self.options.primitives :],
            conditions.dues[places],
            conditions.successes[places],
            conditions.interrupts[places],
            running,
        )
        # What the plan's predicates can say, the policy can see; counts and clocks on one scale.
        terms = np.log1p(np.maximum(self.batch.terms[places, : self._terms_seen], 0.0))
        observations = np.concatenate(
            (self.batch.observe(places), terms * _TERM_SCALE, features), axis=1, dtype=np.float32
        )
        return observations, masks

    def masks(self, places: Ints) -> Mask:
        """Which actions may be chosen now, shape (len(places), actions).

        All primitives, options whose precondition holds, and those that can go on; but none that
        has just ended in this very state without taking a frame.
        """
        masks = np.ones((len(places), len(self.options)), np.bool_)
        masks[:, self.options.primitives :] = self.conditions.preconditions[places]
        for row, number in enumerate(places):
            place = self.places[number]
            if place.running is not None:
                masks[row, place.index] = True
            for index in place.spent:
                masks[row, index] = False
        return masks

    def require_allowed(self, places: Ints, actions: Ints) -> None:
        """Refuse choices that are masked.

        Raises:
            ValueError: an action is masked.
        """
        for place, action, mask in zip(places, actions, self.masks(places), strict=True):
            if not mask[action]:
                raise ValueError(
                    f"action {self.options.names[action]!r} ({action}) is masked at place {place}; "
                    "choose one for which `masks` is true"
                )

    def choose(self, places: Ints, actions: Ints) -> Ints:
        """Begin these actions; the places whose option ended without a frame."""
        return np.array(
            [
                place
                for place, action in zip(places.tolist(), actions.tolist(), strict=True)
                if not self.start(place, action)
            ],
            np.int64,
        )

    def start(self, number: int, action: int) -> bool:
        """Begin an action at a place, or go on with it; False when it ended without a frame."""
        place = self.places[number]
        if action < self.options.primitives:
            place.put_aside()
            following: int | OptionEnd = action
        else:
            following = self._run(number, place, action)
        if isinstance(following, OptionEnd):
            place.running = None
            place.spent.add(action)
            return False
        place.following = following
        place.since = 0
        self._next[number] = following
        return True

    def _run(self, number: int, place: Place, action: int) -> int | OptionEnd:
        """The next primitive of an option that goes on, is taken up again, or begins."""
        option = action - self.options.primitives
        if place.running is not None and place.index == action:
            return place.following
        # Taken out first: what runs now takes its place, and both can go on.
        wanted = place.take_up(action)
        place.put_aside()
        player = self.batch.players[number]
        place.index = action
        place.was_interrupt = bool(self.conditions.interrupts[number, option])
        if wanted is not None:
            place.running = wanted
            return wanted.catch_up(player)
        success = TableCondition(self.conditions.successes, number, option)
        learned = self._learned.get(action)
        if learned is None:
            place.running = self.options.execution(action, _NEVER, success)
        else:
            place.running = learned.execution(number, place.seed, success)
        return place.running.begin(player)

    # --- a frame --------------------------------------------------------------------------

    def next_primitives(self, places: Ints) -> Ints:
        """What is done in the next frame, by place of the batch; asked for at `places`."""
        for index, learned in self._learned.items():
            led = [
                place
                for place in places.tolist()
                if self.places[place].running is not None and self.places[place].index == index
            ]
            if led:
                self._next[led] = learned.next_primitives(np.array(led, np.int64))
        return self._next

    def proceed(self, number: int, changed: bool) -> str | None:
        """How what was chosen at a place ended in the frame that was played; None: it goes on.

        Args:
            changed: what `act` of the stub returns.
        """
        place = self.places[number]
        place.spent.clear()
        execution = place.running
        if execution is None:
            return ""
        following = execution.proceed(self.batch.players[number], changed)
        if isinstance(following, OptionEnd):
            place.running = None
            return following.outcome
        place.following = following
        self._next[number] = following
        asks = place.asks(
            self._rechoice,
            interrupt=bool(
                self.conditions.interrupts[number, place.index - self.options.primitives]
            ),
        )
        return "yielded" if asks else None

    def end(self, number: int, *, died: bool) -> bool:
        """The episode ended in the frame that was played; whether an option ran."""
        place = self.places[number]
        place.spent.clear()
        ran = place.running is not None
        place.end(died=died)
        return ran

    def forget(self, detail: str) -> None:
        """Drop whatever runs or was set aside, everywhere."""
        for place in self.places:
            place.drop(detail)


_NEVER: Final = Never()
_TERM_SCALE: Final = 0.5
