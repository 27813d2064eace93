"""The syntax trees of an agent's modules as bytes, the same in every Python that the suite runs on.

Comments, formatting and docstrings leave no trace, nor does the place of a package: its modules are
named as they are found from that of the agent.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from sts.agents.identity.sources import Interpreter, Sources, is_packaged, prefixes

_SKIPPED = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
_HIDES = re.compile(
    r"eval|exec|__import__|(importlib\.(import_module|util|machinery|reload)|runpy)(\..*)?"
)
"""Behind what is called so is code that no import leads to."""
_OUTSIDE = re.compile(
    r"open|__file__|(os\.(environ|getenv)|subprocess|socket|sqlite3|urllib\.request)(\..*)?"
    r"|importlib\.resources(\..*)?|\?\.read_(text|bytes)"
    r"|\w[\w.]*\.(open|load|fromfile|loadtxt|genfromtxt|memmap|from_pretrained|read_\w+)"
)
"""Behind these are files, the environment, other programs or other machines."""


class Code(NamedTuple):
    """The code of an agent, as it was read.

    Attributes:
      trees: of its modules, as bytes.
      distributions: NAME==VERSION of those of the other modules.
      hidden: why more may be used than was read, in a few words each.
      outside: whether it reads what is in no module.
    """

    trees: bytes
    distributions: tuple[str, ...]
    hidden: tuple[str, ...]
    outside: bool


def unreadable(why: str) -> Code:
    """Return what is known of an agent that cannot be read."""
    return Code(b"", (), (why,), False)


def read(module: str, interpreter: Interpreter) -> Code:
    """Return what is written of an agent, or of anything else, in `module`.

    Args:
      module: its name; all of its own that it imports is read with it.
      interpreter: finds modules.
    """
    try:
        return _Reader(module, interpreter).read()
    except RecursionError:
        return unreadable("its code is nested too deeply")


class _Reader:
    def __init__(self, module: str, interpreter: Interpreter) -> None:
        self._root, self._sources = module, Sources(module, interpreter)
        place = self._sources.place(module)
        is_package = bool(place and place.folders)
        self._home = (module if is_package else module.rpartition(".")[0]).split(".")
        self._distributions: set[str] = set()
        self._hidden: dict[str, None] = {}
        self._outside = False

    def read(self) -> Code:
        place = self._sources.place(self._root)
        if place is None or place.file is None:
            return unreadable(f"there is no file of module {self._root}")
        written: dict[str, bytes] = {}
        waiting = [*prefixes(self._root)]
        while waiting:
            name = waiting.pop()
            if name not in written:
                written[name] = b""
                written[name], imported = self._module(name)
                waiting += [one for one in imported if one not in written]
        every = sorted((self._name(name), raw) for name, raw in written.items() if raw)
        trees = b"".join(f"{name} {len(raw)}:".encode() + raw for name, raw in every)
        versions = tuple(sorted(self._distributions))
        return Code(trees, versions, tuple(self._hidden), self._outside)

    def _module(self, name: str) -> tuple[bytes, set[str]]:
        """Return a module's tree, or the bytes of a compiled one, and which to read for it."""
        place = self._sources.place(name)
        if place is None or place.file is None:
            return b"", set()
        try:
            if place.file.suffix in (".so", ".pyd"):
                return place.file.read_bytes(), set()
            if place.file.suffix != ".py":
                raise ValueError("no Python file")
            tree = _parse(place.file, place.file.stat().st_mtime_ns)
        except (SyntaxError, ValueError, OSError) as error:
            self._hidden[f"module {name} cannot be read ({type(error).__name__})"] = None
            return b"", set()
        package = name if place.folders else name.rpartition(".")[0]
        if name == "__main__":
            package = getattr(sys.modules[name], "__package__", None) or ""
        nodes = list(ast.walk(tree))
        imported = {one for node in nodes for one in _list_imports(node, package)}
        self._examine(nodes, package)
        out: list[str] = []
        _write(tree.body, out, lambda one, level: self._name(_absolute(one, level, package)))
        return "".join(out).encode(), set().union(*map(self._follow, imported))

    def _follow(self, name: str) -> set[str]:
        """Return the modules to read where `name` is imported, if it is a module."""
        if self._sources.place(name) is None:
            return set()
        found = self._sources.distribution(name)
        if found:
            self._distributions.add(found)
        return set(prefixes(name)) if found is None else set()

    def _examine(self, nodes: Iterable[ast.AST], package: str) -> None:
        """Note where a module hides what it uses."""
        others: dict[str, str] = {}  # what is imported from elsewhere, by the name it has here
        for bound, target in (pair for node in nodes for pair in _list_bindings(node, package)):
            if not is_packaged(target) and self._sources.distribution(target) is not None:
                others[bound] = target
        for used in sorted({_name_in_full(node, others) for node in nodes}):
            if _HIDES.fullmatch(used):
                self._hidden[f"it uses {used}"] = None
            self._outside |= _OUTSIDE.fullmatch(used) is not None

    def _name(self, name: str) -> str:
        """Return the name of a module, of one in the agent's package as it is found from there."""
        if name == self._root:
            return "."
        parts, common = name.split("."), 0
        while common < min(len(parts), len(self._home)) and parts[common] == self._home[common]:
            common += 1
        if not common:
            return name
        return "." * (len(self._home) - common + 1) + ".".join(parts[common:])


