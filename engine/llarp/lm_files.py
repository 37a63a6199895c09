"""Language models as files: Hugging Face's folder of `config.json` and safetensors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from engine.errors import ConfigError, EngineError
from engine.llarp.lm import CausalLm, Layer
from engine.llarp.lm_config import LmConfig, read_lm_config


def random_lm(
    config: LmConfig,
    seed: int,
    dtype: torch.dtype = torch.float32,
    *,
    trainable: bool = False,
) -> CausalLm:
    """A model with random weights, the same for the same seed."""
    model = CausalLm(config, dtype, trainable=trainable)
    model.initialise(seed)
    model.source_hash = hash_of(model)
    return model


def load_lm(
    folder: Path, dtype: torch.dtype = torch.bfloat16, *, trainable: bool = False
) -> CausalLm:
    """The model in a folder with `config.json` and `*.safetensors`.

    The output head is not read: nothing here predicts text.

    Raises:
        ConfigError: the folder holds no such model, or one of another shape.
    """
    try:
        config = read_lm_config(json.loads((folder / "config.json").read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"no language model in {str(folder)!r}: {error}",
            "Point to a folder with `config.json` and `*.safetensors`.",
        ) from error
    model = CausalLm(config, dtype, trainable=trainable)
    parts = _parts(model)
    digest = hashlib.sha256(repr(config).encode())
    for path in _files(folder):
        try:
            with safetensors.safe_open(path, framework="pt") as file:
                for name in sorted(set(file.keys()) & set(parts)):
                    _fill(name, parts.pop(name), file.get_tensor(name))
        except (OSError, safetensors.SafetensorError) as error:
            raise ConfigError(
                f"{str(path)!r} cannot be read: {error}", "Fetch the model's files again."
            ) from error
        digest.update(_digest_file(path))
    if parts:
        some = ", ".join(map(repr, sorted(parts)[:3]))
        raise ConfigError(
            f"the model in {str(folder)!r} lacks {len(parts)} tensors, {some} among them",
            "Fetch all of the model's files.",
        )
    model.source_hash = digest.hexdigest()
    return model


def save_lm(folder: Path, model: CausalLm) -> None:
    """Write `config.json` and `model.safetensors` as Hugging Face names them.

    Raises:
        EngineError: it cannot be written.
    """
    config = model.config
    text: dict[str, Any] = {
        "model_type": "llama",
        "vocab_size": config.vocab_size,
        "hidden_size": config.hidden_size,
        "intermediate_size": config.intermediate_size,
        "num_hidden_layers": config.num_hidden_layers,
        "num_attention_heads": config.num_attention_heads,
        "num_key_value_heads": config.num_key_value_heads,
        "head_dim": config.head_dim,
        "rms_norm_eps": config.rms_norm_eps,
        "rope_theta": config.rope_theta,
        "attention_bias": config.attention_bias,
    }
    if config.stretched is not None:
        rule = config.stretched
        text["rope_scaling"] = {
            "rope_type": "llama3",
            "factor": rule.factor,
            "low_freq_factor": rule.low_freq_factor,
            "high_freq_factor": rule.high_freq_factor,
            "original_max_position_embeddings": rule.original_max_position_embeddings,
        }
    tensors = {name: part.detach().cpu().contiguous() for name, part in _parts(model).items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(text, indent=2), "utf-8")
        safetensors.torch.save_file(tensors, folder / "model.safetensors")
    except OSError as error:
        raise EngineError(
            f"cannot write a language model to {str(folder)!r}: {error}", "Free some disk space."
        ) from error


def hash_of(module: nn.Module) -> str:
    """SHA-256 over names, types, shapes and bytes of all parameters of a frozen part."""
    digest = hashlib.sha256()
    for name, weight in sorted(module.named_parameters()):
        digest.update(json.dumps([name, str(weight.dtype), list(weight.shape)]).encode())
        flat = weight.detach().cpu().contiguous().view(-1).view(torch.uint8)
        digest.update(flat.numpy().data)
    return digest.hexdigest()


def _parts(model: CausalLm) -> dict[str, Tensor]:
    """Hugging Face's names, and the stretch of our weights that each one fills."""
    config = model.config
    queries, rest = (
        heads * config.head_dim
        for heads in (config.num_attention_heads, config.num_key_value_heads)
    )
    parts: dict[str, Tensor] = {
        "model.embed_tokens.weight": model.embedding.data,
        "model.norm.weight": model.norm.data,
    }
    for index, layer in enumerate(model.layers):
        assert isinstance(layer, Layer)
        name = f"model.layers.{index}."
        gate, up = layer.gate_up.data.T.chunk(2)
        parts[f"{name}input_layernorm.weight"] = layer.input_norm.data
        parts[f"{name}post_attention_layernorm.weight"] = layer.post_norm.data
        parts[f"{name}self_attn.o_proj.weight"] = layer.out.data.T
        parts[f"{name}mlp.gate_proj.weight"] = gate
        parts[f"{name}mlp.up_proj.weight"] = up
        parts[f"{name}mlp.down_proj.weight"] = layer.down.data.T
        fused = {"weight": layer.qkv.data.T}
        if layer.qkv_bias is not None:
            fused["bias"] = layer.qkv_bias.data
        for kind, matrix in fused.items():
            q, k, v = torch.split(matrix, [queries, rest, rest])
            parts |= {
                f"{name}self_attn.{letter}_proj.{kind}": rows
                for letter, rows in (("q", q), ("k", k), ("v", v))
            }
    return parts


def _fill(name: str, part: Tensor, found: Tensor) -> None:
    if part.shape != found.shape:
        raise ConfigError(
            f"tensor {name!r} has shape {tuple(found.shape)!r}, not {tuple(part.shape)!r}",
            "`config.json` and the weights are of different models: fetch both again.",
        )
    part.copy_(found)


def _files(folder: Path) -> list[Path]:
    index = folder / "model.safetensors.index.json"
    if index.exists():
        placed: Mapping[str, str] = json.loads(index.read_text("utf-8"))["weight_map"]
        return [folder / Path(name).name for name in sorted(set(placed.values()))]
    return sorted(folder.glob("*.safetensors"))


def _digest_file(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
