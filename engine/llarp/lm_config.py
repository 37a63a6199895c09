"""The shape of a Llama-like language model, as Hugging Face's `config.json` has it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from engine.errors import ConfigError

_KINDS = ("llama", "mistral", "qwen2")
_SIZES = (
    "vocab_size",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
)


@dataclass(frozen=True, slots=True)
class StretchedRotary:
    """Llama 3's rule that slows the low frequencies of the rotary embedding down."""

    factor: float
    low_freq_factor: float
    high_freq_factor: float
    original_max_position_embeddings: int


@dataclass(frozen=True, slots=True)
class LmConfig:
    """What decides the shapes and the maths; names as in `config.json`."""

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10_000.0
    attention_bias: bool = False
    """Whether the projections to queries, keys and values have a bias, as Qwen 2 does."""
    stretched: StretchedRotary | None = None

    def __post_init__(self) -> None:
        for name in (*_SIZES, "head_dim"):
            if getattr(self, name) < 1:
                raise ConfigError(
                    f"{name} is {getattr(self, name)!r}, which is no size",
                    "Take the `config.json` that belongs to the model.",
                )
        if self.num_attention_heads % self.num_key_value_heads or self.head_dim % 2:
            raise ConfigError(
                f"{self.num_attention_heads!r} attention heads of {self.head_dim!r} cannot share "
                f"{self.num_key_value_heads!r} key-value heads",
                "Take the `config.json` that belongs to the model.",
            )

    @property
    def group(self) -> int:
        """Attention heads that share one key-value head."""
        return self.num_attention_heads // self.num_key_value_heads

    def frequencies(self) -> Tensor:
        """Of the rotary embedding: radians per position, float32 (head_dim / 2,)."""
        exponents = torch.arange(0, self.head_dim, 2, dtype=torch.int64).float() / self.head_dim
        plain = 1.0 / self.rope_theta**exponents
        if self.stretched is None:
            return plain
        rule = self.stretched
        turns = rule.original_max_position_embeddings * plain / (2 * math.pi)
        blend = (turns - rule.low_freq_factor) / (rule.high_freq_factor - rule.low_freq_factor)
        blend = blend.clamp(0, 1)
        return (1 - blend) * plain / rule.factor + blend * plain


TINY = LmConfig(
    vocab_size=259,
    hidden_size=32,
    intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=8,
)
"""For tests: bytes as tokens, two layers."""


def read_lm_config(text: Mapping[str, Any]) -> LmConfig:
    """The shape that a parsed `config.json` states.

    Raises:
        ConfigError: the model is not Llama-shaped, or a size is missing.
    """
    kind = text.get("model_type")
    if kind not in _KINDS:
        raise ConfigError(
            f"the model type {kind!r} is not supported",
            f"Take a Llama-shaped model: one of {', '.join(map(repr, _KINDS))}.",
        )
    sizes = {"num_key_value_heads": text.get("num_attention_heads")}
    sizes |= {name: text[name] for name in _SIZES if text.get(name) is not None}
    missing = [name for name in _SIZES if not isinstance(sizes.get(name), int)]
    if missing:
        raise ConfigError(
            f"`config.json` states no {', '.join(map(repr, missing))}",
            "Take the `config.json` that belongs to the model.",
        )
    if text.get("hidden_act", "silu") != "silu" or text.get("mlp_bias"):
        raise ConfigError(
            f"a feed-forward part with {text.get('hidden_act')!r} or a bias is not supported",
            "Take a Llama-shaped model: SwiGLU without biases.",
        )
    if text.get("use_sliding_window"):
        raise ConfigError(
            "sliding-window attention is not supported", "Take a model that attends to everything."
        )
    rotary = text.get("rope_parameters") or text.get("rope_scaling") or {}
    return LmConfig(
        **sizes,  # type: ignore[arg-type]
        head_dim=text.get("head_dim") or text["hidden_size"] // text["num_attention_heads"],
        rms_norm_eps=float(text.get("rms_norm_eps", 1e-6)),
        rope_theta=float(text.get("rope_theta") or rotary.get("rope_theta") or 10_000.0),
        attention_bias=bool(text.get("attention_bias", kind == "qwen2")),
        stretched=_stretched(rotary),
    )


def _stretched(rotary: Mapping[str, Any]) -> StretchedRotary | None:
    kind = rotary.get("rope_type") or rotary.get("type") or "default"
    if kind == "default":
        return None
    if kind != "llama3":
        raise ConfigError(
            f"the rotary embedding {kind!r} is not supported",
            "Take a model with the plain one or Llama 3's.",
        )
    return StretchedRotary(
        factor=float(rotary["factor"]),
        low_freq_factor=float(rotary["low_freq_factor"]),
        high_freq_factor=float(rotary["high_freq_factor"]),
        original_max_position_embeddings=int(rotary["original_max_position_embeddings"]),
    )
