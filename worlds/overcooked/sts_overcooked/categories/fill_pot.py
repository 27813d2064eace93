"""fill-pot: put the third onion into a pot, so that it starts to cook.

Asked if a pot has one or two onions and the cook holds an onion or nothing. Onions from the other
cook count towards the three, but the evaluated cook must add the third.
"""

from sts_overcooked.constants import FULL
from sts_scenarios.plugin import Rubric

from .snapshots import Snapshot, build_category

HORIZON, MAX_LEAD = 60, 40


def is_done(after: Snapshot, player: int) -> bool:
    """Return True if the cook added the last onion to a pot that is now full."""
    potted = [(cook, place) for cook, kind, place in after.events if kind == "potting_onion"]
    filled = dict((place, cook) for cook, place in potted if len(after.objects[place][1]) == FULL)
    return player in filled.values()


def why_invalid(snapshot: Snapshot, player: int) -> str | None:
    """Return why the cook cannot be asked to fill a pot; else None."""
    if snapshot.held_thing(player) not in ("", "onion"):
        return "the cook holds another thing"
    has_room = any(len(ingredients) < FULL for _, ingredients, _ in snapshot.soups_in_pots())
    return None if has_room else "no pot is partly filled"


CATEGORY = build_category(
    "fill-pot",
    (
        "Fill a pot: put in the third onion, so that it starts to cook.",
        "Get a soup cooking: make sure that you put the third onion into a pot.",
        "Put the last missing onion into a pot.",
    ),
    is_done,
    why_invalid,
    horizon=HORIZON,
    lead=MAX_LEAD,
    rubric=Rubric(
        "After the takeover, the cook puts the third onion into a pot, so that it starts to cook.",
        "Any pot counts. The other cook may have put in the first two onions, but the judged cook "
        "must put in the third.",
        version="2",
    ),
)
