"""The result of a benchmark, from the records of its jobs: figures, intervals, comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.agents.plan import Record
from engine.bench.arms import Setup
from engine.bench.config import ARM_TITLES, Arm, BenchConfig
from engine.bench.jobs import EvalJob, Job, TrainJob, all_jobs, eval_jobs, train_jobs
from engine.bench.knowledge import EXTERNAL, PUBLISHED, Published, knowledge
from engine.bench.messages import Failed
from engine.bench.pairs import Gain, gain
from engine.bench.records import CurvePoint, EpisodeRecord, EvaluationRecord, TrainingRecord
from engine.bench.statistics import CONFIDENCE, RESAMPLES, Summary, success_rates, summarise
from engine.bench.store import BenchFile, BenchStore

TOGETHER: Arm = "code+rl"
FINAL_METRICS = ("score", "reward", "frames", "task_success")


class StandardProtocol(Record):
    """Success over all episodes of a training within its budget, the way Crafter is reported."""

    score: float
    success: dict[str, float]
    episodes: int


class TrainingFigures(Record):
    """What one training took and gave."""

    frames: int
    seconds: float
    sps: float
    """Env frames per second, learning included."""
    ended: str
    peak_memory_gb: float
    standard_protocol: StandardProtocol | None
    """None: no episode was over within the budget."""
    usage: tuple[dict[str, float], ...]
    curve: tuple[CurvePoint, ...]


class SeedFigures(Record):
    """One training seed of an arm, or code alone."""

    seed: int | None
    episodes: int
    score: float | None
    reward: float | None
    frames: float | None
    task_success: float | None
    success: dict[str, float]
    evaluation_seconds: float
    training: TrainingFigures | None


class ArmFigures(Record):
    """One arm over its training seeds."""

    title: str
    final: Summary | None
    """Of the final policy in unseen worlds; None while no episode is played."""
    standard_protocol: StandardProtocol | None
    """Mean over training seeds; None where no episode was over, or nothing was trained."""
    usage: tuple[dict[str, float], ...]
    """Share of frames by coded action in each tenth of the training, mean over seeds."""
    seeds: tuple[SeedFigures, ...]


class FailedJob(Record):
    """A job that could not be done."""

    job: str
    message: str
    hint: str


class Report(Record):
    """Everything a benchmark has found."""

    folder: str
    complete: bool
    """False while jobs are missing: the figures are then of those that are finished."""
    jobs_finished: int
    jobs_total: int
    failed: tuple[FailedJob, ...]
    config: BenchConfig
    versions: dict[str, str]
    plan_sha256: str
    sources: tuple[str, ...]
    """Digests of the program's text under which jobs were done; more than one is a warning."""
    confidence: float = CONFIDENCE
    resamples: int = RESAMPLES
    unseen_worlds: str
    arms: dict[Arm, ArmFigures]
    apart: dict[Arm, dict[str, bool]]
    """By arm and figure: whether its interval and that of code + RL do not overlap."""
    gains: dict[Arm, Gain]
    """By arm: what code + RL gains over it in the same worlds."""
    external_knowledge: str = EXTERNAL
    knowledge: tuple[str, ...]
    published: tuple[Published, ...]


def build_report(
    store: BenchStore, file: BenchFile, setup: Setup, failures: Mapping[Job, Failed]
) -> Report:
    """The report of what is finished.

    Raises:
        EngineError: a record is damaged.
    """
    config = file.config
    trainings = {job: store.training(job) for job in train_jobs(config)}
    evaluations = {job: store.evaluation(job) for job in eval_jobs(config)}
    records = [*trainings.values(), *evaluations.values()]
    arms = {arm: _arm(arm, config, setup, trainings, evaluations) for arm in config.arms}
    finished = sum(record is not None for record in records)
    return Report(
        folder=str(store.folder),
        complete=finished == len(all_jobs(config)),
        jobs_finished=finished,
        jobs_total=len(all_jobs(config)),
        failed=tuple(
            FailedJob(job=job.key, message=failed.message, hint=failed.hint)
            for job, failed in failures.items()
        ),
        config=config,
        versions=file.versions,
        plan_sha256=file.plan_sha256,
        sources=tuple(sorted({record.source for record in records if record is not None})),
        unseen_worlds=f"{config.unseen.start}:{config.unseen.stop}",
        arms=arms,
        apart=_apart(arms),
        gains=_gains(config, setup, evaluations),
        knowledge=knowledge(setup, config),
        published=PUBLISHED.get(config.world, ()),
    )


