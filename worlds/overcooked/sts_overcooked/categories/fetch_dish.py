"""fetch-dish: take a dish, from the stack or from a counter.

Asked when the cook's hands are empty.
"""

from sts_scenarios.plugin import Rubric

from .snapshots import Snapshot, build_category

HORIZON, MAX_LEAD = 40, 30


def why_invalid(snapshot: Snapshot, player: int) -> str | None:
    """Return why the cook cannot be asked for a dish; else None."""
    return "the cook's hands are not empty" if snapshot.held_thing(player) else None


CATEGORY = build_category(
    "fetch-dish",
    ("Fetch a dish.", "Go and get a dish.", "Take a dish, we need one."),
    lambda after, player: after.has_done(player, "dish_pickup"),
    why_invalid,
    horizon=HORIZON,
    lead=MAX_LEAD,
    rubric=Rubric(
        "After the takeover, the cook takes a dish into its hands.",
        "The dish may come from the stack or a counter. It counts as soon as the cook holds it; "
        "what happens afterwards does not matter.",
        version="2",
    ),
)
