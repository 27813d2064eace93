"""pot-onion: put an onion into a pot.

Asked if the cook holds an onion or nothing.
"""

from sts_scenarios.plugin import Rubric

from .snapshots import Snapshot, build_category

HORIZON, MAX_LEAD = 40, 30


def why_invalid(snapshot: Snapshot, player: int) -> str | None:
    """Return why the cook cannot be asked to pot an onion; else None."""
    return None if snapshot.held_thing(player) in ("", "onion") else "the cook holds another thing"


CATEGORY = build_category(
    "pot-onion",
    ("Put an onion into a pot.", "Add an onion to a pot.", "Bring an onion to a pot."),
    lambda after, player: after.has_done(player, "potting_onion"),
    why_invalid,
    horizon=HORIZON,
    lead=MAX_LEAD,
    rubric=Rubric(
        "After the takeover, the cook puts an onion into a pot.",
        "One onion is enough, and any pot counts. The cook may already hold the onion at the "
        "takeover. An onion on a counter does not count.",
        version="2",
    ),
)
