"""The same policy the plain way, as released: what the fast one is compared with.

The released code (`policies/cores/decoder.py`, `transformer_storage.py`) pads instructions to 30
tokens and windows to the longest one, puts instruction and window through the model again in each
minibatch of each epoch, and moves the whole cache of keys and values by one at every step. This
does so too, with the very same weights, for tests of exactness and for the benchmark.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.errors import ConfigError, EngineError
from engine.llarp.attention import attention, bias_of
from engine.llarp.lm import CausalLm
from engine.llarp.policy import LlarpPolicy, choose, valuation
from engine.llarp.sequences import Choice, Episode, Valuation
from engine.llarp.vision import features_of

RELEASED_WIDTH = 30


class NaivePolicy:
    """Acts and values as `policy` does, without its ways of saving work."""

    def __init__(
        self,
        policy: LlarpPolicy,
        *,
        width: int = RELEASED_WIDTH,
        attend_to_padding: bool = False,
    ) -> None:
        """Use the weights of `policy`.

        Args:
            policy: shares its model, bridge and heads.
            width: tokens to pad instructions to, at least.
            attend_to_padding: see the padding and count it in positions, as released. That is
                other maths than without padding: `policy` then has to pad to `width` too.
        """
        self.policy = policy
        self._width = width
        self._attend_to_padding = attend_to_padding
        self._cache: _ShiftedCache | None = None
        self._position: dict[int, int] = {}

    def trained(self) -> dict[str, torch.nn.Parameter]:
        """What is trained, by name."""
        return self.policy.trained()

    def changed(self) -> None:
        """What is trained has other values now."""
        self.policy.changed()

    @torch.no_grad()
    def begin(self, envs: Sequence[int], instructions: Sequence[str]) -> None:
        """Put the padded instructions through the model, whether they were seen before or not."""
        lm = self.policy.lm
        tokens, lengths = self._padded(instructions)
        seen = self._seen_prefix(lengths)
        attend = _Padded(seen, lm.config.group, lm.dtype, keep=True)
        positions = torch.arange(self._width, device=lm.device).repeat(len(envs))
        lm(lm.embed(tokens.flatten()), positions, attend)
        if self._cache is None:
            self._cache = _ShiftedCache(lm, self._width + self.policy.config.max_steps - 1)
        self._cache.reset(envs, attend.keys, attend.values, seen)
        self._position |= dict(zip(envs, lengths, strict=True))

    def end(self, envs: Sequence[int]) -> None:
        """The episodes of `envs` are over; their rows stay until they begin again."""

    @torch.no_grad()
    def act(
        self,
        envs: Sequence[int],
        observations: Tensor,
        generator: torch.Generator | None = None,
    ) -> Choice:
        """As `LlarpPolicy.act`, with a new copy of the cache at each step."""
        policy, lm = self.policy, self.policy.lm
        if self._cache is None:
            raise EngineError("no episode runs", "Begin one before its first step.")
        features = features_of(observations, policy.encoder, policy.config.features)
        positions = torch.tensor([self._position[env] for env in envs], device=lm.device)
        tokens = policy.bridge(features.to(lm.device)).to(lm.dtype)
        logits, values = policy.read(lm(tokens, positions, self._cache.shift(envs)))
        for env in envs:
            self._position[env] += 1
        return choose(logits.cpu(), values.cpu(), features, generator)

    def evaluate(self, episodes: Sequence[Episode]) -> Valuation:
        """As `LlarpPolicy.evaluate`, with padding, and the instructions put through again."""
        policy, lm = self.policy, self.policy.lm
        tokens, lengths = self._padded([episode.instruction for episode in episodes])
        before, steps = tokens.shape[1], max(map(len, episodes))
        device = lm.device
        features = torch.zeros(len(episodes), steps, policy.config.features, device=device)
        real = torch.zeros(len(episodes), steps, dtype=torch.bool, device=device)
        for row, episode in enumerate(episodes):
            features[row, : len(episode)] = episode.features.to(device)
            real[row, : len(episode)] = True
        window = policy.bridge(features).to(lm.dtype)
        x = torch.cat((lm.embed(tokens), window), dim=1)
        seen = torch.cat((self._seen_prefix(lengths), real), dim=1)
        own = (
            torch.arange(steps, device=device)[None] + torch.tensor(lengths, device=device)[:, None]
        )
        positions = torch.cat(
            (torch.arange(before, device=device).expand(len(episodes), -1), own), dim=1
        )
        attend = _Padded(seen, lm.config.group, lm.dtype, keep=False)
        hidden = lm(x.flatten(0, 1), positions.flatten(), attend).view(*x.shape)
        logits, values = policy.read(hidden[:, before:].flatten(0, 1))
        real = real.flatten()
        return valuation(logits[real], values[real], episodes)

    def _padded(self, instructions: Sequence[str]) -> tuple[Tensor, list[int]]:
        """Token ids (b, width) and where the observations' positions begin."""
        rows = [self.policy.prefixes.tokens(text) for text in instructions]
        if max(map(len, rows)) > self._width:
            raise ConfigError(
                f"an instruction has {max(map(len, rows))!r} tokens, more than {self._width!r}",
                "Pad to more tokens (`width`).",
            )
        padded = [row + [0] * (self._width - len(row)) for row in rows]
        lengths = [self._width if self._attend_to_padding else len(row) for row in rows]
        return torch.tensor(padded, device=self.policy.lm.device), lengths

    def _seen_prefix(self, lengths: Sequence[int]) -> Tensor:
        device = self.policy.lm.device
        own = torch.tensor(lengths, device=device)[:, None]
        return torch.arange(self._width, device=device) < own


