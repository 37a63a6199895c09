"""Training that is looked at on the way: what goes badly is planned anew with the frames left."""

from __future__ import annotations

import json

import pytest

from engine.agents.plan import ShapingTerm, SubAction, Subtask
from engine.agents.protocols import Agents, CodeDraft, LearningDraft
from engine.agents.rules.critic import RulesCritic
from engine.config import TrainingConfig
from engine.errors import AgentError
from engine.run.session import Session
from skills_db.records import RunState

FRAMES = 1024
"""Sixteen updates of 64 frames."""
SUCCESS = "unlocked(collect_sapling)"


def learn(name="pick", **changes):
    fields = {"reason": "r", "instruction": "i", "success": SUCCESS, "budget": FRAMES, **changes}
    return SubAction(name=name, mode="rl", **fields)


class Scripted:
    """Planner, slow and fast agent in one: one plan after the other, and code that does nothing."""

    author = "scripted"

    def __init__(self, *plans):
        self.plans = plans
        self.asked = []
        self.frames = []
        self.records = []
        self.earlier = []
        self.configured = []
        self.shaping = ()

    def subtasks(self, _context):
        return (Subtask(name="all", goal="g", success=SUCCESS),)

    def divide(self, _context, _subtasks):
        return {}

    def sub_actions(self, context, _subtask, earlier, critiques, record):
        self.records.append(record)
        self.asked.append(critiques)
        self.earlier.append(earlier)
        self.frames.append(context.training_frames)
        before = [index for index, plan in enumerate(self.plans) if _words(plan) == _words(earlier)]
        plan = self.plans[min(before[0] + 1, len(self.plans) - 1) if before else 0]
        if plan is None:
            raise AgentError("nothing new")
        return plan

    def write(self, _context, _sub_action, _base, _feedback):
        return CodeDraft('def run() -> str:\n    act("noop")\n    return "waited"\n', "")

    def configure(self, _context, sub_action, _working, _base, _comment):
        self.configured.append(sub_action.name)
        if not self.shaping:
            return None
        return LearningDraft(actions=(), observation=(), shaping=self.shaping, reason="r")


def _words(plan):
    return plan and [action.model_copy(update={"budget": 1}) for action in plan]


@pytest.fixture
def lead(monkeypatch):
    """Have runs led by a script, whatever agents they name."""

    def use(*plans):
        script = Scripted(*plans)
        agents = Agents(planner=script, slow=script, fast=script, critic=RulesCritic())
        monkeypatch.setattr("engine.run.setup._agents", lambda _session: agents)
        return script

    return use


@pytest.fixture
def create(bench):
    def make(training=None, **config):
        settings = TrainingConfig(
            n_envs=2, n_steps=32, batch_size=32, n_epochs=1, net_arch=(16,), device="cpu",
            learning_rate_final=1e-5, ent_coef=0.01, ent_coef_final=0.0, **(training or {}),
        )  # fmt: skip
        wanted = {
            "agents": "llm", "approve": "all", "frames": FRAMES, "eval_episodes": 1,
            "episode_length": 60, "review_success": 1.0, "plan_iterations": 2,
            "training": settings, **config,
        }  # fmt: skip
        return bench.create("collect sapling", **wanted)

    return make


def payloads(bench, run, kind):
    return [e.payload for e in bench.database.journal.events(run.id, kinds={kind}, limit=10_000)]


def frames_told(bench, run):
    return sorted({payload["frames"] for payload in payloads(bench, run, "metrics")})


def logs(bench, run):
    return " | ".join(payload["text"] for payload in payloads(bench, run, "log"))


def weights(bench, run):
    return (bench.home / "runs" / run.id / "policy.safetensors").read_bytes()


def ends(bench, run):
    """All that a finished run leaves, without what time decides."""
    done = bench.database.journal.run(run.id)
    assert done.state is RunState.FINISHED, done.detail
    evaluation = json.loads(json.dumps(done.result["evaluation"]))
    for part in (evaluation, evaluation["baseline"], evaluation["code_only"]):
        del part["seconds"]
    return done.result["frames"], evaluation, weights(bench, run), frames_told(bench, run)


@pytest.fixture
def unlooked(bench, lead, create):
    """A run that was trained in one go."""
    lead((learn(),))
    run = create(review_success=0.0)
    assert bench.work(run.id) == 0
    assert len(payloads(bench, run, "training_started")) == 1
    return ends(bench, run)


OTHER = learn("pick_near", choices=("noop", "do"))