@functools.lru_cache(maxsize=1024)
def _parse(file: Path, changed: int) -> ast.Module:
    return ast.parse(file.read_bytes())


def _absolute(name: str, level: int, package: str) -> str:
    """Return the dotted name of a module that is named relative to a package."""
    if not level:
        return name
    parts = package.split(".")[: len(package.split(".")) - level + 1]
    return ".".join([*parts, name] if name else parts)


def _list_imports(node: ast.AST, package: str) -> Iterable[str]:
    """Return the modules that a statement may import."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = _absolute(node.module or "", node.level, package)
        return [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return []


def _list_bindings(node: ast.AST, package: str) -> Iterator[tuple[str, str]]:
    """Yield each name that an import statement binds, and the dotted name that it stands for."""
    if isinstance(node, ast.ImportFrom):
        base = _absolute(node.module or "", node.level, package)
        yield from ((one.asname or one.name, f"{base}.{one.name}") for one in node.names)
    elif isinstance(node, ast.Import):
        for one in node.names:
            top = one.name.partition(".")[0]
            yield one.asname or top, one.name if one.asname else top


def _name_in_full(node: ast.AST, imported: Mapping[str, str]) -> str:
    """Return what a node names: in full where it is imported, "?.NAME" of what is not known."""
    if isinstance(node, ast.Name):
        return imported.get(node.id, node.id)
    if not isinstance(node, ast.Attribute):
        return ""
    base = node.value.id if isinstance(node.value, ast.Name) else ""
    known = base in imported or isinstance(node.value, ast.Attribute)
    above = _name_in_full(node.value, imported) if known else "?"
    return f"{above or '?'}.{node.attr}"


def _write(value: object, out: list[str], named: Callable[[str, int], str]) -> None:
    """Add a tree to `out`; `named` returns what an imported module is called."""
    if isinstance(value, ast.JoinedStr):
        value = ast.JoinedStr(_join_texts(value.values))
    if isinstance(value, ast.Import):
        pairs = [(named(alias.name, 0), alias.asname) for alias in value.names]
        out.append(f"Import{ascii(pairs)}")
    elif isinstance(value, ast.ImportFrom):
        pairs = [(alias.name, alias.asname) for alias in value.names]
        out.append(f"From({ascii(named(value.module or '', value.level))}{ascii(pairs)})")
    elif isinstance(value, ast.AST):
        out.append(f"{type(value).__name__}(")
        for name, child in ast.iter_fields(value):
            empty = child is None or child == [] or getattr(child, "values", None) == []
            if name not in _SKIPPED and not empty:
                out.append(f"{name}=")
                _write(child, out, named)
        out.append(")")
    elif isinstance(value, list):
        out.append("[")
        for one in value:
            if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)):
                _write(one, out, named)  # the others are docstrings and texts in place of comments
                out.append(",")
        out.append("]")
    else:
        text = f"{value:x}" if type(value) is int else ascii(value)
        out.append(f"{type(value).__name__} {text}")


def _join_texts(values: Iterable[ast.expr]) -> list[ast.expr]:
    """Return the parts of an f-string with neighbouring texts as one, as only some Pythons do."""
    out: list[ast.expr] = []
    for one in values:
        if isinstance(one, ast.Constant) and out and isinstance(out[-1], ast.Constant):
            out[-1] = ast.Constant(str(out[-1].value) + str(one.value))
        elif not (isinstance(one, ast.Constant) and one.value == ""):
            out.append(one)
    return out
