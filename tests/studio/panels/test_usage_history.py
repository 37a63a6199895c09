from __future__ import annotations

import pytest

from studio.widgets.usage_history import PLAN, PRIMITIVES, UsageHistory


def told(*updates: tuple[float, dict[str, float], float | None]) -> UsageHistory:
    history = UsageHistory()
    for frames, usage, plan_share in updates:
        history.add(frames, usage, plan_share)
    return history


def test_share_change_and_trend() -> None:
    history = told(
        (100, {"dig": 0.2}, 1.0), (200, {"dig": 0.4, "eat": 0.1}, 0.5), (400, {"eat": 0.3}, None)
    )
    # Digging: 20 of 100 frames, 40 of the next 100, none of the last 200.
    assert history.now(["dig"]) == pytest.approx(0.2)
    assert history.change(["dig"]) == pytest.approx(0.0)
    assert history.trend(["dig"], 4) == pytest.approx([0.2, 0.4, 0.0, 0.0])
    assert history.trend(["dig"], 2) == pytest.approx([0.3, 0.0])
    assert history.trend(["dig", "eat"], 4) == pytest.approx([0.2, 0.5, 0.3, 0.3])
    assert history.trend([PRIMITIVES], 4) == pytest.approx([0.8, 0.5, 0.7, 0.7])


def test_the_plan_has_a_gap_where_nothing_was_measured() -> None:
    history = told((100, {"dig": 0.2}, 1.0), (200, {"dig": 0.4}, 0.5), (400, {"eat": 0.3}, None))
    assert history.trend([PLAN], 4) == [1.0, 0.5, None, None]
    assert history.now([PLAN]) == pytest.approx(0.75)
    assert history.change([PLAN]) == pytest.approx(-0.25)


def test_the_present_share_is_of_the_last_ten_updates() -> None:
    history = told(*((100 * n, {"dig": n / 100}, 1.0) for n in range(1, 21)))
    assert history.now(["dig"]) == pytest.approx(0.155)
    assert history.change(["dig"]) == pytest.approx(0.145)


def test_the_order_looks_at_the_last_quarter() -> None:
    history = told(
        *((100 * n, {"early": 0.9, "late": 0.1}, 1.0) for n in range(1, 7)),
        *((100 * n, {"early": 0.1, "late": 0.8, "never": 0.0}, 1.0) for n in range(7, 9)),
    )
    assert history.names() == ["late", "early", PRIMITIVES]


def test_lost_work_is_forgotten_and_the_beginning_is_kept() -> None:
    history = told(*((100 * n, {"dig": 0.1 * n}, 1.0) for n in range(1, 9)))
    history.rewind(300)
    history.add(400, {"dig": 0.0}, 0.0)
    assert history.trend(["dig"], 4) == pytest.approx([0.1, 0.2, 0.3, 0.0])
    assert history.change(["dig"]) == pytest.approx(0.15 - 0.1)
    history.add(200, {"dig": 1.0}, 1.0)
    assert history.trend(["dig"], 2) == pytest.approx([0.1, 1.0])


def test_a_training_from_the_start_forgets_another() -> None:
    history = told((100, {"dig": 0.5}, 1.0))
    history.rewind(0)
    assert len(history) == 0
    assert history.names() == []
    assert history.now(["dig"]) is None
    assert history.trend(["dig"], 3) == []


def test_older_runs_recorded_nothing() -> None:
    assert len(told((100, {}, None), (200, {}, None))) == 0
    assert told((100, {}, 0.5)).names() == [PRIMITIVES]


def test_memory_is_bounded_and_nothing_is_lost() -> None:
    history = UsageHistory(capacity=16)
    for n in range(1, 1001):
        history.add(10 * n, {"dig": 1.0 if n <= 500 else 0.0}, 1.0)
    assert len(history) <= 17
    assert history.trend(["dig"], 1) == pytest.approx([0.5])
    trend = history.trend(["dig"], 4)
    assert trend[0] == pytest.approx(1.0)
    assert trend[3] == pytest.approx(0.0)
