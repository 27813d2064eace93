"""The answers of a worker process, as bytes that are never unpickled.

Besides plain values (`sts.jobs.frames`) these hold our own records: named tuples and dataclasses of
classes that this process has imported from our packages, counters and errors. A name in an answer
leads to such a class or is refused; nothing is imported and nothing else is called.
"""

from __future__ import annotations

import builtins
import dataclasses
import sys
import traceback
from collections import Counter
from typing import Any

from sts.errors import StsError
from sts.jobs import frames
from sts.jobs.frames import DecodeError
from sts.registry import is_packaged


def encode(value: Any) -> bytes:
    """Return a value as bytes; `TypeError` if it is neither plain nor one of our records."""
    return frames.encode(value, _reduce)


def decode(data: bytes) -> Any:
    """Return the value that `encode` wrote; `Broken` if the bytes do not hold one."""
    return frames.decode(data, _build)


def make_sendable(error: BaseException, *, ours: bool) -> BaseException:
    """Return an error that can be sent; one that is neither ours nor Python's becomes another.

    If only our own code ran (`ours`), other errors than `StsError` keep their type and note where
    they were raised; else they become one.
    """
    if isinstance(error, StsError):
        return error
    line = f"{type(error).__name__}: {error}"
    if not ours or not isinstance(error, Exception):
        return StsError(line)
    own = getattr(builtins, type(error).__name__, None) is type(error)
    sent = error if own else RuntimeError(line)
    sent.add_note("in a worker process:\n" + "".join(traceback.format_exception(error)))
    return sent


def _reduce(one: Any) -> tuple[str, Any]:
    kind = type(one)
    name = f"{kind.__module__}:{kind.__qualname__}"
    if isinstance(one, BaseException):
        return name, [one.args if isinstance(one, StsError) else one.__reduce__()[1], vars(one)]
    if kind is Counter:
        return name, dict(one)
    if dataclasses.is_dataclass(kind):
        return name, {f.name: getattr(one, f.name) for f in dataclasses.fields(one) if f.init}
    if hasattr(kind, "_fields"):
        return name, list(one)
    raise TypeError(f"expected a plain value or a record of ours, found {name}")


def _build(name: str, inside: Any) -> Any:
    module, _, path = name.partition(":")
    kind: Any = sys.modules.get(module)
    for part in path.split("."):
        kind = getattr(kind, part, None)
    if isinstance(kind, type) and kind.__module__ == module:
        if kind is Counter:
            return Counter(inside)
        if issubclass(kind, StsError):
            return kind.rebuild(*inside)
        if module == "builtins" and issubclass(kind, Exception):
            error = kind(*inside[0])
            error.__dict__.update(inside[1])
            return error
        if is_packaged(module) and dataclasses.is_dataclass(kind):
            return kind(**inside)
        if is_packaged(module) and hasattr(kind, "_fields"):
            return kind(*inside)
    raise DecodeError(f"expected one of our records, found {name}")
