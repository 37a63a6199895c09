from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.worlds.crafter.env import CrafterEnv

EPISODES = 200
LONGEST = 100


def play(seed: int, draw: bool = False, longest: int = LONGEST) -> tuple[str, int]:
    """Digest and frames of an episode of random actions."""
    env = CrafterEnv(length=longest)
    observation, _ = env.reset(seed=seed)
    digest = hashlib.sha256(observation.tobytes())
    random = np.random.default_rng(seed)
    frames, over = 0, False
    while not over:
        if draw:
            env.frame(27)
        observation, reward, terminated, truncated, info = env.step(random.integers(17))
        digest.update(observation.tobytes() + repr((reward, terminated, truncated, info)).encode())
        over = terminated or truncated
        frames += 1
    return digest.hexdigest(), frames


@pytest.mark.slow
def test_200_random_episodes_twice_are_step_for_step_equal():
    first = [play(seed) for seed in range(EPISODES)]
    kept = [object() for _ in range(12_345)]  # other addresses for what comes next
    second = [play(seed) for seed in range(EPISODES)]
    assert kept
    assert first == second
    assert len(set(first)) == EPISODES


@pytest.mark.parametrize("seed", [0, 1])
def test_drawing_never_changes_the_game(seed: int):
    # Long enough for the first night, whose noise the package draws from the game's own stream.
    assert play(seed, draw=True, longest=260) == play(seed, draw=False, longest=260)


def test_two_processes_play_the_same_episodes():
    code = (
        "import runpy, sys; play = runpy.run_path(sys.argv[1])['play']; "
        "print([play(seed, longest=250) for seed in range(3)])"
    )
    command = [sys.executable, "-c", code, str(Path(__file__))]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == repr([play(seed, longest=250) for seed in range(3)])


def test_the_same_moment_is_drawn_the_same_way_also_at_night():
    env = CrafterEnv()
    env.reset(seed=5)
    for _ in range(200):
        env.game.player.health = 9
        env.step(np.int64(0))
    assert env.player.memory.daylight < 0.3
    assert np.array_equal(env.frame(90), env.frame(90))
