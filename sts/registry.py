"""Loading of objects by entry-point name or `module:Name`."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from sts.entry_points import PLUGINS, EntryPoint, list_group
from sts.errors import ArgumentError, StsError, UnknownName

DISTRIBUTION = "standardised-test-suite"
PACKAGES = frozenset({"sts", "sts_scenarios", "sts_analysis", "sts_annotator_app"})
"""Import packages of this distribution, without the worlds that it also has."""


def is_packaged(module: str) -> bool:
    """Return True if a module belongs to this distribution."""
    top = module.partition(".")[0]
    return top in PACKAGES or top in _list_packaged_worlds()


def _list_packaged_worlds() -> set[str]:
    """Return the import packages of the plug-ins that come in this distribution."""
    plugins = (point for point in list_group(PLUGINS) if point.package == DISTRIBUTION)
    return {point.value.partition(".")[0] for point in plugins}


def list_entry_points(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of `group` by name; of duplicates, the last."""
    return {point.name: point for point in list_group(group)}


def load_entry_point(group: str, kind: str, name: str) -> Any:
    """Load the entry point `name` of `group`; `kind` describes it in errors.

    Raises:
      UnknownName: it does not exist; the message lists those that do.
      ArgumentError: several packages declare it.
      StsError: it cannot be imported; names the package and the cause.
    """
    if name not in list_entry_points(group):
        raise UnknownName(kind, name, list_entry_points(group))
    points = {point.value: point for point in list_group(group) if point.name == name}
    if len(points) > 1:
        owners = " and ".join(f"{point.package} ({value})" for value, point in points.items())
        raise ArgumentError(f"{kind} {name!r} is installed by {owners}; uninstall one of them")
    (point,) = points.values()
    return _load_point(point, kind)


def load_every(group: str, kind: str, name: str) -> list[Any]:
    """Load an entry point from every package that declares it; errors as for `load_entry_point`."""
    return [_load_point(point, kind) for point in list_group(group) if point.name == name]


def find_package_folder(group: str, kind: str, name: str) -> Path:
    """Return the folder of the package that the entry point `name` of `group` is.

    Raises:
      StsError: it is no package; and as `load_entry_point` does.
    """
    package = load_entry_point(group, kind, name)
    if not getattr(package, "__path__", ()):
        raise StsError(f"entry point {group}:{name} is not a package with {name} in it")
    return Path(package.__path__[0])


def _load_point(point: EntryPoint, kind: str) -> Any:
    with translate_errors(f"{kind} {point.name!r} of {point.package} cannot be loaded"):
        return point.load()


@contextmanager
def translate_errors(
    what: str, kind: type[StsError] = StsError, passing: type[Exception] = MemoryError
) -> Iterator[None]:
    """Open a context for third-party code, which turns exceptions into errors of class `kind`.

    Messages start with `what`. StsError, MemoryError and `passing` propagate. Output of the code
    goes to standard error.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except (StsError, MemoryError, passing):
        raise
    except (Exception, SystemExit) as error:
        why = " ".join(str(error).split())
        raise kind(f"{what}: {type(error).__name__}: {why}") from error


def add_current_folder() -> None:
    """Append the current folder to `sys.path`, after installed packages, which take precedence."""
    here = str(Path.cwd())
    if sys.path[-1] != here:
        sys.path[:] = [*(entry for entry in sys.path if entry not in ("", here)), here]


def load_named(group: str, kind: str, name: str) -> Any:
    """Load a user's object by `module:Name`, or else the entry point `name` of `group`.

    Raises:
      StsError: as `load_path` and `load_entry_point` do.
    """
    return load_path(kind, name) if ":" in name else load_entry_point(group, kind, name)


def load_path(kind: str, path: str) -> Any:
    """Import the object at `module:Name`, from installed packages or the current folder.

    Raises:
      ArgumentError: the path has another form, or there is no such object.
      StsError: the module raises it, such as MissingExtra.
    """
    module_name, _, attribute = path.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), attribute)):
        raise ArgumentError(f"expected {kind} as module:Name, found {path!r}")
    add_current_folder()
    _check_not_shadowed(f"{kind} {path!r}", module_name.partition(".")[0])
    with translate_errors(f"{kind} {path!r}: cannot import {module_name}", ArgumentError):
        module = importlib.import_module(module_name)
    if not hasattr(module, attribute):
        raise ArgumentError(f"{kind} {path!r}: module {module_name} has no {attribute}")
    return getattr(module, attribute)


def _check_not_shadowed(what: str, name: str) -> None:
    """Raise ArgumentError if an installed module hides one in the current folder."""
    here = Path.cwd()
    if not any(file.is_file() for file in (here / f"{name}.py", *(here / name).glob("*.py"))):
        return
    spec = PathFinder.find_spec(name)
    places = [spec.origin or "", *(spec.submodule_search_locations or ())] if spec else []
    is_local = any(Path(place).is_relative_to(here) for place in places)
    if not is_local or name in sys.builtin_module_names:
        raise ArgumentError(
            f"{what}: {name} in {here} has the name of an installed package, which takes "
            "precedence; rename yours"
        )
