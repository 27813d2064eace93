"""babyai-go-to: stand before an object and face it, as in "go to the red ball"."""

from __future__ import annotations

from .missions import category

CATEGORY = category("go-to", context=4, horizon=20)
