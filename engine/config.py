"""What a run is asked to do: validated once, stored with the run, never changed after."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from engine.errors import ConfigError
from engine.llarp.settings import LlarpConfig, PolicyKind

AgentsName = Annotated[str, Field(pattern=r"^(rules|llm|replay:.+)$")]
"""`rules`, `llm`, or `replay:` with the run or file whose recorded calls are played back."""
PICTURES = "rearrange"
"""The world that is seen in pictures and told in words."""
ApprovalPolicy = Literal["ask", "all", "none"]


class LlmConfig(BaseModel):
    """How to reach an OpenAI-compatible server. The key itself is never stored."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str = Field(default="https://api.openai.com/v1", pattern=r"^https?://[^\s@]+$")
    """Without user and password: the configuration is stored, and a key belongs elsewhere."""
    model: str = Field(default="gpt-5-mini", min_length=1)
    api_key_env: str = Field(default="OPENAI_API_KEY", pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """Name of the environment variable that holds the key; a local server may need none."""
    timeout_seconds: float = Field(default=120.0, gt=0, le=86_400)
    """Longest silence of a server before its reply, or before the whole of one not streamed."""
    silence_seconds: float = Field(default=60.0, gt=0, le=86_400)
    """Longest silence between the pieces of a reply that is streamed."""
    reply_seconds: float = Field(default=900.0, gt=0, le=86_400)
    """Longest time for a whole reply, silent or not: weak models repeat themselves without end. A
    longer `timeout_seconds` holds for this as well."""
    images: bool = False
    """Send the critic a picture of the last frame of the first failed trial; only for models that
    take images. A server that refuses it is asked without."""
    max_tokens_total: int = Field(default=500_000, gt=0)
    max_cost_usd: float = Field(default=5.0, ge=0)
    usd_per_million_prompt: float | None = Field(default=None, ge=0)
    """None: looked up in the tables of prices (`engine.llm.prices`)."""
    usd_per_million_completion: float | None = Field(default=None, ge=0)
    prices_file: str | None = None
    """A person's own table of prices; what it does not name comes from the shipped one."""


class TrainingConfig(BaseModel):
    """PPO over primitives and coded actions. Names as in Stable-Baselines3."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    n_envs: int = Field(default=16, ge=1, le=4096)
    n_steps: int = Field(default=128, ge=8)
    """Env frames of every environment per update."""
    segment_updates: int = Field(default=1, ge=1)
    """After so many updates all coded actions begin anew, and only then a training can be saved. A
    short rollout that is always cut teaches a policy to rely on the cuts: give it several."""
    batch_size: int = Field(default=256, ge=8)
    """Decisions per gradient step, about: what is left over is spread over the batches."""
    n_epochs: int = Field(default=4, ge=1)
    learning_rate: float = Field(default=3e-4, gt=0, le=1)
    learning_rate_final: float | None = Field(default=None, ge=0, le=1)
    """Reached linearly at the end of the budget; None keeps it constant. A long training gains
    from a small last rate, but a run that is given more frames later then learns on slowly."""
    gamma: float = Field(default=1.0, gt=0, le=1)
    """Discount per env frame; an option of k frames is discounted by gamma**k. None by default:
    episodes end, and nothing is worth less for coming late. Any discount is a price on patience:
    at 0.998 to sit out a night of 80 frames costs 15 % of all that is still to come, more than the
    risk of going out in the dark, and no policy learnt to wait."""
    gae_lambda: float = Field(default=0.95, ge=0, le=1)
    ent_coef: float = Field(default=0.0, ge=0)
    ent_coef_final: float | None = Field(default=None, ge=0)
    """Reached linearly at the end of the budget; None keeps it constant."""
    clip_range: float = Field(default=0.2, gt=0)
    vf_coef: float = Field(default=0.5, ge=0)
    max_grad_norm: float = Field(default=0.5, gt=0)
    target_kl: float | None = Field(default=None, gt=0)
    """An update stops early when it has moved the policy 1.5 times as far (nats)."""
    goal_bonus: float = Field(default=1.0, ge=0)
    """Extra training reward, once per episode, for each rl sub-action's predicate."""
    task_bonus: float = Field(default=1.0, ge=0)
    """Extra training reward, once per episode, for the task's predicate."""
    part_bonus: float = Field(default=5.0, ge=0)
    """Extra training reward, once per episode, for each part of a task that joins several by `and`,
    times the share of recent episodes that went without it: what is rare counts most."""
    normalize_rewards: bool = False
    """Divide rewards by the running deviation of the return (`engine.rl.reward_scale`). Off: the
    advantages are normalised anyway, and in a world that pays one for each thing the scale is
    right. For worlds whose rewards are very large or very small."""
    end_on_success: bool = True
    """A training episode ends once the task is done: what would follow teaches nothing of it."""
    plan_prior: float = Field(default=6.0, ge=0, le=20)
    """Logit by which the untrained network prefers the coded action that comes next in the plan."""
    plan_kl_coef: float = Field(default=0.02, ge=0)
    """Cost of KL(policy || untrained policy) beside advantages of standard deviation 1: what the
    data does not clearly speak for stays with the plan. Without it a long training wanders off."""
    interruption: Literal["edge", "level"] = "edge"
    """When an option's interrupt rule puts it to the policy: as it comes true or while it holds."""
    recheck_frames: int = Field(default=0, ge=0)
    """A running option is put to the policy every so many frames; 0 for never (it runs until it has
    ended or is interrupted), 1 for a policy that may end it at any frame. A policy that is asked
    often takes back in a few frames what it tries, and so never sees what it leads to."""
    target_success: float | None = Field(default=None, gt=0, le=0.96)
    """Training ends early once the task's success rate in training is above this with 97.5 %
    confidence (Wilson interval over the last 100 episodes, which cannot show more than 0.963)."""
    curriculum: bool = False
    """Learn the plan's rl sub-actions one after the other, each within its own budget and until its
    own success, and let the later ones choose the earlier; the last learns the task. Off: where
    they are sides of one task (stay alive, reach the diamond), one policy for all learns both from
    every frame. It pays where a later one is out of reach without an earlier one."""
    skill_frames: int = Field(default=200, ge=1)
    """Env frames after which an earlier skill hands back, if it has not succeeded before. Its
    budget in the plan is for training and says nothing of that."""
    net_arch: tuple[Annotated[int, Field(ge=1, le=8192)], ...] = (128, 128)
    checkpoint_frames: int = Field(default=20_000, ge=1)
    device: str = Field(default="auto", pattern=r"^(auto|cpu|cuda(:\d+)?|mps)$")
    torch_threads: int = Field(default=1, ge=1)


class RunConfig(BaseModel):
    """Everything a run's process needs to know besides where home and database are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str = Field(min_length=1, max_length=500)
    world: str = "crafter"
    agents: AgentsName = "rules"
    approve: ApprovalPolicy = "ask"
    """`ask` waits for a person, `all` approves by itself, `none` stops at the first request."""
    frames: int = Field(default=100_000, ge=1_000, le=10_000_000_000)
    """Env frames of RL training."""
    seed: int = Field(default=0, ge=0, le=2**31 - 1)
    trials: int = Field(default=5, ge=1, le=200)
    trial_pass_rate: float = Field(default=0.6, gt=0, le=1)
    code_retries: int = Field(default=2, ge=0, le=20)
    """New versions the fast agent may write after failed trials, before the slow agent replans."""
    plan_iterations: int = Field(default=3, ge=1, le=20)
    review_success: float = Field(default=0.2, ge=0, le=1)
    """The slow agent plans anew where the task's success rate in training is below this, with
    97.5 % confidence, at a look halfway through, or through what is then left; 0 never looks. Rules
    have but one way to learn a thing: they never look."""
    eval_episodes: int = Field(default=20, ge=1, le=10_000)
    eval_seed_start: int = Field(default=1_000_000, ge=0)
    """Held-out seeds: training and trials never use seeds from here on."""
    episode_length: int | None = Field(default=None, ge=10)
    fast_mode: bool = False
    """While training, approved and checked code runs inside the training process, far faster than
    in Monty; code that does not fit still runs in Monty. What keeps it in is a small language, a
    bound on every step and limits of the process, not Monty's wall: off unless a person allows
    it."""
    prompts: str | None = None
    """Folder of a person's own prompts; a file there takes the place of the shipped one."""
    llm: LlmConfig = LlmConfig()
    training: TrainingConfig = TrainingConfig()
    policy: PolicyKind | None = Field(default=None, validate_default=True)
    """Who acts where pictures and words are observed; None where options are learnt."""
    llarp: LlarpConfig = LlarpConfig()

    @field_validator("policy", mode="after")
    @classmethod
    def _policy_of_the_world(cls, value: PolicyKind | None, info: ValidationInfo) -> Any:
        """Pictures and words are LLaRP's unless a control is asked for; options are no policy."""
        seen = info.data.get("world") == PICTURES
        if value is not None and not seen:
            raise ValueError(f"it acts in {PICTURES!r} alone: --world {PICTURES}")
        return value or ("llarp" if seen else None)

    @property
    def looks_at_training(self) -> bool:
        """Whether training is looked at on the way by agents that can plan anew."""
        return self.agents != "rules" and self.review_success > 0

    def changed(self, changes: Mapping[str, Any]) -> RunConfig:
        """The configuration a run goes on with; what would undo its work so far stays.

        Args:
            changes: by name; fields of the language model are written `llm.model`.

        Raises:
            ConfigError: a name that may not change, or a value that cannot work.
        """
        values = self.model_dump()
        for name, value in changes.items():
            section, _, field = name.rpartition(".")
            known = LlmConfig.model_fields if section == "llm" else CHANGEABLE
            if section not in ("", "llm") or field not in known:
                raise ConfigError(
                    f"`{name}` of a run cannot be changed once it has begun",
                    f"What can: llm.NAME, {', '.join(sorted(CHANGEABLE))}.",
                )
            (values["llm"] if section else values)[field] = value
        try:
            return RunConfig.model_validate(values)
        except ValidationError as error:
            found = error.errors()[0]
            where = ".".join(str(part) for part in found["loc"])
            raise ConfigError(
                f"`{where}` cannot be so: {found['msg']}", "Give it another value."
            ) from error


CHANGEABLE = frozenset(
    {
        "approve", "agents", "trials", "trial_pass_rate", "code_retries", "plan_iterations",
        "review_success", "fast_mode", "prompts",
    }
)  # fmt: skip
"""Settings that a resumed run may have otherwise than before."""


class Home:
    """Where a studio keeps its files; nothing is created before it is needed."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run_folder(self, run_id: str) -> Path:
        """Folder of one run: its checkpoint and its log."""
        return self.root / "runs" / run_id

    @property
    def models(self) -> Path:
        """Folder for what is made of language models' files."""
        return self.root / "models"

    @property
    def encoder(self) -> Path:
        """File of the studio's own frozen visual encoder."""
        return self.root / "encoder.safetensors"

    @property
    def llm_modes(self) -> Path:
        """File that remembers which form of answer each language model server takes."""
        return self.root / "llm_modes.json"

    def __repr__(self) -> str:
        return f"Home({str(self.root)!r})"
