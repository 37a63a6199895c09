"""A trained policy as data: a spec in JSON and weights in safetensors, never a pickle.

torch is imported only when a network is built, so whoever reads specs does not pay for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from engine.agents.plan import Record
from engine.errors import EngineError
from engine.rl.choices import Choices
from engine.rl.decisions import Ints, Mask, Rechoice
from engine.rl.learned_action import Entry
from engine.rl.sight import Sight, Spans
from engine.worlds.base import Observation, PlayerState

if TYPE_CHECKING:
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy


class PolicySpec(Record):
    """Everything but the weights: enough to build the network and to name its actions."""

    world: str
    observation_size: int = Field(gt=0)
    """Of an `OptionRunner`: with actions, the terms and what the plan says are part of it."""
    primitives: tuple[str, ...]
    actions: tuple[Entry, ...]
    """Coded and learned, in the order of the action space."""
    net_arch: tuple[int, ...]
    plan_prior: float
    """How much the network follows the plan before training (`engine.rl.network`)."""
    interruption: Literal["edge", "level"] = "edge"
    recheck_frames: int = Field(default=0, ge=0)
    """When running options are put to the policy (`engine.rl.decisions.Rechoice`)."""
    gate: None = None
    """Says nothing any more; stays because the digests of stored policies count it."""
    choices: tuple[str, ...] = ()
    """What it may choose beside what the plan would do (`engine.rl.choices`); all when empty."""
    unseen: Spans = ()
    """What of the observation it does not see (`engine.rl.sight`)."""
    frames: int = Field(ge=0)
    """Env frames it was trained for."""
    seed: int
    """Training seed; the untrained network of the same seed is the baseline."""
    task_success: str

    @model_serializer(mode="wrap")
    def _as_before(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without `unseen` where all is seen: the digests of stored policies know nothing of it."""
        content: dict[str, Any] = serialize(self)
        if not self.unseen:
            content.pop("unseen", None)
        return content

    @property
    def n_actions(self) -> int:
        """Size of the discrete action space."""
        return len(self.primitives) + len(self.actions)

    @property
    def rechoice(self) -> Rechoice:
        """When the policy wants to be asked while an option runs."""
        return Rechoice(self.interruption, self.recheck_frames)


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """A policy as it is stored: `weights` are safetensors bytes (`engine.rl.policy_bundle`)."""

    spec: PolicySpec
    weights: bytes


class NetworkPolicy:
    """A policy network on the CPU.

    Actions are sampled from the masked distribution, as in training (a policy that is never
    random can walk into the same wall for ever); the random stream starts from the episode's
    seed, so an evaluation is deterministic. `greedy=True` takes the likeliest action instead.
    """

    def __init__(
        self,
        spec: PolicySpec,
        network: MaskableActorCriticPolicy,
        *,
        name: str,
        greedy: bool = False,
    ) -> None:
        self.name = name
        self.spec = spec
        self.network = network
        self._greedy = greedy
        self.rechoice = spec.rechoice
        names = (*spec.primitives, *(action.name for action in spec.actions))
        self._choices = Choices(names, len(spec.actions), spec.choices)
        self._sight = Sight(spec.unseen)
        self._rngs: dict[int, np.random.Generator] = {}
        network.set_training_mode(False)

    @classmethod
    def load(cls, spec: PolicySpec, weights: bytes, *, greedy: bool = False) -> NetworkPolicy:
        """The trained network.

        Raises:
            EngineError: the weights are damaged or belong to another spec.
        """
        import safetensors.torch

        network = build_network(spec)
        try:
            tensors = safetensors.torch.load(weights)
            # Those of the learned policies it may choose have a path for a name.
            network.load_state_dict({n: t for n, t in tensors.items() if "/" not in n})
        except Exception as error:
            raise EngineError(
                f"the weights of the policy for {spec.world!r} do not fit its spec "
                f"({len(weights)} bytes): {error}",
                "The file is damaged or of another policy; train again or use another version.",
            ) from error
        return cls(spec, network, name="trained", greedy=greedy)

    @classmethod
    def untrained(cls, spec: PolicySpec, *, greedy: bool = False) -> NetworkPolicy:
        """The same network as training started from: the baseline."""
        return cls(spec, build_network(spec), name="untrained", greedy=greedy)

    def begin_episode(self, place: int, seed: int) -> None:
        """Start the random stream of this episode."""
        self._rngs[place] = np.random.default_rng((self.spec.seed, seed))

    def begin_execution(self, place: int, seed: int, frame: int) -> None:
        """As a learned action it begins inside an episode: a random stream from this frame on."""
        self._rngs[place] = np.random.default_rng((self.spec.seed, seed, frame))

    def choose(
        self,
        places: Ints,
        observations: Observation,
        players: Sequence[PlayerState],
        masks: Mask,
    ) -> Ints:
        """Sample actions among its choices whose mask is true."""
        import torch

        masks = self._choices.narrow(masks, observations)
        with torch.no_grad():
            rows = torch.from_numpy(np.ascontiguousarray(self._sight.of(observations)))
            categorical = self.network.get_distribution(rows, masks).distribution
            if not isinstance(categorical, torch.distributions.Categorical):
                raise TypeError(f"not one discrete action: {categorical!r}")
            chances: NDArray[np.float64] = categorical.probs.numpy().astype(np.float64)
        chances *= masks
        if self._greedy:
            greedy: Ints = chances.argmax(axis=1)
            return greedy
        totals = chances.cumsum(axis=1)
        draws = np.array([self._rngs[place].random() for place in places.tolist()])
        # The last action with any chance takes what rounding leaves.
        last = chances.shape[1] - 1 - (chances[:, ::-1] > 0).argmax(axis=1)
        drawn: Ints = np.minimum((totals <= draws[:, None] * totals[:, -1:]).sum(axis=1), last)
        return drawn


def build_network(spec: PolicySpec) -> MaskableActorCriticPolicy:
    """The network of a spec as training initialises it; global random streams stay untouched."""
    import gymnasium
    import torch

    from engine.rl.network import PlanPolicy, policy_settings

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(spec.seed)
        return PlanPolicy(
            gymnasium.spaces.Box(-np.inf, np.inf, (spec.observation_size,), np.float32),
            gymnasium.spaces.Discrete(spec.n_actions),
            lambda _progress: 0.0,
            **policy_settings(spec.net_arch, len(spec.actions), spec.plan_prior),
        )
