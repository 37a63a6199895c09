"""`eval` in Language Rearrangement: a run's or a skill's policy, or chance, split by split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from engine.errors import ConfigError
from studio.cli_output import INTERRUPTED, Output, give, tell
from studio.cli_show import evaluation_text

if TYPE_CHECKING:
    from engine.llarp.settings import LlarpConfig
    from skills_db.database import Database
    from studio.cli_place import Place

ALL_SPLITS = "all"


@dataclass(frozen=True, slots=True)
class Policy:
    """What is evaluated."""

    source: str
    spec: Mapping[str, Any]
    """As runs and skills keep it; empty for chance."""
    weights: bytes = b""


def evaluate_splits(
    place: Place, policy: Policy, split: str | None, tasks: int | None, output: Output
) -> int:
    """Plays the tasks of one split, or of all, and gives the figures; returns the exit code.

    Raises:
        ConfigError, EngineError: no such split, or a frozen part is missing or another one.
    """
    from engine.llarp.settings import LlarpConfig
    from engine.llarp.splits import Evaluation, Onlooker

    config = LlarpConfig.model_validate(policy.spec.get("llarp", {}))
    changes: dict[str, Any] = {"splits": () if split in (None, ALL_SPLITS) else (split,)}
    if tasks is not None:
        changes["eval_tasks"] = min(tasks, 100)
    config = LlarpConfig.model_validate(config.model_dump() | changes)
    evaluation = Evaluation(config, policy.spec.get("kind", "llarp"), Onlooker(tell=tell))
    try:
        if policy.spec:
            figures = evaluation.of("trained", _built(place, policy, config))
            figures["baseline"] = evaluation.random()
        else:
            figures = evaluation.random()
    except KeyboardInterrupt:
        tell("Interrupted before all splits were over.")
        return INTERRUPTED
    data = {"world": "rearrange", "source": policy.source, **figures}
    give(output, data, f"{policy.source} in rearrange\n{evaluation_text(data)}")
    return 0


def of_run(database: Database, run_id: str, home: Path) -> Policy:
    """The policy a run has trained.

    Raises:
        NotFound: no such run.
        ConfigError: it has not trained one yet.
    """
    from engine.config import Home

    run = database.journal.run(run_id)
    spec = (run.progress or {}).get("policy_spec")
    path = Home(home).run_folder(run.id) / "policy.safetensors"
    if not spec or not path.is_file():
        raise ConfigError(
            f"Run {run.id} has no trained policy yet.",
            f"Go on with it: rlgpt-studio resume {run.id}",
        )
    return Policy(f"run {run.id}", spec, path.read_bytes())


def of_skill(database: Database, name: str, number: int | None) -> Policy:
    """The policy that a skill version is.

    Raises:
        NotFound: no such skill or version.
    """
    version = database.library.version(name, number)
    weights = database.library.weights(version) or b""
    return Policy(f"skill {name} v{version.version}", version.metadata["spec"], weights)


def _built(place: Place, policy: Policy, config: LlarpConfig) -> Any:
    from engine.config import Home, TrainingConfig
    from engine.llarp.build import build
    from engine.llarp.checkpoint import restore_policy
    from engine.llarp.phases import device_for

    home = Home(place.paths.home)
    encoder = Path(config.encoder).expanduser() if config.encoder else home.encoder
    settings = TrainingConfig.model_validate(dict(place.settings.training))
    built = build(
        config,
        policy.spec["kind"],
        cache=home.models,
        encoder=encoder,
        seed=0,
        device=device_for(settings),
    )
    with TemporaryDirectory() as folder:
        file = Path(folder) / "policy.safetensors"
        file.write_bytes(policy.weights)
        restore_policy(file, built.policy)
    return built.policy
