from __future__ import annotations

from types import ModuleType

from textual.app import App, ComposeResult
from textual.widgets import Static

from studio.cli_show import evaluation_text
from studio.departure_words import account_of, share_left
from studio.widgets.evaluation_panel import EvaluationPanel


class ResultsApp(App[None]):
    def compose(self) -> ComposeResult:
        yield EvaluationPanel()


def test_what_it_did_more_often_than_the_others_is_told(make: ModuleType) -> None:
    account = account_of(make.compared())
    assert account is not None
    assert account.summary == (
        "It left the plan at 23 % of 1,000 decisions at which code alone would have run something, "
        "23.4 times per episode (untrained 5 %, code only 2 %)."
    )
    assert "Code itself leaves it too" in account.note
    # Eating came more often with the untrained one, waiting with code: neither was learnt.
    assert [(habit.code, habit.policy) for habit in account.habits] == [
        ("drink", "take_shelter"),
        ("drink", "gather_wood"),
    ]
    assert account.rest == (
        "14 other kinds of departure were rare, or no more frequent than with the others."
    )


def test_how_often_and_in_what_situation(make: ModuleType) -> None:
    account = account_of(make.compared())
    assert account is not None
    shelter, wood = account.habits
    assert shelter.how_often == (
        "14.0 times per episode (untrained 0.4, code only 0.0), in 9 of 10 episodes, "
        "35 % of the drink decisions"
    )
    assert shelter.when == (
        "daylight 0.10 (followed 0.72, all 0.70), health 4.1 (followed 6.5, all 6.8), "
        "sleeping 25 % (followed 0 %, all 10 %)"
    ), "the largest difference first, in standard deviations; no mean of a distance to nothing"
    # Not among the untrained one's pairs that were kept, and others were left out.
    assert "(untrained at most 0.4, code only 0.0)" in wood.how_often
    assert wood.when == "", "no word differs"


def test_a_word_must_differ_by_three_standard_errors(make: ModuleType) -> None:
    def when(decisions: int) -> str:
        pair = make.departure("take_shelter", decisions, health=5.5)
        account = account_of({"departures": make.departures(pair, followed=100)})
        assert account is not None
        return account.habits[0].when

    # Half a standard deviation: with 36 decisions that is just three standard errors.
    assert when(35) == ""
    assert when(36) == "health 5.5 (followed 6.5, all 6.8)"


def test_beside_all_decisions_where_the_step_was_never_followed(make: ModuleType) -> None:
    steps = {"drink": {"decisions": 50, "followed": 0, "situation": {}}}
    pair = make.departure("take_shelter", 50, health=4.0, daylight=0.7, sleeping=0.1)
    account = account_of({"departures": make.departures(pair, followed=9, steps=steps)})
    assert account is not None
    assert account.habits[0].when == "health 4.0 (all 6.8)"


def test_a_policy_that_follows_the_plan_is_said_to(make: ModuleType) -> None:
    account = account_of({"policy": "trained", "departures": make.departures(followed=1234)})
    assert account is not None
    assert account.summary == (
        "It followed the plan exactly: at all 1,234 decisions at which code alone would have run "
        "something it chose the same."
    )
    assert (account.habits, account.rest, account.note) == ((), "", "")


def test_rare_departures_are_counted_alone(make: ModuleType) -> None:
    pairs = [make.departure("eat", 4), make.departure("noop", 1)]
    account = account_of({"departures": make.departures(*pairs, followed=95)})
    assert account is not None
    assert account.habits == ()
    assert account.rest == "All 2 kinds of departure were rare."


def test_nothing_is_said_where_nothing_was_counted(make: ModuleType) -> None:
    assert account_of(make.EVALUATION) is None
    assert account_of({"departures": {"from": "a newer version"}}) is None
    assert account_of({"departures": 3, "baseline": 4}) is None
    code = {"policy": "code_only", "departures": make.departures(followed=5)}
    assert account_of(code) is None
    assert share_left(code) == 0.0
    assert share_left(None) is None
    silent = account_of({"departures": make.departures(followed=0)})
    assert silent is not None
    assert "nothing to say" in silent.summary


async def test_the_results_pane_tells_of_it_last(make: ModuleType) -> None:
    app = ResultsApp()
    async with app.run_test(size=(100, 40)):
        panel = app.query_one(EvaluationPanel)
        panel.show(make.compared())
        text = str(panel.query_one(Static).content)
        row = next(line for line in text.splitlines() if line.startswith("leaves the plan"))
        assert row.split()[3:] == ["23", "%", "5", "%", "+18", "2", "%"]
        assert text.index("what it does that code does not") > text.index("find_diamond")
        assert "instead of drink it chose take_shelter" in text
        assert "daylight 0.10 (followed 0.72, all 0.70)" in text
        panel.show(make.EVALUATION)
        old = str(panel.query_one(Static).content)
        assert "leaves the plan" not in old
        assert "code does not" not in old


def test_the_command_line_says_the_same(make: ModuleType) -> None:
    lines = evaluation_text(make.compared()).splitlines()
    start = lines.index("What it does that code does not")
    assert lines[start + 3 : start + 5] == [
        "instead of drink it chose take_shelter",
        "    14.0 times per episode (untrained 0.4, code only 0.0), in 9 of 10 episodes, "
        "35 % of the drink decisions",
    ]
    assert "code does not" not in evaluation_text(make.EVALUATION)
