"""The frozen language model as files: a folder, a GGUF file or a name on the model hub.

Whatever is given, what comes out is a folder with `config.json`, `*.safetensors` and
`tokenizer.json`, and the hash by which checkpoints name it. Only safetensors are ever read: the
older `*.bin` files are pickles, which run code.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import ConfigError, EngineError
from engine.files import write_atomically
from engine.llarp.extras import extra
from engine.llarp.gguf import convert
from engine.llarp.lm_config import read_lm_config

_log = logging.getLogger(__name__)

ARCHITECTURE = "LlamaForCausalLM"
_INDEX = "model.safetensors.index.json"
_NOTE = "weights-hash.json"
_LAYOUT = 1
"""Of what is made of a GGUF file; a higher number makes it anew."""
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?(@[\w./-]+)?")
_WANTED = ("*.json", "*.safetensors", "tokenizer*")
_UNWANTED = ("*/*", "consolidated*", "*.bin", "*.pt", "*.pkl")
_KINDS = (
    "Give a folder with `config.json` and `*.safetensors`, a `.gguf` file, or a name on the hub "
    "such as 'owner/model'."
)


@dataclass(frozen=True, slots=True)
class FrozenModel:
    """A language model on disk that never changes."""

    name: str
    """As it was asked for."""
    folder: Path
    """Has `config.json`, the weights and, if the model came with one, `tokenizer.json`."""
    weights: tuple[Path, ...]
    """The safetensors files, in the order of their names."""
    sha256: str
    """Over the bytes of the weights, file after file."""


def frozen_model(name_or_path: str | Path, cache: Path) -> FrozenModel:
    """The model that is meant, made ready to be loaded.

    Args:
        name_or_path: a folder, a `.gguf` file, or a name on the hub: `owner/model` or
            `owner/model@revision`.
        cache: folder for what is made of GGUF files. What comes from the hub stays in the hub's
            own cache, which other programs share.

    Raises:
        ConfigError: there is no such model, or it is of a kind that can't be used.
        EngineError: a package is missing, the hub is out of reach, the disk is full.
    """
    name = str(name_or_path)
    path = Path(name_or_path).expanduser()
    if path.is_dir():
        folder = path
    elif path.is_file():
        folder = _from_gguf(path, cache)
    elif isinstance(name_or_path, str) and path.suffix != ".gguf" and _HUB_NAME.fullmatch(name):
        folder = _from_hub(name)
    else:
        raise ConfigError(f"there is no model at {name!r}", _KINDS)
    check_config(folder)
    weights = weight_files(folder)
    return FrozenModel(name, folder, weights, hash_of_weights(folder, weights))


def check_config(folder: Path) -> None:
    """Whether the model is one that the decoder can be.

    Raises:
        ConfigError: it isn't, or `config.json` is missing or broken.
    """
    config = _json(folder / "config.json", "Give the folder of a model, with its `config.json`.")
    found = config.get("architectures") or ([ARCHITECTURE] * (config.get("model_type") == "llama"))
    if found != [ARCHITECTURE]:
        raise ConfigError(
            f"the model in {str(folder)!r} is a {found or config.get('model_type')!r}",
            f"Take a Llama-shaped model: its `config.json` says {ARCHITECTURE!r}.",
        )
    if config.get("quantization_config"):
        raise ConfigError(
            f"the weights in {str(folder)!r} are quantised",
            "Take the model's bf16 weights, or a GGUF file of it.",
        )
    if config.get("attention_bias"):
        raise ConfigError(
            f"the attention of the model in {str(folder)!r} has biases, which are not supported",
            "Take a Llama-shaped model without them.",
        )
    read_lm_config(config)


def weight_files(folder: Path) -> tuple[Path, ...]:
    """The safetensors files of a model: the one, or all that its index names.

    Raises:
        ConfigError: there are none, some are missing, or the index points out of the folder.
    """
    again = "Fetch all of the model's `*.safetensors` files."
    if (folder / _INDEX).is_file():
        places = _json(folder / _INDEX, again).get("weight_map")
        names = sorted({str(name) for name in places.values()}) if isinstance(places, dict) else []
    else:
        names = ["model.safetensors"]
        if not (folder / names[0]).is_file():
            names = sorted(path.name for path in folder.glob("*.safetensors"))
    if not names:
        raise ConfigError(
            f"the model in {str(folder)!r} has no weights in safetensors",
            "Take a model that comes with `*.safetensors`: `*.bin` files are pickles, which could "
            "run any code and are never loaded.",
        )
    for name in names:
        if Path(name).name != name or not name.endswith(".safetensors"):
            raise ConfigError(f"the index of {str(folder)!r} names the file {name!r}", again)
        if not (folder / name).is_file():
            raise ConfigError(f"the model in {str(folder)!r} lacks the file {name!r}", again)
    return tuple(folder / name for name in names)


# --- the hash ---------------------------------------------------------------------------------


def hash_of_weights(folder: Path, weights: Sequence[Path]) -> str:
    """SHA-256 over the files; noted beside them and taken from there while they are unchanged.

    Raises:
        ConfigError: a file can't be read.
    """
    try:
        state = _state(weights)
        try:
            note = json.loads((folder / _NOTE).read_text(encoding="utf-8"))
            if note["files"] == state and isinstance(note["sha256"], str):
                return str(note["sha256"])
        except (OSError, ValueError, LookupError, TypeError):
            pass  # none yet, or none that can be used
        digest = hashlib.sha256()
        for path in weights:
            _feed(digest, path)
    except OSError as error:
        raise ConfigError(
            f"the weights in {str(folder)!r} cannot be read: {error}", "Fetch them again."
        ) from error
    _note(folder, weights, digest.hexdigest())
    return digest.hexdigest()


def _feed(digest: Any, path: Path) -> None:
    with path.open("rb") as file:
        while block := file.read(1 << 22):
            digest.update(block)


def _note(folder: Path, weights: Sequence[Path], sha256: str) -> None:
    note = {"sha256": sha256, "files": _state(weights)}
    try:
        write_atomically(folder / _NOTE, (json.dumps(note) + "\n").encode())
    except EngineError as error:  # a model that may not be written to is hashed each time
        _log.info("the hash of the weights is not kept: %s", error)


def _state(weights: Sequence[Path]) -> list[list[Any]]:
    """What changes when a file does: size and time."""
    return [[path.name, (s := path.stat()).st_size, s.st_mtime_ns] for path in weights]


# --- GGUF -------------------------------------------------------------------------------------


def _from_gguf(path: Path, cache: Path) -> Path:
    """The folder made of a GGUF file; made once, whole or not at all."""
    if path.suffix != ".gguf":
        raise ConfigError(f"{str(path)!r} is not a model that can be read", _KINDS)
    stat = path.stat()
    key = f"{path.resolve()}|{stat.st_size}|{stat.st_mtime_ns}|{_LAYOUT}"
    folder = cache / f"{path.stem}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    if folder.is_dir():
        return folder
    _log.info("making safetensors of %s, once", path)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=cache, prefix=f".{folder.name}."))
        try:
            _make(path, unfinished)
            unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    except OSError as error:
        if folder.is_dir():  # another process was quicker
            return folder
        raise EngineError(
            f"cannot write the model {str(path)!r} to {str(cache)!r}: {error.strerror or error}",
            "Free some disk space: about two bytes per weight are needed.",
        ) from error
    return folder


def _make(path: Path, folder: Path) -> None:
    sha256 = convert(path, folder)
    _note(folder, weight_files(folder), sha256)
    for made in folder.iterdir():
        with made.open("rb") as file:
            os.fsync(file.fileno())
    folder.chmod(0o755)  # temporary folders are their owner's alone


# --- the hub ----------------------------------------------------------------------------------


def _from_hub(name: str) -> Path:
    """The folder of a model on the hub, fetched unless it is there; `config.json` comes first."""
    hub = extra("huggingface_hub", f"Fetching the model {name!r}")
    errors = extra("huggingface_hub.errors", f"Fetching the model {name!r}")
    model, _, revision = name.partition("@")
    asked: dict[str, Any] = {"repo_id": model, "revision": revision or None}
    try:
        config = hub.hf_hub_download(filename="config.json", **asked)
        check_config(Path(config).parent)
        return Path(
            hub.snapshot_download(
                allow_patterns=list(_WANTED), ignore_patterns=list(_UNWANTED), **asked
            )
        )
    except EngineError:
        raise
    except (
        errors.RepositoryNotFoundError,  # also where a licence has to be accepted
        errors.RevisionNotFoundError,
        errors.RemoteEntryNotFoundError,
        errors.HFValidationError,
    ) as error:
        raise ConfigError(
            f"there is no folder and no model on the hub called {name!r}: {_first_line(error)}",
            f"{_KINDS} For a model with a licence to accept, do so on its page and set HF_TOKEN.",
        ) from error
    except Exception as error:  # every layer below, down to the sockets, has its own kinds
        raise EngineError(
            f"there is no folder {name!r}, and the model hub is out of reach: {_first_line(error)}",
            "Connect to the network, or copy the model's folder here and give its path.",
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _json(path: Path, hint: str) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{str(path)!r} cannot be read: {error}", hint) from error
    if not isinstance(found, dict):
        raise ConfigError(f"{str(path)!r} is not a JSON object", hint)
    return found
