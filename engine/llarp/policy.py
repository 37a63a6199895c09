"""The LLaRP policy: bridge, frozen language model, action decoder and value head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.errors import ConfigError
from engine.llarp.attention import Packed
from engine.llarp.bridge import ObservationBridge
from engine.llarp.heads import ActionDecoder, ValueHead, log_probabilities
from engine.llarp.lm import CausalLm
from engine.llarp.prefixes import Prefixes, Tokenise
from engine.llarp.sequences import Choice, Episode, Valuation
from engine.llarp.token_cache import TokenCache
from engine.llarp.vision import Encoder, features_of


@dataclass(frozen=True, slots=True)
class PolicyConfig:
    """Sizes of the trained parts and limits; the defaults are the released ones."""

    features: int = 768
    """Length of a visual feature vector."""
    bridge_units: int = 4096
    decoder_units: int = 512
    actions: int = 70
    max_steps: int = 32
    """Observations an episode may have; all of them are seen."""
    longest_instruction: int = 64
    """In tokens."""
    pad_instruction_to: int = 0
    """30 with the released code, which attends to the padding; 0 for no padding."""
    kept_instructions: int = 1024
    """How many instructions' keys and values stay in memory."""

    def __post_init__(self) -> None:
        for name in ("features", "bridge_units", "decoder_units", "actions", "max_steps"):
            if getattr(self, name) < 1:
                raise ConfigError(
                    f"{name} is {getattr(self, name)!r} and must be at least 1", f"Raise {name!r}."
                )


class LlarpPolicy(nn.Module):
    """Chooses actions for running episodes, and values whole ones with gradients.

    A sequence is: instruction tokens, then one token per observation; no actions, no rewards.
    Logits and value at a step come from the hidden state of its observation (llarp.md, 1.2).
    """

    def __init__(
        self,
        config: PolicyConfig,
        lm: CausalLm,
        tokenise: Tokenise,
        *,
        envs: int,
        seed: int,
        encoder: Encoder | None = None,
    ) -> None:
        """Build the trained parts beside a language model.

        Args:
            config: sizes.
            lm: the language model; trained as well if it was made `trainable`.
            tokenise: its tokeniser.
            envs: how many episodes run at once.
            seed: of the initialisation.
            encoder: turns pictures to features; None when observations are features.
        """
        super().__init__()
        self.config = config
        self.lm = lm
        self.encoder = encoder
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            hidden = lm.config.hidden_size
            self.bridge = ObservationBridge(config.features, config.bridge_units, hidden)
            self.decoder = ActionDecoder(hidden, config.decoder_units, config.actions)
            self.critic = ValueHead(config.decoder_units)
        for part in (self.bridge, self.decoder, self.critic):
            part.to(lm.device)
        self.prefixes = Prefixes(
            lm,
            tokenise,
            capacity=config.kept_instructions,
            longest=max(config.longest_instruction, config.pad_instruction_to),
            pad_to=config.pad_instruction_to,
        )
        self._cache = TokenCache(lm, envs, config.max_steps)
        self._waiting: dict[int, str] = {}

    def trained(self) -> dict[str, nn.Parameter]:
        """What is trained, by name: all but a frozen language model."""
        return {name: weight for name, weight in self.named_parameters() if weight.requires_grad}

    def changed(self) -> None:
        """What is trained has other values now: with it go the prefixes of a trained model."""
        if self.lm.trainable:
            self.prefixes.clear()

    def begin(self, envs: Sequence[int], instructions: Sequence[str]) -> None:
        """Start an episode in each of `envs`; an episode that ran there is over.

        Instructions that were never seen go through the model with the first observations: one
        pass for both.
        """
        pairs = list(zip(envs, instructions, strict=True))
        new = {env: text for env, text in pairs if text not in self.prefixes}
        lengths = [len(self.prefixes.tokens(text)) for text in new.values()]
        for env in envs:
            self._waiting.pop(env, None)
        known = {env: text for env, text in pairs if env not in new}
        if known:
            self._cache.open(list(known), self.prefixes.rows(list(known.values())))
        if new:
            self._cache.open_unfilled(list(new), lengths)
            self._waiting |= new

    def end(self, envs: Sequence[int]) -> None:
        """The episodes of `envs` are over."""
        self._cache.close(envs)
        for env in envs:
            self._waiting.pop(env, None)

    @torch.no_grad()
    def act(
        self,
        envs: Sequence[int],
        observations: Tensor,
        generator: torch.Generator | None = None,
    ) -> Choice:
        """Choose for the next observation of every running episode.

        Args:
            envs: all that have a running episode, in any order.
            observations: of each, features (n, features) or pictures (n, height, width, 3) uint8.
            generator: draws the actions; None takes the most probable ones.

        Raises:
            EngineError: other episodes run than `envs`, or one is longer than `max_steps`.
        """
        order = self._cache.order(envs)
        features = features_of(observations, self.encoder, self.config.features)
        tokens = self.bridge(features[order].to(self.lm.device)).to(self.lm.dtype)
        logits, values = self.read(self._step(tokens))
        back = torch.empty(len(order), dtype=torch.int64)
        back[order] = torch.arange(len(order))
        return choose(logits.cpu()[back], values.cpu()[back], features, generator)

    def _step(self, tokens: Tensor) -> Tensor:
        if not self._waiting:
            return self._cache.step(tokens)
        texts = list(dict.fromkeys(self._waiting.values()))
        new = self.prefixes.pack(texts)
        waiting = {env: texts.index(text) for env, text in self._waiting.items()}
        hidden = self._cache.step(tokens, new, waiting)
        self.prefixes.keep(new)
        self._waiting = {}
        return hidden

    def evaluate(self, episodes: Sequence[Episode]) -> Valuation:
        """Value whole episodes with gradients: real tokens alone, the prefixes from memory."""
        instructions = [episode.instruction for episode in episodes]
        lm = self.lm
        rows = self.prefixes.fresh_rows if lm.trainable else self.prefixes.rows
        packed = Packed(
            [len(episode) for episode in episodes],
            lm.config.group,
            lm.dtype,
            lm.device,
            rows(instructions),
        )
        features = torch.cat([episode.features for episode in episodes]).to(lm.device)
        tokens = self.bridge(features).to(lm.dtype)
        logits, values = self.read(lm(tokens, packed.positions, packed))
        return valuation(logits, values, episodes)

    def read(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (n, actions) and values (n,) at hidden states (n, hidden), float32."""
        logits, inner = self.decoder(hidden.float())
        return logits, self.critic(inner)


def choose(
    logits: Tensor, values: Tensor, features: Tensor, generator: torch.Generator | None
) -> Choice:
    """Draw an action per row, or take the most probable one without a generator."""
    log_probs = log_probabilities(logits)
    probabilities = log_probs.exp()
    if generator is None:
        actions = probabilities.argmax(-1)
    else:
        actions = torch.multinomial(probabilities, 1, generator=generator)[:, 0]
    chosen = log_probs.gather(1, actions[:, None])[:, 0]
    return Choice(actions, chosen, values, probabilities, features)


def valuation(logits: Tensor, values: Tensor, episodes: Sequence[Episode]) -> Valuation:
    """What the policy thinks of the episodes' actions, from logits of their steps in order."""
    actions = torch.cat([episode.actions for episode in episodes]).to(logits.device)
    log_probs = log_probabilities(logits)
    entropies = -(log_probs.exp() * log_probs).sum(-1)
    return Valuation(log_probs.gather(1, actions[:, None])[:, 0], values, entropies)
