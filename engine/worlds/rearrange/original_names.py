"""What the original benchmark calls things, and what they are here.

Objects are assets of the YCB and ReplicaCAD data sets; their names tell category and instance.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from engine.worlds.rearrange.names import CATEGORIES, HANDLE_NAMES, RECEPTACLE_NAMES

_ASSETS: Final[Mapping[str, str]] = {
    "ball": "053_mini_soccer_ball 054_softball 055_baseball 056_tennis_ball 057_racquetball",
    "clamp": "050_medium_clamp 051_large_clamp 052_extra_large_clamp",
    "hammer": "048_hammer",
    "screwdriver": "043_phillips_screwdriver 044_flat_screwdriver",
    "padlock": "038_padlock",
    "scissors": "037_scissors",
    "block": "036_wood_block 070-a_colored_wood_blocks 070-b_colored_wood_blocks",
    "drill": "035_power_drill",
    "spatula": "033_spatula",
    "knife": "032_knife",
    "spoon": "031_spoon",
    "plate": "029_plate",
    "sponge": "026_sponge",
    "cleanser": "021_bleach_cleanser",
    "plum": "018_plum",
    "pear": "016_pear",
    "peach": "015_peach",
    "apple": "013_apple",
    "lemon": "014_lemon",
    "can": "002_master_chef_can 005_tomato_soup_can 007_tuna_fish_can 010_potted_meat_can",
    "box": "003_cracker_box 004_sugar_box 008_pudding_box 009_gelatin_box",
    "banana": "011_banana",
    "strawberry": "012_strawberry",
    "lego": " ".join(f"073-{letter}_lego_duplo" for letter in "abcdefg"),
    "rubriks_cube": "077_rubiks_cube",
    "book": " ".join(f"frl_apartment_book_{number:02d}" for number in range(1, 7)),
    "bowl": "024_bowl " + " ".join(f"frl_apartment_bowl_0{number}" for number in (1, 2, 3, 6, 7)),
    "cup": " ".join(f"065-{letter}_cups" for letter in "abcdefghij")
    + " "
    + " ".join(f"frl_apartment_cup_0{number}" for number in (1, 2, 3, 5)),
    "mug": "025_mug",
    "orange": "017_orange",
    "lid": "028_skillet_lid",
    "toy_airplane": " ".join(f"072-{letter}_toy_airplane" for letter in "abcde"),
    "wrench": "042_adjustable_wrench",
}
ASSETS: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {
        asset: (CATEGORIES.index(category), instance)
        for category, assets in _ASSETS.items()
        for instance, asset in enumerate(assets.split())
    }
)
"""Category and instance of an asset."""

_RECEPTACLES: Final[Mapping[str, str]] = {
    "black_table": "Tbl1_Top1_frl_apartment_table_01",
    "brown_table": "Tbl2_Top1_frl_apartment_table_02",
    "tv_stand": "TvStnd1_Top1_frl_apartment_tvstand",
    "sink": "sink_kitchen_counter",
    "right_counter": "counter_right_kitchen_counter",
    "left_counter": "counter_left_kitchen_counter",
    "sofa": "Sofa_frl_apartment_sofa",
    "chair": "Chr1_Top1_frl_apartment_chair_01",
    "fridge": "middle_topfrl_apartment_refrigerator",
    "left_drawer": "drawer_left_top_frl_apartment_kitchen_counter",
    "right_drawer": "drawer_right_top_frl_apartment_kitchen_counter",
}
RECEPTACLES: Final[Mapping[str, int]] = MappingProxyType(
    {
        f"receptacle_aabb_{theirs}": RECEPTACLE_NAMES.index(ours)
        for ours, theirs in _RECEPTACLES.items()
    }
)
"""Index of a receptacle."""
HANDLES: Final[Mapping[str, int]] = MappingProxyType(
    {name: index for index, name in enumerate(HANDLE_NAMES)}
)
"""Index of a handle; its name is the same."""
KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "42f1b012": "move",
        "f0917e29": "fetch",
        "9a1dd6ee": "take_off",
        "fd8dd56c": "put_two",
        "6e7f4383": "swap",
        "6e3da8a1": "close_fridge",
        "68216d8c": "open_fridge",
        "311525c5": "go_to",
        "2f2d797d": "find",
        "8a66dec9": "by_look",
        "21e2ce5f": "by_purpose",
        "93b2ef41": "by_place",
        "3ef02c70": "gather",
        "92bcf9b3": "gather_from",
        "db3119cd": "three",
        "5d5460d6": "if_open",
        "e75d9d69": "if_closed",
    }
)
"""Kind of instruction by the first part of its id."""
