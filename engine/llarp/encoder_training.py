"""Trains the small visual encoder, once and in minutes: to tell what is seen in a frame.

From 256 features, linear layers have to tell which categories of objects are seen and in which
third of the picture, the same of receptacles, what is held, and what is seen open or closed. The
labels are the simulator's. That is this project's own choice: VC-1, in whose place the encoder
stands, is trained without labels on real video. Frames are of the training flats alone, and how
well the encoder sees is measured in an arrangement that neither training nor the evaluation splits
use. Objects of all 33 categories are shown: as with VC-1, categories that are held out from tasks
are not held out from sight.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.errors import ConfigError
from engine.llarp.encoder import FEATURES, PICTURE, EncoderNet, FrozenEncoder
from engine.llarp.encoder_frames import COLUMNS, Frames, FrameSource
from engine.worlds.rearrange.names import CATEGORIES, HANDLES, RECEPTACLE_NAMES

TRAINING_MACROS: Final = (0, 1, 2)
"""Arrangements of flats that training tasks are set in."""
UNSEEN_MACRO: Final = 4
"""In which no task is set: neither for training nor for evaluation."""
_WARM_UP: Final = 0.1
_LABELS: Final = {
    "categories": (len(CATEGORIES), COLUMNS),
    "receptacles": (len(RECEPTACLE_NAMES), COLUMNS),
    "handles": (len(HANDLES), 2),
}


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """Of one training."""

    frames: int = 40_000
    """Different frames."""
    passes: int = 3
    """How often each is trained on."""
    chunk: int = 4096
    """Frames in memory at once; all passes over a chunk come before the next one."""
    batch: int = 64
    learning_rate: float = 2e-3
    """At its highest; it rises over the first tenth and then falls to 0 as a cosine."""
    weight_decay: float = 0.01
    bfloat16: bool = False
    """Multiply in bfloat16: twice as fast where the processor can, far slower where it cannot."""
    macros: tuple[int, ...] = TRAINING_MACROS
    measured_on: int = 2_000
    """Frames of the unseen arrangement."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("frames", "passes", "chunk", "batch", "learning_rate", "measured_on"):
            if not getattr(self, name) > 0:
                raise ConfigError(
                    f"{name} is {getattr(self, name)!r} and must be above 0", f"Raise {name!r}."
                )
        if not self.macros or not set(self.macros) <= set(TRAINING_MACROS):
            raise ConfigError(
                f"the encoder is to see flats of the arrangements {self.macros!r}",
                f"Take some of {TRAINING_MACROS!r}: the others are kept for evaluation.",
            )