class _Padded:
    """Causal attention of rows of equal width, blind to what is not `seen` (b, width)."""

    def __init__(self, seen: Tensor, group: int, dtype: torch.dtype, *, keep: bool) -> None:
        self._shape, self._group, self._keep = seen.shape, group, keep
        step = torch.arange(seen.shape[1], device=seen.device)
        causal = step[None] <= step[:, None]
        self._bias = bias_of((causal[None] & seen[:, None])[:, None], dtype)
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []

    def __call__(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Gather, see `engine.llarp.lm.Attend`."""
        asked, keys, values = (
            part.view(*self._shape, *part.shape[1:]).transpose(1, 2)
            for part in (queries, keys, values)
        )
        if self._keep:
            self.keys.append(keys)
            self.values.append(values)
        keys, values = (_repeated(part, self._group) for part in (keys, values))
        return attention(asked, keys, values, self._bias).transpose(1, 2).flatten(0, 1)


class _ShiftedCache:
    """A row per environment, the newest at the right; every step moves it to the left by one."""

    def __init__(self, lm: CausalLm, width: int) -> None:
        config = lm.config
        self._group, self._dtype = config.group, lm.dtype
        shape = (0, config.num_key_value_heads, width, config.head_dim)
        self._caches = [
            [lm.embedding.new_zeros(shape) for _ in range(config.num_hidden_layers)]
            for _ in range(2)
        ]
        self._mask = torch.zeros(0, width, dtype=torch.bool, device=lm.device)
        self._rows: list[int] | slice = []

    def reset(
        self, rows: Sequence[int], keys: list[Tensor], values: list[Tensor], seen: Tensor
    ) -> None:
        """Clear `rows` and put their instruction at the right."""
        more = max(rows) + 1 - len(self._mask)
        width, at = seen.shape[1], list(rows)
        if more > 0:
            self._mask = torch.nn.functional.pad(self._mask, (0, 0, 0, more))
        self._mask[at] = False
        self._mask[at, -width:] = seen
        for caches, fresh in zip(self._caches, (keys, values), strict=True):
            for layer, prefix in enumerate(fresh):
                if more > 0:
                    caches[layer] = torch.cat(
                        (caches[layer], caches[layer].new_zeros(more, *caches[layer].shape[1:]))
                    )
                caches[layer][at] = 0
                caches[layer][at, :, -width:] = prefix

    def shift(self, rows: Sequence[int]) -> _ShiftedCache:
        """Prepare for one more token in each of `rows`."""
        everyone = list(rows) == list(range(len(self._mask)))
        self._rows = slice(None) if everyone else list(rows)
        new = torch.ones(len(rows), 1, dtype=torch.bool, device=self._mask.device)
        seen = torch.cat((self._mask[self._rows], new), dim=1)
        self._mask[self._rows] = seen[:, 1:].clone()
        self._bias = bias_of(seen[:, None, None], self._dtype)
        return self

    def __call__(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Gather, see `engine.llarp.lm.Attend`."""
        seen = []
        for caches, new in zip(self._caches, (keys, values), strict=True):
            joined = torch.cat((caches[layer][self._rows], new[:, :, None]), dim=2)
            if isinstance(self._rows, slice):
                caches[layer] = joined[:, :, 1:]
            else:
                caches[layer][self._rows] = joined[:, :, 1:]
            seen.append(_repeated(joined, self._group))
        return attention(queries[:, :, None], seen[0], seen[1], self._bias)[:, :, 0]


def _repeated(part: Tensor, group: int) -> Tensor:
    return part if group == 1 else part.repeat_interleave(group, dim=1)
