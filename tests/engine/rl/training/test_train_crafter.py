"""The same machinery on the real world, with code in the real sandbox."""

from __future__ import annotations

import pytest
import safetensors.torch
import torch

from engine.config import TrainingConfig
from engine.events import TrainingMetrics, TrainingStarted
from engine.rl.evaluate import evaluate
from engine.rl.options import CodedAction
from engine.rl.policies import RandomPolicy
from engine.rl.policy_file import NetworkPolicy
from engine.rl.train import Trainer, TrainingJob
from engine.sandbox.pool import Sandbox
from engine.worlds.registry import get_world

GATHER = """
def run() -> str:
    goal = count("wood") + 1
    while count("wood") < goal:
        step = approach("tree") or explore("grass")
        if step is None:
            return "no tree anywhere"
        act(step)
    return "one more log"
"""
GATHER_WOOD = CodedAction(
    "gather_wood", GATHER, "wood >= 1", "wood < 9 and not sleeping", "health <= 3", 80
)


class Killed(BaseException):
    """Stands for the death of the process."""


@pytest.fixture(scope="module")
def crafter():
    return get_world("crafter")


@pytest.fixture(scope="module")
def monty(crafter):
    with Sandbox(crafter.stub(), crafter.queries | {crafter.primitive_function}) as sandbox:
        yield sandbox


def test_a_killed_training_goes_on_exactly(crafter, monty, tmp_path):
    config = TrainingConfig(
        n_envs=2, n_steps=16, batch_size=32, n_epochs=2, net_arch=(16,), checkpoint_frames=100,
        device="cpu",
    )  # fmt: skip

    def train(name, report):
        job = TrainingJob(
            world=crafter,
            actions=(GATHER_WOOD,),
            goals={"wood": "wood >= 3"},
            task_success="unlocked(place_table)",
            config=config,
            frames=900,
            seed=0,
            episode_length=200,
            checkpoint_file=tmp_path / name,
        )
        return Trainer(job, monty, report=report, control=lambda: "go").run()

    def kill(event):
        if isinstance(event, TrainingMetrics) and event.frames >= 400:
            raise Killed

    whole = train("whole", lambda event: None)
    with pytest.raises(Killed):
        train("killed", kill)
    began = []
    resumed = train("killed", began.append)
    assert isinstance(began[0], TrainingStarted)
    assert began[0].frames_done > 0
    assert resumed.frames == whole.frames
    expected = safetensors.torch.load(whole.policy.weights)
    for name, value in safetensors.torch.load(resumed.policy.weights).items():
        assert torch.equal(value, expected[name]), name

    policy = NetworkPolicy.load(whole.policy.spec, whole.policy.weights)
    figures = [
        evaluate(
            crafter,
            policy,
            policy.spec.actions,
            monty,
            seeds=range(1_000_000, 1_000_002),
            task_success="unlocked(place_table)",
            goals={"wood": "wood >= 3"},
            episode_length=100,
        ).model_copy(update={"seconds": 0.0})
        for _ in range(2)
    ]
    assert figures[0] == figures[1]
    assert figures[0].success["collect_wood"] > 0


def test_random_primitives_on_crafter(crafter, monty):
    found = evaluate(
        crafter,
        RandomPolicy(crafter),
        (),
        monty,
        seeds=range(1_000_000, 1_000_003),
        task_success="unlocked(collect_diamond)",
        goals={},
        episode_length=60,
    )
    assert set(found.success) == set(crafter.achievements)
    assert found.task_success == found.success["collect_diamond"] == 0.0
    assert found.length_mean <= 60
