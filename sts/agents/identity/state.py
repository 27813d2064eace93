"""What an agent was made with, as bytes; and where a class is no more what is written of it."""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from sts.agents.elsewhere import shim
from sts.agents.identity.modules import Module, Modules, Owner, below, bound_by

_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_DEPTH = 50


class NotPlain(Exception):
    """A value that cannot be written; its text is the kind of it."""


def written(value: Any, depth: int = 0) -> bytes:
    """Returns a value of numbers, texts, arrays and collections of them as bytes.

    Equal values of one kind are written alike, whatever the order of a set or the memory of an
    array; a dictionary's order counts.

    Raises:
      NotPlain: it is, or holds, another kind of object.
    """
    kind = type(value)
    if depth > _DEPTH:
        raise NotPlain(f"{kind.__name__} of itself")
    deeper = functools.partial(written, depth=depth + 1)
    if kind in _PLAIN:
        return _framed(kind.__name__, repr(value).encode("utf-8", "backslashreplace"))
    if isinstance(value, Enum):
        return _framed("enum", f"{kind.__name__}.{value.name}".encode())
    if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
        shape = f"{value.dtype.newbyteorder('<').str} {value.shape}".encode()
        ordered = np.asarray(value).astype(value.dtype.newbyteorder("<"), copy=False)
        return _framed("array", _framed("shape", shape) + ordered.tobytes())
    if kind in (list, tuple) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        return _framed(kind.__name__, b"".join(map(deeper, value)))
    if kind in (set, frozenset):
        return _framed(kind.__name__, b"".join(sorted(map(deeper, value))))
    if kind in (dict, types.MappingProxyType):
        return _framed("dict", b"".join(deeper(k) + deeper(v) for k, v in value.items()))
    if is_dataclass(value) and not isinstance(value, type):
        own = ((field.name, getattr(value, field.name)) for field in fields(value))
        return _framed(kind.__name__, b"".join(deeper(n) + deeper(v) for n, v in own))
    raise NotPlain(kind.__name__)


def _framed(kind: str, raw: bytes) -> bytes:
    return f"{kind} {len(raw)}:".encode() + raw


def patches(classes: Sequence[Any], modules: Modules) -> Iterator[str]:
    """Yields the attributes of `shim.classes` that are not as their source has them."""
    for module, qualified, values in classes:
        if modules.owner(module) is not Owner.OWN:
            continue
        source = modules.read(module)
        node = _definition(source, qualified) if isinstance(source, Module) else None
        if node is None or not isinstance(source, Module):
            continue
        set_there = {
            n.attr
            for n in below(source.body)
            if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load)
        }
        for name, value in values.items():
            own = name.startswith("__") or name == "_abc_impl" or name in set_there
            if not own and _differs(node, f"{qualified}.{name}", value):
                yield f"{node.name}.{name}"


def _definition(module: Module, qualified: str) -> ast.ClassDef | None:
    body: list[ast.stmt] = list(module.body)
    node = None
    for part in qualified.split("."):
        found = [s for s in body if isinstance(s, ast.ClassDef) and s.name == part]
        if len(found) != 1:
            return None
        node = found[0]
        body = node.body
    return node


def _differs(node: ast.ClassDef, qualified: str, value: list[str]) -> bool:
    binding = [s for s in node.body if qualified.rpartition(".")[2] in bound_by(s)]
    if not binding:
        plain = not node.decorator_list and not node.keywords
        return plain and value[0] != "member"
    if len(binding) > 1:
        return False
    (statement,) = binding
    if isinstance(statement, ast.FunctionDef) and not statement.decorator_list:
        return value != ["function", qualified]
    if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(
        statement.value, ast.Constant
    ):
        return value != shim.value(statement.value.value)
    return False