def _arm(
    arm: Arm,
    config: BenchConfig,
    setup: Setup,
    trainings: Mapping[TrainJob, TrainingRecord | None],
    evaluations: Mapping[EvalJob, EvaluationRecord | None],
) -> ArmFigures:
    played = _played(arm, config, evaluations)
    figures = tuple(
        _seed(seed, None if seed is None else trainings[TrainJob(arm, seed)], records, setup)
        for seed, records in played.items()
    )
    strata = _strata(played)
    achievements, score = setup.world.achievements, setup.world.score
    return ArmFigures(
        title=ARM_TITLES[arm],
        final=summarise(strata, achievements, score) if strata else None,
        standard_protocol=_mean_protocol(
            [seed.training.standard_protocol for seed in figures if seed.training]
        ),
        usage=_mean_usage([seed.training.usage for seed in figures if seed.training]),
        seeds=figures,
    )


def _played(
    arm: Arm, config: BenchConfig, evaluations: Mapping[EvalJob, EvaluationRecord | None]
) -> dict[int | None, list[EvaluationRecord]]:
    """What is played of an arm by training seed; code alone has none."""
    seeds: Sequence[int | None] = [None] if arm == "code" else range(config.seeds)
    return {
        seed: [
            record
            for job, record in evaluations.items()
            if (job.arm, job.seed) == (arm, seed) and record is not None
        ]
        for seed in seeds
    }


def _strata(played: Mapping[int | None, Sequence[EvaluationRecord]]) -> list[list[EpisodeRecord]]:
    """The episodes of each training seed of which there are any."""
    strata = [[e for record in records for e in record.episodes] for records in played.values()]
    return [stratum for stratum in strata if stratum]


def _gains(
    config: BenchConfig, setup: Setup, evaluations: Mapping[EvalJob, EvaluationRecord | None]
) -> dict[Arm, Gain]:
    if TOGETHER not in config.arms:
        return {}
    strata = {arm: _strata(_played(arm, config, evaluations)) for arm in config.arms}
    found = {
        arm: gain(strata[TOGETHER], strata[arm], setup.world.achievements, setup.world.score)
        for arm in config.arms
        if arm != TOGETHER
    }
    return {arm: one for arm, one in found.items() if one is not None}


def _seed(
    seed: int | None,
    training: TrainingRecord | None,
    played: Sequence[EvaluationRecord],
    setup: Setup,
) -> SeedFigures:
    episodes = [episode for record in played for episode in record.episodes]
    success = success_rates(episodes, setup.world.achievements) if episodes else {}
    return SeedFigures(
        seed=seed,
        episodes=len(episodes),
        score=setup.world.score(success) if episodes else None,
        reward=_mean([episode.reward for episode in episodes]),
        frames=_mean([episode.frames for episode in episodes]),
        task_success=_mean([episode.task_success for episode in episodes]),
        success=success,
        evaluation_seconds=sum(record.seconds for record in played),
        training=None if training is None else _training(training, setup),
    )


def _training(record: TrainingRecord, setup: Setup) -> TrainingFigures:
    protocol = None
    if record.training_episodes:
        protocol = StandardProtocol(
            score=setup.world.score(record.training_success),
            success=record.training_success,
            episodes=record.training_episodes,
        )
    return TrainingFigures(
        frames=record.frames,
        seconds=record.seconds,
        sps=record.frames / record.seconds if record.seconds > 0 else 0.0,
        ended=record.ended,
        peak_memory_gb=record.peak_memory_gb,
        standard_protocol=protocol,
        usage=record.usage,
        curve=record.curve,
    )


def _mean_protocol(found: Sequence[StandardProtocol | None]) -> StandardProtocol | None:
    protocols = [one for one in found if one is not None]
    if not protocols or len(protocols) < len(found):
        return None
    return StandardProtocol(
        score=sum(one.score for one in protocols) / len(protocols),
        success={
            name: sum(one.success.get(name, 0.0) for one in protocols) / len(protocols)
            for name in protocols[0].success
        },
        episodes=sum(one.episodes for one in protocols),
    )


def _mean_usage(found: Sequence[tuple[dict[str, float], ...]]) -> tuple[dict[str, float], ...]:
    told = [usage for usage in found if usage]
    if not told:
        return ()
    names = sorted({name for usage in told for part in usage for name in part})
    return tuple(
        {name: sum(part.get(name, 0.0) for part in parts) / len(told) for name in names}
        for parts in zip(*told, strict=True)
    )


def _apart(arms: Mapping[Arm, ArmFigures]) -> dict[Arm, dict[str, bool]]:
    together = arms[TOGETHER].final if TOGETHER in arms else None
    found: dict[Arm, dict[str, bool]] = {}
    for arm, figures in arms.items():
        if together is None or figures.final is None or arm == TOGETHER:
            continue
        mine, other = figures.final, together
        found[arm] = {
            **{
                name: getattr(mine, name).is_apart_from(getattr(other, name))
                for name in FINAL_METRICS
            },
            **{
                name: estimate.is_apart_from(other.success[name])
                for name, estimate in mine.success.items()
            },
        }
    return found


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
