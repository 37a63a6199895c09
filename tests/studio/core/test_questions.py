"""What stands above the panes: a model that writes, how to learn, a model that fails."""

from __future__ import annotations

import pytest
from textual.widgets import TextArea

from engine.events import CodeProposed, TokensUsed
from skills_db.records import RunState
from studio.screens.dialogs import CommentDialog
from studio.widgets.learning_view import LearningView
from studio.widgets.model_question import ModelQuestion
from studio.widgets.run_status import RunStatus
from studio.widgets.thinking import Thinking, WrittenText


async def decided(pilot, until, run, asked):
    await until(pilot, lambda: run.journal.approval(asked.id).decision is not None)
    return run.journal.approval(asked.id)


def shown(widget):
    return "\n".join(str(part.content) for part in widget.query("Static"))


def notice(app):
    return str(app.screen.query_one("#notice").content)


async def test_what_a_model_writes_is_seen_and_folds_away(run, opened, until):
    run.enter(RunState.PLANNING)
    run.journal.put_completion(run.id, "slow", "wood", '{"sub_ac', finished=False)
    async with opened(run, asks=False) as (app, pilot):
        view = app.workspace.query_one(Thinking)
        await until(pilot, lambda: view.display)
        text = '{"sub_actions": [{"name": "[/b]gather", "instruction": "Walk to'
        run.journal.put_completion(run.id, "slow", "wood", text, finished=False)
        await until(pilot, lambda: "gather" in shown(view.query_one(WrittenText)))
        assert "[/b]gather" in shown(view)
        assert "slow agent writes  wood" in shown(view)
        assert f"{len(text)} characters" in shown(view)
        run.journal.put_completion(run.id, "slow", "wood", text + '"}]}', finished=True)
        await until(pilot, lambda: not view.display)


async def test_code_is_shown_as_code_while_it_is_written(run, opened, until):
    run.approve_plan()
    run.enter(RunState.CODING, "gather_wood")
    async with opened(run, asks=False) as (app, pilot):
        text = '{"code": "def run() -> str:\\n    return \\"do'
        run.journal.put_completion(run.id, "fast", "gather_wood", text, finished=False)
        view = app.workspace.query_one(Thinking)
        await until(pilot, lambda: '2      return "do' in shown(view))
        await pilot.press("s")
        await until(pilot, lambda: app.screen is not app.workspace)


async def test_nothing_is_read_while_another_screen_is_in_front(run, opened, until):
    run.enter(RunState.PLANNING)
    async with opened(run, asks=False) as (app, pilot):
        assert app.bridge.wants_text
        await pilot.press("f1")
        await until(pilot, lambda: app.screen is not app.workspace)
        assert not app.bridge.wants_text
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.workspace)
        assert app.bridge.wants_text


async def test_an_abandoned_text_is_not_taken_for_writing(run, opened, until):
    run.enter(RunState.PLANNING)
    run.journal.put_completion(run.id, "slow", "wood", "half", finished=False)
    run.journal.set_state(run.id, RunState.STOPPED)
    run.release()
    async with opened(run, asks=False) as (app, pilot):
        await until(pilot, lambda: app.workspace.completion is not None)
        assert not app.workspace.query_one(Thinking).display


async def test_a_text_that_does_not_grow_was_left_behind(run, opened, until, clock):
    run.enter(RunState.PLANNING)
    run.journal.put_completion(run.id, "slow", "wood", "half", finished=False)
    async with opened(run, asks=False) as (app, pilot):
        view = app.workspace.query_one(Thinking)
        await until(pilot, lambda: view.display)
        clock.advance(121.0)
        await until(pilot, lambda: not view.display)
        run.journal.put_completion(run.id, "slow", "wood", "half and", finished=False)
        await until(pilot, lambda: view.display)


async def test_from_the_review_one_comes_back_to_a_failing_model(run, opened, until, kit, clock):
    run.approve_plan()
    run.emit(CodeProposed(proposal=kit.proposal(1)))
    asked = run.ask("model", "fast agent", kit.failing)
    async with opened(run) as (app, pilot):
        await pilot.press("v")
        await until(pilot, lambda: app.screen is not app.workspace)
        await pilot.press("u")
        await until(pilot, lambda: app.screen is app.workspace)
        assert run.journal.approval(asked.id).decision is None
        clock.advance(1.0)
        await pilot.press("u")
        record = await decided(pilot, until, run, asked)
    assert record.decision == "modify"


async def test_a_model_that_fails_asks_and_is_asked_again(run, opened, until, kit):
    asked = run.ask("model", "fast agent", kit.failing)
    async with opened(run) as (app, pilot):
        text = str(app.workspace.query_one(ModelQuestion).content)
        assert kit.failing["message"] in text
        assert kit.failing["hint"] in text
        assert "a tries again, u goes on with the rules agents" in notice(app)
        await pilot.press("a")
        record = await decided(pilot, until, run, asked)
        assert not app.workspace.query_one(ModelQuestion).display
    assert (record.decision, record.decided_hash) == ("approve", asked.payload_hash)


