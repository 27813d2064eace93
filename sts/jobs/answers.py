"""Safe encoding of workers' answers, which are never unpickled.

In addition to plain values (`sts.jobs.frames`), an answer may contain counters, errors, and named
tuples and dataclasses of this distribution that are already imported here. Decoding rejects any
other class, imports nothing and calls nothing else.
"""

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
    """Encode a value; raise `TypeError` if its type is not supported."""
    return frames.encode(value, _reduce)


def decode(data: bytes) -> Any:
    """Decode a value that `encode` wrote; raise `DecodeError` if the bytes are invalid."""
    return frames.decode(data, _build)


def make_sendable(error: BaseException, *, ours: bool) -> BaseException:
    """Convert an exception to one that can be encoded.

    If only code of this distribution ran (`ours`), built-in exceptions keep their type, others
    become a RuntimeError, and a note has the traceback. Otherwise any exception becomes an
    `StsError`.
    """
    if isinstance(error, StsError):
        return error
    line = f"{type(error).__name__}: {error}"
    if not ours or not isinstance(error, Exception):
        return StsError(line)
    is_builtin = getattr(builtins, type(error).__name__, None) is type(error)
    sent = error if is_builtin else RuntimeError(line)
    sent.add_note("in a worker process:\n" + "".join(traceback.format_exception(error)))
    return sent


def _reduce(value: Any) -> tuple[str, Any]:
    kind = type(value)
    name = f"{kind.__module__}:{kind.__qualname__}"
    if isinstance(value, BaseException):
        args = value.args if isinstance(value, StsError) else value.__reduce__()[1]
        return name, [args, vars(value)]
    if kind is Counter:
        return name, dict(value)
    if dataclasses.is_dataclass(kind):
        return name, {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
    if hasattr(kind, "_fields"):
        return name, list(value)
    raise TypeError(f"expected a plain value, named tuple, dataclass or error, found {name}")


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
    raise DecodeError(f"expected a record of this distribution, found {name}")
