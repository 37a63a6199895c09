"""The decoder: an independent Llama gives the same numbers; files keep it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import safetensors.torch
import torch
from torch import Tensor

from engine.errors import ConfigError
from engine.llarp.attention import Packed
from engine.llarp.lm import CausalLm
from engine.llarp.lm_config import TINY, LmConfig, StretchedRotary, read_lm_config
from engine.llarp.lm_files import hash_of, load_lm, random_lm, save_lm


def reference(folder: Path, tokens: Tensor) -> Tensor:
    """The textbook's Llama for one sequence, from the files: loops and complex rotations."""
    w = safetensors.torch.load_file(folder / "model.safetensors")
    c = json.loads((folder / "config.json").read_text())
    heads, kv, size = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
    n = len(tokens)

    def norm(x: Tensor, weight: Tensor) -> Tensor:
        return x / (x.pow(2).mean(-1, keepdim=True) + c["rms_norm_eps"]).sqrt() * weight

    def turn(x: Tensor) -> Tensor:
        out = torch.empty_like(x)
        for position in range(n):
            for i in range(size // 2):
                angle = torch.tensor(position / c["rope_theta"] ** (2 * i / size))
                z = torch.complex(x[position, :, i], x[position, :, i + size // 2])
                z = z * torch.complex(angle.cos(), angle.sin())
                out[position, :, i], out[position, :, i + size // 2] = z.real, z.imag
        return out

    x = w["model.embed_tokens.weight"][tokens]
    for layer in range(c["num_hidden_layers"]):
        p = f"model.layers.{layer}."
        y = norm(x, w[f"{p}input_layernorm.weight"])
        q, k, v = (
            (y @ w[f"{p}self_attn.{name}_proj.weight"].T).view(n, count, size)
            for name, count in (("q", heads), ("k", kv), ("v", kv))
        )
        q, k = turn(q), turn(k)
        gathered = torch.zeros(n, heads, size)
        for head in range(heads):
            for i in range(n):
                other = head // (heads // kv)
                scores = k[: i + 1, other] @ q[i, head] / size**0.5
                gathered[i, head] = scores.softmax(0) @ v[: i + 1, other]
        x = x + gathered.reshape(n, -1) @ w[f"{p}self_attn.o_proj.weight"].T
        y = norm(x, w[f"{p}post_attention_layernorm.weight"])
        gate, up = (y @ w[f"{p}mlp.{name}_proj.weight"].T for name in ("gate", "up"))
        x = x + (gate * gate.sigmoid() * up) @ w[f"{p}mlp.down_proj.weight"].T
    return norm(x, w["model.norm.weight"])


def hidden(lm: CausalLm, tokens: Tensor, lengths: list[int]) -> Tensor:
    packed = Packed(lengths, lm.config.group, lm.dtype, lm.device)
    return lm(lm.embed(tokens), packed.positions, packed)


def test_agrees_with_an_independent_llama(tiny_lm: CausalLm, tmp_path: Path) -> None:
    save_lm(tmp_path, tiny_lm)
    tokens = torch.tensor([1, 70, 13, 200, 5, 5, 90])
    torch.testing.assert_close(
        hidden(tiny_lm, tokens, [7]), reference(tmp_path, tokens), atol=2e-5, rtol=1e-5
    )


def test_packed_sequences_do_not_see_each_other(tiny_lm: CausalLm) -> None:
    tokens = torch.tensor([1, 70, 13, 200, 5, 5, 90, 17])
    together = hidden(tiny_lm, tokens, [3, 1, 4])
    alone = torch.cat([hidden(tiny_lm, part, [len(part)]) for part in tokens.split([3, 1, 4])])
    torch.testing.assert_close(together, alone, atol=1e-6, rtol=1e-5)


def test_a_later_token_changes_nothing_before_it(tiny_lm: CausalLm) -> None:
    tokens = torch.tensor([1, 70, 13, 200])
    other = torch.tensor([1, 70, 13, 9])
    first, second = hidden(tiny_lm, tokens, [4]), hidden(tiny_lm, other, [4])
    assert torch.equal(first[:3], second[:3])
    assert not torch.allclose(first[3], second[3])


def test_is_frozen_but_lets_gradients_through(tiny_lm: CausalLm) -> None:
    x = tiny_lm.embed(torch.tensor([1, 2, 3])).clone().requires_grad_()
    packed = Packed([3], tiny_lm.config.group, tiny_lm.dtype, tiny_lm.device)
    tiny_lm(x, packed.positions, packed).sum().backward()
    assert x.grad is not None
    assert x.grad.abs().sum() > 0
    assert all(weight.grad is None for weight in tiny_lm.parameters())


def test_a_seed_decides_the_weights_and_the_hash() -> None:
    assert random_lm(TINY, 3).source_hash == random_lm(TINY, 3).source_hash
    assert random_lm(TINY, 3).source_hash != random_lm(TINY, 4).source_hash


def test_files_keep_the_model(tiny_lm: CausalLm, tmp_path: Path) -> None:
    save_lm(tmp_path, tiny_lm)
    loaded = load_lm(tmp_path, torch.float32)
    assert loaded.config == tiny_lm.config
    assert hash_of(loaded) == hash_of(tiny_lm)
    assert loaded.source_hash == load_lm(tmp_path, torch.bfloat16).source_hash
    assert not any(weight.requires_grad for weight in loaded.parameters())


def test_files_may_be_split_and_hold_more(tiny_lm: CausalLm, tmp_path: Path) -> None:
    save_lm(tmp_path, tiny_lm)
    path = tmp_path / "model.safetensors"
    tensors = safetensors.torch.load_file(path)
    path.unlink()
    names = sorted(tensors)
    parts = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, held in parts.items():
        extra = {"lm_head.weight": torch.zeros(2)} if file.startswith("b") else {}
        safetensors.torch.save_file({n: tensors[n] for n in held} | extra, tmp_path / file)
    index = {"weight_map": {name: file for file, held in parts.items() for name in held}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert hash_of(load_lm(tmp_path, torch.float32)) == hash_of(tiny_lm)


def test_biases_are_read(tmp_path: Path) -> None:
    lm = random_lm(replace(TINY, attention_bias=True), 0)
    with torch.no_grad():
        for layer in lm.layers:
            layer.qkv_bias.normal_()
    save_lm(tmp_path, lm)
    tokens = torch.tensor([1, 2, 3])
    torch.testing.assert_close(
        hidden(load_lm(tmp_path, torch.float32), tokens, [3]), hidden(lm, tokens, [3])
    )


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"model_type": "gpt2"}, "'gpt2' is not supported"),
        ({"hidden_size": None}, "states no 'hidden_size'"),
        ({"hidden_act": "gelu"}, "'gelu'"),
        ({"rope_scaling": {"rope_type": "yarn"}}, "'yarn' is not supported"),
        ({"num_key_value_heads": 3}, "cannot share"),
        ({"vocab_size": 0}, "vocab_size is 0"),
        ({"use_sliding_window": True}, "sliding-window"),
    ],
)
def test_refuses_other_shapes(change: dict[str, object], complaint: str, tmp_path: Path) -> None:
    save_lm(tmp_path, random_lm(TINY, 0))
    text = json.loads((tmp_path / "config.json").read_text()) | change
    with pytest.raises(ConfigError, match=complaint):
        read_lm_config(text)


def test_refuses_weights_of_another_model(tmp_path: Path) -> None:
    save_lm(tmp_path, random_lm(TINY, 0))
    path = tmp_path / "config.json"
    text = json.loads(path.read_text())
    path.write_text(json.dumps(text | {"intermediate_size": 64}))
    with pytest.raises(ConfigError, match="has shape"):
        load_lm(tmp_path)
    path.write_text(json.dumps(text | {"num_hidden_layers": 3}))
    with pytest.raises(ConfigError, match="lacks 9 tensors"):
        load_lm(tmp_path)
    with pytest.raises(ConfigError, match="no language model"):
        load_lm(tmp_path / "nowhere")


def test_reads_what_other_writers_leave_out() -> None:
    text = {
        "model_type": "llama",
        "vocab_size": 10,
        "hidden_size": 32,
        "intermediate_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "rope_parameters": {"rope_type": "default", "rope_theta": 5e5},
    }
    config = read_lm_config(text)
    assert (config.head_dim, config.num_key_value_heads, config.rope_theta) == (8, 4, 5e5)


def test_llama_3_slows_low_frequencies_alone() -> None:
    plain = LmConfig(**{**_fields(), "head_dim": 64, "rope_theta": 500_000.0})
    rule = StretchedRotary(32.0, 1.0, 4.0, 8192)
    ratio = plain.frequencies() / replace(plain, stretched=rule).frequencies()
    wavelengths = 2 * torch.pi / plain.frequencies()
    assert torch.allclose(ratio[wavelengths < 8192 / 4], torch.tensor(1.0))
    assert torch.allclose(ratio[wavelengths > 8192], torch.tensor(32.0))
    assert (ratio.diff() >= -1e-4).all()


def _fields() -> dict[str, int]:
    return {
        "vocab_size": 10,
        "hidden_size": 256,
        "intermediate_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
    }
