"""The side of real Habitat where Habitat runs: a program for another Python.

Habitat 0.3.0 is packaged for Python 3.9, so this file is run as a script there: it imports nothing
of the studio and uses nothing newer than Python 3.9. A question is a line of JSON; its answer is a
line of JSON, then the bytes of a picture if that line gives a shape.
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import sys
from typing import Any, BinaryIO

MODULES = ("habitat_sim", "habitat", "llarp.task")
"""What has to be importable, in the order in which it is installed."""
ACTION = "pddl_hl_action"
"""The original task's one action, whose argument chooses among the 70."""
CAMERA = "head_rgb"


def look() -> dict[str, Any]:
    """This Python's version, and the versions of what was imported until something was missing."""
    found: dict[str, Any] = {"python": platform.python_version(), "versions": {}}
    for name in MODULES:
        try:
            importlib.import_module(name)
        except Exception as error:  # a broken build may raise anything when it is imported
            return {**found, "missing": name, "error": f"{type(error).__name__}: {error}"}
        package = name.partition(".")[0]
        found["versions"][package] = str(getattr(sys.modules.get(package), "__version__", ""))
    return found


class Original:
    """One environment of the original benchmark, asked by name and answered in plain values."""

    def __init__(self, config: str, overrides: list[str]) -> None:
        """Open the environment that a configuration file of the original's tells of."""
        habitat = importlib.import_module("habitat")
        importlib.import_module("llarp.config.default_structured_configs")
        importlib.import_module("llarp.task")
        make = importlib.import_module("habitat.gym").make_gym_from_config
        self._gym = make(habitat.get_config(config, overrides))
        self._env = self._gym.unwrapped.habitat_env
        # Habitat has shuffled its list; the ids are the places in the file.
        self._episodes = {str(episode.episode_id): episode for episode in self._env.episodes}

    def actions(self) -> list[Any]:
        """Name and names of the arguments of each action, by the number that stands for it."""
        told = self._env.task.actions[ACTION]._action_datas
        return [[str(name), [str(value) for value in values]] for name, values in told]

    def episodes(self) -> list[dict[str, str]]:
        """The data set's episodes, in the order of the file."""
        ids = sorted(self._episodes, key=lambda name: (len(name), name))
        return [_told(self._episodes[name]) for name in ids]

    def reset(self, name: str | None) -> tuple[dict[str, Any], Any]:
        """Begin the episode with this id, or Habitat's next one; what is known, and a picture."""
        if name is not None:
            if name not in self._episodes:
                raise ValueError(f"the data set has no episode {name!r}")
            self._env.current_episode = self._episodes[name]
        seen = self._gym.reset()
        facts = {**self._measured(self._env.get_metrics()), "reward": 0.0, "done": False}
        return {**facts, **_told(self._env.current_episode)}, seen[CAMERA]

    def step(self, action: int) -> tuple[dict[str, Any], Any]:
        """Take the action of this number; what is known then, and a picture."""
        seen, reward, done, measured = self._gym.step(action)
        facts = {**self._measured(measured), "reward": float(reward), "done": bool(done)}
        return facts, seen[CAMERA]

    def close(self) -> None:
        """Let go of the simulator."""
        self._gym.close()

    @staticmethod
    def _measured(measured: Any) -> dict[str, Any]:
        return {
            "success": bool(measured["predicate_task_success"]),
            "progress": float(measured["task_progress"]),
            "invalid": bool(measured["was_prev_action_invalid"]),
        }


def _told(episode: Any) -> dict[str, str]:
    return {
        "id": str(episode.episode_id),
        "instruction": str(episode.instruction),
        "kind": str(episode.instruct_id),
        "scene": str(episode.scene_id),
    }


def answer(original: Original | None, asked: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """The answer to one question, and the picture that goes with it or None."""
    what = asked["ask"]
    if what == "look":
        return look(), None
    if original is None:
        raise ValueError("no environment is open")
    if what == "actions":
        return {"actions": original.actions()}, None
    if what == "episodes":
        return {"episodes": original.episodes()}, None
    if what == "reset":
        return original.reset(asked["id"])
    if what == "step":
        return original.step(asked["number"])
    raise ValueError(f"unknown question {what!r}")


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the questions end."""
    original: Original | None = None
    for line in questions:
        picture = None
        try:
            asked = json.loads(line)
            if asked["ask"] == "open":
                original = Original(asked["config"], asked["overrides"])
                told: dict[str, Any] = {}
            else:
                told, picture = answer(original, asked)
            if picture is not None:
                if str(picture.dtype) != "uint8":
                    raise TypeError(f"{CAMERA} is {picture.dtype}, not uint8")
                told = {**told, "shape": list(picture.shape)}
        except Exception as error:  # it is told, and the next question may be answered
            told, picture = {"error": f"{type(error).__name__}: {error}"}, None
        answers.write(json.dumps(told).encode() + b"\n")
        if picture is not None:
            answers.write(picture.tobytes())
        answers.flush()
    if original is not None:
        original.close()


def main() -> None:
    """Serve on stdin and stdout; what Habitat prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    own = os.path.dirname(os.path.abspath(__file__))
    # This folder has a `habitat.py` of its own; the working folder is the original's checkout.
    sys.path[:] = [place for place in sys.path if os.path.abspath(place) != own] + [os.getcwd()]
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
