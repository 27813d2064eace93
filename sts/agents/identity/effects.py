"""Which statements do more, when their module is imported, than bind the names that they define.

They count for whoever imports the module, since they may change anything in it.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator, Sequence

from sts.agents.identity.modules import Module, children
from sts.agents.identity.names import Named, Names
from sts.agents.identity.syntax import for_types

_PLAIN = frozenset({"numba", *sys.stdlib_module_names})
"""Packages whose decorators and base classes do not go by the annotations below them."""
_SETTERS = ("setter", "getter", "deleter")
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_RUN = ast.Import | ast.ImportFrom | ast.Call | _FUNCTIONS | ast.ClassDef


def acts(names: Names, module: Module, number: int) -> bool:
    """Says whether the statement of this number may do more than bind its names.

    That is any but an import, a definition or an assignment to names; and of these one that calls
    what is one's own, as a decorator does, or derives from a class of one's own that hears of it.
    """
    statement = module.body[number]
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass):
        return False
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return False
    if isinstance(statement, ast.If) and (for_types(statement) or _is_program(statement)):
        return bool(statement.orelse)
    if isinstance(statement, ast.Assign):
        plain = all(_is_names(target) for target in statement.targets)
    elif isinstance(statement, ast.AnnAssign):
        plain = _is_names(statement.target)
    else:
        plain = isinstance(statement, _FUNCTIONS | ast.ClassDef)
        plain = plain or type(statement).__name__ == "TypeAlias"
    return not plain or any(_calls_own(names, module, node) for node in at_import(module)[number])


@functools.lru_cache(maxsize=1024)
def at_import(module: Module) -> tuple[tuple[ast.AST, ...], ...]:
    """Returns the imports, calls and definitions that each statement runs as it is imported."""
    return tuple(
        tuple(node for node in _run(statement) if isinstance(node, _RUN))
        for statement in module.body
    )


def _run(statement: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes of a statement that are run when its module is imported."""
    waiting = [statement]
    for node in waiting:
        yield node
        if isinstance(node, _FUNCTIONS | ast.Lambda):
            waiting += [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]
            waiting += [] if isinstance(node, ast.Lambda) else node.decorator_list
        elif isinstance(node, ast.If) and (for_types(node) or _is_program(node)):
            waiting += node.orelse
        else:
            waiting += children(node)


def looked_at(names: Names, module: Module, above: Sequence[ast.expr]) -> bool:
    """Says whether a decorator or base class may go by the annotations below it."""
    found = [names.of(module, one) for one in above]
    if any(one is not None and one.package not in ("", *_PLAIN) for one in found):
        return True
    nodes = [one.node for one in found if one is not None and one.node is not None]
    for node in nodes:
        home = names.source(node.module)
        if isinstance(home, Module):
            for own in (home.body[number] for number in node.numbers or ()):
                if not isinstance(own, ast.ClassDef) or looked_at(names, home, _above(own)):
                    return True
    return False


def _above(node: ast.ClassDef) -> list[ast.expr]:
    return [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]


def _is_program(node: ast.If) -> bool:
    test = node.test
    return isinstance(test, ast.Compare) and getattr(test.left, "id", "") == "__name__"


def _is_names(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple | ast.List):
        return all(_is_names(one) for one in target.elts)
    return isinstance(target.value if isinstance(target, ast.Starred) else target, ast.Name)


def _calls_own(names: Names, module: Module, node: ast.AST) -> bool:
    called: list[ast.expr] = [node.func] if isinstance(node, ast.Call) else []
    if isinstance(node, _FUNCTIONS | ast.ClassDef):
        called += [
            one
            for one in node.decorator_list
            if not (isinstance(one, ast.Attribute) and one.attr in _SETTERS)
        ]
    if isinstance(node, ast.ClassDef):
        if any(_hears(names, module, base) for base in node.bases):
            return True
        called += _metaclasses(node)
    found = [names.of(module, one) for one in called]
    return any(one is not None and not (one.sure and _is_constant(names, one)) for one in found)


def _is_constant(names: Names, named: Named) -> bool:
    """Says whether what is named is another's, or a tuple or text, which no call changes."""
    home = names.source(named.node.module) if named.node is not None else None
    if named.node is None or not isinstance(home, Module):
        return named.node is None
    return all(
        isinstance(getattr(home.body[number], "value", None), ast.Tuple | ast.Constant)
        for number in named.node.numbers or (0,)
    )


def _metaclasses(node: ast.ClassDef) -> list[ast.expr]:
    return [k.value for k in node.keywords if k.arg == "metaclass"]


def _hears(names: Names, module: Module, base: ast.expr) -> bool:
    """Says whether a base class of one's own is told of the classes that derive from it."""
    named = names.of(module, base)
    home = names.source(named.node.module) if named is not None and named.node else None
    if named is None or named.node is None or not isinstance(home, Module):
        return False
    for own in (home.body[number] for number in named.node.numbers or ()):
        if isinstance(own, ast.ClassDef):
            hooks = any(getattr(s, "name", "") == "__init_subclass__" for s in own.body)
            metaclasses = [names.of(home, one) for one in _metaclasses(own)]
            if hooks or any(one is not None and one.node is not None for one in metaclasses):
                return True
            if any(_hears(names, home, one) for one in own.bases):
                return True
    return False
