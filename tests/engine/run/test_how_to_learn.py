"""How rl sub-actions are learnt: proposed, decided by a person, and used by the training alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.agents.plan import LearningProposal, ShapingTerm
from engine.agents.protocols import LearningDraft
from engine.agents.rules.agents import rules_agents
from engine.errors import AgentError
from engine.run import curriculum
from engine.run.how_to_learn import narrowed, seen_parts
from engine.run.work import FINISHED, WAITING

DRAFT = LearningDraft(
    actions=("drink", "hide_until_day"),
    observation=("inventory", "body"),
    shaping=(ShapingTerm(predicate="wood >= 1", bonus=0.5),),
    reason="Wood comes first.",
)


class Proposer:
    """Writes as the rules do; says how to learn as it is told, or that it cannot."""

    author = "llm:proposer"

    def __init__(self, fast):
        self.fast = fast
        self.draft = DRAFT
        self.asked = []

    def write(self, *about):
        return self.fast.write(*about)

    def configure(self, _context, sub_action, working, base, comment):
        self.asked.append(
            (sub_action.name, [code.sub_action.name for code in working], base, comment)
        )
        if isinstance(self.draft, AgentError):
            raise self.draft
        return self.draft


@pytest.fixture
def proposer(monkeypatch):
    from engine.worlds.registry import get_world

    fast = Proposer(rules_agents(get_world("crafter")).fast)
    monkeypatch.setattr(
        "engine.run.setup.rules_agents", lambda world: replace(rules_agents(world), fast=fast)
    )
    return fast


@pytest.fixture
def requests(monkeypatch):
    """What the learner was asked to train."""
    asked = []

    class Kept(curriculum.TrainingRequest):
        def model_post_init(self, _context):
            asked.append(self)

    monkeypatch.setattr(curriculum, "TrainingRequest", Kept)
    return asked


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr("engine.run.approval.SHORT_PATIENCE_SECONDS", 0.0)


def decided(bench, run):
    rows = bench.database.journal.events(run.id, kinds={"learning_decided"})
    return [(row.payload["decision"], row.payload["by"]) for row in rows]


def logged(bench, run):
    rows = bench.database.journal.events(run.id, kinds={"log"}, limit=10_000)
    return "\n".join(row.payload["text"] for row in rows)


def up_to_the_question(bench):
    """A run that a person has led to the question of how to learn."""
    run = bench.create("collect wood", approve="none", trials=1, training=short(bench))
    journal = bench.database.journal
    while bench.work(run.id) == WAITING:
        question = journal.pending(run.id)
        if question.kind == "learning":
            return run, question
        journal.decide(question.id, "approve", by="ada")
    raise AssertionError("nobody was asked how to learn")


def short(bench):
    return {**bench.create().config["training"], "n_steps": 16}


def test_what_was_agreed_is_what_is_trained(bench, proposer, requests):
    run = bench.create("collect wood", approve="all", trials=1, frames=1000)
    assert bench.work(run.id) == FINISHED
    (asked,) = proposer.asked
    assert asked[0] == "survive"
    assert "gather_wood" in asked[1]
    (request,) = requests
    assert request.shaping == DRAFT.shaping
    assert set(request.choices) == {"drink", "hide_until_day"}
    world_parts = _parts()
    seen = {i for name in DRAFT.observation for i in world_parts[name]}
    unseen = {i for first, end in request.unseen for i in range(first, end)}
    every = {i for part in world_parts.values() for i in part}
    assert unseen == every - seen
    assert decided(bench, run) == [("approve", "policy:all")]
    progress = bench.database.journal.run(run.id).progress
    assert progress["policy_spec"]["unseen"] == [list(span) for span in request.unseen]


def test_rules_ask_nothing_and_train_as_the_plan_has_it(bench, requests):
    run = bench.create("collect wood", approve="all", trials=1, frames=1000)
    assert bench.work(run.id) == FINISHED
    (request,) = requests
    assert (request.shaping, request.unseen) == ((), ())
    assert len(request.choices) > 2
    assert "learning_proposed" not in bench.kinds(run.id)


def test_without_a_proposal_it_is_learnt_as_the_plan_has_it(bench, proposer, requests):
    proposer.draft = AgentError("no valid answer")
    run = bench.create("collect wood", approve="all", trials=1, frames=1000)
    assert bench.work(run.id) == FINISHED
    assert requests[0].shaping == ()
    assert "no proposal of how to learn `survive`: no valid answer" in logged(bench, run)


def test_what_is_not_there_cannot_be_proposed(bench, proposer, requests):
    proposer.draft = replace(DRAFT, actions=("fly",), observation=("sonar",))
    run = bench.create("collect wood", approve="all", trials=1, frames=1000)
    assert bench.work(run.id) == FINISHED
    assert requests[0].unseen == ()
    assert "'fly' is no coded action" in logged(bench, run)
    assert "'sonar' is no part of the observation there is" in logged(bench, run)


def test_a_person_sends_it_back_edits_it_and_is_asked_once(bench, proposer, requests, impatient):
    run, question = up_to_the_question(bench)
    journal = bench.database.journal
    assert question.payload["proposal"]["shaping"] == [{"predicate": "wood >= 1", "bonus": 0.5}]
    journal.decide(question.id, "reject", by="ada", comment="no shaping, please")
    proposer.draft = replace(DRAFT, shaping=())
    assert bench.work(run.id) == WAITING
    name, _, base, comment = proposer.asked[-1]
    assert (name, base.version, comment) == ("survive", 1, "no shaping, please")

    second = journal.pending(run.id)
    edited = {**second.payload["proposal"], "observation": ["sonar"]}
    journal.decide(second.id, "modify", by="ada", payload={"proposal": edited})
    assert bench.work(run.id) == WAITING
    assert "'sonar' is no part of the observation there is" in logged(bench, run)

    third = journal.pending(run.id)
    assert third.payload["proposal"]["observation"] == ["sonar"]
    edited |= {"observation": ["body"], "sub_action": "another", "version": 7}
    journal.decide(third.id, "modify", by="ada", payload={"proposal": edited})
    while bench.work(run.id) == WAITING:
        question = journal.pending(run.id)
        assert question.kind == "save"
        journal.decide(question.id, "approve", by="ada")
    assert len(proposer.asked) == 2
    (request,) = requests
    assert request.shaping == ()
    assert request.unseen
    assert decided(bench, run) == [("reject", "ada"), ("modify", "ada")]
    (kept,) = journal.run(run.id).progress["learning"].values()
    assert (kept["proposal"]["sub_action"], kept["proposal"]["version"]) == ("survive", 2)


def test_a_rejection_outlives_a_death_before_the_next_proposal(bench, proposer, impatient):
    run, question = up_to_the_question(bench)
    journal = bench.database.journal
    journal.decide(question.id, "reject", by="ada", comment="no shaping, please")

    class Died(BaseException):
        pass

    def dies(*_about):
        raise Died

    alive, proposer.configure = proposer.configure, dies
    with pytest.raises(Died):
        bench.work(run.id)
    proposer.configure = alive
    assert bench.work(run.id) == WAITING
    assert proposer.asked[-1][3] == "no shaping, please"
    assert journal.pending(run.id).payload["proposal"]["version"] == 2


def _proposal(*actions, observation=()):
    return LearningProposal(
        sub_action="a", version=1, author="m", actions=actions, observation=observation
    )


@pytest.mark.parametrize(
    ("choices", "proposals", "found"),
    [
        ((), [], ()),
        (("drink",), [_proposal()], ("drink",)),
        ((), [_proposal("drink")], ("noop", "drink")),
        (("drink", "eat"), [_proposal("drink")], ("drink",)),
        (("drink", "noop"), [_proposal("eat")], ("noop",)),
        (("drink",), [_proposal("eat")], ("drink",)),
        ((), [_proposal("drink"), _proposal("eat")], ("noop", "drink", "eat")),
        ((), [_proposal("drink"), _proposal()], ()),
    ],
)
def test_choices_are_those_of_the_plan_that_the_proposals_allow(choices, proposals, found):
    assert narrowed(choices, proposals, ["noop"]) == found


def test_a_part_that_one_of_them_wants_is_seen():
    assert seen_parts([]) == ()
    assert seen_parts([_proposal(observation=("body",)), _proposal()]) == ()
    both = [_proposal(observation=("body",)), _proposal(observation=("view", "body"))]
    assert seen_parts(both) == ("body", "view")


def _parts():
    from engine.worlds.registry import get_world

    return get_world("crafter").observation_parts()
