"""The arms in terms of evaluation: code alone in a few unseen worlds, in either executor."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.bench.arms import Policies, play, setup_for
from engine.bench.jobs import EvalJob
from engine.errors import SandboxError

JOB = EvalJob("code", None, 1_000_000, 1_000_003)


def test_code_alone_plays_each_world_once_and_alike_in_both_executors(make_config):
    def episodes(*, fast):
        told: list[int] = []
        found = play(
            JOB,
            make_config(episode_length=80, fast_mode=fast),
            Policies(),
            should_stop=lambda: False,
            progress=lambda done, _seconds: told.append(done),
        )
        assert told == [1, 2, 3]
        return found

    played = episodes(fast=False)
    assert episodes(fast=True) == played
    assert [episode.seed for episode in played] == [1_000_000, 1_000_001, 1_000_002]
    assert all(0 < episode.frames <= 80 for episode in played)
    assert all("collect_wood" in episode.achievements for episode in played)
    assert all(episode.reward > 0.5 for episode in played)


def test_what_is_over_when_it_is_stopped_is_told(make_config):
    config = make_config(episode_length=80)
    assert play(JOB, config, Policies(), should_stop=lambda: True, progress=print) == []


def test_with_code_a_policy_keeps_to_the_choices_of_the_plan(make_config):
    setup = setup_for(make_config())
    name = setup.actions[0].name

    def limited(*choices):
        subtasks = tuple(
            subtask.model_copy(
                update={
                    "sub_actions": tuple(
                        action.model_copy(update={"choices": choices})
                        for action in subtask.sub_actions
                    )
                }
            )
            for subtask in setup.plan.subtasks
        )
        return replace(setup, plan=setup.plan.model_copy(update={"subtasks": subtasks}))

    assert limited(name, "noop", "lost").choices_of("code+rl") == ("noop", name)
    assert limited(name, "noop", "lost").choices_of("rl") == ()
    assert limited().choices_of("code+rl") == ()


def test_fast_mode_runs_no_code_that_fails_its_check(make_config, monkeypatch):
    config = make_config(fast_mode=True)
    setup = setup_for(config)
    bad = replace(setup.actions[0], code="import os\n\n\ndef run() -> str:\n    return ''\n")
    wrong = replace(setup, actions=(bad, *setup.actions[1:]))
    monkeypatch.setattr("engine.bench.arms.setup_for", lambda _: wrong)
    with pytest.raises(SandboxError, match="fails its check"):
        play(JOB, config, Policies(), should_stop=lambda: False, progress=print)
