"""The valve: seldom asked, patient in a pause, quick to stop."""

from __future__ import annotations

import pytest

from engine.rl.control import POLL_SECONDS, Stopped, Valve


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


def valve(clock, *orders):
    left = list(orders)
    asked = []

    def control():
        asked.append(clock())
        return left.pop(0) if left else "go"

    return Valve(control, clock, clock.sleep), asked


def test_it_asks_at_least_four_times_a_second_and_not_each_frame(clock):
    tap, asked = valve(clock)
    for _ in range(10_000):
        clock.now += 0.001
        tap.tick()
    assert 40 <= len(asked) <= 51
    assert POLL_SECONDS <= 0.25


def test_a_pause_waits_and_is_not_work(clock):
    tap, asked = valve(clock, "pause", "pause", "pause", "go")
    tap.ask()
    assert len(asked) == 4
    assert tap.paused_seconds == pytest.approx(3 * POLL_SECONDS)


@pytest.mark.parametrize("order", ["stop_and_keep", "abort"])
def test_a_stop_is_raised_even_out_of_a_pause(clock, order):
    tap, _ = valve(clock, "pause", order)
    with pytest.raises(Stopped) as caught:
        tap.ask()
    assert caught.value.how == order
