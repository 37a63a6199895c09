"""GGUF files of Llama models, rewritten once as Hugging Face folders.

llama.cpp stores queries and keys with the two halves of each rotated pair side by side; Hugging
Face's decoder wants all first halves, then all second ones (llama.cpp, `convert_hf_to_gguf.py`,
`LlamaModel.permute`, undone here). Quantised weights become bf16.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.llarp.extras import extra
from engine.llarp.tokens import TOKENIZER_FILE, tokenizer_of_gguf

_OUTER = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
_INNER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_LAYER = re.compile(r"blk\.(\d+)\.(\w+)\.weight")
_ROPE = "rope_freqs.weight"
_INSTEAD = "Take the model's original folder (`config.json`, `*.safetensors`, `tokenizer.json`)."


@dataclass(frozen=True, slots=True)
class Stored:
    """One tensor of the file, still quantised."""

    name: str
    """As Hugging Face has it."""
    shape: tuple[int, ...]
    data: NDArray[Any]
    kind: Any
    """A `gguf.GGMLQuantizationType`."""
    heads: int
    """Heads whose rows have to be put back in order; 0: none."""


class Gguf:
    """A GGUF file of a Llama model, its metadata read and its tensors named.

    Raises:
        ConfigError: it is no GGUF file, or not of a model that can be used.
        EngineError: the package `gguf` is missing.
    """

    def __init__(self, path: Path) -> None:
        self._gguf = extra("gguf", "Reading a .gguf file")
        self.path = path
        try:
            reader = self._gguf.GGUFReader(path)
            self.metadata: dict[str, Any] = {
                name: field.contents() for name, field in reader.fields.items()
            }
            found = {tensor.name: tensor for tensor in reader.tensors}
        except (OSError, ValueError, LookupError, OverflowError, MemoryError) as error:
            raise ConfigError(
                f"{str(path)!r} cannot be read as a GGUF file: {error}", "Fetch it again."
            ) from error
        self._check_kind()
        self._frequencies = found.pop(_ROPE, None)
        self.stored = tuple(self._named(name, tensor) for name, tensor in found.items())
        self.config = self._config()
        self._check_shapes()

    def tensors(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Names and bf16 tensors, one after another, so that one at a time is in memory."""
        for stored in self.stored:
            yield stored.name, self.tensor(stored).to(torch.bfloat16)

    def tensor(self, stored: Stored) -> torch.Tensor:
        """One tensor in float32, as the quantised numbers stand for."""
        values = torch.from_numpy(self._dequantised(stored.kind, stored.data).copy())
        values = values.reshape(stored.shape)
        return in_halves(values, stored.heads) if stored.heads else values

    def number(self, key: str, default: int | None = None) -> int:
        """A whole number of the model's shape, such as `block_count`."""
        value = self.metadata.get(f"llama.{key}", default)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._unusable(f"'llama.{key}' is {value!r}, not a whole number")
        return value

    def _check_kind(self) -> None:
        kind = self.metadata.get("general.architecture")
        if kind != "llama":
            raise self._unusable(f"its architecture is {kind!r}, not 'llama'")
        if self.metadata.get("split.count", 1) > 1:
            raise ConfigError(
                f"{str(self.path)!r} is one of {self.metadata['split.count']!r} parts",
                "Put the parts together with `llama-gguf-split --merge` and take the result.",
            )
        if self.metadata.get("llama.expert_count", 0):
            raise self._unusable("it is a mixture of experts")
        scaling = self.metadata.get("llama.rope.scaling.type", "none")
        if scaling != "none":
            raise self._unusable(f"it scales positions in the way {scaling!r}")

    def _named(self, name: str, tensor: Any) -> Stored:
        heads = 0
        new = _OUTER.get(name)
        if (match := _LAYER.fullmatch(name)) is not None and match[2] in _INNER:
            new = f"model.layers.{match[1]}.{_INNER[match[2]]}.weight"
            if match[2] == "attn_q":
                heads = self.number("attention.head_count")
            elif match[2] == "attn_k":
                heads = self._key_heads()
        if new is None:
            raise self._unusable(f"it has the tensor {name!r}, which Llama models do not have")
        # GGUF counts the fastest axis first.
        shape = tuple(int(size) for size in reversed(tensor.shape.tolist()))
        return Stored(new, shape, tensor.data, tensor.tensor_type, heads)

    def _key_heads(self) -> int:
        return self.number("attention.head_count_kv", self.number("attention.head_count"))

    def _config(self) -> dict[str, Any]:
        hidden, heads = self.number("embedding_length"), self.number("attention.head_count")
        head = self.number("attention.key_length", hidden // max(heads, 1))
        if self.number("rope.dimension_count", head) != head:
            raise self._unusable("it turns a part of each head only")
        names = {stored.name: stored.shape for stored in self.stored}
        layers = self.number("block_count")
        if not 0 < layers <= len(names):
            raise self._unusable(f"it has {layers!r} layers and {len(names)} tensors")
        config: dict[str, Any] = {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "torch_dtype": "bfloat16",
            "vocab_size": names.get("model.embed_tokens.weight", (0,))[0],
            "hidden_size": hidden,
            "intermediate_size": self.number("feed_forward_length"),
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "num_key_value_heads": self._key_heads(),
            "head_dim": head,
            "hidden_act": "silu",
            "max_position_embeddings": self.number("context_length", 2048),
            "rms_norm_eps": _short(
                self.metadata.get("llama.attention.layer_norm_rms_epsilon", 1e-6)
            ),
            "rope_theta": _short(self.metadata.get("llama.rope.freq_base", 10_000.0)),
            "attention_bias": False,
            "mlp_bias": False,
            "tie_word_embeddings": "lm_head.weight" not in names,
            "bos_token_id": self.metadata.get("tokenizer.ggml.bos_token_id"),
            "eos_token_id": self.metadata.get("tokenizer.ggml.eos_token_id"),
        }
        if self._frequencies is not None:
            config["rope_scaling"] = self._stretched(config["rope_theta"], head)
        return config

    def _stretched(self, theta: float, head: int) -> dict[str, Any]:
        """Llama 3's rule, found again from the factors that it gave; no other rule is known."""
        field = self._frequencies
        factors = self._dequantised(field.tensor_type, field.data).astype(np.float64)
        factor = _short(float(factors.max()))
        turns = 8192 / (2 * np.pi) / theta ** (np.arange(0, head, 2) / head)
        blend = np.clip((turns - 1.0) / 3.0, 0.0, 1.0)
        expected = 1.0 / ((1.0 - blend) / factor + blend)
        if expected.shape != factors.shape or not np.allclose(expected, factors, rtol=1e-3):
            raise self._unusable("it stretches positions in another way than Llama 3")
        return {
            "rope_type": "llama3",
            "factor": factor,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        }

    def _check_shapes(self) -> None:
        """Whether all tensors are there, in the sizes that the metadata state."""
        wanted, found = self._shapes(), {stored.name: stored.shape for stored in self.stored}
        if missing := sorted(set(wanted) - set(found)):
            raise self._unusable(f"{len(missing)} tensors are missing, {missing[0]!r} among them")
        for name, shape in found.items():
            if wanted.get(name, shape) != shape:
                raise self._unusable(f"tensor {name!r} has shape {shape!r}, not {wanted[name]!r}")

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        config = self.config
        hidden, inner, head = (
            config[name] for name in ("hidden_size", "intermediate_size", "head_dim")
        )
        queries = config["num_attention_heads"] * head
        keys = config["num_key_value_heads"] * head
        inside: dict[str, tuple[int, ...]] = {
            "input_layernorm": (hidden,),
            "self_attn.q_proj": (queries, hidden),
            "self_attn.k_proj": (keys, hidden),
            "self_attn.v_proj": (keys, hidden),
            "self_attn.o_proj": (hidden, queries),
            "post_attention_layernorm": (hidden,),
            "mlp.gate_proj": (inner, hidden),
            "mlp.up_proj": (inner, hidden),
            "mlp.down_proj": (hidden, inner),
        }
        shapes: dict[str, tuple[int, ...]] = {
            f"model.layers.{layer}.{name}.weight": shape
            for layer in range(config["num_hidden_layers"])
            for name, shape in inside.items()
        }
        words = (len(self.metadata.get("tokenizer.ggml.tokens", ())), hidden)
        shapes |= {"model.embed_tokens.weight": words, "model.norm.weight": (hidden,)}
        return shapes if config["tie_word_embeddings"] else shapes | {"lm_head.weight": words}

    def _dequantised(self, kind: Any, data: NDArray[Any]) -> NDArray[np.float32]:
        try:
            values: NDArray[np.float32] = self._gguf.dequantize(data, kind)
        except (NotImplementedError, ValueError) as error:
            raise self._unusable(f"its weights are stored as {kind.name!r}: {error}") from error
        return values

    def _unusable(self, reason: str) -> ConfigError:
        return ConfigError(f"{str(self.path)!r} cannot be used: {reason}", _INSTEAD)


def in_halves(rows: torch.Tensor, heads: int) -> torch.Tensor:
    """Rows of a head from llama.cpp's order (0, n/2, 1, n/2+1, …) to first half, second half."""
    paired = rows.reshape(heads, -1, 2, *rows.shape[1:])
    return paired.transpose(1, 2).reshape(rows.shape)


def convert(path: Path, folder: Path) -> str:
    """Write the model in `path` to `folder`: `config.json`, `model.safetensors`, tokenizer.

    Returns:
        SHA-256 of `model.safetensors`, the same for the same GGUF file on every machine.

    Raises:
        ConfigError: the file can't be used.
        EngineError: a package is missing.
        OSError: `folder` can't be written.
    """
    source = Gguf(path)
    tokenizer = tokenizer_of_gguf(source.metadata)
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(source.config, indent=2) + "\n"
    (folder / "config.json").write_text(text, encoding="utf-8")
    (folder / TOKENIZER_FILE).write_text(tokenizer.to_str(), encoding="utf-8")
    with (folder / "model.safetensors").open("wb") as file:
        return _write(source, file)


def _write(source: Gguf, file: BinaryIO) -> str:
    """The safetensors format, tensor by tensor: a model need not fit into memory to be written."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for stored in source.stored:
        begin, end = end, end + 2 * int(np.prod(stored.shape))
        header[stored.name] = {
            "dtype": "BF16", "shape": stored.shape, "data_offsets": [begin, end]
        }  # fmt: skip
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    digest = hashlib.sha256()
    for part in _parts(text, source):
        digest.update(part)
        file.write(part)
    return digest.hexdigest()


def _parts(header: bytes, source: Gguf) -> Iterator[bytes]:
    yield len(header).to_bytes(8, "little") + header
    for _, tensor in source.tensors():
        yield tensor.contiguous().view(torch.int16).numpy().astype("<i2", copy=False).tobytes()


def _short(value: float) -> float:
    """A number that was a float32, as it was meant: 1e-05, not 9.999999747378752e-06."""
    return float(f"{value:.7g}")
