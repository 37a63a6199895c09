from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from engine import events
from engine.agents.plan import (
    CodeDiagnostic,
    CodeProposal,
    Critique,
    LearningProposal,
    Plan,
    ShapingTerm,
    SubAction,
    Subtask,
    Trial,
)
from skills_db.records import EventRecord
from studio.event_words import caption_words, describe, gained_words, line_of, tone

PLAN = Plan(
    task="collect a diamond",
    world="crafter",
    author="rules",
    subtasks=(
        Subtask(
            name="wood",
            goal="have wood",
            success="wood >= 5",
            sub_actions=(
                SubAction(
                    name="collect_wood",
                    mode="code",
                    reason="easy",
                    instruction="chop",
                    success="wood >= 5",
                    budget=300,
                ),
                SubAction(
                    name="find_diamond",
                    mode="rl",
                    reason="hard",
                    instruction="learn",
                    success="diamond >= 1",
                    budget=100_000,
                ),
            ),
        ),
    ),
)
TRIAL = Trial(
    sub_action="collect_wood",
    version=2,
    index=0,
    seed=17,
    outcome="out_of_frames",
    detail="no tree in sight",
    frames=300,
    actions=(("move_left", 3),),
    gained={"wood": 3.0, "drink": -1.0, "food": 0.0},
)

LEARNING = LearningProposal(
    sub_action="find_diamond",
    version=1,
    actions=("collect_wood",),
    observation=("view", "inventory"),
    shaping=(ShapingTerm(predicate="diamond >= 1", bonus=1.0),),
    author="llm:m",
)

