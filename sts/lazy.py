"""Modules whose names are imported when they are first used."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any


def load_name(module: str, name: str, homes: Mapping[str, str]) -> Any:
    """Import what a module calls `name`; `homes` gives its `module:Name`, or the module that it is.

    Raises:
      AttributeError: it is not in `homes`.
    """
    if name not in homes:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    home, _, own_name = homes[name].partition(":")
    loaded = import_module(home)
    return getattr(loaded, own_name) if own_name else loaded
