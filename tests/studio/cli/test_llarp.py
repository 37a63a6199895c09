"""`llarp encoder`: the frozen eye is trained, measured and kept where runs look for it."""

from __future__ import annotations

from functools import partial

from engine.config import Home
from engine.llarp import encoder_training
from engine.llarp.encoder import load_encoder


def test_the_encoder_is_trained_and_kept(cli, home, monkeypatch):
    small = partial(encoder_training.EncoderConfig, measured_on=64, passes=1)
    monkeypatch.setattr(encoder_training, "EncoderConfig", small)
    done = cli("llarp", "encoder", "--frames", "128")
    assert done.code == 0, done.err
    path = Home(home).encoder
    assert str(path) in done.out
    assert "average precision in unseen flats" in done.out
    assert load_encoder(path).facts["config"]["frames"] == 128


def test_too_few_frames_are_refused(cli):
    assert cli("llarp", "encoder", "--frames", "3").code == 2
