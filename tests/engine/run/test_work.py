"""A whole run, worked on in this process: phases, approvals, rejection, resume, failure."""

from __future__ import annotations

import threading
import time

from engine.agents.plan import Plan
from engine.agents.plan_edit import problems
from engine.run.session import RunStopped
from engine.worlds.registry import get_world
from skills_db.records import ApprovalRecord, RunState, SkillDraft


def _await_approval(bench, run_id, kind, seconds=60.0) -> ApprovalRecord:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        asked = bench.database.journal.pending(run_id)
        if asked is not None and asked.kind == kind:
            return asked
        time.sleep(0.02)
    raise AssertionError(f"no {kind} approval was asked: {bench.kinds(run_id)}")


def _in_background(bench, run_id):
    codes = []
    thread = threading.Thread(target=lambda: codes.append(bench.work(run_id)), daemon=True)
    thread.start()
    return thread, codes


def test_an_approved_run_goes_from_plan_to_saved_skills(bench):
    run = bench.create(approve="all")
    assert bench.work(run.id) == 0
    done = bench.database.journal.run(run.id)
    assert done.state is RunState.FINISHED
    result = done.result
    assert result["run"] == run.id
    assert result["agents"] == "rules"
    assert result["frames"] >= 2_000
    assert {"name", "mode", "success_rate"} == set(result["subtasks"][0])
    assert 0.0 <= result["evaluation"]["baseline"]["score"] <= 100.0
    assert result["evaluation"]["episodes"] == 2
    assert result["tokens"] == 0
    names = {skill["name"] for skill in result["skills"]}
    assert "make_a_wood_pickaxe" in names
    assert {skill.name for skill in bench.database.library.skills()} == names
    kinds = bench.kinds(run.id)
    order = ["plan_proposed", "plan_approved", "code_proposed", "code_decided", "trial",
             "critique", "training_started", "metrics", "checkpoint", "evaluation",
             "skill_saved", "finished"]  # fmt: skip
    assert [kinds.index(kind) for kind in order] == sorted(kinds.index(kind) for kind in order)


def test_nothing_runs_without_approval(bench):
    run = bench.create(approve="none")
    assert bench.work(run.id) == 4
    waiting = bench.database.journal.run(run.id)
    assert waiting.state is RunState.WAITING
    asked = bench.database.journal.pending(run.id)
    assert asked.kind == "plan"
    assert not {"code_proposed", "trial", "metrics"} & set(bench.kinds(run.id))


def test_a_decision_made_while_no_process_lives_counts(bench, monkeypatch):
    monkeypatch.setattr("engine.run.approval.SHORT_PATIENCE_SECONDS", 0.1)
    run = bench.create(approve="none")
    assert bench.work(run.id) == 4
    asked = bench.database.journal.pending(run.id)
    bench.database.journal.decide(
        asked.id, "approve", by="person", expected_hash=asked.payload_hash
    )
    assert bench.work(run.id) == 4
    assert bench.database.journal.pending(run.id).kind == "code"
    assert bench.kinds(run.id).count("plan_proposed") == 1
    assert "trial" not in bench.kinds(run.id)


def test_approve_all_said_between_two_processes_counts(bench):
    run = bench.create(approve="none")
    assert bench.work(run.id) == 4
    bench.database.journal.send(run.id, "approve_all")
    assert bench.work(run.id) == 0
    assert bench.database.journal.run(run.id).state is RunState.FINISHED


def test_an_edited_plan_is_the_one_worked_on(bench):
    run = bench.create(approve="ask")
    thread, _ = _in_background(bench, run.id)
    asked = _await_approval(bench, run.id, "plan")
    plan = Plan.model_validate(asked.payload["plan"])
    last = plan.subtasks[-1]
    renamed = last.model_copy(update={"goal": "what I want"})
    edited = plan.model_copy(
        update={"author": "rules+person", "subtasks": (*plan.subtasks[:-1], renamed)}
    )
    assert problems(edited, get_world("crafter")) == ()
    bench.database.journal.decide(
        asked.id, "modify", by="person", payload={"plan": edited.model_dump(mode="json")}
    )
    code = _await_approval(bench, run.id, "code")
    bench.database.journal.send(run.id, "abort")
    thread.join(30)
    assert code.payload["proposal"]["version"] == 1
    progress = bench.database.journal.run(run.id).progress
    assert progress["plan"]["subtasks"][-1]["goal"] == "what I want"


