"""Reviewing code: exactly what was shown is approved, and nothing by accident."""

from __future__ import annotations

import os
import stat

from textual.widgets import TextArea

from engine.agents.plan import code_hash
from engine.events import CodeProposed
from studio.screens.dialogs import ChoiceDialog, CommentDialog
from studio.screens.review import ReviewScreen
from studio.widgets.code_view import CodeView
from studio.widgets.diff_view import DiffView
from studio.widgets.review_view import ReviewView


async def decided(pilot, until, run, asked):
    await until(pilot, lambda: run.journal.approval(asked.id).decision is not None)
    return run.journal.approval(asked.id)


def head(app):
    return str(app.screen.query_one(".review-head").content)


def body(app, kind=CodeView):
    return str(app.screen.query_one(kind).query_one("Static").content)


def notice(app):
    return str(app.screen.query_one("#notice").content)


def second_version(run, kit):
    """A first version that failed, and the second one asked about."""
    run.approve_plan()
    run.emit(CodeProposed(proposal=kit.proposal(1)))
    run.try_code(1, good=1, bad=4)
    return run.ask_code(kit.proposal(2), kit.first_code)


async def test_code_is_shown_with_instruction_and_check_and_approved_by_hash(
    run, opened, until, launched
):
    run.approve_plan()
    asked = run.ask_code()
    async with opened(run) as (app, pilot):
        assert app.workspace.pane == "code"
        assert "gather_wood  version 1" in head(app)
        assert "collect wood until there are five" in head(app)
        assert "check passed" in head(app)
        assert "def run() -> str:" in body(app)
        await pilot.press("a")
        record = await decided(pilot, until, run, asked)
    assert record.decision == "approve"
    assert record.decided_hash == asked.payload_hash
    assert launched == []


async def test_type_ahead_cannot_approve(run, opened, until, kit, clock):
    run.approve_plan()
    first = run.ask_code()
    async with opened(run) as (app, pilot):
        await pilot.press("a")
        await decided(pilot, until, run, first)
        second = run.ask_code(kit.proposal(sub_action="make_table"))
        await until(pilot, lambda: app.workspace.model.approval == second)
        await pilot.press("a", "a", "r")
        await pilot.pause()
        assert run.journal.approval(second.id).decision is None
        assert app.screen is app.workspace
        clock.advance(0.49)
        await pilot.press("a")
        await pilot.pause()
        assert run.journal.approval(second.id).decision is None
        clock.advance(0.02)
        await pilot.press("a")
        assert (await decided(pilot, until, run, second)).decision == "approve"


async def test_what_is_not_on_the_screen_is_brought_up_before_it_can_be_approved(
    run, opened, until, clock
):
    run.approve_plan()
    asked = run.ask_code()
    async with opened(run, size=(80, 24)) as (app, pilot):
        await pilot.press("6")
        await pilot.pause()
        assert app.workspace.pane == "log"
        await pilot.press("a", "a")
        await pilot.pause()
        assert app.workspace.pane == "code"
        assert run.journal.approval(asked.id).decision is None
        clock.advance(0.6)
        await pilot.press("a")
        await decided(pilot, until, run, asked)


async def test_editing_in_place_is_a_modify_and_esc_keeps_the_original(run, opened, until):
    run.approve_plan()
    asked = run.ask_code()
    async with opened(run) as (app, pilot):
        await pilot.press("e")
        area = app.screen.query_one("#edit-body", TextArea)
        await until(pilot, lambda: app.screen.focused is area)
        await pilot.press("x", "escape")
        await pilot.pause()
        assert "def run() -> str:" in body(app)
        assert app.workspace.model.edited is None

        await pilot.press("e")
        await until(pilot, lambda: app.screen.focused is area)
        area.text = "def run() -> str:\n    return 'short'\n"
        await pilot.press("a")  # typed into the text, approves nothing
        area.text = "def run() -> str:\n    return 'short'\n"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.workspace.model.edited is not None)
        await pilot.pause()
        assert "edited by you" in head(app)
        assert "return 'short'" in body(app, DiffView)
        await pilot.press("a")
        record = await decided(pilot, until, run, asked)
    assert record.decision == "modify"
    assert record.decided_payload == {"code": "def run() -> str:\n    return 'short'\n"}


