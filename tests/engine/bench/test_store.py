"""The folder of a benchmark: what is finished stays, what does not belong is refused."""

from __future__ import annotations

import shutil
from collections import namedtuple

import pytest

from engine.bench.jobs import EvalJob, TrainJob
from engine.bench.store import BenchFile, BenchStore
from engine.errors import ConfigError, EngineError

TRAINING = TrainJob("code+rl", 0)
EVALUATION = EvalJob("code+rl", 0, 1_000_000, 1_000_025)
VERSIONS = {"crafter": "1.8.3"}


@pytest.fixture
def wanted(make_config):
    return BenchFile(config=make_config(), versions=VERSIONS, plan_sha256="plan")


@pytest.fixture
def store(tmp_path, wanted):
    store = BenchStore(tmp_path / "bench")
    assert store.open(wanted) is False
    return store


def test_the_same_benchmark_goes_on(store, wanted):
    assert store.read() == wanted
    assert BenchStore(store.folder).open(wanted) is True


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"versions": {"crafter": "1.9.0"}}, r"crafter: 1\.8\.3 -> 1\.9\.0"),
        ({"plan_sha256": "another"}, "other coded actions"),
    ],
)
def test_another_benchmark_is_refused(store, wanted, change, words):
    with pytest.raises(ConfigError, match=words):
        store.open(wanted.model_copy(update=change))


def test_another_configuration_is_refused_and_named(store, wanted, make_config):
    other = wanted.model_copy(update={"config": make_config(episodes=99)})
    with pytest.raises(ConfigError, match="episodes: 30 -> 99") as error:
        store.open(other)
    assert "--folder" in error.value.hint


def test_a_folder_without_a_benchmark_says_so(tmp_path):
    with pytest.raises(ConfigError, match=r"no bench\.json"):
        BenchStore(tmp_path).read()


def test_a_damaged_bench_file_is_no_crash(store):
    store.file.write_text('{"format": ')
    with pytest.raises(ConfigError, match="damaged"):
        store.read()


def test_a_folder_that_cannot_be_made_is_an_error_with_a_way_out(tmp_path, wanted):
    (tmp_path / "file").write_text("no folder")
    store = BenchStore(tmp_path / "file" / "bench")
    with pytest.raises(EngineError, match="cannot be written") as error:
        store.open(wanted)
    assert "--folder" in error.value.hint
    with pytest.raises(EngineError, match="cannot be written"), store.locked():
        pass


def test_a_full_disk_is_found_before_the_work_begins(tmp_path, wanted, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10, 5, 2**20))
    with pytest.raises(EngineError, match="1 MB free"):
        BenchStore(tmp_path / "bench").open(wanted)


def test_a_folder_is_held_by_one_process_at_a_time(store):
    other = BenchStore(store.folder)
    with store.locked(), pytest.raises(ConfigError, match="another process"), other.locked():
        pass
    with other.locked():
        pass


def test_a_job_is_finished_once_its_record_is_there(store, training_record, evaluation_record):
    assert not store.is_finished(TRAINING)
    sha256 = store.keep_policy(TRAINING, b"weights")
    assert not store.is_finished(TRAINING)
    store.finish(TRAINING, training_record(policy_sha256=sha256))
    assert store.is_finished(TRAINING)
    assert store.policy(TRAINING) == b"weights"
    record = evaluation_record(arm="code+rl", seed=0, policy_sha256=sha256)
    store.finish(EVALUATION, record)
    assert store.evaluation(EVALUATION) == record


def test_an_evaluation_of_other_weights_does_not_count(store, training_record, evaluation_record):
    store.finish(EVALUATION, evaluation_record(arm="code+rl", seed=0, policy_sha256="old"))
    assert not store.is_finished(EVALUATION)
    sha256 = store.keep_policy(TRAINING, b"new")
    store.finish(TRAINING, training_record(policy_sha256=sha256))
    assert not store.is_finished(EVALUATION)


def test_weights_that_changed_are_not_played(store, training_record):
    sha256 = store.keep_policy(TRAINING, b"weights")
    store.finish(TRAINING, training_record(policy_sha256=sha256))
    (store.folder / "policies" / f"{TRAINING.key}.safetensors").write_bytes(b"other")
    with pytest.raises(EngineError, match="not what the training left"):
        store.policy(TRAINING)
    (store.folder / "policies" / f"{TRAINING.key}.safetensors").unlink()
    with pytest.raises(EngineError, match="cannot be read"):
        store.policy(TRAINING)


def test_a_damaged_record_names_the_file_to_delete(store):
    path = store.folder / "jobs" / f"{TRAINING.key}.json"
    path.write_text('{"arm": "code')
    with pytest.raises(EngineError, match="damaged") as error:
        store.is_finished(TRAINING)
    assert "Delete" in error.value.hint
    assert str(path) in error.value.message