def test_a_rejected_code_never_runs_and_its_reason_reaches_the_fast_agent(bench):
    run = bench.create(approve="ask")
    journal = bench.database.journal
    thread, codes = _in_background(bench, run.id)
    asked = _await_approval(bench, run.id, "plan")
    journal.decide(asked.id, "approve", by="person")
    first = _await_approval(bench, run.id, "code")
    journal.decide(first.id, "reject", by="person", comment="be more patient")
    second = _await_approval(bench, run.id, "code")
    assert second.payload["proposal"]["sub_action"] == first.payload["proposal"]["sub_action"]
    assert second.payload["proposal"]["version"] == 2
    assert second.payload["base_code"] == first.payload["proposal"]["code"]
    assert second.payload["proposal"]["code"] != first.payload["proposal"]["code"]
    assert "trial" not in bench.kinds(run.id)
    journal.decide(second.id, "stop", by="person")
    thread.join(30)
    assert codes == [130]
    assert journal.run(run.id).state is RunState.STOPPED


def test_edited_code_is_checked_again_before_it_may_run(bench):
    run = bench.create(approve="ask")
    journal = bench.database.journal
    thread, _ = _in_background(bench, run.id)
    journal.decide(_await_approval(bench, run.id, "plan").id, "approve", by="person")
    first = _await_approval(bench, run.id, "code")
    journal.decide(first.id, "modify", by="person", payload={"code": "import os\n"})
    again = _await_approval(bench, run.id, "code")
    assert again.payload["proposal"]["diagnostics"]
    assert again.payload["proposal"]["author"].endswith("+person")
    assert "trial" not in bench.kinds(run.id)
    journal.send(run.id, "abort")
    thread.join(30)


def test_stop_and_keep_in_training_still_evaluates_and_saves(bench):
    run = bench.create(approve="all", frames=5_000_000)
    journal = bench.database.journal
    thread, codes = _in_background(bench, run.id)
    _wait_for_kind(bench, run.id, "metrics")
    journal.send(run.id, "stop_and_keep")
    thread.join(60)
    assert codes == [0]
    done = journal.run(run.id)
    assert done.state is RunState.FINISHED
    assert 0 < done.result["frames"] < 5_000_000
    assert done.result["skills"]


def test_an_unknown_task_fails_with_the_next_step(bench):
    run = bench.create(task="fly to the moon", approve="all")
    assert bench.work(run.id) == 3
    failed = bench.database.journal.run(run.id)
    assert failed.state is RunState.FAILED
    payload = bench.database.journal.events(run.id, kinds={"failed"})[-1].payload
    assert "fly to the moon" in payload["message"]
    assert payload["hint"]


def test_a_saved_skill_plays(bench):
    run = bench.create(approve="all")
    assert bench.work(run.id) == 0
    journal = bench.database.journal
    for skill in bench.database.library.skills():
        if skill.kind == "coded_action" and skill.name != "collect_wood":
            continue
        config = {"skill": skill.name, "version": None, "seed": 7, "episode_length": 12}
        playing = journal.create_run(
            kind="play", task=skill.name, world="crafter", agents="rules", config=config
        )
        assert bench.work(playing.id) == 0
        assert journal.run(playing.id).state is RunState.FINISHED
        assert journal.frame(playing.id).width == 63


def test_a_second_run_reuses_what_the_library_has(bench):
    first, second = bench.create(approve="all"), bench.create(approve="all", seed=1)
    assert bench.work(first.id) == 0
    assert bench.work(second.id) == 0
    result = bench.database.journal.run(second.id).result
    coded = [skill for skill in result["skills"] if skill["kind"] == "coded_action"]
    assert coded
    assert all(skill["reused"] and skill["version"] == 1 for skill in coded)
    authors = {
        event.payload["proposal"]["author"]
        for event in bench.database.journal.events(second.id, kinds={"code_proposed"})
    }
    assert any(author.startswith("library:") for author in authors)
    told = [
        e.payload["name"] for e in bench.database.journal.events(second.id, kinds={"skill_saved"})
    ]
    assert not set(told) & {skill["name"] for skill in coded}


