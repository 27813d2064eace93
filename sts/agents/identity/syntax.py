"""Syntax trees as bytes that mean the same in every version of Python that the suite runs on.

Comments, formatting, docstrings, `pass`, and annotations that nothing looks at leave no trace. A
name that a tree does not bind itself is given to whoever knows what it names.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from sts.agents.identity.modules import Target, below, bound_by, children, targets
from sts.agents.identity.names import Node

Token: TypeAlias = bytes | Node
"""A piece of what a tree is, or the statements of another that it names there."""

_SKIPPED = frozenset({"ctx", "kind", "type_comment", "type_params", "type_ignores"})
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class _Scope:
    """The names that a function, class or comprehension binds.

    Attributes:
      names: bound here.
      aliases: those that only an import binds, and to what.
      outer: those declared global.
      of_class: whether only its own statements see them.
      looked_at: whether somebody may look at its annotations.
    """

    names: set[str]
    aliases: dict[str, Target] = field(default_factory=dict)
    outer: set[str] = field(default_factory=set)
    of_class: bool = False
    looked_at: bool = False


class Writer:
    """Writes trees.

    Args:
      package: of the module that they stand in.
      free: returns the tokens of a dotted chain of names of which the first is not bound here.
      follow: the same for a chain that begins at what an import names.
      looked_at: says whether decorators and base classes may go by the annotations below them.
    """

    def __init__(
        self,
        package: str,
        *,
        free: Callable[[Sequence[str]], list[Token]],
        follow: Callable[[Target, Sequence[str]], list[Token]],
        looked_at: Callable[[Sequence[ast.expr]], bool],
    ) -> None:
        self._package = package
        self._free, self._follow, self._looked_at = free, follow, looked_at
        self._scopes: list[_Scope] = []
        self._as_it_stands = False
        self._out: list[Token] = []

    def write(self, nodes: Sequence[ast.AST]) -> list[Token]:
        """Returns the tokens of statements, in their order."""
        self._out = []
        self._values(nodes)
        return self._out

    def _text(self, text: str) -> None:
        raw = text.encode("utf-8", "surrogatepass")
        self._out.append(b"%d:%s" % (len(raw), raw))

    @contextmanager
    def _node(self, name: str) -> Iterator[None]:
        self._out.append(b"(")
        self._text(name)
        yield
        self._out.append(b")")

    def _values(self, nodes: Sequence[object]) -> None:
        self._out.append(b"[")
        for node in nodes:
            self._value(node)
        self._out.append(b"]")

    def _value(self, value: object) -> None:
        if isinstance(value, ast.AST):
            special = getattr(self, f"_{type(value).__name__}", None)
            if special is None:
                self._plainly(value)
            else:
                special(value)
        elif isinstance(value, list | tuple):
            self._values(value)
        elif isinstance(value, str):
            self._text(value)
        elif value is None:
            self._out.append(b"_")
        else:
            self._text(f"{type(value).__name__} {value!r}")

    def _plainly(self, node: ast.AST, skipped: frozenset[str] = frozenset()) -> None:
        with self._node(type(node).__name__):
            for name, value in ast.iter_fields(node):
                if name not in _SKIPPED and name not in skipped and value not in (None, []):
                    self._text(name)
                    self._value(value)

    def _Constant(self, node: ast.Constant) -> None:
        value = node.value
        with self._node("Constant"):
            if isinstance(value, str):
                self._text("str")
                self._text(value)
            elif type(value) is int:
                self._text(f"int {value:x}")
            else:
                self._text(f"{type(value).__name__} {value!r}")

    def _JoinedStr(self, node: ast.JoinedStr) -> None:
        """Writes neighbouring texts as one, as only some Pythons do."""
        texts, parts = [""], []
        for part in node.values:
            if isinstance(part, ast.Constant):
                texts[-1] += str(part.value)
            else:
                parts.append(part)
                texts.append("")
        with self._node("JoinedStr"):
            self._values(texts)
            self._values(parts)

    def _FormattedValue(self, node: ast.FormattedValue) -> None:
        with self._node("FormattedValue"):
            self._value(node.value)
            self._text(str(node.conversion))
            if isinstance(node.format_spec, ast.JoinedStr) and node.format_spec.values:
                self._value(node.format_spec)

    def _Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring, a text in place of a comment
            self._plainly(node)

    def _Pass(self, node: ast.Pass) -> None:
        pass

    def _If(self, node: ast.If) -> None:
        """Leaves out what only a type checker, or a program, runs."""
        if for_types(node):
            self._values(node.orelse)
        else:
            self._plainly(node)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        if self._scopes and self._scopes[-1].of_class:
            with self._node("Field"):
                self._value(node.target)
                self._annotation(node.annotation)
                self._value(node.value)
        elif node.value is not None:
            self._Assign(ast.Assign([node.target], node.value))

    def _annotation(self, node: ast.expr) -> None:
        """Writes a field's annotation: as it stands, or as what it names if somebody may look."""
        self._as_it_stands = not self._scopes[-1].looked_at
        self._value(node)
        self._as_it_stands = False

    def _Assign(self, node: ast.Assign) -> None:
        with self._node("Assign"):
            self._values(node.targets)
            self._value(node.value)

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        arguments = node.args
        with self._node(type(node).__name__):
            self._text(node.name)
            self._values(node.decorator_list)
            self._values(arguments.defaults)
            self._values(arguments.kw_defaults)
            if self._looked_at(node.decorator_list):
                self._values([arg.annotation for arg in _arguments(arguments)])
                self._value(node.returns)
            with self._scope(_function_scope(arguments, node.body, self._package)):
                self._names(arguments)
                self._values(node.body)

    _AsyncFunctionDef = _FunctionDef

    def _Lambda(self, node: ast.Lambda) -> None:
        with self._node("Lambda"):
            self._values(node.args.defaults)
            self._values(node.args.kw_defaults)
            with self._scope(_function_scope(node.args, [node.body], self._package)):
                self._names(node.args)
                self._value(node.body)

    def _names(self, arguments: ast.arguments) -> None:
        for kind in ("posonlyargs", "args", "kwonlyargs"):
            self._values([arg.arg for arg in getattr(arguments, kind)])
        for one in (arguments.vararg, arguments.kwarg):
            self._value(one.arg if one else None)

    def _ClassDef(self, node: ast.ClassDef) -> None:
        above = [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]
        names: set[str] = set().union(*(bound_by(statement) for statement in node.body))
        with self._node("ClassDef"):
            self._text(node.name)
            self._values(node.decorator_list)
            self._values(node.bases)
            self._values(node.keywords)
            with self._scope(_Scope(names, of_class=True, looked_at=self._looked_at(above))):
                self._values(node.body)

    def _comprehension(self, node: ast.AST) -> None:
        assert isinstance(node, _COMPREHENSIONS)
        names = {
            n.id
            for generator in node.generators
            for n in below([generator.target])
            if isinstance(n, ast.Name)
        }
        with self._node(type(node).__name__):
            self._value(node.generators[0].iter)  # which is looked up outside
            with self._scope(_Scope(names)):
                for number, generator in enumerate(node.generators):
                    self._plainly(generator, frozenset({"iter"} if number == 0 else ()))
                if isinstance(node, ast.DictComp):
                    self._value(node.key)
                    self._value(node.value)
                else:
                    self._value(node.elt)

    _ListComp = _SetComp = _DictComp = _GeneratorExp = _comprehension

    def _Import(self, node: ast.Import | ast.ImportFrom) -> None:
        """Writes what an import binds where the name's uses do not say it themselves."""
        scope = self._scopes[-1] if self._scopes else None
        for bound, target in targets(node, self._package):
            if scope is None or bound not in scope.aliases:
                with self._node("Import"):
                    self._text(bound)
                    self._out += self._follow(target, ())

    _ImportFrom = _Import

    def _Name(self, node: ast.Name) -> None:
        self._chain(node, [node.id])

    def _Attribute(self, node: ast.Attribute) -> None:
        names, base = [node.attr], node.value
        while isinstance(base, ast.Attribute):
            names.append(base.attr)
            base = base.value
        if isinstance(base, ast.Name):
            self._chain(base, [base.id, *names[::-1]])
        else:
            self._plainly(node)

    def _chain(self, base: ast.Name, names: list[str]) -> None:
        name = names[0]
        scope = self._binds(name)
        if self._as_it_stands:
            self._dotted(names)
        elif not self._scopes and not isinstance(base.ctx, ast.Load):
            self._dotted(names)  # what the module binds here is what others refer to
        elif scope is None:
            self._out += self._free(names)
        elif name in scope.aliases:
            self._out += self._follow(scope.aliases[name], names[1:])
        else:
            self._dotted(names)
            if scope.of_class and isinstance(base.ctx, ast.Load):
                self._out += self._free(names[:1])  # it may not be bound yet

    def _dotted(self, names: Sequence[str]) -> None:
        with self._node("Local"):
            self._values(names)

    def _binds(self, name: str) -> _Scope | None:
        """Returns the innermost scope that binds a name, None where it is the module's."""
        for depth, scope in enumerate(reversed(self._scopes)):
            if depth and scope.of_class:
                continue
            if name in scope.outer:
                return None
            if name in scope.names:
                return scope
        return None

    @contextmanager
    def _scope(self, scope: _Scope) -> Iterator[None]:
        self._scopes.append(scope)
        yield
        self._scopes.pop()


