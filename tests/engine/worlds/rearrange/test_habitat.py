"""Real Habitat's adapter against a fake of it, in a process of its own as the real one is."""

from __future__ import annotations

import ast
import json
import pickle
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.llarp.controls import RandomPolicy
from engine.llarp.evaluation import Places, evaluate
from engine.llarp.rollout import Tasks, collect
from engine.worlds.rearrange import habitat_side
from engine.worlds.rearrange.habitat import (
    HabitatEpisode,
    HabitatFlats,
    open_habitat,
)
from engine.worlds.rearrange.habitat_actions import HabitatError, numbers_of, our_name
from engine.worlds.rearrange.habitat_found import Found, Missing, found
from engine.worlds.rearrange.names import ACTION_INDEX, ACTIONS, CATEGORIES
from engine.worlds.rearrange.original_file import OriginalFileError
from engine.worlds.rearrange.original_names import HANDLES, RECEPTACLES
from engine.worlds.rearrange.resizing import resized

FAKE = Path(__file__).with_name("fake_habitat")
"""A checkout of the original and all that it imports, as far as the adapter touches it."""
DATA = "it's data.pickle"
SOFA, PICK, PLACE = (ACTION_INDEX[name] for name in ("nav(sofa)", "pick_cup", "place(sink)"))


CABINETS = [name for name in HANDLES if name != "fridge_push_point"]