def test_a_worse_policy_is_not_saved_over_a_better_one(bench):
    better = SkillDraft(
        name="make_a_wood_pickaxe", world="crafter", kind="policy", description="d", code="",
        success_rate=1.1, episodes=20, run_id=None, agents="rules", approver="p", weights=b"w",
    )  # fmt: skip
    bench.database.library.save(better)
    run = bench.create(approve="all")
    assert bench.work(run.id) == 0
    assert len(bench.database.library.versions("make_a_wood_pickaxe")) == 1
    logs = [e.payload["text"] for e in bench.database.journal.events(run.id, kinds={"log"})]
    assert any("is not saved" in text for text in logs)


def test_a_name_of_another_kind_is_left_alone(bench):
    taken = SkillDraft(
        name="gather_wood", world="crafter", kind="policy", description="d", code="",
        success_rate=0.5, episodes=1, run_id=None, agents="rules", approver="p", weights=b"w",
    )  # fmt: skip
    bench.database.library.save(taken)
    run = bench.create(approve="all")
    assert bench.work(run.id) == 0
    names = {skill["name"] for skill in bench.database.journal.run(run.id).result["skills"]}
    assert "gather_wood_crafter_coded" in names
    assert bench.database.library.skill("gather_wood").kind == "policy"


def test_a_decision_that_cannot_be_read_is_asked_for_again(bench):
    run = bench.create(approve="ask")
    journal = bench.database.journal
    thread, _ = _in_background(bench, run.id)
    plan = _await_approval(bench, run.id, "plan")
    journal.decide(plan.id, "modify", by="person", payload={"plan": {"nonsense": 1}})
    again = _await_approval(bench, run.id, "plan")
    assert again.id != plan.id
    journal.decide(again.id, "approve", by="person")
    code = _await_approval(bench, run.id, "code")
    journal.decide(code.id, "modify", by="person", payload={"plan": {}})
    anew = _await_approval(bench, run.id, "code")
    assert anew.id != code.id
    assert anew.payload == code.payload
    journal.send(run.id, "abort")
    thread.join(30)
    assert journal.run(run.id).state is RunState.STOPPED


def test_a_database_removed_meanwhile_is_not_called_finished(bench):
    run = bench.create(approve="all", frames=5_000_000)
    thread, codes = _in_background(bench, run.id)
    _wait_for_kind(bench, run.id, "metrics")
    for file in bench.database_file.parent.glob("studio.db*"):
        file.unlink()
    thread.join(60)
    assert codes == [3]
    failed = bench.database.journal.run(run.id)
    assert failed.state is RunState.FAILED
    assert "removed or replaced" in failed.detail


def test_a_lost_policy_file_is_made_anew_from_the_checkpoint(bench, monkeypatch):
    run = bench.create(approve="all")
    monkeypatch.setattr("engine.run.learning._evaluate", _stop)
    assert bench.work(run.id) == 130
    monkeypatch.undo()
    monkeypatch.setattr("engine.run.stop.signal.signal", lambda *_: None)
    policy = bench.home / "runs" / run.id / "policy.safetensors"
    policy.write_bytes(policy.read_bytes()[:100])
    assert bench.work(run.id) == 0
    done = bench.database.journal.run(run.id)
    assert done.state is RunState.FINISHED
    started = bench.database.journal.events(run.id, kinds={"training_started"})
    assert started[-1].payload["frames_done"] == done.result["frames"]


def _stop(*_, **__):
    raise RunStopped


def _wait_for_kind(bench, run_id, kind, seconds=90.0):
    deadline = time.monotonic() + seconds
    while kind not in bench.kinds(run_id):
        assert time.monotonic() < deadline, f"no {kind} event came"
        time.sleep(0.05)
