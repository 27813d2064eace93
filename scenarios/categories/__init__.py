"""One file a category: each defines `CATEGORY`, and being here is all it takes to be known."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from scenarios.category import Category
from sts.errors import UnknownName


@functools.cache
def known() -> dict[str, Category]:
    """Returns every category by name, in order of name."""
    modules = (
        importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__)
    )
    found: list[Category] = [module.CATEGORY for module in modules]
    return {c.name: c for c in sorted(found, key=lambda c: c.name)}


def named(name: str) -> Category:
    """Returns the category called `name`.

    Raises:
      UnknownName: there is none; says which exist.
    """
    if name not in known():
        raise UnknownName("category", name, known())
    return known()[name]
