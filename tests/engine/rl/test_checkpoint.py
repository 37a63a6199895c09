"""The checkpoint file: whole or refused, and never both copies lost."""

from __future__ import annotations

import hashlib

import pytest
import torch

import engine.rl.checkpoint as module
from engine.rl.checkpoint import (
    Checkpoint,
    DamagedCheckpoint,
    load_checkpoint,
    previous_file,
    save_checkpoint,
)


def checkpoint(number: int) -> Checkpoint:
    tensors = {
        "weights": torch.full((3, 2), float(number)),
        "step": torch.tensor(float(number)),
        "bytes": torch.tensor([number, 255], dtype=torch.uint8),
        "flags": torch.tensor([True, False]),
    }
    return Checkpoint(tensors, f'{{"number": {number}}}')


@pytest.fixture
def file(tmp_path):
    return tmp_path / "run" / "checkpoint.safetensors"


def test_it_comes_back_as_it_was(file):
    sha256 = save_checkpoint(file, checkpoint(1))
    loaded = load_checkpoint(file)
    assert loaded.state == '{"number": 1}'
    for name, tensor in checkpoint(1).tensors.items():
        assert loaded.tensors[name].dtype == tensor.dtype
        assert torch.equal(loaded.tensors[name], tensor)
    assert sha256 == hashlib.sha256(file.read_bytes()).hexdigest()


def test_nothing_saved_is_none(file):
    assert load_checkpoint(file) is None


def test_the_last_two_are_kept_and_nothing_else(file):
    for number in (1, 2, 3):
        save_checkpoint(file, checkpoint(number))
    assert load_checkpoint(file).state == '{"number": 3}'
    file.unlink()
    assert load_checkpoint(file).state == '{"number": 2}'
    assert [path.name for path in file.parent.iterdir()] == [previous_file(file).name]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:5],
        lambda data: b"",
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: data.replace(b"number", b"numbar"),
        lambda data: b"not a checkpoint at all",
    ],
)
def test_a_damaged_file_falls_back_to_the_one_before(file, damage):
    for number in (1, 2):
        save_checkpoint(file, checkpoint(number))
    file.write_bytes(damage(file.read_bytes()))
    assert load_checkpoint(file).state == '{"number": 1}'


def test_two_damaged_files_say_what_to_do(file):
    for number in (1, 2):
        save_checkpoint(file, checkpoint(number))
    for path in (file, previous_file(file)):
        path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DamagedCheckpoint, match=r"cannot be used") as caught:
        load_checkpoint(file)
    assert "Delete" in caught.value.hint
    assert str(file.parent) in caught.value.message


def test_a_crash_while_writing_leaves_the_old_one(file, monkeypatch):
    save_checkpoint(file, checkpoint(1))

    def crash(path, data):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "write_atomically", crash)
    with pytest.raises(KeyboardInterrupt):
        save_checkpoint(file, checkpoint(2))
    assert load_checkpoint(file).state == '{"number": 1}'
