"""What is kept between calls: instruction prefixes, running episodes, visual features."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.errors import ConfigError, EngineError
from engine.llarp.lm import CausalLm
from engine.llarp.policy import LlarpPolicy
from engine.llarp.prefixes import Prefixes, byte_tokens
from engine.llarp.token_cache import TokenCache
from engine.llarp.vision import RememberingEncoder

Make = Callable[..., LlarpPolicy]


def keys_of(prefixes: Prefixes, texts: Sequence[str]) -> list[Tensor]:
    """Keys of the last layer by text, without what lies behind each."""
    rows = prefixes.rows(texts)
    pool = rows.keys[-1]
    return [
        pool[slot, :, :length].clone()
        for slot, length in zip(rows.slots.tolist(), rows.lengths, strict=True)
    ]


def test_an_instruction_is_computed_once(tiny_lm: CausalLm) -> None:
    prefixes = Prefixes(tiny_lm, byte_tokens)
    rows = prefixes.rows(["go", "open it", "go"])
    assert rows.lengths == (3, 8, 3)
    assert rows.slots[0] == rows.slots[2] != rows.slots[1]
    prefixes.rows(["open it", "go"])
    assert prefixes.computed == 2


def test_the_least_recently_used_make_room(tiny_lm: CausalLm) -> None:
    prefixes = Prefixes(tiny_lm, byte_tokens, capacity=3)
    texts = ["one", "number two", "three", "a much longer number four"]
    alone = [keys_of(Prefixes(tiny_lm, byte_tokens), [text])[0] for text in texts]
    prefixes.rows(texts[:3])
    prefixes.rows(texts[:1])
    prefixes.rows(texts[3:])  # "number two" goes
    assert prefixes.computed == 4
    prefixes.rows([texts[0], texts[2], texts[3]])
    assert prefixes.computed == 4
    prefixes.rows(texts[1:2])
    assert prefixes.computed == 5
    for found, expected in zip(keys_of(prefixes, texts), alone, strict=True):
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    assert prefixes.rows(texts).keys[0].shape[0] == 4  # one call may hold more than is kept


def test_random_use_never_mixes_prefixes_up(tiny_lm: CausalLm) -> None:
    rng = np.random.default_rng(0)
    texts = ["x" * (1 + n % 7) + str(n) for n in range(20)]
    prefixes = Prefixes(tiny_lm, byte_tokens, capacity=6)
    expected = dict(zip(texts, keys_of(Prefixes(tiny_lm, byte_tokens), texts), strict=True))
    for _ in range(40):
        wanted = rng.choice(texts, rng.integers(1, 9)).tolist()
        for text, found in zip(wanted, keys_of(prefixes, wanted), strict=True):
            torch.testing.assert_close(found, expected[text], atol=1e-5, rtol=1e-5)


def test_an_instruction_may_be_too_long(tiny_lm: CausalLm) -> None:
    prefixes = Prefixes(tiny_lm, byte_tokens, longest=4)
    with pytest.raises(ConfigError, match="has 5 tokens, not 1 to 4"):
        prefixes.rows(["four"])
    with pytest.raises(ConfigError, match="has 0 tokens"):
        Prefixes(tiny_lm, lambda text: []).rows([""])


def test_episodes_go_on_where_rows_move(tiny_lm: CausalLm) -> None:
    """Ends and beginnings in any order: each episode's hidden states are those it has alone."""
    rng = np.random.default_rng(1)
    prefixes = Prefixes(tiny_lm, byte_tokens)
    together = TokenCache(tiny_lm, 4, 12)
    alone: dict[int, TokenCache] = {}
    for step in range(40):
        for env in range(4):
            if rng.random() < 0.25:
                prefix = prefixes.rows(["go" * int(rng.integers(1, 5 + step // 4))])
                together.open([env], prefix)
                alone[env] = TokenCache(tiny_lm, 1, 12)
                alone[env].open([0], prefix)
            elif rng.random() < 0.2:
                together.close([env])
                alone.pop(env, None)
        if not alone:
            continue
        x = {env: torch.randn(1, 32) for env in alone}
        hidden = together.step(torch.cat([x[env] for env in together.owners]))
        for env, row in zip(together.owners, hidden, strict=True):
            torch.testing.assert_close(
                row, alone[env].step(x[env])[0], atol=1e-5, rtol=1e-5, msg=f"{step}, {env}"
            )
    assert set(together.owners) == set(alone)


def test_episodes_that_have_not_begun_to_act_can_end_or_begin_anew(make_policy: Make) -> None:
    policy, alone = make_policy(), make_policy()
    policy.begin([0, 1, 2, 3], ["one", "number two", "three", "one"])
    policy.end([0])
    policy.begin([2], ["another three"])
    observations = torch.randn(3, 6)
    found = policy.act([3, 1, 2], observations)
    for index, (env, text) in enumerate(((3, "one"), (1, "number two"), (2, "another three"))):
        alone.begin([env], [text])
        expected = alone.act([env], observations[index : index + 1])
        torch.testing.assert_close(found.values[index], expected.values[0], atol=1e-5, rtol=1e-5)
        alone.end([env])
    assert policy.prefixes.computed == 3  # "three" was never needed


def test_says_what_does_not_fit(make_policy: Make) -> None:
    policy = make_policy(envs=2, max_steps=3)
    with pytest.raises(EngineError, match="room for 2"):
        policy.begin([0, 1, 2], ["a", "b", "c"])
    policy.begin([0, 1], ["a", "b"])
    with pytest.raises(EngineError, match=r"of \[0\] came in while the episodes of \[0, 1\] run"):
        policy.act([0], torch.zeros(1, 6))
    for _ in range(3):
        policy.act([1, 0], torch.zeros(2, 6))
    with pytest.raises(EngineError, match="goes on after 3 steps"):
        policy.act([0, 1], torch.zeros(2, 6))
    policy.begin([0, 1], ["a", "b"])
    with pytest.raises(ConfigError, match=r"shape \(2, 5\), not \(n, 6\)"):
        policy.act([0, 1], torch.zeros(2, 5))
    with pytest.raises(ConfigError, match="no visual encoder"):
        policy.act([0, 1], torch.zeros(2, 4, 4, 3, dtype=torch.uint8))


class MeanColours:
    """An encoder: mean and largest value of each channel."""

    source_hash = "mean colours"

    def __init__(self) -> None:
        self.seen = 0

    def __call__(self, pictures: Tensor) -> Tensor:
        self.seen += len(pictures)
        scaled = pictures.float() / 255
        return torch.cat((scaled.mean((1, 2)), scaled.amax((1, 2))), dim=1)


def test_a_picture_is_encoded_once(make_policy: Make) -> None:
    encoder = MeanColours()
    remembering = RememberingEncoder(encoder, capacity=3)
    policy = make_policy(encoder=remembering)
    pictures = torch.randint(0, 256, (3, 4, 4, 3), dtype=torch.uint8)
    pictures[2] = pictures[0]
    policy.begin([0, 1, 2], ["a", "b", "c"])
    first = policy.act([0, 1, 2], pictures)
    again = policy.act([0, 1, 2], pictures)
    assert encoder.seen == remembering.encoded == 2
    assert torch.equal(first.features, MeanColours()(pictures))
    assert torch.equal(first.features, again.features)
    more = torch.randint(0, 256, (5, 4, 4, 3), dtype=torch.uint8)
    assert torch.equal(remembering(more), MeanColours()(more))
    remembering(pictures)  # had to make room
    assert encoder.seen == 2 + 5 + 2
