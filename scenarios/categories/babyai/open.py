"""babyai-open: open a door, as in "open the yellow door"."""

from __future__ import annotations

from .missions import category

CATEGORY = category("open", context=4, horizon=20)
