"""GGUF files: what is written for Hugging Face's decoder computes what llama.cpp's would."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import gguf
import numpy as np
import pytest
import safetensors.torch
import torch
import torch.nn.functional as functional

from engine.errors import ConfigError
from engine.llarp.gguf import convert
from engine.llarp.lm_config import read_lm_config
from engine.llarp.lm_files import load_lm
from engine.llarp.tokens import load_tokens


@pytest.fixture(scope="module")
def tiny(load: Callable[[Path], ModuleType]) -> ModuleType:
    return load(Path(__file__).parent / "tiny_gguf.py")


def converted(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    folder = path.parent / "made"
    convert(path, folder)
    config = json.loads((folder / "config.json").read_text())
    return safetensors.torch.load_file(folder / "model.safetensors"), config


def test_tensors_get_their_names_and_keep_their_numbers(tiny: ModuleType, tmp_path: Path) -> None:
    stored = tiny.weights()
    tensors, _ = converted(tiny.write(tmp_path / "m.gguf", stored))
    names = {
        "token_embd": "model.embed_tokens",
        "output_norm": "model.norm",
        "blk.1.attn_norm": "model.layers.1.input_layernorm",
        "blk.1.attn_v": "model.layers.1.self_attn.v_proj",
        "blk.1.attn_output": "model.layers.1.self_attn.o_proj",
        "blk.1.ffn_norm": "model.layers.1.post_attention_layernorm",
        "blk.0.ffn_gate": "model.layers.0.mlp.gate_proj",
        "blk.0.ffn_up": "model.layers.0.mlp.up_proj",
        "blk.0.ffn_down": "model.layers.0.mlp.down_proj",
    }
    assert len(tensors) == len(stored)
    for old, new in names.items():
        expected = torch.from_numpy(stored[f"{old}.weight"]).to(torch.bfloat16)
        assert torch.equal(tensors[f"{new}.weight"], expected), old


def as_llama_cpp(tiny: ModuleType, stored: dict[str, Any], numbers: list[int]) -> Any:
    """Last hidden states of the stored model: llama.cpp's graph (`src/models/llama.cpp`).

    It turns neighbouring numbers of a head together, Hugging Face the two halves of a head.
    """
    w = {name.removesuffix(".weight"): value.astype(np.float64) for name, value in stored.items()}
    places = np.arange(len(numbers))
    angles = places[:, None, None] * 10_000.0 ** (-np.arange(0, tiny.HEAD, 2) / tiny.HEAD)

    def norm(x: Any, name: str) -> Any:
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w[name]

    def heads(x: Any) -> Any:
        return x.reshape(len(x), -1, tiny.HEAD)

    def turned(x: Any) -> Any:
        pairs = x.reshape(*x.shape[:2], -1, 2)
        turn = (pairs[..., 0] + 1j * pairs[..., 1]) * np.exp(1j * angles)
        return np.stack((turn.real, turn.imag), -1).reshape(x.shape)

    x = w["token_embd"][numbers]
    for layer in range(tiny.LAYERS):
        at = f"blk.{layer}."
        seen = norm(x, at + "attn_norm")
        q, k, v = (heads(seen @ w[f"{at}attn_{letter}"].T) for letter in "qkv")
        k, v = (np.repeat(part, tiny.HEADS // tiny.KEY_HEADS, axis=1) for part in (k, v))
        scores = np.einsum("qhd,khd->hqk", turned(q), turned(k)) / np.sqrt(tiny.HEAD)
        scores = np.exp(np.where(places > places[:, None], -np.inf, scores))
        weights = scores / scores.sum(-1, keepdims=True)
        gathered = np.einsum("hqk,khd->qhd", weights, v).reshape(len(x), -1)
        x = x + gathered @ w[f"{at}attn_output"].T
        seen = norm(x, at + "ffn_norm")
        gate = seen @ w[f"{at}ffn_gate"].T
        x = x + (gate / (1 + np.exp(-gate)) * (seen @ w[f"{at}ffn_up"].T)) @ w[f"{at}ffn_down"].T
    return norm(x, "output_norm")


def test_the_decoder_computes_what_llama_cpp_would(tiny: ModuleType, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    # Powers of two are the same in bf16.
    stored = {
        name: rng.choice([-0.25, -0.125, 0.125, 0.25], values.shape).astype(np.float32)
        for name, values in tiny.weights().items()
    }
    convert(tiny.write(tmp_path / "m.gguf", stored), tmp_path / "made")
    numbers = [5, 9, 260, 7, 100, 3]
    lm = load_lm(tmp_path / "made", torch.float32)

    def attend(layer: int, queries: Any, keys: Any, values: Any) -> Any:
        parts = (part.transpose(0, 1) for part in (queries, keys, values))
        return functional.scaled_dot_product_attention(
            *parts, is_causal=True, enable_gqa=True
        ).transpose(0, 1)

    found = lm(lm.embed(torch.tensor(numbers)), torch.arange(len(numbers)), attend)
    expected = as_llama_cpp(tiny, stored, numbers)
    np.testing.assert_allclose(found.numpy(), expected, atol=2e-5)


@pytest.mark.parametrize(
    ("kind", "worst"), [("F16", 0.017), ("BF16", 0.016), ("Q8_0", 0.04), ("Q4_1", 0.4)]
)
def test_quantised_weights_become_bf16(
    tiny: ModuleType, tmp_path: Path, kind: str, worst: float
) -> None:
    stored = tiny.weights()
    packed = gguf.GGMLQuantizationType[kind]
    tensors, _ = converted(tiny.write(tmp_path / "m.gguf", stored, packed=packed))
    found = tensors["model.layers.1.mlp.down_proj.weight"]
    expected = torch.from_numpy(stored["blk.1.ffn_down.weight"])
    assert found.dtype == torch.bfloat16
    assert (found.float() - expected).abs().max() <= worst


def test_the_config_says_what_the_metadata_say(tiny: ModuleType, tmp_path: Path) -> None:
    changed = {"llama.rope.freq_base": 100_000.0}
    _, config = converted(tiny.write(tmp_path / "m.gguf", changed=changed))
    assert config == {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "torch_dtype": "bfloat16",
        "vocab_size": len(tiny.VOCABULARY),
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "hidden_act": "silu",
        "max_position_embeddings": 128,
        "rms_norm_eps": 1e-5,
        "rope_theta": 100_000.0,
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": True,
        "bos_token_id": 1,
        "eos_token_id": 0,
    }


def test_an_output_head_of_its_own_is_kept(tiny: ModuleType, tmp_path: Path) -> None:
    stored = tiny.weights()
    stored["output.weight"] = stored["token_embd.weight"] * 2
    tensors, config = converted(tiny.write(tmp_path / "m.gguf", stored))
    assert not config["tie_word_embeddings"]
    assert torch.equal(tensors["lm_head.weight"], tensors["model.embed_tokens.weight"] * 2)


def llama3_factors(head: int, theta: float, factor: float) -> np.ndarray:
    """As llama.cpp's converter writes them (`generate_extra_tensors` of Llama 3)."""
    factors = []
    for freq in 1.0 / theta ** (np.arange(0, head, 2) / head):
        wave = 2 * np.pi / freq
        if wave < 8192 / 4.0:
            factors.append(1.0)
        elif wave > 8192 / 1.0:
            factors.append(factor)
        else:
            smooth = (8192 / wave - 1.0) / (4.0 - 1.0)
            factors.append(1 / ((1 - smooth) / factor + smooth))
    return np.array(factors, np.float32)