CASES: list[tuple[events.Event, tuple[str, ...]]] = [
    (events.StateChanged(state="waiting", detail="code for collect_wood"), ("waits for you",)),
    (events.AgentSaid(role="slow", author="rules", text="two\nlines"), ("slow agent: two lines",)),
    (events.PlanProposed(plan=PLAN), ("rules agents", "1 subtask,", "1 to code", "100,000 frames")),
    (events.PlanApproved(plan=PLAN, by="ada"), ("approved by ada",)),
    (
        events.CodeProposed(
            proposal=CodeProposal(
                sub_action="collect_wood",
                version=1,
                instruction="chop",
                code="def run() -> str:\n    return ''\n",
                author="llm:gpt-5-mini",
                diagnostics=(CodeDiagnostic(line=2, column=1, code="E1", message="no such name"),),
            )
        ),
        ("collect_wood v1", "gpt-5-mini", "2 lines", "1 finding, first line 2: no such name"),
    ),
    (
        events.CodeDecided(
            sub_action="collect_wood",
            version=1,
            decision="reject",
            by="ada",
            comment="too greedy",
            code_hash="0123456789abcdef",
        ),
        ("ada rejected collect_wood v1", "0123456789", "too greedy"),
    ),
    (
        events.TrialFinished(trial=TRIAL),
        ("trial 1", "seed 17", "out of frames after 300 frames", "+3 wood, -1 drink", "no tree"),
    ),
    (
        events.CritiqueGiven(
            critique=Critique(
                sub_action="collect_wood",
                version=2,
                success_rate=0.4,
                trials=5,
                works=False,
                typical_failure="walks into water",
                text="",
                suggestion="look first",
                author="rules",
            )
        ),
        ("does not work yet", "40 % of 5 trials", "walks into water"),
    ),
    (
        events.TrainingStarted(
            frames_total=100_000,
            frames_done=20_000,
            actions=("noop", "do", "collect_wood"),
            coded_actions=1,
            device="cpu",
            parameters=52_300,
        ),
        ("from frame 20,000 to 100,000", "3 actions, 1 of them coded", "52.3k parameters"),
    ),
    (
        events.TrainingMetrics(
            frames=41_000,
            frames_total=100_000,
            success_rate=None,
            episodic_return=3.25,
            episodic_length=210.0,
            sps=1534.0,
            entropy=2.1,
            approx_kl=0.01,
            clipfrac=0.1,
            explained_variance=0.5,
            policy_loss=-0.01,
            value_loss=0.2,
            decisions=20_000,
            coded_share=0.25,
            eta_seconds=38.0,
        ),
        ("41,000 of 100,000", "success -", "return 3.25", "1.53k frames/s", "ETA 38 s"),
    ),
    (
        events.DeviceSampled(
            name="H200",
            is_gpu=True,
            utilisation=71.0,
            memory_used_gb=12.3,
            memory_total_gb=139.0,
            temperature_c=55.0,
            cpu_percent=40.0,
            rss_gb=2.0,
        ),
        ("H200", "GPU 71 %", "12.3 of 139.0 GB", "55 °C", "CPU 40 %"),
    ),
    (
        events.CheckpointSaved(frames=40_000, file="x", sha256="feedfacefeedface"),
        ("frame 40,000", "feedfacefe"),
    ),
    (
        events.Resumed(phase="training", frames=40_000, lost="1,000 frames"),
        ("training at frame 40,000", "done again: 1,000 frames"),
    ),
    (
        events.Evaluated(
            evaluation={
                "policy": "trained",
                "episodes": 20,
                "seeds": "1000000:1000020",
                "task_success": 0.35,
                "score": 12.34,
                "baseline": {"task_success": 0.0, "score": 1.5},
            }
        ),
        ("20 episodes", "seeds 1000000:1000020", "35 %", "12.3", "untrained 0 %, score 1.5"),
    ),
    (
        events.SkillSaved(
            name="collect_wood", version=3, skill_kind="coded_action", success_rate=0.8
        ),
        ("coded action collect_wood v3", "80 %"),
    ),
    (events.TokensUsed(tokens=12_345, cost_usd=0.5), ("12,345 tokens", "$0.50")),
    (events.LogLine(level="warning", text="slow disk"), ("warning: slow disk",)),
    (
        events.RunFailed(message="no server at 'x'.", hint="start it"),
        ("no server at 'x'.", "Next: start it"),
    ),
    (
        events.RunFinished(
            result={"state": "finished", "frames": 100_000, "seconds": 125.0, "skills": [{}, {}]}
        ),
        ("100,000 frames in 2 min 05 s", "2 skills saved"),
    ),
    (
        events.LearningProposed(proposal=LEARNING),
        ("how to learn find_diamond v1", "1 coded action", "2 parts of the obs", "1 shaping term"),
    ),
    (
        events.LearningDecided(proposal=LEARNING, decision="modify", by="ada", comment="less"),
        ("ada approved with changes how to learn find_diamond v1: less",),
    ),
    (
        events.IterationReviewed(
            iteration=1,
            code={"collect_wood": 0.8, "dig": None},
            given_up=("dig",),
            task_success=0.1,
            verdict="Another plan.",
        ),
        ("iteration 1", "1 of 2 coded works", "given up: dig", "10 %", "Another plan."),
    ),
    (
        events.AgentsChanged(agents="rules", why="the server is gone"),
        ("from here on by rules agents: the server is gone",),
    ),
    (
        events.TokensUsed(tokens=9000, cost_usd=0.5, max_tokens=10_000, max_cost_usd=1.0),
        ("9,000 of 10,000 tokens, $0.50 of $1.00",),
    ),
]


def record(kind: str, payload: dict[str, Any]) -> EventRecord:
    return EventRecord(
        run_id="r1", seq=1, time=datetime(2026, 5, 3, tzinfo=UTC), kind=kind, payload=payload
    )


def test_cases_cover_every_kind() -> None:
    assert {type(event) for event, _ in CASES} == set(events.ALL_EVENTS)


@pytest.mark.parametrize(("event", "parts"), CASES, ids=[case[0].KIND for case in CASES])
def test_every_kind_has_words(event: events.Event, parts: tuple[str, ...]) -> None:
    words = describe(record(*events.encode(event)))
    assert "\n" not in words
    for part in parts:
        assert part in words


def test_unknown_kind_and_broken_payload_are_shown_as_they_are() -> None:
    assert describe(record("teleported", {"to": "mars"})) == 'teleported: {"to": "mars"}'
    assert describe(record("tokens", {"tokens": "many"})).startswith('tokens: {"tokens": "many"')
    assert len(describe(record("teleported", {"to": "x" * 5000}))) <= 200


