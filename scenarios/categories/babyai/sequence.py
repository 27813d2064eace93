"""babyai-sequence: several things, as in "open the red door after you go to a key"."""

from __future__ import annotations

from .missions import category

CATEGORY = category("sequence", context=8, horizon=30, whole=True)
