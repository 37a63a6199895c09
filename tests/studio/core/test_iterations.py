"""Iterations side by side, and the calls of the model."""

from __future__ import annotations

import pytest
from textual.widgets import Static

from engine.agents.plan import Plan, SubAction, Subtask
from engine.events import IterationReviewed, PlanApproved, decode
from studio.run_view import RunView
from studio.screens.calls import CallsScreen
from studio.screens.iterations import IterationsScreen
from studio.widgets.call_rows import subject_of
from studio.widgets.iteration_columns import columns, fitting


@pytest.fixture
def iterations(run, kit):
    kit.iterate(run)
    view = RunView()
    for record in run.journal.events(run.id):
        view.apply(decode(record.kind, record.payload))
    return view.iterations


def page(app):
    return str(app.screen.query_one("#iterations-page Static", Static).content)


def test_versions_and_critiques_belong_to_the_iteration_they_were_made_in(iterations):
    assert [one.number for one in iterations.all] == [0, 1, 2]
    versions = [[p.version for p in one.pieces["gather_wood"].versions] for one in iterations.all]
    assert versions == [[1, 2], [3, 4], [5, 6]]
    assert [one.pieces["gather_wood"].best for one in iterations.all] == [0.4, 0.6, 0.8]
    assert all(one.approved_by == "ada@studio" for one in iterations.all)


def test_differences_are_named(iterations):
    assert iterations.change(0, "dig_stone") == ""
    assert iterations.change(1, "dig_stone") == "now rl"
    assert iterations.change(1, "gather_wood") == ""
    assert iterations.change(2, "dig_down") == "new"


@pytest.mark.parametrize(("width", "count"), [(40, 1), (80, 2), (119, 3)])
def test_as_many_stand_side_by_side_as_fit(iterations, width, count):
    text = columns(iterations, 0, width)
    assert fitting(width) == count
    assert sum(f"Iteration {n}" in text.plain for n in range(3)) == count
    assert max(line.cell_length for line in text.split("\n", allow_blank=True)) <= width


def test_what_is_the_same_can_be_left_out(iterations):
    text = columns(iterations, 0, 119, only_changes=True).plain
    assert "dig_stone" in text
    assert "gather_wood" in text, "its success is another"
    assert "make_pickaxe" not in text
    assert "2 sub-actions the same in all" in text


def test_a_training_that_went_badly_is_seen_beside_the_plan_that_followed():
    def plan(number, name, budget):
        learnt = SubAction(
            name=name, mode="rl", reason="r", instruction="i", success="wood >= 1", budget=budget
        )
        subtask = Subtask(name="wood", goal="g", success="wood >= 1", sub_actions=(learnt,))
        return Plan(
            task="t", world="crafter", author="llm:m", iteration=number, subtasks=(subtask,)
        )

    view = RunView()
    for event in (
        PlanApproved(plan=plan(0, "reach", 1000), by="ada"),
        IterationReviewed(
            iteration=0,
            code={},
            frames=512,
            task_success=0.1,
            goals={"reach": 0.2},
            verdict="the slow agent plans anew",
        ),
        PlanApproved(plan=plan(1, "reach_near", 488), by="ada"),
    ):
        view.apply(event)
    text = columns(view.iterations, 0, 80).plain
    for words in (
        "task 10 %",
        "reach 20 %",
        "512 frames in all",
        "plans anew",
        "reach_near",
        "gone",
    ):
        assert words in text, words
    assert "not reviewed yet" in text


def test_text_of_a_model_is_no_markup(iterations):
    piece = iterations.all[0].pieces["gather_wood"]
    last = max(piece.critiques)
    odd = {"text": "see d[/a] and [red]", "works": False}
    piece.critiques[last] = piece.critiques[last].model_copy(update=odd)
    assert "see d[/a] and [red]" in columns(iterations, 0, 200).plain


async def test_arrows_move_along_the_iterations(run, opened, until, kit):
    kit.iterate(run)
    async with opened(run, size=(80, 24), asks=False) as (app, pilot):
        await until(pilot, lambda: len(app.workspace.model.view.iterations.all) == 3)
        await pilot.press("i")
        await until(pilot, lambda: isinstance(app.screen, IterationsScreen))
        await until(pilot, lambda: "Iteration 2" in page(app))
        assert "Iteration 0" not in page(app)
        await pilot.press("left")
        assert "Iteration 0" in page(app)
        assert "Iteration 2" not in page(app)
        await pilot.press("d")
        assert "make_pickaxe" not in page(app)
        await pilot.press("right", "escape")
        assert app.screen is app.workspace


async def test_without_a_plan_there_is_nothing_to_compare(run, opened):
    async with opened(run, asks=False) as (app, pilot):
        await pilot.press("i")
        assert app.screen is app.workspace
        await pilot.press("c")
        assert app.screen is app.workspace, "the rules agents ask no model"


async def test_calls_are_listed_read_and_filtered(database, opened, until, kit):
    run = kit.run(database, agents="llm")
    kit.call(run.journal, run.id)
    async with opened(run, size=(80, 24), asks=False) as (app, pilot):
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, CallsScreen) and app.screen.picked)
        title = app.screen.query_one("#calls-title", Static)
        assert "4 calls, 5.05k tokens, $0.01" in str(title.content)
        await pilot.press("G")
        text = str(app.screen.query_one("#call-page Static", Static).content)
        assert "It goes to [/b] the nearest tree." in text
        assert "def run() -> str:" in text
        assert "You are the fast agent." in text
        await pilot.press("t", "t", "t")
        assert "2 calls" in str(title.content)
        assert "fast agent only" in str(title.content)
        await pilot.press("enter")
        assert app.focused is app.screen.query_one("#call-page")
        await pilot.press("escape", "escape")
        assert app.screen is app.workspace


def test_what_a_call_is_about_is_read_from_its_prompt(run, kit):
    kit.call(run.journal, run.id)
    subjects = [subject_of(call) for call in run.journal.calls(run.id)]
    assert subjects == ["collect a diamond", "wood", "gather_wood", "gather_wood"]
