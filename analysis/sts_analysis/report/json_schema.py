"""The JSON Schema of `report.json`, described by the docstrings of the results."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from sts_analysis.report.core import Report

_ATTRIBUTE = re.compile(r"^ {2}(\w+): ", re.MULTILINE)
_REFERENCE = "#/$defs/"


def make_schema(report: type[Report]) -> dict[str, Any]:
    """Return the JSON Schema of a type of report; docstrings describe records and their keys."""
    schema = msgspec.json.schema(report)
    records = schema["$defs"] = {_shorten(name): value for name, value in schema["$defs"].items()}
    for value in _iter_references(schema):
        value["$ref"] = _REFERENCE + _shorten(value["$ref"].removeprefix(_REFERENCE))
    for record in records.values():
        record["description"], attributes = parse_docstring(record.get("description", ""))
        for name, words in attributes.items():
            record["properties"][name]["description"] = words
    sections = records[find_record(schema)]["properties"]
    for value in sections.values():
        name = find_record(value)
        value["description"] = records[name]["description"] if name else "Version of the format."
    return schema


def find_record(value: dict[str, Any]) -> str:
    """Return the name of the record that a value is, or is a list or mapping of; "" for none."""
    names = [
        found["$ref"].removeprefix(_REFERENCE) for found in _iter_references(value, deep=False)
    ]
    return names[0] if names else ""


def parse_docstring(text: str) -> tuple[str, dict[str, str]]:
    """Return the first paragraph of a docstring, and the descriptions of its attributes."""
    before, _, after = re.sub(r"\bNone\b", "null", text).partition("Attributes:\n")
    parts = _ATTRIBUTE.split(re.sub(r"^ {4}", "", after, flags=re.MULTILINE))
    pairs = zip(parts[1::2], parts[2::2], strict=True)
    summary = before.strip().partition("\n\n")[0]
    return " ".join(summary.split()), {name: " ".join(words.split()) for name, words in pairs}


def _iter_references(value: Any, *, deep: bool = True) -> Iterator[dict[str, Any]]:
    """Yield the objects that refer to a record; those of other records only if `deep`."""
    if isinstance(value, dict):
        if "$ref" in value:
            yield value
        for key, inner in value.items():
            if deep or key != "$defs":
                yield from _iter_references(inner, deep=deep)
    elif isinstance(value, list):
        for inner in value:
            yield from _iter_references(inner, deep=deep)


def _shorten(name: str) -> str:
    """Return the last two parts of a qualified name: "rates.Row"."""
    return ".".join(name.split(".")[-2:])
