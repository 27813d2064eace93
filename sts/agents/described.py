"""Descriptions of agents, in whichever interpreter they are loaded.

The interpreter of an agent that brings its own Python runs this file too, so it needs nothing but
Python 3.8.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from importlib.machinery import PathFinder
from typing import Any

PROTOCOL = (
    *("name", "sees", "deterministic", "draws", "domain", "trained_on", "version"),
    "weights_digest",
)
"""The attributes that the protocol declares."""


def describe(agent: Any) -> dict[str, Any]:
    """Return what is known of an agent: its class, what it declares and what it keeps.

    Kept are the parameters that it names, or else all of its attributes that are neither declared
    by the protocol nor derived when asked for (`cached_property`).

    Raises:
      AttributeError: it names as a parameter what it does not have.
    """
    kind: Any = type(agent)
    names: Any = getattr(agent, "parameters", None)
    named = isinstance(names, (tuple, list))
    missing = [name for name in names if not hasattr(agent, name)] if named else []
    if missing:
        raise AttributeError(f"parameters names {missing[0]!r}, which it does not have")
    return {
        "module": kind.__module__,
        "class": kind.__qualname__,
        "at_its_name": _at_its_name(kind),
        "declared": {name: getattr(agent, name) for name in PROTOCOL if hasattr(agent, name)},
        "named": named,
        "kept": {name: getattr(agent, name) for name in names} if named else _attributes(agent),
    }


def _at_its_name(kind: type) -> bool:
    """Return True if a class is what its name leads to, unlike one made in a function."""
    found: Any = sys.modules.get(kind.__module__)
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is kind


def _attributes(agent: Any) -> dict[str, Any]:
    kept = dict(getattr(agent, "__dict__", {}))
    for kind in type(agent).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(agent, name):
                kept[name] = getattr(agent, name)
    return {
        name: value
        for name, value in kept.items()
        if name not in (*PROTOCOL, "parameters")
        and not isinstance(getattr(type(agent), name, None), functools.cached_property)
    }


def find(name: str, folders: tuple[str, ...] = ()) -> tuple[str | None, tuple[str, ...]]:
    """Return the file of a module and the folders of its submodules; None and none if missing.

    `folders` are those of the package that it is in. Nothing is imported.
    """
    try:
        spec = PathFinder.find_spec(name, folders) if folders else importlib.util.find_spec(name)
    except (ImportError, ValueError):  # it is loaded and says nothing of itself, as a script
        return getattr(sys.modules.get(name), "__file__", None), ()
    if spec is None:
        return None, ()
    return spec.origin if spec.has_location else None, tuple(spec.submodule_search_locations or ())