def for_types(node: ast.stmt) -> bool:
    """Says whether a statement is `if TYPE_CHECKING:`."""
    if not isinstance(node, ast.If):
        return False
    test = node.test
    return (test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")) == (
        "TYPE_CHECKING"
    )


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    extra = [one for one in (arguments.vararg, arguments.kwarg) if one]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]


def _function_scope(arguments: ast.arguments, body: Sequence[ast.AST], package: str) -> _Scope:
    own = {arg.arg for arg in _arguments(arguments)}
    names = own.union(*(bound_by(statement) for statement in body))
    outer: set[str] = set()
    shared: set[str] = set()
    nodes = list(_within(body))
    for node in nodes:
        if isinstance(node, ast.Global):
            outer |= set(node.names)
        elif isinstance(node, ast.Nonlocal):
            shared |= set(node.names)
    aliases = _aliases(nodes, package)
    kept = {name: to for name, to in aliases.items() if name not in own | outer | shared}
    return _Scope(names - outer - shared, kept, outer)


def _aliases(nodes: Iterable[ast.AST], package: str) -> dict[str, Target]:
    """Returns the names that one import binds among these nodes, and nothing else does."""
    every: dict[str, set[Target]] = {}
    others: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for bound, target in targets(node, package):
                every.setdefault(bound, set()).add(target)
        elif isinstance(node, _FUNCTIONS | ast.ClassDef):
            others.add(node.name)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            others.add(node.id)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            others.add(node.name)
    return {
        name: next(iter(found))
        for name, found in every.items()
        if len(found) == 1 and name not in others and name != "*"
    }


def _within(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yields the nodes of statements, without what stands inside a definition among them."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _FUNCTIONS | ast.ClassDef | ast.Lambda):
            waiting += children(node)
