"""Takes a training apart into tensors and JSON, and puts it together again."""

from __future__ import annotations

import random
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from pydantic import ConfigDict, ValidationError

from engine.agents.plan import Record
from engine.errors import EngineError
from engine.rl.checkpoint import Checkpoint, Tensors
from engine.rl.episodes import TrainingSeeds
from engine.rl.option_batch import OptionBatch
from engine.rl.ppo import SmdpPPO

# A world whose reward was no number is caught and undone; its checkpoints must stay readable.
_SCALE = ("returns", "moments")
_WITH_NAN = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")


class FinishedEpisode(Record):
    """What the running averages need of a finished episode."""

    model_config = _WITH_NAN

    episodic_return: float
    frames: int
    task_success: bool
    goals: tuple[str, ...] = ()
    """Goals that it reached; checkpoints of earlier versions know none."""


class PlaceState(Record):
    """Where the episode of one place stands, without its snapshot, which is a tensor."""

    model_config = _WITH_NAN

    seed: int
    rng: str
    episodic_return: float
    decisions: int
    coded_decisions: int
    reached: tuple[bool, ...]
    armed: tuple[bool, ...]


class Counters(Record):
    """How far a training is."""

    frames: int = 0
    decisions: int = 0
    updates: int = 0
    recent: tuple[FinishedEpisode, ...] = ()
    episodes: int = 0
    """Finished since the training began."""
    unlocked: Mapping[str, int] = {}
    """In how many of them each achievement was unlocked."""
    usage: tuple[int, ...] = ()
    """Frames by chosen action."""
    part_rates: tuple[float, ...] = ()
    """How often recent episodes reached each part of the task, 0..1."""
    part_episodes: int = 0
    halvings: int = 0
    """How often the learning rate was halved after an update that diverged."""
    seconds: float = 0.0
    """Time at work on it; pauses do not count."""


class TrainingState(Record):
    """The JSON part of a checkpoint."""

    model_config = _WITH_NAN

    job: str
    """Fingerprint of what was trained; another job cannot go on from here."""
    counters: Counters
    places: tuple[PlaceState, ...]
    numpy_position: tuple[int, int, float]
    python_gauss: float | None


@dataclass(frozen=True, slots=True)
class Boundary:
    """Everything that moves during a rollout, as it was before the rollout began."""

    counters: Counters
    places: tuple[PlaceState, ...]
    snapshots: tuple[bytes, ...]
    random_states: dict[str, torch.Tensor]
    numpy_position: tuple[int, int, float]
    python_gauss: float | None


def take_boundary(
    model: SmdpPPO, batch: OptionBatch, seeds: TrainingSeeds, counters: Counters
) -> Boundary:
    """Note the state between two updates; weights are not copied."""
    _, keys, *position = np.random.get_state(legacy=True)
    _, python_state, gauss = random.getstate()
    random_states = {
        "torch": torch.get_rng_state(),
        "numpy": torch.from_numpy(np.asarray(keys).astype(np.int64)),
        "python": torch.tensor(python_state, dtype=torch.int64),
    }
    if model.device.type == "cuda":
        random_states["cuda"] = torch.cuda.get_rng_state(model.device)
    return Boundary(
        counters=counters,
        places=tuple(
            PlaceState(
                seed=batch.seed(place),
                rng=seeds.state(place),
                episodic_return=float(batch.returns[place]),
                decisions=int(batch.decisions[place]),
                coded_decisions=int(batch.coded_decisions[place]),
                reached=tuple(batch.goals.reached[place].tolist()),
                armed=tuple(batch.goals.armed[place].tolist()),
            )
            for place in range(batch.size)
        ),
        snapshots=tuple(batch.batch.snapshot(place) for place in range(batch.size)),
        random_states=random_states,
        numpy_position=(int(position[0]), int(position[1]), float(position[2])),
        python_gauss=gauss,
    )


