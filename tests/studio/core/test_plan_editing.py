"""Editing the plan before anything runs: what lands in the database is what was on the screen."""

from __future__ import annotations

from textual.widgets import Input, Select, Static, TextArea

from engine.agents.plan import Plan
from engine.agents.plan_edit import find_action
from studio.screens.dialogs import ChoiceDialog, CommentDialog
from studio.screens.plan_form import ActionForm, SubtaskForm
from studio.widgets.plan_editor import PlanEditor
from studio.widgets.plan_rows import Part


def names(plan):
    return [action.name for action in plan.sub_actions()]


async def select(pilot, editor, kind, name):
    editor._select(Part(kind, name))
    await pilot.pause()


async def decided(pilot, until, run, asked):
    await until(pilot, lambda: run.journal.approval(asked.id).decision is not None)
    return run.journal.approval(asked.id)


async def test_approving_the_plan_as_it_is(run, opened, until):
    asked = run.ask_plan()
    async with opened(run) as (_app, pilot):
        await pilot.press("a")
        record = await decided(pilot, until, run, asked)
    assert record.decision == "approve"
    assert record.decided_hash == asked.payload_hash
    assert "@" in record.decided_by


async def test_every_edit_reaches_the_database_in_one_modify(run, opened, until):
    asked = run.ask_plan()
    async with opened(run) as (app, pilot):
        editor = app.workspace.query_one(PlanEditor)
        await select(pilot, editor, "action", "dig_stone")
        await pilot.press("K")
        await select(pilot, editor, "action", "make_table")
        await pilot.press("m")
        await select(pilot, editor, "action", "stay_alive")
        await pilot.press("x")
        await select(pilot, editor, "action", "gather_wood")
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, ActionForm))
        app.screen.query_one("#field-name", Input).value = "collect_wood_first"
        app.screen.query_one("#field-success", Input).value = "wood >= 7"
        app.screen.query_one("#field-budget", Input).value = "1.5k"
        app.screen.query_one("#field-instruction", TextArea).text = "Collect\nseven wood."
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is app.workspace)
        await pilot.press("a")
        record = await decided(pilot, until, run, asked)
    assert record.decision == "modify"
    plan = Plan.model_validate(record.decided_payload["plan"])
    assert names(plan) == [
        "collect_wood_first", "make_table", "dig_stone", "make_pickaxe", "search_diamond",
    ]  # fmt: skip
    _, wood = find_action(plan, "collect_wood_first")
    assert (wood.success, wood.budget) == ("wood >= 7", 1500)
    assert wood.instruction == "Collect seven wood."
    assert find_action(plan, "make_table")[1].mode == "rl"
    assert plan.author == "rules+person"
    assert record.decided_hash != asked.payload_hash


async def test_choices_are_a_field_of_what_is_learnt(run, opened, until):
    asked = run.ask_plan()
    async with opened(run) as (app, pilot):
        editor = app.workspace.query_one(PlanEditor)
        await select(pilot, editor, "action", "search_diamond")
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, ActionForm))
        field = app.screen.query_one("#field-choices", Input)
        assert (field.value, field.parent.display) == ("", True)
        app.screen.query_one("#field-mode", Select).value = "code"
        await until(pilot, lambda: not field.parent.display)
        app.screen.query_one("#field-mode", Select).value = "rl"
        await until(pilot, lambda: field.parent.display)
        field.value = "dig_stone, gather_woood"
        await pilot.press("ctrl+s")
        await pilot.pause()
        error = app.screen.query_one(".form-error", Static)
        assert "did you mean 'gather_wood'?" in str(error.content)
        field.value = "dig_stone, gather_wood"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is app.workspace)
        await pilot.press("a")
        record = await decided(pilot, until, run, asked)
    plan = Plan.model_validate(record.decided_payload["plan"])
    assert find_action(plan, "search_diamond")[1].choices == ("dig_stone", "gather_wood")


