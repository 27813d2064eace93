"""babyai-pick-up: take an object up, as in "pick up a grey key"."""

from __future__ import annotations

from .missions import category

CATEGORY = category("pick-up", context=4, horizon=20)
