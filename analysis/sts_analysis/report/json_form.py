"""A report as JSON values and back; whoever reads one learns whether it is what it should be."""

import dataclasses
import functools
import json
import math
import re
import types
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from sts.errors import ArgumentError, DamagedData, NewerFormat, StsError
from sts.names import quote
from sts.storage.files import open_regular, parse_versioned_json, read_bytes
from sts_analysis.report.schema import SCHEMA, Report

FILE = "report.json"
_NAME, _VERSION = SCHEMA.split("/")
_HEAD = 64
_OPENING = re.compile(rb'\{\s*"schema": "%b/' % _NAME.encode())
_PLAIN = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}


def to_json(value: Any) -> Any:
    """A report, or anything in one, as what `json.dumps` takes: objects, lists, texts, numbers."""
    if value is None or isinstance(value, str | float | int):  # nearly all, so asked first
        return value
    if dataclasses.is_dataclass(value):
        value = _said(value)
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    return value


def _said(value: Any) -> dict[str, Any]:
    """What an object holds, but for what it need not say."""
    kind: Any = type(value)
    said: dict[str, Any] = vars(value)
    unsaid = optional(kind)
    if not unsaid:
        return said
    return {key: item for key, item in said.items() if key not in unsaid or item != unsaid[key]}


def text(report: Report) -> str:
    """What is in `report.json`: a line for each key, and for each object of a list."""
    lines = [f"{_dumped(key)}: {_block(value)}" for key, value in _said(report).items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _block(value: Any) -> str:
    if not isinstance(value, tuple) or not value:
        return _dumped(value)
    return "[\n " + ",\n ".join(_each(value)) + "\n]"


def _dumped(value: Any) -> str:
    if dataclasses.is_dataclass(value):
        said = (f"{_encoded(key)}: {_dumped(item)}" for key, item in _said(value).items())
        return "{" + ", ".join(said) + "}"
    return "[" + ", ".join(_each(value)) + "]" if isinstance(value, tuple) else _encoded(value)


def _each(values: Sequence[Any]) -> Iterable[str]:
    """Each of some values as JSON; of many, and of objects by key, those of one kind at once."""
    kinds = set(map(type, values))
    kind = kinds.pop() if len(kinds) == 1 and len(values) >= _MANY else None
    if kind is float and all(map(math.isfinite, values)):
        return map(repr, values)
    if kind in (str, bool, int):
        texts = {value: _encoded(value) for value in set(values)}
        return map(texts.__getitem__, values)
    if kind is tuple and set(map(len, values)) == {2}:
        return map("[%s, %s]".__mod__, zip(*map(_each, zip(*values, strict=True)), strict=True))
    if kind is dict or dataclasses.is_dataclass(kind):
        rows = values if kind is dict else [*map(_said, values)]
        keys = [*rows[0]]
        if keys and all([*row] == keys for row in rows):
            line = ", ".join(f"{_encoded(str(key))}: ".replace("%", "%%") + "%s" for key in keys)
            columns = [_each([row[key] for row in rows]) for key in keys]
            return map(f"{{{line}}}".__mod__, zip(*columns, strict=True))
    return map(_encoded, values)


def _plain(value: Any) -> dict[str, Any]:
    """What `json` cannot write itself as what it can."""
    return dict(value) if isinstance(value, Mapping) else _said(value)


_MANY = 100
# Without an indent, as Python's own writer, which an indent asks for, is ten times as slow.
_encoded = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, default=_plain
).encode


def read(path: Path) -> Report:
    """Reads `report.json`, or that of a report's folder.

    Raises:
      ArgumentError: there is none.
      DamagedData: it is no report, or one of an earlier version, which it names.
      NewerFormat: a later version, which it names.
    """
    file = path / FILE if path.is_dir() else path
    try:
        content = parse_versioned_json(read_bytes(file).decode(), dict)
    except FileNotFoundError:
        raise ArgumentError(f"no report at {path}; check the path") from None
    except ValueError as error:
        raise DamagedData(f"{file}: expected a report, found {error}") from None
    return from_json(content, name=str(file))


