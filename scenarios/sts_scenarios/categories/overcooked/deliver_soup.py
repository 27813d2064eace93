"""deliver-soup: bring a soup to the serving window.

Asked when the cook holds a soup, or when one cooks, is done or stands on a counter and the cook's
hands are free for it: they hold a dish or nothing.
"""

from __future__ import annotations

from sts_scenarios.category import Rubric

from .moments import Snapshot, build_category

HORIZON, MAX_LEAD = 60, 45


def is_done(before: Snapshot, after: Snapshot, role: int) -> bool:
    """Says whether the cook delivered a soup."""
    return after.has_done(role, "soup_delivery")


def why_invalid(moment: Snapshot, role: int) -> str | None:
    """Says why a cook cannot be asked to deliver a soup."""
    if moment.holds(role) == "soup":
        return None
    if moment.holds(role) not in ("", "dish"):
        return "the cook holds something else"
    soups = [it for it in moment.objects.values() if isinstance(it, list)]
    return None if any(cooked >= 0 for *_, cooked in soups) else "there is no soup"


CATEGORY = build_category(
    "deliver-soup",
    (
        "Deliver a soup.",
        "Bring a soup to the serving window.",
        "Serve a soup: bring it to the serving window yourself.",
    ),
    is_done,
    why_invalid,
    horizon=HORIZON,
    lead=MAX_LEAD,
    rubric=Rubric(
        "The cook brings a soup to the serving window after the takeover.",
        "It is done the moment the cook lays the soup on the window. Any soup will do, "
        "whoever cooked it or put it on the dish, but the cook must bring it there themself.",
    ),
)
