"""Evaluation by split: how often each kind of new task is solved, with its interval."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from engine.llarp.build import build
from engine.llarp.checkpoint import restore_policy
from engine.llarp.controls import RandomPolicy
from engine.llarp.evaluation import Result, evaluate
from engine.llarp.eye import Seen
from engine.llarp.flats import Flats
from engine.llarp.phases import controlled, device_of, encoder_of, split_names
from engine.llarp.sequences import Acting
from engine.llarp.settings import LlarpConfig, PolicyKind
from engine.rl.confidence import wilson
from engine.rl.control import Stopped, Valve
from engine.run.session import RunStopped, Session
from engine.run.supervision import RunSupervisor
from engine.worlds.rearrange.batch import RearrangeBatch
from engine.worlds.rearrange.episode import Episode
from engine.worlds.rearrange.generator import TaskGenerator
from engine.worlds.rearrange.names import ACTIONS
from skills_db.records import RunState

SEED = 0
"""Of the evaluation's tasks and of the actions drawn: the same for every policy."""


@dataclass(frozen=True, slots=True)
class Played:
    """One evaluated task."""

    episode: Episode
    result: Result


class Evaluation:
    """Plays the splits of one run."""

    def __init__(self, session: Session, config: LlarpConfig, kind: PolicyKind) -> None:
        """Lay the tasks out."""
        self._session, self._config, self._kind = session, config, kind
        generator = TaskGenerator(SEED, config.objects)
        self._splits = {
            name: generator.split(name)[: config.eval_tasks]
            for name in split_names(config, generator.splits)
        }

    def trained(self) -> dict[str, Any]:
        """Figures of the trained policy.

        Raises:
            RunStopped: the run was told to stop; the evaluation begins anew when resumed.
        """
        session = self._session
        built = build(
            self._config,
            self._kind,
            cache=session.home.models,
            encoder=encoder_of(session),
            seed=session.config.seed,
            device=device_of(session),
        )
        restore_policy(session.policy_file, built.policy)
        supervisor = RunSupervisor(session)
        return self._figures("trained", Seen(built.policy, supervisor.watched, supervisor.draw))

    def random(self) -> dict[str, Any]:
        """Figures of a policy that draws every action alike."""
        return self._figures("random", RandomPolicy(len(ACTIONS)))

    def _figures(self, name: str, policy: Acting) -> dict[str, Any]:
        began = time.monotonic()
        valve = Valve(RunSupervisor(self._session).control)
        batch = RearrangeBatch(self._config.envs, picture=self._config.picture)
        flats = controlled(Flats(batch, on_step=lambda *_: valve.tick()), self._kind)
        generator = torch.Generator().manual_seed(SEED)
        played: dict[str, list[Played]] = {}
        try:
            for split, episodes in self._splits.items():
                self._session.enter(RunState.EVALUATING, f"{name}: {split}")
                results = evaluate(policy, flats, episodes, generator)
                played[split] = [Played(*one) for one in zip(episodes, results, strict=True)]
        except Stopped as how:
            raise RunStopped from how
        return figures(name, played) | {"seconds": round(time.monotonic() - began, 1)}


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
