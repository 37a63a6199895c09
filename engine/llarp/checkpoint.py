"""Checkpoints of a policy: the trained parts alone, with the frozen ones named by hash.

Files are `engine.rl.checkpoint`'s: safetensors with JSON in the header, written atomically, the
one before kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from engine.errors import ConfigError
from engine.llarp.lm import CausalLm
from engine.llarp.policy import PolicyConfig
from engine.llarp.sequences import Trainable
from engine.llarp.vision import Encoder
from engine.rl.checkpoint import Checkpoint, DamagedCheckpoint, load_checkpoint, save_checkpoint

_FORMAT = 1
_POLICY, _MOMENTS, _RANDOM = "policy.", "optimizer.", "random.actions"


class Kept(Trainable, Protocol):
    """A policy of trained and frozen parts: LLaRP itself, or a baseline of it."""

    lm: CausalLm
    encoder: Encoder | None

    @property
    def config(self) -> PolicyConfig:
        """Its sizes."""
        ...


@dataclass(frozen=True, slots=True)
class TrainingState:
    """Where a training stands, beside its tensors."""

    steps: int
    updates: int
    numpy_random: Mapping[str, Any]
    extra: Mapping[str, object] = field(default_factory=dict)


def save_policy(path: Path, policy: Kept) -> str:
    """Write the trained parts; the SHA-256 of the file.

    Raises:
        EngineError: it cannot be written.
    """
    return save_checkpoint(path, Checkpoint(_weights(policy), json.dumps(_identity(policy))))


def restore_policy(path: Path, policy: Kept) -> None:
    """Fill the trained parts of `policy` from a file of `save_policy` or `save_training`.

    Raises:
        DamagedCheckpoint: it cannot be read.
        ConfigError: there is none, or it is of a policy with other parts; nothing is changed.
    """
    checkpoint, _ = _load(path, policy)
    _fill(policy, checkpoint)


def save_training(
    path: Path,
    policy: Kept,
    optimizer: torch.optim.Optimizer,
    generator: torch.Generator,
    state: TrainingState,
) -> str:
    """Write everything a training needs to go on exactly; the SHA-256 of the file.

    Raises:
        EngineError: it cannot be written.
    """
    tensors = _weights(policy) | {_RANDOM: generator.get_state()}
    for name, weight in policy.trained().items():
        for key, moment in optimizer.state.get(weight, {}).items():
            tensors[f"{_MOMENTS}{key}.{name}"] = moment.detach().cpu()
    text = _identity(policy) | {"training": asdict(state)}
    return save_checkpoint(path, Checkpoint(tensors, json.dumps(text)))


def restore_training(
    path: Path,
    policy: Kept,
    optimizer: torch.optim.Optimizer,
    generator: torch.Generator,
) -> TrainingState:
    """Bring policy, optimiser and generator to where `save_training` left them.

    Raises:
        DamagedCheckpoint: it cannot be read.
        ConfigError: there is none, it holds no training, or is of a policy with other parts.
    """
    checkpoint, text = _load(path, policy)
    if "training" not in text:
        raise ConfigError(
            f"{str(path)!r} holds a policy, but no training to go on with",
            "Resume from a checkpoint of a training, or begin a new one with this policy.",
        )
    _fill(policy, checkpoint)
    optimizer.state.clear()
    for name, weight in policy.trained().items():
        moments = {
            key.removeprefix(_MOMENTS).removesuffix(f".{name}"): tensor
            for key, tensor in checkpoint.tensors.items()
            if key.startswith(_MOMENTS) and key.endswith(f".{name}")
        }
        if moments:
            optimizer.state[weight] = {
                # PyTorch keeps the count of steps on the CPU.
                key: moment.clone() if key == "step" else moment.to(weight.device, copy=True)
                for key, moment in moments.items()
            }
    generator.set_state(checkpoint.tensors[_RANDOM])
    return TrainingState(**text["training"])


def _identity(policy: Kept) -> dict[str, Any]:
    """What a policy must have in common with a checkpoint, as JSON."""
    frozen = {} if policy.lm.trainable else {"language model": policy.lm.source_hash}
    if policy.encoder is not None:
        frozen["visual encoder"] = policy.encoder.source_hash
    sizes = asdict(policy.config)
    del sizes["kept_instructions"]  # memory alone
    return {"format": _FORMAT, "frozen": frozen, "config": sizes}


def _weights(policy: Kept) -> dict[str, Tensor]:
    return {
        f"{_POLICY}{name}": weight.detach().cpu().contiguous()
        for name, weight in policy.trained().items()
    }


def _load(path: Path, policy: Kept) -> tuple[Checkpoint, dict[str, Any]]:
    checkpoint = load_checkpoint(path)
    if checkpoint is None:
        raise ConfigError(f"there is no checkpoint {str(path)!r}", "Name one that was saved.")
    try:
        text: dict[str, Any] = json.loads(checkpoint.state)
    except ValueError as error:
        raise DamagedCheckpoint(
            f"{str(path)!r} is no checkpoint of a LLaRP policy", "Name one that is."
        ) from error
    for part, mine in _identity(policy).items():
        theirs = text.get(part)
        if theirs != mine:
            raise ConfigError(
                f"{str(path)!r} was saved with {part} {theirs!r}, and this policy has {mine!r}",
                "Build the policy from the same parts as the one that was saved.",
            )
    shapes = {
        name.removeprefix(_POLICY): tensor.shape
        for name, tensor in checkpoint.tensors.items()
        if name.startswith(_POLICY)
    }
    if shapes != {name: weight.shape for name, weight in policy.trained().items()}:
        raise ConfigError(
            f"the trained parts in {str(path)!r} have other names or shapes than this policy's",
            "Build the policy from the same parts as the one that was saved.",
        )
    return checkpoint, text


@torch.no_grad()
def _fill(policy: Kept, checkpoint: Checkpoint) -> None:
    for name, weight in policy.trained().items():
        weight.copy_(checkpoint.tensors[f"{_POLICY}{name}"])
    policy.changed()
