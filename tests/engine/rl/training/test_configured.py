"""A training that is shaped, by a policy that does not see everything."""

from __future__ import annotations

from engine.agents.plan import ShapingTerm

SHAPING = (ShapingTerm(predicate="x >= 1", bonus=10.0),)


def test_the_policy_says_what_it_does_not_see(make_job, train):
    spec = train(make_job(unseen=((0, 3),)))[0].policy.spec
    assert spec.unseen == ((0, 3),)


def test_what_is_unseen_does_not_reach_the_learner(make_job, train):
    blind = train(make_job(name="blind", unseen=((0, 3),)))[0].policy.weights
    seeing = train(make_job(name="seeing"))[0].policy.weights
    assert blind != seeing


def test_shaping_changes_what_is_learnt_but_not_the_reward_that_is_told(make_job, train):
    plain, shaped = (train(make_job(name=n, shaping=s)) for n, s in (("a", ()), ("b", SHAPING)))
    assert plain[0].policy.weights != shaped[0].policy.weights
    told = [e.episodic_return for e in shaped[1] if e.KIND == "metrics"]
    assert told
    assert max(value for value in told if value is not None) < SHAPING[0].bonus


def test_a_checkpoint_is_of_its_shaping_and_its_sight(make_job):
    prints = {
        make_job(**changes).fingerprint
        for changes in ({}, {"shaping": SHAPING}, {"unseen": ((0, 3),)})
    }
    assert len(prints) == 3
