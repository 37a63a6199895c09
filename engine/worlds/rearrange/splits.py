"""The sets of tasks: training, the ten evaluation splits, and what each holds out.

Source: the splits shipped with Language Rearrangement (LLaRP, arXiv 2310.17722), 100 tasks each,
with the composition counted there. Deviations: `rephrasing` draws from all kinds that have held-out
phrasings, where the original leaves out swapping, opening, the table and the plate;
`multiple_objects` uses all flats, receptacles and categories, where the original has one scene, 3
receptacles and 16 categories; an evaluation task never asks for a held-out object but in
`novel_objects` and `context` (one of its five objects is a mug).

All evaluation splits use an arrangement of the flat that training has not; `train_validation` uses
one that it has. Held-out objects lie about in all evaluation splits, as in the original.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from engine.worlds.rearrange.names import (
    CATEGORIES,
    HELD_OUT_CATEGORIES,
    RECEPTACLE_NAMES,
    TRAIN_CATEGORIES,
)
from engine.worlds.rearrange.new_phrasings import (
    BY_LOOK,
    BY_PLACE,
    BY_PURPOSE,
    GATHER,
    GATHER_FROM,
    IF_FRIDGE,
    THREE,
)
from engine.worlds.rearrange.phrasings import IRRELEVANT, PLATE, REPHRASED, TRAIN
from engine.worlds.rearrange.tasks import Demand

ObjectRule = Literal["strict", "paper"]
"""What training may show of the held-out objects. `strict`: nothing. `paper`: as the original does,
they lie about, and kinds of task that name a place or two objects ask for them."""
Objects = Literal["known", "known_in_moves", "held_out"]
"""Which objects a set's tasks ask for; `known_in_moves` is what `paper` does in training."""
Group = Literal["", "paraphrastic robustness", "behaviour generalization"]

KNOWN: Final = tuple(range(len(TRAIN_CATEGORIES)))
HELD_OUT: Final = tuple(CATEGORIES.index(name) for name in HELD_OUT_CATEGORIES)
ALL: Final = tuple(range(len(CATEGORIES)))
LEAKY: Final = frozenset({"take_off", "put_two", "swap"})
"""Kinds for which the original's training draws held-out objects too."""


@dataclass(frozen=True, slots=True)
class Share:
    """One of the ways a set's tasks come about."""

    demands: tuple[Demand, ...]
    """Equally likely."""
    weight: int
    """In evaluation: the number of such tasks; in training: the relative frequency."""


@dataclass(frozen=True, slots=True)
class Split:
    """A set of tasks."""

    name: str
    group: Group
    """What the paper counts it to."""
    holds_out: str
    """What training has not."""
    macros: tuple[int, ...]
    shares: tuple[Share, ...]
    objects: Objects = "known"
    scattered: tuple[int, ...] = ALL
    """Categories of which at least one object each lies about."""
    more: tuple[int, int] = (1, 2)
    """Least and greatest number of objects besides one of each category."""

    @property
    def size(self) -> int:
        """How many tasks an evaluation split has."""
        return sum(share.weight for share in self.shares)

    def asked(self, kind: str) -> Sequence[int]:
        """Categories that a kind of task may ask for."""
        if self.objects == "held_out":
            return HELD_OUT
        return ALL if self.objects == "known_in_moves" and kind in LEAKY else KNOWN


def _share(kind: str, phrasings: Sequence[str], weight: int, **told: int) -> Share:
    return Share(tuple(Demand(kind, phrasing, **told) for phrasing in phrasings), weight)


def _trained(**weights: int) -> tuple[Share, ...]:
    return tuple(_share(kind, TRAIN[kind], weight) for kind, weight in weights.items())


def _rephrased(**weights: int) -> tuple[Share, ...]:
    return tuple(_share(kind, REPHRASED[kind], weight) for kind, weight in weights.items())


