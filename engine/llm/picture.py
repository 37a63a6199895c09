"""A picture beside the words of a message: how it is sent, and how it is recorded."""

from __future__ import annotations

import base64
import hashlib
import re
import struct
import zlib
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

PICTURE_TOLD = "\n\n# The picture\n"
"""Stands between the words of a message and what is said of its picture."""

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_TRUECOLOUR = 2
_RECORDED = re.compile(
    re.escape(PICTURE_TOLD) + r".*?\[picture: \d+x\d+ PNG, sha256 [0-9a-f]{64}\]", re.DOTALL
)
_DATA_URL = re.compile(r"data:image/[\w.+-]+;base64,[A-Za-z0-9+/=]*")


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG and what the model is told of it; both go together or not at all."""

    png: bytes = field(repr=False)
    width: int
    height: int
    words: str

    @property
    def url(self) -> str:
        """The picture itself as a `data:` URL, which needs no place to be fetched from."""
        return f"data:image/png;base64,{base64.b64encode(self.png).decode()}"

    @property
    def mark(self) -> str:
        """What a record has in place of the picture: enough to know it again."""
        digest = hashlib.sha256(self.png).hexdigest()
        return f"[picture: {self.width}x{self.height} PNG, sha256 {digest}]"


def picture_of(pixels: NDArray[np.uint8], words: str) -> Picture:
    """A picture of an image of shape (height, width, 3).

    Raises:
        ValueError: the image has another shape.
    """
    if pixels.ndim != 3 or pixels.shape[2] != 3:
        raise ValueError(f"a picture has the shape (height, width, 3), not {pixels.shape!r}")
    height, width, _ = pixels.shape
    return Picture(png_of(pixels), width, height, words)


def png_of(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG of an image of shape (height, width, 3): 8 bits a channel, no filter, not interlaced.

    Source: Portable Network Graphics specification, chapters 5 and 11.
    """
    height, width, _ = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, _TRUECOLOUR, 0, 0, 0)
    unfiltered = np.zeros((height, 1 + width * 3), np.uint8)
    unfiltered[:, 1:] = pixels.reshape(height, width * 3)
    body = zlib.compress(unfiltered.tobytes(), level=9)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def without_pictures(prompt: str) -> str:
    """A recorded prompt as it is where no picture was sent."""
    return _RECORDED.sub("", prompt)


def without_data(text: str) -> str:
    """Text of a server that repeats what it was sent, without the pictures in it."""
    return _DATA_URL.sub("[picture]", text)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
