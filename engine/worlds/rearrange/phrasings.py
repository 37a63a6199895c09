"""How the kinds of instruction that training knows are put into words.

Every phrasing was written for this project; none comes from the original benchmark, of which only
the number of phrasings per kind is kept. In training: `move` 12; `fetch`, `take_off`, `put_two`,
`set_table`, `swap`, `close_fridge`, `open_fridge`, `go_to` and `find` 11 each: 111. Held out for
evaluation: 3 each of `move`, `fetch`, `take_off`, `put_two`, `swap`, `close_fridge` and
`open_fridge`, 3 of `fetch` among irrelevant text, 1 of `fetch` for a plate, 1 of `set_table`: 26.
Kinds that only evaluation knows have theirs in `new_phrasings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from engine.worlds.rearrange.names import CATEGORIES

TRAIN: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "move": (
            "Take the {object} that is on the {source} over to the {target}.",
            "The {object} is on the {source}. Carry it to the {target}, please.",
            "Could you shift the {object} from where it lies on the {source} to the {target}?",
            "Relocate the {object}: it is on the {source} now and belongs on the {target}.",
            "From the {source}, carry the {object} across to the {target}.",
            "You will see the {object} on the {source}; the {target} is where it should end up.",
            "Transfer the {object} off the {source} and onto the {target}.",
            "My {object} sits on the {source}, but I would rather have it on the {target}.",
            "Go and get the {object} from the {source}, then set it down on the {target}.",
            "Please clear the {object} from the {source} by leaving it on the {target}.",
            "Someone left the {object} on the {source}. Return it to the {target}.",
            "I need the {object} on the {target}; pick it up at the {source}.",
        ),
        "fetch": (
            "Locate the {object} and lay it on the {target}.",
            "Hunt down the {object} and deliver it to the {target}.",
            "The {object} should be on the {target}, wherever it is at the moment.",
            "See to it that the {object} ends up on the {target}.",
            "I would like to have the {object} on the {target}.",
            "Somewhere in here is the {object}; get it onto the {target}.",
            "Would you be so kind as to set the {object} on the {target}?",
            "Search the flat for the {object} and leave it at the {target}.",
            "It would help me to have the {object} waiting on the {target}.",
            "Let the {object} be on the {target} when you are done.",
            "Get hold of the {object} for me and drop it on the {target}.",
        ),
        "take_off": (
            "See to it that the {source} is rid of the {object}.",
            "The {object} does not belong on the {source}; put it elsewhere.",
            "I want no {object} lying on the {source}.",
            "What the {source} does not need is the {object}: carry it elsewhere.",
            "Find another home for the {object} that is on the {source}.",
            "Lift the {object} from the {source} and leave it anywhere else.",
            "Please see that the {object} is no longer on the {source}.",
            "The {source} would look better without the {object}.",
            "The {object} makes the {source} untidy, so do something about it.",
            "Anywhere but on the {source}: that is where the {object} should be.",
            "Make the {source} free of the {object}, I do not mind where you put it.",
        ),
        "put_two": (
            "Gather the {first} and the {second} on the {target}.",
            "Both the {first} and the {second} should be on the {target}.",
            "I need two things on the {target}: the {first} and the {second}.",
            "Collect the {first} as well as the {second}, and lay them on the {target}.",
            "Deliver the {first} to the {target}, and the {second} too.",
            "The {target} should hold the {first} together with the {second}.",
            "Would you get the {first} and the {second} onto the {target}?",
            "Set the {first} on the {target} and then add the {second}.",
            "Look for the {first} and the {second}; both go on the {target}.",
            "Unite the {first} with the {second} on top of the {target}.",
            "Whatever else you do, the {first} and {second} have to be on the {target}.",
        ),
        "set_table": (
            "Lay the cutlery on the {target} for a meal.",
            "Dinner is nearly ready; prepare the {target} with cutlery.",
            "Get the {target} ready so that I can eat there with a knife and a spoon.",
            "We are about to eat at the {target}, so set a place.",
            "Dress the {target} for one hungry guest: a blade and something for soup.",
            "Make sure that nobody at the {target} has to eat with their fingers.",
            "Soup and steak are served at the {target}; bring out what is needed to eat them.",
            "Put the eating utensils out on the {target}.",
            "Arrange a place setting on the {target}, please.",
            "A guest is coming to lunch. Prepare the {target} with the silverware.",
            "I am having breakfast at the {target} and have nothing to cut or scoop with.",
        ),
        "swap": (
            "Exchange the {first} on the {source} with the {second} on the {target}.",
            "Let the {first} on the {source} and the {second} on the {target} trade places.",
            "The {first} is on the {source} and the {second} on the {target}; it should be the"
            " other way round.",
            "Interchange these two: the {first} from the {source}, the {second} from the {target}.",
            "Give the {first} on the {source} the place of the {second} on the {target}, and the"
            " reverse.",
            "I mixed things up: the {source} has the {first} and the {target} has the {second}."
            " Reverse that.",
            "Trade the {source}'s {first} for the {target}'s {second}.",
            "Where the {first} is, on the {source}, I want the {second} from the {target}, which"
            " the {first} replaces.",
            "Move the {first} from the {source} to the {target} and, in return, the {second} the"
            " opposite way.",
            "The {first} on the {source} must change positions with the {second} on the {target}.",
            "Reverse the positions of the {first} ({source}) and the {second} ({target}).",
        ),
        "close_fridge": (
            "Fridge door shut, please.",
            "The fridge was left open, please deal with that.",
            "Go over and push the fridge shut.",
            "Cold air is escaping from the fridge; stop it.",
            "See that the fridge is not standing open.",
            "I forgot to shut the fridge. Would you?",
            "Swing the door of the fridge to.",
            "Keep the cold inside the fridge.",
            "Nobody is using the fridge, so its door has no reason to be open.",
            "Before the milk gets warm, shut that fridge.",
            "Let the fridge be closed when you finish.",
        ),
        "open_fridge": (
            "Pull the fridge door open.",
            "I would like to look inside the fridge.",
            "Give me access to what is in the fridge.",
            "Let some light into the fridge by opening its door.",
            "See that the fridge stands open.",
            "My hands are full and I want to put milk in the fridge, so get its door for me.",
            "Swing the fridge door wide.",
            "Do not leave the fridge shut.",
            "The fridge has to be open for the cleaner.",
            "Get the fridge opened up.",
            "When you are through, I want the fridge standing open.",
        ),
        "go_to": (
            "Be at the {target} as soon as you can.",
            "Your destination is the {target}.",
            "Drive up to the {target} and stay there.",
            "I want you at the {target}.",
            "Take yourself to the {target}.",
            "The {target} is where you are wanted.",
            "Please wait for me at the {target}.",
            "Position yourself in front of the {target}.",
            "Come to the {target}, robot.",
            "Roll on to the {target}.",
            "Meet me by the {target}.",
        ),
        "find": (
            "Show me where the {object} is by going there.",
            "Track down the {object}.",
            "Where has the {object} got to? Go and stand by it.",
            "Look around until you have come to the {object}.",
            "Discover the whereabouts of the {object}.",
            "I cannot see the {object} anywhere; go up to it.",
            "Lead me to the {object}.",
            "Seek out the {object}.",
            "The {object} has gone missing, find out where it is.",
            "Get close to the {object}, wherever that may be.",
            "Stop once you are right by the {object}.",
        ),
    }
)
"""In training, by kind of instruction."""

REPHRASED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "move": (
            "There is a better place than the {source} for the {object}, and that is the {target}.",
            "Walk to the {source}, grab the {object}, and drop it off at the {target}.",
            "It bothers me that the {object} is on the {source}: the {target} suits it better.",
        ),
        "fetch": (
            "Have a good look around for the {object}, since I want to use it at the {target}.",
            "Supply the {target} with the {object}.",
            "The {target} lacks the {object}; fix that.",
        ),
        "take_off": (
            "Whoever left the {object} on the {source} was wrong: away with it.",
            "Pick up the {object} at the {source} and find some other surface for it.",
            "The {object} has no business on the {source} any longer.",
        ),
        "put_two": (
            "The {target} is missing two items, namely the {first} and the {second}.",
            "Bring a pair of things together at the {target}, one being the {first} and the other"
            " the {second}.",
            "First find the {first}, next the {second}, and let both rest upon the {target}.",
        ),
        "set_table": ("A spoonful here, a slice there: get the {target} prepared for my supper.",),
        "swap": (
            "Have the {first} and the {second} switch, so that the {target} gets the former and"
            " the {source} the latter.",
            "The {source} should lose the {first} and gain the {second}, which the {target} gives"
            " up for it.",
            "Put each where the other one is: the {first}, now at the {source}, and the {second},"
            " now at the {target}.",
        ),
        "close_fridge": (
            "The food is going to spoil if that door in the kitchen stays like this; seal the"
            " refrigerator.",
            "Finish with the refrigerator properly: door to, please.",
            "Refrigerators are meant to be kept shut, and ours is not.",
        ),
        "open_fridge": (
            "I fancy a snack from the refrigerator but cannot get at it.",
            "Unseal the refrigerator.",
            "Kindly let me see what the refrigerator holds.",
        ),
    }
)
"""Held out: kinds that training knows, in words that it does not."""

IRRELEVANT: Final = (
    "It rained all morning and my sister has cancelled her visit, yet the {object} still has to get"
    " to the {target}.",
    "The neighbours play the piano so well these days! Be that as it may, let me find the {object}"
    " on the {target} later.",
    "Ignoring that the walls could do with new paint, convey the {object} to the {target}.",
)
"""Held out: `fetch` among text that has nothing to do with it."""

PLATE: Final = (
    "Someone will want to eat off something flat and round at the {target}: take it there."
)
"""Held out: `fetch` where the object is a plate."""


def spoken(category: int) -> str:
    """The word an instruction uses for a category of objects."""
    name = CATEGORIES[category]
    return "Rubik's cube" if name == "rubriks_cube" else name.replace("_", " ")


def plural(category: int) -> str:
    """The word for several objects of a category."""
    word = spoken(category)
    if word in {"scissors", "lego"}:
        return {"scissors": "pairs of scissors", "lego": "lego bricks"}[word]
    if word in {"knife"}:
        return "knives"
    if word.endswith("ry"):
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("x", "ch", "s")) else "s")