async def test_an_edit_that_is_no_python_is_refused(run, opened, until):
    run.approve_plan()
    asked = run.ask_code()
    async with opened(run) as (app, pilot):
        await pilot.press("e")
        area = app.screen.query_one("#edit-body", TextArea)
        await until(pilot, lambda: app.screen.focused is area)
        area.text = "def run() -> str:\n    return ('unfinished'\n"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.workspace.model.edited is not None)
        await pilot.press("a")
        await pilot.pause()
        toasts = [toast.message for toast in app._notifications]
        assert any("Not approved" in text and "line 2" in text for text in toasts)
        assert run.journal.approval(asked.id).decision is None
        assert app.workspace.model.edited == area.text
        assert "not valid Python: line 2" in head(app)
        assert "not valid Python, line 2" in notice(app)
        assert "approves" not in notice(app)
        await pilot.press("e")
        await until(pilot, lambda: app.screen.focused is area)
        assert area.cursor_location == (1, 11)
        area.text = "def run() -> str:\n    return 'finished'\n"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "not valid" not in notice(app))
        assert "with your edit: a approves it" in notice(app)


async def test_a_kept_edit_can_be_taken_back(run, opened, until):
    run.approve_plan()
    asked = run.ask_code()
    async with opened(run) as (app, pilot):
        await pilot.press("e")
        area = app.screen.query_one("#edit-body", TextArea)
        await until(pilot, lambda: app.screen.focused is area)
        area.text = "def run() -> str:\n    return 'mine'\n"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.workspace.model.edited is not None)
        await pilot.press("u")
        await until(pilot, lambda: "your edit" not in notice(app))
        await pilot.press("a")
        await until(pilot, lambda: run.journal.approval(asked.id).decision is not None)
    assert run.journal.approval(asked.id).decision == "approve"


async def test_findings_are_readable_above_the_code_also_in_a_diff(run, opened, kit):
    run.approve_plan()
    run.emit(CodeProposed(proposal=kit.proposal(1)))
    findings = tuple(
        kit.diagnostic(line=line, column=1, code="unresolved", message=f"name `a{line}` is unknown")
        for line in (3, 5, 7)
    )
    run.ask_code(
        kit.proposal(2, diagnostics=findings, author="llm:a-model-with-a-very-long-name-indeed"),
        kit.first_code,
    )
    async with opened(run) as (app, _pilot):
        found = head(app).split("\n")
        assert found[1].startswith("✗ the check has 3 findings ")
        assert found[1].endswith("…")
        assert found[2] == "line 3: name `a3` is unknown (unresolved)"
        assert found[3] == "line 5: name `a5` is unknown (unresolved)"
        assert found[4] == "and 1 more"
        assert "collect wood until there are five" in found[5]


async def test_sending_an_edit_back_asks_first(run, opened, until):
    run.approve_plan()
    asked = run.ask_code()
    async with opened(run) as (app, pilot):
        await pilot.press("e")
        area = app.screen.query_one("#edit-body", TextArea)
        await until(pilot, lambda: app.screen.focused is area)
        await pilot.press("#", "enter", "ctrl+s")
        await until(pilot, lambda: app.workspace.model.edited is not None)
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        text = str(app.screen.query_one(".dialog-text Static").content)
        assert "not sent along" in text
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, CommentDialog))
        await pilot.press("enter")
        assert (await decided(pilot, until, run, asked)).decision == "reject"


