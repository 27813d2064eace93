"""Code of an agent: the syntax trees of its modules, and the versions of the packages they import.

The encoded trees are the same in every supported Python. Comments, formatting, docstrings and the
location of the agent's package do not affect them: modules of the package are named relative to the
agent's. Nothing is imported.
"""

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
from sts import plugin
from sts.registry import DISTRIBUTION, is_packaged

ModulePlace: TypeAlias = tuple[str | None, tuple[str, ...]]
"""The file of a module, and the folders of its submodules; None and none if it is missing."""
FindModule: TypeAlias = Callable[[str, tuple[str, ...]], ModulePlace]
"""A function like `sts.agents.introspection.find_module`, for some interpreter."""
_SHARED_MODULES = re.compile(r"sts|sts\.agents(\..*)?")
"""Modules that every agent uses, whose changes do not affect fingerprints.

A name of `sts.plugin` counts as one of the module that has it.
"""
_MISSING: ModulePlace = (None, ())
_COMPILED = (".so", ".pyd")
_FORMATTING_FIELDS = frozenset({"ctx", "kind", "level", "type_comment"})
"""Tree fields that depend on formatting only, and `level`, as imports are made absolute."""
_HIDING_NAMES = re.compile(
    r"eval|exec|__import__|(importlib\.(import_module|util|machinery|reload)|runpy)(\..*)?"
)
"""Names that can run code which no import statement reveals."""
_OUTSIDE_NAMES = re.compile(
    r"open|__file__|(os\.(environ|getenv)|subprocess|socket|sqlite3|urllib\.request)(\..*)?"
    r"|importlib\.resources(\..*)?|\?\.(.*\.)?read_(text|bytes)"
    r"|\w[\w.]*\.(open|load|fromfile|loadtxt|genfromtxt|memmap|from_pretrained|read_\w+)"
)
"""Names that access files, the environment, other programs or other machines."""


class Code(NamedTuple):
    """The code of an agent."""

    trees: bytes  # the encoded syntax trees of its modules
    distributions: tuple[str, ...]  # NAME==VERSION of each other distribution that it imports
    hidden_reason: str  # the reason why it may run code that was not read; "" if it does not
    reads_outside: bool  # True if it may read files or other data outside its modules


def unreadable_code(why: str) -> Code:
    """Return the `Code` of an agent whose modules cannot be read."""
    return Code(b"", (), why, False)


def read_code(module: str, find: FindModule) -> Code:
    """Read `module` and all modules of the agent that it imports, directly or indirectly."""
    try:
        return _Reader(module, find).read()
    except RecursionError:
        return unreadable_code("its code is nested too deeply")


class _Reader:
    def __init__(self, module: str, find: FindModule) -> None:
        self._root, self._find = module, find
        self._top = module.partition(".")[0]
        self._places: dict[str, ModulePlace] = {}
        self._distributions: set[str] = set()
        self._hidden: list[str] = []
        self._outside = False

    def read(self) -> Code:
        file, folders = self._find_place(self._root)
        if file is None:
            return unreadable_code(f"there is no file of module {self._root}")
        self._home = self._root if folders else self._root.rpartition(".")[0]
        modules: dict[str, bytes] = {}
        queue = [*_parent_names(self._root)]
        while queue:
            name = queue.pop()
            if name not in modules:
                modules[name], imported = self._read_module(name)
                queue += imported
        encoded = sorted((self._canonical_name(name), raw) for name, raw in modules.items() if raw)
        trees = b"".join(f"{name} {len(raw)}:".encode() + raw for name, raw in encoded)
        versions = tuple(sorted(self._distributions))
        return Code(trees, versions, "".join(self._hidden[:1]), self._outside)

    def _read_module(self, name: str) -> tuple[bytes, set[str]]:
        """Return a module's encoded tree, or the bytes of a compiled one, and its imports."""
        file, folders = self._find_place(name)
        if file is None:
            return b"", set()
        try:
            raw = Path(file).read_bytes()
            if file.endswith(_COMPILED):
                return raw, set()
            if not file.endswith(".py"):
                raise ValueError("not a Python file")
            tree = ast.parse(raw)
            package = name if folders else name.rpartition(".")[0]
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom):
                    node.module = resolve_name("." * node.level + (node.module or ""), package)
            imported = set().union(*map(self._modules_to_read, self._list_imported_names(tree)))
            text = ast.dump(_Normaliser(self._canonical_name).visit(tree))
        except (SyntaxError, ValueError, ImportError, OSError) as error:
            self._hidden.append(f"module {name} cannot be read ({type(error).__name__})")
            return b"", set()
        return text.encode("ascii", "backslashreplace"), imported

    def _list_imported_names(self, tree: ast.Module) -> set[str]:
        """Return the names that a module imports; record uses of hidden code or outside data."""
        nodes = list(ast.walk(tree))
        imports = [entry for node in nodes for entry in _list_imports(node)]
        third_party_names = {
            bound: target
            for bound, target, _ in imports
            if not is_packaged(target) and self._find_distribution_of(target) is not None
        }
        for used in sorted({_full_name(node, third_party_names) for node in nodes}):
            if _HIDING_NAMES.fullmatch(used):
                self._hidden.append(f"it uses {used}")
            self._outside |= _OUTSIDE_NAMES.fullmatch(used) is not None
        return {name for *_, names in imports for name in names}

    def _modules_to_read(self, name: str) -> set[str]:
        """Return the modules to read for an import of `name`; record the distribution of others."""
        if self._find_place(name) == _MISSING:
            return set()
        distribution = self._find_distribution_of(name)
        if distribution:
            self._distributions.add(distribution)
        return set(_parent_names(name)) if distribution is None else set()

    def _find_place(self, name: str) -> ModulePlace:
        if name not in self._places:
            above, _, _ = name.rpartition(".")
            folders = self._find_place(above)[1] if above else ()
            self._places[name] = _MISSING if above and not folders else self._find(name, folders)
        return self._places[name]

    def _find_distribution_of(self, name: str) -> str | None:
        """Return NAME==VERSION of the distribution of a module.

        "" for a module that is ignored, of the standard library or missing. None for one whose code
        is read: the agent's own, or one that no distribution lists, such as an editable install.
        """
        top = name.partition(".")[0]
        if is_packaged(top):
            return "" if _SHARED_MODULES.fullmatch(name) else f"{DISTRIBUTION}=={sts.__version__}"
        if top == self._top:
            return None
        file = next(filter(None, (self._find_place(part)[0] for part in _parent_names(name))), None)
        if file is None:
            return ""
        if top in sys.stdlib_module_names and self._top_folder(top) != self._top_folder(self._top):
            return ""
        return _find_distribution(file, top) or None

    def _top_folder(self, top: str) -> Path:
        """Return the folder that contains a top-level module or package."""
        file, folders = self._find_place(top)
        return Path(folders[0] if folders else file or "").parent

    def _canonical_name(self, name: str) -> str:
        """Return the name of a module, relative to the agent's module if in the same package."""
        if name == self._root:
            return "."
        if name.partition(".")[0] != self._top:
            return name
        path, home = (f"/{dotted.replace('.', '/')}" for dotted in (name, self._home))
        return posixpath.relpath(path, home)


