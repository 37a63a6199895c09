"""The files read here are made here, in the form of the original's and in words of our own."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.worlds.rearrange.batch import RearrangeBatch
from engine.worlds.rearrange.goals import And, Atom, Exists, ForAll, Nand, Or
from engine.worlds.rearrange.layout import generate
from engine.worlds.rearrange.names import (
    ACTION_INDEX,
    CATEGORIES,
    FRIDGE_HANDLE,
    INSTANCES,
    RECEPTACLE_NAMES,
)
from engine.worlds.rearrange.original import load, translate
from engine.worlds.rearrange.original_file import OriginalFileError
from engine.worlds.rearrange.original_names import ASSETS, RECEPTACLES

SOFA = "receptacle_aabb_Sofa_frl_apartment_sofa"
SINK = "receptacle_aabb_sink_kitchen_counter"
TV_STAND = "receptacle_aabb_TvStnd1_Top1_frl_apartment_tvstand"
BROWN = "receptacle_aabb_Tbl2_Top1_frl_apartment_table_02"
LYING = {
    "013_apple_:0000": TV_STAND,
    "056_tennis_ball_:0000": SINK,
    "072-b_toy_airplane_:0000": BROWN,
    "065-c_cups_:0000": BROWN,
    "065-c_cups_:0001": SOFA,
}


def on_top(target: str, **variables: str) -> dict[str, Any]:
    """Objects on a receptacle, as the original writes it."""
    return {
        "expr_type": "AND",
        "quantifier": "EXISTS",
        "inputs": [{"name": name, "expr_type": kind} for name, kind in variables.items()],
        "sub_exprs": [*(f"on_top({name}, {target})" for name in variables), "not_holding()"],
    }


@dataclass
class Book:
    """Collects episodes and writes them as the original does: names and transforms by number."""

    names: dict[str, int] = field(default_factory=dict)
    episodes: list[dict[str, Any]] = field(default_factory=list)

    def number(self, name: str) -> int:
        return self.names.setdefault(name, len(self.names))

    def add(self, instruct_id: str, goal: dict[str, Any], **told: Any) -> None:
        lying = told.pop("lying", LYING)
        numbered = [[self.number(thing), self.number(place)] for thing, place in lying.items()]
        assets = [self.number(f"{thing.partition('_:')[0]}.object_config.json") for thing in lying]
        self.episodes.append(
            {
                "episode_id": str(len(self.episodes)),
                "scene_id": "data/replica_cad/configs/scenes/v3_sc3_staging_04.scene_instance.json",
                "start_position": [0, 0, 0],
                "info": {"object_labels": {}},
                "ao_states": {self.number("fridge_:0000"): {2: 0.0}},
                "rigid_objs": np.array([[asset, n] for n, asset in enumerate(assets)]),
                "markers": [
                    [self.number("fridge_push_point"), 0, np.array([0.1, -0.62, 0.2]), 0, 0]
                ],
                "name_to_receptacle": np.array(numbered),
                "instruction": "Words of the file.",
                "sampled_entities": {},
                "goal_preds": goal,
                "start_preds": [],
                "subgoals": [],
                "instruct_id": instruct_id,
            }
            | told
        )

    def write(self, path: Path) -> Path:
        content = {
            "all_transforms": np.zeros((8, 4, 4), np.float32),
            "idx_to_name": {number: name for name, number in self.names.items()},
            "all_eps": self.episodes,
        }
        path.write_bytes(pickle.dumps(content, 4))
        return path


@pytest.fixture
def book() -> Book:
    return Book()


class TestReading:
    def test_an_episode_is_set_up_here(self, book: Book, tmp_path: Path) -> None:
        book.add("f0917e29", on_top(SOFA, X="apple"))
        original = load(book.write(tmp_path / "context.pickle"))
        (episode,) = original.episodes
        assert original.left_out == ()
        assert (episode.id, episode.split, episode.kind) == (
            "original-context-00000",
            "context",
            "fetch",
        )
        assert (episode.macro, episode.variant) == (3, 4)
        assert episode.instruction == "Words of the file."
        assert [ACTION_INDEX[name] for name in ("nav(tv_stand)", "pick_apple")] == list(
            episode.solution[:2]
        )
        assert len(episode.solution) == 4

    def test_objects_lie_on_their_receptacles_in_the_file_s_order(
        self, book: Book, tmp_path: Path
    ) -> None:
        book.add("f0917e29", on_top(SOFA, X="apple"))
        (episode,) = load(book.write(tmp_path / "file.pickle")).episodes
        assert [(CATEGORIES[placed.category], placed.instance) for placed in episode.objects] == [
            ("apple", 0),
            ("ball", 3),
            ("toy_airplane", 1),
            ("cup", 2),
            ("cup", 2),
        ]
        low, high = generate(3, 4).surfaces.transpose(1, 0, 2)
        for placed, place in zip(episode.objects, LYING.values(), strict=True):
            on = ((low <= placed.position) & (placed.position <= high)).all(axis=1).nonzero()[0]
            assert on.tolist() == [RECEPTACLES[place]]

    def test_the_same_file_gives_the_same_episodes(self, book: Book, tmp_path: Path) -> None:
        book.add("f0917e29", on_top(SOFA, X="apple"))
        path = book.write(tmp_path / "file.pickle")
        assert load(path) == load(path)

    def test_all_forms_are_solved_and_played(self, book: Book, tmp_path: Path) -> None:
        fridge = {"expr_type": "AND", "sub_exprs": ["closed_fridge(fridge_push_point)"]}
        off = {
            "expr_type": "AND",
            "sub_exprs": [
                "not_holding()",
                {
                    "expr_type": "NAND",
                    "inputs": [{"name": "X", "expr_type": "toy airplane"}],
                    "quantifier": "EXISTS",
                    "sub_exprs": [f"on_top(X, {BROWN})"],
                },
            ],
        }
        condition = on_top(SOFA, X="apple", Y="ball")
        condition["sub_exprs"][:2] = [
            "opened_fridge(fridge_push_point)",
            f"on_top(X, {SOFA})",
            f"on_top(Y, {SINK})",
        ]
        opened = ["opened_fridge(fridge_push_point)"]
        book.add("42f1b012", on_top(SOFA, X="apple"))
        book.add("fd8dd56c", on_top(SOFA, X="apple", Y="toy airplane"))
        book.add("9a1dd6ee", off)
        book.add("6e3da8a1", fridge, start_preds=opened)
        book.add("68216d8c", {"expr_type": "AND", "sub_exprs": opened})
        book.add("311525c5", {"expr_type": "AND", "sub_exprs": [f"robot_at({BROWN})"]})
        book.add("3ef02c70", on_top(TV_STAND, X="cup") | {"quantifier": "FORALL"})
        book.add("5d5460d6", condition, start_preds=opened)
        book.add("93b2ef41_b8173aa5", on_top(TV_STAND, X="ball"))
        original = load(book.write(tmp_path / "file.pickle"))
        assert original.left_out == ()
        assert Counter(episode.kind for episode in original.episodes) == dict.fromkeys(
            (
                "move",
                "put_two",
                "take_off",
                "close_fridge",
                "open_fridge",
                "go_to",
                "gather",
                "if_open",
                "by_place",
            ),
            1,
        )
        batch = RearrangeBatch(1)
        for episode in original.episodes:
            batch.begin(0, episode)
            steps = [batch.step(np.array([action])) for action in episode.solution]
            assert [bool(step.success[0]) for step in steps] == [False] * (len(steps) - 1) + [True]
            assert steps[-1].progress[0] == 1
            assert not any(step.invalid[0] for step in steps)

    def test_the_fridge_starts_as_told(self, book: Book, tmp_path: Path) -> None:
        shut = {"expr_type": "AND", "sub_exprs": ["closed_fridge(fridge_push_point)"]}
        book.add("6e3da8a1", shut, start_preds=["opened_fridge(fridge_push_point)"])
        book.add(
            "f0917e29", on_top(SOFA, X="apple"), start_preds=["closed_fridge(fridge_push_point)"]
        )
        episodes = load(book.write(tmp_path / "file.pickle")).episodes
        assert [episode.joints[FRIDGE_HANDLE] for episode in episodes] == [1.22, 0.0]

    def test_what_is_done_already_is_left_out(self, book: Book, tmp_path: Path) -> None:
        book.add("f0917e29", on_top(TV_STAND, X="apple"))
        book.add("f0917e29", on_top(SOFA, X="apple"))
        original = load(book.write(tmp_path / "file.pickle"))
        assert original.left_out == ("original-file-00000",)
        assert [episode.id for episode in original.episodes] == ["original-file-00001"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("told", "names"),
        [
            ({"scene_id": "hm3d/00800"}, "hm3d/00800"),
            ({"scene_id": "v3_sc7_staging_00"}, "no flat 7"),
            ({"instruct_id": "00000000_1"}, "00000000"),
            ({"instruction": 5}, "instruction 5"),
            ({"start_preds": ["robot_at(fridge_push_point)"]}, "robot_at"),
            ({"name_to_receptacle": [[0, 1]]}, "expected an array"),
            ({"name_to_receptacle": np.array([[98, 99]])}, "98"),
            ({"lying": {"900_teapot_:0000": SOFA}}, "900_teapot"),
            ({"lying": {"013_apple_:0000": "receptacle_aabb_roof"}}, "roof"),
        ],
    )
    def test_another_form_is_told_with_its_episode(
        self, book: Book, tmp_path: Path, told: dict[str, Any], names: str
    ) -> None:
        told = dict(told)
        book.add("f0917e29", on_top(SOFA, X="apple"))
        book.add(told.pop("instruct_id", "f0917e29"), on_top(SOFA, X="apple"), **told)
        with pytest.raises(OriginalFileError, match=f"Episode 1 of .*{names}"):
            load(book.write(tmp_path / "file.pickle"))

    def test_a_missing_part_is_told(self, book: Book, tmp_path: Path) -> None:
        book.add("f0917e29", on_top(SOFA, X="apple"))
        del book.episodes[0]["goal_preds"]
        with pytest.raises(OriginalFileError, match="KeyError: 'goal_preds'"):
            load(book.write(tmp_path / "file.pickle"))


class TestGoals:
    def test_exists(self) -> None:
        apple, ball = CATEGORIES.index("apple"), CATEGORIES.index("ball")
        sofa = RECEPTACLE_NAMES.index("sofa")
        assert translate(on_top(SOFA, X="apple", Y="ball")) == Exists(
            (("X", apple), ("Y", ball)),
            And((Atom("on_top", "X", sofa), Atom("on_top", "Y", sofa), Atom("not_holding"))),
        )

    def test_a_quantifier_stands_before_its_connective(self) -> None:
        told = {
            "expr_type": "NAND",
            "quantifier": "EXISTS",
            "inputs": [{"name": "X", "expr_type": "toy airplane"}],
            "sub_exprs": ["holding(X)"],
        }
        airplane = CATEGORIES.index("toy_airplane")
        assert translate(told) == Exists((("X", airplane),), Nand((Atom("holding", "X"),)))

    def test_for_all(self) -> None:
        told = on_top(SOFA, X="cup") | {"quantifier": "FORALL"}
        cup, sofa = CATEGORIES.index("cup"), RECEPTACLE_NAMES.index("sofa")
        body = And((Atom("on_top", "X", sofa), Atom("not_holding")))
        assert translate(told) == ForAll("X", cup, body)

    def test_handles(self) -> None:
        told = {
            "expr_type": "OR",
            "sub_exprs": ["opened_cab(cab_push_point_5)", "robot_at(cab_push_point_7)"],
        }
        assert translate(told) == Or((Atom("opened", place=2), Atom("robot_at", place=11)))

    @pytest.mark.parametrize(
        ("told", "names"),
        [
            ("on top of it", "on top of it"),
            ("melted(X)", "melted"),
            ({"expr_type": "XOR", "sub_exprs": []}, "XOR"),
            (on_top(SOFA, X="apple") | {"quantifier": "MOST"}, "MOST"),
            (on_top(SOFA, X="teapot"), "not in"),
        ],
    )
    def test_what_is_not_known_is_refused(self, told: Any, names: str) -> None:
        with pytest.raises((ValueError, KeyError), match=names):
            translate(told)


class TestNames:
    def test_assets_are_all_instances_of_all_categories(self) -> None:
        assert len(ASSETS) == 81
        assert Counter(CATEGORIES[category] for category, _ in ASSETS.values()) == INSTANCES

    def test_receptacles_are_all(self) -> None:
        assert sorted(RECEPTACLES.values()) == list(range(len(RECEPTACLE_NAMES)))
