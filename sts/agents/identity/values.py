"""The parameters of an agent, as bytes."""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

PROTOCOL = (
    *("name", "sees", "deterministic", "draws", "domain", "trained_on", "version"),
    "weights_digest",
)
"""The attributes that the protocol declares."""
_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_DEPTH = 50


class NotPlain(Exception):
    """A value that cannot be written; its text is the kind of it."""


class State(NamedTuple):
    """The parameters of an agent.

    Attributes:
      written: its attributes as bytes, by name.
      declared: those of them that stay as they are while it plays.
      unread: why others cannot be read, in a few words each.
    """

    written: dict[str, bytes]
    declared: frozenset[str]
    unread: tuple[str, ...]


def parameters(agent: Any) -> Sequence[str] | None:
    """Return the names of an agent's parameters, None if it does not give them."""
    named = getattr(agent, "parameters", None)
    return [str(name) for name in named] if isinstance(named, tuple | list) else None


def attributes(agent: Any) -> dict[str, Any]:
    """Return the parameters that an agent names, or else all that it keeps.

    What it declares by the protocol and what it derives when asked (`cached_property`) are left
    out.

    Raises:
      NotPlain: it names as a parameter what it does not have.
    """
    named = parameters(agent)
    if named is not None:
        missing = [name for name in named if not hasattr(agent, name)]
        if missing:
            raise NotPlain(f"parameters names {missing[0]!r}, which it does not have")
        return {name: getattr(agent, name) for name in named}
    kept = dict(getattr(agent, "__dict__", {}))
    for kind in type(agent).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(agent, name):
                kept[name] = getattr(agent, name)
    derived = functools.cached_property
    return {
        name: value
        for name, value in kept.items()
        if name not in (*PROTOCOL, "parameters")
        and not isinstance(getattr(type(agent), name, None), derived)
    }


def state(
    kept: Mapping[str, Any], *, named: bool, unread: Mapping[str, str] | None = None
) -> State:
    """Return attributes as bytes.

    Declared are those that the agent names as its parameters. Otherwise they are those whose names
    do not begin with an underscore, without empty collections, which are the places of caches.

    Args:
      kept: as `attributes` returns them.
      named: whether the agent names its parameters.
      unread: names and kinds of those whose values are not at hand.
    """
    hidden, out, declared = dict(unread or {}), dict[str, bytes](), set()
    for name, value in sorted(kept.items()):
        try:
            out[name] = written(value)
        except NotPlain as found:
            hidden[name] = str(found)
            continue
        empty = isinstance(value, list | dict | set) and not value
        if named or not (name.startswith("_") or empty):
            declared.add(name)
    reasons = tuple(f"its {name} ({kind}) cannot be read" for name, kind in sorted(hidden.items()))
    return State(out, frozenset(declared), reasons)


def written(value: Any, depth: int = 0) -> bytes:
    """Return a value of numbers, texts, arrays and collections of them as bytes.

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
