"""Modules whose names are listed in a stub, and imported when they are first used."""

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

_IMPORT = re.compile(r"^from (\S+) import (\w+) as _?(\w+)$", re.M)


def read_stub(module_file: str) -> dict[str, str]:
    """Return the `module:Name` of each name that the stub next to a module imports.

    A line is `from MODULE import NAME as NAME`, or `as _OTHER` if the module calls it `OTHER`.
    """
    text = Path(module_file).with_suffix(".pyi").read_text()
    return {name: f"{home}:{own_name}" for home, own_name, name in _IMPORT.findall(text)}


def load_name(module: str, name: str, homes: Mapping[str, str]) -> Any:
    """Import what a module calls `name`; `homes` gives its `module:Name`.

    Raises:
      AttributeError: it is not in `homes`.
    """
    if name not in homes:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    home, _, own_name = homes[name].partition(":")
    loaded = import_module(home)
    if not hasattr(loaded, own_name):  # a module of a package
        import_module(f"{home}.{own_name}")
    return getattr(loaded, own_name)
