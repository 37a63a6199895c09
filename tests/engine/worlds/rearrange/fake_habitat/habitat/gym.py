"""A fake of the gym around the original's environment, with rules of its own.

`nav` to the sofa gets half of the progress and any `pick` after that succeeds; `place` is
impossible; the episode ends after four actions. A picture tells the number of the action.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace


class Picture:
    """Of one colour; it has what is used of an array of NumPy."""

    shape, dtype = (8, 8, 3), "uint8"

    def __init__(self, colour):
        self.colour = colour

    def tobytes(self):
        return bytes([self.colour]) * 192


class Core:
    """The environment behind the gym."""

    def __init__(self, config):
        action = SimpleNamespace(_action_datas=json.loads(Path("actions.json").read_text()))
        self.task = SimpleNamespace(actions={"pddl_hl_action": action})
        episodes = [
            SimpleNamespace(
                episode_id=str(number),
                scene_id="sc3",
                instruction=f"instruction {number}",
                instruct_id="42f1b012_apple",
            )
            for number in range(12)
        ]
        seed = int(config["habitat.seed"])
        self.episodes = episodes[seed:] + episodes[:seed]
        self._forced, self._order = False, iter(self.episodes)

    @property
    def current_episode(self):
        return self._current

    @current_episode.setter
    def current_episode(self, episode):
        self._current, self._forced = episode, True

    def reset(self):
        if not self._forced:
            self._current = next(self._order)
        self._forced, self.steps = False, 0
        self.success, self.progress, self.invalid = False, 0.0, False

    def get_metrics(self):
        return {
            "predicate_task_success": self.success,
            "task_progress": self.progress,
            "was_prev_action_invalid": self.invalid,
        }


class Gym:
    def __init__(self, config):
        self.unwrapped = SimpleNamespace(habitat_env=Core(config))

    def reset(self):
        core = self.unwrapped.habitat_env
        core.reset()
        return {"head_rgb": Picture(10 * int(core.current_episode.episode_id)), "debug_info": 1}

    def step(self, number):
        core = self.unwrapped.habitat_env
        name, arguments = core.task.actions["pddl_hl_action"]._action_datas[number]
        before, core.steps = core.progress, core.steps + 1
        if name == "pick_apple" and core.steps == 3:
            raise RuntimeError("the simulator fell over")
        if name == "pick_wrench":
            print("out of memory", flush=True)  # noqa: T201
            os._exit(9)
        if name == "nav" and "Sofa" in arguments[0]:
            core.progress = max(core.progress, 0.5)
        if name.startswith("pick") and core.progress:
            core.progress, core.success = 1.0, True
        core.invalid = name == "place"
        reward = 5 * (core.progress - before) + 10 * core.success
        done = core.success or core.steps == 4
        return {"head_rgb": Picture(number)}, reward, done, core.get_metrics()

    def close(self):
        with Path("closed").open("a") as file:
            file.write("x")


def make_gym_from_config(config):
    return Gym(config)
