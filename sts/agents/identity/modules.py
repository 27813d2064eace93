"""Modules as they are written: where they stand, whose they are, and which statement binds a name.

Nothing is imported to be read, so that a module costs only its file, and has no effect.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from importlib import metadata
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import NamedTuple

from sts.agents.elsewhere import shim

_INSTALLED = frozenset({"site-packages", "dist-packages"})


class Owner(Enum):
    """Whose a module is: read, named as the suite's, named with a version, or not there."""

    OWN = "own"
    SUITE = "suite"
    FOREIGN = "foreign"
    NOBODY = "nobody"


class Place(NamedTuple):
    """Where a module stands.

    Attributes:
      file: None for a folder without `__init__.py`.
      folders: where its submodules are; empty for a module that is no package.
    """

    file: Path | None
    folders: tuple[str, ...]


@dataclass(frozen=True)
class Target:
    """What an import statement binds a name to: a module, or `attribute` of it."""

    module: str
    attribute: str = ""


@dataclass(frozen=True, eq=False)
class Module:
    """A module's statements.

    Attributes:
      name: dotted.
      package: what its relative imports begin at.
      body: its statements.
      aliases: names that one import binds and nothing else does.
      bound: every other name, and the indices of the statements that bind it.
      stars: modules of which all names are imported.
    """

    name: str
    package: str
    body: tuple[ast.stmt, ...]
    aliases: dict[str, Target] = field(default_factory=dict)
    bound: dict[str, tuple[int, ...]] = field(default_factory=dict)
    stars: tuple[str, ...] = ()


@functools.lru_cache(maxsize=1024)
def read(name: str, package: str, file: Path, changed: tuple[int, int]) -> Module:
    """Returns the module in a file; `changed` is when it was, and its size.

    Raises:
      SyntaxError: it is not Python.
      ValueError: it is no text.
      OSError: there is no such file.
    """
    body = tuple(ast.parse(file.read_bytes()).body)
    binds: dict[str, list[int]] = {}
    imports: dict[str, Target] = {}
    stars = []
    for number, statement in enumerate(body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for bound, target in targets(statement, package):
                if bound == "*":
                    stars.append(target.module)
                else:
                    imports[bound] = target
                    binds.setdefault(bound, []).append(number)
        else:
            for bound in bound_by(statement):
                binds.setdefault(bound, []).append(number)
    aliases = {
        bound: target
        for bound, target in imports.items()
        if all(isinstance(body[n], ast.Import | ast.ImportFrom) for n in binds[bound])
    }
    rest = {bound: tuple(numbers) for bound, numbers in binds.items() if bound not in aliases}
    return Module(name, package, body, aliases, rest, tuple(stars))


def targets(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, Target]]:
    """Yields each name that an import statement binds, "*" for all, and what it binds it to."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            base = absolute(node.module or "", node.level, package)
            yield alias.asname or alias.name, Target(base, alias.name if alias.name != "*" else "")
        elif alias.asname:
            yield alias.asname, Target(alias.name)
        else:
            yield alias.name.partition(".")[0], Target(alias.name.partition(".")[0])


def imported(node: ast.AST, package: str) -> Iterator[str]:
    """Yields the modules that an import statement may import, "" for none."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = absolute(node.module or "", node.level, package)
        yield base
        yield from (f"{base}.{alias.name}" for alias in node.names if alias.name != "*")


def absolute(name: str, level: int, package: str) -> str:
    """Returns the dotted name of a module that is named relative to a package."""
    if not level:
        return name
    parts = package.split(".")[: len(package.split(".")) - level + 1]
    return ".".join([*parts, name] if name else parts)


def children(node: ast.AST) -> list[ast.AST]:
    """Returns the nodes right below a node, but not whether a name is loaded or stored.

    `ast.iter_child_nodes` takes twice as long, and this is most of what a fingerprint waits for.
    """
    out: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            out += [one for one in value if isinstance(one, ast.AST)]
        elif isinstance(value, ast.AST) and name != "ctx":
            out.append(value)
    return out


