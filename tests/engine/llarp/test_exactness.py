"""The fast policy is the plain one: the same log-probabilities, values and gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.llarp.lm_config import TINY
from engine.llarp.lm_files import random_lm
from engine.llarp.naive import NaivePolicy
from engine.llarp.policy import LlarpPolicy
from engine.llarp.rollout import collect
from engine.llarp.sequences import Episode, Trainable, Valuation

CLOSE = {"atol": 1e-5, "rtol": 1e-5}
Make = Callable[..., LlarpPolicy]


def play(policy: Trainable, buttons: Any, steps: int = 60, seed: int = 1) -> list[Episode]:
    return collect(policy, buttons(size=6, seed=seed), steps, torch.Generator().manual_seed(seed))


def gradients(policy: Trainable, episodes: Sequence[Episode]) -> tuple[Valuation, list[Tensor]]:
    """Of a sum in which every output has a weight of its own."""
    found = policy.evaluate(episodes)
    weight = torch.randn(3, len(found.values), generator=torch.Generator().manual_seed(0))
    total = (
        weight[0] * found.log_probs + weight[1] * found.values + weight[2] * found.entropies
    ).sum()
    parameters = list(policy.trained().values())
    return found, list(torch.autograd.grad(total, parameters))


def assert_same(first: Valuation, second: Valuation) -> None:
    for name in ("log_probs", "values", "entropies"):
        torch.testing.assert_close(getattr(first, name), getattr(second, name), **CLOSE)


def test_update_equals_the_plain_one(make_policy: Make, buttons: Any) -> None:
    policy = make_policy()
    episodes = play(policy, buttons)
    assert len({len(episode) for episode in episodes}) > 2
    assert len({episode.instruction for episode in episodes}) > 2
    fast, fast_gradients = gradients(policy, episodes)
    plain, plain_gradients = gradients(NaivePolicy(policy), episodes)
    assert_same(fast, plain)
    for mine, theirs in zip(fast_gradients, plain_gradients, strict=True):
        assert mine.abs().max() > 0
        scale = theirs.abs().max().clamp(min=1.0)
        torch.testing.assert_close(mine / scale, theirs / scale, **CLOSE)


def test_padding_that_is_attended_to_is_as_released(make_policy: Make, buttons: Any) -> None:
    policy = make_policy(pad_instruction_to=30)
    episodes = play(policy, buttons)
    fast, fast_gradients = gradients(policy, episodes)
    plain, plain_gradients = gradients(NaivePolicy(policy, attend_to_padding=True), episodes)
    assert_same(fast, plain)
    for mine, theirs in zip(fast_gradients, plain_gradients, strict=True):
        scale = theirs.abs().max().clamp(min=1.0)
        torch.testing.assert_close(mine / scale, theirs / scale, **CLOSE)
    unpadded = make_policy().evaluate(episodes)
    assert not torch.allclose(unpadded.log_probs, fast.log_probs, atol=1e-3)


@pytest.mark.parametrize("naive", [False, True])
def test_rollout_and_update_agree(make_policy: Make, buttons: Any, naive: bool) -> None:
    """Ratios of the first minibatch are 1, whatever order episodes end and begin in."""
    fast = make_policy()
    policy = NaivePolicy(fast) if naive else fast
    episodes = play(policy, buttons)
    found = policy.evaluate(episodes)
    acted = torch.cat([episode.log_probs for episode in episodes])
    torch.testing.assert_close(found.log_probs, acted, **CLOSE)
    torch.testing.assert_close(
        found.values, torch.cat([episode.values for episode in episodes]), **CLOSE
    )


def test_rollout_equals_the_plain_one(make_policy: Make, buttons: Any) -> None:
    policy = make_policy()
    fast, plain = play(policy, buttons), play(NaivePolicy(policy), buttons)
    assert [e.instruction for e in fast] == [e.instruction for e in plain]
    for mine, theirs in zip(fast, plain, strict=True):
        assert torch.equal(mine.actions, theirs.actions)
        torch.testing.assert_close(mine.log_probs, theirs.log_probs, **CLOSE)


def test_instructions_go_through_with_the_first_observations(
    make_policy: Make, buttons: Any
) -> None:
    """Filled in by the pass of a step, kept, and the same as computed alone."""
    policy = make_policy()
    passes = []
    policy.lm.register_forward_hook(lambda module, inputs, output: passes.append(len(inputs[0])))
    episodes = play(policy, buttons)
    texts = {episode.instruction for episode in episodes}
    assert policy.prefixes.computed == len(texts) == 4
    assert sum(passes) == sum(map(len, episodes)) + sum(len(text) + 1 for text in texts)
    alone = make_policy().evaluate(episodes)
    assert policy.prefixes.computed == 4
    torch.testing.assert_close(policy.evaluate(episodes).values, alone.values, **CLOSE)


def test_the_whole_history_and_the_instruction_are_seen(make_policy: Make, buttons: Any) -> None:
    policy = make_policy()
    episode = max(play(policy, buttons), key=len)
    assert len(episode) > 3
    before = policy.evaluate([episode]).values
    features = episode.features.clone()
    features[1] += 1.0
    changed = _with(episode, features=features)
    differs = (policy.evaluate([changed]).values - before).abs() > 1e-6
    assert differs.tolist() == [False] + [True] * (len(episode) - 1)
    other = policy.evaluate([_with(episode, instruction="press nothing")]).values
    assert ((other - before).abs() > 1e-6).all()


def test_bf16_ratios_are_near_one(make_policy: Make, buttons: Any) -> None:
    policy = make_policy(lm=random_lm(TINY, 0, torch.bfloat16))
    episodes = play(policy, buttons)
    found = policy.evaluate(episodes)
    acted = torch.cat([episode.log_probs for episode in episodes])
    assert (found.log_probs - acted).exp().sub(1).abs().max() < 0.05
    assert all(weight.dtype == torch.float32 for weight in policy.trained().values())


def test_a_trainable_model_gets_the_gradients_of_its_prefix_too(
    make_policy: Make, buttons: Any
) -> None:
    policy = make_policy(lm=random_lm(TINY, 0, trainable=True))
    episodes = play(policy, buttons)
    names = list(policy.trained())
    assert "lm.embedding" in names
    _, mine = gradients(policy, episodes)
    _, theirs = gradients(NaivePolicy(policy), episodes)
    for name, fast, plain in zip(names, mine, theirs, strict=True):
        scale = plain.abs().max().clamp(min=1.0)
        torch.testing.assert_close(fast / scale, plain / scale, **CLOSE, msg=name)


def _with(episode: Episode, **changes: Any) -> Episode:
    names = ("instruction", "features", "actions", "log_probs", "values", "rewards", "success")
    return Episode(**{name: getattr(episode, name) for name in names} | changes)
