"""Finding things by name: what is installed by entry point, and what is given as `module:Name`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from sts.entry_points import EntryPoint, list_group
from sts.errors import ArgumentError, StsError, UnknownName

PACKAGES = frozenset({"sts", "sts_scenarios", "sts_analysis", "sts_annotator_app"})
"""The packages of this distribution."""


def is_packaged(module: str) -> bool:
    """Return True if a module is of this distribution."""
    return module.partition(".")[0] in PACKAGES


def named(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of `group` by name; of several packages' the last."""
    return {point.name: point for point in list_group(group)}


def load(group: str, kind: str, name: str) -> Any:
    """Return what the entry point `name` of `group` stands for.

    Raises:
      UnknownName: there is none; says which exist.
      ArgumentError: several packages call something so.
      StsError: it cannot be imported; says why, and whose it is.
    """
    if name not in named(group):
        raise UnknownName(kind, name, named(group))
    points = {point.value: point for point in list_group(group) if point.name == name}
    if len(points) > 1:
        owners = " and ".join(f"{point.package} ({value})" for value, point in points.items())
        raise ArgumentError(f"{kind} {name!r} is installed by {owners}: expected one of them")
    (point,) = points.values()
    return _load_point(point, kind)


def load_every(group: str, kind: str, name: str) -> list[Any]:
    """Return what `name` of `group` stands for in each package that has it; [] where none has.

    Raises:
      StsError: one cannot be imported; says why, and whose it is.
    """
    return [_load_point(point, kind) for point in list_group(group) if point.name == name]


def _load_point(point: EntryPoint, kind: str) -> Any:
    with blaming(f"{kind} {point.name!r} of {point.package} cannot be loaded"):
        return point.load()


@contextmanager
def blaming(
    what: str, kind: type[StsError] = StsError, passing: type[Exception] = MemoryError
) -> Iterator[None]:
    """Turn whatever somebody's code raises into one line that begins with `what`, of this `kind`.

    What is `passing` is left to the caller. What the code prints goes to standard error.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except (StsError, MemoryError, passing):  # which have lines of their own
        raise
    except (Exception, SystemExit) as error:  # it may be anybody's, and do anything
        why = " ".join(str(error).split())
        raise kind(f"{what}: {type(error).__name__}: {why}") from error


def look_here() -> None:
    """Lets modules in the current folder be imported, after all that is installed.

    So a folder that happens to be called as one of our packages takes the place of none.
    """
    here = str(Path.cwd())
    if sys.path[-1] != here:
        sys.path[:] = [*(entry for entry in sys.path if entry not in ("", here)), here]


def load_path(kind: str, path: str) -> Any:
    """Return the object at `module:Name`, looking in the current folder too.

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
    with blaming(f"{kind} {path!r}: cannot import {module_name}", ArgumentError):
        module = importlib.import_module(module_name)
    if not hasattr(module, attribute):
        raise ArgumentError(f"{kind} {path!r}: module {module_name} has no {attribute}")
    return getattr(module, attribute)


def _check_not_shadowed(what: str, name: str) -> None:
    """Raise ArgumentError where the current folder has a module, and an installed one its name."""
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
