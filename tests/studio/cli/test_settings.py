"""Settings: file, environment, command line over each other; clear words for what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import ConfigError
from studio.key_names import key_problem
from studio.keymap import KEYS
from studio.settings import (
    Settings,
    is_true,
    load_settings,
    save_setting,
    unknown_variables,
)


@pytest.fixture
def file(tmp_path: Path):
    def write(text: str) -> Path:
        path = tmp_path / "config.toml"
        path.write_text(text)
        return path

    return write


FULL = """
theme = "nord"
editor = "nano"
task = "collect iron"
world = "crafter"

[keymap]
"studio.help" = "f12"

[run]
frames = 5000
agents = "llm"

[llm]
base_url = "http://localhost:8080/v1"
model = "small"

[training]
n_envs = 4
net_arch = [32, 32]
"""


def test_a_file_that_is_not_there_means_the_defaults(tmp_path):
    assert load_settings(tmp_path / "no.toml", {}) == Settings()
    assert Settings().run_config().frames == 100_000


def test_everything_in_a_file_is_read(file):
    settings = load_settings(file(FULL), {})
    assert (settings.theme, settings.editor, settings.task) == ("nord", "nano", "collect iron")
    assert settings.keymap == {"studio.help": "f12"}
    config = settings.run_config()
    assert (config.task, config.frames, config.agents) == ("collect iron", 5000, "llm")
    assert (config.llm.model, config.training.n_envs) == ("small", 4)
    assert config.training.net_arch == (32, 32)


def test_the_command_line_wins_over_the_environment_and_that_over_the_file(file):
    env = {"RLGPT_STUDIO_RUN__FRAMES": "6000", "RLGPT_STUDIO_LLM__MODEL": "other",
           "RLGPT_STUDIO_THEME": "dracula", "OTHER": "x"}  # fmt: skip
    settings = load_settings(file(FULL), env)
    assert settings.theme == "dracula"
    config = settings.run_config()
    assert (config.frames, config.llm.model, config.training.n_envs) == (6000, "other", 4)
    assert config.llm.base_url == "http://localhost:8080/v1"
    config = settings.run_config({"frames": 7000, "llm.model": "third"}, task="make a table")
    assert (config.frames, config.llm.model, config.task) == (7000, "third", "make a table")


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ('theme = "nord', "line 1", "Correct the line"),
        ("\n\nthme = 'x'", "line 3: There is no setting 'thme'", "'theme'"),
        ("theme = 3", "`theme` must be a text, not 3", 'theme = "..."'),
        ("run = 3", "`run` must be a section", "[run]"),
        ("[runn]\nframes = 5000", "line 1: There is no setting 'runn'", "'run'"),
        ("[run]\nframes = 5", "line 2: `frames` cannot be 5", "another value"),
        ("[llm]\n# model\nmodle = 'x'", "line 3: There is no setting 'llm.modle'", "llm.model"),
        ("[llm]\ntimeout_seconds = 'x'", "line 2: `llm.timeout_seconds` cannot be 'x'", ""),
        ("[keymap]\n'studio.halp' = 'x'", "line 2: there is no key binding", "'studio.help'"),
        ("[keymap]\n'studio.help' = 3", "line 2: `studio.help` must be a text", ""),
        ("[keymap]\n'studio.help' = 'f1,foo'", "line 2: `studio.help` cannot be 'f1,foo'", "f2"),
        ("[keymap]\n'studio.help' = 'escpe'", "no key 'escpe'. Did you mean 'escape'?", ""),
        ("[keymap]\n'studio.help' = 'Ctrl+e'", "no modifier 'Ctrl'. Did you mean 'ctrl'?", ""),
        ("[keymap]\n'studio.help' = 'f1,,f2'", "no key between its commas", ""),
        ("task = 'x'\ntheme = 'nrod'", "line 2: There is no theme 'nrod'", "'nord'"),
        ("[run]\ntask = 'x'", "line 2: `task` does not belong into [run]", "top of the file"),
        ("[llm]\ntheme = 'x'", "line 2: `theme` does not belong into [llm]", "top of the file"),
        ("frames = 5000", "line 1: `frames` does not stand at the top", "below [run]"),
        (
            "[training]\nbatch_size = 6",
            "line 2: `training.batch_size` cannot be 6: input should be greater than or equal to 8",
            "another value",
        ),
        ("[training]\n\nn_envs = 0", "line 3: `training.n_envs` cannot be 0: input should", ""),
        ("[run]\nfast_mode = 'perhaps'", "line 2: `fast_mode` cannot be 'perhaps'", ""),
        ("[training]\nnet_arch = ['x']", "line 2: `training.net_arch.0` cannot be 'x'", ""),
        ("[run]\nagents = '" + "x" * 10_000 + "'", "xxx...xxx", ""),
        ("x" * 10_000 + " = 1", "xxx...xxx", ""),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_the_next_step(file, text, says, hint):
    with pytest.raises(ConfigError) as caught:
        load_settings(file(text), {})
    assert "config.toml" in caught.value.message
    assert says in caught.value.message
    assert hint in caught.value.hint
    assert len(caught.value.message) < 500


def test_keys_as_textual_spells_them_are_taken(file):
    text = "[keymap]\n'studio.help' = 'f12, ctrl+shift+f5,question_mark,?,A,shift+up,at,ctrl+@'"
    assert load_settings(file(text), {}).keymap


def test_every_key_of_the_registry_can_be_sent():
    assert {key_problem(key.keys) for key in KEYS} == {""}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"task": "foo"}, "The task is no setting"),
        ({"training.batch_size": 6}, "`training.batch_size` cannot be 6: input should"),
        ({"training": 3}, "`training` cannot be 3"),
        ({"y" * 10_000: 1}, "yyy...yyy"),
    ],
)
def test_a_change_that_cannot_be_is_refused(changes, says):
    with pytest.raises(ConfigError) as caught:
        Settings().run_config(changes, task="collect wood")
    assert says in caught.value.message
    assert caught.value.hint
    assert len(caught.value.message) < 500


def test_fast_mode_is_off_unless_it_is_allowed(file, tmp_path):
    assert Settings().run_config().fast_mode is False
    assert load_settings(file("[run]\nfast_mode = true\n"), {}).run_config().fast_mode is True
    env = {"RLGPT_STUDIO_RUN__FAST_MODE": "yes"}
    settings = load_settings(tmp_path / "no.toml", env)
    assert settings.run_config().fast_mode is True
    assert settings.run_config({"fast_mode": False}).fast_mode is False


@pytest.mark.parametrize(
    ("value", "on"), [(True, True), ("yes", True), ("1", True), (False, False), ("off", False)]
)
def test_a_switch_is_read_as_the_fields_of_a_run_read_it(value, on):
    assert is_true(value) is on
    assert Settings().run_config({"fast_mode": value}).fast_mode is on


def test_a_list_may_come_by_the_environment(tmp_path):
    env = {"RLGPT_STUDIO_TRAINING__NET_ARCH": "[16, 16]"}
    config = load_settings(tmp_path / "no.toml", env).run_config()
    assert config.training.net_arch == (16, 16)


def test_a_variable_that_means_nothing_is_named_with_the_one_that_was_meant():
    env = {"RLGPT_STUDIO_HOME": "x", "RLGPT_STUDIO_DB": "x", "RLGPT_STUDIO_TASK": "x",
           "RLGPT_STUDIO_RUN__FRAMES": "1", "PATH": "x"}  # fmt: skip
    assert unknown_variables(env) == ()
    lines = unknown_variables({"RLGPT_STUDIO_RUN_FRAMES": "1", "RLGPT_STUDIO_HOEM": "x", **env})
    assert [line.rpartition("Did you mean ")[2] for line in lines] == [
        "RLGPT_STUDIO_HOME?", "RLGPT_STUDIO_RUN__FRAMES?",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("RLGPT_STUDIO_THEME", "nrod", "RLGPT_STUDIO_THEME: There is no theme 'nrod'"),
        ("RLGPT_STUDIO_TASK", " ", "RLGPT_STUDIO_TASK: `task` must be a text"),
        ("RLGPT_STUDIO_TRAINING__NET_ARCH", "[16", "`training.net_arch` cannot be '[16'"),
        ("RLGPT_STUDIO_RUN__FRAMS", "1", "'frams'"),
        ("RLGPT_STUDIO_RUM__FRAMES", "1", "'rum'"),
        ("RLGPT_STUDIO_RUN__FRAMES", "few", "`frames` cannot be 'few'"),
    ],
)
def test_a_variable_that_cannot_be_is_named(tmp_path, name, value, says):
    with pytest.raises(ConfigError) as caught:
        load_settings(tmp_path / "no.toml", {name: value})
    assert says in caught.value.message
    assert caught.value.hint


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "config.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_settings(tmp_path / "config.toml", {})


def test_saving_keeps_comments_and_the_rest(file):
    path = file("# mine\ntheme = 'nord'  # nice\n\n[llm]\nmodel = 'a'\n")
    save_setting(path, "theme", "gruvbox")
    save_setting(path, "llm.model", "b")
    save_setting(path, "run.frames", 5000)
    text = path.read_text()
    assert "# mine" in text
    assert "# nice" in text
    settings = load_settings(path, {})
    assert (settings.theme, settings.llm["model"], settings.run["frames"]) == ("gruvbox", "b", 5000)


def test_saving_makes_the_file(tmp_path):
    save_setting(tmp_path / "new" / "config.toml", "theme", "nord")
    assert load_settings(tmp_path / "new" / "config.toml", {}).theme == "nord"


def test_a_broken_file_is_never_overwritten(file):
    path = file("theme = 'nord")
    with pytest.raises(ConfigError):
        save_setting(path, "theme", "gruvbox")
    assert path.read_text() == "theme = 'nord"


def test_prompts_beside_the_settings_are_used_unless_a_setting_says_otherwise(tmp_path: Path):
    assert Settings().run_config(folder=tmp_path).prompts is None
    (tmp_path / "prompts").mkdir()
    assert Settings().run_config(folder=tmp_path).prompts == str(tmp_path / "prompts")
    assert Settings().run_config({"prompts": "/other"}, folder=tmp_path).prompts == "/other"


def test_prices_beside_the_settings_are_used_unless_a_setting_says_otherwise(tmp_path: Path):
    assert Settings().run_config(folder=tmp_path).llm.prices_file is None
    table = tmp_path / "prices.toml"
    table.write_text("")
    assert Settings().run_config(folder=tmp_path).llm.prices_file == str(table)
    own = Settings(llm={"prices_file": "/own.toml"})
    assert own.run_config(folder=tmp_path).llm.prices_file == "/own.toml"
