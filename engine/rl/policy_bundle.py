"""Policies that may choose other policies, in one file of weights that needs nothing beside it.

The file is safetensors. A policy's own tensors have their plain names. Every learned policy that it
may choose, or that one of these may choose, is there once: its tensors under `DIGEST/name`, its
spec in the header. Without learned actions the file is what safetensors makes of the network.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from pydantic import ValidationError

from engine.errors import EngineError
from engine.rl.learned_action import Action, Entry, LearnedAction, LearnedEntry
from engine.rl.options import CodedAction
from engine.rl.policy_file import PolicyFile, PolicySpec

Tensors = Mapping[str, NDArray[np.generic]]

_SPECS = "policies"
_SEPARATOR = "/"
_LENGTH_BYTES = 8
"""Of the number at the start of a safetensors file that says how long its header is."""


def bundle(own: Tensors, actions: Iterable[Action]) -> bytes:
    """The weights of a network, with the policies of its learned actions."""
    tensors, specs = dict(own), dict[str, str]()
    for action in actions:
        if isinstance(action, LearnedAction):
            digest = digest_of(action.policy)
            specs |= {**_specs(action.policy.weights), digest: _text(action.policy.spec)}
            for name, tensor in _tensors(action.policy.weights).items():
                inner = _SEPARATOR in name
                tensors[name if inner else f"{digest}{_SEPARATOR}{name}"] = tensor
    header = {_SPECS: json.dumps(specs, sort_keys=True)} if specs else None
    return safetensors.numpy.save(tensors, header)


def own_tensors(weights: bytes) -> dict[str, NDArray[np.generic]]:
    """The tensors of a policy's own network.

    Raises:
        EngineError: the bytes are damaged.
    """
    return {name: t for name, t in _tensors(weights).items() if _SEPARATOR not in name}


def bound(entries: Iterable[Entry], weights: bytes) -> tuple[Action, ...]:
    """The actions of a spec, the learned ones with their policies out of its weights.

    Raises:
        EngineError: the bytes are damaged, or have not what is named.
    """
    return tuple(
        entry if isinstance(entry, CodedAction) else _learned(entry, weights) for entry in entries
    )


def named(actions: Iterable[Action]) -> tuple[Entry, ...]:
    """The actions as a spec has them."""
    return tuple(
        action
        if isinstance(action, CodedAction)
        else LearnedEntry(
            name=action.name,
            policy=digest_of(action.policy),
            success=action.success,
            precondition=action.precondition,
            interrupt=action.interrupt,
            due=action.due,
            max_frames=action.max_frames,
        )
        for action in actions
    )


def all_code(actions: Iterable[Action]) -> Iterator[CodedAction]:
    """Every coded action that can come to run, also inside of learned ones; each once."""
    seen: set[tuple[str, str]] = set()
    for action in _every(actions):
        if (action.name, action.code) not in seen:
            seen.add((action.name, action.code))
            yield action


def digest_of(policy: PolicyFile) -> str:
    """SHA-256 of a policy's spec and own weights; its spec has the digests of its learned ones."""
    digest = hashlib.sha256(_text(policy.spec).encode())
    for name, tensor in sorted(own_tensors(policy.weights).items()):
        digest.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        digest.update(np.ascontiguousarray(tensor).tobytes())
    return digest.hexdigest()


def _every(actions: Iterable[Action]) -> Iterator[CodedAction]:
    for action in actions:
        if isinstance(action, CodedAction):
            yield action
        else:
            policy = action.policy
            yield from _every(bound(policy.spec.actions, policy.weights))


def _learned(entry: LearnedEntry, weights: bytes) -> LearnedAction:
    return LearnedAction(
        name=entry.name,
        policy=_policy(entry.policy, weights),
        success=entry.success,
        precondition=entry.precondition,
        interrupt=entry.interrupt,
        due=entry.due,
        max_frames=entry.max_frames,
    )


def _policy(digest: str, weights: bytes) -> PolicyFile:
    text = _specs(weights).get(digest)
    if text is None:
        raise _damaged(f"they do not have the policy {digest:.12}")
    try:
        spec = PolicySpec.model_validate_json(text)
    except ValidationError as error:
        raise _damaged(str(error)) from error
    prefix = digest + _SEPARATOR
    own = {
        name.removeprefix(prefix): tensor
        for name, tensor in _tensors(weights).items()
        if name.startswith(prefix)
    }
    policy = PolicyFile(spec, bundle(own, bound(spec.actions, weights)))
    if digest_of(policy) != digest:
        raise _damaged(f"the policy {digest:.12} was altered")
    return policy


def _specs(weights: bytes) -> dict[str, str]:
    try:
        end = _LENGTH_BYTES + int.from_bytes(weights[:_LENGTH_BYTES], "little")
        header = json.loads(weights[_LENGTH_BYTES:end]).get("__metadata__", {})
        specs: dict[str, str] = json.loads(header.get(_SPECS, "{}"))
    except (ValueError, AttributeError) as error:
        raise _damaged(str(error)) from error
    return specs


def _tensors(weights: bytes) -> dict[str, NDArray[np.generic]]:
    try:
        tensors: dict[str, NDArray[np.generic]] = safetensors.numpy.load(weights)
    except Exception as error:  # safetensors has an error type of its own for each way to fail
        raise _damaged(str(error)) from error
    return tensors


def _text(spec: PolicySpec) -> str:
    return spec.model_dump_json()


def _damaged(why: str) -> EngineError:
    return EngineError(
        f"the weights of a policy with learned actions cannot be used: {why}",
        "The file is damaged or of another policy; train again or use another version.",
    )
