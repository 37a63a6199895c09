"""Tokenizers: from a file, and made of the metadata of a GGUF file."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import tokenizers

from engine.errors import ConfigError, EngineError
from engine.llarp.tokens import Tokens, load_tokens, tokenizer_of_gguf


@pytest.fixture(scope="module")
def tiny(load: Callable[[Path], ModuleType]) -> ModuleType:
    return load(Path(__file__).parent / "tiny_gguf.py")


def pieces(metadata: dict[str, Any], text: str) -> list[str]:
    numbers = Tokens(tokenizer_of_gguf(metadata)).encode(text)
    return [metadata["tokenizer.ggml.tokens"][number] for number in numbers]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        # Digits stand alone in SmolLM's way, are merged in the others.
        ("smollm", ["Ġthe", "Ġapple", "Ġ", "1", "2", "s"]),
        ("gpt-2", ["Ġthe", "Ġapple", "Ġ", "12", "s"]),
        ("llama-bpe", ["<|start|>", "Ġthe", "Ġapple", "Ġ", "12", "s"]),
    ],
)
def test_bytes_are_merged_within_words(tiny: ModuleType, words: str, expected: list[str]) -> None:
    metadata = tiny.metadata() | {"tokenizer.ggml.pre": words}
    if words == "llama-bpe":  # which has a BOS token unless the file says otherwise
        del metadata["tokenizer.ggml.add_bos_token"]
    assert pieces(metadata, " the apple 12s") == expected


def test_any_text_comes_back(tiny: ModuleType) -> None:
    tokens = Tokens(tokenizer_of_gguf(tiny.metadata()))
    text = "  Bring the café's 2 apples,\n\tplease… 你好 🙂 "
    assert tokens.decode(tokens.encode(text)) == text
    assert tokens.encode("") == ()
    assert len(tokens) == len(tiny.VOCABULARY)


def test_the_text_opens_with_bos_where_the_file_says_so(tiny: ModuleType) -> None:
    metadata = tiny.metadata()
    assert pieces(metadata, "apple") == ["apple"]
    metadata["tokenizer.ggml.add_bos_token"] = True
    assert pieces(metadata, "the")[0] == "<|start|>"
    tokens = Tokens(tokenizer_of_gguf(metadata))
    assert tokens.decode(tokens.encode("the")) == "the"


def test_a_special_token_in_the_text_is_one_token(tiny: ModuleType) -> None:
    assert pieces(tiny.metadata(), "he<|end|>he") == ["he", "<|end|>", "he"]


# --- SentencePiece ----------------------------------------------------------------------------


def sentencepiece(**changed: Any) -> dict[str, Any]:
    """Llama 2's kind: `▁` for a space, bytes for letters that it does not know."""
    scored = {"▁": -1e3, "a": -1e3, "p": -1e3, "l": -1e3, "e": -1e3, "t": -1e3, "h": -1e3}
    scored |= {"▁t": -1.0, "he": -2.0, "▁the": -3.0, "pl": -4.0, "ap": -5.0, "▁a": -6.0}
    scored |= {"ple": -7.0, "▁ap": -8.0, "▁apple": -9.0, "pp": -10.0}
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *scored]
    return {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [2, 3, 3] + [6] * 256 + [1] * len(scored),
        "tokenizer.ggml.scores": [0.0] * 259 + list(scored.values()),
        "tokenizer.ggml.bos_token_id": 1,
        **changed,
    }


@pytest.mark.parametrize(
    ("score", "expected"), [(-4.5, ["<s>", "▁a", "pp"]), (-5.5, ["<s>", "▁ap", "p"])]
)
def test_sentencepiece_merges_the_best_score_first(score: float, expected: list[str]) -> None:
    assert pieces(sentencepiece(), "the apple") == ["<s>", "▁the", "▁apple"]
    metadata = sentencepiece()
    metadata["tokenizer.ggml.scores"][metadata["tokenizer.ggml.tokens"].index("pp")] = score
    assert pieces(metadata, "app") == expected


def test_sentencepiece_falls_back_to_bytes() -> None:
    assert pieces(sentencepiece(), "é") == ["<s>", "▁", "<0xC3>", "<0xA9>"]
    tokens = Tokens(tokenizer_of_gguf(sentencepiece()))
    assert tokens.decode(tokens.encode("the é apple")) == "the é apple"


def test_sentencepiece_without_a_leading_space_or_bos() -> None:
    metadata = sentencepiece(
        **{"tokenizer.ggml.add_space_prefix": False, "tokenizer.ggml.add_bos_token": False}
    )
    assert pieces(metadata, "he") == ["he"]


# --- what cannot be ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"tokenizer.ggml.model": "bert"}, "kind 'bert'"),
        ({"tokenizer.ggml.pre": None}, "the way None"),
        ({"tokenizer.ggml.token_type": [1, 1]}, "has no kind"),
        ({"tokenizer.ggml.merges": ["a qqq"]}, "tokenizer is broken"),
        ({"tokenizer.ggml.merges": ["a"]}, "tokenizer is broken"),
        ({"tokenizer.ggml.add_bos_token": True, "tokenizer.ggml.bos_token_id": 9999}, "is broken"),
    ],
)
def test_broken_metadata_are_refused(tiny: ModuleType, changed: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        tokenizer_of_gguf(tiny.metadata() | changed)


# --- from a file ------------------------------------------------------------------------------


@pytest.fixture
def folder(tiny: ModuleType, tmp_path: Path) -> Path:
    tokenizer_of_gguf(tiny.metadata()).save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def test_cutting_and_padding_of_the_file_do_not_count(folder: Path) -> None:
    path = str(folder / "tokenizer.json")
    tokenizer = tokenizers.Tokenizer.from_file(path)
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=30)
    tokenizer.save(path)
    assert len(load_tokens(folder).encode("the apple the apple")) == 5


@pytest.mark.parametrize("bos", ["<|start|>", {"content": "<|start|>"}])
def test_a_bos_that_only_the_config_demands_is_put_first(folder: Path, bos: Any) -> None:
    plain = load_tokens(folder).encode("the")
    config = {"add_bos_token": True, "bos_token": bos}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    assert load_tokens(folder).encode("the") == (1, *plain)
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"add_bos_token": False}))
    assert load_tokens(folder).encode("the") == plain


def test_a_missing_or_broken_file_is_told(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(ConfigError, match="is no tokenizer"):
        load_tokens(folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ConfigError, match=r"has no 'tokenizer.json'"):
        load_tokens(folder)


def test_without_the_package_the_next_step_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(EngineError, match="needs the package 'tokenizers'") as refused:
        load_tokens(folder)
    assert "pip install 'rlgpt-studio[llarp]'" in refused.value.hint