def training(objects: ObjectRule = "strict") -> Split:
    """What training draws from.

    Raises:
        ValueError: There is no such rule.
    """
    if objects not in ("strict", "paper"):
        raise ValueError(f"The rule for objects is 'strict' or 'paper', not {objects!r}.")
    strict = objects == "strict"
    weights = {kind: 1 for kind in TRAIN} | dict.fromkeys(("move", "fetch", *sorted(LEAKY)), 4)
    return Split(
        name="training",
        group="",
        holds_out="",
        macros=(0, 1, 2),
        shares=_trained(**weights),
        objects="known" if strict else "known_in_moves",
        scattered=KNOWN if strict else ALL,
    )


def train_validation(objects: ObjectRule = "strict") -> Split:
    """Tasks as in training that it does not see, in flats of an arrangement that it sees."""
    rule = training(objects)
    return Split(
        name="train_validation",
        group="",
        holds_out="nothing",
        macros=(0,),
        shares=_trained(move=20, fetch=20, take_off=16, put_two=16, swap=14, go_to=14),
        objects=rule.objects,
        scattered=rule.scattered,
    )


_EVALUATION: Final = (
    Split(
        name="new_scenes",
        group="",
        holds_out="arrangement of the flat",
        macros=(3,),
        shares=_trained(
            fetch=25, move=19, put_two=18, take_off=14, swap=14, close_fridge=5, open_fridge=5
        ),
    ),
    Split(
        name="rephrasing",
        group="paraphrastic robustness",
        holds_out="phrasings of known kinds",
        macros=(3,),
        shares=(
            *_rephrased(move=27, take_off=21, put_two=14, set_table=2, fetch=13),
            _share("fetch", (PLATE,), 2, category=CATEGORIES.index("plate")),
            *_rephrased(swap=6, close_fridge=9, open_fridge=6),
        ),
    ),
    Split(
        name="referring_expressions",
        group="paraphrastic robustness",
        holds_out="objects told by their look",
        macros=(3,),
        shares=tuple(
            _share("by_look", phrasings, 25, category=CATEGORIES.index(name))
            for name, phrasings in BY_LOOK.items()
        ),
    ),
    Split(
        name="spatial_relationships",
        group="paraphrastic robustness",
        holds_out="receptacles told by how they lie to others",
        macros=(3,),
        shares=tuple(
            _share("by_place", BY_PLACE[name], weight, target=RECEPTACLE_NAMES.index(name))
            for name, weight in (("sink", 70), ("sofa", 30))
        ),
    ),
    Split(
        name="context",
        group="paraphrastic robustness",
        holds_out="objects told by what they are for",
        macros=(3,),
        shares=tuple(
            _share("by_purpose", phrasings, 20, category=CATEGORIES.index(name))
            for name, phrasings in BY_PURPOSE.items()
        ),
    ),
    Split(
        name="irrelevant_text",
        group="paraphrastic robustness",
        holds_out="text that has nothing to do with the task",
        macros=(3,),
        shares=(_share("fetch", IRRELEVANT, 100),),
    ),
    Split(
        name="multiple_rearrangements",
        group="behaviour generalization",
        holds_out="all objects of a category",
        macros=(3,),
        shares=(_share("gather_from", GATHER_FROM, 60), _share("gather", GATHER, 40)),
        more=(12, 21),
    ),
    Split(
        name="novel_objects",
        group="behaviour generalization",
        holds_out="categories of objects, and phrasings",
        macros=(3,),
        shares=_rephrased(move=53, fetch=47),
        objects="held_out",
    ),
    Split(
        name="multiple_objects",
        group="behaviour generalization",
        holds_out="three objects",
        macros=(3,),
        shares=(_share("three", THREE, 100),),
    ),
    Split(
        name="conditional_instructions",
        group="behaviour generalization",
        holds_out="conditions",
        macros=(3,),
        shares=(_share("if_closed", IF_FRIDGE, 53), _share("if_open", IF_FRIDGE, 47)),
    ),
)
EVALUATION: Final[Mapping[str, Split]] = MappingProxyType(
    {split.name: split for split in _EVALUATION}
)
"""The ten evaluation splits by name; the same ones whatever training may show of objects."""
