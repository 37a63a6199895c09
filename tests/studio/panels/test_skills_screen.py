from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import ModuleType

import pytest
from textual.pilot import Pilot
from textual.widgets import ContentSwitcher, Static

from skills_db.database import Database
from studio.app import StudioApp
from studio.screens.skills import SkillsScreen
from studio.widgets.evaluation_panel import EvaluationPanel
from studio.widgets.pick_list import PickList

Settle = Callable[[Pilot[str]], Awaitable[None]]
OpenScreen = Callable[[Pilot[str], str], Awaitable[None]]


def rows(app: StudioApp) -> list[str]:
    listed = app.screen.query_one(PickList)
    return [str(listed.get_option_at_index(i).prompt) for i in range(listed.option_count)]


def names(app: StudioApp) -> list[str]:
    return [row.split()[0] for row in rows(app)]


def text(app: StudioApp, selector: str) -> str:
    return str(app.screen.query_one(selector, Static).content)


def code(app: StudioApp) -> str:
    return text(app, "#skill-code Static")


async def test_the_list_has_kind_version_rate_and_age(
    studio: StudioApp,
    database: Database,
    clock: object,
    make: ModuleType,
    settle: Settle,
    open_screen: OpenScreen,
) -> None:
    make.fill_skills(database, clock)
    async with studio.run_test(size=(100, 30)) as pilot:
        await open_screen(pilot, "f2")
        assert isinstance(studio.screen, SkillsScreen)
        assert names(studio) == ["collect_a_diamond", "collect_wood", "place_table"]
        assert rows(studio)[1].split(maxsplit=1)[1].split() == ["v2", "80", "%", "of", "5"]
        await pilot.resize_terminal(160, 40)
        await settle(pilot)
        assert rows(studio)[1].split(maxsplit=1)[1] == "coded action  v2    80 % of 5     23 h ago"
        assert "3 skills" in text(studio, "#skills-title")


async def test_the_page_says_where_a_skill_comes_from(
    studio: StudioApp,
    database: Database,
    clock: object,
    make: ModuleType,
    settle: Settle,
    open_screen: OpenScreen,
) -> None:
    make.fill_skills(database, clock)
    version = database.library.version("collect_wood", 2)
    async with studio.run_test(size=(100, 30)) as pilot:
        await open_screen(pilot, "f2")
        await pilot.press("j")
        await settle(pilot)
        head = text(studio, "#skill-head")
        assert "collect_wood  coded action in crafter" in head
        assert "version 2 of 2" in head
        assert "80 % success over 5 episodes" in head
        assert "by the rules agents, approved by ada@lab" in head
        assert f"run run-1, code sha256 {version.code_hash[:12]}" in head
        assert 'act("move_left")' in code(studio)


async def test_versions_and_their_difference(
    studio: StudioApp,
    database: Database,
    clock: object,
    make: ModuleType,
    settle: Settle,
    open_screen: OpenScreen,
) -> None:
    make.fill_skills(database, clock)
    async with studio.run_test(size=(100, 30)) as pilot:
        await open_screen(pilot, "f2")
        await pilot.press("j")
        await settle(pilot)
        await pilot.press("d")
        await settle(pilot)
        diff = text(studio, "#skill-diff Static")
        assert '+             act("move_left")' in diff
        assert '-             return "no tree in sight"' in diff
        await pilot.press("left_square_bracket")
        await settle(pilot)
        assert "version 1 of 2" in text(studio, "#skill-head")
        assert 'return "no tree in sight"' in code(studio)
        await pilot.press("left_square_bracket")
        await settle(pilot)
        assert "version 1 of 2" in text(studio, "#skill-head")
        await pilot.press("right_square_bracket")
        await settle(pilot)
        assert "version 2 of 2" in text(studio, "#skill-head")


async def test_search_and_filter_by_kind(
    studio: StudioApp,
    database: Database,
    clock: object,
    make: ModuleType,
    settle: Settle,
    open_screen: OpenScreen,
) -> None:
    make.fill_skills(database, clock)
    async with studio.run_test(size=(100, 30)) as pilot:
        await open_screen(pilot, "f2")
        await pilot.press("slash", *"move_left")
        await settle(pilot)
        assert names(studio) == ["collect_wood"]
        await pilot.press("escape")
        await settle(pilot)
        assert len(names(studio)) == 3
        await pilot.press("t")
        await settle(pilot)
        assert names(studio) == ["collect_wood", "place_table"]
        await pilot.press("t")
        await settle(pilot)
        assert names(studio) == ["collect_a_diamond"]
        assert "policys" not in text(studio, "#skills-title")
        await pilot.press("slash", *"nothing")
        await settle(pilot)
        assert names(studio) == []
        assert "No skill fits" in text(studio, "#skills-empty")


async def test_a_policy_shows_its_evaluation(
    studio: StudioApp,
    database: Database,
    clock: object,
    make: ModuleType,
    settle: Settle,
    open_screen: OpenScreen,
) -> None:
    make.fill_skills(database, clock)
    async with studio.run_test(size=(100, 30)) as pilot:
        await open_screen(pilot, "f2")
        assert studio.screen.query_one(ContentSwitcher).current == "skill-evaluation"
        shown = str(studio.screen.query_one(EvaluationPanel).query_one(Static).content)
        assert "held-out seeds 1000000:1000020" in shown
        assert "2 coded actions: collect_wood, place_table" in text(studio, "#skill-head")


async def test_copy_goes_to_the_clipboard(
    studio: StudioApp,
    database: Database,
    clock: object,
    make: ModuleType,
    settle: Settle,
    open_screen: OpenScreen,
) -> None:
    make.fill_skills(database, clock)
    async with studio.run_test(size=(100, 30)) as pilot:
        await open_screen(pilot, "f2")
        await pilot.press("j")
        await settle(pilot)
        await pilot.press("y")
        assert studio.clipboard == make.SECOND_CODE


async def test_the_empty_library_says_how_to_get_the_first_skill(
    studio: StudioApp, settle: Settle, open_screen: OpenScreen
) -> None:
    async with studio.run_test(size=(80, 24)) as pilot:
        await open_screen(pilot, "f2")
        assert "To get the first one" in text(studio, "#skills-empty")
        assert studio.screen.query_one("#skills-empty").display
        await pilot.press("w", "y", "d")
        await settle(pilot)
        assert isinstance(studio.screen, SkillsScreen)
        await pilot.press("escape")
        await settle(pilot)
        assert not isinstance(studio.screen, SkillsScreen)


async def test_a_database_that_fails_is_told(
    studio: StudioApp, monkeypatch: pytest.MonkeyPatch, settle: Settle, open_screen: OpenScreen
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr("skills_db.library.Library.skills", broken)
    async with studio.run_test(size=(80, 24)) as pilot:
        await open_screen(pilot, "f2")
        assert "the disk is gone" in "\n".join(
            str(static.content) for static in studio.screen.query(Static)
        )
