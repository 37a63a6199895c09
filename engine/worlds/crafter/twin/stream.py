"""numpy's `RandomState` in compiled code: the same numbers from the same state.

The package draws from the Mersenne Twister (Matsumoto and Nishimura 1998) through numpy. With the
very same draws a twin plays the very same episode, which is the strongest test there can be; a draw
costs a few nanoseconds.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.worlds.crafter.compiled import compiled
from engine.worlds.crafter.twin.state import STREAM_WORDS, Place

_MIDDLE: Final = 397
"""The generator's own constant; so are the bit masks below."""


def save_stream(random: np.random.RandomState, place: Place) -> None:
    """Go on in a place where numpy's stream stands."""
    _, words, position, _, _ = random.get_state()
    place.stream[:] = words
    place.stream_position = int(position)


def load_stream(place: Place, random: np.random.RandomState) -> None:
    """Go on in numpy's stream where a place stands."""
    random.set_state(("MT19937", np.array(place.stream), int(place.stream_position), 0, 0.0))


@compiled
def uniform(place: Place) -> float:
    """A number from 0 to below 1, as `RandomState.uniform()`: 53 bits of two words."""
    high, low = _word(place) >> 5, _word(place) >> 6
    return float((high * 67108864.0 + low) / 9007199254740992.0)


@compiled
def below(place: Place, count: int) -> int:
    """An integer from 0 to below `count`, as `RandomState.randint(0, count)`: masked rejection."""
    last = count - 1
    if last == 0:
        return 0  # numpy takes no draw where there is no choice
    mask = last
    for shift in (1, 2, 4, 8, 16):
        mask |= mask >> shift
    found = _word(place) & mask
    while found > last:
        found = _word(place) & mask
    return found


@compiled
def _word(place: Place) -> int:
    """The next 32 bits."""
    if place.stream_position >= STREAM_WORDS:
        _twist(place.stream)
        place.stream_position = 0
    # numba widens unsigned numbers and mixes them badly with signed ones: all signed, 64 bits.
    word = int(place.stream[place.stream_position])
    place.stream_position += 1
    word ^= word >> 11
    word ^= (word << 7) & 0x9D2C5680
    word ^= (word << 15) & 0xEFC60000
    return word ^ (word >> 18)


@compiled
def _twist(words: NDArray[np.uint32]) -> None:
    """The next 624 words of the state, in place."""
    for index in range(STREAM_WORDS):
        following = int(words[(index + 1) % STREAM_WORDS])
        mixed = (int(words[index]) & 0x80000000) | (following & 0x7FFFFFFF)
        twisted = int(words[(index + _MIDDLE) % STREAM_WORDS]) ^ (mixed >> 1)
        if mixed & 1:
            twisted ^= 0x9908B0DF
        words[index] = twisted
