from __future__ import annotations

import pytest
from pydantic import ValidationError

from engine.config import LlmConfig, RunConfig, TrainingConfig
from engine.errors import ConfigError


@pytest.mark.parametrize(
    "url", ["notaurl", "ftp://host/v1", "http://user:secret@host/v1", "http://", "http://a b/v1"]
)
def test_a_base_url_is_http_and_holds_no_secret(url):
    with pytest.raises(ValidationError):
        LlmConfig(base_url=url)


def test_a_key_in_place_of_its_variable_is_refused():
    with pytest.raises(ValidationError):
        LlmConfig(api_key_env="sk-very-secret")


@pytest.mark.parametrize(
    "wrong",
    [
        {"net_arch": (0,)},
        {"net_arch": (-5,)},
        {"device": "warp"},
        {"learning_rate": float("inf")},
        {"learning_rate_final": -1e-4},
        {"ent_coef_final": -0.1},
        {"target_success": 0.97},
        {"target_kl": 0.0},
        {"recheck_frames": -1},
        {"interruption": "never"},
    ],
)
def test_training_settings_that_cannot_work_are_refused(wrong):
    with pytest.raises(ValidationError):
        TrainingConfig(**wrong)


def test_a_rollout_need_not_be_whole_batches():
    assert TrainingConfig(n_envs=3, n_steps=10, batch_size=64).batch_size == 64


def test_a_resumed_run_may_have_another_budget():
    before = RunConfig(task="t", llm=LlmConfig(model="m", max_tokens_total=1))
    after = before.changed({"llm.max_tokens_total": 9, "approve": "all"})
    assert after.llm == LlmConfig(model="m", max_tokens_total=9)
    assert after.approve == "all"
    assert after.task == "t"


@pytest.mark.parametrize(
    "name", ["task", "world", "seed", "training.n_envs", "llm.nonsense", "frames"]
)
def test_what_would_undo_the_work_so_far_stays(name):
    with pytest.raises(ConfigError, match="cannot be changed"):
        RunConfig(task="t").changed({name: 1})


def test_a_change_that_cannot_work_names_the_setting():
    with pytest.raises(ConfigError, match=r"llm\.max_tokens_total"):
        RunConfig(task="t").changed({"llm.max_tokens_total": 0})
