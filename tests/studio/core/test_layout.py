"""Sizes, panes, keys, colours: usable from 60x20 on, honest below, nothing by colour alone."""

from __future__ import annotations

import re

from skills_db.records import RunState
from studio import keymap
from studio.widgets.key_bar import KeyBar
from studio.widgets.plan_editor import PlanEditor
from studio.widgets.plan_rows import Part
from studio.widgets.too_small import TooSmall

TERMINAL_DEFAULT = "#c5c8c6"
"""Colour of unstyled text in a picture of the terminal."""


def shown(app):
    return [
        name
        for name in ("plan", "code", "trials", "training", "results", "log")
        if app.workspace.query_one(f"#{name}").display
    ]


def lines(app):
    return [
        "".join(segment.text for segment in strip)
        for strip in app.screen._compositor.render_strips()
    ]


async def test_two_columns_when_wide_one_when_narrow(run, opened, until):
    run.approve_plan()
    run.ask_code()
    async with opened(run, size=(120, 40)) as (app, pilot):
        assert shown(app) == ["plan", "code", "log"]
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: shown(app) == ["code"])
        await pilot.press("1")
        await pilot.pause()
        assert shown(app) == ["plan"]
        assert app.workspace.query_one("#plan").has_focus_within
        await pilot.resize_terminal(100, 30)
        await until(pilot, lambda: shown(app) == ["plan", "code", "log"])


async def test_too_small_says_so_and_recovers(run, opened, until):
    run.ask_plan()
    async with opened(run) as (app, pilot):
        for width, height in [(40, 24), (59, 40), (20, 5), (80, 10), (1, 1)]:
            await pilot.resize_terminal(width, height)
            await until(pilot, lambda: app.screen.query_one(TooSmall).display)
            if width >= 40:
                text = " ".join(" ".join(lines(app)).split())
                assert f"{width}x{height} too small" in text
                assert "needs 60x16" in text
                assert "ctrl+q quits" in text
            await pilot.resize_terminal(80, 24)
            await until(pilot, lambda: not app.screen.query_one(TooSmall).display)
            assert shown(app) == ["plan"]


async def test_everything_can_be_done_at_60_by_20(run, opened, until):
    asked = run.ask_plan()
    async with opened(run, size=(60, 20)) as (app, pilot):
        await pilot.press("j", "m")
        await until(pilot, lambda: app.workspace.query_one("#plan").changed)
        await pilot.press("e")
        await until(pilot, lambda: app.screen is not app.workspace)
        text = "\n".join(lines(app))
        assert "Sub-action gather_wood" in text
        assert "instruction" in text
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.workspace)
        await pilot.press("a")
        await until(pilot, lambda: run.journal.approval(asked.id).decision == "modify")


async def test_the_panes_follow_the_run_until_the_person_goes_elsewhere(run, opened, until):
    run.approve_plan()
    run.enter(RunState.CODING)
    async with opened(run, size=(80, 24), asks=False) as (app, pilot):
        await until(pilot, lambda: app.workspace.pane == "code")
        run.enter(RunState.TRIALS)
        await until(pilot, lambda: app.workspace.pane == "trials")
        await pilot.press("6")
        run.enter(RunState.TRAINING)
        await until(pilot, lambda: app.workspace.model.run.state is RunState.TRAINING)
        assert app.workspace.pane == "log"
        await pilot.press("f")
        await until(pilot, lambda: app.workspace.pane == "training")


async def test_follow_goes_to_what_is_newest_everywhere(run, opened, until):
    from engine.events import LogLine

    run.approve_plan()
    run.emit(*(LogLine(level="info", text=f"line {number}") for number in range(60)))
    run.enter(RunState.CODING, "dig_stone")
    async with opened(run, asks=False) as (app, pilot):
        await until(pilot, lambda: app.workspace.pane == "code")
        log = app.workspace.query_one("#log").lines
        await until(pilot, lambda: log.max_scroll_y > 0)
        assert log.follows
        assert not app.workspace.check_action("follow", ())
        await pilot.press("6", "g", "1", "g")
        await until(pilot, lambda: not log.follows)
        plan = app.workspace.query_one(PlanEditor)
        assert plan.selected == Part("subtask", "wood")
        await pilot.press("f")
        await until(pilot, lambda: log.follows and log.scroll_offset.y == log.max_scroll_y)
        assert plan.selected == Part("action", "dig_stone")
        log.scroll_home(animate=False)  # by the mouse wheel: the keyboard is elsewhere
        await until(pilot, lambda: app.workspace.check_action("follow", ()))
        await pilot.press("f")
        await until(pilot, lambda: log.follows)


