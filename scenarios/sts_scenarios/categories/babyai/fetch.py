"""babyai-fetch: take up one thing, and nothing else before it.

Asked of something that was seen in the context, as were others of its colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sts_scenarios.categories.tried import Deed, Proposal
from sts_scenarios.category import Rubric

from .asking import category
from .playing import Past, named, numbers, take
from .rooms import Frame, once, taking, within_sight

GUIDELINE = "Only the first thing counts that it takes up, even if it lays it down again."


def proposals(frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
    """Yield each thing of which there is one, and that has others of its colour beside it."""
    known = within_sight(frames)
    for place, one in once(frames[-1]).items():
        alike = [
            it
            for it in known.values()
            if it.colour == one.colour and it.type not in ("door", one.type)
        ]
        if place in known and alike and frames[-1].held is None:
            yield (Proposal({"thing": [*one]}, {"a": str(one)}, one.colour),)


def probe(past: Past) -> int:
    """Take up what is named."""
    return take(past, past.where(named(past.told)[0]))


def shortcut(past: Past) -> int:
    """Take up the nearest thing of its colour, whatever it is."""
    _, colour = numbers(named(past.told)[0])
    return take(past, [at for at in past.all_of("ball", "box", "key") if past.map[at][1] == colour])


CATEGORY = category(
    "fetch",
    ("Get {a}.", "Fetch {a}, and nothing else before it.", "Take {a} into your hands."),
    Deed(proposals, taking, probe, shortcut),
    horizon=15,
    rubric=Rubric(
        "The first thing that the triangle takes up after the takeover is {a}.", GUIDELINE
    ),
)
