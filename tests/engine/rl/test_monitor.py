"""The clock of a training: work counts, pauses and other processes' idle time do not."""

from __future__ import annotations

import pytest

from engine.rl.control import Valve
from engine.rl.decisions import Finished
from engine.rl.monitor import TrainingMonitor
from engine.rl.ppo import SmdpPPO
from engine.rl.training_state import Counters, FinishedEpisode


class Clock:
    now = 100.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


def test_pauses_are_no_time_at_work(begun, clock):
    orders = ["pause"] * 10 + ["go"]
    valve = Valve(lambda: orders.pop(0), clock, clock.sleep)
    monitor = TrainingMonitor(1000, begun(), valve, clock)
    clock.now += 5.0
    assert monitor.seconds == pytest.approx(5.0)
    valve.ask()
    assert clock.now == pytest.approx(107.0)
    clock.now += 3.0
    assert monitor.seconds == pytest.approx(8.0)


def test_earlier_processes_count(begun, clock):
    monitor = TrainingMonitor(1000, begun(), Valve(lambda: "go", clock), clock)
    clock.now += 5.0
    monitor.go_on(Counters(frames=64, seconds=40.0))
    assert monitor.seconds == pytest.approx(40.0), "loading is no work"
    clock.now += 2.0
    assert monitor.seconds == pytest.approx(42.0)


def finished(begun, decide):
    """What is told when an episode in which the task was done is over."""
    batch = begun(gem=(0, 0), task_success="gems >= 1", length=1)
    told = decide(batch, 5)
    assert isinstance(told, Finished)
    return told


def test_the_running_figures_look_back_on_a_hundred_episodes(begun, decide, clock):
    done = finished(begun, decide)
    monitor = TrainingMonitor(1000, begun(), Valve(lambda: "go", clock), clock)
    assert (monitor.success_rate, monitor.successes) == (None, (0, 0))
    lost = FinishedEpisode(episodic_return=0.0, frames=9, task_success=False)
    monitor.go_on(Counters(recent=(lost,) * 3, episodes=500, usage=(0,) * 6))
    assert (monitor.success_rate, monitor.successes) == (0.0, (0, 3))
    monitor.see(done)
    assert monitor.successes == (0, 3), "until the update its rollout ends with"
    model = SmdpPPO("MlpPolicy", begun(), n_steps=16, batch_size=16, device="cpu")
    model.collect(begun())
    model.train()
    assert monitor.updated(model).success_rate == 0.25
    assert (monitor.success_rate, monitor.successes) == (0.25, (1, 4))
    for _ in range(98):
        monitor.see(done)
    assert monitor.updated(model).success_rate == 0.99
    assert monitor.successes == (99, 100)