def original_actions() -> list[tuple[str, list[str]]]:
    """The 70 as the original lists them: by its domain's actions, then by entity."""
    cabinets, receptacles = sorted(CABINETS), sorted(RECEPTACLES)
    return [
        *(("nav", [name]) for name in (*cabinets, "fridge_push_point", *receptacles)),
        *((f"pick_{name.replace('_', ' ')}", ["robot_0"]) for name in CATEGORIES),
        *(("place", [name]) for name in receptacles),
        ("open_fridge", ["fridge_push_point"]),
        ("close_fridge", ["fridge_push_point"]),
        *(("open_cab", [name]) for name in cabinets),
        *(("close_cab", [name]) for name in cabinets),
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout of the original, with episodes."""
    made = tmp_path / "ml-llarp"
    shutil.copytree(FAKE, made)
    (made / "actions.json").write_text(json.dumps(original_actions()))
    data = {"all_transforms": [], "idx_to_name": {}, "all_eps": []}
    (made / DATA).write_bytes(pickle.dumps(data))
    return made


@pytest.fixture
def flats(folder: Path) -> Iterator[HabitatFlats]:
    with open_habitat(sys.executable, folder, folder / DATA, size=2, picture=4) as opened:
        yield opened


def take(flats: HabitatFlats, env: int, *actions: int) -> list[tuple[float, bool, bool]]:
    outcomes = [flats.step([env], np.array([action])) for action in actions]
    return [(float(o.rewards[0]), bool(o.done[0]), bool(o.success[0])) for o in outcomes]


class TestActions:
    def test_each_of_the_70_is_found_by_name_in_any_order(self):
        theirs = original_actions()
        assert len(theirs) == len(ACTIONS) == 70
        for shuffled in (theirs, theirs[::-1]):
            numbers = numbers_of(shuffled)
            assert sorted(numbers) == list(range(70))
            back = [our_name(*shuffled[number]) for number in numbers]
            assert back == [action.name for action in ACTIONS]

    def test_names_are_those_of_the_same_things(self):
        drawer = "receptacle_aabb_drawer_left_top_frl_apartment_kitchen_counter"
        assert our_name("nav", ["receptacle_aabb_Tbl1_Top1_frl_apartment_table_01"]) == (
            "nav(black_table)"
        )
        assert our_name("place", [drawer]) == "place(left_drawer)"
        assert our_name("pick_rubriks cube", ["robot_0"]) == "pick_rubriks_cube"
        assert our_name("close_cab", ["cab_push_point_6"]) == "close_cab(cab_push_point_6)"
        assert our_name("open_fridge", ["fridge_push_point"]) == "open_fridge"

    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("noop", []),
            ("pick_fork", ["robot_0"]),
            ("place", ["cab_push_point_4"]),
            ("nav", ["receptacle_aabb_bed"]),
            ("open_fridge", ["cab_push_point_4"]),
            ("open_cab", ["fridge_push_point"]),
            ("nav", []),
        ],
    )
    def test_an_unknown_one_is_told_by_name(self, name, arguments):
        with pytest.raises(HabitatError, match=f"{name}.*none of the 70") as raised:
            numbers_of([*original_actions(), (name, arguments)])
        assert "ml-llarp" in raised.value.hint

    def test_lacking_and_doubled_ones_are_told(self):
        theirs = original_actions()
        with pytest.raises(HabitatError, match="lacks 2 of the 70 actions, such as 'close_cab"):
            numbers_of(theirs[:-2])
        with pytest.raises(HabitatError, match="twice"):
            numbers_of([*theirs, theirs[0]])


class TestPlaying:
    def test_given_episodes_are_played_whatever_order_habitat_has_them_in(self, flats):
        episodes = flats.episodes()
        assert episodes[11] == HabitatEpisode("11", "instruction 11", "move", "sc3")
        assert [int(episode.id) for episode in episodes] == list(range(12))
        for env in range(2):
            assert flats.start(env, episodes[7]) == "instruction 7"
            assert flats.known(env).kind == "move"
        assert flats.observe([1, 0]).tolist() == np.full((2, 4, 4, 3), 70).tolist()
        assert flats.observe([0]).dtype == np.uint8

    def test_begin_takes_habitats_next_one_in_an_order_of_its_own(self, flats):
        assert [flats.begin(0), flats.begin(0), flats.begin(1)] == [
            "instruction 1",
            "instruction 2",
            "instruction 2",
        ]

    def test_rewards_the_end_and_success_are_passed_on(self, flats):
        flats.begin(0)
        assert take(flats, 0, SOFA, PICK) == [(2.5, False, False), (12.5, True, True)]
        assert flats.known(0).progress == 1.0
        flats.begin(0)
        assert flats.known(0).progress == 0.0
        lost = [(0.0, False, False)] * 3 + [(0.0, True, False)]
        assert take(flats, 0, PLACE, PLACE, PLACE, PLACE) == lost
        assert flats.known(0).invalid

    def test_actions_get_where_they_are_meant(self, flats):
        """The fake's pictures tell the number of the action that was taken."""
        theirs = original_actions()
        flats.begin(0)
        flats.begin(1)
        for env, action in ((0, SOFA), (1, PICK)):
            flats.step([env], np.array([action]))
        for env, action in ((0, SOFA), (1, PICK)):
            number = int(flats.observe([env])[0, 0, 0, 0])
            assert our_name(*theirs[number]) == ACTIONS[action].name
        outcome = flats.step([1, 0], np.array([PLACE, PICK]))
        assert outcome.success.tolist() == [False, True]
        assert outcome.rewards.tolist() == [0.0, 12.5]

    def test_misuse_is_told(self, flats):
        with pytest.raises(ValueError, match="no episode has begun in environment 1"):
            flats.observe([1])
        flats.begin(0)
        take(flats, 0, SOFA, PICK)
        with pytest.raises(ValueError, match="is over: begin another"):
            take(flats, 0, SOFA)
        with pytest.raises(HabitatError, match="no episode '99'"):
            flats.start(0, HabitatEpisode("99", "", "", ""))
        with pytest.raises(ValueError, match="no episode has begun"):
            flats.known(0)

    def test_our_policies_are_trained_and_evaluated_there(self, flats):
        tasks: Tasks = flats
        places: Places[HabitatEpisode] = flats
        generator = torch.Generator().manual_seed(0)
        policy = RandomPolicy(2)  # goes to the first two entities, in which nothing is solved
        episodes = collect(policy, tasks, 8, generator)
        assert [len(episode) for episode in episodes] == [4, 4]
        results = evaluate(policy, places, flats.episodes()[:3], generator)
        assert [(result.success, result.steps) for result in results] == [(False, 4)] * 3


class TestFailing:
    def test_a_failure_in_one_leaves_the_others_in_step(self, flats):
        apple = ACTION_INDEX["pick_apple"]
        flats.begin(0)
        flats.begin(1)
        take(flats, 0, PLACE, PLACE)
        with pytest.raises(HabitatError, match="RuntimeError: the simulator fell over"):
            flats.step([0, 1], np.array([apple, SOFA]))
        with pytest.raises(ValueError, match="no episode has begun in environment 0"):
            flats.observe([0])
        assert flats.known(1).progress == 0.5
        assert take(flats, 1, PICK) == [(12.5, True, True)]
        assert flats.begin(0).startswith("instruction")

    def test_a_dead_one_leaves_the_others_in_step(self, flats):
        flats.begin(0)
        flats.begin(1)
        with pytest.raises(HabitatError, match="ended with 9"):
            flats.step([1, 0], np.array([ACTION_INDEX["pick_wrench"], SOFA]))
        with pytest.raises(HabitatError, match="ended with 9"):
            flats.begin(1)
        assert take(flats, 0, PICK) == [(12.5, True, True)]

    def test_a_process_that_ends_is_told_with_its_last_words(self, flats):
        flats.begin(0)
        with pytest.raises(HabitatError, match="ended with 9") as raised:
            take(flats, 0, ACTION_INDEX["pick_wrench"])
        assert raised.value.hint.endswith("out of memory")
        with pytest.raises(HabitatError, match="ended with 9"):
            flats.begin(0)

    def test_simulators_are_let_go_of(self, flats, folder):
        flats.close()
        flats.close()
        assert (folder / "closed").read_text() == "xx"

    def test_what_is_not_there_is_told_before_anything_is_loaded(self, folder, tmp_path):
        with pytest.raises(HabitatError, match=r"language_rearrangement\.yaml"):
            open_habitat(sys.executable, tmp_path / "data", folder / DATA)
        with pytest.raises(HabitatError, match=r"'/no/python' cannot be started"):
            open_habitat("/no/python", folder, folder / DATA)

    def test_a_file_of_episodes_that_runs_code_never_gets_to_habitat(self, folder):
        bad = folder / "bad.pickle"
        bad.write_bytes(pickle.dumps(subprocess.Popen))
        with pytest.raises(OriginalFileError, match="Popen"):
            open_habitat(sys.executable, folder, bad)

    def test_another_set_of_actions_is_refused(self, folder):
        (folder / "actions.json").write_text(json.dumps(original_actions()[1:]))
        with pytest.raises(HabitatError, match="lacks 1 of the 70"):
            open_habitat(sys.executable, folder, folder / DATA)


class TestFound:
    def test_it_is_not_in_the_studios_own_python(self, folder, monkeypatch):
        monkeypatch.chdir(folder)  # nothing is imported from wherever the studio is called
        missing = found()
        assert isinstance(missing, Missing)
        assert missing.name == "habitat_sim"
        assert "No module named 'habitat_sim'" in missing.detail
        assert "runs in a Python of its own" in missing.detail
        assert "conda create" in missing.fix

    def test_all_there(self, folder):
        versions = {"habitat_sim": "0.3.0", "habitat": "0.3.0", "llarp": ""}
        python = ".".join(str(part) for part in sys.version_info[:3])
        assert found(sys.executable, folder) == Found(python, versions)

    @pytest.mark.parametrize(
        ("broken", "name", "said", "fix"),
        [
            ("habitat/__init__.py", "habitat", "No module named 'magnum'", "habitat-lab"),
            ("llarp/task.py", "llarp.task", "No module named 'magnum'", "apple/ml-llarp"),
        ],
    )
    def test_the_first_that_cannot_be_imported_is_told(self, folder, broken, name, said, fix):
        (folder / broken).write_text("import magnum")
        missing = found(sys.executable, folder)
        assert isinstance(missing, Missing)
        assert (missing.name, said in missing.detail, fix in missing.fix) == (name, True, True)

    def test_another_version_is_told(self, folder):
        (folder / "habitat_sim/__init__.py").write_text('__version__ = "0.2.5"')
        missing = found(sys.executable, folder)
        assert isinstance(missing, Missing)
        assert "'0.2.5'" in missing.detail
        assert "needs 0.3.0" in missing.detail

    def test_scenes_and_checkout_are_looked_for(self, folder, tmp_path_factory):
        (folder / "data/replica_cad/README").unlink()
        (folder / "data/replica_cad").rmdir()
        scenes = found(sys.executable, folder)
        assert isinstance(scenes, Missing)
        assert "rearrange_task_assets" in scenes.fix
        nothing = found(sys.executable, tmp_path_factory.mktemp("empty"))
        assert isinstance(nothing, Missing)
        assert nothing.name == "ml-llarp"

    def test_a_python_that_is_none(self, folder):
        missing = found("/no/python", folder)
        assert isinstance(missing, Missing)
        assert missing.name == "python"


def test_importing_the_adapter_imports_neither_torch_nor_habitat():
    code = (
        "import sys, engine.worlds.rearrange.habitat_found;"
        "print([m for m in ('torch', 'habitat', 'habitat_sim') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_other_side_is_for_python_3_9_and_needs_nothing_of_the_studio():
    source = Path(habitat_side.__file__).read_text()
    tree = ast.parse(source, feature_version=(3, 9))
    imported = {
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported == {"__future__", "importlib", "json", "os", "platform", "sys", "typing"}


def test_a_resized_picture_has_the_mean_of_each_area():
    rng = np.random.default_rng(0)
    picture = rng.integers(0, 256, (8, 12, 3), np.uint8)
    blocks = picture.reshape(4, 2, 4, 3, 3).mean((1, 3))
    assert np.abs(resized(picture, 4).astype(float) - blocks).max() <= 0.5
    assert resized(picture[:, :8], 8).tolist() == picture[:, :8].tolist()
    flat = np.full((224, 224, 3), 77, np.uint8)
    assert (resized(flat, 64) == 77).all()
    assert resized(flat, 64).shape == (64, 64, 3)
    thirds = np.array([[[0] * 3, [90] * 3, [255] * 3]] * 3, np.uint8)
    assert resized(thirds, 2)[0, :, 0].tolist() == [30, 200]  # (0 + 90/2) / 1.5, (45 + 255) / 1.5
