"""The small visual encoder: labelled frames, training, files, and its place in a policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.errors import ConfigError
from engine.llarp.encoder import FEATURES, PICTURE, load_encoder, save_encoder
from engine.llarp.encoder_frames import FrameSource
from engine.llarp.encoder_training import (
    EncoderConfig,
    Progress,
    average_precision,
    train_encoder,
)
from engine.llarp.policy import LlarpPolicy
from engine.llarp.vision import RememberingEncoder
from engine.rl.checkpoint import Checkpoint, DamagedCheckpoint, save_checkpoint
from engine.worlds.rearrange.layout import generate
from engine.worlds.rearrange.names import CATEGORIES, ENTITIES, RECEPTACLE_NAMES
from engine.worlds.rearrange.render import View

QUICK = EncoderConfig(frames=96, passes=1, chunk=64, batch=32, measured_on=48)
APPLE, BOOK = CATEGORIES.index("apple"), CATEGORIES.index("book")


def view(where: str, held: int = -1, fridge: float = 0.0) -> View:
    """An apple left and a book right on the black table, seen from a place `nav` leads to."""
    layout = generate(0, 0)
    x, y, heading = layout.stands[ENTITIES.index(where)].tolist()
    low, high = layout.surfaces[0]
    middle = (low + high) / 2
    table = float(layout.stands[0, 2])
    right = np.array([np.sin(table), -np.cos(table), 0.0], np.float32)
    positions = np.stack([middle - 0.4 * right, middle + 0.4 * right]).astype(np.float32)
    positions[:, 2] = low[2] + 0.05
    return View(
        layout,
        (x, y, heading),
        (0.0, 0.0, 0.0, 0.0, fridge),
        np.array([APPLE, BOOK]),
        np.array([0, 0]),
        positions,
        held,
    )


def test_labels_say_what_is_seen() -> None:
    """Of views made by hand."""
    source = FrameSource((0,))
    source._flat = lambda rng: [  # type: ignore[method-assign]
        view("black_table"),
        view("black_table", held=0),
        view("sofa"),
        view("fridge"),
        view("fridge", fridge=1.22),
    ]
    frames = source.draw(5, np.random.default_rng(0))
    assert frames.categories[0, APPLE].tolist() == [True, False, False]
    assert frames.categories[0, BOOK].tolist() == [False, False, True]
    assert frames.categories[0].sum() == 2
    assert frames.cells[0, APPLE, :, :3].any()
    assert frames.categories[1, [APPLE, BOOK]].any(1).tolist() == [False, True]
    assert frames.held.tolist() == [33, APPLE, 33, 33, 33]
    black, sofa, fridge = (
        RECEPTACLE_NAMES.index(name) for name in ("black_table", "sofa", "fridge")
    )
    assert frames.receptacles[0, black].any()
    assert not frames.receptacles[0, [sofa, fridge]].any()
    assert frames.receptacles[2, sofa].all()
    assert frames.receptacles[3, fridge].any()
    assert not frames.categories[3].any()
    assert frames.handles[:, 4].tolist() == [
        [False, False],
        [False, False],
        [False, False],
        [True, False],
        [False, True],
    ]


def test_frames_are_of_the_flats_asked_for_and_seeded() -> None:
    source = FrameSource((1, 2))
    flats = {view.layout.macro for _ in range(8) for view in source._flat(np.random.default_rng(_))}
    assert flats == {1, 2}
    first, again, other = (source.draw(6, np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert np.array_equal(first.pictures, again.pictures)
    assert np.array_equal(first.cells, again.cells)
    assert not np.array_equal(first.pictures, other.pictures)
    assert np.array_equal(first.cells.any((2, 3)), first.categories.any(2))


def test_average_precision_by_hand() -> None:
    scores = np.array([0.9, 0.8, 0.7, 0.6])
    assert average_precision(scores, np.array([True, False, True, False])) == pytest.approx(5 / 6)
    assert average_precision(-scores, np.array([True, False, False, False])) == 0.25
    assert np.isnan(average_precision(scores, np.zeros(4, np.bool_)))


def test_training_is_seeded_kept_in_a_file_and_measured(tmp_path: Path) -> None:
    told: list[Progress] = []
    encoder = train_encoder(QUICK, told.append)
    assert [progress.frames for progress in told] == [64, 96]
    assert told[-1].loss < told[0].loss
    assert train_encoder(QUICK).source_hash == encoder.source_hash
    assert train_encoder(replace(QUICK, seed=1)).source_hash != encoder.source_hash
    sight = encoder.facts["sight"]
    assert set(sight["categories"]) == set(CATEGORIES)
    assert 0 < sight["categories_mean"] < 1
    assert sight["frames"] == 48
    path = tmp_path / "encoder.safetensors"
    save_encoder(path, encoder)
    loaded = load_encoder(path)
    assert loaded.source_hash == encoder.source_hash
    assert loaded.facts["config"]["seed"] == 0
    pictures = torch.randint(0, 256, (3, PICTURE, PICTURE, 3), dtype=torch.uint8)
    assert torch.equal(loaded(pictures), encoder(pictures))
    assert not any(weight.requires_grad for weight in loaded.net.parameters())


def test_stands_where_a_policy_wants_an_encoder(make_policy: Callable[..., LlarpPolicy]) -> None:
    remembered = RememberingEncoder(train_encoder(replace(QUICK, frames=32, measured_on=8)))
    policy = make_policy(encoder=remembered, features=FEATURES)
    policy.begin([0, 1], ["press red", "press green"])
    pictures = torch.randint(0, 256, (2, PICTURE, PICTURE, 3), dtype=torch.uint8)
    choice = policy.act([0, 1], pictures)
    assert choice.features.shape == (2, FEATURES)
    torch.testing.assert_close(choice.features.mean(1), torch.zeros(2), atol=1e-5, rtol=0)
    with pytest.raises(ConfigError, match="do not fit the visual encoder"):
        remembered(torch.zeros(1, 32, 32, 3, dtype=torch.uint8))


def test_refuses_what_cannot_work(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="passes is 0"):
        EncoderConfig(passes=0)
    with pytest.raises(ConfigError, match=r"arrangements \(0, 3\)"):
        EncoderConfig(macros=(0, 3))
    path = tmp_path / "encoder.safetensors"
    with pytest.raises(ConfigError, match="no visual encoder"):
        load_encoder(path)
    save_checkpoint(path, Checkpoint({"a": torch.zeros(1)}, "{}"))
    with pytest.raises(ConfigError, match="of this kind"):
        load_encoder(path)
    path.with_name("x").write_bytes(b"?")
    with pytest.raises(DamagedCheckpoint):
        load_encoder(path.with_name("x"))