def test_tones_follow_the_meaning() -> None:
    tones = {event.KIND: tone(record(*events.encode(event))) for event, _ in CASES}
    assert tones["failed"] == "bad"
    assert tones["trial"] == "warn"
    assert tones["critique"] == "warn"
    assert tones["code_decided"] == "warn"
    assert tones["log"] == "warn"
    assert tones["finished"] == "good"
    assert tones["skill_saved"] == "plain"


@pytest.mark.parametrize(
    "event",
    [
        events.StateChanged(state="training"),
        events.TrialFinished(trial=TRIAL.model_copy(update={"outcome": "success"})),
        events.CodeDecided(
            sub_action="a", version=1, decision="approve", by="policy:all", comment="",
            code_hash="0",
        ),
        events.PlanApproved(plan=PLAN, by="person:all"),
    ],
    ids=lambda event: event.KIND,
)  # fmt: skip
def test_routine_is_muted(event: events.Event) -> None:
    assert tone(record(*events.encode(event))) == "muted"


def test_your_turn_is_not_routine() -> None:
    assert tone(record("state", {"state": "waiting"})) == "warn"
    assert tone(record("state", {"state": "failed"})) == "bad"


def test_gained_leaves_out_what_is_no_news() -> None:
    gained = {"threat": 97.0, "daylight": -0.0118598, "wood": 3.0, "warmth": -0.333333}
    assert gained_words(gained) == "+3 wood, -0.33 warmth"
    assert gained_words({"warmth": 0.01}) == ""


def test_names_of_programs_become_words() -> None:
    decided = events.PlanApproved(plan=PLAN, by="policy:all")
    assert "approved by policy (approve all):" in describe(record(*events.encode(decided)))
    decided = events.PlanApproved(plan=PLAN, by="person:all")
    assert "approved by person (approve all):" in describe(record(*events.encode(decided)))
    state = record("state", {"state": "evaluating", "detail": "code_only: episode 6 of 20"})
    assert describe(state) == "state: evaluating (code only: episode 6 of 20)"
    assert describe(record("evaluation", {"evaluation": {"policy": "code_only"}})).startswith(
        "evaluated code only"
    )
    assert describe(record("finished", {"result": {"state": "finished"}})) == "finished"
    assert describe(record("finished", {"result": {"state": "stopped"}})) == "finished: stopped"


def test_captions_on_the_way_to_a_trial() -> None:
    assert caption_words("prologue: gather_wood") == "on the way to the precondition: gather_wood"
    assert caption_words("gather_wood") == "gather_wood"


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        ("nothing", "resumed in phase code"),
        ("the step of phase `code` is done again", "; the step of phase `code` is done again"),
        ("2 trials", "; done again: 2 trials"),
    ],
)
def test_what_a_resume_does_again_is_said_once(lost: str, words: str) -> None:
    said = describe(record("resumed", {"phase": "code", "frames": 0, "lost": lost}))
    assert said.endswith(words)
    assert said.count("again") <= 1


def test_episodes_of_one_policy_share_a_line() -> None:
    def evaluating(detail: str) -> EventRecord:
        return record("state", {"state": "evaluating", "detail": detail})

    assert line_of(evaluating("trained")) == line_of(evaluating("trained: episode 3 of 5"))
    assert line_of(evaluating("trained: x")) != line_of(evaluating("untrained: x"))
    assert line_of(evaluating("")) is None
    assert line_of(record("state", {"state": "training", "detail": "x"})) is None


def test_not_started_trials_say_so() -> None:
    event = events.TrialFinished(trial=TRIAL.model_copy(update={"started": False}))
    words = describe(record(*events.encode(event)))
    assert "not started" in words
    assert "frames" not in words


def test_words_bring_neither_textual_nor_pydantic_along() -> None:
    code = (
        "import sys, studio.event_words as w;"
        "print([m for m in ('textual', 'pydantic', 'sqlalchemy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
