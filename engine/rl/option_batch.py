"""Primitives and options of a `WorldBatch` as one discrete action space, episode by episode.

A decision is a primitive action (one env frame), a coded or a learned action (k env frames). That
makes it a semi-Markov decision process (Sutton, Precup & Singh 1999): the reward of a decision is
`sum(gamma**j * r_j)` over its frames, and what follows it counts `gamma**k`. All places advance by
one frame at a time, whoever acts in them, so none ever waits for another.

What runs at each place is up to `OptionRunner`; here frames are played, paid and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.agents.plan import ShapingTerm
from engine.rl.decisions import Bonus, Finished, Ints, Mask, Rechoice
from engine.rl.episodes import EpisodeSummary, SeedSource
from engine.rl.goals import GoalTracker
from engine.rl.option_runner import OptionRunner
from engine.rl.option_set import OptionSet
from engine.rl.task_parts import PartRates, task_parts
from engine.rl.watched import BatchView, OnFrame
from engine.worlds.base import REST, BatchStep, Observation, WorldBatch
from engine.worlds.predicate import parse

TASK: Final = "<task>"
"""Name under which the task's own predicate is tracked; no identifier, so it cannot clash."""


class OptionBatch:
    """Episodes whose actions are primitives and options.

    Observation: the world's; with options then the terms that their predicates speak of,
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
        shaping: Sequence[ShapingTerm] = (),
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
            shaping: more of it, for predicates of its own; none in evaluation either.
            end_on_success: an episode is over once the task's predicate has come true.
            on_frame: called after each frame of the first place with a view of it and a caption.
            tick: called after each frame of the batch; may raise to stop everything.
        """
        self.batch = batch
        self.options = options
        self.size = batch.size
        self.seeds = seeds
        words = options.world.vocabulary()
        bonus = bonus or Bonus()
        task = parse(task_success, words)
        parts = task_parts(task, words) if bonus.part else []
        shaped = [parse(term.predicate, words) for term in shaping]
        predicates = [*(parse(goal, words) for goal in goals.values()), *shaped, *parts, task]
        names = (*goals, *(f"<{other}>" for other in (*shaped, *parts)), TASK)
        self._runner = OptionRunner(batch, options, rechoice or Rechoice(), predicates)
        self.observation_size = self._runner.observation_size
        self.goals = GoalTracker(names, self.size)
        paid = [*[bonus.goal] * len(goals), *(term.bonus for term in shaping)]
        self._bonus = np.array([*paid, *[0.0] * len(parts), bonus.task])
        self._part_bonus = bonus.part
        self._parts = slice(len(paid), len(paid) + len(parts))
        self.part_rates = PartRates(len(parts))
        self._goal_names = tuple(goals)
        self._gamma = gamma
        self.end_on_success = end_on_success
        self._on_frame = on_frame
        self._view = BatchView(batch, 0)
        self._tick = tick
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
        self._runner.refresh()
        for place in np.flatnonzero(self._waits).tolist():
            self.goals.begin(place, self._runner.conditions.goals[place])

    def seed(self, place: int) -> int:
        """World seed of the episode at a place."""
        return self._runner.places[place].seed

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
        return self._runner.look(places)

    def masks(self, places: Ints) -> Mask:
        """Which actions may be chosen now, shape (len(places), actions)."""
        return self._runner.masks(places)

    def choose(self, places: Ints, actions: Ints) -> Ints:
        """Begin a decision at each of the places.

        Returns:
            the places whose option ended without a frame: they wait for another choice.

        Raises:
            ValueError: an action is masked.
        """
        self._runner.require_allowed(places, actions)
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
        self.decisions[number] += 1
        self._chosen[number] = action
        if action >= self.options.primitives:
            self.coded_decisions[number] += 1
        if not self._runner.start(number, action):
            return False
        self._rewards[number] = 0.0
        self._discounts[number] = 1.0
        self._frames[number] = 0
        self._waits[number] = False
        self._open[number] = True
        return True

    def advance(self) -> Finished:
        """One frame everywhere; what ended with it."""
        moved = self._open.copy()
        actions = self._runner.next_primitives(np.flatnonzero(moved))
        step = self.batch.step(np.where(moved, actions, REST))
        self._runner.refresh()
        news = self.goals.see(self._runner.conditions.goals) & moved[:, None]
        self._bonus[self._parts] = self._part_bonus * self.part_rates.rarity
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
        if not over:
            return self._runner.proceed(number, bool(step.changed[number]))
        option_ran = self._runner.end(number, died=bool(step.terminated[number]))
        return self._ending(number, step) if option_ran else ""

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
                self.part_rates.see(self.goals.reached[place, self._parts])
                self._begin(place)
            self._runner.refresh()
            for place in places[over].tolist():
                self.goals.begin(place, self._runner.conditions.goals[place])
        return finished

    def _begin(self, number: int) -> None:
        seed = self.seeds.next_seed(number)
        self._waits[number] = seed is not None
        if seed is None:
            return
        self._runner.places[number].seed = seed
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
            self._runner.forget("the rollout ended")
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
        self._runner.places[place].seed = seed
        self._waits[place] = True
        self._runner.refresh()

    def _summary(self, place: int) -> EpisodeSummary:
        reached = self.goals.names_reached(place)
        return EpisodeSummary(
            seed=self._runner.places[place].seed,
            episodic_return=float(self.returns[place]),
            frames=self.batch.frames(place),
            achievements=tuple(sorted(self.batch.achievements(place))),
            task_success=TASK in reached,
            goals=tuple(name for name in reached if name in self._goal_names),
            decisions=int(self.decisions[place]),
            coded_decisions=int(self.coded_decisions[place]),
        )


_NOTHING: Final = np.zeros((0, 0), np.float32)