async def test_an_invalid_edit_is_refused_with_the_reason_and_nothing_is_lost(run, opened, until):
    run.ask_plan()
    async with opened(run) as (app, pilot):
        editor = app.workspace.query_one(PlanEditor)
        before = editor.plan
        await select(pilot, editor, "action", "gather_wood")
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, ActionForm))
        field = app.screen.query_one("#field-success", Input)
        error = app.screen.query_one(".form-error", Static)
        field.value = "woood >= 5"
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert isinstance(app.screen, ActionForm)
        assert "woood" in str(error.content)
        assert "wood" in str(error.content).replace("woood", "")
        app.screen.query_one("#field-budget", Input).value = "many"
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert "the budget 'many' is no number" in str(error.content)
        app.screen.query_one("#field-budget", Input).value = "0"
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert "budget" in str(error.content)
        assert field.value == "woood >= 5"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.workspace)
        assert editor.plan == before


async def test_a_move_that_breaks_the_order_is_refused(run, opened, until):
    run.ask_plan()
    async with opened(run) as (app, pilot):
        editor = app.workspace.query_one(PlanEditor)
        before = editor.plan
        await select(pilot, editor, "subtask", "stone")
        await pilot.press("K")
        await pilot.pause()
        assert editor.plan == before
        toasts = [toast.message for toast in app._notifications]
        assert any("depends on 'wood', which comes later" in text for text in toasts)


async def test_undo_and_redo(run, opened, until):
    run.ask_plan()
    async with opened(run) as (app, pilot):
        editor = app.workspace.query_one(PlanEditor)
        before = editor.plan
        await select(pilot, editor, "action", "dig_stone")
        await pilot.press("x")
        await pilot.press("m")
        after = editor.plan
        assert after != before
        await pilot.press("u", "u")
        assert editor.plan == before
        assert not editor.changed
        await pilot.press("U", "U")
        assert editor.plan == after


async def test_adding_a_subtask_and_its_sub_action(run, opened, until):
    asked = run.ask_plan()
    async with opened(run) as (app, pilot):
        editor = app.workspace.query_one(PlanEditor)
        await select(pilot, editor, "subtask", "wood")
        await pilot.press("N")
        await until(pilot, lambda: isinstance(app.screen, SubtaskForm))
        app.screen.query_one("#field-name", Input).value = "drink"
        app.screen.query_one("#field-success", Input).value = "unlocked(collect_drink)"
        app.screen.query_one("#field-depends_on", Input).value = "wood"
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.workspace)
        assert editor.selected == Part("subtask", "drink")

        # A subtask without sub-actions cannot be approved yet, and the screen says so.
        await pilot.press("a")
        await pilot.pause()
        assert "drink" in str(app.workspace.query_one("#notice").content)
        assert run.journal.approval(asked.id).decision is None

        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, ActionForm))
        app.screen.query_one("#field-name", Input).value = "find_water"
        app.screen.query_one("#field-mode", Select).value = "rl"
        app.screen.query_one("#field-success", Input).value = "drink >= 8"
        app.screen.query_one("#field-budget", Input).value = "20,000"
        app.screen.query_one("#field-instruction", TextArea).text = "Find water and drink."
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is app.workspace)
        assert editor.selected == Part("action", "find_water")
        await pilot.press("a")
        record = await decided(pilot, until, run, asked)
    plan = Plan.model_validate(record.decided_payload["plan"])
    assert [subtask.name for subtask in plan.subtasks] == ["wood", "drink", "stone", "diamond"]
    owner, action = find_action(plan, "find_water")
    assert owner.depends_on == ("wood",)
    assert (action.mode, action.budget, action.success) == ("rl", 20_000, "drink >= 8")


