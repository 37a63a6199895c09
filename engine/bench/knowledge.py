"""What stands beside the figures: the knowledge that went in, and what others have published."""

from __future__ import annotations

import textwrap

from engine.agents.plan import Record
from engine.bench.arms import Setup
from engine.bench.config import BenchConfig


class Published(Record):
    """A figure from the literature; never measured here."""

    method: str
    score: float
    score_spread: float | None = None
    """As published: over training seeds, for people over players."""
    reward: float | None = None
    diamond: float | None = None
    """Share of episodes with a diamond; None where it was not published."""
    source: str


PUBLISHED: dict[str, tuple[Published, ...]] = {
    "crafter": (
        Published(
            method="human experts",
            score=50.5,
            score_spread=6.8,
            reward=14.3,
            diamond=0.12,
            source="arXiv 2109.06780",
        ),
        Published(
            method="SPRING (GPT-4, no training)",
            score=27.3,
            score_spread=1.2,
            reward=12.3,
            source="arXiv 2305.15486",
        ),
        Published(
            method="Achievement Distillation",
            score=21.8,
            score_spread=1.4,
            reward=12.6,
            source="arXiv 2307.03486",
        ),
        Published(
            method="DreamerV3",
            score=14.5,
            score_spread=1.6,
            reward=11.7,
            source="arXiv 2301.04104",
        ),
        Published(method="PPO", score=4.6, reward=4.2, source="arXiv 2109.06780"),
    )
}
"""By world. Standard protocol (1 M env steps, success over all training episodes) where trained."""

PUBLISHED_NOTE = (
    "Published elsewhere, not measured here; trained ones after 1 M frames, from pixels, success "
    "over all training episodes. People and SPRING know the rules; the others do not."
)


def knowledge(setup: Setup, config: BenchConfig) -> tuple[str, ...]:
    """What the arms know that a learner from pixels would not; one sentence or two each."""
    names = ", ".join(action.name for action in setup.actions)
    goals = ", ".join(setup.goals) or "none"
    training = config.training
    choices = setup.choices_of("code+rl")
    return (
        f"Recipes (code only, code + RL): what needs what, read from the world's own data, as a "
        f"plan of {len(setup.plan.subtasks)} subtasks by the {config.agents} agents.",
        f"Behaviours (code only, code + RL): {len(setup.actions)} coded actions composed of "
        f"behaviours that people wrote ({names}), with the conditions under which each may run.",
        "Remembered map (all arms): the player keeps what it has seen and knows where on the map "
        "it stands; nothing it has not seen is told.",
        "Symbolic perception (all arms): the cells in view come as materials and creatures, not "
        "as pixels, and as clearly by night as by day.",
        f"Training reward (RL only, code + RL): the world's own, and once per episode "
        f"{training.goal_bonus:g} for each goal of the plan ({goals}), {training.task_bonus:g} "
        f"for the task, and for each of its parts {training.part_bonus:g} times the share of "
        "recent episodes that went without it. Evaluation counts the world's own reward alone.",
        f"Plan order (code only, code + RL): code alone runs in it; the untrained network leans "
        f"to the coded action that comes next in it by {training.plan_prior:g} logits."
        + (f" Against it, code + RL may choose only {', '.join(choices)}." if choices else ""),
    )


EXTERNAL = (
    "These are external-knowledge results: they compare with each other, with people and with "
    "other systems that are told the rules, not with learners from pixels."
)


def paragraph(lines: tuple[str, ...], width: int) -> str:
    """The lines as one wrapped list."""
    return "\n".join(
        textwrap.fill(line, width, initial_indent="- ", subsequent_indent="  ") for line in lines
    )