def to_checkpoint(job: str, model: SmdpPPO, boundary: Boundary) -> Checkpoint:
    """Weights and optimiser as they are now, the rest as it was at the boundary."""
    tensors = {f"policy.{name}": _stored(value) for name, value in policy_tensors(model).items()}
    for index, slots in model.policy.optimizer.state_dict()["state"].items():
        for slot, value in slots.items():
            tensors[f"optimizer.{index}.{slot}"] = _stored(value)
    if model.reward_scale is not None:
        for name in _SCALE:
            array = getattr(model.reward_scale, name)
            tensors[f"reward_scale.{name}"] = _stored(torch.from_numpy(array))
    tensors |= {f"random.{name}": value for name, value in boundary.random_states.items()}
    for place, snapshot in enumerate(boundary.snapshots):
        packed = zlib.compress(snapshot, level=1)
        tensors[f"snapshot.{place}"] = torch.frombuffer(bytearray(packed), dtype=torch.uint8)
    state = TrainingState(
        job=job,
        counters=boundary.counters,
        places=boundary.places,
        numpy_position=boundary.numpy_position,
        python_gauss=boundary.python_gauss,
    )
    return Checkpoint(tensors, state.model_dump_json())


def from_checkpoint(
    checkpoint: Checkpoint, job: str, model: SmdpPPO, batch: OptionBatch, seeds: TrainingSeeds
) -> Counters:
    """Put model, episodes and random streams where the checkpoint was.

    Raises:
        EngineError: the checkpoint is of another job or of another version.
    """
    try:
        state = TrainingState.model_validate_json(checkpoint.state)
        if state.job == job:
            return _restore(state, checkpoint.tensors, model, batch, seeds)
    except (ValidationError, KeyError, RuntimeError, ValueError, zlib.error) as error:
        raise EngineError(
            f"the checkpoint is whole but does not fit this version of the program: {error}",
            "Resume with the version that wrote it, or start a new run.",
        ) from error
    raise EngineError(
        "the checkpoint was written by a training with other actions, goals or settings",
        "Resume with the plan, code and settings of that run, or start a new run.",
    )


def _restore(
    state: TrainingState,
    tensors: Tensors,
    model: SmdpPPO,
    batch: OptionBatch,
    seeds: TrainingSeeds,
) -> Counters:
    model.policy.load_state_dict(_under("policy.", tensors))
    optimizer = model.policy.optimizer
    slots: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in _under("optimizer.", tensors).items():
        parameter, slot = name.split(".")
        slots.setdefault(int(parameter), {})[slot] = value
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": slots, "param_groups": groups})
    for number, place in enumerate(state.places):
        packed = tensors[f"snapshot.{number}"].numpy().tobytes()
        batch.batch.restore(number, zlib.decompress(packed))
        seeds.restore(number, place.rng)
        batch.returns[number] = place.episodic_return
        batch.decisions[number] = place.decisions
        batch.coded_decisions[number] = place.coded_decisions
        batch.goals.reached[number] = place.reached
        batch.goals.armed[number] = place.armed
        batch.resume(number, place.seed)
    batch.usage[:] = state.counters.usage
    batch.part_rates.rates[:] = state.counters.part_rates
    batch.part_rates.episodes = state.counters.part_episodes
    if model.reward_scale is not None:
        for name, value in _under("reward_scale.", tensors).items():
            getattr(model.reward_scale, name)[:] = value.numpy()
    model.num_timesteps = state.counters.frames
    _restore_random(state, tensors, model.device)
    return state.counters


def policy_tensors(model: SmdpPPO) -> dict[str, torch.Tensor]:
    """The weights, on the CPU."""
    return {name: _stored(value) for name, value in model.policy.state_dict().items()}


def _restore_random(state: TrainingState, tensors: Tensors, device: torch.device) -> None:
    torch.set_rng_state(tensors["random.torch"])
    if device.type == "cuda" and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"], device)
    keys = tensors["random.numpy"].numpy().astype(np.uint32)
    np.random.set_state(("MT19937", keys, *state.numpy_position))
    python_state = tuple(int(word) for word in tensors["random.python"])
    random.setstate((3, python_state, state.python_gauss))


def _under(prefix: str, tensors: Tensors) -> dict[str, torch.Tensor]:
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }


def _stored(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().cpu().contiguous().clone()
