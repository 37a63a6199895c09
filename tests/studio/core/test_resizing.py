"""Terminals of every size: the screen settles, and nothing acts that is not shown."""

from __future__ import annotations

import pytest
from textual.events import Paste, Resize
from textual.geometry import Size
from textual.message import Message
from textual.screen import Screen

from studio.screens.dialogs import ChoiceDialog
from studio.screens.start import StartScreen
from studio.widgets.plan_editor import PlanList
from studio.widgets.too_small import TooSmall

LARGE, SMALL = Size(120, 40), Size(30, 8)
MANY = 200


class Between(Message):
    """Any message: resize events that follow each other directly are merged by Textual."""


@pytest.fixture
def layouts(monkeypatch):
    """Names of the screens that were laid out; beyond MANY no more are, so that a test ends."""
    done: list[str] = []
    lay_out = Screen._refresh_layout

    def counted(screen, size=None, scroll=False):
        done.append(type(screen).__name__)
        if len(done) <= MANY:
            lay_out(screen, size, scroll)

    monkeypatch.setattr(Screen, "_refresh_layout", counted)
    return done


@pytest.mark.parametrize("key", [None, "f1", "f2", "f3", "ctrl+p", "q"])
async def test_resizes_of_several_sizes_in_a_row_settle(run, opened, until, layouts, key):
    run.ask_code()
    async with opened(run) as (app, pilot):
        if key is not None:
            await pilot.press(key)
            await until(pilot, lambda: app.screen is not app.workspace)
        layouts.clear()
        app._size = SMALL
        for screen in app.screen_stack:
            for _ in range(3):
                for size in (SMALL, LARGE):
                    screen.post_message(Resize(size, size))
                    screen.post_message(Between())
        await until(pilot, lambda: app.screen.size == SMALL)
        for _ in range(20):
            await pilot.pause(0.01)
        assert len(layouts) < MANY
        assert app.screen.size == SMALL
        assert app.screen.has_class("-tiny", "-flat")
        await pilot.resize_terminal(*LARGE)
        await until(pilot, lambda: app.screen.size == LARGE)
        await until(pilot, lambda: app.screen.has_class("-wide", "-high"))


async def test_keys_approve_nothing_that_is_hidden(run, opened, until, clock):
    asked = run.ask_plan()
    async with opened(run) as (app, pilot):
        await pilot.resize_terminal(40, 10)
        await until(pilot, lambda: app.screen.has_class("-tiny"))
        clock.advance(5.0)
        await pilot.press("a", "enter", "A", "x", "j", "s", "p", "q", "f2", "f3", "ctrl+n")
        app.post_message(Paste("a"))
        await pilot.pause()
        assert run.journal.approval(asked.id).decision is None
        assert run.journal.take_commands(run.id) == ()
        assert app.screen is app.workspace
        assert not app.workspace.query_one("#plan").changed
        # Once it is shown, it has to have been seen before a key decides about it.
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: app.workspace.in_grace)
        await pilot.press("a")
        await pilot.pause()
        assert run.journal.approval(asked.id).decision is None
        clock.advance(1.0)
        await pilot.press("a")
        await until(pilot, lambda: run.journal.approval(asked.id).decision == "approve")


async def test_keys_approve_no_hidden_code(run, opened, until, clock):
    run.approve_plan()
    asked = run.ask_code()
    async with opened(run) as (app, pilot):
        await pilot.resize_terminal(120, 10)  # wide enough, too flat
        await until(pilot, lambda: app.screen.has_class("-flat"))
        clock.advance(5.0)
        await pilot.press("a", "enter", "A", "e")
        await pilot.pause()
        assert run.journal.approval(asked.id).decision is None


async def test_enter_starts_no_run_from_a_hidden_task_line(make_app, until, launched, database):
    app = make_app()
    async with app.run_test(size=(40, 10)) as pilot:
        await until(pilot, lambda: app.is_painted)
        assert isinstance(app.screen, StartScreen)
        await pilot.press("x", "enter", "tab", "enter")
        await pilot.pause()
        assert database.journal.runs() == ()
        assert launched == []
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: app.screen.has_class("-high"))
        task = app.screen.query_one("#task")
        assert not task.value.endswith("x")


async def test_quit_leaves_a_small_terminal_without_a_question(run, opened, until):
    asked = run.ask_plan()
    async with opened(run) as (app, pilot):
        await pilot.resize_terminal(40, 10)
        await until(pilot, lambda: app.screen.has_class("-tiny"))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app._exit)
    assert app.return_value.startswith("The run waits for you. Come back with:")
    assert run.journal.take_commands(run.id) == ()
    assert run.journal.approval(asked.id).decision is None


async def test_quit_leaves_when_the_question_is_hidden(run, opened, until):
    run.ask_plan()
    async with opened(run) as (app, pilot):
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.resize_terminal(40, 10)
        await until(pilot, lambda: app.screen.has_class("-tiny"))
        await pilot.press("s", "enter")
        await pilot.pause()
        assert isinstance(app.screen, ChoiceDialog)
        assert not app._exit
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app._exit)
    assert run.journal.take_commands(run.id) == ()


async def test_the_smallest_terminal_says_the_way_out(make_app, until):
    app = make_app()
    async with app.run_test(size=(20, 5)) as pilot:
        await until(pilot, lambda: app.is_painted)
        notice = app.screen.query_one(TooSmall)
        await until(pilot, lambda: notice.size.width > 0)
        lines = ["".join(part.text for part in notice.render_line(row)) for row in range(5)]
        shown = "\n".join(line.rstrip() for line in lines)
        assert "ctrl+q quits" in shown
        assert "20x5 too small" in shown
        assert "needs 60x16" in shown


async def test_a_look_before_a_layout_takes_no_resize_from_a_widget(
    run, opened, until, monkeypatch
):
    """Textual takes the map of such a look for what the widgets have been told."""
    run.ask_plan()
    async with opened(run) as (app, pilot):
        await pilot.resize_terminal(*LARGE)
        rows = app.workspace.query_one(PlanList)
        await until(pilot, lambda: rows.size.width > 50 and rows.row_width == rows.drawn_width)
        lay_out = Screen._refresh_layout

        def looked_at(screen, size=None, scroll=False):
            screen._compositor._full_map_invalidated = True
            assert screen._compositor.full_map
            lay_out(screen, size, scroll)

        monkeypatch.setattr(Screen, "_refresh_layout", looked_at)
        app.workspace.query_one("#panes").styles.width = 40
        await until(pilot, lambda: rows.size.width < 40)
        await until(pilot, lambda: rows.row_width == rows.drawn_width)
