"""Text to the numbers a frozen language model was trained on, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.errors import ConfigError, EngineError
from engine.llarp.extras import extra

TOKENIZER_FILE = "tokenizer.json"
NORMAL, UNKNOWN, CONTROL, USER_DEFINED = 1, 2, 3, 4
"""Kinds of token in a GGUF file (`tokenizer.ggml.token_type`) that matter here."""

_LLAMA3_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_WORDS = ("gpt-2", "smollm", "llama-bpe")
"""Ways to cut text into words before merging (`tokenizer.ggml.pre`) that are known here."""
_SPACE = "\u2581"
"""What SentencePiece writes for a space."""


class Tokens:
    """The tokenizer of one model.

    Args:
        tokenizer: a `tokenizers.Tokenizer`; cutting and padding are turned off in it.
        bos: a token that opens every text even where the tokenizer does not add it by itself.
    """

    def __init__(self, tokenizer: Any, bos: int | None = None) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self._bos = bos

    def encode(self, text: str) -> tuple[int, ...]:
        """Numbers of the tokens, after the BOS token where the model was trained with one."""
        numbers = tuple(self._tokenizer.encode(text).ids)
        if self._bos is not None and numbers[:1] != (self._bos,):
            return (self._bos, *numbers)
        return numbers

    def decode(self, numbers: Sequence[int]) -> str:
        """The text of tokens; special ones have none."""
        return str(self._tokenizer.decode(list(numbers)))

    def __len__(self) -> int:
        """Tokens in the vocabulary."""
        return int(self._tokenizer.get_vocab_size())


def load_tokens(folder: Path) -> Tokens:
    """The tokenizer of the model in `folder`, from its `tokenizer.json`.

    Raises:
        ConfigError: there is no such file, or it can't be read.
        EngineError: the package `tokenizers` is missing.
    """
    tokenizers = extra("tokenizers", "Reading instructions")
    path = folder / TOKENIZER_FILE
    if not path.is_file():
        raise ConfigError(
            f"the model in {str(folder)!r} has no {TOKENIZER_FILE!r}",
            "Put the model's `tokenizer.json` there; `tokenizer.model` alone is not enough.",
        )
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises bare ones
        raise ConfigError(
            f"{str(path)!r} is no tokenizer: {error}", "Fetch the model's `tokenizer.json` again."
        ) from error
    return Tokens(tokenizer, _forced_bos(folder, tokenizer))


def _forced_bos(folder: Path, tokenizer: Any) -> int | None:
    """The BOS token if `tokenizer_config.json` demands one: not all of `tokenizer.json` add it."""
    try:
        config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(config, dict) or config.get("add_bos_token") is not True:
        return None
    token = config.get("bos_token")
    name = token.get("content") if isinstance(token, dict) else token
    return tokenizer.token_to_id(name) if isinstance(name, str) else None


# --- from the metadata of a GGUF file -----------------------------------------------------------


def tokenizer_of_gguf(metadata: Mapping[str, Any]) -> Any:
    """A `tokenizers.Tokenizer` made of the keys `tokenizer.ggml.*` of a GGUF file.

    Byte-level BPE (`gpt2`: SmolLM, GPT-2, Llama 3) and SentencePiece's BPE (`llama`: Llama 1
    and 2).

    Raises:
        ConfigError: the file has another kind of tokenizer, or a broken one.
        EngineError: the package `tokenizers` is missing.
    """
    tokenizers = extra("tokenizers", "Reading instructions")
    makers = {"gpt2": _byte_level, "llama": _sentencepiece}
    kind = metadata.get("tokenizer.ggml.model")
    if kind not in makers:
        raise _unusable(f"its tokenizer is of the kind {kind!r}, not one of {sorted(makers)!r}")
    try:
        tokens = metadata["tokenizer.ggml.tokens"]
        kinds = metadata.get("tokenizer.ggml.token_type") or [NORMAL] * len(tokens)
        vocabulary = {token: number for number, token in enumerate(tokens)}
        if len(vocabulary) != len(tokens) or len(kinds) != len(tokens):
            raise ValueError("a token occurs twice, or has no kind")
        tokenizer = makers[kind](tokenizers, metadata, vocabulary, kinds)
        for wanted, special in ((CONTROL, True), (USER_DEFINED, False)):
            chosen = [token for token, kind in zip(tokens, kinds, strict=True) if kind == wanted]
            tokenizer.add_tokens([
                tokenizers.AddedToken(token, special=special, normalized=False) for token in chosen
            ])  # fmt: skip
        if _opens_with_bos(metadata):
            bos = metadata["tokenizer.ggml.bos_token_id"]
            tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
                single=[tokens[bos], "$A"], special_tokens=[(tokens[bos], bos)]
            )
    except EngineError:
        raise
    except Exception as error:  # the package raises bare ones
        raise _unusable(f"its tokenizer is broken: {error}") from error
    return tokenizer


def _byte_level(
    tokenizers: Any, metadata: Mapping[str, Any], vocabulary: dict[str, int], kinds: Sequence[int]
) -> Any:
    words = metadata.get("tokenizer.ggml.pre")
    if words not in _WORDS:
        raise _unusable(f"its tokenizer cuts words in the way {words!r}, not one of {_WORDS!r}")
    cut = tokenizers.pre_tokenizers
    before = {
        "gpt-2": [cut.ByteLevel(add_prefix_space=False)],
        "smollm": [cut.Digits(individual_digits=True), cut.ByteLevel(add_prefix_space=False)],
        "llama-bpe": [
            cut.Split(tokenizers.Regex(_LLAMA3_WORDS), behavior="isolated"),
            cut.ByteLevel(add_prefix_space=False, use_regex=False),
        ],
    }
    # No token has a space in it: bytes are written as letters, a space as one of them.
    merges = [tuple(pair.split(" ")) for pair in metadata["tokenizer.ggml.merges"]]
    model = tokenizers.models.BPE(vocabulary, merges, ignore_merges=words == "llama-bpe")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = cut.Sequence(before[words])
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return tokenizer


def _sentencepiece(
    tokenizers: Any, metadata: Mapping[str, Any], vocabulary: dict[str, int], kinds: Sequence[int]
) -> Any:
    tokens = list(vocabulary)
    unknown = next((token for token, kind in zip(tokens, kinds, strict=True) if kind == UNKNOWN))
    pairs = _pairs(vocabulary, kinds, metadata["tokenizer.ggml.scores"])
    model = tokenizers.models.BPE(
        vocabulary, pairs, unk_token=unknown, fuse_unk=True, byte_fallback=True
    )
    tokenizer = tokenizers.Tokenizer(model)
    change, back = tokenizers.normalizers, tokenizers.decoders
    spaces = [change.Replace(" ", _SPACE)]
    letters = [back.Replace(_SPACE, " "), back.ByteFallback(), back.Fuse()]
    if metadata.get("tokenizer.ggml.add_space_prefix", True):
        spaces = [change.Prepend(_SPACE), *spaces]
        letters = [*letters, back.Strip(" ", 1, 0)]
    tokenizer.normalizer = change.Sequence(spaces)
    tokenizer.decoder = back.Sequence(letters)
    return tokenizer


def _pairs(
    vocabulary: Mapping[str, int], kinds: Sequence[int], scores: Sequence[float]
) -> list[tuple[str, str]]:
    """Merges in the order of SentencePiece: the pair whose joint token has the best score first."""
    usable = {token for token, number in vocabulary.items() if kinds[number] == NORMAL}
    found = [
        (-scores[vocabulary[token]], vocabulary[token], cut, token)
        for token in usable
        for cut in range(1, len(token))
        if token[:cut] in usable and token[cut:] in usable
    ]
    return [(token[:cut], token[cut:]) for _, _, cut, token in sorted(found)]


def _opens_with_bos(metadata: Mapping[str, Any]) -> bool:
    """As llama.cpp has it where the file is silent."""
    silent = (
        metadata.get("tokenizer.ggml.model") == "llama"
        or metadata.get("tokenizer.ggml.pre") == "llama-bpe"
    )
    return bool(metadata.get("tokenizer.ggml.add_bos_token", silent))


def _unusable(reason: str) -> ConfigError:
    return ConfigError(
        f"the GGUF file cannot be used: {reason}",
        "Take the model's original folder (`config.json`, `*.safetensors`, `tokenizer.json`).",
    )
