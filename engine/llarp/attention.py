"""Attention of packed sequences: tokens of episodes of different lengths, one after another.

Every other part of the model works on real tokens alone. Only here the tokens of one layer are
laid out as rows of a rectangle, where attention is one product per batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True, slots=True)
class PrefixRows:
    """Keys and values of what comes before each of b sequences."""

    keys: Sequence[Tensor]
    """By layer: (distinct prefixes, key-value heads, width, head_dim)."""
    values: Sequence[Tensor]
    slots: Tensor
    """Which prefix each sequence has, (b,)."""
    lengths: tuple[int, ...]
    """Of each sequence's prefix."""

    @property
    def width(self) -> int:
        """Length of the longest."""
        return max(self.lengths)


def attention(queries: Tensor, keys: Tensor, values: Tensor, bias: Tensor) -> Tensor:
    """Softmax attention with an additive bias.

    Args:
        queries: (b, heads, n, head_dim).
        keys: (b, heads, m, head_dim).
        values: as the keys.
        bias: (b, 1, n or 1, m): 0 where seen, -inf where not.
    """
    if queries.device.type == "cpu" and queries.dtype != torch.float32:
        # PyTorch's fused kernel is several times slower here than its parts, backward above all.
        scores = torch.matmul(queries * queries.shape[-1] ** -0.5, keys.transpose(-1, -2)) + bias
        return torch.matmul(scores.softmax(-1, dtype=torch.float32).to(values.dtype), values)
    shape = (*bias.shape[:2], queries.shape[2], bias.shape[3])
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=bias.expand(shape))


def bias_of(seen: Tensor, dtype: torch.dtype) -> Tensor:
    """0 where `seen`, -inf elsewhere."""
    return torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill_(
        ~seen, float("-inf")
    )


class Packed:
    """Lets each token see its prefix and the earlier tokens of its own sequence."""

    def __init__(
        self,
        lengths: Sequence[int],
        group: int,
        dtype: torch.dtype,
        device: torch.device,
        prefix: PrefixRows | None = None,
    ) -> None:
        """Work out the layout once, for all layers.

        Args:
            lengths: of the sequences, in the order of their tokens; none is 0.
            group: attention heads per key-value head.
            dtype: of the queries.
            device: where they are.
            prefix: what comes before each sequence.
        """
        self._prefix = prefix
        self._rows, self._width, self._group = len(lengths), max(lengths), group
        before = prefix.lengths if prefix is not None else (0,) * len(lengths)
        rows = [row for row, length in enumerate(lengths) for _ in range(length)]
        steps = [step for length in lengths for step in range(length)]
        at = [row * self._width + step for row, step in zip(rows, steps, strict=True)]
        self._at = torch.tensor(at, device=device)
        self._full = len(at) == self._rows * self._width
        self.positions = torch.tensor(
            [before[row] + step for row, step in zip(rows, steps, strict=True)], device=device
        )
        """Of each token: as many as come before it."""
        self.starts = (0, *accumulate(lengths))
        own = torch.tensor(lengths, device=device)[:, None, None]
        step = torch.arange(self._width, device=device)
        seen = (step[None, None] <= step[None, :, None]) & (step[None, None] < own)
        if prefix is not None:
            behind = torch.arange(prefix.width, device=device)[None, None]
            known = behind < torch.tensor(prefix.lengths, device=device)[:, None, None]
            seen = torch.cat((known.expand(-1, self._width, -1), seen), dim=-1)
        seen = seen[:, None].repeat_interleave(group, dim=2)
        self._bias = bias_of(seen, dtype)

    def __call__(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Gather, see `engine.llarp.lm.Attend`."""
        heads, size = queries.shape[1:]
        kv_heads = keys.shape[1]
        asked = self._spread(queries).view(
            self._rows, self._width, kv_heads, self._group, size
        )  # heads that share keys become more queries of one head
        asked = asked.transpose(1, 2).reshape(self._rows, kv_heads, -1, size)
        keys, values = (self._spread(part).transpose(1, 2) for part in (keys, values))
        if self._prefix is not None:
            keys = torch.cat((self._before(self._prefix.keys[layer]), keys), dim=2)
            values = torch.cat((self._before(self._prefix.values[layer]), values), dim=2)
        found = attention(asked, keys, values, self._bias)
        found = found.view(self._rows, kv_heads, self._width, self._group, size).transpose(1, 2)
        found = found.reshape(-1, heads, size)
        return found if self._full else found.index_select(0, self._at)

    def _spread(self, tokens: Tensor) -> Tensor:
        """Tokens (n, heads, size) as rows of equal width (rows, width, heads, size)."""
        shape = (self._rows, self._width, *tokens.shape[1:])
        if self._full:
            return tokens.reshape(shape)
        room = tokens.new_zeros(self._rows * self._width, *tokens.shape[1:])
        return room.index_copy(0, self._at, tokens).view(shape)

    def _before(self, pool: Tensor) -> Tensor:
        assert self._prefix is not None
        return pool[:, :, : self._prefix.width].index_select(0, self._prefix.slots)


class Recorded:
    """Attends as `inner` does and keeps the keys and values of every layer."""

    def __init__(self, inner: Packed) -> None:
        self._inner = inner
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []

    def __call__(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Gather, see `engine.llarp.lm.Attend`."""
        self.keys.append(keys)
        self.values.append(values)
        return self._inner(layer, queries, keys, values)