def test_what_goes_badly_is_planned_anew_with_the_frames_left(bench, lead, create):
    script = lead((learn(),), (OTHER,))
    run = create()
    assert bench.work(run.id) == 0
    # Half of 1024 with the first plan, and with the other one exactly what is left.
    assert ends(bench, run)[0] == FRAMES
    assert frames_told(bench, run) == list(range(64, FRAMES + 1, 64))
    started = payloads(bench, run, "training_started")
    assert [(s["frames_done"], s["frames_total"]) for s in started] == [(0, 1024), (512, 1024)]
    folder = bench.home / "runs" / run.id
    assert (folder / "checkpoint.safetensors").is_file()
    assert (folder / "checkpoint-1.safetensors").is_file()
    approved = [payload["plan"] for payload in payloads(bench, run, "plan_approved")]
    assert [plan["iteration"] for plan in approved] == [0, 1]
    budgets = [plan["subtasks"][0]["sub_actions"][0]["budget"] for plan in approved]
    assert budgets == script.frames == [1024, 512]
    assert [action.budget for action in script.earlier[1]] == [512], "the rest is spent"


def test_the_slow_agent_is_told_what_came_of_training(bench, lead, create):
    script = lead((learn(), learn("live", success="frames >= 999")), (OTHER,))
    run = create()
    assert bench.work(run.id) == 0
    assert script.asked[0] == ()
    pick, live = script.asked[1]
    assert (pick.sub_action, live.sub_action) == ("pick", "live")
    assert pick.author == live.author == "training"
    assert 0 < pick.success_rate < 1
    assert (live.success_rate, live.works) == (0.0, False)
    assert pick.trials == live.trials >= 8
    assert "after 512 env frames, 512 are left" in pick.text
    assert "`live` in 0 %" in pick.text
    (reached,) = script.records[1].trainings
    assert (reached.iteration, reached.frames) == (0, 512)
    assert reached.goals == {"pick": pick.success_rate, "live": 0.0}
    first, _, last = payloads(bench, run, "iteration")[-3:]
    assert (first["iteration"], first["frames"], last["iteration"]) == (0, 512, 1)
    assert first["goals"] == {"pick": pick.success_rate, "live": 0.0}
    assert first["task_success"] == pick.success_rate
    assert "plans anew for the 512 that are left" in first["verdict"]
    assert (last["frames"], last["verdict"]) == (FRAMES, "training ended: budget")


def test_fast_mode_is_looked_at_in_the_same_way(bench, lead, create):
    told, left = [], []
    for fast_mode in (False, True):
        script = lead((learn(),), (OTHER,))
        run = create(fast_mode=fast_mode)
        assert bench.work(run.id) == 0
        told.append(script.asked)
        left.append(ends(bench, run))
    assert told[0] == told[1]
    assert left[0] == left[1]


def test_it_looks_again_at_half_of_the_rest(bench, lead, create):
    lead((learn(),), (OTHER,), (learn("pick_far"),))
    run = create(plan_iterations=3)
    assert bench.work(run.id) == 0
    started = payloads(bench, run, "training_started")
    assert [s["frames_done"] for s in started] == [0, 512, 768]
    assert ends(bench, run)[0] == FRAMES
    assert [p["frames"] for p in payloads(bench, run, "iteration") if "anew" in p["verdict"]] == [
        512,
        768,
    ]


def test_frames_that_make_no_whole_updates_are_not_exceeded(bench, lead, create):
    lead((learn(budget=1300),), (OTHER,))
    run = create(frames=1300)
    assert bench.work(run.id) == 0
    # 640 of 1300, then 640 of the 660 that are left.
    assert [s["frames_done"] for s in payloads(bench, run, "training_started")] == [0, 640]
    assert ends(bench, run)[0] == 1280


def test_where_it_goes_well_nothing_shows_that_it_was_looked_at(bench, lead, create, unlooked):
    script = lead((learn(),), (OTHER,))
    run = create(review_success=0.01)
    assert bench.work(run.id) == 0
    assert ends(bench, run) == unlooked
    assert len(script.asked) == 1
    assert [s["frames_done"] for s in payloads(bench, run, "training_started")] == [
        0, 512, 768, 896, 960,
    ]  # fmt: skip
    assert "looked at the training after 512 frames" in logs(bench, run)


@pytest.mark.parametrize("second", [(learn(),), None])
def test_without_another_plan_training_goes_on(bench, lead, create, unlooked, second):
    script = lead((learn(),), second)
    run = create(plan_iterations=9)
    assert bench.work(run.id) == 0
    assert ends(bench, run) == unlooked
    assert len(script.asked) == 2, "there is no use in asking again"
    assert script.configured == ["pick"]
    assert len(payloads(bench, run, "plan_approved")) == 1
    assert "RL goes on with what works" in logs(bench, run)


def test_another_plan_for_the_same_training_goes_on_with_it(bench, lead, create, unlooked):
    lead((learn(),), (learn(reason="other words"),))
    run = create()
    assert bench.work(run.id) == 0
    assert ends(bench, run) == unlooked
    assert [p["plan"]["iteration"] for p in payloads(bench, run, "plan_approved")] == [0, 1]


