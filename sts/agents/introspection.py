"""Introspection of loaded agents.

External interpreters run this file too, so it needs only Python 3.8 and its standard library.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from importlib.machinery import PathFinder
from typing import Any

DECLARED_ATTRIBUTES = (
    *("name", "sees", "deterministic", "draws", "domain", "trained_on", "version"),
    "weights_digest",
)
"""The attributes that the protocol declares and that enter the fingerprint."""


def describe(agent: Any) -> dict[str, Any]:
    """Return a description of an agent: its class, declared attributes and parameters.

    If the agent has no list of `parameters`, these are all of its attributes except those that the
    protocol declares and cached properties.

    Raises:
      AttributeError: `parameters` lists an attribute that does not exist.
    """
    kind: Any = type(agent)
    names: Any = getattr(agent, "parameters", None)
    has_names = isinstance(names, (tuple, list))
    missing = [name for name in names if not hasattr(agent, name)] if has_names else []
    if missing:
        raise AttributeError(f"parameters lists {missing[0]!r}, but there is no such attribute")
    declared = [name for name in DECLARED_ATTRIBUTES if hasattr(agent, name)]
    attributes = (
        {name: getattr(agent, name) for name in names} if has_names else _own_attributes(agent)
    )
    return {
        "module": kind.__module__,
        "class": kind.__qualname__,
        "at_its_name": _is_importable(kind),
        "declared": {name: getattr(agent, name) for name in declared},
        "wordings": getattr(agent, "wordings", ()),
        "reproducible": getattr(agent, "reproducible", True),
        "named": has_names,
        "kept": attributes,
    }


def _is_importable(kind: type) -> bool:
    """Return True if a class can be found by its qualified name, unlike one made in a function."""
    target: Any = sys.modules.get(kind.__module__)
    for part in kind.__qualname__.split("."):
        target = getattr(target, part, None)
    return target is kind


def _own_attributes(agent: Any) -> dict[str, Any]:
    attributes = dict(getattr(agent, "__dict__", {}))
    for kind in type(agent).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(agent, name):
                attributes[name] = getattr(agent, name)
    return {
        name: value
        for name, value in attributes.items()
        if name not in (*DECLARED_ATTRIBUTES, "parameters", "wordings", "reproducible")
        and not isinstance(getattr(type(agent), name, None), functools.cached_property)
    }


def find_module(name: str, folders: tuple[str, ...] = ()) -> tuple[str | None, tuple[str, ...]]:
    """Return the file of a module and the folders of its submodules; (None, ()) if missing.

    `folders` are those of the parent package. Nothing is imported.
    """
    try:
        spec = PathFinder.find_spec(name, folders) if folders else importlib.util.find_spec(name)
    except (ImportError, ValueError):  # a loaded module without a spec, such as a script
        return getattr(sys.modules.get(name), "__file__", None), ()
    if spec is None:
        return None, ()
    return spec.origin if spec.has_location else None, tuple(spec.submodule_search_locations or ())
