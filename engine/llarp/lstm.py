"""The LSTM baseline: a recurrent policy on frozen text features, in the same harness as LLaRP."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from engine.errors import ConfigError, EngineError
from engine.llarp.attention import Packed
from engine.llarp.bridge import ObservationBridge
from engine.llarp.heads import ActionDecoder, ValueHead
from engine.llarp.lm import CausalLm
from engine.llarp.policy import PolicyConfig, choose, valuation
from engine.llarp.prefixes import Prefixes, Tokenise
from engine.llarp.sequences import Choice, Episode, Valuation
from engine.llarp.vision import Encoder, features_of

_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class LstmConfig(PolicyConfig):
    """Sizes as of LLaRP's parts, and of the LSTM."""

    rnn_units: int = 512
    rnn_layers: int = 2
    """As LLaRP's LSTM baselines have (`num_rnn_layers`)."""

    def __post_init__(self) -> None:
        PolicyConfig.__post_init__(self)
        for name in ("rnn_units", "rnn_layers"):
            if getattr(self, name) < 1:
                raise ConfigError(
                    f"{name} is {getattr(self, name)!r} and must be at least 1", f"Raise {name!r}."
                )


class LstmPolicy(nn.Module):
    """Observation through the bridge, instruction as one frozen vector, LSTM, decoder, value.

    The vector is the mean of the frozen language model's last hidden states over the tokens of
    the instruction. It is put before the LSTM at every step, after LayerNorm and a linear layer
    that is trained. Everything else (bridge, decoder, value head, learner, rollout, checkpoint)
    is LLaRP's. The baseline's core is not in LLaRP's release: this wiring is this project's own.
    """

    def __init__(
        self,
        config: LstmConfig,
        lm: CausalLm,
        tokenise: Tokenise,
        *,
        envs: int,
        seed: int,
        encoder: Encoder | None = None,
    ) -> None:
        """Build the trained parts beside a frozen language model.

        Args:
            config: sizes.
            lm: reads the instructions, and nothing else.
            tokenise: its tokeniser.
            envs: how many episodes run at once; they are numbered from 0.
            seed: of the initialisation.
            encoder: turns pictures to features; None when observations are features.

        Raises:
            ConfigError: the language model is not frozen.
        """
        super().__init__()
        if lm.trainable:
            raise ConfigError(
                "the LSTM baseline reads features of a frozen language model, and this one is "
                "trainable",
                "Make the model with `trainable=False`.",
            )
        self.config = config
        self.lm = lm
        self.encoder = encoder
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            units = config.rnn_units
            self.bridge = ObservationBridge(config.features, config.bridge_units, units)
            self.text = nn.Sequential(
                nn.LayerNorm(lm.config.hidden_size, elementwise_affine=False),
                nn.Linear(lm.config.hidden_size, units),
            )
            self.rnn = nn.LSTM(2 * units, units, config.rnn_layers)
            for name, weight in self.rnn.named_parameters():
                if "weight" in name:
                    nn.init.orthogonal_(weight)
                else:
                    nn.init.zeros_(weight)
            self.decoder = ActionDecoder(units, config.decoder_units, config.actions)
            self.critic = ValueHead(config.decoder_units)
        for part in (self.bridge, self.text, self.rnn, self.decoder, self.critic):
            part.to(lm.device)
        self.sentences = SentenceFeatures(
            lm, tokenise, capacity=config.kept_instructions, longest=config.longest_instruction
        )
        device = lm.device
        state = (config.rnn_layers, envs, config.rnn_units)
        self._hidden = torch.zeros(state, device=device)
        self._cell = torch.zeros(state, device=device)
        self._text = torch.zeros(envs, lm.config.hidden_size, device=device)
        self._steps: dict[int, int] = {}

    def trained(self) -> dict[str, nn.Parameter]:
        """What is trained, by name: all but the language model."""
        return {name: weight for name, weight in self.named_parameters() if weight.requires_grad}

    def changed(self) -> None:
        """What is trained has other values now; nothing that is kept depends on it."""

    @torch.no_grad()
    def begin(self, envs: Sequence[int], instructions: Sequence[str]) -> None:
        """Start an episode in each of `envs`; an episode that ran there is over.

        Raises:
            EngineError: there is no room for one of `envs`.
        """
        room = len(self._text)
        if any(not 0 <= env < room for env in envs):
            raise EngineError(
                f"episodes are to begin in {list(envs)!r}, and there is room for 0 to {room - 1}",
                "Make the policy for as many environments as there are.",
            )
        rows = list(envs)
        self._hidden[:, rows] = 0.0
        self._cell[:, rows] = 0.0
        self._text[rows] = self.sentences(instructions)
        self._steps |= dict.fromkeys(rows, 0)

    def end(self, envs: Sequence[int]) -> None:
        """The episodes of `envs` are over."""
        for env in envs:
            self._steps.pop(env, None)

    @torch.no_grad()
    def act(
        self,
        envs: Sequence[int],
        observations: Tensor,
        generator: torch.Generator | None = None,
    ) -> Choice:
        """Choose for the next observation of running episodes; see `LlarpPolicy.act`.

        Raises:
            EngineError: one of `envs` has no running episode, or it is longer than `max_steps`.
        """
        rows = list(envs)
        steps = [self._steps.get(env, self.config.max_steps) for env in rows]
        if max(steps) >= self.config.max_steps:
            raise EngineError(
                f"an episode of {rows!r} has not begun or goes on after "
                f"{self.config.max_steps} steps",
                "Begin an episode before its first step, and end it in time (`max_steps`).",
            )
        features = features_of(observations, self.encoder, self.config.features)
        x = self._inputs(features.to(self.lm.device), self.text(self._text[rows]))
        state = self._hidden[:, rows], self._cell[:, rows]
        found, (self._hidden[:, rows], self._cell[:, rows]) = self.rnn(x[None], state)
        self._steps |= {env: step + 1 for env, step in zip(rows, steps, strict=True)}
        logits, values = self.read(found[0])
        return choose(logits.cpu(), values.cpu(), features, generator)

    def evaluate(self, episodes: Sequence[Episode]) -> Valuation:
        """Value whole episodes with gradients, packed: no step is padded."""
        lengths = [len(episode) for episode in episodes]
        device = self.lm.device
        counts = torch.tensor(lengths, device=device)
        texts = self.text(self.sentences([episode.instruction for episode in episodes]))
        features = torch.cat([episode.features for episode in episodes]).to(device)
        x = self._inputs(features, texts.repeat_interleave(counts, dim=0))
        packed = pack_sequence(list(torch.split(x, lengths)), enforce_sorted=False)
        # Steps in the order of the packing: where does each of the flat ones lie?
        places = torch.split(torch.arange(len(x), device=device), lengths)
        order = pack_sequence(list(places), enforce_sorted=False).data
        found: PackedSequence = self.rnn(packed)[0]
        flat = torch.empty_like(found.data).index_copy(0, order, found.data)
        logits, values = self.read(flat)
        return valuation(logits, values, episodes)

    def read(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (n, actions) and values (n,) at outputs of the LSTM (n, rnn_units)."""
        logits, inner = self.decoder(hidden)
        return logits, self.critic(inner)

    def _inputs(self, features: Tensor, texts: Tensor) -> Tensor:
        return torch.cat((self.bridge(features), texts), dim=-1)


class SentenceFeatures:
    """One vector per instruction, from a frozen language model; each instruction only once."""

    def __init__(
        self, lm: CausalLm, tokenise: Tokenise, *, capacity: int = 1024, longest: int = 64
    ) -> None:
        """Begin empty; beyond `capacity` the least recently used instructions make room."""
        self._lm = lm
        self._tokens = Prefixes(lm, tokenise, longest=longest).tokens
        self._capacity = capacity
        self._known: OrderedDict[str, Tensor] = OrderedDict()
        self.computed = 0
        """Instructions put through the model so far."""

    @torch.no_grad()
    def __call__(self, instructions: Sequence[str]) -> Tensor:
        """Mean last hidden states over each one's tokens, (n, hidden) float32.

        Raises:
            ConfigError: an instruction is too long, or has no tokens.
        """
        new = [text for text in dict.fromkeys(instructions) if text not in self._known]
        for start in range(0, len(new), _AT_ONCE):
            self._compute(new[start : start + _AT_ONCE])
        for text in instructions:
            self._known.move_to_end(text)
        found = torch.stack([self._known[text] for text in instructions])
        while len(self._known) > self._capacity:
            self._known.popitem(last=False)
        return found

    def _compute(self, texts: Sequence[str]) -> None:
        lm = self._lm
        rows = [self._tokens(text) for text in texts]
        lengths = [len(row) for row in rows]
        packed = Packed(lengths, lm.config.group, lm.dtype, lm.device)
        flat = torch.tensor([token for row in rows for token in row], device=lm.device)
        hidden = lm(lm.embed(flat), packed.positions, packed).float()
        means = (part.mean(0) for part in torch.split(hidden, lengths))
        self._known |= dict(zip(texts, means, strict=True))
        self.computed += len(texts)
