"""From records to the report, and to the table at 80 columns."""

from __future__ import annotations

import numpy as np
import pytest

from engine.bench.arms import setup_for, task_name
from engine.bench.jobs import EvalJob, TrainJob
from engine.bench.messages import Failed
from engine.bench.report import build_report
from engine.bench.store import BenchFile, BenchStore
from engine.bench.table import WIDTH, render
from engine.errors import UnknownName

CHANCES = {"code": 0.6, "rl": 0.1, "code+rl": 0.9}


@pytest.fixture
def fill(tmp_path, make_config, episode, training_record, evaluation_record):
    """A store with made-up records of every job of a benchmark, or of the arms named."""

    def make(*arms, usage=(), **values):
        config = make_config(**values)
        setup = setup_for(config)
        file = BenchFile(config=config, versions={"crafter": "1.8.3"}, plan_sha256=setup.sha256)
        store = BenchStore(tmp_path / "bench")
        store.open(file)
        rng = np.random.default_rng(0)
        for arm in arms or config.arms:
            for seed in [None] if arm == "code" else range(config.seeds):
                sha256 = None
                if seed is not None:
                    sha256 = store.keep_policy(TrainJob(arm, seed), f"{arm}{seed}".encode())
                    record = training_record(
                        arm=arm, seed=seed, policy_sha256=sha256, usage=usage,
                        training_success={"collect_wood": 0.25 * (seed + 1)},
                    )  # fmt: skip
                    store.finish(TrainJob(arm, seed), record)
                for start in range(1_000_000, 1_000_000 + config.episodes, 25):
                    stop = min(start + 25, 1_000_000 + config.episodes)
                    played = [
                        episode(world, *(name for name in setup.world.achievements
                                         if rng.random() < CHANCES[arm]), reward=12.34)
                        for world in range(start, stop)
                    ]  # fmt: skip
                    record = evaluation_record(*played, arm=arm, seed=seed, policy_sha256=sha256)
                    store.finish(EvalJob(arm, seed, start, stop), record)
        return store, file, setup

    return make


def test_a_report_holds_everything_and_marks_what_is_apart(fill):
    store, file, setup = fill()
    report = build_report(store, file, setup, {})
    assert (report.complete, report.jobs_finished, report.jobs_total) == (True, 14, 14)
    assert set(report.arms) == {"code", "rl", "code+rl"}
    both = report.arms["code+rl"]
    assert both.final is not None
    assert both.final.episodes == 60
    assert both.final.score.value == pytest.approx(np.mean([seed.score for seed in both.seeds]))
    assert report.apart["rl"]["score"] is True
    assert report.apart["code"]["score"] is True
    assert report.apart["code"]["reward"] is False  # the same in all episodes
    assert "code+rl" not in report.apart
    protocol = both.standard_protocol
    assert protocol is not None
    assert protocol.success["collect_wood"] == pytest.approx(0.375)
    assert protocol.episodes == 16
    scores = [setup.world.score({"collect_wood": share}) for share in (0.25, 0.5)]
    assert protocol.score == pytest.approx(np.mean(scores))
    assert report.config == file.config
    assert any(one.method == "human experts" and one.score == 50.5 for one in report.published)


@pytest.mark.parametrize("length", [None, 300])
def test_the_table_fits_80_columns(fill, length):
    tenth = {f"{name}_action_with_a_long_name_that_goes_on": 0.3 for name in ("one", "two")}
    store, file, setup = fill(
        usage=(tenth,) * 10, episode_length=length, minutes=12.5, frames=10_000_000_000
    )
    text = render(build_report(store, file, setup, {}))
    assert max(map(len, text.splitlines())) <= WIDTH
    assert ("compare with nothing" in text) == (length is not None)
    for words in ("code only", "RL only", "code + RL", "collect_diamond", "STANDARD PROTOCOL",
                  "OPTION USAGE", "KNOWLEDGE THAT WENT IN", "external-knowledge", "PUBLISHED",
                  "SPRING", "not measured here"):  # fmt: skip
        assert words in text
    assert "INCOMPLETE" not in text


def test_the_widest_figures_fit_too(fill, monkeypatch):
    monkeypatch.setitem(CHANCES, "code", 0.999)
    monkeypatch.setitem(CHANCES, "rl", 0.98)
    store, file, setup = fill()
    text = render(build_report(store, file, setup, {}))
    assert max(map(len, text.splitlines())) <= WIDTH