async def test_the_own_editor_goes_on_with_an_edit_in_place(
    run, opened, until, tmp_path, monkeypatch
):
    script = tmp_path / "more"
    script.write_text("#!/bin/sh\necho '# more' >> \"$1\"\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("VISUAL", str(script))
    run.approve_plan()
    run.ask_code()
    async with opened(run) as (app, pilot):
        await pilot.press("e")
        area = app.screen.query_one("#edit-body", TextArea)
        await until(pilot, lambda: app.screen.focused is area)
        area.text = "x = 1\n"
        await pilot.pause()
        assert "^e goes to your editor" in notice(app)
        assert "^e Editor" in str(app.screen.query_one("KeyBar").content)
        await pilot.press("ctrl+e")
        await until(pilot, lambda: app.workspace.model.edited == "x = 1\n# more\n")
        assert not app.workspace.review.editing


async def test_editing_in_the_persons_own_editor(run, opened, until, tmp_path, monkeypatch):
    script = tmp_path / "my editor"
    script.write_text('#!/bin/sh\ncase "$1" in *gather_wood.py) ;; *) exit 3;; esac\n'
                      "printf 'def run() -> str:\\n    return \"mine\"\\n' > \"$1\"\n")  # fmt: skip
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("VISUAL", f"'{script}'")
    run.approve_plan()
    asked = run.ask_code()
    async with opened(run) as (app, pilot):
        await pilot.press("ctrl+e")
        await until(pilot, lambda: app.workspace.model.edited is not None)
        await pilot.pause()
        await pilot.press("a")
        record = await decided(pilot, until, run, asked)
    assert record.decided_payload == {"code": 'def run() -> str:\n    return "mine"\n'}
    assert os.listdir(tmp_path)
    assert not list(tmp_path.glob("*.py"))


async def test_a_missing_editor_is_told_and_nothing_changes(run, opened, until, monkeypatch):
    monkeypatch.setenv("VISUAL", "no-such-editor-here")
    run.approve_plan()
    run.ask_code()
    async with opened(run) as (app, pilot):
        await pilot.press("ctrl+e")
        await until(pilot, lambda: app.screen is not app.workspace)
        text = str(app.screen.query_one(".dialog-text Static").content)
        assert "no-such-editor-here" in text
        assert "edit in place" in text
        await pilot.press("escape")
        await pilot.pause()
        assert app.workspace.model.edited is None


async def test_sending_code_back_with_a_comment(run, opened, until):
    run.approve_plan()
    asked = run.ask_code()
    async with opened(run) as (app, pilot):
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, CommentDialog))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.workspace)
        assert run.journal.approval(asked.id).decision is None
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, CommentDialog))
        await pilot.press(*"look for water [/b] first", "enter")
        record = await decided(pilot, until, run, asked)
    assert (record.decision, record.comment) == ("reject", "look for water [/b] first")


async def test_approve_all_asks_once(run, opened, until):
    run.approve_plan()
    asked = run.ask_code()
    async with opened(run) as (app, pilot):
        await pilot.press("A")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        option = app.screen.query_one("ChoiceList").get_option_at_index(0)
        assert "saves what works as skills" in str(option.prompt)
        await pilot.press("b")
        await until(pilot, lambda: app.screen is app.workspace)
        assert run.journal.approval(asked.id).decision is None
        assert run.journal.take_commands(run.id) == ()
        await pilot.press("A")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("A")
        record = await decided(pilot, until, run, asked)
        await until(pilot, lambda: not app.workers or all(
            worker.group != "decide" for worker in app.workers))  # fmt: skip
        assert run.journal.take_commands(run.id) == ("approve_all",)
    assert record.decision == "approve"


async def test_a_second_version_opens_as_a_diff(run, opened, until, kit):
    second_version(run, kit)
    async with opened(run) as (app, pilot):
        assert "version 2 of 2" in head(app)
        assert "changes since version 1" in head(app)
        diff = body(app, DiffView)
        assert "- " in diff
        assert 'return "no way to the tree"' in diff
        assert "explore()  # another tree may be nearer" in diff
        await pilot.press("d")
        assert app.screen.query_one(ReviewView).shows_diff is False
        assert "no way to the tree" not in body(app)
        await pilot.press("d")
        assert app.screen.query_one(ReviewView).shows_diff is True


async def test_findings_of_the_check_stand_at_their_line(run, opened, kit):
    run.approve_plan()
    finding = kit.diagnostic(line=6, column=16, code="unresolved", message="no `nearest` here")
    run.ask_code(kit.proposal(diagnostics=(finding,)))
    async with opened(run) as (app, _pilot):
        lines = body(app).split("\n")
        place = next(i for i, line in enumerate(lines) if "unresolved: no `nearest` here" in line)
        assert lines[place - 1].lstrip().startswith("6 ")
        assert "the check has 1 finding" in head(app)
        assert "line 6: no `nearest` here (unresolved)" in head(app).split("\n")
        assert "does not pass the check" in notice(app)


