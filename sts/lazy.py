"""Modules whose names are listed in a stub, and imported when they are first used."""

import re
import sys
from collections.abc import Callable, Mapping
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


def export_stub(
    module: str, module_file: str
) -> tuple[dict[str, str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return the homes, `__getattr__` and `__dir__` of a module that imports its names when used.

    Args:
      module: its `__name__`.
      module_file: its `__file__`, next to its stub.
    """
    homes = read_stub(module_file)

    def get(name: str) -> Any:
        value = load_name(module, name, homes)
        setattr(sys.modules[module], name, value)
        return value

    return homes, get, lambda: sorted({*vars(sys.modules[module]), *homes})


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
