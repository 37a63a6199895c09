"""Real Habitat, where somebody has it: the original benchmark behind our policies' interface.

Habitat 0.3.0 is packaged for Python 3.9 and needs the old package `gym`: it cannot be imported in
the studio's own Python. So each environment is a process under another Python (`habitat_side`),
as in the original, too. What differs from the flats here is what is seen and where things are;
actions, reward, length and success are the original's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from engine.worlds.rearrange.habitat_actions import HabitatError, numbers_of
from engine.worlds.rearrange.habitat_process import Answer, HabitatProcess
from engine.worlds.rearrange.original_file import read
from engine.worlds.rearrange.original_names import KINDS
from engine.worlds.rearrange.resizing import resized

if TYPE_CHECKING:
    from engine.llarp.rollout import Outcome

CONFIG: Final = Path("llarp/config/task/language_rearrangement.yaml")
"""In the checkout of ml-llarp."""


@dataclass(frozen=True, slots=True)
class HabitatEpisode:
    """An episode of the original's data set."""

    id: str
    """Its place in the file."""
    instruction: str
    kind: str
    """Of the instruction, as it is called here."""
    scene: str


@dataclass(frozen=True, slots=True)
class Known:
    """What the original tells of the episode in one environment; no policy sees it."""

    episode: str
    """Its id."""
    instruction: str
    kind: str
    success: bool
    progress: float
    """Share of the subgoals ever reached."""
    invalid: bool
    """The last action was impossible and changed nothing."""