def test_what_is_coded_instead_and_fails_is_learnt_with_the_frames_left(bench, lead, create):
    code = learn("walk").model_copy(update={"mode": "code", "budget": 20})
    lead((learn(),), (code,))
    run = create(trials=1, code_retries=0)
    assert bench.work(run.id) == 0
    assert ends(bench, run)[0] == FRAMES
    started = payloads(bench, run, "training_started")
    assert [s["frames_done"] for s in started] == [0, 512]
    given_up = [payload["given_up"] for payload in payloads(bench, run, "iteration")]
    assert given_up == [[], [], ["walk"], [], []]


def test_a_person_may_reject_the_new_plan(bench, lead, create, monkeypatch):
    monkeypatch.setattr("engine.run.approval.SHORT_PATIENCE_SECONDS", 0.0)
    script = lead((learn(),), (OTHER,), (learn("pick_far"),))
    run = create(approve="none")
    journal = bench.database.journal
    plans = []
    for decision in ("approve", "reject", "approve", "approve"):
        assert bench.work(run.id) == 4
        asked = journal.pending(run.id)
        plans.append(asked.payload.get("plan"))
        journal.decide(asked.id, decision, by="person", comment="no")
    assert bench.work(run.id) == 0
    shares = [plan["subtasks"][0]["sub_actions"][0] for plan in plans[:3]]
    assert [(a["name"], a["budget"]) for a in shares] == [
        ("pick", 1024), ("pick_near", 512), ("pick_far", 512),
    ]  # fmt: skip
    assert [c.author for asked in script.asked for c in asked] == ["training", "person"]
    assert ends(bench, run)[0] == FRAMES


def test_how_to_learn_is_agreed_anew_where_the_plan_is_another(bench, lead, create, monkeypatch):
    """Fewer frames are no other plan: what was agreed for that training holds."""
    monkeypatch.setattr("engine.run.approval.SHORT_PATIENCE_SECONDS", 0.0)
    script = lead((learn(),), (learn(),))
    script.shaping = (ShapingTerm(predicate="wood >= 1", bonus=0.5),)
    run = create(approve="none")
    journal = bench.database.journal
    kinds = []
    while bench.work(run.id) == 4:
        asked = journal.pending(run.id)
        kinds.append(asked.kind)
        journal.decide(asked.id, "approve", by="person")
    assert kinds == ["plan", "learning", "plan", "save"]
    assert script.configured == ["pick"]
    assert not (bench.home / "runs" / run.id / "checkpoint-1.safetensors").exists()
    assert ends(bench, run)[0] == FRAMES


@pytest.mark.parametrize("config", [{"agents": "rules"}, {"plan_iterations": 1}])
def test_who_cannot_plan_anew_is_not_stopped(bench, lead, create, unlooked, config):
    script = lead((learn(),), (OTHER,))
    run = create(**config)
    assert bench.work(run.id) == 0
    assert ends(bench, run) == unlooked
    assert len(script.asked) == len(payloads(bench, run, "training_started")) == 1


class Killed(BaseException):
    """Stands for the death of the process."""


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_every_step_it_ends_the_same(bench, lead, create, monkeypatch, when):
    """Each process gets one step further: it dies after its first save, or at its second."""
    lead((learn(),), (OTHER,))
    whole = create()
    assert bench.work(whole.id) == 0
    lead((learn(),), (OTHER,))
    run = create()
    save = Session.save
    saves = []

    def dying(self, *events, **changes):
        saves.append(1)
        if when == "before" and len(saves) > 1:
            self.flush()
            raise Killed
        save(self, *events, **changes)
        if when == "after" and changes:
            raise Killed

    deaths = 0
    with monkeypatch.context() as patch:
        patch.setattr(Session, "save", dying)
        while bench.database.journal.run(run.id).state is not RunState.FINISHED and deaths < 40:
            saves.clear()
            try:
                bench.work(run.id)
            except Killed:
                deaths += 1
    assert 5 < deaths < 40
    assert ends(bench, run) == ends(bench, whole)


def test_with_a_curriculum_only_the_task_is_looked_at(bench, lead, create):
    skill = learn("live", success="frames >= 20", budget=300)
    lead((skill, learn(budget=724)), (skill, OTHER))
    run = create(training={"curriculum": True})
    assert bench.work(run.id) == 0
    # The skill takes 256 of its 300; half of the 768 that are left is 384.
    starts = payloads(bench, run, "training_started")
    assert [(s["frames_done"], s["frames_total"]) for s in starts] == [
        (0, 1024), (256, 1024), (640, 1024),
    ]  # fmt: skip
    assert ends(bench, run)[0] == FRAMES


def test_a_skill_that_is_to_be_another_is_learnt_anew(bench, lead, create):
    first = learn("live", success="frames >= 20", budget=300)
    second = learn("live", success="frames >= 30", budget=100)
    lead((first, learn(budget=724)), (second, learn(budget=300)))
    run = create(training={"curriculum": True})
    assert bench.work(run.id) == 0
    starts = [s["frames_done"] for s in payloads(bench, run, "training_started")]
    # 384 are left; a fourth of them for the skill.
    assert starts == [0, 256, 640, 704]
    assert ends(bench, run)[0] == FRAMES
