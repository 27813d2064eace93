"""What names name: statements of one's own, or something of others that is only called by its name.

Re-exports, aliases and submodules are followed to where a thing is written.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from typing import NamedTuple

from sts.agents.identity.modules import Module, Modules, Owner, Target


class Node(NamedTuple):
    """Statements of a module that count together; all of them where `numbers` is None."""

    module: str
    numbers: tuple[int, ...] | None


class Named(NamedTuple):
    """What a dotted name names.

    Attributes:
      node: one's own statements; None where it is another's.
      text: the name in the module where that is written, without the module where it is one's own
        or the suite's.
      package: the package of the others that it is in, "" for one's own, the suite's and builtins.
      sure: whether it could be found at all.
    """

    node: Node | None
    text: str
    package: str = ""
    sure: bool = True


class Names:
    """Resolves names in the modules of one agent."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules
        self._read: dict[str, Module | bytes | None] = {}
        self.unreadable: dict[str, str] = {}

    def source(self, name: str) -> Module | bytes | None:
        """Returns a module's statements, or its bytes where it is compiled; None without either.

        Why a module that is there has neither is kept in `unreadable`.
        """
        if name not in self._read:
            self._read[name] = None
            try:
                self._read[name] = self._modules.read(name)
            except (SyntaxError, ValueError, OSError) as error:
                self.unreadable[name] = type(error).__name__
            else:
                if self._read[name] is None and self._modules.place(name) is not None:
                    self.unreadable[name] = "no Python file"
        return self._read[name]

    def version(self, package: str) -> str:
        """Returns NAME==VERSION of the distribution that a package is of, "" for none."""
        return self._modules.version(package)

    def own(self, name: str) -> bool:
        """Says whether a module is there and one's own."""
        own = bool(name) and self._modules.owner(name) is Owner.OWN
        return own and self._modules.place(name) is not None

    def find(self, module: Module, names: Sequence[str]) -> Named:
        """Returns what a dotted name names in `module`, of which the first part is not local."""
        first = names[0]
        if first in module.bound:
            return Named(Node(module.name, module.bound[first]), ".".join(names))
        if first in module.aliases:
            return self.follow(module.aliases[first], names[1:])
        for star in reversed(module.stars):
            if self._offers(star, first, frozenset()):
                return self.follow(Target(star, first), names[1:])
        if first == "globals":
            return Named(Node(module.name, None), "globals")
        if hasattr(builtins, first):
            return Named(None, ".".join(["builtins", *names]))
        for star in reversed(module.stars):
            if self._modules.owner(star) is not Owner.OWN:
                return self.follow(Target(star, first), names[1:])
        return Named(None, ".".join(["?", *names]), sure=False)

    def _offers(self, name: str, wanted: str, seen: frozenset[str]) -> bool:
        module = self.source(name) if self.own(name) and name not in seen else None
        if not isinstance(module, Module):
            return False
        own = wanted in module.bound or wanted in module.aliases
        return own or any(self._offers(star, wanted, seen | {name}) for star in module.stars)

    def follow(
        self,
        target: Target,
        names: Sequence[str],
        seen: frozenset[tuple[str, str]] = frozenset(),
    ) -> Named:
        """Returns what an import's target names, and the names after it."""
        module, rest = target.module, [*([target.attribute] if target.attribute else ()), *names]
        owner = self._modules.owner(module)
        if owner in (Owner.FOREIGN, Owner.NOBODY):
            return Named(None, ".".join([module, *rest]), module.partition(".")[0])
        while owner is Owner.SUITE and rest and self._modules.place(f"{module}.{rest[0]}"):
            module, rest = f"{module}.{rest[0]}", rest[1:]
            owner = self._modules.owner(module)
        if owner is Owner.SUITE:
            return Named(None, ".".join(["", *rest]))
        while rest:
            found = self.source(module)
            if not isinstance(found, Module):
                break
            first = rest[0]
            if first in found.bound:
                return Named(Node(module, found.bound[first]), ".".join(rest))
            if first in found.aliases and (module, first) not in seen:
                return self.follow(found.aliases[first], rest[1:], seen | {(module, first)})
            if self._modules.place(f"{module}.{first}") is not None:
                module, rest = f"{module}.{first}", rest[1:]
                continue
            for star in reversed(found.stars):
                if self._offers(star, first, frozenset()) or not self.own(star):
                    return self.follow(Target(star, first), rest[1:], seen)
            break
        return Named(Node(module, None), ".".join(rest))

    def of(self, module: Module, expression: ast.expr) -> Named | None:
        """Returns what a dotted expression names, or what it calls; None if it is neither."""
        names: list[str] = []
        while not isinstance(expression, ast.Name):
            if isinstance(expression, ast.Attribute):
                names.append(expression.attr)
                expression = expression.value
            elif isinstance(expression, ast.Call):
                names, expression = [], expression.func
            elif isinstance(expression, ast.Subscript):
                names, expression = [], expression.value
            else:
                return None
        return self.find(module, [expression.id, *names[::-1]])
