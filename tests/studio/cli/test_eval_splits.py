"""`eval` where there are splits instead of seeds."""

from __future__ import annotations

import pytest


def test_chance_is_measured_split_by_split(cli):
    done = cli(
        "eval", "--policy", "random", "--world", "rearrange", "--split", "rephrasing",
        "--episodes", "3", "--output", "json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert list(done.json["success"]) == ["rephrasing"]
    assert done.json["episodes"] == 3
    assert done.json["policy"] == "random"
    low, high = done.json["intervals"]["rephrasing"]
    assert low <= done.json["success"]["rephrasing"] <= high


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--world", "rearrange", "--split", "nowhere"), "no split 'nowhere'"),
        (("--world", "crafter", "--split", "rephrasing"), "'crafter' has no splits"),
    ],
)
def test_splits_that_are_not_there_are_refused(cli, options, said):
    done = cli("eval", "--policy", "random", *options)
    assert done.code != 0
    assert said in done.err


def test_no_rules_act_in_flats(cli):
    done = cli("eval", "--policy", "rules", "--world", "rearrange")
    assert done.code != 0
    assert "no rules act" in done.err
