"""Fixtures for every test: a home of its own, no language model, one torch thread."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLGPT_STUDIO_HOME", str(tmp_path / "home"))
    for name in ("RLGPT_STUDIO_DB", "OPENAI_API_KEY", "NO_COLOR", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
