"""What policy code may call in the world `crafter`.

Positions are (x, y): x grows to the right, y grows downwards. The map is 64 x 64, the player starts
near its middle. Only `act` takes time (one env frame); every other function is free and answers
from what the player sees (9 wide, 7 high, centred on the player) or remembers having seen.
"""

from typing import Literal

Action = Literal[
    "noop", "move_left", "move_right", "move_up", "move_down", "do", "sleep", "place_stone",
    "place_table", "place_furnace", "place_plant", "make_wood_pickaxe", "make_stone_pickaxe",
    "make_iron_pickaxe", "make_wood_sword", "make_stone_sword", "make_iron_sword"
]  # fmt: skip
Item = Literal[
    "health", "food", "drink", "energy", "sapling", "wood", "stone", "coal", "iron", "diamond",
    "wood_pickaxe", "stone_pickaxe", "iron_pickaxe", "wood_sword", "stone_sword", "iron_sword"
]  # fmt: skip
Material = Literal[
    "water", "grass", "stone", "path", "sand", "tree", "lava", "coal", "iron", "diamond",
    "table", "furnace"
]  # fmt: skip
Creature = Literal["cow", "zombie", "skeleton", "arrow", "plant", "ripe_plant"]
Achievement = Literal[
    "collect_coal", "collect_diamond", "collect_drink", "collect_iron", "collect_sapling",
    "collect_stone", "collect_wood", "defeat_skeleton", "defeat_zombie", "eat_cow", "eat_plant",
    "make_iron_pickaxe", "make_iron_sword", "make_stone_pickaxe", "make_stone_sword",
    "make_wood_pickaxe", "make_wood_sword", "place_furnace", "place_plant", "place_stone",
    "place_table", "wake_up"
]  # fmt: skip

def act(action: Action) -> bool:
    """Take one primitive action. True if it had an effect: on the position, the facing, the
    inventory, the cell in front (a blow at a creature always lands), or by falling asleep. Hunger
    and wounds that come by themselves do not count. Moving towards a blocked cell only turns.
    While asleep every action is a noop."""

def count(item: Item) -> int:
    """How many of an item the player holds (0..9); health, food, drink and energy too."""

def unlocked(achievement: Achievement) -> bool:
    """Whether it was achieved in this episode."""

def frames() -> int:
    """Env frames since the episode began."""

def daylight() -> float:
    """0.0 (darkest night) to 1.0 (noon); a day is 300 frames."""

def day_frame() -> int:
    """Env frames since the day began, 0 to 299; it is dark from about 150 on."""

def sleeping() -> bool:
    """Whether the player is asleep."""

def position() -> tuple[int, int]:
    """Where the player stands."""

def facing() -> tuple[int, int]:
    """Direction the player faces, as (dx, dy)."""

def in_front() -> Material | Creature | Literal["unknown", "edge"]:
    """The creature, else the material, in the faced cell."""

def look(dx: int, dy: int) -> Material | Creature | Literal["unknown", "edge"]:
    """The creature in view, else the remembered material, at an offset from the player."""

def near(material: Material) -> bool:
    """Whether it stands in the 3 x 3 cells around the player (as crafting asks: on the first row
    or column of the map crafting finds nothing)."""

def seen(what: Material | Creature) -> bool:
    """Whether a cell of it is remembered (materials) or in view (creatures; cows and plants are
    remembered where last seen)."""

def in_view(what: Material | Creature) -> bool:
    """Whether it is in view now."""

def grass_in_view() -> int:
    """Cells of grass in view (at most 63): zombies come up on them, in the dark many."""

def distance(what: Material | Creature) -> int:
    """Frames to stand beside the nearest reachable one, digging and bridging included (turns are
    not counted); 999 when none is known or reachable. Ways keep clear of creatures, and of grass
    in the dark once the player has a pickaxe; nearest means by these ways. Where an arrow would
    hit on the way, the suggestion is to wait."""

def approach(what: Material | Creature) -> Action | None:
    """Next action towards standing beside and facing the nearest reachable one; "do" once it
    is in front, so repeating `act` collects, drinks, eats or strikes. None when none is known or
    reachable. Whether the tool for it is held is not checked. "plant" is one that is not ripe."""

def step_near(first: Material, second: Material | None = None) -> Action | None:
    """Next action towards the nearest cell that has the material (or both) in its 3 x 3;
    "noop" once there. None when no such cell is known."""

def step_to_place(thing: Literal["stone", "table", "furnace", "plant"]) -> Action | None:
    """Next action towards having a cell in front that can take the thing; the placing action
    itself once it has. None when there is no such cell nearby. Whether the material for it is
    held is not checked. For a furnace it stays near a table the player is near."""

def step_to_fence() -> Action | None:
    """Next action of closing the four sides of the nearest plant with stones, so that nothing can
    eat it; None when they are closed, or when no plant is known or no stone is held."""

def fenced() -> bool:
    """Whether a plant is known and all four sides of the nearest one are closed."""

def explore(prefer: Literal["any", "grass", "mountain"] = "any") -> Action | None:
    """Next action towards the nearest unknown cell; `prefer` weighs the kind of land around
    it. None when everything that can be reached is known."""

def threat() -> int:
    """Distance in cells of the nearest zombie, skeleton or arrow in view; 99 when none."""

def danger() -> bool:
    """Whether something is about to hit: a zombie beside the player, an arrow flying at it."""

def dodge() -> Action | None:
    """Action that leaves the path of an arrow about to hit, or blocks it; None when none is."""

def enclosed() -> bool:
    """Whether the player stands in a closed room of at most 6 cells that no creature can
    enter."""

def step_to_shelter() -> Action | None:
    """Next action towards a closed room (dug into stone or won from water, gaps closed with
    stones); needs a wood pickaxe, unless one stone in front closes the room. None when enclosed
    already or when none can be made with what the player holds and remembers."""
