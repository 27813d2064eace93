"""deliver-soup: bring a soup to the serving window.

Asked if the cook holds a soup, or holds a dish or nothing while a soup is cooking, done or on a
counter.
"""

from sts_scenarios.plugin import Rubric

from .snapshots import Snapshot, build_category

HORIZON, MAX_LEAD = 60, 45


def why_invalid(snapshot: Snapshot, player: int) -> str | None:
    """Return why the cook cannot be asked to deliver a soup; else None."""
    if snapshot.held_thing(player) == "soup":
        return None
    if snapshot.held_thing(player) not in ("", "dish"):
        return "the cook holds another thing"
    soups = [thing for thing in snapshot.objects.values() if isinstance(thing, list)]
    return None if any(cooked >= 0 for *_, cooked in soups) else "there is no soup"


CATEGORY = build_category(
    "deliver-soup",
    (
        "Deliver a soup.",
        "Bring a soup to the serving window.",
        "Serve a soup: bring it to the serving window yourself.",
    ),
    lambda after, player: after.has_done(player, "soup_delivery"),
    why_invalid,
    horizon=HORIZON,
    lead=MAX_LEAD,
    rubric=Rubric(
        "After the takeover, the cook brings a soup to the serving window.",
        "It counts as soon as the soup is on the window. Any soup counts, no matter which cook "
        "cooked it or put it on the dish, but the judged cook must bring it there.",
        version="2",
    ),
)
