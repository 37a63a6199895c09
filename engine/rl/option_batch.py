"""Primitives and coded actions of a `WorldBatch` as one discrete action space.

A decision is a primitive action (one env frame) or a coded action (k env frames). That makes it a
semi-Markov decision process (Sutton, Precup & Singh 1999): the reward of a decision is
`sum(gamma**j * r_j)` over its frames, and what follows it counts `gamma**k`. All places advance by
one frame at a time, whoever acts in them, so none ever waits for another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.rl.conditions import Conditions, Never, TableCondition
from engine.rl.decisions import Bonus, Finished, Ints, Rechoice
from engine.rl.episodes import EpisodeSummary, SeedSource
from engine.rl.goals import GoalTracker
from engine.rl.option_set import Mask, OptionSet
from engine.rl.options import OptionEnd
from engine.rl.place import Place
from engine.rl.plan_features import feature_count, plan_features
from engine.rl.watched import BatchView, OnFrame
from engine.worlds.base import REST, BatchStep, Observation, WorldBatch
from engine.worlds.predicate import parse

TASK: Final = "<task>"
"""Name under which the task's own predicate is tracked; no identifier, so it cannot clash."""


class OptionBatch:
    """Episodes whose actions are primitives and coded actions.

    Observation: the world's; with coded actions then the terms that their predicates speak of,
    and `plan_features`. Episodes begin by themselves; a place for which the source has no more
    seeds rests.
    """

    def __init__(
        self,
        batch: WorldBatch,
        options: OptionSet,
        seeds: SeedSource,
        *,
        gamma: float,
        goals: Mapping[str, str],
        task_success: str,
        bonus: Bonus | None = None,
        rechoice: Rechoice | None = None,
        end_on_success: bool = False,
        on_frame: OnFrame | None = None,
        tick: Callable[[], None] | None = None,
    ) -> None:
        """Wrap `batch`; episodes begin with `begin`.

        Args:
            batch: stays with whoever made it, as do the options.
            gamma: discount per env frame.
            bonus: extra reward in training; none by default, as evaluation wants it.
            end_on_success: an episode is over once the task's predicate has come true.
            on_frame: called after each frame of the first place with a view of it and a caption.
            tick: called after each frame of the batch; may raise to stop everything.
        """
        self.batch = batch
        self.options = options
        self.size = batch.size
        coded = len(options.actions)
        self._terms_seen = len(batch.term_names) if coded else 0
        self.observation_size = batch.observation_size + self._terms_seen + feature_count(coded)
        self.seeds = seeds
        words = options.world.vocabulary()
        named = {**goals, TASK: task_success}
        self._rechoice = rechoice or Rechoice()
        self._conditions = Conditions(
            batch,
            options,
            [parse(predicate, words) for predicate in named.values()],
            parse(self._rechoice.alert, words),
        )
        self.goals = GoalTracker(tuple(named), self.size)
        bonus = bonus or Bonus()
        self._bonus = np.array([bonus.task if n == TASK else bonus.goal for n in named])
        self._gamma = gamma
        self.end_on_success = end_on_success
        self._on_frame = on_frame
        self._view = BatchView(batch, 0)
        self._tick = tick
        self._places = [Place() for _ in range(self.size)]
        self._actions: Ints = np.full(self.size, REST, np.int64)
        self._chosen: Ints = np.zeros(self.size, np.int64)
        self._open: NDArray[np.bool_] = np.zeros(self.size, np.bool_)
        self._waits: NDArray[np.bool_] = np.zeros(self.size, np.bool_)
        self._rewards = np.zeros(self.size)
        self._discounts = np.ones(self.size)
        self._frames: Ints = np.zeros(self.size, np.int64)
        self.returns = np.zeros(self.size)
        """The world's own reward of each episode so far."""
        self.decisions: Ints = np.zeros(self.size, np.int64)
        self.coded_decisions: Ints = np.zeros(self.size, np.int64)
        self.usage: Ints = np.zeros(len(options), np.int64)
        """Frames by chosen action, ever counting up."""

    def begin(self) -> None:
        """Begin an episode at every place."""
        for place in range(self.size):
            self._begin(place)
        self._conditions.refresh()
        for place in np.flatnonzero(self._waits).tolist():
            self.goals.begin(place, self._conditions.goals[place])

    def seed(self, place: int) -> int:
        """World seed of the episode at a place."""
        return self._places[place].seed

    @property
    def alert(self) -> NDArray[np.bool_]:
        """Where the alert of the `Rechoice` holds now, shape (size,)."""
        return self._conditions.alerts[:, 0]

    @property
    def waiting(self) -> Ints:
        """Places that need a choice before the next frame."""
        return np.flatnonzero(self._waits)

    @property
    def playing(self) -> bool:
        """Whether there is an episode at any place."""
        return bool(self._waits.any() or self._open.any())

    def observe(self, places: Ints) -> Observation:
        """Observations of some places, shape (len(places), observation_size)."""
        return self.look(places)[0]

    def look(self, places: Ints) -> tuple[Observation, Mask]:
        """What a choice at some places is made from: their observations and masks."""
        conditions = self._conditions
        masks = self.masks(places)
        running = np.array(
            [
                self._places[place].index - self.options.primitives
                if self._places[place].running is not None
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

        All primitives, coded actions whose precondition holds, and those that can go on; but none
        that has just ended in this very state without taking a frame.
        """
        masks = np.ones((len(places), len(self.options)), np.bool_)
        masks[:, self.options.primitives :] = self._conditions.preconditions[places]
        for row, number in enumerate(places):
            place = self._places[number]
            if place.running is not None:
                masks[row, place.index] = True
            for index in place.spent:
                masks[row, index] = False
        return masks

    def choose(self, places: Ints, actions: Ints) -> Ints:
        """Begin a decision at each of the places.

        Returns:
            the places whose coded action ended without a frame: they wait for another choice.

        Raises:
            ValueError: an action is masked.
        """
        for place, action, mask in zip(places, actions, self.masks(places), strict=True):
            if not mask[action]:
                raise ValueError(
                    f"action {self.options.names[action]!r} ({action}) is masked at place {place}; "
                    "choose one for which `masks` is true"
                )
        return np.array(
            [
                place
                for place, action in zip(places.tolist(), actions.tolist(), strict=True)
                if not self._start(place, action)
            ],
            np.int64,
        )

    def _start(self, number: int, action: int) -> bool:
        """Begin one decision; False when it ended without a frame."""
        place = self._places[number]
        self.decisions[number] += 1
        self._chosen[number] = action
        if action < self.options.primitives:
            place.put_aside()
            following: int | OptionEnd = action
        else:
            self.coded_decisions[number] += 1
            following = self._run(number, place, action)
        if isinstance(following, OptionEnd):
            place.running = None
            place.spent.add(action)
            return False
        place.following = following
        place.since = 0
        place.alert = bool(self._conditions.alerts[number, 0])
        self._actions[number] = following
        self._rewards[number] = 0.0
        self._discounts[number] = 1.0
        self._frames[number] = 0
        self._waits[number] = False
        self._open[number] = True
        return True

    def _run(self, number: int, place: Place, action: int) -> int | OptionEnd:
        """The next primitive of a coded action that goes on, is taken up again, or begins."""
        option = action - self.options.primitives
        if place.running is not None and place.index == action:
            return place.following
        # Taken out first: what runs now takes its place, and both can go on.
        wanted = place.take_up(action)
        place.put_aside()
        player = self.batch.players[number]
        place.index = action
        place.was_interrupt = bool(self._conditions.interrupts[number, option])
        if wanted is not None:
            place.running = wanted
            return wanted.catch_up(player)
        success = TableCondition(self._conditions.successes, number, option)
        place.running = self.options.execution(action, _NEVER, success)
        return place.running.begin(player)

    def advance(self) -> Finished:
        """One frame everywhere; what ended with it."""
        moved = self._open.copy()
        step = self.batch.step(np.where(moved, self._actions, REST))
        self._conditions.refresh()
        news = self.goals.see(self._conditions.goals) & moved[:, None]
        shaped = step.rewards + news @ self._bonus
        self._rewards[moved] += (self._discounts * shaped)[moved]
        self._discounts[moved] *= self._gamma
        self._frames[moved] += 1
        self.returns[moved] += step.rewards[moved]
        np.add.at(self.usage, self._chosen[moved], 1)
        if self.end_on_success:
            # The task is the last name; what would follow teaches nothing of it.
            step = replace(step, terminated=step.terminated | news[:, -1])
        over = (step.terminated | step.truncated) & moved
        ended: list[int] = []
        outcomes: list[str] = []
        for place in np.flatnonzero(moved).tolist():
            outcome = self._proceed(place, step, bool(over[place]))
            if outcome is not None:
                ended.append(place)
                outcomes.append(outcome)
        if self._on_frame is not None and moved[0]:
            self._on_frame(self._view, self.options.names[self._chosen[0]])
        finished = self._finish(np.array(ended, np.int64), tuple(outcomes), step)
        if self._tick is not None:
            self._tick()
        return finished

    def _proceed(self, number: int, step: BatchStep, over: bool) -> str | None:
        """How the decision at a place ended in this frame; None when it goes on."""
        place = self._places[number]
        place.spent.clear()
        execution = place.running
        if over:
            place.end(died=bool(step.terminated[number]))
            return "" if execution is None else self._ending(number, step)
        if execution is None:
            return ""
        following = execution.proceed(self.batch.players[number], bool(step.changed[number]))
        if isinstance(following, OptionEnd):
            place.running = None
            return following.outcome
        place.following = following
        self._actions[number] = following
        asks = place.asks(
            self._rechoice,
            interrupt=bool(
                self._conditions.interrupts[number, place.index - self.options.primitives]
            ),
            alert=bool(self._conditions.alerts[number, 0]),
        )
        return "yielded" if asks else None

    def _ending(self, number: int, step: BatchStep) -> str:
        if not step.terminated[number]:
            return "cut"
        return "done" if self.end_on_success and self.goals.reached[number, -1] else "died"

    def _finish(self, places: Ints, outcomes: tuple[str, ...], step: BatchStep) -> Finished:
        """Collect what ended and begin new episodes where one is over."""
        over = (step.terminated | step.truncated)[places]
        cut = over & ~step.terminated[places]
        self._waits[places] = True
        self._open[places] = False
        last = self.observe(places[cut]) if cut.any() else _NOTHING
        summaries = tuple(self._summary(place) for place in places[over].tolist())
        finished = Finished(
            places,
            self._rewards[places],
            self._discounts[places],
            self._frames[places],
            over,
            cut,
            last,
            outcomes,
            summaries,
        )
        if over.any():
            for place in places[over].tolist():
                self._begin(place)
            self._conditions.refresh()
            for place in places[over].tolist():
                self.goals.begin(place, self._conditions.goals[place])
        return finished

    def _begin(self, number: int) -> None:
        seed = self.seeds.next_seed(number)
        self._waits[number] = seed is not None
        if seed is None:
            return
        self._places[number].seed = seed
        self.batch.begin(number, seed)
        self.returns[number] = 0.0
        self.decisions[number] = self.coded_decisions[number] = 0

    def interrupt_all(self, *, forget: bool = True) -> Finished:
        """End every decision here: all places wait for a choice.

        Args:
            forget: also what was running. What follows then depends on nothing but `places` and
                the state of the world, so a training can go on from here in another process.
        """
        places = np.flatnonzero(self._open)
        if forget:
            for place in self._places:
                place.forget()
        self._waits[places] = True
        self._open[places] = False
        no = np.zeros(len(places), np.bool_)
        return Finished(
            places,
            self._rewards[places],
            self._discounts[places],
            self._frames[places],
            no,
            no,
            _NOTHING,
            ("yielded",) * len(places),
            (),
        )

    def resume(self, place: int, seed: int) -> None:
        """A place goes on in the episode the world batch was restored to."""
        self._places[place].seed = seed
        self._waits[place] = True
        self._conditions.refresh()

    def _summary(self, place: int) -> EpisodeSummary:
        reached = self.goals.names_reached(place)
        return EpisodeSummary(
            seed=self._places[place].seed,
            episodic_return=float(self.returns[place]),
            frames=self.batch.frames(place),
            achievements=tuple(sorted(self.batch.achievements(place))),
            task_success=TASK in reached,
            goals=tuple(name for name in reached if name != TASK),
            decisions=int(self.decisions[place]),
            coded_decisions=int(self.coded_decisions[place]),
        )


_NEVER: Final = Never()
_TERM_SCALE: Final = 0.5
_NOTHING: Final = np.zeros((0, 0), np.float32)
