"""What a class means: its own statement and every other that it reaches by name.

The statements are numbered in the order in which they are reached, so that neither the names nor
the places of modules are a part of it. Wherever a name does not say what is used (a module as a
value, a star import), the whole module is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import NamedTuple

from sts.agents.identity.effects import acts, at_import, looked_at
from sts.agents.identity.modules import Module, Modules, below, imported
from sts.agents.identity.names import Named, Names, Node
from sts.agents.identity.syntax import Token, Writer

_HIDES = (
    *("builtins.eval", "builtins.exec", "builtins.compile", "builtins.__import__"),
    *("importlib.import_module", "importlib.util", "importlib.machinery", "importlib.reload"),
    *("runpy", "sys.modules", "sys._getframe", "inspect.currentframe", "inspect.stack"),
    *("types.FunctionType", "types.ModuleType", "pickle", "marshal", "ctypes"),
)
"""Behind these may stand code that no name leads to."""
_HIDING = frozenset({"__subclasses__", "__globals__", "__code__", "__builtins__"})
_BESIDE = frozenset({"__file__", "__path__", "__spec__", "__loader__"})
_OUTSIDE = (
    *("importlib.resources", "pathlib", "os.environ", "os.getenv", "io.FileIO", "mmap"),
    *("gzip", "bz2", "lzma", "zipfile", "tarfile", "shelve", "dbm", "sqlite3"),
    *("subprocess", "socket", "urllib.request", "http.client"),
)
"""Behind these stand files, the environment, other programs or other machines."""
_READER = re.compile(
    r"open|load|load_file|fromfile|loadtxt|genfromtxt|memmap|get_data|from_pretrained|read_\w+"
)
"""So others, such as NumPy, call what reads a file."""


class Meaning(NamedTuple):
    """What was read of a class.

    Attributes:
      code: every statement that it reaches, as bytes.
      distributions: NAME==VERSION of the others' packages that these use.
      hidden: why more may be used than was read, in a few words each.
      outside: whether it reads files, the environment or other machines, which no code says.
    """

    code: bytes
    distributions: tuple[str, ...]
    hidden: tuple[str, ...]
    outside: bool


def meaning(modules: Modules, module: str, name: str) -> Meaning:
    """Returns what `name`, bound in `module`, means."""
    return _Closure(Names(modules)).meaning(module, name)


class _Closure:
    def __init__(self, names: Names) -> None:
        self._names = names
        self._numbers: dict[Node, int] = {}
        self._entered: dict[str, None] = {}
        self._effects: list[Node] = []
        self._packages: set[str] = set()
        self._hidden: dict[str, None] = {}
        self._outside = False

    def meaning(self, module: str, name: str) -> Meaning:
        self._enter(module)
        home = self._names.source(module)
        if not isinstance(home, Module) or name not in home.bound:
            self._hidden[f"{name} is not written in a file"] = None
            return Meaning(b"", (), tuple(self._hidden), False)
        self._number(Node(module, home.bound[name]))
        written: dict[Node, list[Token]] = {}
        while len(written) < len(self._numbers):
            for node in [node for node in self._numbers if node not in written]:
                written[node] = self._written(node)
            if len(written) == len(self._numbers):
                for node in self._effects:
                    self._number(node)
        code = b"".join(self._bytes(written[node]) for node in self._numbers)
        for own, why in self._names.unreadable.items():
            self._hidden[f"module {own} cannot be read ({why})"] = None
        versions = sorted({self._names.version(package) for package in self._packages} - {""})
        return Meaning(code, tuple(versions), tuple(self._hidden), self._outside)

    def _number(self, node: Node) -> int:
        return self._numbers.setdefault(node, len(self._numbers))

    def _bytes(self, tokens: Sequence[Token]) -> bytes:
        return b"".join(b"#%d;" % self._numbers[t] if isinstance(t, Node) else t for t in tokens)

    def _enter(self, name: str) -> None:
        """Lets count what a module does when it is imported, and what those do that it imports."""
        waiting = [(name, False)]
        while waiting:
            one, imports_entered = waiting.pop()
            module = self._names.source(one) if self._names.own(one) else None
            if not isinstance(module, Module):
                continue
            if imports_entered:
                numbers = range(len(module.body))
                acting = (n for n in numbers if acts(self._names, module, n))
                self._effects += [Node(one, (number,)) for number in acting]
            elif one not in self._entered:
                self._entered[one] = None
                nodes = (node for statement in at_import(module) for node in statement)
                others = [other for node in nodes for other in imported(node, module.package)]
                waiting.append((one, True))
                waiting += [(other, False) for other in reversed([one.rpartition(".")[0], *others])]

    def _written(self, node: Node) -> list[Token]:
        module = self._names.source(node.module)
        if not isinstance(module, Module):
            return [b"{", module or b"", b"}"]
        numbers = range(len(module.body)) if node.numbers is None else node.numbers
        body = [module.body[number] for number in numbers]
        for statement in body:
            self._examine(statement, module)
        writer = Writer(
            module.package,
            free=lambda names: self._tokens(self._names.find(module, names)),
            follow=lambda target, names: self._tokens(self._names.follow(target, names)),
            looked_at=lambda above: looked_at(self._names, module, above),
        )
        return [b"{", *writer.write(body), b"}"]

    def _examine(self, statement: ast.stmt, module: Module) -> None:
        """Notes what a statement imports late, and where it hides what it uses."""
        for node in below([statement]):
            for name in imported(node, module.package):
                self._enter(name)
            word = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
            if word in _HIDING:
                self._hidden[f"it uses {word}"] = None
            self._outside |= word in _BESIDE

    def _tokens(self, named: Named) -> list[Token]:
        text = named.text.encode("utf-8", "surrogatepass")
        end = b"%d:%s" % (len(text), text)
        if named.node is not None:
            self._enter(named.node.module)
            self._number(named.node)
            return [b"<", named.node, end, b">"]
        for one in _HIDES:
            if f"{named.text}.".startswith(f"{one}."):
                self._hidden[f"it uses {one.removeprefix('builtins.')}"] = None
        self._outside |= any(f"{named.text}.".startswith(f"{one}.") for one in _OUTSIDE)
        self._outside |= _READER.fullmatch(named.text.rpartition(".")[2]) is not None
        if named.package:
            self._packages.add(named.package)
        return [b"<", end, b">"]
