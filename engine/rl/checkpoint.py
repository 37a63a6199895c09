"""The checkpoint file: one safetensors file, checked by its own hash, the last two kept.

Never a pickle. Tensors hold weights, optimiser moments, random states and world snapshots; the
rest is JSON in the header.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import safetensors
import safetensors.torch
import torch

from engine.errors import EngineError
from engine.files import write_atomically

log = logging.getLogger(__name__)

_FORMAT = "rlgpt-studio checkpoint 1"
Tensors = Mapping[str, torch.Tensor]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a checkpoint file holds; `state` is JSON text."""

    tensors: Tensors
    state: str


class DamagedCheckpoint(EngineError):
    """A checkpoint file is truncated, altered or of another format."""


def previous_file(path: Path) -> Path:
    """Where the checkpoint before the newest one is kept."""
    return path.with_name(path.name + ".previous")


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> str:
    """Write atomically, keeping the one before; the SHA-256 of the file.

    Raises:
        EngineError: the file could not be written; the earlier ones are untouched.
    """
    metadata = {
        "format": _FORMAT,
        "state": checkpoint.state,
        "digest": _digest(checkpoint),
    }
    data = safetensors.torch.save(dict(checkpoint.tensors), metadata)
    if path.exists():
        # A hard link keeps the old one under both names until the new one takes its place.
        older = previous_file(path)
        spare = older.with_name(older.name + ".new")
        spare.unlink(missing_ok=True)
        os.link(path, spare)
        os.replace(spare, older)
    write_atomically(path, data)
    return hashlib.sha256(data).hexdigest()


def load_checkpoint(path: Path, warn: Callable[[str], None] = log.warning) -> Checkpoint | None:
    """The newest checkpoint that is whole; None when there never was one.

    Args:
        warn: told why a newer file is passed over.

    Raises:
        DamagedCheckpoint: there are files, but none that can be used.
    """
    damage: DamagedCheckpoint | None = None
    for candidate in (path, previous_file(path)):
        if not candidate.exists():
            continue
        try:
            checkpoint = _read(candidate)
        except DamagedCheckpoint as error:
            damage = damage or error
            continue
        if damage is not None:
            warn(f"{damage}; going on from the one before")
        return checkpoint
    if damage is not None:
        raise damage
    return None


def _read(path: Path) -> Checkpoint:
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except Exception as error:
        raise _damaged(path, str(error)) from error
    if metadata.get("format") != _FORMAT:
        raise _damaged(path, f"its format is {metadata.get('format')!r}, not {_FORMAT!r}")
    checkpoint = Checkpoint(tensors, metadata.get("state", ""))
    if metadata.get("digest") != _digest(checkpoint):
        raise _damaged(path, "its content does not match its hash")
    return checkpoint


def _digest(checkpoint: Checkpoint) -> str:
    digest = hashlib.sha256(checkpoint.state.encode())
    for name in sorted(checkpoint.tensors):
        tensor = checkpoint.tensors[name]
        digest.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        digest.update(tensor.contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _damaged(path: Path, why: str) -> DamagedCheckpoint:
    return DamagedCheckpoint(
        f"the checkpoint {str(path)!r} cannot be used: {why}",
        f"Delete {str(path)!r} (and {previous_file(path).name!r} beside it) and resume: "
        "training then begins anew; plan and approved code are kept.",
    )
