"""The file `record.json`: claims by name, one line a figure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("record.json")


def read() -> dict[str, dict[str, Any]]:
    """Return the claims that the file holds; none where there is no file."""
    if not FILE.exists():
        return {}
    record: dict[str, dict[str, Any]] = json.loads(FILE.read_text())
    return record


def write(record: dict[str, dict[str, Any]]) -> None:
    """Write all claims."""
    FILE.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")


def differences(kept: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Return a line for each figure that is not as the record has it, with its place."""
    return list(_differences("", kept, json.loads(json.dumps(found))))  # a file has no tuples


def _differences(place: str, kept: Any, found: Any) -> Iterator[str]:
    if isinstance(kept, dict) and isinstance(found, dict):
        for key in sorted({*kept, *found}):
            yield from _differences(f"{place}/{key}", kept.get(key), found.get(key))
    elif kept != found:
        yield f"{place}: record {kept}, now {found}"
