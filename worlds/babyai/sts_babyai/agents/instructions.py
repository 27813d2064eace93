"""Parser for instructions in many wordings, as a list of steps.

In addition to the package's missions it knows "get", "fetch" and "bring", sides, neighbours,
excluded colours, and orders of two things. It needs only the text.
"""

import re

from sts_babyai.agents import missions
from sts_babyai.agents.missions import Clause, Thing

_COLOURS = "red|green|blue|purple|yellow|grey"
_THING = re.compile(rf"\b(?:({_COLOURS}) )?(box|ball|key|door)\b")
_COLOUR = re.compile(rf"\b({_COLOURS})\b")
_BESIDE = re.compile(r"next to|beside|side by side")
_BEFORE = re.compile(r"\bbefore (?:you|standing|a visit)")
_AFTER = re.compile(r"\bafter (?:you|standing|a visit)")
_SIDE = re.compile(r"\byour (left|right)\b")
_OTHER = re.compile(r"not (?:the|a) \w+ one|is not|any colour (?:but|except)")
_STAY = re.compile(r"\b(?:stay|wait|remain)\b")
_THROUGH = re.compile(r"^(?:leave through|go out by|pass)\b|\b(?:go|walk) through\b")
_OPEN = re.compile(r"\bopen\b")
_LOCK = re.compile(r"lock|by its key|key that fits")
_TAKE = re.compile(r"\b(?:get|fetch|take|pick)\b")


def parse_steps(text: str) -> list[Clause]:
    """Return the steps of an instruction in order; [] if it is not understood."""
    mission = missions.parse_clauses(text)
    if mission and not missions.is_relative(text):
        return mission
    low = text.lower()
    things = [Thing(colour or "", type) for colour, type in _THING.findall(low)]
    if side := _SIDE.search(low):
        return [Clause(side[1], Thing("", ""))]
    if _OTHER.search(low) and _COLOUR.search(low) and things:
        return [Clause("other", Thing(_COLOUR.findall(low)[0], things[0].type))]
    if not things:
        return []
    named = list(dict.fromkeys([thing for thing in things if thing.colour] or things))
    return _parse_two_things(low, *named[:2]) if len(named) > 1 else _parse_one_thing(low, named[0])


def _parse_two_things(low: str, first: Thing, second: Thing) -> list[Clause]:
    if _BEFORE.search(low):
        return [Clause("go-to", first), Clause("go-to", second)]
    if _AFTER.search(low):
        return [Clause("go-to", second), Clause("go-to", first)]
    if _BESIDE.search(low):
        return [Clause("put-next", first, second)]
    return [Clause("pick-up", second if low.startswith("leave") else first)]


def _parse_one_thing(low: str, thing: Thing) -> list[Clause]:
    if thing.type == "door" and _LOCK.search(low):
        return [Clause("pick-up", Thing(thing.colour, "key")), Clause("open", thing)]
    if _THROUGH.search(low):
        return [Clause("through", thing)]
    if _STAY.search(low):
        return [Clause("go-to", thing)]
    if _BESIDE.search(low):
        return [Clause("neighbour", thing)]
    if _OPEN.search(low):
        return [Clause("open", thing)]
    return [Clause("pick-up", thing)] if _TAKE.search(low) else []
