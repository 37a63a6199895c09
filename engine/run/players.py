"""Who can play a world: a saved skill, a run's policy, the rules agents, chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from engine.agents.draft import draft
from engine.agents.executive import PlanExecutive
from engine.agents.plan import Plan, SubAction
from engine.agents.protocols import TaskContext
from engine.agents.rules.agents import rules_agents
from engine.config import Home
from engine.errors import ConfigError
from engine.rl.learned_action import Action
from engine.rl.options import CodedAction
from engine.rl.policies import ExecutivePolicy, Policy, RandomPolicy
from engine.run.learning import goals_of
from engine.run.progress import Progress
from engine.worlds.base import World
from engine.worlds.tasks import find_task
from skills_db.library import Library
from skills_db.records import RunRecord, SkillVersionRecord


@dataclass(frozen=True)
class Player:
    """A policy, what it chooses from beside primitives, the predicates it is judged by."""

    policy: Policy
    actions: Sequence[Action]
    task_success: str
    goals: Mapping[str, str] = field(default_factory=dict)


def random_player(world: World, task: str) -> Player:
    """Uniformly random primitive actions."""
    return Player(RandomPolicy(world), (), find_task(world, task).success)


def rules_player(world: World, task: str) -> Player:
    """The rules agents' plan and first code, executed in plan order; nothing learnt."""
    agents = rules_agents(world)
    context = TaskContext(task=find_task(world, task), world=world, training_frames=100_000)
    plan, actions = draft(agents, context)
    return _executive(plan, actions, world, context.task.success)


def _executive(
    plan: Plan, actions: Sequence[CodedAction], world: World, task_success: str
) -> Player:
    policy = ExecutivePolicy(PlanExecutive(plan, actions, world).fresh, actions, world)
    return Player(policy, actions, task_success, goals_of(plan))


def of_run(run: RunRecord, home: Home, world: World) -> Player:
    """The trained policy of a run, or its coded actions alone while nothing is trained.

    Raises:
        ConfigError: the run has neither.
    """
    progress = Progress.model_validate(run.progress) if run.progress else Progress()
    success = find_task(world, run.task).success
    if progress.policy_spec is not None:
        path = home.run_folder(run.id) / "policy.safetensors"
        try:
            weights = path.read_bytes()
        except OSError as error:
            raise ConfigError(
                f"the policy of run {run.id!r} cannot be read from {str(path)!r}: {error.strerror}",
                "Use `--skill NAME` if it was saved as a skill.",
            ) from error
        goals = {} if progress.plan is None else goals_of(progress.plan)
        return _network(progress.policy_spec, weights, goals)
    actions = progress.coded_actions()
    if progress.plan is None or not actions:
        raise ConfigError(
            f"run {run.id!r} has nothing to evaluate yet: no approved code, no policy",
            f"Go on with it first: rlgpt-studio resume {run.id}",
        )
    return _executive(progress.plan, actions, world, success)


def of_skill(version: SkillVersionRecord, library: Library, world: World) -> Player:
    """How a saved skill acts.

    A coded action alone can rarely start from nothing (iron wants a pickaxe first), so it plays
    among the coded actions it was learnt with, in plan order.

    Raises:
        ConfigError: the skill's row is damaged.
    """
    try:
        return _of_skill(version, library, world)
    except (KeyError, TypeError, ValidationError) as error:
        raise ConfigError(
            f"skill {version.skill!r} version {version.version} is damaged: {error!r:.200}",
            "Use another version of it, or learn the task again.",
        ) from error


def _of_skill(version: SkillVersionRecord, library: Library, world: World) -> Player:
    if version.kind == "policy":
        weights = library.weights(version)
        if weights is None:
            raise ConfigError(
                f"the policy of skill {version.skill!r} version {version.version} has no weights",
                "Train the task again and save the skill anew.",
            )
        plan = Plan.model_validate(version.metadata["plan"])
        return _network(version.metadata["spec"], weights, goals_of(plan))
    sub_action = SubAction.model_validate(version.metadata["sub_action"])
    plan = Plan.model_validate(version.metadata["plan"])
    return _executive(plan, _companions(version, plan), world, sub_action.success)


def _network(spec: Mapping[str, Any], weights: bytes, goals: Mapping[str, str]) -> Player:
    from engine.rl.policy_bundle import bound
    from engine.rl.policy_file import NetworkPolicy, PolicySpec

    parsed = PolicySpec.model_validate(spec)
    policy = NetworkPolicy.load(parsed, weights)
    return Player(policy, bound(parsed.actions, weights), parsed.task_success, goals)


def _companions(version: SkillVersionRecord, plan: Plan) -> tuple[CodedAction, ...]:
    known: dict[str, dict[str, Any]] = {
        str(item["sub_action"]): dict(item) for item in version.metadata["actions"]
    }
    known[version.skill] = {"code": version.code, "version": version.version, "works": True}
    return tuple(
        CodedAction(
            name=action.name,
            code=str(known[action.name]["code"]),
            success=action.success,
            precondition=action.precondition,
            interrupt=action.interrupt,
            due=action.due,
            max_frames=action.budget,
            version=int(known[action.name]["version"]),
        )
        for action in plan.sub_actions("code")
        if action.name in known and known[action.name]["works"]
    )
