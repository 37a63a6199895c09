"""The scripts of this folder as fixtures; test modules cannot import each other."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent


@pytest.fixture(scope="session")
def serve(load: Any) -> Any:
    """The module `serve.py`."""
    return load(FOLDER / "serve.py")


@pytest.fixture(scope="session")
def report(load: Any) -> Any:
    """The module `report.py`."""
    return load(FOLDER / "report.py")


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
