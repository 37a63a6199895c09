"""Fast mode in the process that trains: its limits, checked code alone, and who runs what."""

from __future__ import annotations

from collections.abc import Iterable

from engine.errors import SandboxError
from engine.rl.options import CodedAction
from engine.sandbox.fast.sandbox import FastSandbox
from engine.sandbox.limits import GIB, Confinement, confine_process

EXTRA_MEMORY = 4 * GIB
"""Address space that worlds, learning and policy code may take beyond what torch has taken."""


def confine_training(device: str) -> Confinement:
    """Limit this process for good, with all it needs loaded: what is there is not counted.

    Args:
        device: where networks learn, as `TrainingConfig.device`.
    """
    import torch
    from stable_baselines3.common.utils import get_device

    import engine.rl.policy_file
    import engine.rl.train  # noqa: F401 - see above

    torch.set_num_threads(1)
    on_gpu = get_device(device).type == "cuda"
    # CUDA reserves address space by the hundred GiB.
    return confine_process(extra_memory=None if on_gpu else EXTRA_MEMORY)


def require_checked(fast: FastSandbox, actions: Iterable[CodedAction]) -> None:
    """Refuse code that Monty's check finds fault with: fast mode is for checked code alone.

    Raises:
        SandboxError: some code fails its check.
    """
    for action in actions:
        if found := fast.check(action.code):
            raise SandboxError(
                f"the code of {action.name!r} fails its check: line {found[0].line}: "
                f"{found[0].message}",
                "Leave fast mode off.",
            )


def executors_told(fast: FastSandbox, actions: Iterable[CodedAction]) -> tuple[str, ...]:
    """Lines that say which coded action runs where, and why not in fast mode."""
    names: list[str] = []
    left: list[str] = []
    for action in actions:
        if found := fast.refusals(action.code):
            why = f"line {found[0].line}: {found[0].message}"
            left.append(f"Monty runs `{action.name}`, which fast mode does not take: {why}")
        else:
            names.append(f"`{action.name}`")
    here = f"fast mode runs {', '.join(names)} in the training process"
    return (*((here,) if names else ()), *left)


def confinement_told(made: Confinement, *, beyond: str = "") -> str:
    """What keeps the training process in, in words.

    Args:
        beyond: what the memory comes on top of.
    """
    memory, files = made.memory_bytes, made.open_files
    parts = [
        "no limit of memory" if memory is None else f"{memory / GIB:.1f} GiB of memory{beyond}",
        "no limit of open files" if files is None else f"{files:,} open files",
        "core files as the system has them" if made.core_files else "no core files",
        "rights as the system has them" if made.new_privileges else "no new rights",
    ]
    return ", ".join(parts)
