"""The folder of a benchmark: its configuration, and a file for each finished job.

    bench.json                what is measured, and with which versions
    jobs/KEY.json             a finished job; its being there is what makes it finished
    policies/KEY.safetensors  weights of a finished training
    training/KEY.*            checkpoint and curve of a training that is under way
    logs/KEY.log              what the process of a job wrote

Every file is written beside and renamed, so a kill at any time leaves the old or the new one.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from engine.bench.config import BenchConfig, differences
from engine.bench.jobs import EvalJob, Job, TrainJob, train_jobs
from engine.bench.records import EvaluationRecord, TrainingRecord
from engine.errors import ConfigError, EngineError
from engine.files import write_atomically

FORMAT = 1
_FREE_BYTES = 100 * 2**20
_FREE_BYTES_PER_TRAINING = 50 * 2**20
"""Room for two checkpoints, the weights and the curve, with some to spare."""
_Record = TypeVar("_Record", TrainingRecord, EvaluationRecord)


class BenchFile(BaseModel):
    """The content of `bench.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = FORMAT
    config: BenchConfig
    versions: dict[str, str]
    plan_sha256: str
    """Of the agents' plan and code: other code would be another benchmark."""


class BenchStore:
    """A benchmark's folder; processes may share it, each job being written by one of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    # --- the benchmark ------------------------------------------------------------------

    @property
    def file(self) -> Path:
        """`bench.json`."""
        return self.folder / "bench.json"

    def read(self) -> BenchFile:
        """What is measured here.

        Raises:
            ConfigError: no benchmark is here, or its file is damaged.
        """
        try:
            return BenchFile.model_validate_json(self.file.read_bytes())
        except FileNotFoundError as error:
            raise ConfigError(
                f"there is no benchmark in {str(self.folder)!r} (no bench.json)",
                "Name its folder, or begin one: rlgpt-studio bench crafter --folder FOLDER",
            ) from error
        except OSError as error:
            raise ConfigError(
                f"{str(self.file)!r} cannot be read: {error.strerror}", "Mend its permissions."
            ) from error
        except ValidationError as error:
            raise ConfigError(
                f"{str(self.file)!r} is damaged or of another version: "
                f"{error.errors()[0]['msg']} ({error.errors()[0]['loc']})",
                "Use another folder; finished jobs stay in jobs/ of this one.",
            ) from error

    def open(self, wanted: BenchFile) -> bool:
        """Make the folder, or see that it is of this very benchmark.

        Returns:
            True when the benchmark was begun before.

        Raises:
            ConfigError: another benchmark is here, or it was begun with other versions.
            EngineError: the folder cannot be written, or its disk is full.
        """
        self._make_folders(wanted.config)
        if not self.file.exists():
            write_atomically(self.file, wanted.model_dump_json(indent=1).encode())
            return False
        refuse_other(self.folder, self.read(), wanted)
        return True

    def _make_folders(self, config: BenchConfig) -> None:
        try:
            for name in ("jobs", "policies", "training", "logs"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
            probe = self.folder / ".writable"
            probe.write_bytes(b"")
            probe.unlink()
            free = shutil.disk_usage(self.folder).free
        except OSError as error:
            raise EngineError(
                f"the folder {str(self.folder)!r} cannot be written: {error.strerror or error}",
                "Choose another one with --folder.",
            ) from error
        wanted = _FREE_BYTES + _FREE_BYTES_PER_TRAINING * len(train_jobs(config))
        if free < wanted:
            raise EngineError(
                f"the disk of {str(self.folder)!r} has {free / 1e6:.0f} MB free, and the "
                f"benchmark may need {wanted / 1e6:.0f} MB",
                "Free some space, or choose another place with --folder.",
            )

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder and hold it; the system lets go when the process ends, however it does.

        Raises:
            ConfigError: another process works here.
            EngineError: the folder cannot be made or written.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = (self.folder / ".lock").open("w")
        except OSError as error:
            raise EngineError(
                f"the folder {str(self.folder)!r} cannot be written: {error.strerror or error}",
                "Choose another one with --folder.",
            ) from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise ConfigError(
                    f"another process works on the benchmark in {str(self.folder)!r}",
                    "Wait for it, or stop it first; with --report you can look at it meanwhile.",
                ) from error
            yield

    # --- jobs ---------------------------------------------------------------------------

    def checkpoint(self, job: TrainJob) -> Path:
        """Where the training keeps its newest checkpoint."""
        return self.folder / "training" / f"{job.key}.safetensors"

    def curve(self, job: TrainJob) -> Path:
        """Where the training's curve grows."""
        return self.folder / "training" / f"{job.key}.jsonl"

    def log(self, job: Job) -> Path:
        """What the process of the job wrote."""
        return self.folder / "logs" / f"{job.key}.log"

    def finish(self, job: Job, record: TrainingRecord | EvaluationRecord) -> None:
        """Keep what the job found; from here on it is never done again.

        Raises:
            EngineError: the file cannot be written.
        """
        write_atomically(self._job_file(job), record.model_dump_json(indent=1).encode())

    def keep_policy(self, job: TrainJob, weights: bytes) -> str:
        """Keep the weights of a training; their SHA-256."""
        write_atomically(self._policy_file(job), weights)
        return hashlib.sha256(weights).hexdigest()

    def policy(self, job: TrainJob) -> bytes:
        """The weights of a finished training.

        Raises:
            EngineError: they are lost or not what the training left.
        """
        record, path = self.training(job), self._policy_file(job)
        try:
            weights = path.read_bytes()
        except OSError as error:
            raise self._lost(job, f"cannot be read: {error.strerror}") from error
        if record is None or hashlib.sha256(weights).hexdigest() != record.policy_sha256:
            raise self._lost(job, "is not what the training left")
        return weights

    def training(self, job: TrainJob) -> TrainingRecord | None:
        """What a training found; None while it is not finished."""
        return self._read_job(job, TrainingRecord)

    def evaluation(self, job: EvalJob) -> EvaluationRecord | None:
        """What an evaluation found; None while it is not finished, or if its policy was another."""
        record = self._read_job(job, EvaluationRecord)
        if record is None or job.needs is None:
            return record
        training = self.training(job.needs)
        same = training is not None and training.policy_sha256 == record.policy_sha256
        return record if same else None

    def is_finished(self, job: Job) -> bool:
        """True when the job need not be done again."""
        found = self.training(job) if isinstance(job, TrainJob) else self.evaluation(job)
        return found is not None

    def _read_job(self, job: Job, kind: type[_Record]) -> _Record | None:
        path = self._job_file(job)
        try:
            return kind.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise EngineError(
                f"{str(path)!r} cannot be read: {error.strerror}", "Mend its permissions."
            ) from error
        except ValidationError as error:
            raise EngineError(
                f"{str(path)!r} is damaged: {error.errors()[0]['msg']}",
                "Delete that file and run the same command again: this job alone is done anew.",
            ) from error

    def _job_file(self, job: Job) -> Path:
        return self.folder / "jobs" / f"{job.key}.json"

    def _policy_file(self, job: TrainJob) -> Path:
        return self.folder / "policies" / f"{job.key}.safetensors"

    def _lost(self, job: TrainJob, why: str) -> EngineError:
        return EngineError(
            f"the policy {str(self._policy_file(job))!r} {why}",
            f"Delete {str(self._job_file(job))!r} and run the same command again: it is made anew "
            "from the last checkpoint.",
        )


def refuse_other(folder: Path, there: BenchFile, wanted: BenchFile) -> None:
    """See that what is there is what is wanted.

    Raises:
        ConfigError: it is not; says what differs.
    """
    if found := differences(there.config, wanted.config):
        raise ConfigError(
            f"the folder {str(folder)!r} holds another benchmark ({'; '.join(found)})",
            "Give the settings it was begun with (or only --resume), or another --folder.",
        )
    old, new = there.versions, wanted.versions
    changed = [
        f"{name}: {old.get(name)} -> {new.get(name)}"
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ]
    if changed:
        raise ConfigError(
            f"the benchmark in {str(folder)!r} was begun with other versions "
            f"({'; '.join(changed)}): its figures would be of two programs",
            "Install those versions, or begin anew in another --folder.",
        )
    if there.plan_sha256 != wanted.plan_sha256:
        raise ConfigError(
            f"the benchmark in {str(folder)!r} was begun with other coded actions than the "
            f"{there.config.agents} agents write now",
            "Begin anew in another --folder.",
        )
