"""Makes small GGUF files of Llama models with random weights, as llama.cpp would."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray

HIDDEN, INNER, HEADS, KEY_HEADS, HEAD, LAYERS = 64, 96, 4, 2, 16, 2
Weights = dict[str, NDArray[np.float32]]


def alphabet() -> list[str]:
    """The 256 letters that byte-level BPE writes bytes with, in the order of the bytes."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    other = {byte: chr(256 + place) for place, byte in enumerate(sorted({*range(256)} - {*seen}))}
    return [other.get(byte, chr(byte)) for byte in range(256)]


MERGES = ("a p", "p l", "ap pl", "appl e", "Ġ apple", "Ġ t", "h e", "Ġt he", "1 2")
VOCABULARY = ["<|end|>", "<|start|>", *alphabet(), *(m.replace(" ", "") for m in MERGES)]


def metadata() -> dict[str, Any]:
    """Of a byte-level tokenizer of the SmolLM kind; no BOS."""
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": VOCABULARY,
        "tokenizer.ggml.token_type": [3, 3] + [1] * (len(VOCABULARY) - 2),
        "tokenizer.ggml.merges": list(MERGES),
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 0,
        "tokenizer.ggml.add_bos_token": False,
    }


def sizes() -> dict[str, Any]:
    return {
        "llama.block_count": LAYERS,
        "llama.context_length": 128,
        "llama.embedding_length": HIDDEN,
        "llama.feed_forward_length": INNER,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": KEY_HEADS,
        "llama.rope.dimension_count": HEAD,
        "llama.rope.freq_base": 10_000.0,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
    }


def weights(seed: int = 0) -> Weights:
    """As they are stored in the file, in float32."""
    rng = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {"token_embd": (len(VOCABULARY), HIDDEN)}
    for layer in range(LAYERS):
        shapes |= {
            f"blk.{layer}.attn_norm": (HIDDEN,),
            f"blk.{layer}.attn_q": (HEADS * HEAD, HIDDEN),
            f"blk.{layer}.attn_k": (KEY_HEADS * HEAD, HIDDEN),
            f"blk.{layer}.attn_v": (KEY_HEADS * HEAD, HIDDEN),
            f"blk.{layer}.attn_output": (HIDDEN, HEADS * HEAD),
            f"blk.{layer}.ffn_norm": (HIDDEN,),
            f"blk.{layer}.ffn_gate": (INNER, HIDDEN),
            f"blk.{layer}.ffn_up": (INNER, HIDDEN),
            f"blk.{layer}.ffn_down": (HIDDEN, INNER),
        }
    shapes["output_norm"] = (HIDDEN,)
    return {
        f"{name}.weight": rng.standard_normal(shape, dtype=np.float32)
        for name, shape in shapes.items()
    }


def write(
    path: Path,
    tensors: Weights | None = None,
    *,
    changed: Mapping[str, Any] = {},
    architecture: str = "llama",
    packed: gguf.GGMLQuantizationType | None = None,
) -> Path:
    """A whole file; `changed` replaces metadata, `packed` quantises the matrices."""
    writer = gguf.GGUFWriter(path, architecture)
    for key, value in (sizes() | metadata() | dict(changed)).items():
        if value is None:
            continue
        kind = gguf.GGUFValueType.get_type(value)
        if kind == gguf.GGUFValueType.INT32:  # llama.cpp takes no signed ones
            kind = gguf.GGUFValueType.UINT32
        writer.add_key_value(key, value, kind)
    for name, values in (weights() if tensors is None else tensors).items():
        if packed is not None and values.ndim == 2:
            writer.add_tensor(name, gguf.quantize(values, packed), raw_dtype=packed)
        else:
            writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
