"""Evaluation by split: how often each kind of new task is solved, with its interval."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from engine.errors import EngineError
from engine.llarp.controls import RandomPolicy
from engine.llarp.evaluation import Result, evaluate
from engine.llarp.eye import Draw, Seen
from engine.llarp.flats import Flats, controlled
from engine.llarp.sequences import Acting
from engine.llarp.settings import LlarpConfig, PolicyKind
from engine.rl.confidence import wilson
from engine.worlds.rearrange.batch import RearrangeBatch
from engine.worlds.rearrange.episode import Episode
from engine.worlds.rearrange.generator import TaskGenerator
from engine.worlds.rearrange.names import ACTIONS

SEED = 0
"""Of the evaluation's tasks and of the actions drawn: the same for every policy."""


@dataclass(frozen=True, slots=True)
class Played:
    """One evaluated task."""

    episode: Episode
    result: Result


@dataclass(frozen=True, slots=True)
class Onlooker:
    """Who follows an evaluation and may end it."""

    tick: Callable[[], None] = lambda: None
    """Called before each step; may raise to end it."""
    tell: Callable[[str], None] = lambda _text: None
    """Told which split is played."""
    watched: Callable[[], bool] = lambda: False
    draw: Draw = lambda _picture, _caption: None


class Evaluation:
    """Plays splits once each, with any policy."""

    def __init__(self, config: LlarpConfig, kind: PolicyKind, onlooker: Onlooker) -> None:
        """Lay the tasks of the splits out that the settings name.

        Raises:
            EngineError: there is no such split.
        """
        self._config, self._kind, self._onlooker = config, kind, onlooker
        generator = TaskGenerator(SEED, config.objects)
        self._splits = {
            name: generator.split(name)[: config.eval_tasks]
            for name in split_names(config, generator.splits)
        }

    def random(self) -> dict[str, Any]:
        """Figures of a policy that draws every action alike."""
        return self.of("random", RandomPolicy(len(ACTIONS)))

    def of(self, name: str, policy: Acting) -> dict[str, Any]:
        """Figures of a policy; what `Onlooker.tick` raises ends it."""
        began, onlooker = time.monotonic(), self._onlooker
        batch = RearrangeBatch(self._config.envs, picture=self._config.picture)
        flats = controlled(Flats(batch, on_step=lambda *_: onlooker.tick()), self._kind)
        seen = Seen(policy, onlooker.watched, onlooker.draw)
        generator = torch.Generator().manual_seed(SEED)
        played: dict[str, list[Played]] = {}
        for split, episodes in self._splits.items():
            onlooker.tell(f"{name}: {split}")
            results = evaluate(seen, flats, episodes, generator)
            played[split] = [Played(*one) for one in zip(episodes, results, strict=True)]
        return figures(name, played) | {"seconds": round(time.monotonic() - began, 1)}


def split_names(config: LlarpConfig, known: Sequence[str]) -> tuple[str, ...]:
    """Splits that are evaluated, in the studio's order.

    Raises:
        EngineError: there is no such split.
    """
    unknown = [name for name in config.splits if name not in known]
    if unknown:
        raise EngineError(f"there is no split {unknown[0]!r}", f"Splits are {', '.join(known)}.")
    return tuple(name for name in known if not config.splits or name in config.splits)


def figures(policy: str, played: Mapping[str, Sequence[Played]]) -> dict[str, Any]:
    """The figures of an evaluation, as the studio shows them.

    `success` is by split, with Wilson's 95 % `intervals`; `goals` by kind of instruction.
    """
    every = [one for split in played.values() for one in split]
    kinds: dict[str, list[bool]] = {}
    for one in every:
        kinds.setdefault(one.episode.kind, []).append(one.result.success)
    solved = {name: sum(one.result.success for one in split) for name, split in played.items()}
    rates = {name: solved[name] / len(split) for name, split in played.items()}
    return {
        "policy": policy,
        "seeds": f"{len(played)} splits",
        "parts": {"success": "splits", "goals": "kinds of instruction"},
        "episodes": len(every),
        "success": rates,
        "intervals": {
            name: list(wilson(solved[name], len(split))) for name, split in played.items()
        },
        "goals": {kind: sum(found) / len(found) for kind, found in sorted(kinds.items())},
        "score": 100 * _mean(list(rates.values())),
        "reward_mean": _mean([one.result.episodic_return for one in every]),
        "length_mean": _mean([one.result.steps for one in every]),
        "task_success": _mean([one.result.success for one in every]),
        "frames": sum(one.result.steps for one in every),
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
