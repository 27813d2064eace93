"""plate-soup: take a finished soup out of a pot with a dish.

Asked when a soup cooks or is done and the cook holds a dish or nothing.
"""

from __future__ import annotations

from sts_scenarios.category import Rubric

from .moments import Moment, category

HORIZON, LEAD = 60, 40


def done(before: Moment, after: Moment, role: int) -> bool:
    """Says whether the cook took a soup out of a pot."""
    return after.has_done(role, "soup_pickup", "P")


def fault(moment: Moment, role: int) -> str | None:
    """Says why a cook cannot be asked to plate a soup."""
    if moment.holds(role) not in ("", "dish"):
        return "the cook holds something else"
    return None if any(cooked >= 0 for *_, cooked in moment.pots()) else "no soup cooks or is done"


CATEGORY = category(
    "plate-soup",
    (
        "Take a finished soup out of a pot.",
        "Put a finished soup on a dish.",
        "When a soup is done, take it out of the pot with a dish.",
    ),
    done,
    fault,
    horizon=HORIZON,
    lead=LEAD,
    rubric=Rubric(
        "The cook takes a finished soup out of a pot, onto a dish in their hands.",
        "A soup that stands on a counter already does not count. Where the soup goes then is "
        "not asked.",
    ),
)