def below(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """Returns nodes and all that stand below them."""
    every = list(nodes)
    for node in every:
        every += children(node)
    return every


def bound_by(node: ast.AST) -> set[str]:
    """Returns the names that a statement binds where it stands, not inside what it defines."""
    names: set[str] = set()
    waiting: list[ast.AST] = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(one.name)
            waiting += one.decorator_list
            continue
        if isinstance(one, ast.Lambda):
            continue
        if isinstance(one, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            names |= {n.target.id for n in below([one]) if isinstance(n, ast.NamedExpr)}
            continue
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load):
            names.add(one.id)
        elif isinstance(one, ast.Import | ast.ImportFrom):
            names |= {bound for bound, _ in targets(one, "") if bound != "*"}
        elif isinstance(one, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and one.name:
            names.add(one.name)
        elif isinstance(one, ast.MatchMapping) and one.rest:
            names.add(one.rest)
        waiting += children(one)
    return names


class Interpreter(NamedTuple):
    """How a Python, this one or another, finds modules.

    Attributes:
      find: returns the file and folders of a module that it has loaded, or of one without a dot
        that it would load; None and none where there is none.
      path: where it looks for what is installed.
    """

    find: Callable[[str], tuple[str | None, tuple[str, ...]]]
    path: tuple[str, ...]


def this() -> Interpreter:
    """Returns the one that runs this."""
    return Interpreter(shim.find, tuple(sys.path))


class Modules:
    """Finds modules by name, and says whose each is.

    Args:
      agent: the module of an agent; what belongs to its folder or distribution is its own.
      packages: those of the suite.
      read: which of their modules are read as one's own.
      roots: folders in which modules are looked for first.
      interpreter: which plays the agent, this one unless said.
    """

    def __init__(
        self,
        agent: str,
        *,
        packages: frozenset[str],
        read: tuple[str, ...],
        roots: tuple[str, ...] = (),
        interpreter: Interpreter | None = None,
    ) -> None:
        self._packages, self._read = packages, read
        self._roots, self._interpreter = roots, interpreter or this()
        self._places: dict[str, Place | None] = {}
        self._own = self._together(agent.partition(".")[0])
        place = self.place(agent.partition(".")[0])
        self._folder = _above(place) if place else None

    def owner(self, name: str) -> Owner:
        """Says whose the module `name` is."""
        top = name.partition(".")[0]
        if top in self._packages:
            under = (name == one or name.startswith(f"{one}.") for one in self._read)
            return Owner.OWN if any(under) else Owner.SUITE
        if top in self._own:
            return Owner.OWN
        place = self.place(top)
        if top in sys.stdlib_module_names and not (place and _above(place) == self._folder):
            return Owner.FOREIGN
        if place is None:
            return Owner.NOBODY
        return Owner.FOREIGN if set(_above(place).parts) & _INSTALLED else Owner.OWN

    def place(self, name: str) -> Place | None:
        """Returns where the module `name` stands, None where there is none."""
        if name not in self._places:
            self._places[name] = self._placed(name)
        return self._places[name]

    def _placed(self, name: str) -> Place | None:
        parent, _, last = name.rpartition(".")
        rooted = _inside(self._roots, name) if not parent else None
        if rooted is not None:
            return rooted
        if not (parent and self._roots):
            file, folders = self._interpreter.find(name)
            if file or folders:
                return Place(Path(file) if file else None, folders)
        above = self.place(parent) if parent else None
        return _inside(above.folders, last) if above else None

    def _together(self, top: str) -> frozenset[str]:
        """Returns the packages that were installed together with the package `top`."""
        file, path = self._interpreter.find(top)[0] or "", self._interpreter.path
        name = distribution(top, path) if set(Path(file).parts) & _INSTALLED else ""
        return frozenset({top}) | (_packages(_installed(name, path)) if name else frozenset())

    def version(self, top: str) -> str:
        """Returns NAME==VERSION of the distribution that the package `top` is of, "" for none."""
        path = self._interpreter.path
        name = "" if top in sys.stdlib_module_names else distribution(top, path)
        if not name:
            return ""
        return f"{re.sub('[-_.]+', '-', name).lower()}=={_installed(name, path).version}"

    def read(self, name: str) -> Module | bytes | None:
        """Returns a module's statements, or the bytes of a compiled one; None where it has neither.

        Raises:
          SyntaxError: it is not Python.
          ValueError: it is no text.
          OSError: its file cannot be read.
        """
        place = self.place(name)
        if place is None:
            return None
        if place.file is None:
            return Module(name, name, ())
        if place.file.name.endswith(tuple(EXTENSION_SUFFIXES)):
            return place.file.read_bytes()
        if place.file.suffix != ".py":
            return None
        package = name if place.folders else name.rpartition(".")[0]
        if name == "__main__":
            package = getattr(sys.modules[name], "__package__", None) or ""
        stat = place.file.stat()
        return read(name, package, place.file, (stat.st_mtime_ns, stat.st_size))


def _inside(folders: Sequence[str], name: str) -> Place | None:
    """Returns where the module `name` stands in the first of the folders that has it."""
    for folder in map(Path, folders):
        package = folder / name
        if (package / "__init__.py").is_file():
            return Place(package / "__init__.py", (str(package),))
        for suffix in (*EXTENSION_SUFFIXES, ".py"):
            if (file := folder / f"{name}{suffix}").is_file():
                return Place(file, ())
        if package.is_dir():
            return Place(None, (str(package),))
    return None


def _above(place: Place) -> Path:
    """Returns the folder that a module or package lies in."""
    return Path(place.folders[0]).parent if place.folders else (place.file or Path()).parent


@functools.cache
def distribution(top: str, path: tuple[str, ...]) -> str:
    """Returns the name of the distribution on `path` that the package `top` is of, "" for none."""
    with contextlib.suppress(metadata.PackageNotFoundError, ValueError):
        likely = _installed(top, path)  # most are called so; the others take a search
        if top in _packages(likely):
            return likely.name
    every = metadata.distributions(path=list(path))
    return next((one.name for one in every if top in _packages(one)), "")


def _installed(name: str, path: tuple[str, ...]) -> metadata.Distribution:
    for one in metadata.distributions(name=name, path=list(path)):
        return one
    raise metadata.PackageNotFoundError(name)


def _packages(installed: metadata.Distribution) -> frozenset[str]:
    """Returns the packages and modules of a distribution, by the list of its files."""
    files = (installed.read_text("RECORD") or "").splitlines()
    listed = (installed.read_text("top_level.txt") or "").split()
    tops = (file.partition("/")[0].partition(",")[0] for file in files)
    return frozenset(listed) | {top.removesuffix(".py") for top in tops}
