"""A policy in charge only while a gate is open: learning what code is bad at, on its own terms.

In a fight one frame decides, and what it was worth is known some frames later. Paid by the
world's reward alone, over a whole episode, that is buried in everything else that happens. So a
reflex has a subtask of its own: while its `gate` holds it chooses every single frame, it is paid
by its own reward, and what comes after the gate has closed counts nothing. Everywhere else the
plan's code acts as it would alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from engine.errors import ConfigError
from engine.rl.decisions import Ints, Mask
from engine.rl.plan_features import plan_says
from engine.rl.policies import Driver, ask
from engine.worlds.base import Observation

if TYPE_CHECKING:
    from engine.rl.decisions import Finished
    from engine.rl.option_batch import OptionBatch

OFF_PLAN: Final = "off_plan"
"""In a reward: what a frame is worth in which the policy does not follow the plan."""


@dataclass(frozen=True, slots=True)
class Reflex:
    """What a policy is in charge of, and what it is paid for."""

    gate: str
    """Predicate: while it holds the policy chooses every frame."""
    reward: Mapping[str, float]
    """Worth of a rise of each term by one, and of a frame `off_plan`; training only."""
    choices: tuple[str, ...] = ()
    """Names of the actions it may choose beside what the plan would do; all when empty."""


def follows_plan(observations: Observation, actions: Ints, n_actions: int, coded: int) -> Mask:
    """Whether each action is what code alone would do, shape (rows,)."""
    if not coded:
        return np.zeros(len(actions), np.bool_)
    first = n_actions - coded
    comes_next = plan_says(observations, coded).comes_next
    rows = np.arange(len(actions))
    found: Mask = (actions >= first) & comes_next[rows, np.maximum(actions - first, 0)]
    return found


class Choices:
    """Narrows masks to the choices of a reflex and to what the plan would do."""

    def __init__(self, names: tuple[str, ...], coded: int, choices: tuple[str, ...]) -> None:
        """Prepare.

        Raises:
            ConfigError: there is no action of that name.
        """
        unknown = sorted(set(choices) - set(names))
        if unknown:
            raise ConfigError(
                f"the policy cannot choose {', '.join(unknown)}: there is no such action",
                f"There are: {', '.join(names)}.",
            )
        self._allowed: Mask = np.array([not choices or name in choices for name in names])
        self._coded = coded

    def narrow(self, masks: Mask, observations: Observation) -> Mask:
        """Masks of the same shape in which only these are left.

        Where nothing would be, the primitives stay: code with nothing to do takes any of them.
        """
        allowed = np.broadcast_to(self._allowed, masks.shape).copy()
        if self._coded:
            says = plan_says(observations, self._coded)
            allowed[:, masks.shape[1] - self._coded :] |= says.comes_next | says.running
        narrowed: Mask = masks & allowed
        primitives = masks.shape[1] - self._coded
        nothing = ~narrowed.any(axis=1)
        narrowed[nothing, :primitives] = masks[nothing, :primitives]
        return narrowed


class Guide:
    """Leads a batch while the gate is closed, and pays the policy while it is open."""

    def __init__(self, reflex: Reflex, batch: OptionBatch, driver: Driver) -> None:
        """Prepare; the batch must be made with the gate as the `alert` of its `Rechoice`.

        Raises:
            ConfigError: the reward names a term that the world does not have.
        """
        options = batch.options
        terms = batch.batch.term_names
        unknown = sorted(set(reflex.reward) - {*terms, OFF_PLAN})
        if unknown:
            raise ConfigError(
                f"the reward names {', '.join(unknown)}, which this world does not know",
                f"Use {OFF_PLAN} and: {', '.join(terms)}.",
            )
        self._batch = batch
        self._driver = driver
        self._choices = Choices(options.names, len(options.actions), reflex.choices)
        self._weights = np.array([reflex.reward.get(name, 0.0) for name in terms])
        self._off_plan = reflex.reward.get(OFF_PLAN, 0.0)
        self._off: Mask = np.zeros(batch.size, np.bool_)
        self._decides: Mask = np.zeros(batch.size, np.bool_)
        self._before = batch.batch.terms.copy()

    def restart(self) -> None:
        """Forget what the driver knew of the episodes: a training goes on from here anywhere."""
        for place in range(self._batch.size):
            self._driver.begin_episode(place, self._batch.seed(place))

    def drive(self, places: Ints) -> Ints:
        """Let code act at the places whose gate is closed; those that need another choice."""
        self._decides[places] = False
        return self._batch.choose(places, ask(self._driver, self._batch, places))

    def narrow(self, masks: Mask, observations: Observation) -> Mask:
        """What the policy may choose of what could be chosen."""
        return self._choices.narrow(masks, observations)

    def note(self, places: Ints, observations: Observation, actions: Ints) -> None:
        """The policy has decided at these places."""
        options = self._batch.options
        follows = follows_plan(observations, actions, len(options), len(options.actions))
        self._driver.give_way(places)
        self._decides[places] = True
        self._off[places] = ~follows

    def before(self) -> None:
        """A frame is about to be played."""
        np.copyto(self._before, self._batch.batch.terms)

    def paid(self, finished: Finished) -> Finished:
        """The policy's own decisions of a frame, with their own reward, and over with the gate."""
        batch = self._batch
        # Ended by the task being done: as little of a loss as an episode that was cut.
        done = np.zeros(batch.size, np.bool_)
        for place, summary in zip(
            finished.places[finished.over].tolist(), finished.summaries, strict=True
        ):
            done[place] = batch.end_on_success and summary.task_success
            self._driver.begin_episode(place, batch.seed(place))
        own = self._decides[finished.places]
        places = finished.places[own]
        over = finished.over[own]
        after = batch.batch.terms[places].copy()
        # A new episode has begun there: whoever died has nothing left, the others what they had.
        keeps = (finished.cut[own] | done[places])[over]
        after[over] = np.where(keeps[:, None], self._before[places[over]], 0.0)
        rewards = (after - self._before[places]) @ self._weights + self._off_plan * self._off[
            places
        ]
        closed = over | ~batch.alert[places]
        return replace(
            finished,
            places=places,
            rewards=rewards,
            discounts=finished.discounts[own],
            frames=finished.frames[own],
            over=closed,
            cut=np.zeros(len(places), np.bool_),
        )
