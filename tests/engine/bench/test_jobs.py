"""The benchmark cut into jobs, its configuration, and how long the rest will take."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from engine.bench.config import differences
from engine.bench.jobs import EvalJob, TrainJob, all_jobs, eval_jobs, ready, train_jobs
from engine.bench.messages import EvaluationProgress, TrainingProgress
from engine.bench.pace import Pace


def test_every_arm_and_seed_is_trained_and_plays_every_unseen_world_once(make_config):
    config = make_config(seeds=3, episodes=60)
    trained = {(job.arm, job.seed) for job in train_jobs(config)}
    assert trained == {(arm, seed) for arm in ("rl", "code+rl") for seed in range(3)}
    played: dict[tuple[str, int | None], list[int]] = {}
    for job in eval_jobs(config):
        played.setdefault((job.arm, job.seed), []).extend(range(job.start, job.stop))
    assert set(played) == trained | {("code", None)}
    assert all(worlds == list(range(1_000_000, 1_000_060)) for worlds in played.values())
    assert len({job.key for job in all_jobs(config)}) == len(all_jobs(config))


def test_an_evaluation_waits_for_its_own_training_alone(make_config):
    job = EvalJob("rl", 1, 1_000_000, 1_000_025)
    assert not ready(job, {TrainJob("rl", 0), TrainJob("code+rl", 1)})
    assert ready(job, {TrainJob("rl", 1)})
    assert ready(EvalJob("code", None, 1_000_000, 1_000_025), set())


def test_the_first_seed_of_both_arms_is_trained_first(make_config):
    assert train_jobs(make_config())[:2] == (TrainJob("code+rl", 0), TrainJob("rl", 0))


@pytest.mark.parametrize(
    "values", [{"arms": ()}, {"arms": ("rl", "rl")}, {"arms": ("magic",)}, {"frames": None},
               {"seeds": 0}, {"episodes": 0}, {"minutes": -1}, {"agents": "llm"}]
)  # fmt: skip
def test_what_cannot_be_measured_is_refused(make_config, values):
    with pytest.raises(ValidationError):
        make_config(**values)


def test_differences_are_named_with_both_values(make_config):
    one = make_config(training={"gamma": 0.995})
    other = make_config(episodes=40, training={"gamma": 0.9})
    assert differences(one, one) == []
    assert differences(one, other) == ["episodes: 30 -> 40", "training.gamma: 0.995 -> 0.9"]


def test_time_left_comes_from_what_jobs_tell(make_config):
    pace = Pace(make_config(frames=10_000))
    training, evaluation = TrainJob("rl", 0), EvalJob("rl", 0, 1_000_000, 1_000_025)
    assert pace.left(training) is None
    assert pace.all_left({training: None}, [evaluation], 2) is None
    told = TrainingProgress(frames=2_000, seconds=4.0)
    pace.see(training, told)
    assert pace.left(training, told) == pytest.approx(16)
    assert pace.left(TrainJob("code+rl", 0)) == pytest.approx(20)  # as far as anybody knows
    pace.see(evaluation, EvaluationProgress(done=5, seconds=10.0))
    assert pace.left(evaluation, EvaluationProgress(5, 10.0)) == pytest.approx(40)
    assert pace.all_left({training: told}, [evaluation] * 4, 2) == pytest.approx((16 + 200) / 2)
    assert pace.all_left({training: told}, [], 2) == pytest.approx(16)  # one job is not shared


def test_a_time_budget_is_known_from_the_start(make_config):
    pace = Pace(make_config(frames=None, minutes=2))
    assert pace.left(TrainJob("rl", 0)) == pytest.approx(120)
    assert pace.left(TrainJob("rl", 0), TrainingProgress(100, 30.0)) == pytest.approx(90)
