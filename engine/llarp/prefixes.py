"""Keys and values of instructions, computed once: nothing that is trained comes before them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from engine.errors import ConfigError
from engine.llarp.attention import Packed, PrefixRows, Recorded
from engine.llarp.lm import CausalLm

Tokenise = Callable[[str], Sequence[int]]
"""Text to token ids, the token for the beginning included."""

_AT_ONCE = 64
_WIDTH_STEP = 8


def byte_tokens(text: str) -> list[int]:
    """A token for the beginning (1), then a byte a token from 3 on; for models without a file."""
    return [1, *(3 + byte for byte in text.encode())]


@dataclass(frozen=True, slots=True)
class NewPrefixes:
    """Distinct instructions that the model has yet to see, or has just seen."""

    instructions: tuple[str, ...]
    tokens: Tensor
    """Of all, one after another, (n,)."""
    lengths: tuple[int, ...]
    packed: Packed
    recorded: Recorded
    """What to attend with; afterwards it holds keys and values of every layer."""

    def rows(self) -> tuple[list[Tensor], list[Tensor]]:
        """Recorded keys and values by layer, (instructions, heads, width, head_dim)."""
        width = max(self.lengths)
        keys, values = (
            [_rows(part, self.packed.starts, width) for part in parts]
            for parts in (self.recorded.keys, self.recorded.values)
        )
        return keys, values


class Prefixes:
    """The instructions' tokens and, for a frozen model, their keys and values.

    Memory is bounded: beyond `capacity` instructions the least recently used make room, and are
    computed again when they come back.
    """

    def __init__(
        self,
        lm: CausalLm,
        tokenise: Tokenise,
        *,
        capacity: int = 1024,
        longest: int = 64,
        pad_to: int = 0,
    ) -> None:
        """Begin empty.

        Args:
            lm: the model whose prefixes these are.
            tokenise: the model's tokeniser.
            capacity: instructions to keep; one call for more than that keeps more.
            longest: tokens an instruction may have.
            pad_to: fill up with token 0, which is then attended to, as the released code does
                with 30; 0 for no padding.
        """
        self._lm = lm
        self._tokenise = tokenise
        self._capacity, self._longest, self._pad_to = capacity, longest, pad_to
        self._slot: dict[str, int] = {}
        self._length: dict[str, int] = {}
        self._keys: list[Tensor] = []
        self._values: list[Tensor] = []
        self.computed = 0
        """Instructions put through the model so far."""

    def tokens(self, instruction: str) -> list[int]:
        """Token ids as the model is fed them.

        Raises:
            ConfigError: it is longer than allowed, or has no tokens.
        """
        tokens = list(self._tokenise(instruction))
        tokens += [0] * (self._pad_to - len(tokens))
        if not 0 < len(tokens) <= self._longest:
            raise ConfigError(
                f"the instruction {instruction!r} has {len(tokens)} tokens, not 1 to "
                f"{self._longest}",
                "Shorten it or allow longer ones (`longest_instruction`).",
            )
        return tokens

    def __contains__(self, instruction: str) -> bool:
        return instruction in self._slot

    def rows(self, instructions: Sequence[str]) -> PrefixRows:
        """Keys and values for one sequence per instruction; computes those that are new."""
        wanted = dict.fromkeys(instructions)
        new = [text for text in wanted if text not in self._slot]
        if new:
            self._make_room(wanted, len(new))
            for start in range(0, len(new), _AT_ONCE):
                texts = new[start : start + _AT_ONCE]
                with torch.no_grad():
                    self._store(texts, self._run(texts))
        for text in wanted:
            self._slot[text] = self._slot.pop(text)  # the last is the most recently used
        slots = torch.tensor([self._slot[text] for text in instructions], device=self._lm.device)
        lengths = tuple(self._length[text] for text in instructions)
        return PrefixRows(self._keys, self._values, slots, lengths)

    def pack(self, instructions: Sequence[str]) -> NewPrefixes:
        """Lay distinct instructions out for a pass through the model, together with others."""
        tokens = [self.tokens(text) for text in instructions]
        flat = torch.tensor([token for row in tokens for token in row], device=self._lm.device)
        lm, lengths = self._lm, [len(row) for row in tokens]
        packed = Packed(lengths, lm.config.group, lm.dtype, lm.device)
        return NewPrefixes(tuple(instructions), flat, tuple(lengths), packed, Recorded(packed))

    @torch.no_grad()
    def keep(self, new: NewPrefixes) -> None:
        """Remember what a pass through the model recorded."""
        self._make_room(new.instructions, len(new.instructions))
        self._store(new.instructions, new)

    def fresh_rows(self, instructions: Sequence[str]) -> PrefixRows:
        """The same computed anew with gradients, once per distinct instruction.

        For a model that is itself trained, whose stored prefixes every update makes stale.
        """
        new = self._run(list(dict.fromkeys(instructions)))
        keys, values = new.rows()
        place = {text: index for index, text in enumerate(new.instructions)}
        slots = [place[text] for text in instructions]
        lengths = tuple(new.lengths[slot] for slot in slots)
        return PrefixRows(keys, values, torch.tensor(slots, device=self._lm.device), lengths)

    def clear(self) -> None:
        """Forget everything: the model's weights have changed."""
        self._slot.clear()
        self._length.clear()
        self._keys, self._values = [], []

    def _run(self, texts: Sequence[str]) -> NewPrefixes:
        new, lm = self.pack(texts), self._lm
        lm(lm.embed(new.tokens), new.packed.positions, new.recorded, wanted_from=len(new.tokens))
        return new

    def _store(self, texts: Sequence[str], new: NewPrefixes) -> None:
        """Put what was computed for `texts` into the pools; there is room by count."""
        keys, values = new.rows()
        self.computed += len(texts)
        taken = set(self._slot.values())
        free = iter(slot for slot in range(len(taken) + len(texts)) if slot not in taken)
        slots = [next(free) for _ in texts]
        self._reserve(max(slots) + 1, keys[0].shape[2])
        index = torch.tensor(slots, device=self._lm.device)
        for pools, found in ((self._keys, keys), (self._values, values)):
            for pool, rows in zip(pools, found, strict=True):
                pool[index, :, : rows.shape[2]] = rows
        self._slot |= dict(zip(texts, slots, strict=True))
        self._length |= dict(zip(texts, new.lengths, strict=True))

    def _make_room(self, wanted: Iterable[str], new: int) -> None:
        kept = set(wanted)
        surplus = len(self._slot) + new - max(self._capacity, len(kept))
        for text in [text for text in self._slot if text not in kept][: max(0, surplus)]:
            del self._slot[text], self._length[text]

    def _reserve(self, slots: int, width: int) -> None:
        """Let the pools have room, keeping what they hold."""
        config = self._lm.config
        have = self._keys[0].shape if self._keys else torch.Size((0, 0, 0, 0))
        width = max(have[2], -(-width // _WIDTH_STEP) * _WIDTH_STEP)
        if slots <= have[0] and width == have[2]:
            return
        slots = max(have[0], min(max(slots, 2 * have[0]), max(slots, self._capacity)))
        for name in ("_keys", "_values"):
            pools: list[Tensor] = getattr(self, name)
            shape = (slots, config.num_key_value_heads, width, config.head_dim)
            grown = []
            for layer in range(config.num_hidden_layers):
                pool = self._lm.embedding.new_zeros(shape)
                if pools:
                    pool[: have[0], :, : have[2]] = pools[layer]
                grown.append(pool)
            setattr(self, name, grown)


def _rows(part: Tensor, starts: Sequence[int], width: int) -> Tensor:
    """Packed tokens (n, heads, size) as (sequences, heads, width, size), zeros behind."""
    rows = [
        torch.nn.functional.pad(part[start:end], (0, 0, 0, 0, 0, width - (end - start)))
        for start, end in pairwise(starts)
    ]
    return torch.stack(rows).transpose(1, 2)