async def test_code_scrolls_by_keyboard_while_it_waits(run, opened, kit):
    run.approve_plan()
    code = kit.first_code + "".join(f"# line {number}\n" for number in range(200))
    run.ask_code(kit.proposal(code=code))
    async with opened(run, size=(80, 24)) as (app, pilot):
        view = app.screen.query_one(CodeView)
        assert view.has_focus
        await pilot.press("j", "j", "down", "pagedown")
        await pilot.pause()
        assert view.scroll_offset.y > 3
        await pilot.press("G")
        await pilot.pause()
        assert view.scroll_offset.y == view.max_scroll_y
        await pilot.press("g")
        await pilot.pause()
        assert view.scroll_offset.y == 0


async def test_text_that_looks_like_markup_is_shown_as_it_is(run, opened, kit, until):
    hostile = "for k in d[/a]: print('[bold red]x[/]') # [link=x]"
    code = f"def run() -> str:\n    {hostile}\n    return '[/]'\n"
    plan = kit.plan()
    first = plan.subtasks[0].model_copy(update={"goal": "get [/wood] now"})
    plan = plan.model_copy(update={"subtasks": (first, *plan.subtasks[1:]), "task": "[/task]"})
    run.ask_plan(plan)
    run.journal.decide(run.journal.pending(run.id).id, "approve", by="x")
    run.emit(CodeProposed(proposal=kit.proposal(code=code, comment="[/c]", instruction="[/i]")))
    run.try_code(1, 0, 1)
    second = code.replace("x[", "y[")
    run.ask_code(kit.proposal(2, second, comment="[/c2]", instruction="do [/i2]"), code)
    async with opened(run) as (app, pilot):
        assert "do [/i2]" in head(app)
        assert "[/c2]" in head(app)
        assert "d[/a]" in body(app, DiffView)
        await pilot.press("1", "g")
        await pilot.pause()
        details = app.screen.query_one(".plan-details Static")
        assert "get [/wood] now" in str(details.content)
        await pilot.press("v")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        await pilot.press("d")
        await pilot.pause()
        assert "d[/a]" in body(app)


async def test_somebody_was_faster(run, opened, until):
    run.approve_plan()
    asked = run.ask_code()
    async with opened(run) as (app, pilot):
        app.bridge.unfollow(app.workspace)
        run.journal.decide(asked.id, "reject", by="grace@desk", comment="no")
        await pilot.press("a")
        await until(pilot, lambda: app._notifications)
        toasts = [toast.message for toast in app._notifications]
        assert any("already decided" in text and "grace@desk" in text for text in toasts)
        assert app.screen is app.workspace
    assert run.journal.approval(asked.id).decision == "reject"


async def test_reading_earlier_versions_never_approves_them(run, opened, until, kit, clock):
    asked = second_version(run, kit)
    async with opened(run) as (app, pilot):
        await pilot.press("left_square_bracket")
        await pilot.pause()
        assert "version 1 of 2" in head(app)
        assert "It stops before water." in head(app)
        await pilot.press("a")
        await pilot.pause()
        assert "version 2 of 2" in head(app)
        assert run.journal.approval(asked.id).decision is None
        clock.advance(0.6)
        await pilot.press("a")
        record = await decided(pilot, until, run, asked)
    assert record.decided_hash == asked.payload_hash
    assert code_hash(asked.payload["proposal"]["code"]) == code_hash(kit.second_code)


async def test_the_review_screen_decides_as_well(run, opened, until, kit, clock):
    asked = second_version(run, kit)
    async with opened(run) as (app, pilot):
        await pilot.press("v")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        await pilot.pause()
        assert "version 2 of 2" in head(app)
        await pilot.press("left_square_bracket")
        await pilot.pause()
        assert "version 1 of 2" in head(app)
        await pilot.press("a")
        await pilot.pause()
        clock.advance(0.6)
        await pilot.press("a")
        record = await decided(pilot, until, run, asked)
        assert isinstance(app.screen, ReviewScreen)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.workspace)
    assert record.decision == "approve"


async def test_copying_the_code(run, opened, kit):
    run.approve_plan()
    run.ask_code()
    async with opened(run) as (app, pilot):
        await pilot.press("y")
        await pilot.pause()
        assert app.clipboard == kit.first_code
