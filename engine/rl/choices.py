"""A policy that may leave the plan only towards some actions.

Few of the actions of a plan are worth choosing against it, and every other one is a way to fail
that has to be tried before it is known. Whatever the plan would do is always among the choices.
"""

from __future__ import annotations

import numpy as np

from engine.errors import ConfigError
from engine.rl.decisions import Mask
from engine.rl.plan_features import plan_says
from engine.worlds.base import Observation


class Choices:
    """Narrows masks to some actions and to what the plan would do."""

    def __init__(self, names: tuple[str, ...], coded: int, choices: tuple[str, ...]) -> None:
        """Prepare.

        Args:
            names: of the action space: primitives, then coded and learned actions.
            coded: how many of these are no primitives; without any there is no plan to leave.
            choices: names of the actions that may be chosen against the plan; all when empty.

        Raises:
            ConfigError: there is no action of that name.
        """
        unknown = sorted(set(choices) - set(names))
        if unknown:
            raise ConfigError(
                f"the policy cannot choose {', '.join(unknown)}: there is no such action",
                f"There are: {', '.join(names)}.",
            )
        self._all = not choices or not coded
        self._allowed: Mask = np.array([name in choices for name in names])
        self._coded = coded

    def narrow(self, masks: Mask, observations: Observation) -> Mask:
        """Masks of the same shape in which only these are left.

        Where the plan has nothing to say the primitives stay: code alone takes any of them.
        """
        if self._all:
            return masks
        primitives = masks.shape[1] - self._coded
        says = plan_says(observations, self._coded)
        allowed = np.broadcast_to(self._allowed, masks.shape).copy()
        allowed[:, primitives:] |= says.comes_next | says.running
        allowed[~says.comes_next.any(axis=1), :primitives] = True
        narrowed: Mask = masks & allowed
        return narrowed
