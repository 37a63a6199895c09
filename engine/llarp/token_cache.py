"""Keys and values of running episodes: reserved once, written in place, one token a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from engine.errors import EngineError
from engine.llarp.attention import PrefixRows, attention, bias_of
from engine.llarp.lm import CausalLm
from engine.llarp.prefixes import NewPrefixes


class TokenCache:
    """A row per running episode: its instruction, then one token per observation.

    The rows in use are always the first ones, so a step works on views, never on copies; when an
    episode ends, the last row moves into its place.
    """

    def __init__(self, lm: CausalLm, episodes: int, steps: int) -> None:
        """Reserve nothing yet.

        Args:
            lm: the model whose keys and values these are.
            episodes: how many may run at once.
            steps: observations an episode may have.
        """
        self._lm = lm
        self._episodes, self._steps = episodes, steps
        self._keys: list[Tensor] = []
        self._values: list[Tensor] = []
        self._owners: list[int] = []
        self._row: dict[int, int] = {}
        self._lengths: list[int] = []
        self._ends: list[int] = []

    @property
    def owners(self) -> tuple[int, ...]:
        """Whose episodes run, in the order of the rows."""
        return tuple(self._owners)

    @torch.no_grad()
    def open(self, owners: Sequence[int], prefix: PrefixRows) -> None:
        """Begin an episode for each owner after its prefix; an episode it had is over.

        Raises:
            EngineError: more episodes than there is room for.
        """
        self.open_unfilled(owners, prefix.lengths)
        rows = slice(len(self._owners) - len(owners), len(self._owners))
        for mine, theirs in ((self._keys, prefix.keys), (self._values, prefix.values)):
            for cache, pool in zip(mine, theirs, strict=True):
                cache[rows, :, : prefix.width] = pool[:, :, : prefix.width][prefix.slots]

    def open_unfilled(self, owners: Sequence[int], lengths: Sequence[int]) -> None:
        """Begin an episode for each owner; the next `step` fills its prefix of that length in.

        Raises:
            EngineError: more episodes than there is room for.
        """
        self.close([owner for owner in owners if owner in self._row])
        first = len(self._owners)
        if first + len(owners) > self._episodes:
            raise EngineError(
                f"{first + len(owners)} episodes are to run at once, and there is room for "
                f"{self._episodes}",
                "Make the policy for as many environments as there are.",
            )
        self._reserve(max(lengths) + self._steps)
        for row, (owner, length) in enumerate(zip(owners, lengths, strict=True), first):
            self._owners.append(owner)
            self._row[owner] = row
            self._lengths.append(length)
            self._ends.append(length + self._steps)

    def close(self, owners: Sequence[int]) -> None:
        """End the episodes of `owners`; those that have none are passed over."""
        for owner in owners:
            row = self._row.pop(owner, None)
            if row is None:
                continue
            last = len(self._owners) - 1
            length = self._lengths[last]
            if row != last:
                for caches in (self._keys, self._values):
                    for cache in caches:
                        cache[row, :, :length] = cache[last, :, :length]
                self._owners[row] = self._owners[last]
                self._row[self._owners[row]] = row
                self._lengths[row], self._ends[row] = length, self._ends[last]
            del self._owners[last], self._lengths[last], self._ends[last]

    def order(self, owners: Sequence[int]) -> list[int]:
        """For each row in use, which of `owners` it belongs to.

        Raises:
            EngineError: `owners` are not those whose episodes run.
        """
        if len(owners) != len(self._owners) or set(owners) != set(self._row):
            raise EngineError(
                f"observations of {sorted(owners)!r} came in while the episodes of "
                f"{sorted(self._owners)!r} run",
                "Begin an episode before its first step, and end it when it is over.",
            )
        place = {owner: index for index, owner in enumerate(owners)}
        return [place[owner] for owner in self._owners]

    @torch.no_grad()
    def step(
        self, x: Tensor, new: NewPrefixes | None = None, waiting: Mapping[int, int] | None = None
    ) -> Tensor:
        """Hidden states (n, hidden) of one more token `x` (n, hidden) per row in use.

        Args:
            x: the tokens.
            new: instructions to put through in the same pass, before the tokens.
            waiting: which of `new` each unfilled owner begins with.

        Raises:
            EngineError: an episode has more steps than were reserved.
        """
        lengths = self._lengths
        if any(length >= end for length, end in zip(lengths, self._ends, strict=True)):
            raise EngineError(
                f"an episode goes on after {self._steps} steps",
                "Let the world end episodes then, or give the policy more (`max_steps`).",
            )
        at = torch.tensor(lengths, device=x.device)
        attend = _NextTokens(self._keys, self._values, at, max(lengths))
        hidden: Tensor
        if new is None:
            hidden = self._lm(x, at, attend)
        else:
            rows = {self._row[owner]: index for owner, index in (waiting or {}).items()}
            hidden = self._lm(
                torch.cat((self._lm.embed(new.tokens), x)),
                torch.cat((new.packed.positions, at)),
                _Fill(new, attend, rows),
                wanted_from=len(new.tokens),
            )
        self._lengths = [length + 1 for length in lengths]
        return hidden

    def _reserve(self, width: int) -> None:
        config = self._lm.config
        have = self._keys[0].shape[2] if self._keys else 0
        if width <= have:
            return
        shape = (self._episodes, config.num_key_value_heads, width, config.head_dim)
        for name in ("_keys", "_values"):
            old: list[Tensor] = getattr(self, name)
            grown = [self._lm.embedding.new_zeros(shape) for _ in range(config.num_hidden_layers)]
            for new, before in zip(grown, old, strict=False):
                new[:, :, :have] = before
            setattr(self, name, grown)


class _NextTokens:
    """Writes each row's token behind its others and lets it see them all."""

    def __init__(
        self, keys: Sequence[Tensor], values: Sequence[Tensor], at: Tensor, longest: int
    ) -> None:
        self._keys, self._values = keys, values
        self._width = longest + 1
        _, heads, width, self._size = keys[0].shape
        head = torch.arange(len(at) * heads, device=at.device).view(-1, heads)
        self._places = (head * width + at[:, None]).flatten()
        seen = torch.arange(self._width, device=at.device) <= at[:, None]
        self._bias = bias_of(seen[:, None, None], keys[0].dtype)

    def write(self, layer: int, places: Tensor, keys: Tensor, values: Tensor) -> None:
        """Put keys and values (n, heads, head_dim) at `places` (n * heads,)."""
        for cache, new in ((self._keys[layer], keys), (self._values[layer], values)):
            cache.view(-1, self._size).index_copy_(0, places, new.reshape(-1, self._size))

    def places(self, row: int, length: int) -> Tensor:
        """Where the first `length` tokens of a row go."""
        _, heads, width, _ = self._keys[0].shape
        device = self._places.device
        head = (row * heads + torch.arange(heads, device=device)) * width
        return (head + torch.arange(length, device=device)[:, None]).flatten()

    def __call__(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Gather, see `engine.llarp.lm.Attend`."""
        self.write(layer, self._places, keys, values)
        caches = self._keys[layer], self._values[layer]
        n, kv_heads = keys.shape[:2]
        known, carried = (cache[:n, :, : self._width] for cache in caches)
        asked = queries.reshape(n, kv_heads, -1, queries.shape[2])
        return attention(asked, known, carried, self._bias).reshape(queries.shape)


class _Fill:
    """First the tokens of new instructions, which go into the rows that wait; then the next."""

    def __init__(self, new: NewPrefixes, following: _NextTokens, rows: Mapping[int, int]) -> None:
        self._new, self._following, self._count = new, following, len(new.tokens)
        starts, device = new.packed.starts, new.tokens.device
        self._sources = torch.cat(
            [torch.arange(starts[n], starts[n + 1], device=device) for n in rows.values()]
        )
        self._places = torch.cat([following.places(row, new.lengths[n]) for row, n in rows.items()])

    def __call__(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Gather, see `engine.llarp.lm.Attend`."""
        first, second = slice(None, self._count), slice(self._count, None)
        before = self._new.recorded(layer, queries[first], keys[first], values[first])
        self._following.write(layer, self._places, keys[self._sources], values[self._sources])
        after = self._following(layer, queries[second], keys[second], values[second])
        return torch.cat((before, after))
