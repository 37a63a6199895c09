"""The scripts of this folder as fixtures; test modules cannot import each other."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FOLDER = Path(__file__).parent


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
def serve() -> Any:
    """The module `serve.py`."""
    return _load(FOLDER / "serve.py")


@pytest.fixture(scope="session")
def report() -> Any:
    """The module `report.py`."""
    return _load(FOLDER / "report.py")


@pytest.fixture(scope="session")
def fake() -> Any:
    """The module `tests/fake_llm.py`."""
    return _load(FOLDER.parent / "fake_llm.py")


@pytest.fixture
def desk(serve: Any, tmp_path: Path) -> Any:
    """A desk that is looked at often and takes an answer at once."""
    return serve.Desk(tmp_path / "desk", look_seconds=0.01, settle_seconds=0.0)


@pytest.fixture
def served(serve: Any, desk: Any) -> Iterator[Any]:
    """A server over the desk."""
    server = serve.PlayedServer(desk, alive_seconds=0.02)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.close()
    thread.join()