class Side(Protocol):
    """One environment that is asked and answers, such as a `HabitatProcess`."""

    def ask(self, question: Mapping[str, Any]) -> None:
        """Put a question."""
        ...

    def answer(self) -> Answer:
        """Its answer, and a picture (height, width, 3) if it has one."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class HabitatFlats:
    """Environments of real Habitat, to train on and to play given episodes in.

    They have the interface of `engine.llarp.rollout.Tasks` and `engine.llarp.evaluation.Places`.
    """

    def __init__(self, sides: Sequence[Side], picture: int = 64) -> None:
        """Put them around environments that are open.

        Args:
            sides: the environments, all on the same data set.
            picture: width and height of what is observed; Habitat's pictures are resized to it.

        Raises:
            HabitatError: their actions are not the 70.
        """
        self._sides = tuple(sides)
        self._picture = picture
        self._pictures = np.zeros((len(self._sides), picture, picture, 3), np.uint8)
        self._facts: list[dict[str, Any]] = [{} for _ in self._sides]
        told = [self._asked(env, {"ask": "actions"})[0]["actions"] for env in range(self.size)]
        self._numbers = [numbers_of(actions) for actions in told]

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self._sides)

    def episodes(self) -> tuple[HabitatEpisode, ...]:
        """Those of the data set, in its order."""
        told = self._asked(0, {"ask": "episodes"})[0]["episodes"]
        return tuple(
            HabitatEpisode(one["id"], one["instruction"], _kind(one["kind"]), one["scene"])
            for one in told
        )

    def begin(self, env: int) -> str:
        """Begin the episode in `env` that Habitat takes next; its instruction."""
        return self._reset(env, None)

    def start(self, env: int, episode: HabitatEpisode) -> str:
        """Begin this episode in `env`; its instruction.

        Raises:
            HabitatError: it is not one of this data set's, or Habitat failed.
        """
        return self._reset(env, episode.id)

    def observe(self, envs: Sequence[int]) -> NDArray[np.uint8]:
        """Pictures (n, picture, picture, 3) uint8.

        Raises:
            ValueError: no episode has begun in one of `envs`.
        """
        self._check_begun(envs)
        return self._pictures[np.asarray(envs, np.int64)]

    def step(self, envs: Sequence[int], actions: NDArray[np.int64]) -> Outcome:
        """Take one of our 70 actions in each of `envs`, all at the same time.

        Raises:
            ValueError: no episode has begun in one of `envs`, or it is over.
            HabitatError: Habitat failed.
        """
        from engine.llarp.rollout import Outcome

        self._check_begun(envs)
        over = [env for env in envs if self._facts[env]["done"]]
        if over:
            raise ValueError(f"the episode in environment {over[0]!r} is over: begin another one")
        questions = {
            env: {"ask": "step", "number": int(self._numbers[env][action])}
            for env, action in zip(envs, actions.tolist(), strict=True)
        }
        self._answers(questions)
        facts = [self._facts[env] for env in envs]
        return Outcome(
            np.array([one["reward"] for one in facts], np.float32),
            np.array([one["done"] for one in facts], np.bool_),
            np.array([one["success"] for one in facts], np.bool_),
        )

    def known(self, env: int) -> Known:
        """What the original tells of the episode in `env`.

        Raises:
            ValueError: none has begun there.
        """
        self._check_begun((env,))
        facts = self._facts[env]
        return Known(
            facts["id"],
            facts["instruction"],
            _kind(facts["kind"]),
            facts["success"],
            facts["progress"],
            facts["invalid"],
        )

    def close(self) -> None:
        """End all of them."""
        for side in self._sides:
            side.close()

    def __enter__(self) -> Self:
        """The environments themselves."""
        return self

    def __exit__(self, *_: object) -> None:
        """End them."""
        self.close()

    def _reset(self, env: int, name: str | None) -> str:
        self._facts[env] = {}
        self._asked(env, {"ask": "reset", "id": name})
        return str(self._facts[env]["instruction"])

    def _take(self, env: int, answer: Answer) -> None:
        """Remember what is known and seen, if an answer tells it."""
        facts, picture = answer
        if picture is None:
            return
        if picture.ndim != 3 or picture.shape[2] != 3:
            raise HabitatError(
                f"Habitat's picture has the shape {picture.shape!r}, not (height, width, 3)",
                "Use the original's own configuration of the head's camera.",
            )
        self._facts[env] |= facts
        self._pictures[env] = resized(picture, self._picture)

    def _asked(self, env: int, question: Mapping[str, Any]) -> Answer:
        """The answer to a question in one environment."""
        return self._answers({env: question})[env]

    def _answers(self, questions: Mapping[int, Mapping[str, Any]]) -> dict[int, Answer]:
        """Answers to a question in each of some environments, which work at the same time.

        Where one fails, the others' answers are taken in, its own episode is given up, and then it
        is told.
        """
        failures: dict[int, HabitatError] = {}
        answers: dict[int, Answer] = {}
        for env, question in questions.items():
            try:
                self._sides[env].ask(question)
            except HabitatError as error:
                failures[env] = error
        for env in questions:
            if env in failures:
                continue
            try:
                answers[env] = self._sides[env].answer()
                self._take(env, answers[env])
            except HabitatError as error:
                failures[env] = error
        for env in failures:
            self._facts[env] = {}
        if failures:
            raise next(iter(failures.values()))
        return answers

    def _check_begun(self, envs: Sequence[int]) -> None:
        for env in envs:
            if not self._facts[env]:
                raise ValueError(f"no episode has begun in environment {env!r}")


def open_habitat(
    python: str,
    checkout: Path,
    data: Path,
    *,
    size: int = 1,
    picture: int = 64,
    seed: int = 0,
    overrides: Sequence[str] = (),
) -> HabitatFlats:
    """Open environments of the original benchmark; each loads a simulator, which takes a while.

    Args:
        python: the program of the Python that Habitat is installed in.
        checkout: folder of ml-llarp, with `data/` as its README has it.
        data: file of episodes, such as `datasets/new_scenes.pickle`.
        size: how many environments.
        picture: width and height of what is observed.
        seed: of the order in which `begin` takes episodes; each environment has an order of its
            own.
        overrides: of the original's configuration, as Hydra writes them. Its task loads a LLaMA
            tokenizer: `habitat.task.tokenizer_name=FOLDER` says from where.

    Raises:
        HabitatError: something is missing, or Habitat fails.
        OriginalFileError: the file of episodes has what none needs: the original would run it.
    """
    read(data)  # the original unpickles it without looking
    config = checkout.resolve() / CONFIG
    if not config.is_file():
        raise HabitatError(
            f"there is no {str(CONFIG)!r} in {str(checkout)!r}",
            "Give the folder of a checkout: git clone https://github.com/apple/ml-llarp",
        )
    path = str(data.resolve()).replace("'", "\\'")
    told = (f"habitat.dataset.data_path='{path}'", *overrides)
    sides: list[HabitatProcess] = []
    try:
        for env in range(size):  # a seed of 0 means none to Habitat
            sides.append(HabitatProcess(python, checkout))
            sides[-1].open(config, (f"habitat.seed={1 + seed + env}", *told))
        return HabitatFlats(sides, picture)
    except BaseException:
        for side in sides:
            side.close()
        raise


def _kind(told: str) -> str:
    """Kind of an instruction by the original's id, which may have a word after it."""
    first = told.partition("_")[0]
    return KINDS.get(first, first)
