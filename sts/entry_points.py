"""Fast reader of the entry points of installed packages, and of their plug-in modules.

Importing `importlib.metadata` takes four times as long as starting Python, as it imports an e-mail
parser. That would dominate the run time of `--help` and other quick commands.

A package may declare one entry point in the group `sts.plugins` instead of many. It names a module
whose `ENTRY_POINTS` maps each group to names and values, and which imports nothing itself.

Source: https://packaging.python.org/en/latest/specifications/entry-points/
"""

import functools
import importlib
import os
import re
import sys
import warnings
from typing import Any, NamedTuple

from sts.errors import StsWarning

PLUGINS = "sts.plugins"
"""The group of entry points that name a plug-in module."""
_FOLDERS = (".dist-info", ".egg-info")
_FILE = "entry_points.txt"


class EntryPoint(NamedTuple):
    """An entry point of an installed package."""

    name: str  # within the group
    value: str  # `module:Name`, or a module
    group: str  # such as `sts.agents`
    folder: str  # the metadata folder of the package

    def load(self) -> Any:
        """Import and return the object; errors are those of its module."""
        module, _, attributes = self.value.partition("[")[0].replace(" ", "").partition(":")
        loaded = importlib.import_module(module)
        return functools.reduce(getattr, filter(None, attributes.split(".")), loaded)

    @property
    def package(self) -> str:
        """The name of the package that declares it."""
        return _package_name(self.folder)


def list_group(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of `group` in all installed packages, sorted by name and value."""
    return _read_all().get(group, ())


@functools.cache
def _package_name(folder: str) -> str:
    for file in ("METADATA", "PKG-INFO"):
        try:
            with open(os.path.join(folder, file), encoding="utf-8") as lines:
                return next(line[5:].strip() for line in lines if line.startswith("Name:"))
        except (OSError, UnicodeDecodeError, StopIteration):
            continue
    return "a package"


@functools.cache
def _read_all() -> dict[str, tuple[EntryPoint, ...]]:
    """Read all entry points by group; a package hides later ones of the same name on `sys.path`."""
    folders: dict[str, str] = {}
    for place in sys.path:
        try:
            names = os.listdir(place or os.curdir)
        except OSError:  # not a folder
            continue
        for name in names:
            if name.endswith(_FOLDERS):
                package = re.sub(r"[-_.]+", "-", name.rpartition(".")[0].partition("-")[0]).lower()
                folders.setdefault(package, os.path.join(place, name))
    out: dict[str, set[EntryPoint]] = {}
    for folder in folders.values():
        for point in _parse_file(folder):
            out.setdefault(point.group, set()).add(point)
            for registered in _read_plugin(point) if point.group == PLUGINS else ():
                out.setdefault(registered.group, set()).add(registered)
    return {group: tuple(sorted(points)) for group, points in out.items()}


def _read_plugin(plugin: EntryPoint) -> list[EntryPoint]:
    """Return what a plug-in module registers; a warning says why nothing, if it is unusable."""
    try:
        groups = plugin.load().ENTRY_POINTS
        return [
            EntryPoint(f"{name}", f"{value}", f"{group}", plugin.folder)
            for group, values in groups.items()
            for name, value in values.items()
        ]
    except Exception as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())
        text = f"plug-in {plugin.value} of {plugin.package} registers nothing: {why}"
        warnings.warn(text, StsWarning, stacklevel=2)
        return []


def _parse_file(folder: str) -> list[EntryPoint]:
    """Parse the entry points in a metadata folder."""
    try:
        with open(os.path.join(folder, _FILE), encoding="utf-8") as file:
            lines = [line.strip() for line in file]
    except (OSError, UnicodeDecodeError):  # most packages declare none
        return []
    out, group = [], ""
    for line in lines:
        name, equals, value = (part.strip() for part in line.partition("="))
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif equals and not line.startswith(("#", ";")):
            out.append(EntryPoint(name, value, group, folder))
    return out