def test_llama_3_stretches_positions(tiny: ModuleType, tmp_path: Path) -> None:
    stored = {"rope_freqs.weight": llama3_factors(16, 500_000.0, 32.0)} | tiny.weights()
    path = tiny.write(tmp_path / "m.gguf", stored, changed={"llama.rope.freq_base": 500_000.0})
    tensors, config = converted(path)
    assert len(tensors) == len(stored) - 1
    assert config["rope_scaling"] == {
        "rope_type": "llama3",
        "factor": 32.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    }
    plain = 500_000.0 ** -(np.arange(0, 16, 2) / 16)
    frequencies = read_lm_config(config).frequencies().numpy()
    np.testing.assert_allclose(frequencies, plain / stored["rope_freqs.weight"], rtol=1e-6)
    stored["rope_freqs.weight"] = stored["rope_freqs.weight"] ** 0.9
    with pytest.raises(ConfigError, match="another way than Llama 3"):
        convert(tiny.write(tmp_path / "n.gguf", stored), tmp_path / "n")


def test_the_same_file_makes_the_same_weights(tiny: ModuleType, tmp_path: Path) -> None:
    one, two = (tiny.write(tmp_path / f"{n}.gguf") for n in "ab")
    other = tiny.write(tmp_path / "c.gguf", tiny.weights(seed=1))
    first = convert(one, tmp_path / "a")
    assert convert(two, tmp_path / "b") == first != convert(other, tmp_path / "c")


