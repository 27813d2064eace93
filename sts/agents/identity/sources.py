"""The files of modules, and the distributions that installed them.

Nothing is imported to be read, so that a module costs only its file, and has no effect.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import sts

SUITE = "standardised-test-suite"
PACKAGES = frozenset({"sts", "scenarios", "analysis", "annotator_app"})
_PUBLIC = re.compile(r"sts|sts\.agents(\..*)?")
"""The parts that every agent uses, so that work on them makes no agent another one."""
_COMPILED = (".so", ".pyd")


class Interpreter(NamedTuple):
    """How a Python, this one or another, finds modules.

    Attributes:
      find: returns the file and folders of a module that it has loaded, or of one without a dot
        that it would load; None and none where there is none.
      path: where it looks for what is installed.
    """

    find: Callable[[str], tuple[str | None, tuple[str, ...]]]
    path: tuple[str, ...]


class Place(NamedTuple):
    """The place of a module.

    Attributes:
      file: None for a folder without `__init__.py`.
      folders: where its submodules are; empty for a module that is not a package.
    """

    file: Path | None
    folders: tuple[str, ...]


def this() -> Interpreter:
    """Return the interpreter that runs this."""
    return Interpreter(_find, tuple(sys.path))


def _find(name: str) -> tuple[str | None, tuple[str, ...]]:
    module = sys.modules.get(name)
    if module is not None:
        return getattr(module, "__file__", None), tuple(getattr(module, "__path__", ()))
    try:
        spec = None if "." in name else importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return None, ()
    return spec.origin if spec.has_location else None, tuple(spec.submodule_search_locations or ())


def is_packaged(module: str) -> bool:
    """Return True if a module is of this distribution."""
    return module.partition(".")[0] in PACKAGES


class Sources:
    """The modules that belong to one agent, and the distributions of the others.

    Args:
      module: the agent's; what is in its top-level package is its own.
      interpreter: plays the agent.
    """

    def __init__(self, module: str, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        self._places: dict[str, Place | None] = {}
        self._top = module.partition(".")[0]
        self._folder = _parent(self.place(self._top))

    def place(self, name: str) -> Place | None:
        """Return where a module is, None for one that there is not."""
        if name not in self._places:
            file, folders = self._interpreter.find(name)
            if file or folders:
                self._places[name] = Place(Path(file) if file else None, folders)
            else:
                above, _, last = name.rpartition(".")
                found = self.place(above) if above else None
                self._places[name] = _search(found.folders, last) if found else None
        return self._places[name]

    def distribution(self, name: str) -> str | None:
        """Return NAME==VERSION of the distribution of a module.

        It is "" for one that does not count (Python's own, or missing), and None for one that is
        read: the agent's own, and what no distribution has recorded, as where it is editable.
        """
        top = name.partition(".")[0]
        if is_packaged(top):
            return "" if _PUBLIC.fullmatch(name) else f"{SUITE}=={sts.__version__}"
        if top == self._top:
            return None
        places = (self.place(part) for part in prefixes(name))
        first = next((one for one in places if one is not None and one.file is not None), None)
        if first is None or first.file is None:
            return ""
        if top in sys.stdlib_module_names and _parent(self.place(top)) != self._folder:
            return ""
        return _find_distribution(str(first.file), top, self._interpreter.path) or None


def prefixes(name: str) -> Iterator[str]:
    """Return the names of the packages that a module is in, the outermost first, and its own."""
    parts = name.split(".")
    return (".".join(parts[: n + 1]) for n in range(len(parts)))


def _parent(place: Place | None) -> Path | None:
    """Return the folder that a module or package is in."""
    if place is None:
        return None
    return Path(place.folders[0]).parent if place.folders else (place.file or Path()).parent


def _search(folders: tuple[str, ...], name: str) -> Place | None:
    """Return where the module `name` is in the first of the folders that has it."""
    for folder in map(Path, folders):
        package = folder / name
        if (package / "__init__.py").is_file():
            return Place(package / "__init__.py", (str(package),))
        compiled = (one for one in folder.glob(f"{name}.*") if one.suffix in _COMPILED)
        if file := next(compiled, None):
            return Place(file, ())
        if (file := folder / f"{name}.py").is_file():
            return Place(file, ())
        if package.is_dir():
            return Place(None, (str(package),))
    return None


@functools.lru_cache(maxsize=1024)
def _find_distribution(file: str, top: str, path: tuple[str, ...]) -> str:
    """Return NAME==VERSION of the distribution whose record lists a file, "" for none."""
    likely = metadata.distributions(name=top, path=list(path))  # most are called so
    for each in (likely, metadata.distributions(path=list(path))):
        for one in each:
            inside = os.path.relpath(file, str(one.locate_file(""))).replace(os.sep, "/")
            if f"\n{inside}," in "\n" + (one.read_text("RECORD") or ""):
                return f"{re.sub('[-_.]+', '-', one.name).lower()}=={one.version}"
    return ""
