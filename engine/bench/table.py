"""The one table of a benchmark as text, 80 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

from engine.bench.config import Arm
from engine.bench.curve import PARTS
from engine.bench.knowledge import PUBLISHED_NOTE, paragraph
from engine.bench.pairs import Gain
from engine.bench.report import TOGETHER, ArmFigures, Report
from engine.bench.statistics import Estimate

WIDTH = 80
NO_EPISODE = "no episode over"
_DIAMOND = "collect_diamond"
_LABEL = 18
Row = tuple[str, ...]


def render(report: Report) -> str:
    """The table and what belongs below it; no line is longer than `WIDTH`."""
    parts = [_title(report), *_warnings(report), _figures(report)]
    parts += [_usage(figures) for arm, figures in report.arms.items() if arm == TOGETHER]
    parts += [_notes(report), _knowledge(report), _published(report)]
    return "\n\n".join(part for part in parts if part)


def _title(report: Report) -> str:
    config = report.config
    budgets = []
    if config.frames is not None:
        budgets.append(f"{config.frames:,} frames")
    if config.minutes is not None:
        budgets.append(f"{config.minutes:g} minutes")
    budget = f"{' or '.join(budgets)} each" if config.trained_arms else "nothing trained"
    length = "" if config.episode_length is None else f", {config.episode_length} frames long"
    return _fill(
        f"{config.world}, task {config.task}, {config.agents} agents. Training seeds: "
        f"{config.seeds} ({budget}). Evaluation: {config.episodes} unseen worlds "
        f"({report.unseen_worlds}) per policy{length}, official package. In brackets: stratified-"
        f"bootstrap {100 * report.confidence:.0f} % intervals."
    )


def _warnings(report: Report) -> list[str]:
    found = []
    if not report.complete:
        found.append(
            f"INCOMPLETE: {report.jobs_finished} of {report.jobs_total} jobs are finished; the "
            "figures are of those alone."
        )
    if report.config.episode_length is not None:
        found.append("Episodes have another length than the benchmark's: compare with nothing.")
    if len(report.sources) > 1:
        found.append(
            f"The program's text changed while the benchmark ran ({len(report.sources)} states): "
            "jobs were done by different programs."
        )
    for figures in report.arms.values():
        for seed in figures.seeds:
            if seed.training is not None and seed.training.ended not in ("budget", "minutes"):
                found.append(
                    f"{figures.title}, seed {seed.seed}: its training ended early "
                    f"({seed.training.ended}) after {seed.training.frames:,} frames."
                )
    return [_fill(line) for line in found]


# --- figures --------------------------------------------------------------------------------


def _figures(report: Report) -> str:
    arms = tuple(report.arms.items())

    def row(label: str, cell: Callable[[Arm, ArmFigures], str]) -> Row:
        return (label, *(cell(arm, figures) for arm, figures in arms))

    def final(label: str, name: str, scale: float = 1.0, digits: int = 1) -> Row:
        return row(label, lambda arm, figures: _final(report, arm, figures, name, scale, digits))

    achievements = next((f.final.success for _, f in arms if f.final is not None), {})
    rows: list[Row] = [
        ("FINAL POLICY", *(figures.title for _, figures in arms)),
        final("score %", "score"),
        final("reward", "reward"),
        final("task success %", "task_success", 100),
    ]
    if _DIAMOND in achievements:
        rows.append(final("diamond %", _DIAMOND, 100))
    rows += [
        final("episode frames", "frames", digits=0),
        row("episodes", lambda _, figures: _count(sum(s.episodes for s in figures.seeds))),
        row("score by seed", lambda _, figures: _by_seed(figures)),
        *_gain_rows(report, _DIAMOND in achievements),
        (),
        ("SUCCESS %",),
        *(final(name, name, 100, 0) for name in achievements),
        (),
        ("TRAINING (per seed)",),
        row("frames", lambda _, f: _of_training(f, lambda t: float(t.frames))),
        row("seconds", lambda _, f: _of_training(f, lambda t: t.seconds)),
        row("frames/s", lambda _, f: _of_training(f, lambda t: t.sps)),
        row("memory GB", lambda _, f: _of_training(f, lambda t: t.peak_memory_gb, 2)),
        (),
        ("STANDARD PROTOCOL (all training episodes)",),
        row("score %", lambda arm, f: _standard(arm, f, "score")),
        row("diamond %", lambda arm, f: _standard(arm, f, _DIAMOND)),
        row("episodes", lambda arm, f: _standard(arm, f, "episodes")),
    ]
    return _aligned(rows)


def _gain_rows(report: Report, has_diamond: bool) -> list[Row]:
    """What code + RL gains over the other arms, in the same worlds; none without a pair."""
    if not report.gains:
        return []

    def row(label: str, name: str, scale: float = 1.0) -> Row:
        found = (report.gains.get(arm) for arm in report.arms)
        return (label, *("-" if one is None else _gained(one, name, scale) for one in found))

    rows: list[Row] = [
        (),
        ("GAIN OF CODE + RL (in the same worlds)",),
        row("score %", "score"),
        row("reward", "reward"),
        row("task success %", "task_success", 100),
    ]
    return [*rows, row("diamond %", _DIAMOND, 100)] if has_diamond else rows


def _gained(gain: Gain, name: str, scale: float) -> str:
    return _interval(gain.success.get(name) or getattr(gain, name), scale, 1, "+")


def _final(
    report: Report, arm: Arm, figures: ArmFigures, name: str, scale: float, digits: int
) -> str:
    if figures.final is None:
        return "-"
    estimate = figures.final.success.get(name) or getattr(figures.final, name)
    mark = "*" if report.apart.get(arm, {}).get(name) else ""
    return _interval(estimate, scale, digits) + mark


def _interval(estimate: Estimate, scale: float, digits: int, sign: str = "") -> str:
    value, low, high = (
        f"{scale * number:{sign}.{digits}f}"
        for number in (estimate.value, estimate.low, estimate.high)
    )
    return f"{value} [{low}]" if low == high else f"{value} [{low}, {high}]"


def _by_seed(figures: ArmFigures) -> str:
    """Lowest and highest score of a training seed."""
    scores = [seed.score for seed in figures.seeds if seed.score is not None]
    if len(scores) < 2:
        return "-"
    return f"{min(scores):.1f} to {max(scores):.1f}"


def _of_training(figures: ArmFigures, value: Callable[..., float], digits: int = 0) -> str:
    found = [value(seed.training) for seed in figures.seeds if seed.training is not None]
    return f"{sum(found) / len(found):,.{digits}f}" if found else "-"


def _standard(arm: Arm, figures: ArmFigures, name: str) -> str:
    if arm == "code" or not any(seed.training for seed in figures.seeds):
        return "-"
    protocol = figures.standard_protocol
    if protocol is None:
        return NO_EPISODE
    if name == "episodes":
        return _count(protocol.episodes)
    if name == "score":
        return f"{protocol.score:.1f}"
    return f"{100 * protocol.success[name]:.1f}" if name in protocol.success else "-"


def _count(number: int) -> str:
    return f"{number:,}" if number else "-"


def _aligned(rows: Sequence[Row]) -> str:
    columns = max(len(row) for row in rows)
    full = [row for row in rows if len(row) == columns]
    widths = [max(_LABEL, *(len(row[0]) for row in full))]
    widths += [max(len(row[column]) for row in full) for column in range(1, columns)]
    lines = []
    for row in rows:
        if len(row) < columns:
            lines.append("".join(row))
            continue
        cells = [row[0].ljust(widths[0]), *(c.ljust(w) for c, w in zip(row[1:], widths[1:],
                                                                       strict=True))]  # fmt: skip
        lines.append(" ".join(cells).rstrip())
    return "\n".join(lines)


# --- below the figures ----------------------------------------------------------------------


def _usage(figures: ArmFigures) -> str:
    head = f"OPTION USAGE, {figures.title}: % of frames in each tenth of the training"
    if not figures.usage:
        return ""
    names = sorted(
        {name for part in figures.usage for name in part},
        key=lambda name: -sum(part.get(name, 0.0) for part in figures.usage),
    )
    others = [max(0.0, 1.0 - sum(part.values())) for part in figures.usage]
    width = WIDTH - 5 * PARTS
    lines = [head]
    for name in names:
        lines.append(_shares(name, [part.get(name, 0.0) for part in figures.usage], width))
    lines.append(_shares("(primitives)", others, width))
    return "\n".join(lines)


def _shares(name: str, shares: Sequence[float], width: int) -> str:
    def cell(share: float) -> str:
        if share == 0:
            return "."
        return "<1" if share < 0.005 else f"{100 * share:.0f}"

    return name[: width - 1].ljust(width) + "".join(cell(share).rjust(5) for share in shares)


def _notes(report: Report) -> str:
    lines = []
    if report.apart:
        lines.append("* its interval and that of code + RL do not overlap.")
    lines.append(
        "An interval with one end means that every resample gave the same figure, which few "
        "episodes do easily."
    )
    if report.config.trained_arms:
        lines.append(
            "Trainings run on a compiled twin of the game's rules, so the standard protocol's "
            "episodes are the twin's; every other figure is of the official package."
        )
    if report.config.fast_mode:
        lines.append("Coded actions ran in the sandbox's fast mode where it accepts them.")
    return "\n".join(_fill(line) for line in lines)


def _knowledge(report: Report) -> str:
    lines = paragraph(report.knowledge, WIDTH)
    return f"KNOWLEDGE THAT WENT IN\n{lines}\n{_fill(report.external_knowledge)}"


def _published(report: Report) -> str:
    if not report.published:
        return ""
    rows: list[Row] = [("PUBLISHED", "score %", "reward", "diamond %", "source")]
    for one in report.published:
        spread = "" if one.score_spread is None else f" ± {one.score_spread:g}"
        rows.append(
            (
                one.method,
                f"{one.score:.1f}{spread}",
                "-" if one.reward is None else f"{one.reward:.1f}",
                "-" if one.diamond is None else f"{100 * one.diamond:.0f}",
                one.source,
            )
        )
    return f"{_aligned(rows)}\n{_fill(PUBLISHED_NOTE)}"


def _fill(text: str) -> str:
    return textwrap.fill(text, WIDTH)
