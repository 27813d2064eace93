"""Finding things by name: what is installed by entry point, and what is given as `module:Name`."""

from __future__ import annotations

import functools
import importlib
import sys
from contextlib import redirect_stdout
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from sts.errors import ArgumentError, StsError, UnknownName


@functools.cache
def named(group: str) -> dict[str, EntryPoint]:
    """Returns the entry points of `group` by name."""
    return {point.name: point for point in sorted(entry_points(group=group))}


def load(group: str, kind: str, name: str) -> Any:
    """Returns what the entry point `name` of `group` stands for.

    Raises:
      UnknownName: there is none; says which exist.
    """
    points = named(group)
    if name not in points:
        raise UnknownName(kind, name, points)
    with redirect_stdout(sys.stderr):  # what a module prints when it is imported
        return points[name].load()


def look_here() -> None:
    """Lets modules in the current folder be imported, after all that is installed.

    So a folder that happens to be called as one of our packages takes the place of none.
    """
    here = str(Path.cwd())
    if sys.path[-1] != here:
        sys.path[:] = [*(entry for entry in sys.path if entry not in ("", here)), here]


def load_path(kind: str, path: str) -> Any:
    """Returns the object at `module:Name`, looking in the current folder too.

    Raises:
      ArgumentError: the path is not of that form, or leads nowhere.
      StsError: what is there says so of itself, a MissingExtra for example.
    """
    module_name, _, attribute = path.partition(":")
    if not all(part.isidentifier() for part in module_name.split(".")) or not (
        attribute.isidentifier()
    ):
        raise ArgumentError(f"expected {kind} as module:Name, found {path!r}")
    look_here()
    _check_not_shadowed(f"{kind} {path!r}", module_name.partition(".")[0])
    try:
        with redirect_stdout(sys.stderr):
            module = importlib.import_module(module_name)
    except StsError:  # ours, which says what is missing
        raise
    except (Exception, SystemExit) as error:  # a module may be anybody's, and do anything
        found = f"{type(error).__name__}: {error}"
        raise ArgumentError(f"{kind} {path!r}: cannot import {module_name}: {found}") from error
    if not hasattr(module, attribute):
        raise ArgumentError(f"{kind} {path!r}: module {module_name} has no {attribute}")
    return getattr(module, attribute)


def _check_not_shadowed(what: str, name: str) -> None:
    """Raises ArgumentError where the current folder has a module, and an installed one its name."""
    here = Path.cwd()
    if not any(file.is_file() for file in (here / f"{name}.py", *(here / name).glob("*.py"))):
        return
    spec = PathFinder.find_spec(name)
    places = [spec.origin or "", *(spec.submodule_search_locations or ())] if spec else []
    own = any(Path(place).is_relative_to(here) for place in places)
    if not own or name in sys.builtin_module_names:
        raise ArgumentError(
            f"{what}: {name} in {here} has the name of an installed package, which comes first; "
            "rename yours"
        )