def is_report(path: Path) -> bool:
    """Whether a file is a report, of whatever version.

    Ours say so in their first key; of another file, whose keys may stand in any order, all is read.
    """
    try:
        with open_regular(path) as file:
            if _OPENING.match(file.read(_HEAD)):
                return True
        return version(parse_versioned_json(read_bytes(path).decode(), dict)) is not None
    except (OSError, ValueError, StsError):
        return False


def version(content: Mapping[str, Any]) -> str | None:
    """The version of the schema that JSON values say they follow; None if it is none of ours."""
    kind, _, number = str(content.get("schema")).partition("/")
    return number if kind == _NAME else None


def from_json(content: Mapping[str, Any], *, name: str = FILE) -> Report:
    """Builds a report from JSON values; keys that the schema does not name are passed over.

    Args:
      content: as `to_json` gives them.
      name: what errors call it.

    Raises:
      DamagedData: names the schema or the place, what was expected there and what was found.
      NewerFormat: the schema is a later one.
    """
    number = version(content)
    if number is None:
        what = quote(str(content.get("schema")))
        raise DamagedData(f"{name}: expected the schema {SCHEMA}, found {what}")
    if number != _VERSION:
        later = number.isdecimal() and int(number) > int(_VERSION)
        advice = "read it with a later version" if later else "make the report again"
        line = f"{name}: expected the schema {SCHEMA}, found {_NAME}/{quote(number)}; {advice}"
        raise NewerFormat(line) if later else DamagedData(line)
    report: Report = _read(Report, content, name)
    return report


def _read(kind: Any, value: Any, place: str) -> Any:
    """Returns `value` as `kind`, which may hold others."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _read(arguments[0], value, place)
    if origin in (Union, types.UnionType):
        if value is None and types.NoneType in arguments:
            return None
        (other,) = (one for one in arguments if one is not types.NoneType)
        return _read(other, value, place)
    if dataclasses.is_dataclass(kind):
        return _object(kind, value, place)
    if origin is tuple:
        return _list(arguments, value, place)
    if origin is Mapping:
        return _mapping(arguments, value, place)
    return _scalar(kind, value, place)


def _object(kind: Any, value: Any, place: str) -> Any:
    if not isinstance(value, dict):
        raise _unlike(place, "an object", value)
    hints = keys(kind)
    missing = next((key for key in hints if key not in value and key not in optional(kind)), None)
    if missing is not None:
        raise DamagedData(f"{place}: expected a key {missing!r}, found none")
    there = {key: hint for key, hint in hints.items() if key in value}
    return kind(**{key: _read(hint, value[key], f"{place}.{key}") for key, hint in there.items()})


def _list(arguments: tuple[Any, ...], value: Any, place: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _unlike(place, "a list", value)
    if arguments[-1] is Ellipsis:
        arguments = (arguments[0],) * len(value)
    if len(arguments) != len(value):
        raise _unlike(place, f"a list of {len(arguments)}", value)
    pairs = enumerate(zip(arguments, value, strict=True))
    return tuple(_read(kind, item, f"{place}[{i}]") for i, (kind, item) in pairs)


def _mapping(arguments: tuple[Any, ...], value: Any, place: str) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise _unlike(place, "an object", value)
    key_kind, kind = arguments
    if key_kind is int and not all(key.isdecimal() for key in value):
        raise _unlike(place, "keys that are whole numbers", list(value))
    return {key_kind(key): _read(kind, item, f"{place}.{key}") for key, item in value.items()}


def _scalar(kind: type, value: Any, place: str) -> Any:
    if kind is types.NoneType:
        if value is None:
            return None
        raise _unlike(place, "null", value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind is float and number and math.isfinite(value):
        return float(value)
    if kind is not float and type(value) is kind:
        return value
    raise _unlike(place, _PLAIN[kind], value)


def _unlike(place: str, expected: str, value: Any) -> DamagedData:
    return DamagedData(f"{place}: expected {expected}, found {quote(json.dumps(value))}")


@functools.cache
def keys(kind: type) -> dict[str, Any]:
    """The keys of an object of the schema and what each holds, in words behind the type."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


@functools.cache
def optional(kind: Any) -> dict[str, Any]:
    """What the keys of an object hold that are left out where they hold it."""
    every = dataclasses.fields(kind)
    return {one.name: one.default for one in every if one.default is not dataclasses.MISSING}
