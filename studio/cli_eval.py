"""`eval`: a run's policy, a saved skill, chance or the rules agents on seeds of a world."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from engine.errors import ConfigError
from studio.cli_output import INTERRUPTED, Output, brief, give, tell
from studio.cli_show import evaluation_text

if TYPE_CHECKING:
    from engine.run.players import Player
    from engine.worlds.base import World
    from skills_db.database import Database
    from studio.cli_place import Place

DEFAULT_EPISODES = 20
LAST_SEED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of `eval` as they were given."""

    world: str | None
    run: str | None
    skill: str | None
    policy: Literal["random", "rules"] | None
    task: str | None
    episodes: int | None
    seeds: str | None
    episode_length: int | None
    split: str | None = None


def evaluate_policy(place: Place, wanted: Wanted, output: Output) -> int:
    """Evaluates and gives the figures; returns the exit code.

    Ctrl-C ends it after the present env frame; the figures are of the episodes finished by then.

    Raises:
        ConfigError: options that do not go together.
        UnknownName, NotFound: no such world, task, run or skill.
    """
    seeds = seed_range(wanted.seeds, wanted.episodes)
    if sum(option is not None for option in (wanted.run, wanted.skill, wanted.policy)) != 1:
        raise ConfigError(
            "`eval` needs one of --run, --skill and --policy.",
            "For example: rlgpt-studio eval --policy random --episodes 5",
        )
    if (code := _by_split(place, wanted, output)) is not None:
        return code
    source, world, player = _player(place, wanted)
    stopped: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: stopped.append(number))
    try:
        figures = _evaluate(world, player, seeds, wanted.episode_length, stopped)
    finally:
        signal.signal(signal.SIGINT, before)
    if figures["episodes"] == 0:
        tell("Interrupted before the first episode was over.")
        return INTERRUPTED
    data = {"world": world.name, "source": source, **figures}
    give(output, data, f"{source} in {world.name}\n{evaluation_text(data)}")
    return INTERRUPTED if stopped else 0


def seed_range(seeds: str | None, episodes: int | None) -> range:
    """Seeds of the episodes, from `A:B` (half open) and a number of episodes, or of one alone.

    Raises:
        ConfigError: no range, or fewer seeds than episodes.
    """
    if seeds is None:
        from engine.config import RunConfig

        first = int(RunConfig.model_fields["eval_seed_start"].default)
        return range(first, first + (episodes or DEFAULT_EPISODES))
    start, colon, stop = seeds.partition(":")
    shown = brief(seeds, 60)
    if not (start.isdecimal() and (stop.isdecimal() or not colon)):
        raise ConfigError(f"`--seeds {shown}` is no range.", "Write it like --seeds 1000:1020.")
    # By the number of digits first: Python itself refuses to read thousands of them.
    if max(len(start.lstrip("0")), len(stop.lstrip("0"))) > 10:
        raise _too_large(shown)
    first = int(start)
    last = int(stop) if colon else first + (episodes or DEFAULT_EPISODES)
    if max(first, last) > LAST_SEED + 1:
        raise _too_large(shown)
    found = range(first, last)
    if not found or (episodes or 0) > len(found):
        raise ConfigError(
            f"`--seeds {shown}` has {len(found)} seeds for {episodes or 'some'} episodes.",
            "Give as many seeds as episodes, or leave one of the two out.",
        )
    return found[:episodes]


def _too_large(shown: str) -> ConfigError:
    return ConfigError(
        f"`--seeds {shown}` is too large: the last seed is {LAST_SEED}.",
        "Write it like --seeds 1000:1020.",
    )


def _by_split(place: Place, wanted: Wanted, output: Output) -> int | None:
    """Evaluates what acts in Language Rearrangement; None where it is of another world."""
    from engine.config import PICTURES
    from studio import cli_eval_splits as splits

    with place.database() as database:
        own = _world_of(place, database, wanted)
        if own != PICTURES:
            if wanted.split is not None:
                raise ConfigError(f"The world {own!r} has no splits.", "Leave out --split.")
            return None
        _same_world(wanted.world, own, "What is to be evaluated")
        if wanted.policy == "rules":
            raise ConfigError(
                f"In the world {PICTURES!r} no rules act.", "Take a run, a skill or chance."
            )
        if wanted.run is not None:
            policy = splits.of_run(database, wanted.run, place.paths.home)
        elif wanted.skill is not None:
            policy = splits.of_skill(database, *_skill(wanted.skill))
        else:
            policy = splits.Policy("chance", {})
    return splits.evaluate_splits(place, policy, wanted.split, wanted.episodes, output)


def _world_of(place: Place, database: Database, wanted: Wanted) -> str:
    if wanted.run is not None:
        return database.journal.run(wanted.run).world
    if wanted.skill is not None:
        return database.library.version(*_skill(wanted.skill)).world
    return wanted.world or place.settings.world


def _skill(text: str) -> tuple[str, int | None]:
    """Name and version of `name` or `name@2`."""
    name, _, number = text.partition("@")
    if number and not (number.isdecimal() and len(number) < 10):
        raise ConfigError(f"`{brief(number, 60)}` is no version.", "Write it like --skill name@2.")
    return name, int(number) if number else None


def _player(place: Place, wanted: Wanted) -> tuple[str, World, Player]:
    from engine.run import players
    from engine.worlds.registry import get_world

    if wanted.policy is not None:
        world = get_world(wanted.world or place.settings.world)
        task = wanted.task or place.settings.task
        make = players.random_player if wanted.policy == "random" else players.rules_player
        return f"policy {wanted.policy}", world, make(world, task)
    from engine.config import Home

    with place.database() as database:
        if wanted.run is not None:
            run = database.journal.run(wanted.run)
            _same_world(wanted.world, run.world, f"Run {run.id}")
            world = get_world(run.world)
            return f"run {run.id}", world, players.of_run(run, Home(place.paths.home), world)
        name, number = _skill(str(wanted.skill))
        version = database.library.version(name, number)
        _same_world(wanted.world, version.world, f"The skill {name!r}")
        world = get_world(version.world)
        player = players.of_skill(version, database.library, world)
        return f"skill {name} v{version.version}", world, player


def _same_world(wanted: str | None, own: str, what: str) -> None:
    if wanted is not None and wanted != own:
        raise ConfigError(f"{what} is of the world {own!r}, not {wanted!r}.", "Leave out --world.")


def _evaluate(
    world: World, player: Player, seeds: range, episode_length: int | None, stopped: list[int]
) -> dict[str, Any]:
    from engine.rl.departures import DepartureRecorder
    from engine.rl.evaluate import evaluate
    from engine.sandbox.pool import Sandbox

    with Sandbox(world.stub(), world.queries | {world.primitive_function}) as sandbox:
        evaluation = evaluate(
            world,
            player.policy,
            player.actions,
            sandbox,
            seeds=seeds,
            task_success=player.task_success,
            goals=player.goals,
            episode_length=episode_length,
            should_stop=lambda: bool(stopped),
            progress=lambda done, of: tell(f"episode {done} of {of}"),
            departures=DepartureRecorder(world, player.actions),
        )
    return evaluation.model_dump(mode="json")
