"""The parts that need no running app: numbers, diffs, code with findings, the editor's command."""

from __future__ import annotations

import pytest

from engine.agents.plan import CodeDiagnostic
from studio.counts import CountError, parse_count
from studio.editor import EditorError, command
from studio.run_view import RunView
from studio.syntax import syntax_problem
from studio.widgets.code_view import numbered
from studio.widgets.diff_view import unified


@pytest.mark.parametrize(
    ("text", "value"),
    [("100000", 100_000), ("100,000", 100_000), ("100 000", 100_000), ("1_000", 1000),
     ("20k", 20_000), ("1.5M", 1_500_000), (" 7 ", 7)],
)  # fmt: skip
def test_counts_as_people_type_them(text, value):
    assert parse_count(text, "frames") == value


@pytest.mark.parametrize("text", ["", "many", "1.5", "k", "1.0001k", "nan", "inf", "infk", "nank"])
def test_what_is_no_count_says_so(text):
    with pytest.raises(CountError, match="frames"):
        parse_count(text, "frames")


def test_a_diff_shows_what_changed_and_where_changes_begin():
    before = "".join(f"line_{number}\n" for number in range(30))
    after = before.replace("line_4\n", "new_4\n").replace("line_25\n", "")
    text, changes = unified(before, after)
    rows = text.plain.split("\n")
    assert [rows[place] for place in changes] == [" 5 - line_4", "26 - line_25"]
    assert rows[changes[0] + 1] == " 5 + new_4"
    assert sum("⋯" in row for row in rows) == 1
    assert not any("line_15" in row for row in rows)


@pytest.mark.parametrize(
    ("before", "after"),
    [("", "x = 1\n"), ("x = 1\n", ""), ("x = 1", "x = 1\n"), ("a\n\n\nb\n", "a\n\nb\n"),
     ('"""a\nb"""\n', '"""a\nc"""\n'), ("a\x0cb\nc\n", "a\x0cb\nd\n"), ("a\r\nb\r\n", "a\r\nc\r\n"),
     ("x\u2028y\n", "x\u2028z\n")],
)  # fmt: skip
def test_odd_texts_have_a_diff_and_a_view(before, after):
    unified(before, after)
    numbered(before)
    numbered(after)


def test_the_same_text_has_no_difference():
    assert unified("x\n", "x\n")[0].plain == "No difference."


def test_characters_nobody_would_see_are_spelled_out():
    shown = numbered("x = 1  # \u202e\u2066 all good \x1b[2J\n\ty = '\u00e9 \u00a0'\n").plain
    assert shown.split("\n")[0] == r"1  x = 1  # \u202e\u2066 all good \x1b[2J"
    assert shown.split("\n")[1] == r"2      y = '\u00e9 \xa0'".replace(r"\u00e9", "\u00e9")


def test_findings_stand_under_their_line_and_none_is_lost():
    findings = [
        CodeDiagnostic(line=2, column=5, code="name", message="no [/such] name"),
        CodeDiagnostic(line=0, column=0, code="shape", message="no run()"),
        CodeDiagnostic(line=99, column=1, code="late", message="after the end"),
    ]
    rows = numbered("def f():\n    x\n", findings).plain.split("\n")
    assert "shape: no run()" in rows[0]
    assert rows[1].endswith("def f():")
    assert rows[2].endswith("    x")
    assert rows[3].index("▲") == rows[2].index("x")
    assert "no [/such] name" in rows[3]
    assert "late: after the end" in rows[4]


def test_python_that_does_not_parse_is_told_with_its_line():
    assert syntax_problem("x = 1\n") is None
    problem = syntax_problem("x = 1\ny = (\n")
    assert (problem.line, problem.column) == (2, 5)
    assert str(problem).startswith("line 2")
    assert syntax_problem("x = '\0'\n") is not None


def test_the_editor_is_the_settings_then_visual_then_editor():
    env = {"PATH": "/bin:/usr/bin", "VISUAL": "sh -c 'x y'", "EDITOR": "cat"}
    assert command(env, "ls -l") == ["ls", "-l"]
    assert command(env) == ["sh", "-c", "x y"]
    assert command({**env, "VISUAL": ""}) == ["cat"]
    with pytest.raises(EditorError, match="no-such-editor"):
        command({**env, "VISUAL": "no-such-editor -w"})
    with pytest.raises(EditorError, match="cannot be read"):
        command({**env, "VISUAL": "vi 'open"})
    with pytest.raises(EditorError, match="No editor was found"):
        command({"PATH": "/nowhere"})


def test_an_empty_view_knows_nothing():
    view = RunView()
    assert view.latest("anything") is None
    assert view.step("anything").words == ""
