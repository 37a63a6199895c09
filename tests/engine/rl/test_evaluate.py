"""Evaluation: deterministic, unshaped, stoppable, and without torch."""

from __future__ import annotations

import subprocess
import sys

import pytest

from engine.rl.evaluate import evaluate
from engine.rl.policies import ExecutivePolicy, RandomPolicy


class Fetcher:
    """Always fetches the gem."""

    def __init__(self, action):
        self.action = action

    def choose(self, player):
        return self.action


@pytest.fixture
def play(world, sandbox, make_action):
    action = make_action(success="true")

    def run(policy="code", seeds=range(1_000_000, 1_000_012), **changes):
        chosen = RandomPolicy(world)
        if policy == "code":
            chosen = ExecutivePolicy(lambda: Fetcher(action), (action,), world)
        settings = {"task_success": "gems >= 3", "goals": {"one": "gems >= 1"}, **changes}
        return evaluate(world, chosen, (action,), sandbox, seeds=seeds, **settings)

    return run


def test_figures_of_a_good_policy(play):
    found = play()
    assert (found.policy, found.seeds, found.episodes) == ("code_only", "1000000:1000012", 12)
    assert found.success == {"take_gem": 1.0}
    assert found.score == 100.0
    assert found.goals == {"one": 1.0}
    assert found.task_success >= 0.75
    assert 3.0 < found.reward_mean < 12.0
    assert found.length_mean * 12 == found.frames


def test_it_beats_chance(play):
    assert play("random").task_success < play().task_success


def test_it_is_deterministic(play):
    for policy in ("code", "random"):
        first, second = play(policy), play(policy)
        assert first.model_copy(update={"seconds": 0}) == second.model_copy(update={"seconds": 0})


@pytest.mark.parametrize("policy", ["code", "random"])
def test_how_many_play_at_once_changes_nothing(play, policy):
    found = [play(policy, places=places).model_dump() for places in (1, 5, 40)]
    assert [{**figures, "seconds": 0} for figures in found] == [{**found[0], "seconds": 0}] * 3


def test_the_reward_is_the_worlds_own(play):
    assert play(goals={}).reward_mean == play(goals={"one": "gems >= 1"}).reward_mean


def test_progress_counts_episodes(play):
    told = []
    play(seeds=range(3), progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_each_episode_is_told_of_as_it_ends(play):
    told = []
    found = play("random", on_episode=told.append, places=3)
    assert [summary.frames for summary in told] != [told[0].frames] * 12, "they end at times"
    assert sorted(summary.seed for summary in told) == list(range(1_000_000, 1_000_012))
    assert found.frames == sum(summary.frames for summary in told)
    assert found.task_success == sum(summary.task_success for summary in told) / 12
    alone = {}
    for seed in (1_000_003, 1_000_011):
        play("random", range(seed, seed + 1), on_episode=lambda s: alone.setdefault(s.seed, s))
    assert {summary.seed: summary for summary in told if summary.seed in alone} == alone


def test_a_stop_gives_the_figures_so_far(play, sandbox):
    finished = []
    found = play(
        should_stop=lambda: len(finished) >= 2,
        progress=lambda done, of: finished.append(done),
        places=2,
        episode_length=5,
    )
    assert found.episodes == len(finished) == 2
    assert found.seeds == "1000000:1000012"
    assert 0 < found.frames <= 10
    assert found.length_mean == found.frames / 2
    assert all(program.closed for program in sandbox.programs)
    frames = []
    last = play(
        episode_length=3, places=1, should_stop=lambda: len(frames) >= 6,
        on_frame=lambda view, caption: frames.append(caption),
    )  # fmt: skip
    assert (last.episodes, last.frames) == (2, 6), "what ends with the last frame counts"
    assert play(should_stop=lambda: True).episodes == 0


def test_episode_length_and_frames_shown(play):
    shown = []

    def show(view, caption):
        shown.append((view.episode_frames, caption))

    found = play(seeds=range(1, 4), episode_length=5, on_frame=show, places=1)
    assert found.frames == len(shown) <= 15
    assert [frames for frames, _ in shown] == [1, 2, 3, 4, 5] * 3
    assert {caption for _, caption in shown} == {"fetch_gem"}
    shown.clear()
    play(seeds=range(1, 4), episode_length=5, on_frame=show, places=3)
    assert len(shown) == 5, "of the first place alone"


def test_evaluating_without_a_network_needs_no_torch():
    code = (
        "import sys, engine.rl.evaluate, engine.rl.policies, engine.rl.policy_file, "
        "engine.rl.options; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
