"""One file a category: each defines `CATEGORY`, and being here is all it takes to be known.

Those of a domain that comes with an extra stand in a folder of their own. They must be importable
without the extra: it is needed only where a trajectory of the domain is at hand.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil

from scenarios import own_category
from scenarios.category import Category
from sts.errors import UnknownName


@functools.cache
def known() -> dict[str, Category]:
    """Returns every category by name, in order of name."""
    modules = (
        importlib.import_module(m.name)
        for m in pkgutil.walk_packages(__path__, f"{__name__}.")
        if not m.ispkg
    )
    found: list[Category] = [m.CATEGORY for m in modules if hasattr(m, "CATEGORY")]
    return {c.name: c for c in sorted(found, key=lambda c: c.name)}


def named(name: str) -> Category:
    """Returns the category called `name`, or a user's by `module:NAME`.

    Raises:
      UnknownName: there is none; says which exist.
      ArgumentError: what stands at `module:NAME` is no category.
    """
    if ":" in name:
        return own_category.load(name)
    if name not in known():
        raise UnknownName("category", name, known())
    return known()[name]
