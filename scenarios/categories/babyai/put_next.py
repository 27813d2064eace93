"""babyai-put-next: carry one object beside another, as in "put the box next to the key"."""

from __future__ import annotations

from .missions import category

CATEGORY = category("put-next", context=4, horizon=25)