def test_figures_show_their_interval_and_the_mark(fill):
    store, file, setup = fill()
    report = build_report(store, file, setup, {})
    lines = render(report).splitlines()
    score = next(line for line in lines if line.startswith("score %"))
    estimate = report.arms["rl"].final.score
    assert f"{estimate.value:.1f} [{estimate.low:.1f}, {estimate.high:.1f}]*" in score
    assert score.count("*") == 2
    reward = next(line for line in lines if line.startswith("reward"))
    assert reward.split() == ["reward", *["12.3", "[12.3]"] * 3]


def test_gains_in_the_same_worlds_are_shown_beside_the_arms(fill):
    store, file, setup = fill()
    report = build_report(store, file, setup, {})
    assert set(report.gains) == {"code", "rl"}
    means = {arm: figures.final.success["collect_coal"].value
             for arm, figures in report.arms.items()}  # fmt: skip
    gained = report.gains["rl"].success["collect_coal"]
    assert gained.value == pytest.approx(means["code+rl"] - means["rl"])
    lines = render(report).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("GAIN OF CODE + RL"))
    score = report.gains["code"].score
    assert f"{score.value:+.1f} [{score.low:+.1f}, {score.high:+.1f}]" in lines[at + 1]
    assert lines[at + 1].split()[-1] == "-"


def test_usage_over_training_is_shown_for_code_and_rl(fill):
    usage = tuple({"gather_wood": part / 10, "drink": 0.001} for part in range(10))
    store, file, setup = fill(usage=usage)
    lines = render(build_report(store, file, setup, {})).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("OPTION USAGE"))
    assert lines[at + 1].split() == ["gather_wood", ".", "10", "20", "30", "40", "50", "60", "70",
                                     "80", "90"]  # fmt: skip
    assert lines[at + 2].split() == ["drink", *["<1"] * 10]
    assert lines[at + 3].split()[:3] == ["(primitives)", "100", "90"]


def test_what_is_missing_is_said(fill):
    store, file, setup = fill("code")
    failed = {TrainJob("rl", 0): Failed("it broke", "mend it")}
    report = build_report(store, file, setup, failed)
    assert not report.complete
    assert report.failed[0].job == "train-rl-0"
    assert report.arms["rl"].final is None
    assert report.apart == {}
    text = render(report)
    assert "INCOMPLETE: 2 of 14 jobs" in text
    score = next(line for line in text.splitlines() if line.startswith("score %"))
    assert score.split()[-2:] == ["-", "-"]


def test_a_training_that_ended_early_is_said(fill, training_record):
    store, file, setup = fill()
    sha256 = store.keep_policy(TrainJob("rl", 1), b"rl1")
    record = training_record(arm="rl", seed=1, ended="diverged", frames=700, policy_sha256=sha256)
    store.finish(TrainJob("rl", 1), record)
    assert "RL only, seed 1: its training ended early (diverged) after 700 frames" in " ".join(
        render(build_report(store, file, setup, {})).split()
    )


def test_jobs_of_two_states_of_the_program_are_said(fill, evaluation_record, episode):
    store, file, setup = fill()
    job = EvalJob("code", None, 1_000_000, 1_000_025)
    played = [episode(world) for world in range(1_000_000, 1_000_025)]
    store.finish(job, evaluation_record(*played, source="another"))
    assert "2 states" in render(build_report(store, file, setup, {}))


def test_the_setup_is_of_its_task(make_config):
    setup = setup_for(make_config())
    assert setup.sha256 == setup_for(make_config()).sha256
    assert setup.sha256 != setup_for(make_config(task="collect_wood")).sha256
    assert setup.actions_of("rl") == ()
    assert setup.actions_of("code") == setup.actions_of("code+rl") == setup.actions
    assert setup.goals
    with pytest.raises(UnknownName, match="fly"):
        setup_for(make_config(task="fly"))


def test_a_task_is_named_by_words_or_the_widest_one():
    assert task_name("crafter", "collect a diamond") == "collect_diamond"
    assert task_name("crafter", None) in ("all_achievements", "collect_diamond")
    with pytest.raises(UnknownName):
        task_name("crafter", "fly to the moon")
