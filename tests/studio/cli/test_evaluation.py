"""`eval`: seeds, figures on stdout, progress on stderr."""

from __future__ import annotations

import pytest

from studio.cli_eval import seed_range


@pytest.mark.parametrize(
    ("seeds", "episodes", "expected"),
    [
        (None, None, range(1_000_000, 1_000_020)),
        (None, 3, range(1_000_000, 1_000_003)),
        ("5:9", None, range(5, 9)),
        ("5:9", 2, range(5, 7)),
        ("5", 2, range(5, 7)),
    ],
)
def test_the_seeds_of_the_episodes(seeds, episodes, expected):
    assert seed_range(seeds, episodes) == expected


def test_chance_is_evaluated_and_the_same_seeds_give_the_same_figures(cli):
    arguments = ("eval", "--world", "crafter", "--policy", "random", "--episodes", "2",
                 "--seeds", "10:20", "--episode-length", "60", "--output", "json")  # fmt: skip
    first = cli(*arguments)
    assert first.code == 0, first.err
    data = first.json
    assert (data["policy"], data["source"], data["world"]) == ("random", "policy random", "crafter")
    assert (data["seeds"], data["episodes"], data["length_mean"]) == ("10:12", 2, 60.0)
    assert len(data["success"]) == 22
    assert 0.0 <= data["score"] <= 100.0
    assert "episode 2 of 2" in first.err
    again = cli(*arguments).json
    assert {**again, "seconds": 0} == {**data, "seconds": 0}


def test_the_rules_play_the_task_that_is_named(cli):
    answer = cli("eval", "--policy", "rules", "--task", "collect wood", "--episodes", "1",
                 "--seeds", "3", "--episode-length", "200")  # fmt: skip
    assert answer.code == 0, answer.err
    assert "policy rules in crafter" in answer.out
    assert "task success" in answer.out


def test_an_unknown_task_is_bad_usage(cli):
    answer = cli("eval", "--policy", "rules", "--task", "fly to the moon")
    assert (answer.code, answer.out) == (2, "")
    assert "fly to the moon" in answer.err


def test_a_run_with_nothing_to_evaluate_says_so(cli, database):
    run = database.journal.create_run(
        kind="task", task="collect wood", world="crafter", agents="rules", config={}
    )
    answer = cli("eval", "--run", run.id)
    assert answer.code == 2
    assert "nothing to evaluate" in answer.err
    other = cli("eval", "--run", run.id, "--world", "minedojo")
    assert other.code == 2
    assert "'crafter', not 'minedojo'" in other.err


@pytest.mark.parametrize(
    "seeds", [str(2**31), f"0:{2**31 + 1}", "9" * 30 + ":" + "9" * 40, "9" * 9999]
)
def test_seeds_have_a_bound(cli, seeds):
    answer = cli("eval", "--policy", "random", "--seeds", seeds)
    assert (answer.code, answer.out) == (2, "")
    assert "is too large: the last seed is 2147483647" in answer.err
    assert len(answer.err) < 300


def test_the_last_seed_may_be_used():
    assert seed_range(f"{2**31 - 1}:{2**31}", None) == range(2**31 - 1, 2**31)


def test_a_version_larger_than_any_is_not_there(cli):
    answer = cli("eval", "--skill", f"wood@{'9' * 40}")
    assert answer.code == 2
    assert "is no version" in answer.err
