"""Whole runs in Language Rearrangement, with a tiny random language model and an untrained eye."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import torch
from safetensors.torch import load

from engine.config import RunConfig
from engine.llarp.encoder import EncoderNet, FrozenEncoder, save_encoder
from engine.llarp.lm_config import TINY
from engine.llarp.lm_files import random_lm, save_lm
from engine.run.work import FAILED, FINISHED, INTERRUPTED, work
from engine.worlds.rearrange.names import CATEGORIES
from skills_db.database import Database
from skills_db.records import RunState

SPLITS = ("rephrasing", "context")
SMALL = {
    "envs": 4, "rollout_steps": 64, "minibatches": 2, "eval_tasks": 2, "splits": SPLITS,
    "checkpoint_steps": 200, "tasks": 40, "dtype": "float32",
}  # fmt: skip


class Bench:
    """Runs in a database of their own."""

    def __init__(self, root: Path, parts: dict[str, str]) -> None:
        self.home, self.parts = root / "home", parts
        self.url = f"sqlite:///{root / 'studio.db'}"
        self.database = Database.open(self.url)

    def create(self, policy: str | None = None, approve: str = "all", **llarp: Any) -> str:
        config = RunConfig(
            task="language rearrangement", world="rearrange", policy=policy, frames=1000,
            approve=approve, llarp={**SMALL, **self.parts, **llarp},
        )  # fmt: skip
        run = self.database.journal.create_run(
            kind="task", task=config.task, world=config.world, agents=config.agents,
            config=config.model_dump(mode="json"),
        )  # fmt: skip
        return run.id

    def work(self, run_id: str) -> int:
        return work(run_id, self.url, self.home)

    def payloads(self, run_id: str, kind: str) -> list[dict[str, Any]]:
        rows = self.database.journal.events(run_id, kinds={kind}, limit=10_000)
        return [dict(row.payload) for row in rows]

    def weights(self, run_id: str) -> bytes:
        return (self.home / "runs" / run_id / "policy.safetensors").read_bytes()


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Files of the frozen parts."""
    root = tmp_path_factory.mktemp("frozen")
    save_lm(root / "model", random_lm(TINY, seed=0))
    config = json.loads((root / "model" / "config.json").read_text())
    config["architectures"] = ["LlamaForCausalLM"]
    (root / "model" / "config.json").write_text(json.dumps(config))
    words = {"?": 0} | {name: number for number, name in enumerate(CATEGORIES, 1)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(root / "model" / "tokenizer.json"))
    torch.manual_seed(0)
    save_encoder(root / "encoder.safetensors", FrozenEncoder(EncoderNet()))
    return {"model": str(root / "model"), "encoder": str(root / "encoder.safetensors")}


@pytest.fixture
def bench(
    tmp_path: Path, parts: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bench]:
    # The process installs signal handlers; a test process keeps its own.
    monkeypatch.setattr("engine.run.stop.signal.signal", lambda *_: None)
    made = Bench(tmp_path, parts)
    yield made
    made.database.close()


def test_a_run_trains_evaluates_every_split_and_saves_a_skill(bench: Bench) -> None:
    run_id = bench.create()
    assert bench.work(run_id) == FINISHED
    run = bench.database.journal.run(run_id)
    assert run.result is not None
    assert run.result["agents"] == "llarp"
    assert run.result["frames"] >= 1000
    evaluation = run.result["evaluation"]
    assert tuple(evaluation["success"]) == SPLITS
    assert evaluation["episodes"] == 4
    assert all(0 <= low <= high <= 1 for low, high in evaluation["intervals"].values())
    assert evaluation["baseline"]["policy"] == "random"
    (skill,) = bench.database.library.skills(world="rearrange", kind="policy")
    assert skill.latest.metadata["spec"]["model_sha256"]
    metrics = bench.payloads(run_id, "metrics")
    assert metrics[-1]["frames"] == run.result["frames"]
    assert all(0 <= told["success_rate"] <= 1 for told in metrics)
    version = bench.database.library.version(skill.name)
    weights = bench.database.library.weights(version)
    assert weights == bench.weights(run_id)


@pytest.mark.parametrize("policy", ["lstm", "blind", "no_text"])
def test_controls_run_in_the_same_harness(bench: Bench, policy: str) -> None:
    run_id = bench.create(policy)
    assert bench.work(run_id) == FINISHED
    result = bench.database.journal.run(run_id).result
    assert result is not None
    assert result["agents"] == policy


def test_a_stopped_run_goes_on_where_it_was(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to rounding: what is frozen is computed in other batches after a restart."""
    from engine.llarp import flats, phases

    monkeypatch.setattr("engine.rl.control.POLL_SECONDS", 0.0)
    drawn: list[str] = []
    draw = flats.TrainingTasks.next

    def draws(tasks: Any) -> Any:
        episode = draw(tasks)
        drawn.append(episode.id)
        return episode

    monkeypatch.setattr(flats.TrainingTasks, "next", draws)
    whole, parted = bench.create(), bench.create()
    assert bench.work(whole) == FINISHED
    without = list(drawn)
    drawn.clear()

    journal, tell = bench.database.journal, phases._Job._tell

    def tells(job: Any, *about: Any) -> None:
        tell(job, *about)
        if job.training.updates == 3:
            journal.send(parted, "abort")

    monkeypatch.setattr(phases._Job, "_tell", tells)
    assert bench.work(parted) == INTERRUPTED
    assert journal.run(parted).state is RunState.STOPPED
    before = [told["frames"] for told in bench.payloads(parted, "metrics")]
    of_whole = [told["frames"] for told in bench.payloads(whole, "metrics")]
    assert 3 <= len(before) < len(of_whole)  # the wish is read four times a second
    assert before == of_whole[: len(before)]
    monkeypatch.setattr(phases._Job, "_tell", tell)
    drawn.clear()
    assert bench.work(parted) == FINISHED
    assert without[-len(drawn) :] == drawn
    (_, resumed) = bench.payloads(parted, "training_started")
    assert resumed["frames_done"] == before[-1]
    after = [told["frames"] for told in bench.payloads(parted, "metrics")]
    assert after == sorted(set(after))
    one, other = (load(bench.weights(run_id)) for run_id in (whole, parted))
    assert one.keys() == other.keys()
    for name, weight in one.items():
        torch.testing.assert_close(weight, other[name], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"splits": ("nowhere",)}, "there is no split 'nowhere'"),
        ({"model": "/nowhere/model"}, "/nowhere/model"),
        ({"encoder": "/nowhere/eye"}, "there is no visual encoder at '/nowhere/eye'"),
    ],
)
def test_what_is_not_there_is_told(bench: Bench, wrong: dict[str, Any], said: str) -> None:
    run_id = bench.create(**wrong)
    assert bench.work(run_id) == FAILED
    (failed,) = bench.payloads(run_id, "failed")
    assert said in failed["message"]
    assert failed["hint"]


def test_the_world_decides_who_acts() -> None:
    assert RunConfig(task="t", world="rearrange").policy == "llarp"
    assert RunConfig(task="t").policy is None
    with pytest.raises(ValueError, match="it acts in 'rearrange' alone"):
        RunConfig(task="t", policy="llarp")