def test_the_tokenizer_comes_along(tiny: ModuleType, tmp_path: Path) -> None:
    convert(tiny.write(tmp_path / "m.gguf"), tmp_path / "made")
    tokens = load_tokens(tmp_path / "made")
    assert tokens.decode(tokens.encode("the apple, 12 times")) == "the apple, 12 times"


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"llama.expert_count": 8}, "mixture of experts"),
        ({"split.count": 3}, "one of 3 parts"),
        ({"llama.rope.scaling.type": "yarn"}, "'yarn'"),
        ({"llama.rope.dimension_count": 8}, "part of each head"),
        ({"llama.block_count": 3}, "9 tensors are missing, 'model.layers.2."),
        ({"llama.block_count": 4_000_000_000}, "4000000000 layers and 20 tensors"),
        (
            {"llama.attention.head_count": 2, "llama.attention.key_length": 16},
            r"q_proj\.weight' has shape",
        ),
        ({"llama.embedding_length": 32, "llama.attention.key_length": 16}, "has shape"),
        ({"tokenizer.ggml.tokens": ["a"]}, r"embed_tokens\.weight' has shape"),
        ({"llama.block_count": None}, "'llama.block_count' is None"),
        ({"llama.attention.head_count_kv": [2, 2]}, r"is \[2, 2\], not a whole number"),
        ({"tokenizer.ggml.model": "t5"}, "kind 't5'"),
        ({"tokenizer.ggml.pre": "deepseek-llm"}, "'deepseek-llm'"),
    ],
)
def test_what_cannot_be_used_is_refused(
    tiny: ModuleType, tmp_path: Path, changed: dict[str, Any], says: str
) -> None:
    path = tiny.write(tmp_path / "m.gguf", changed=changed)
    with pytest.raises(ConfigError, match=says) as refused:
        convert(path, tmp_path / "made")
    assert refused.value.hint
    assert not (tmp_path / "made").exists()


def test_another_architecture_is_refused(tiny: ModuleType, tmp_path: Path) -> None:
    path = tiny.write(tmp_path / "m.gguf", architecture="gemma3")
    with pytest.raises(ConfigError, match="'gemma3', not 'llama'"):
        convert(path, tmp_path / "made")


@pytest.mark.parametrize("name", ["blk.0.attn_q_norm.weight", "blk.1.attn_q.bias"])
def test_an_unknown_tensor_is_refused(tiny: ModuleType, tmp_path: Path, name: str) -> None:
    stored = tiny.weights() | {name: np.ones(16, np.float32)}
    with pytest.raises(ConfigError, match=f"{name!r}, which Llama models do not have"):
        convert(tiny.write(tmp_path / "m.gguf", stored), tmp_path / "made")


@pytest.mark.parametrize("kept", [0.0, 0.02, 0.3, 0.9])
def test_a_file_cut_short_is_refused(tiny: ModuleType, tmp_path: Path, kept: float) -> None:
    path = tiny.write(tmp_path / "m.gguf")
    data = path.read_bytes()
    path.write_bytes(data[: int(kept * len(data))])
    with pytest.raises(ConfigError, match="cannot be read as a GGUF file"):
        convert(path, tmp_path / "made")
