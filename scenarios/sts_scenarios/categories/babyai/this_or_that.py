"""babyai-this-or-that: a pair, to take up one of two things and not the other, from one moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sts_scenarios.categories.tried import Deed, Proposal
from sts_scenarios.category import Rubric

from .asking import category
from .fetch import GUIDELINE
from .playing import Past, named, nearest, take
from .rooms import Frame, once, taking, within_sight


def proposals(frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
    """Yield two things, of which either is to be taken."""
    known = within_sight(frames)
    own = [it for at, it in once(frames[-1]).items() if at in known]
    for n, one in enumerate(own if frames[-1].held is None else ()):
        for other in own[n + 1 :]:
            yield tuple(
                Proposal({"thing": [*this], "other": [*that]}, {"a": str(this), "b": str(that)})
                for this, that in ((one, other), (other, one))
            )


def probe(past: Past) -> int:
    """Take what is named first, but where it is told to leave that."""
    first, second = named(past.told)[:2]
    return take(past, past.where(second if past.told.lower().startswith("leave") else first))


CATEGORY = category(
    "this-or-that",
    ("Get {a}, not {b}.", "Take up {a} and let {b} be.", "Leave {b} and fetch {a}."),
    Deed(proposals, taking, probe, nearest("ball", "box", "key")),
    horizon=16,
    rubric=Rubric(
        "The first thing that the triangle takes up after the takeover is {a}.", GUIDELINE
    ),
)