async def test_a_dialog_has_its_own_footer(run, opened, until):
    run.ask_plan()
    async with opened(run, size=(80, 24)) as (app, pilot):
        await pilot.press("r")
        await until(pilot, lambda: app.screen is not app.workspace)
        assert lines(app)[-1].split() == ["esc", "Back", "^s", "Accept"]
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.workspace)
        assert "a Approve" in lines(app)[-1]


async def test_every_screen_has_a_footer_of_whole_words(run, opened, until):
    run.ask_plan()
    words = {entry.words for entry in keymap.KEYS}
    async with opened(run, size=(80, 24)) as (app, pilot):
        for key in ("f1", "f2", "f3"):
            await pilot.press(key)
            await until(pilot, lambda: app.screen is not app.workspace)
            await until(pilot, lambda: str(app.screen.query_one(KeyBar).content).strip())
            offered = re.split(r"\s{2,}", str(app.screen.query_one(KeyBar).content).strip())
            assert {entry.partition(" ")[2] for entry in offered} <= words
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.workspace)


async def test_tab_goes_through_the_panes_and_stops_the_following(run, opened, until):
    run.approve_plan()
    run.ask_code()
    async with opened(run) as (app, pilot):
        await pilot.press("tab")
        await until(pilot, lambda: app.workspace.pane == "log")
        assert not app.workspace.following
        await pilot.press("shift+tab")
        await until(pilot, lambda: app.workspace.pane == "code")


async def test_nothing_disturbs_somebody_who_is_writing(run, opened, until):
    run.approve_plan()
    asked = run.ask_code()
    async with opened(run) as (app, pilot):
        await pilot.press("e")
        area = app.screen.query_one("#edit-body")
        await until(pilot, lambda: app.screen.focused is area)
        await pilot.press("x")
        run.journal.decide(asked.id, "approve", by="somebody else")
        run.enter(RunState.TRAINING)
        await until(pilot, lambda: app.workspace.model.run.state is RunState.TRAINING)
        await pilot.press("y")
        await pilot.pause()
        assert app.screen.focused is area
        assert area.text.startswith("xy")


async def test_the_footer_shows_what_applies_and_fits(run, opened, until):
    run.ask_plan()
    async with opened(run, size=(80, 24)) as (app, pilot):
        bar = app.screen.query_one(KeyBar)
        text = str(bar.content)
        assert len(text) <= 78
        for words in ("a Approve", "e Edit", "r Reject", "n New", "^q Quit", "f1 Help"):
            assert words.lower() in text.lower()
        assert "Pause" not in text
        await pilot.click(KeyBar, offset=(text.index("Reject") + 2, 0))
        await until(pilot, lambda: app.screen is not app.workspace)


async def test_a_key_can_be_remapped_by_its_id(run, make_app, until, clock):
    asked = run.ask_plan()
    app = make_app(run.id, keymap={"decide.approve": "ctrl+g"})
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.workspace and app.workspace.model.seen_at is not None)
        await until(pilot, lambda: app.workspace.query_one("#plan").editable)
        clock.advance(1.0)
        await pilot.press("a")
        await pilot.pause()
        assert run.journal.approval(asked.id).decision is None
        assert "^g Approve" in str(app.screen.query_one(KeyBar).content)
        await pilot.press("ctrl+g")
        await until(pilot, lambda: run.journal.approval(asked.id).decision == "approve")


async def test_the_palette_offers_the_same_and_does_it(run, opened, until):
    run.approve_plan()
    asked = run.ask_code()
    async with opened(run) as (app, pilot):
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not app.workspace)
        await until(pilot, lambda: app.screen.query_one("CommandList").option_count > 5)
        assert "code: earlier   [" in "\n".join(lines(app))
        await pilot.press(*"approve exactly")
        await until(pilot, lambda: app.screen.query_one("CommandList").option_count == 1)
        await pilot.press("enter")
        await until(pilot, lambda: run.journal.approval(asked.id).decision == "approve")


