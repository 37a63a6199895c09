"""How the kinds of instruction that only evaluation knows are put into words.

Every phrasing was written for this project; none comes from the original benchmark, of which only
the number of phrasings per kind is kept: `by_look` 11 for each of 4 objects, `by_purpose` 11 for
each of 5, `by_place` 4, `gather` 11, `gather_from` 10, `three` 4, and `if_open` and `if_closed` 11
that they share.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

BY_LOOK: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "plum": (
            "Carry the dark purple fruit to the {target}.",
            "There is a small violet fruit with a stone in it. I want it on the {target}.",
            "The {target} should hold the fruit whose skin is deep purple.",
            "Look for a little roundish fruit, nearly as dark as wine, and take it to the"
            " {target}.",
            "On the {target}, please: the fruit that turns into prunes when dried.",
            "Find me something purple to eat and leave it on the {target}.",
            "Deliver the fruit of a bluish red colour to the {target}.",
            "Lay the purple stone fruit on the {target}.",
            "The smooth fruit that is neither red nor yellow but purple goes to the {target}.",
            "Which fruit here is the darkest? Get that one onto the {target}.",
            "I am painting a still life in violet; the fruit for it has to be on the {target}.",
        ),
        "lemon": (
            "Carry the sour yellow fruit to the {target}.",
            "An oval citrus fruit, bright yellow, belongs on the {target}.",
            "The {target} should hold the fruit that is yellow and has a pointed end.",
            "Look for a small yellow fruit with a dimpled rind and take it to the {target}.",
            "On the {target}, please: the yellow thing one squeezes over fish.",
            "Find the fruit that makes people pull faces and leave it on the {target}.",
            "Deliver the yellow fruit that is not at all long to the {target}.",
            "Lay the acidic fruit, the one as yellow as the sun, on the {target}.",
            "Something egg-shaped, yellow and full of juice goes to the {target}.",
            "Tea tastes better with a slice of a yellow citrus fruit. I would like it at the"
            " {target}.",
            "Get the citrus that is yellow in colour onto the {target}.",
        ),
        "banana": (
            "Carry the long curved fruit to the {target}.",
            "The bent yellow fruit that monkeys like belongs on the {target}.",
            "The {target} should hold the fruit shaped like a crescent moon.",
            "Look for a long yellow fruit with a thick peel and take it to the {target}.",
            "On the {target}, please: the fruit that is as curved as a smile.",
            "Find the fruit one peels from its stem in strips and leave it on the {target}.",
            "Deliver the yellow fruit that is much longer than it is wide to the {target}.",
            "Lay the soft tropical fruit, the crooked yellow one, on the {target}.",
            "Something bowed like a boomerang, yellow and edible, goes to the {target}.",
            "I could hold this yellow fruit to my ear like a telephone. I would like it at the"
            " {target}.",
            "Get the slender yellow fruit onto the {target}.",
        ),
        "apple": (
            "Carry the round, crisp, red fruit to the {target}.",
            "The shiny red fruit that keeps the doctor away belongs on the {target}.",
            "The {target} should hold the large fruit that is red, round and has a core.",
            "Look for a fist-sized red fruit with a short stalk and take it to the {target}.",
            "On the {target}, please: the red fruit that crunches when bitten.",
            "Find the fruit that Snow White was given and leave it on the {target}.",
            "Deliver the big red fruit without any visible seeds on its skin to the {target}.",
            "Lay the fruit that cider is pressed from on the {target}.",
            "Something round and glossy red, good for baking in a pie, goes to the {target}.",
            "Pupils used to give this round red fruit to their teachers. I would like it at the"
            " {target}.",
            "Get the firm red fruit that grows in orchards onto the {target}.",
        ),
    }
)
"""The object by what it looks like; by category."""

BY_PURPOSE: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "ball": (
            "I want to play catch. Take what I need for it to the {target}.",
            "The dog is bored and loves to chase what bounces; leave it on the {target}.",
            "Let there be something to throw and catch on the {target}.",
            "Our team meets at the {target} and has nothing to play with.",
            "At the {target} I would like to practise throwing at a hoop, so equip me.",
            "The children at the {target} want to play outside with a round toy.",
            "I am going to the park for a match; put what we play it with on the {target}.",
            "Something that bounces should be on the {target}.",
            "I want to learn to juggle at the {target}. Get me the first thing I need.",
            "Sports hour begins at the {target}; bring along what gets kicked and thrown.",
            "Have the thing one scores goals with waiting on the {target}.",
        ),
        "screwdriver": (
            "A screw at the {target} has come loose. Get me what tightens it.",
            "I am assembling shelves at the {target} and have to turn screws.",
            "Let there be something to turn screws with on the {target}.",
            "The hinges are held by screws that I wish to undo; leave the tool on the {target}.",
            "I must change the batteries of a toy whose cover is screwed on. Help me at the"
            " {target}.",
            "At the {target} a stool wobbles for want of a twist to its screws.",
            "Whatever unscrews a socket cover should be on the {target}.",
            "My glasses need a turn of a tiny screw; take the right tool to the {target}.",
            "Put the tool with a handle and a tip that fits a screw head on the {target}.",
            "This kit came with screws but no tool. I am waiting at the {target}.",
            "I want to take a radio apart at the {target}, screw by screw.",
        ),
        "scissors": (
            "I have wrapping paper to cut at the {target}; get me something for that.",
            "My hair needs a trim. Leave what a barber would use on the {target}.",
            "Let there be something with two blades for cutting ribbon on the {target}.",
            "I am making paper snowflakes at the {target}.",
            "A coupon has to be clipped out of the newspaper; put the tool on the {target}.",
            "The seamstress at the {target} wants to cut her cloth.",
            "Whatever snips thread should be on the {target}.",
            "Take something to cut out paper dolls with to the {target}.",
            "The label on my sweater itches and must be snipped off. Help me at the {target}.",
            "For the craft lesson at the {target} bring what cuts cardboard shapes.",
            "I play paper and rock at the {target}; the third one is still missing.",
        ),
        "cleanser": (
            "There is a stain to be bleached at the {target}; get me the bottle for that.",
            "The bathroom tiles must be disinfected. Leave the right liquid on the {target}.",
            "Let there be a bottle of something that kills germs on the {target}.",
            "I am about to scrub the floor and need a cleaning fluid at the {target}.",
            "The toilet wants cleaning; put the chemical for it on the {target}.",
            "Whatever I add to water to mop with should be on the {target}.",
            "Take something to whiten dirty laundry with to the {target}.",
            "It smells of mould here. A bottle that helps against it belongs on the {target}.",
            "Spring cleaning starts at the {target}, and the detergent is not there yet.",
            "Grease will not come off with plain water; supply the {target} with what helps.",
            "I ran out of soap for the tub. Have a substitute from a bottle ready at the {target}.",
        ),
        "mug": (
            "I am making coffee at the {target} and want something with a handle to pour it in.",
            "Hot cocoa is on its way to the {target}; get what it is drunk from, with a handle.",
            "Let there be something to hold steaming tea without burning my fingers on the"
            " {target}.",
            "My hot drink needs a vessel with an ear to hold it by. Leave it on the {target}.",
            "The espresso machine at the {target} has nothing below its spout to drink from by a"
            " handle.",
            "Take what people sip hot chocolate from at a campfire to the {target}.",
            "Whatever my morning coffee is served in, handle and all, should be on the {target}.",
            "I want a latte at the {target}, in something sturdy that hangs on a hook.",
            "Put the thing with a handle for hot drinks on the {target}.",
            "The boss wants her coffee at the {target}, and not in a tumbler: it needs a handle.",
            "Brewing is done, so bring the ceramic thing with one handle to the {target}.",
        ),
    }
)
"""The object by what it is for; by category."""

BY_PLACE: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "sink": (
            "Take the {object} to the place between the left counter and the right counter.",
            "Between two counters there is a basin: that is where the {object} should be.",
        ),
        "sofa": (
            "Take the {object} to the upholstered seat that is near the middle of the flat.",
            "But for the chair, nothing stands nearer to the middle of the flat than where I want"
            " the {object} to be.",
        ),
    }
)
"""The place by how it lies to others; by receptacle. True of every flat of evaluation."""

GATHER: Final = (
    "Every one of the {objects} should be on the {target}.",
    "With no exception, {objects} are to be collected on the {target}.",
    "I want each {object} there is on the {target}.",
    "Round up the {objects} and leave them at the {target}.",
    "No {object} may remain anywhere but on the {target}.",
    "Bring together however many {objects} you find; the {target} is the place.",
    "The {target} is for {objects}. Make sure that none is missing.",
    "Search everywhere for {objects} and lay all of them on the {target}.",
    "Have the entire set of {objects} on the {target}.",
    "As long as there is a {object} elsewhere, take it to the {target}.",
    "Whatever {objects} are lying about belong on the {target}, the whole lot.",
)
GATHER_FROM: Final = (
    "See the {objects} on the {source}? They are all wanted on the {target}.",
    "Every {object} that is on the {source} should be on the {target}.",
    "Clear the {source} of {objects}; they go to the {target}.",
    "Move the {objects}, all of them, off the {source} and onto the {target}.",
    "Not one {object} should stay on the {source}: the {target} gets them.",
    "The {source} holds several {objects}. Shift each of them to the {target}.",
    "Empty the {source} of its {objects} by carrying them to the {target}.",
    "One after the other, transfer the {objects} on the {source} to the {target}.",
    "From {source} to {target}: every last {object}.",
    "Let the {target} have all the {objects} that the {source} has now.",
)
THREE: Final = (
    "Take the {first} to the {target}, the {second} to the {target2} and the {third} to the"
    " {target3}.",
    "Three things are out of place: the {first} goes on the {target}, the {second} on the"
    " {target2}, the {third} on the {target3}.",
    "I want the {first} on the {target}, the {second} on the {target2}, and also the {third} on the"
    " {target3}.",
    "Tidy up: {first} to the {target}, then {second} to the {target2}, lastly {third} to the"
    " {target3}.",
)
IF_FRIDGE: Final = (
    "If the fridge stands open, take the {first} to the {target}; if it does not, take the"
    " {second} there.",
    "Check the fridge. Open means the {first} goes on the {target}, shut means the {second} does.",
    "The {first} belongs on the {target} provided that the fridge is open; otherwise the {second}"
    " does.",
    "In case of an open fridge bring the {first} to the {target}, else the {second}.",
    "Depending on whether the fridge is open or closed, lay the {first} or the {second} on the"
    " {target}.",
    "Should the fridge be open, I need the {first} on the {target}; should it be closed, the"
    " {second}.",
    "Is the fridge open? Then the {first} goes to the {target}. If not, the {second} goes there.",
    "Put the {first} on the {target} when you find the fridge open, and the {second} when you find"
    " it closed.",
    "With the fridge open, the {target} should get the {first}, but with the fridge closed the"
    " {second}.",
    "Take one thing to the {target}: the {first} for a fridge that is open, the {second} for one"
    " that is not.",
    "Look whether the fridge is open. Yes: {first} to the {target}. No: {second} to the {target}.",
)
"""First object if the fridge is open, second if it is closed; the fridge stays as it is."""