async def test_the_rules_agents_can_go_on(run, opened, until, kit):
    asked = run.ask("model", "fast agent", kit.failing)
    async with opened(run, size=(80, 24)) as (app, pilot):
        await pilot.press("r", "e", "A")
        assert app.screen is app.workspace
        await pilot.press("u")
        record = await decided(pilot, until, run, asked)
    assert (record.decision, record.decided_payload) == ("modify", {"agents": "rules"})


async def test_a_failing_model_can_be_the_end(run, opened, until, kit):
    asked = run.ask("model", "fast agent", kit.failing)
    async with opened(run) as (app, pilot):
        await pilot.press("s")
        await until(pilot, lambda: app.screen is not app.workspace)
        await pilot.press("s")
        record = await decided(pilot, until, run, asked)
    assert record.decision == "stop"


def ask_learning(run, kit):
    run.approve_plan()
    proposal = kit.learning()
    payload = {"proposal": proposal.model_dump(mode="json")}
    return run.ask("learning", "search_diamond version 1", payload)


async def test_how_to_learn_is_shown_and_approved(run, opened, until, kit):
    asked = ask_learning(run, kit)
    async with opened(run) as (app, pilot):
        text = shown(app.workspace.query_one(LearningView))
        for words in ("gather_wood, dig_stone", "view, inventory", "+0.5 when first stone >= 1",
                      "Diamonds lie deep."):  # fmt: skip
            assert words in text
        await pilot.press("a")
        record = await decided(pilot, until, run, asked)
    assert (record.decision, record.decided_hash) == ("approve", asked.payload_hash)


async def test_how_to_learn_is_edited_as_text(run, opened, until, kit):
    asked = ask_learning(run, kit)
    async with opened(run) as (app, pilot):
        view = app.workspace.query_one(LearningView)
        await until(pilot, lambda: view.world is not None)
        await pilot.press("e")
        area = view.query_one(TextArea)
        area.load_text(area.text.replace('"dig_stone"', '"fly"'))
        await pilot.press("ctrl+s")
        assert "'fly' is no coded action there is" in shown(view)
        await pilot.press("a")
        await pilot.pause()
        assert run.journal.approval(asked.id).decision is None
        await pilot.press("e")
        area.load_text(area.text.replace('"fly"', '"make_table"').replace("0.5", "0.25"))
        await pilot.press("ctrl+s")
        assert view.problem is None
        assert "make_table" in shown(view)
        await pilot.press("a")
        record = await decided(pilot, until, run, asked)
    assert record.decision == "modify"
    proposal = record.decided_payload["proposal"]
    assert proposal["actions"] == ["gather_wood", "make_table"]
    assert proposal["shaping"] == [{"predicate": "stone >= 1", "bonus": 0.25}]
    assert proposal["author"] == "llm:m+person"
    assert proposal["version"] == 1


async def test_an_edit_given_up_changes_nothing(run, opened, until, kit):
    asked = ask_learning(run, kit)
    async with opened(run, size=(80, 24)) as (app, pilot):
        view = app.workspace.query_one(LearningView)
        await pilot.press("e")
        view.query_one(TextArea).load_text("nonsense")
        assert "would be lost" in app.workspace.lost_words()
        await pilot.press("escape")
        assert not view.editing
        assert view.text is None
        await pilot.press("a")
        record = await decided(pilot, until, run, asked)
    assert record.decision == "approve"


async def test_a_kept_edit_can_be_taken_back(run, opened, until, kit):
    asked = ask_learning(run, kit)
    async with opened(run, size=(80, 24)) as (app, pilot):
        view = app.workspace.query_one(LearningView)
        await pilot.press("u", "e")
        view.query_one(TextArea).load_text("nonsense")
        await pilot.press("ctrl+s")
        assert view.problem is not None
        await pilot.press("u")
        assert (view.text, view.problem) == (None, None)
        assert "Diamonds lie deep." in shown(view)
        await pilot.press("a")
        record = await decided(pilot, until, run, asked)
    assert record.decision == "approve"


async def test_how_to_learn_is_sent_back_with_a_comment(run, opened, until, kit):
    asked = ask_learning(run, kit)
    async with opened(run) as (app, pilot):
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, CommentDialog))
        await pilot.press(*"less", "enter")
        record = await decided(pilot, until, run, asked)
    assert (record.decision, record.comment) == ("reject", "less")


@pytest.mark.parametrize(
    ("tokens", "cost", "words"),
    [(100_000, 1.0, "100k of 500k tokens, $1.00 of $5.00"),
     (410_000, 1.0, "! 410k of 500k tokens"), (100_000, 4.5, "$4.50 of $5.00")],
)  # fmt: skip
async def test_what_is_spent_stands_in_the_status_line(run, opened, until, tokens, cost, words):
    run.enter(RunState.PLANNING)
    run.emit(TokensUsed(tokens=tokens, cost_usd=cost, max_tokens=500_000, max_cost_usd=5.0))
    async with opened(run, size=(140, 40), asks=False) as (app, pilot):
        status = app.workspace.query_one(RunStatus)
        await until(pilot, lambda: words in status.render_line(0).text)
