"""What players see, know and are told, frame by frame, against digests of an earlier engine.

The first digests were made with memory, search, queries and observation in plain Python objects,
and the compiled engine met them. Whoever changes behaviour on purpose makes them anew and says so:

- suggestions keep clear of zombies and wait for arrows, rooms may be won from water; new words and
  queries (`danger`, `in_view`, `grass_in_view`, `day_frame`, `step_to_fence`, `fenced`).
"""

from __future__ import annotations

import hashlib
import itertools
from typing import Any

import numpy as np
import pytest

from engine.worlds.crafter.env import CrafterEnv
from engine.worlds.crafter.stub import query_names, stub_functions
from engine.worlds.registry import get_world

CRAFTER = get_world("crafter")
GOALS = (
    ("explore", ("any",)), ("explore", ("grass",)), ("explore", ("mountain",)),
    ("approach", ("tree",)), ("approach", ("stone",)), ("approach", ("diamond",)),
    ("approach", ("cow",)), ("approach", ("skeleton",)), ("approach", ("water",)),
    ("step_to_place", ("table",)), ("step_to_place", ("plant",)), ("step_to_shelter", ()),
    ("step_near", ("table", "furnace")), ("step_to_shelter", ()), ("approach", ("path",)),
)  # fmt: skip
DIGESTS = (
    "ab6b0c07e188d820", "330453db3a9097bc", "190301d2bcc2891c", "c177048841efdcd9",
    "d2645417295d9a53", "49e70d86dc1cda00", "dfbfb1955c446c7a", "f20583509a7a1aac",
    "a23ec6aac85ebbf5", "7819291dc31689a5", "dddad3b1a3d9bca8", "c336aa49a213d09e",
    "477170b78524c516", "11f4b064eb537b98", "21f1c9cd2aa76443",
)  # fmt: skip
TOOLS = {"wood_pickaxe": 1, "stone_pickaxe": 1, "iron_pickaxe": 1}


def calls() -> list[tuple[str, tuple[Any, ...]]]:
    """Every query with every argument; few of the many pairs of materials."""
    found: list[tuple[str, tuple[Any, ...]]] = [("look", (3, -2)), ("look", (-9, 7))]
    for name in sorted(query_names() - {"look"}):
        parameters = stub_functions()[name].parameters
        choices = [parameter.texts for parameter in parameters if parameter.required]
        found += [(name, given) for given in itertools.product(*choices)]
    return [*found, ("step_near", ("table", "furnace")), ("explore", ("mountain",))]


def play(env: Any, seed: int, frames: int) -> str:
    """Digest of an episode in which the player mostly does what it is told."""
    digest = hashlib.sha256()
    random = np.random.default_rng(seed)
    asked = calls()
    vocabulary = CRAFTER.vocabulary()
    tests = [(test, name) for test, names in vocabulary.tests.items() for name in names]
    observation, _ = env.reset(seed=seed)
    rest: Any = ()
    for _ in range(frames):
        player = env.player
        answers = [
            player.answer(*asked[number], {}) for number in random.permutation(len(asked))[:60]
        ]
        terms = [*sorted(player.terms().items())]
        terms += [(test, name, player.term(test, name)) for test, name in sorted(tests)]
        # Coarser than float32, whose last bits are the machine's.
        digest.update(np.rint(observation * 10_000).astype(np.int32).tobytes())
        digest.update(repr((answers, terms, rest)).encode())
        goal = GOALS[int(random.integers(len(GOALS)))] if random.random() < 0.1 else GOALS[seed]
        action = player.answer("dodge", (), {}) if random.random() < 0.3 else None
        action = action or player.answer(*goal, {})
        number = CRAFTER.primitives.index(action) if action else int(random.integers(17))
        if random.random() < 0.2:
            env.game.player.inventory.update(
                health=9, food=9, drink=9, wood=5, stone=int(random.integers(9)), sapling=1
            )
            if random.random() < 0.1:
                env.game.player.inventory.update(TOOLS)
        observation, *rest = env.step(np.int64(number))
        if rest[1]:
            break
    digest.update(env.player.memory.known.tobytes())
    return digest.hexdigest()[:16]


@pytest.mark.parametrize(("seed", "digest"), enumerate(DIGESTS))
def test_players_see_know_and_are_told_what_they_were(seed: int, digest: str):
    assert play(CrafterEnv(), seed, 400) == digest
