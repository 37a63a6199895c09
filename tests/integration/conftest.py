"""The server that is given by the environment, and the script beside as a fixture."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest

URL_VARIABLE = "LLM_TEST_URL"
MODEL_VARIABLE = "LLM_TEST_MODEL"


@pytest.fixture(scope="session")
def script() -> Any:
    """The module `llama_server.py`."""
    name = "tests_llama_server"
    if name not in sys.modules:
        path = Path(__file__).with_name("llama_server.py")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.fixture
def base_url() -> str:
    """Where the real server is."""
    found = os.environ.get(URL_VARIABLE, "")
    if not found:
        pytest.skip(
            f"{URL_VARIABLE} names no server: "
            "start one with `python tests/integration/llama_server.py start`"
        )
    return found


@pytest.fixture
def model(script: Any) -> str:
    """The model to ask there."""
    return os.environ.get(MODEL_VARIABLE, script.MODEL_NAME)
