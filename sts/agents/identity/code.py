"""The code of an agent: the syntax trees of its modules, and the versions of what they import.

The trees are bytes, the same in every Python that the suite runs on. Comments, formatting and
docstrings leave no trace, nor does the place of a package: its modules are named as they are found
from that of the agent. Nothing is imported to be read.
"""

from __future__ import annotations

import ast
import functools
import os
import posixpath
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from importlib.util import resolve_name
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import sts
from sts.registry import is_packaged

SUITE = "standardised-test-suite"
Place: TypeAlias = tuple[str | None, tuple[str, ...]]
"""The file of a module, and the folders of its submodules; None and none if it is missing."""
Find: TypeAlias = Callable[[str, tuple[str, ...]], Place]
"""Returns where an interpreter finds a module, as `sts.agents.described.find` does in this one."""
_PUBLIC = re.compile(r"sts|sts\.agents(\..*)?")
"""The parts that every agent uses, so that work on them makes no agent another one."""
_MISSING: Place = (None, ())
_COMPILED = (".so", ".pyd")
_WITHOUT_MEANING = frozenset({"ctx", "kind", "level", "type_comment"})
"""Fields of a tree that formatting alone changes; modules are named in full without `level`."""
_HIDES = re.compile(
    r"eval|exec|__import__|(importlib\.(import_module|util|machinery|reload)|runpy)(\..*)?"
)
"""Behind what is called so is code that no import leads to."""
_OUTSIDE = re.compile(
    r"open|__file__|(os\.(environ|getenv)|subprocess|socket|sqlite3|urllib\.request)(\..*)?"
    r"|importlib\.resources(\..*)?|\?\.(.*\.)?read_(text|bytes)"
    r"|\w[\w.]*\.(open|load|fromfile|loadtxt|genfromtxt|memmap|from_pretrained|read_\w+)"
)
"""Behind these are files, the environment, other programs or other machines."""


class Code(NamedTuple):
    """The code of an agent, as it was read.

    Attributes:
      trees: of its modules, as bytes.
      distributions: NAME==VERSION of those of the other modules.
      hidden: why more may be used than was read; "" if nothing may.
      outside: whether it reads what is in no module.
    """

    trees: bytes
    distributions: tuple[str, ...]
    hidden: str
    outside: bool


def unreadable(why: str) -> Code:
    """Return what is known of code that cannot be read."""
    return Code(b"", (), why, False)


def read(module: str, find: Find) -> Code:
    """Return what is written in `module` and in all of its own that it imports."""
    try:
        return _Reader(module, find).read()
    except RecursionError:
        return unreadable("its code is nested too deeply")


class _Reader:
    def __init__(self, module: str, find: Find) -> None:
        self._root, self._find = module, find
        self._top = module.partition(".")[0]
        self._places: dict[str, Place] = {}
        self._distributions: set[str] = set()
        self._hidden: list[str] = []
        self._outside = False

    def read(self) -> Code:
        file, folders = self._place(self._root)
        if file is None:
            return unreadable(f"there is no file of module {self._root}")
        self._home = self._root if folders else self._root.rpartition(".")[0]
        written: dict[str, bytes] = {}
        waiting = [*_prefixes(self._root)]
        while waiting:
            name = waiting.pop()
            if name not in written:
                written[name], imported = self._module(name)
                waiting += imported
        every = sorted((self._called(name), raw) for name, raw in written.items() if raw)
        trees = b"".join(f"{name} {len(raw)}:".encode() + raw for name, raw in every)
        versions = tuple(sorted(self._distributions))
        return Code(trees, versions, "".join(self._hidden[:1]), self._outside)

    def _module(self, name: str) -> tuple[bytes, set[str]]:
        """Return a module's tree, or the bytes of a compiled one, and which to read for it."""
        file, folders = self._place(name)
        if file is None:
            return b"", set()
        try:
            raw = Path(file).read_bytes()
            if file.endswith(_COMPILED):
                return raw, set()
            if not file.endswith(".py"):
                raise ValueError("no Python file")
            tree = ast.parse(raw)
            package = name if folders else name.rpartition(".")[0]
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom):
                    node.module = resolve_name("." * node.level + (node.module or ""), package)
            imported = set().union(*map(self._follow, self._examine(tree)))
            text = ast.dump(_Normaliser(self._called).visit(tree))
        except (SyntaxError, ValueError, ImportError, OSError) as error:
            self._hidden.append(f"module {name} cannot be read ({type(error).__name__})")
            return b"", set()
        return text.encode("ascii", "backslashreplace"), imported

    def _examine(self, tree: ast.Module) -> set[str]:
        """Return what a module imports, and note where it hides what it uses."""
        nodes = list(ast.walk(tree))
        imports = [one for node in nodes for one in _list_imports(node)]
        others = {
            bound: target
            for bound, target, _ in imports
            if not is_packaged(target) and self._distribution(target) is not None
        }
        for used in sorted({_name_in_full(node, others) for node in nodes}):
            if _HIDES.fullmatch(used):
                self._hidden.append(f"it uses {used}")
            self._outside |= _OUTSIDE.fullmatch(used) is not None
        return {name for *_, names in imports for name in names}

    def _follow(self, name: str) -> set[str]:
        """Return the modules to read where `name` is imported, if it is a module."""
        if self._place(name) == _MISSING:
            return set()
        found = self._distribution(name)
        if found:
            self._distributions.add(found)
        return set(_prefixes(name)) if found is None else set()

    def _place(self, name: str) -> Place:
        if name not in self._places:
            above, _, _ = name.rpartition(".")
            folders = self._place(above)[1] if above else ()
            self._places[name] = _MISSING if above and not folders else self._find(name, folders)
        return self._places[name]

    def _distribution(self, name: str) -> str | None:
        """Return NAME==VERSION of the distribution of a module.

        It is "" for one that does not count (Python's own, or missing), and None for one that is
        read: the agent's own, and what no distribution has recorded, as where it is editable.
        """
        top = name.partition(".")[0]
        if is_packaged(top):
            return "" if _PUBLIC.fullmatch(name) else f"{SUITE}=={sts.__version__}"
        if top == self._top:
            return None
        file = next(filter(None, (self._place(one)[0] for one in _prefixes(name))), None)
        if file is None:
            return ""
        if top in sys.stdlib_module_names and self._folder(top) != self._folder(self._top):
            return ""
        return _find_distribution(file, top) or None

    def _folder(self, top: str) -> Path:
        """Return the folder that a top-level module or package is in."""
        file, folders = self._place(top)
        return Path(folders[0] if folders else file or "").parent

    def _called(self, name: str) -> str:
        """Return the name of a module; of one in the agent's package, as it is found from there."""
        if name == self._root:
            return "."
        if name.partition(".")[0] != self._top:
            return name
        path, home = (f"/{one.replace('.', '/')}" for one in (name, self._home))
        return posixpath.relpath(path, home)