def _parent_names(name: str) -> Iterator[str]:
    """Yield the names of a module's parent packages, the outermost first, and its own name."""
    parts = name.split(".")
    return (".".join(parts[: n + 1]) for n in range(len(parts)))


@functools.lru_cache(maxsize=1024)
def _find_distribution(file: str, top: str) -> str:
    """Return NAME==VERSION of the distribution whose record lists a file, "" for none."""
    path = list(map(str, Path(file).parents))
    likely = metadata.distributions(name=top, path=path)  # most have the name of their module
    for distributions in (likely, metadata.distributions(path=path)):
        for dist in distributions:
            inside = os.path.relpath(file, str(dist.locate_file(""))).replace(os.sep, "/")
            if f"\n{inside}," in "\n" + (dist.read_text("RECORD") or ""):
                return f"{re.sub('[-_.]+', '-', dist.name).lower()}=={dist.version}"
    return ""


def _list_imports(node: ast.AST) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield each name that an import binds, its full name, and the names that may be modules."""
    if isinstance(node, ast.ImportFrom):
        for alias in node.names:
            target = f"{node.module}.{alias.name}"
            names: tuple[str, ...] = (node.module or "", target)
            if node.module == plugin.__name__ and alias.name in plugin.HOMES:
                names = (plugin.HOMES[alias.name].partition(":")[0],)
            yield alias.asname or alias.name, target, names
    elif isinstance(node, ast.Import):
        for alias in node.names:
            top = alias.name.partition(".")[0]
            yield alias.asname or top, alias.name if alias.asname else top, (alias.name,)


def _full_name(node: ast.AST, imported: Mapping[str, str]) -> str:
    """Return the dotted name of a node: its full name if imported, "?.NAME" for unknown objects."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    head = node.id if isinstance(node, ast.Name) else ""
    return ".".join([imported.get(head, "?" if names else head), *names])


class _Normaliser(ast.NodeTransformer):
    """Transformer that removes formatting and differences between Python versions from a tree.

    `module_name` maps an imported module to its name in the tree.
    """

    def __init__(self, module_name: Callable[[str], str]) -> None:
        self._module_name = module_name

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name, value in list(ast.iter_fields(node)):
            meaningful = list(filter(_has_meaning, value)) if isinstance(value, list) else value
            if name in _FORMATTING_FIELDS or meaningful == []:
                delattr(node, name)
            else:
                setattr(node, name, meaningful)
        return node

    def visit_Import(self, node: ast.Import) -> ast.AST:  # noqa: N802
        for alias in node.names:
            alias.name = self._module_name(alias.name)
        return self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:  # noqa: N802
        node.module = self._module_name(node.module or "")
        return self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:  # noqa: N802
        """Join adjacent constants, as only some versions of Python do."""
        values: list[Any] = []
        for value in node.values:
            if isinstance(value, ast.Constant) and values and isinstance(values[-1], ast.Constant):
                values[-1] = ast.Constant(str(values[-1].value) + str(value.value))
            elif not (isinstance(value, ast.Constant) and value.value == ""):
                values.append(value)
        node.values = values
        return self.generic_visit(node)


def _has_meaning(node: object) -> bool:
    """Return True unless a node is a docstring or another bare constant."""
    return not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
