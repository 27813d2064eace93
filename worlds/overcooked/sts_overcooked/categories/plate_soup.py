"""plate-soup: take a finished soup out of a pot with a dish.

Asked if a soup is cooking or done and the cook holds a dish or nothing.
"""

from sts_scenarios.plugin import Rubric

from .snapshots import Snapshot, build_category

HORIZON, MAX_LEAD = 60, 40


def is_done(after: Snapshot, player: int) -> bool:
    """Return True if the cook took a soup out of a pot."""
    return after.has_done(player, "soup_pickup", "P")


def why_invalid(snapshot: Snapshot, player: int) -> str | None:
    """Return why the cook cannot be asked to plate a soup; else None."""
    if snapshot.held_thing(player) not in ("", "dish"):
        return "the cook holds another thing"
    return (
        None
        if any(cooked >= 0 for *_, cooked in snapshot.soups_in_pots())
        else "no soup is cooking or done"
    )


CATEGORY = build_category(
    "plate-soup",
    (
        "Take a finished soup out of a pot.",
        "Put a finished soup on a dish.",
        "When a soup is done, take it out of the pot with a dish.",
    ),
    is_done,
    why_invalid,
    horizon=HORIZON,
    lead=MAX_LEAD,
    rubric=Rubric(
        "After the takeover, the cook takes a finished soup out of a pot with a dish.",
        "Picking up a soup from a counter does not count. What happens to the soup afterwards does "
        "not matter.",
        version="2",
    ),
)