def _prefixes(name: str) -> Iterator[str]:
    """Yield the names of the packages that a module is in, the outermost first, and its own."""
    parts = name.split(".")
    return (".".join(parts[: n + 1]) for n in range(len(parts)))


@functools.lru_cache(maxsize=1024)
def _find_distribution(file: str, top: str) -> str:
    """Return NAME==VERSION of the distribution whose record lists a file, "" for none."""
    path = list(map(str, Path(file).parents))
    likely = metadata.distributions(name=top, path=path)  # most are called so
    for each in (likely, metadata.distributions(path=path)):
        for one in each:
            inside = os.path.relpath(file, str(one.locate_file(""))).replace(os.sep, "/")
            if f"\n{inside}," in "\n" + (one.read_text("RECORD") or ""):
                return f"{re.sub('[-_.]+', '-', one.name).lower()}=={one.version}"
    return ""


def _list_imports(node: ast.AST) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield each name that a statement binds, what it stands for, and what may be a module."""
    if isinstance(node, ast.ImportFrom):
        for one in node.names:
            target = f"{node.module}.{one.name}"
            yield one.asname or one.name, target, (node.module or "", target)
    elif isinstance(node, ast.Import):
        for one in node.names:
            top = one.name.partition(".")[0]
            yield one.asname or top, one.name if one.asname else top, (one.name,)


def _name_in_full(node: ast.AST, imported: Mapping[str, str]) -> str:
    """Return what a node names: in full where it is imported, "?.NAME" of what is not known."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    head = node.id if isinstance(node, ast.Name) else ""
    return ".".join([imported.get(head, "?" if names else head), *names])


class _Normaliser(ast.NodeTransformer):
    """Takes what has no meaning out of a tree, and what only some Pythons have in it.

    `called` returns what an imported module is called there.
    """

    def __init__(self, called: Callable[[str], str]) -> None:
        self._called = called

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name, value in list(ast.iter_fields(node)):
            kept = list(filter(_has_meaning, value)) if isinstance(value, list) else value
            if name in _WITHOUT_MEANING or kept == []:
                delattr(node, name)
            else:
                setattr(node, name, kept)
        return node

    def visit_Import(self, node: ast.Import) -> ast.AST:  # noqa: N802
        for alias in node.names:
            alias.name = self._called(alias.name)
        return self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:  # noqa: N802
        node.module = self._called(node.module or "")
        return self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:  # noqa: N802
        """Join neighbouring texts, as only some Pythons do."""
        out: list[Any] = []
        for one in node.values:
            if isinstance(one, ast.Constant) and out and isinstance(out[-1], ast.Constant):
                out[-1] = ast.Constant(str(out[-1].value) + str(one.value))
            elif not (isinstance(one, ast.Constant) and one.value == ""):
                out.append(one)
        node.values = out
        return self.generic_visit(node)


def _has_meaning(node: object) -> bool:
    """Return False of a docstring, and of a text in the place of a comment."""
    return not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
