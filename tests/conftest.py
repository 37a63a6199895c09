"""Fixtures for every test: a home of its own, no language model, one torch thread."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


def _load(path: Path) -> ModuleType:
    name = f"tests_{path.stem}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.fixture(scope="session")
def load() -> Callable[[Path], ModuleType]:
    """Loads a file of the tests as a module: test modules cannot import each other."""
    return _load


@pytest.fixture(scope="session")
def fake(load: Callable[[Path], ModuleType]) -> ModuleType:
    """The module `tests/fake_llm.py`."""
    return load(Path(__file__).parent / "fake_llm.py")


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLGPT_STUDIO_HOME", str(tmp_path / "home"))
    for name in ("RLGPT_STUDIO_DB", "OPENAI_API_KEY", "NO_COLOR", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
