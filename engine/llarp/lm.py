"""A Llama-shaped decoder over flat tokens; how they see each other is the caller's."""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.llarp.lm_config import LmConfig


class Attend(Protocol):
    """Which tokens see which: a packed batch, one token per episode, a padded batch."""

    def __call__(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """What each token gathers, (n, heads, head_dim).

        Args:
            layer: which layer asks.
            queries: (n, heads, head_dim), already rotated.
            keys: (n, key-value heads, head_dim), already rotated.
            values: (n, key-value heads, head_dim).
        """
        ...


class Layer(nn.Module):
    """RMSNorm, grouped-query attention with rotary positions, RMSNorm, SwiGLU.

    The projections to queries, keys and values are one matrix, and so are gate and up: the same
    numbers in fewer, larger products. Matrices are (in, out): products with few rows, as in a
    rollout, are a fifth faster on CPUs so than with the transpose.
    """

    def __init__(self, config: LmConfig, dtype: torch.dtype) -> None:
        super().__init__()
        hidden, inner = config.hidden_size, config.intermediate_size
        self.config = config
        heads = config.num_attention_heads
        rows = (heads + 2 * config.num_key_value_heads) * config.head_dim
        self.input_norm = nn.Parameter(torch.ones(hidden, dtype=dtype))
        self.qkv = nn.Parameter(torch.empty(hidden, rows, dtype=dtype))
        self.qkv_bias = (
            nn.Parameter(torch.zeros(rows, dtype=dtype)) if config.attention_bias else None
        )
        self.out = nn.Parameter(torch.empty(heads * config.head_dim, hidden, dtype=dtype))
        self.post_norm = nn.Parameter(torch.ones(hidden, dtype=dtype))
        self.gate_up = nn.Parameter(torch.empty(hidden, 2 * inner, dtype=dtype))
        self.down = nn.Parameter(torch.empty(inner, hidden, dtype=dtype))

    def project(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys (both rotated) and values of the tokens `x` (n, hidden)."""
        config = self.config
        rotated = config.num_attention_heads + config.num_key_value_heads
        normed = _rms_norm(x, self.input_norm, config.rms_norm_eps)
        qkv = normed @ self.qkv if self.qkv_bias is None else normed @ self.qkv + self.qkv_bias
        qkv = qkv.view(len(x), -1, config.head_dim)
        turned = _rotate(qkv[:, :rotated], cos, sin)
        heads = config.num_attention_heads
        return turned[:, :heads], turned[:, heads:], qkv[:, rotated:]

    def finish(self, x: Tensor, gathered: Tensor) -> Tensor:
        """The tokens after attention and the feed-forward part, (n, hidden)."""
        x = x + gathered.flatten(1) @ self.out
        normed = _rms_norm(x, self.post_norm, self.config.rms_norm_eps)
        gate, up = (normed @ self.gate_up).chunk(2, dim=-1)
        return x + (F.silu(gate) * up) @ self.down


class CausalLm(nn.Module):
    """Token embedding, layers, last norm: a causal language model without its output head.

    Frozen unless `trainable`: no weight asks for a gradient, but gradients pass through to what
    is fed in.
    """

    frequencies: Tensor

    def __init__(
        self, config: LmConfig, dtype: torch.dtype = torch.float32, *, trainable: bool = False
    ) -> None:
        """Reserve the weights; `initialise` or a file fills them."""
        super().__init__()
        self.config = config
        self.dtype = dtype
        self.trainable = trainable
        self.source_hash = ""
        """Which weights these are; a checkpoint names them by it."""
        self.embedding = nn.Parameter(
            torch.empty(config.vocab_size, config.hidden_size, dtype=dtype)
        )
        self.layers = nn.ModuleList(Layer(config, dtype) for _ in range(config.num_hidden_layers))
        self.norm = nn.Parameter(torch.ones(config.hidden_size, dtype=dtype))
        self.register_buffer("frequencies", config.frequencies(), persistent=False)
        self.requires_grad_(trainable)
        self.eval()

    @torch.no_grad()
    def initialise(self, seed: int) -> None:
        """Random weights, normal with standard deviation 0.02, the same for the same seed."""
        generator = torch.Generator().manual_seed(seed)
        for weight in self.parameters():
            if weight.dim() > 1:
                drawn = torch.empty(weight.shape).normal_(0.0, 0.02, generator=generator)
                weight.copy_(drawn)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.embedding.device

    def embed(self, tokens: Tensor) -> Tensor:
        """Embeddings of text tokens, (n, hidden)."""
        return F.embedding(tokens, self.embedding)

    def forward(
        self, x: Tensor, positions: Tensor, attend: Attend, *, wanted_from: int = 0
    ) -> Tensor:
        """Last hidden states after the norm, (n - wanted_from, hidden) in the model's dtype.

        Args:
            x: embeddings of n tokens, (n, hidden), of as many sequences as `attend` knows of.
            positions: of each token in its sequence, (n,).
            attend: which tokens see which.
            wanted_from: the tokens before this one are put through for their keys and values
                alone; nothing is computed for them beyond the last layer's.
        """
        angles = positions[:, None].float() * self.frequencies
        cos, sin = angles.cos()[:, None].to(self.dtype), angles.sin()[:, None].to(self.dtype)
        last = len(self.layers) - 1
        for index, layer in enumerate(self.layers):
            assert isinstance(layer, Layer)
            gathered = attend(index, *layer.project(x, cos, sin))
            if wanted_from and index == last:
                x, gathered = x[wanted_from:], gathered[wanted_from:]
            x = layer.finish(x, gathered)
        return _rms_norm(x, self.norm, self.config.rms_norm_eps)


def _rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    wide = x.float()
    wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    return weight * wide.to(x.dtype)


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