@dataclass(frozen=True, slots=True)
class Sight:
    """How well things are told in frames of the unseen arrangement.

    Average precision is the mean precision at each frame that has the thing, frames ordered by
    the score for it; 1 is perfect, and chance is the share of frames that have it.
    """

    categories: Mapping[str, float]
    """Average precision of being seen anywhere in the picture, by category."""
    categories_mean: float
    categories_placed: float
    """Mean average precision where the third of the picture has to be right, too."""
    receptacles: Mapping[str, float]
    receptacles_mean: float
    handles_mean: float
    """Of being seen closed, and of being seen open."""
    held: float
    """Share of frames in which the category in the gripper, or its being empty, is right."""
    chance: float
    """Mean over categories of the share of frames that have one."""
    frames: int


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a training stands."""

    frames: int
    """Trained on so far, each pass counted."""
    of: int
    loss: float
    """Mean over the last chunk."""


def train_encoder(
    config: EncoderConfig, report: Callable[[Progress], None] | None = None
) -> FrozenEncoder:
    """Train an encoder and measure it; `facts` holds the settings and its `Sight`.

    The same settings give the same encoder on the same machine and number of threads.
    """
    source = FrameSource(config.macros, PICTURE)
    frames_rng, order_rng = (
        np.random.default_rng(child) for child in np.random.SeedSequence(config.seed).spawn(2)
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        net = EncoderNet()
        probe = Probe()
    parameters = [*net.parameters(), *probe.parameters()]
    optimizer = torch.optim.AdamW(parameters, weight_decay=config.weight_decay)
    total, done = config.frames * config.passes, 0
    for start in range(0, config.frames, config.chunk):
        frames = source.draw(min(config.chunk, config.frames - start), frames_rng)
        losses = []
        for _ in range(config.passes):
            order = order_rng.permutation(len(frames))
            for index in np.array_split(order, max(1, len(order) // config.batch)):
                done += len(index)
                for group in optimizer.param_groups:
                    group["lr"] = config.learning_rate * _schedule(done / total)
                with torch.autocast("cpu", torch.bfloat16, enabled=config.bfloat16):
                    loss = probe.loss(net, frames, index)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                losses.append(float(loss.detach()))
        if report is not None:
            report(Progress(done, total, float(np.mean(losses))))
    encoder = FrozenEncoder(net)
    sight = measure(encoder, probe, config)
    encoder.facts |= {"config": asdict(config), "sight": asdict(sight)}
    return encoder


class Probe(nn.Module):
    """Linear layers that have to tell from the features what is seen."""

    def __init__(self) -> None:
        """Initialise from PyTorch's global generator."""
        super().__init__()
        self.layers = nn.ModuleDict(
            {name: nn.Linear(FEATURES, math.prod(shape)) for name, shape in _LABELS.items()}
        )
        self.held = nn.Linear(FEATURES, len(CATEGORIES) + 1)
        # Begin by holding everything for rare, as it is, and not for a toss-up.
        for layer in self.layers.values():
            assert isinstance(layer.bias, Tensor)
            nn.init.constant_(layer.bias, -2.0)

    def forward(self, features: Tensor) -> dict[str, Tensor]:
        """Logits of what is seen, in the shapes of `Frames`, and of what is held."""
        found = {
            name: self.layers[name](features).view(-1, *shape) for name, shape in _LABELS.items()
        }
        return found | {"held": self.held(features)}

    def loss(self, net: EncoderNet, frames: Frames, index: NDArray[np.int64]) -> Tensor:
        """Cross-entropies, summed over all that is to be told, mean over the frames `index`."""
        features, cells = net.look(torch.from_numpy(frames.pictures[index]))
        logits = self(features) | {"cells": cells}
        logits = {name: found.float() for name, found in logits.items()}
        loss = F.cross_entropy(logits["held"], torch.from_numpy(frames.held[index]))
        for name in (*_LABELS, "cells"):
            labels = torch.from_numpy(getattr(frames, name)[index]).float()
            each = F.binary_cross_entropy_with_logits(logits[name], labels, reduction="sum")
            loss = loss + each / len(index)
        return loss


def measure(encoder: FrozenEncoder, probe: Probe, config: EncoderConfig) -> Sight:
    """How well `probe` tells what `encoder` sees of the unseen arrangement."""
    rng = np.random.default_rng((config.seed, UNSEEN_MACRO))
    frames = FrameSource((UNSEEN_MACRO,), PICTURE).draw(config.measured_on, rng)
    with torch.no_grad():
        scores = {
            name: logits.numpy()
            for name, logits in probe(encoder(torch.from_numpy(frames.pictures))).items()
        }
    seen = {
        name: [
            average_precision(scores[name][:, index].max(1), getattr(frames, name)[:, index].any(1))
            for index in range(_LABELS[name][0])
        ]
        for name in ("categories", "receptacles")
    }
    placed, handles = (
        [
            average_precision(score, label)
            for score, label in zip(
                scores[name].reshape(len(frames), -1).T,
                getattr(frames, name).reshape(len(frames), -1).T,
                strict=True,
            )
        ]
        for name in ("categories", "handles")
    )
    return Sight(
        categories=dict(zip(CATEGORIES, seen["categories"], strict=True)),
        categories_mean=float(np.nanmean(seen["categories"])),
        categories_placed=float(np.nanmean(placed)),
        receptacles=dict(zip(RECEPTACLE_NAMES, seen["receptacles"], strict=True)),
        receptacles_mean=float(np.nanmean(seen["receptacles"])),
        handles_mean=float(np.nanmean(handles)),
        held=float(np.mean(scores["held"].argmax(1) == frames.held)),
        chance=float(frames.categories.any(2).mean()),
        frames=len(frames),
    )


def average_precision(scores: NDArray[np.floating], labels: NDArray[np.bool_]) -> float:
    """Mean precision at each true label, the highest scores first; NaN where none is true."""
    if not labels.any():
        return float("nan")
    hits = labels[np.argsort(-scores, kind="stable")]
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float(precision[hits].mean())


def _schedule(done: float) -> float:
    if done < _WARM_UP:
        return done / _WARM_UP
    return 0.5 * (1 + math.cos(math.pi * (done - _WARM_UP) / (1 - _WARM_UP)))