async def test_without_colour_the_words_say_everything(run, opened, until, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    run.approve_plan()
    run.try_code(1, good=4, bad=1)
    run.enter(RunState.PAUSED)
    async with opened(run, asks=False) as (app, pilot):
        assert app.no_color
        await until(pilot, lambda: "Paused" in "\n".join(lines(app)))
        text = "\n".join(lines(app))
        assert "✔ works 4/5" in text
        assert "‖ paused" in text
        used = re.findall(r"-r\d+ {[^}]*fill: (#[0-9a-f]{6})", app.export_screenshot())
        used.remove(TERMINAL_DEFAULT)
        assert used
        assert all(len({value[1:3], value[3:5], value[5:7]}) == 1 for value in used), used


async def test_other_themes_work(run, make_app, until):
    run.approve_plan()
    run.ask_code()
    app = make_app(run.id, theme="studio-light")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.workspace and app.workspace.model.seen_at is not None)
        assert app.theme == "studio-light"
        for theme in ("textual-dark", "ansi-dark", "nord"):
            app.theme = theme
            await pilot.pause()
            assert "def run() -> str:" in "\n".join(lines(app))


_TWINS = ("run.continue", "decide.as_proposed", "decide.save_nothing", "decide.try_again")


def test_the_registry_has_no_double():
    ids = [entry.id for entry in keymap.KEYS]
    assert len(ids) == len(set(ids))
    for place in keymap.WHERE_TITLES:
        keys = [
            (key, entry.id)
            for entry in keymap.keys_of(place)
            for key in entry.keys.split(",")
            if entry.id not in _TWINS  # never offered together
        ]
        assert len({key for key, _ in keys}) == len(keys), place


def test_every_key_has_a_place_and_a_sentence():
    for entry in keymap.KEYS:
        assert entry.where in keymap.WHERE_TITLES
        assert entry.help[0].isupper()
        assert len(entry.words) <= 16
    assert keymap.keys_for(keymap.key("studio.help"), {}) == ("f1", "?")
    assert keymap.keys_for(keymap.key("code.editor"), {"code.editor": "ctrl+o"}) == ("^o",)


async def test_help_skills_and_runs_open_over_the_run_and_esc_comes_back(run, opened, until):
    run.ask_plan()
    async with opened(run) as (app, pilot):
        for key, name in (("f1", "HelpScreen"), ("f2", "SkillsScreen"), ("f3", "RunsScreen")):
            await pilot.press(key)
            await until(pilot, lambda name=name: type(app.screen).__name__ == name)
            await pilot.press(key)  # a second press opens no second one
            await pilot.pause()
            assert sum(type(screen).__name__ == name for screen in app.screen_stack) == 1
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.workspace)
        assert app.workspace.model.approval is not None


async def test_a_run_chosen_from_the_runs_replaces_the_one_on_the_screen(
    run, database, kit, opened, until
):
    run.ask_plan()
    other = kit.run(database)
    other.enter(RunState.TRAINING)
    async with opened(run) as (app, pilot):
        await pilot.press("f3")
        await until(pilot, lambda: type(app.screen).__name__ == "RunsScreen")
        listed = app.screen.query_one("RunList")
        await until(pilot, lambda: listed.option_count == 2)
        listed.highlighted = listed.get_option_index(other.id)
        await pilot.press("enter")
        await until(pilot, lambda: app.workspace and app.workspace.model.run_id == other.id)
        assert sum(getattr(screen, "is_workspace", False) for screen in app.screen_stack) == 1
        await until(pilot, lambda: app.workspace.model.run is not None)
        assert app.workspace.model.approval is None


async def test_a_chosen_theme_is_remembered(make_app, paths, until):
    from studio.settings import load_settings

    app = make_app()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.is_painted)
        assert not paths.config_file.exists()
        app.theme = "studio-light"
        await until(pilot, lambda: paths.config_file.exists())
    assert load_settings(paths.config_file, {}).theme == "studio-light"
