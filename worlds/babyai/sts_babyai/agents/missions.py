"""Parser for missions: their kind and their clauses, in order.

It needs only the text, so it works without the extra.
"""

import re
from typing import NamedTuple

KINDS = ("go-to", "open", "pick-up", "put-next", "sequence")
_VERBS = {"go to": "go-to", "open": "open", "pick up": "pick-up", "put": "put-next"}
_THING = r"(?:the|a) (?:(red|green|blue|purple|yellow|grey) )?(box|ball|key|door|object)"
_CLAUSE = re.compile(rf"(go to|open|pick up|put) {_THING}[^,]*?(?: next to {_THING})?")
_WHERE = re.compile(r"in front of you|behind you|on your (?:left|right)")
_THINGS = tuple(
    f"the {colour} {type}"
    for type in ("box", "ball", "key", "door")
    for colour in ("red", "green", "blue", "purple", "yellow", "grey")
)
WORDINGS = (
    *(f"go to {thing}" for thing in _THINGS),
    *(f"open {thing}" for thing in _THINGS if thing.endswith("door")),
    *(f"pick up {thing}" for thing in _THINGS if not thing.endswith("door")),
    *(f"put {a} next to {b}" for a in _THINGS if not a.endswith("door") for b in _THINGS if a != b),
)
"""The missions of one clause about things of a colour."""


class Thing(NamedTuple):
    """Object named in a mission; "" for any colour or any type."""

    colour: str
    type: str


class Clause(NamedTuple):
    """One thing to do."""

    # "go-to", "open", "pick-up" or "put-next". Other instructions than missions may also ask for
    # "through", or for a way to choose what to pick up: "other" (another colour of the type),
    # "neighbour" (next to the thing), "left" or "right"
    kind: str
    thing: Thing  # what to go to, open, pick up or carry, or what it is about
    next_to: Thing | None = None  # where to put it; only for "put-next"


def mission_kind(mission: str) -> str:
    """Return the kind of a mission, "sequence" for several clauses; "" for other texts."""
    found_clauses = parse_clauses(mission)
    if len(found_clauses) > 1:
        return "sequence"
    return found_clauses[0].kind if found_clauses else ""


def is_relative(mission: str) -> bool:
    """Return True if a mission names a place relative to the start, as in "on your left"."""
    return _WHERE.search(mission) is not None


def parse_clauses(mission: str) -> list[Clause]:
    """Return the clauses of a mission in an order in which they may be done; [] for other texts."""
    if " after you " in mission:
        parts = mission.split(" after you ")[::-1]
    else:
        parts = mission.split(", then ")
    matches = [_CLAUSE.fullmatch(text) for part in parts for text in part.split(" and ")]
    if not all(matches):
        return []
    return [_make_clause(match) for match in matches if match]


def _make_clause(match: re.Match[str]) -> Clause:
    verb, colour, type, other_colour, other_type = match.groups()
    next_to = _make_thing(other_colour, other_type) if other_type else None
    return Clause(_VERBS[verb], _make_thing(colour, type), next_to)


def _make_thing(colour: str | None, type: str) -> Thing:
    return Thing(colour or "", "" if type == "object" else type)
