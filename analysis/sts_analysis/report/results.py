"""Reports as JSON: `report.json` is an object of sections, each with its result."""

import re
from pathlib import Path

import msgspec

from sts.errors import ArgumentError, DamagedData, NewerFormat
from sts.names import quote
from sts.storage.files import open_regular, read_bytes
from sts_analysis.report.core import FORMAT, Report
from sts_analysis.report.document import define_report
from sts_analysis.report.json_schema import make_schema

FILE, SCHEMA_FILE = "report.json", "report.schema.json"
_NAME, _VERSION = FORMAT.split("/")
_HEAD_BYTES = 64
_OPENING = re.compile(rb'\s*\{\s*"schema"\s*:\s*"%b/' % _NAME.encode())


class _Head(msgspec.Struct):
    schema: str


def encode(report: Report) -> bytes:
    """Return a report as JSON; no key is left out, and what is unknown is null."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"


def encode_schema() -> bytes:
    """Return the JSON Schema of a report."""
    schema = make_schema(define_report())
    return msgspec.json.format(msgspec.json.encode(schema), indent=1) + b"\n"


def decode(content: bytes, *, name: str = FILE) -> Report:
    """Return a report from JSON.

    Args:
      content: of `report.json`.
      name: of the file, for errors.

    Raises:
      DamagedData: it is not a report, or one of an earlier version; names the key that is wrong.
      NewerFormat: it is of a later version.
    """
    try:
        head = msgspec.json.decode(content, type=_Head).schema
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        head = ""
    kind, _, version = head.partition("/")
    if kind != _NAME:
        raise DamagedData(f"{name}: expected a report of format {FORMAT}")
    if version != _VERSION:
        later = version.isdecimal() and int(version) > int(_VERSION)
        line = f"{name}: expected the format {FORMAT}, found {_NAME}/{quote(version)}"
        if later:
            raise NewerFormat(f"{line}; read it with a later version")
        raise DamagedData(f"{line}; build the report again")
    try:
        report = msgspec.json.decode(content, type=define_report())
        if report.conclusion is None or report.ranking is None:
            raise msgspec.ValidationError("no conclusion and no ranking")
        return report
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DamagedData(f"{name}: expected a report, found another value: {error}") from None


def read_report(path: Path) -> Report:
    """Read `report.json`, or that of a report's folder.

    Raises:
      ArgumentError: there is none.
      DamagedData: see `decode`.
      NewerFormat: see `decode`.
    """
    file = path / FILE if path.is_dir() else path
    try:
        content = read_bytes(file)
    except FileNotFoundError:
        raise ArgumentError(f"no report at {path}; check the path") from None
    return decode(content, name=str(file))


def is_report(path: Path) -> bool:
    """Return whether a file is a report, of any version; its first key is the format."""
    try:
        with open_regular(path) as file:
            return _OPENING.match(file.read(_HEAD_BYTES)) is not None
    except OSError:
        return False