async def test_a_new_part_with_a_taken_name_is_refused(run, opened, until):
    run.ask_plan()
    async with opened(run) as (app, pilot):
        editor = app.workspace.query_one(PlanEditor)
        before = editor.plan
        await select(pilot, editor, "action", "dig_stone")
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, ActionForm))
        app.screen.query_one("#field-name", Input).value = "gather_wood"
        app.screen.query_one("#field-success", Input).value = "stone >= 2"
        app.screen.query_one("#field-instruction", TextArea).text = "More stone."
        await pilot.press("ctrl+s")
        await pilot.pause()
        error = app.screen.query_one(".form-error", Static)
        assert "'gather_wood' is taken" in str(error.content)
        await pilot.press("escape")
        await pilot.pause()
        assert editor.plan == before


async def test_sending_the_plan_back_with_a_comment(run, opened, until):
    asked = run.ask_plan()
    async with opened(run) as (app, pilot):
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, CommentDialog))
        await pilot.press(*"use fewer steps", "enter")
        record = await decided(pilot, until, run, asked)
    assert (record.decision, record.comment) == ("reject", "use fewer steps")


async def test_pane_and_form_use_the_same_words(run, opened, until):
    run.ask_plan()
    async with opened(run) as (app, pilot):
        await pilot.press("j")
        await pilot.pause()
        shown = str(app.screen.query_one(".plan-details Static").content)
        assert "budget        300 env frames per execution" in shown
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, ActionForm))
        rows = [row for row in app.screen.query(".form-row") if row.display]
        labels = [str(row.query_one(".form-label").content) for row in rows]
        assert len(labels) == 9
        for label in labels:
            assert label == "name" or f"{label:<14}" in shown, label
        unit = app.screen.query_one(".form-unit")
        assert str(unit.content) == "env frames per execution"
        app.screen.query_one("#field-mode", Select).value = "rl"
        await until(pilot, lambda: str(unit.content) == "env frames of training")


async def test_sending_an_edited_plan_back_asks_first(run, opened, until):
    asked = run.ask_plan()
    async with opened(run) as (app, pilot):
        await pilot.press("j", "m", "j", "m", "u", "U", "u")
        await pilot.press("j", "j", "j", "m", "r")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        text = str(app.screen.query_one(".dialog-text Static").content)
        assert text.startswith("Your 2 edits are not sent along; the slow agent")
        await pilot.press("b")
        await until(pilot, lambda: app.screen is app.workspace)
        assert run.journal.approval(asked.id).decision is None
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, CommentDialog))
        await pilot.press(*"fewer", "enter")
        record = await decided(pilot, until, run, asked)
    assert (record.decision, record.comment) == ("reject", "fewer")


async def test_edits_survive_a_failed_write(run, opened, until, clock, monkeypatch):
    asked = run.ask_plan()
    async with opened(run) as (app, pilot):
        editor = app.workspace.query_one(PlanEditor)
        await select(pilot, editor, "action", "dig_stone")
        await pilot.press("x")
        edited = editor.plan

        def fail(*args, **kwargs):
            raise OSError("disk full")

        with monkeypatch.context() as patch:
            patch.setattr(app.bridge, "decide", fail)
            await pilot.press("a")
            await until(pilot, lambda: app.screen is not app.workspace)
        await pilot.press("o")
        await until(pilot, lambda: app.screen is app.workspace)
        assert editor.editable
        assert editor.plan == edited
        clock.advance(1.0)
        await pilot.press("a")
        record = await decided(pilot, until, run, asked)
    assert "dig_stone" not in str(record.decided_payload)


async def test_a_second_plan_starts_its_own_history(run, opened, until):
    first = run.ask_plan()
    async with opened(run) as (app, pilot):
        editor = app.workspace.query_one(PlanEditor)
        await select(pilot, editor, "action", "dig_stone")
        await pilot.press("x")
        run.journal.decide(first.id, "reject", by="somebody else")
        second = run.ask_plan(editor._plan.model_copy(update={"iteration": 1}))
        await until(pilot, lambda: app.workspace.model.approval == second)
        await until(pilot, lambda: editor.editable)
        assert not editor.changed
        assert "dig_stone" in names(editor.plan)
