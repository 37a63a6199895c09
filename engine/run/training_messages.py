"""What a run's process and its training process say to each other: JSON and plain bytes.

No pickle: whoever reads one runs what it says, and the training process is where policy code runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, model_validator

from engine.agents.plan import Record
from engine.events import (
    CheckpointSaved,
    DeviceSampled,
    Event,
    LogLine,
    TrainingMetrics,
    TrainingStarted,
    encode,
)
from engine.rl.control import Control
from engine.rl.evaluate import Evaluation
from engine.rl.policy_file import PolicySpec
from engine.run.learner import EvaluationRequest, TrainingRequest

_HEAD = 4
"""Bytes that say how long the JSON is; the rest of a message is its data."""


class _Message(Record):
    # Figures of a training that goes wrong may be no numbers; they must arrive as they are.
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")


# --- to the training process ----------------------------------------------------------------


class Steer(_Message):
    """What the person wants now, and whether somebody looks at the frames."""

    what: Literal["steer"] = "steer"
    control: Control = "go"
    watched: bool = False


class Leave(_Message):
    """Nothing more is wanted."""

    what: Literal["leave"] = "leave"


Order = TrainingRequest | EvaluationRequest | Steer | Leave
"""An evaluation's data are the weights of the policy, a training's those of learned actions."""
ORDERS: TypeAdapter[Order] = TypeAdapter(Annotated[Order, Field(discriminator="what")])


# --- from the training process --------------------------------------------------------------


class Told(_Message):
    """An event for the history."""

    EVENTS: ClassVar[Mapping[str, type[Event]]] = {
        event.KIND: event
        for event in (TrainingStarted, TrainingMetrics, CheckpointSaved, DeviceSampled, LogLine)
    }
    """All that a training may tell; a history holds other things, which are not its to say."""

    what: Literal["told"] = "told"
    kind: str
    payload: dict[str, Any]

    @classmethod
    def of(cls, event: Event) -> Told:
        """The message that tells of an event."""
        kind, payload = encode(event)
        return cls(kind=kind, payload=payload)

    @property
    def event(self) -> Event:
        """What is told."""
        return self.EVENTS[self.kind].model_validate(self.payload)

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.kind not in self.EVENTS:
            raise ValueError(f"a training cannot tell {self.kind!r}")
        _ = self.event
        return self


class Drawn(_Message):
    """A frame for the eye; its data are its pixels."""

    what: Literal["drawn"] = "drawn"
    caption: str
    size: int = Field(ge=1, le=512)


class EpisodeOver(_Message):
    """So many episodes of an evaluation are over."""

    what: Literal["episode"] = "episode"
    done: int
    of: int


class TrainingOver(_Message):
    """A training has ended; its data are the weights."""

    what: Literal["trained"] = "trained"
    frames: int
    ended: str
    success_rate: float | None
    spec: PolicySpec
    goals: dict[str, float] = {}
    episodes: int = 0


class EvaluationOver(_Message):
    """An evaluation has ended."""

    what: Literal["evaluated"] = "evaluated"
    evaluation: Evaluation


class Failed(_Message):
    """What was asked for cannot be done."""

    what: Literal["failed"] = "failed"
    message: str
    hint: str


Reply = Told | Drawn | EpisodeOver | TrainingOver | EvaluationOver | Failed
REPLIES: TypeAdapter[Reply] = TypeAdapter(Annotated[Reply, Field(discriminator="what")])

_Heard = TypeVar("_Heard")


class Line(Generic[_Heard]):
    """One end of the line between the two.

    Args:
        heard: what comes through it.
    """

    def __init__(self, connection: Connection, heard: TypeAdapter[_Heard]) -> None:
        self._connection = connection
        self._heard = heard

    def send(self, message: Record, data: bytes = b"") -> None:
        """Say something.

        Raises:
            OSError: nobody is at the other end.
        """
        text = message.model_dump_json().encode()
        self._connection.send_bytes(len(text).to_bytes(_HEAD, "big") + text + data)

    def receive(self) -> tuple[_Heard, bytes]:
        """Wait for what the other end says.

        Raises:
            EOFError, OSError: nobody is at the other end any more.
            ValueError: it says something that cannot be understood.
        """
        message = self._connection.recv_bytes()
        end = _HEAD + int.from_bytes(message[:_HEAD], "big")
        return self._heard.validate_json(message[_HEAD:end]), message[end:]

    def waits(self, seconds: float) -> bool:
        """Whether there is something to receive, now or within these seconds."""
        return self._connection.poll(seconds)

    def close(self) -> None:
        """Hang up."""
        self._connection.close()
