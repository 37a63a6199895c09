"""The frozen model: a folder, a GGUF file or a name on the hub, and its hash."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import safetensors.torch
import torch

from engine.errors import ConfigError, EngineError
from engine.llarp import model_files
from engine.llarp.model_files import frozen_model, weight_files

SIZES = {
    "vocab_size": 9,
    "hidden_size": 8,
    "intermediate_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
}


@pytest.fixture(scope="module")
def tiny(load: Callable[[Path], ModuleType]) -> ModuleType:
    return load(Path(__file__).parent / "tiny_gguf.py")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def a_model(folder: Path, **config: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", **SIZES, **config}
    (folder / "config.json").write_text(json.dumps(text))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = a_model(tmp_path / "model")
    safetensors.torch.save_file({"a": torch.arange(4.0)}, made / "model.safetensors")
    return made


def sharded(folder: Path, **places: str) -> Path:
    index = {"weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


# --- folders ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [str, Path])
def test_a_folder_is_taken_as_it_is(folder: Path, cache: Path, kind: Callable[..., Any]) -> None:
    model = frozen_model(kind(folder), cache)
    weights = folder / "model.safetensors"
    assert model.folder == folder
    assert model.weights == (weights,)
    assert model.sha256 == hashlib.sha256(weights.read_bytes()).hexdigest()
    assert not cache.exists()


def test_all_parts_that_the_index_names_count(tmp_path: Path, cache: Path) -> None:
    folder = sharded(a_model(tmp_path / "m"), x="two.safetensors", y="one.safetensors",
                     z="one.safetensors")  # fmt: skip
    for number, name in enumerate(("one", "two", "other")):
        tensors = {name: torch.full((3,), float(number))}
        safetensors.torch.save_file(tensors, folder / f"{name}.safetensors")
    model = frozen_model(folder, cache)
    assert [path.name for path in model.weights] == ["one.safetensors", "two.safetensors"]
    parts = b"".join(path.read_bytes() for path in model.weights)
    assert model.sha256 == hashlib.sha256(parts).hexdigest()


def test_a_part_that_is_missing_is_told(folder: Path, cache: Path) -> None:
    with pytest.raises(ConfigError, match=r"lacks the file 'two\.safetensors'"):
        frozen_model(sharded(folder, a="model.safetensors", b="two.safetensors"), cache)


@pytest.mark.parametrize("name", ["../model.safetensors", "/etc/passwd", "part.bin"])
def test_an_index_that_points_elsewhere_is_refused(folder: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="the index of"):
        weight_files(sharded(folder, a=name))


def test_pickled_weights_are_never_taken(tmp_path: Path, cache: Path) -> None:
    folder = a_model(tmp_path / "old")
    torch.save({"a": torch.zeros(1)}, folder / "pytorch_model.bin")
    with pytest.raises(ConfigError, match="no weights in safetensors") as refused:
        frozen_model(folder, cache)
    assert "pickles" in refused.value.hint


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"architectures": ["GPT2LMHeadModel"]}, "GPT2LMHeadModel"),
        ({"architectures": None, "model_type": "gpt_neox"}, "gpt_neox"),
        ({"quantization_config": {"quant_method": "gptq"}}, "are quantised"),
        ({"attention_bias": True}, "has biases"),
        ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, "'yarn' is not supported"),
        ({"hidden_size": None}, "states no 'hidden_size'"),
    ],
)
def test_another_kind_of_model_is_refused(
    folder: Path, cache: Path, config: dict[str, Any], says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        frozen_model(a_model(folder, **config), cache)


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_broken_config_is_told(folder: Path, cache: Path, text: str) -> None:
    (folder / "config.json").write_text(text)
    with pytest.raises(ConfigError, match=r"config\.json"):
        frozen_model(folder, cache)


# --- the hash ---------------------------------------------------------------------------------


def test_the_hash_is_computed_once_for_the_same_files(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = frozen_model(folder, cache)
    with monkeypatch.context() as patch:
        patch.setattr(model_files, "_feed", lambda *_: pytest.fail("hashed again"))
        assert frozen_model(folder, cache) == first
    weights = folder / "model.safetensors"
    safetensors.torch.save_file({"a": torch.arange(4.0) + 1}, weights)
    os.utime(weights, ns=(1, 1))
    second = frozen_model(folder, cache).sha256
    assert second == hashlib.sha256(weights.read_bytes()).hexdigest() != first.sha256


@pytest.mark.parametrize("note", ["", "[]", "{}", '{"files": 1, "sha256": 2}'])
def test_a_broken_note_is_written_anew(folder: Path, cache: Path, note: str) -> None:
    expected = frozen_model(folder, cache)
    path = folder / "weights-hash.json"
    good = path.read_text()
    path.write_text(note)
    assert frozen_model(folder, cache) == expected
    assert path.read_text() == good


def test_a_folder_that_cannot_be_written_to_will_do(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, data: bytes) -> None:
        raise EngineError(f"cannot write {str(path)!r}")

    monkeypatch.setattr(model_files, "write_atomically", refuse)
    weights = folder / "model.safetensors"
    expected = hashlib.sha256(weights.read_bytes()).hexdigest()
    assert frozen_model(folder, cache).sha256 == expected


# --- GGUF -------------------------------------------------------------------------------------


def test_a_gguf_file_is_made_into_a_folder_once(
    tiny: ModuleType, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tiny.write(tmp_path / "small.gguf")
    model = frozen_model(path, cache)
    assert model.folder.parent == cache
    assert {made.name for made in model.folder.iterdir()} == {
        "config.json", "model.safetensors", "tokenizer.json", "weights-hash.json"
    }  # fmt: skip
    assert model.sha256 == hashlib.sha256(model.weights[0].read_bytes()).hexdigest()
    with monkeypatch.context() as patch:
        patch.setattr(model_files, "convert", lambda *_: pytest.fail("made again"))
        patch.setattr(model_files, "_feed", lambda *_: pytest.fail("hashed again"))
        assert frozen_model(path, cache) == model
    tiny.write(path, tiny.weights(seed=1))
    assert frozen_model(path, cache).sha256 != model.sha256


def test_what_breaks_off_leaves_nothing(
    tiny: ModuleType, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tiny.write(tmp_path / "small.gguf")

    def half(path: Path, folder: Path) -> str:
        (folder / "config.json").write_text("{}")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(model_files, "convert", half)
        with pytest.raises(EngineError, match="No space left on device"):
            frozen_model(path, cache)
    assert list(cache.iterdir()) == []
    assert frozen_model(path, cache).weights[0].is_file()


def test_whoever_is_second_takes_what_the_first_made(
    tiny: ModuleType, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tiny.write(tmp_path / "small.gguf")
    honest = model_files.convert

    def overtaken(path: Path, folder: Path) -> str:
        monkeypatch.setattr(model_files, "convert", honest)
        frozen_model(path, cache)
        return honest(path, folder)

    monkeypatch.setattr(model_files, "convert", overtaken)
    model = frozen_model(path, cache)
    assert [made.name for made in cache.iterdir()] == [model.folder.name]


@pytest.mark.parametrize("name", ["no/such/folder/here", "nothing.gguf", "..//x"])
def test_nothing_there_is_told(cache: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="there is no model at") as refused:
        frozen_model(name, cache)
    assert ".gguf" in refused.value.hint


def test_a_file_of_another_kind_is_refused(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(ConfigError, match=r"model\.bin' is not a model"):
        frozen_model(tmp_path / "model.bin", cache)


def test_without_the_package_the_next_step_is_told(
    tiny: ModuleType, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tiny.write(tmp_path / "small.gguf")
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(EngineError, match="needs the package 'gguf'") as refused:
        frozen_model(path, cache)
    assert "pip install 'rlgpt-studio[llarp]'" in refused.value.hint


# --- the hub ----------------------------------------------------------------------------------


class Missing(Exception):
    """What the package raises for a name that the hub does not have."""


class FakeHub:
    """Has one model, or fails."""

    def __init__(self, folder: Path, fails: Exception | None = None) -> None:
        self.folder = folder
        self.fails = fails
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def hf_hub_download(self, **asked: Any) -> str:
        self.asked.append(("file", asked))
        if self.fails is not None:
            raise self.fails
        return str(self.folder / asked["filename"])

    def snapshot_download(self, **asked: Any) -> str:
        self.asked.append(("all", asked))
        return str(self.folder)


@pytest.fixture
def on_the_hub(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakeHub]:
    """Puts a fake in the place of the package."""
    names = ("RepositoryNotFoundError", "RevisionNotFoundError", "RemoteEntryNotFoundError",
             "HFValidationError")  # fmt: skip

    def put(fails: Exception | None = None) -> FakeHub:
        hub = FakeHub(folder, fails)
        monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
        errors = SimpleNamespace(**dict.fromkeys(names, Missing))
        monkeypatch.setitem(sys.modules, "huggingface_hub.errors", errors)
        return hub

    return put


def test_a_name_is_looked_up_on_the_hub(
    folder: Path, cache: Path, on_the_hub: Callable[..., FakeHub]
) -> None:
    hub = on_the_hub()
    assert frozen_model("someone/small-llama@v1.0", cache).folder == folder
    (first, file), (second, everything) = hub.asked
    assert (first, file["filename"], second) == ("file", "config.json", "all")
    assert everything["repo_id"] == file["repo_id"] == "someone/small-llama"
    assert everything["revision"] == file["revision"] == "v1.0"
    assert set(everything["allow_patterns"]) == {"*.json", "*.safetensors", "tokenizer*"}
    assert "*.bin" in everything["ignore_patterns"]


def test_weights_of_another_kind_of_model_are_not_fetched(
    folder: Path, cache: Path, on_the_hub: Callable[..., FakeHub]
) -> None:
    a_model(folder, architectures=["BertModel"])
    hub = on_the_hub()
    with pytest.raises(ConfigError, match="BertModel"):
        frozen_model("someone/bert", cache)
    assert [what for what, _ in hub.asked] == ["file"]


def test_a_name_that_the_hub_does_not_have_is_told(
    cache: Path, on_the_hub: Callable[..., FakeHub]
) -> None:
    on_the_hub(Missing("404\nmore"))
    with pytest.raises(ConfigError, match=r"no model on the hub called 'x/y': 404$") as refused:
        frozen_model("x/y", cache)
    assert "HF_TOKEN" in refused.value.hint


def test_the_real_package_without_a_network(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(EngineError, match="model hub is out of reach") as refused:
        frozen_model("someone/small-llama", cache)
    assert "copy the model's folder here" in refused.value.hint
    with pytest.raises(ConfigError, match="no model on the hub called 'x--y/z'"):
        frozen_model("x--y/z", cache)
