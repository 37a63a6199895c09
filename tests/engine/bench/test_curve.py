"""The curve on disk, and the usage of options in each tenth of a training."""

from __future__ import annotations

import pytest

from engine.bench.curve import CurveLog, usage_by_part
from engine.bench.records import CurvePoint
from engine.errors import EngineError


def point(frames, **usage):
    return CurvePoint(frames=frames, seconds=frames / 100, usage=usage)


def test_short_updates_are_gathered_by_their_frames(tmp_path):
    log = CurveLog(tmp_path / "curve.jsonl", frames=10_000)  # a point at least every 100 frames
    log.add(point(30, wood=1.0))
    log.add(point(90, wood=0.5))
    assert log.points == []
    log.add(point(120, stone=1.0))
    assert [p.frames for p in log.points] == [120]
    assert log.points[0].usage == pytest.approx({"wood": 60 / 120, "stone": 30 / 120})
    again = CurveLog(tmp_path / "curve.jsonl", frames=10_000)
    assert again.points == log.points
    assert (again.frames, again.seconds) == (120, 1.2)


def test_a_checkpoint_makes_a_point_and_a_resume_forgets_what_came_after(tmp_path):
    path = tmp_path / "curve.jsonl"
    log = CurveLog(path, frames=1_000_000)
    log.add(point(200, wood=1.0))
    log.flush()
    log.flush()
    log.add(point(400))
    log.flush()
    assert [p.frames for p in log.points] == [200, 400]
    resumed = CurveLog(path, frames=1_000_000)
    resumed.go_on_from(200)
    assert [p.frames for p in resumed.points] == [200]
    resumed.add(point(300, stone=1.0))
    resumed.flush()
    assert [(p.frames, p.usage) for p in CurveLog(path, 1_000_000).points] == [
        (200, {"wood": 1.0}),
        (300, {"stone": 1.0}),
    ]


def test_a_training_without_its_checkpoint_begins_a_new_curve(tmp_path):
    log = CurveLog(tmp_path / "curve.jsonl", frames=100)
    log.add(point(50))
    again = CurveLog(tmp_path / "curve.jsonl", frames=100)
    again.go_on_from(0)
    assert (again.points, again.seconds) == ([], 0.0)


def test_half_a_line_of_a_killed_process_is_passed_over(tmp_path):
    path = tmp_path / "curve.jsonl"
    log = CurveLog(path, frames=100)
    log.add(point(50))
    with path.open("a") as file:
        file.write('{"frames": 60, "sec')
    log = CurveLog(path, frames=100)
    assert [p.frames for p in log.points] == [50]
    log.go_on_from(50)
    log.add(point(70))
    assert [p.frames for p in CurveLog(path, frames=100).points] == [50, 70]


def test_a_curve_that_cannot_be_written_is_an_error(tmp_path):
    log = CurveLog(tmp_path / "nowhere" / "curve.jsonl", frames=100)
    with pytest.raises(EngineError, match=r"curve\.jsonl"):
        log.add(point(50))


def test_usage_by_tenths_weighs_by_frames():
    points = [point(150, wood=1.0), point(200), point(1_000, wood=0.5, stone=0.25)]
    found = usage_by_part(points)
    assert len(found) == 10
    assert found[0] == pytest.approx({"wood": 1.0, "stone": 0.0})
    assert found[1] == pytest.approx({"wood": 0.5, "stone": 0.0})
    assert found[2] == found[9] == pytest.approx({"wood": 0.5, "stone": 0.25})


def test_no_usage_is_told_where_there_was_none():
    assert usage_by_part([]) == ()
    assert usage_by_part([point(100)]) == ()
