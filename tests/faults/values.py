"""What a folder holds, file by file, so that it can be compared with what it should be."""

from __future__ import annotations

import hashlib
import io
import json
import re
import sqlite3
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

Values = dict[str, Any]
"""What each file contains, by its path; versions of suites and reports are one unit each."""
Leaves = dict[tuple[str, ...], Any]
REBUILT = ("index.parquet", ".sound", "workspace.toml", "backup.json")
"""Ends of the names of files that are derived, may lag behind, or are a workspace's own."""
_TOGETHER = {"suites": 3, "reports": 2}
"""Folders that come as a whole: how many parts of a path name one."""
_UNNAMED = re.compile(r"(^|/)(drafts/[^/]+/[0-9a-f]{32}/edited|labels/[0-9a-f]{24})/")
"""Edited candidates, and parts of labels: they count once a decision or a table has them."""
_PARTS = re.compile(r"(^|/)continuations/[^/]+/[^/]+\.parquet$")
"""Of rows, which may be in more parts or fewer after a run that was killed, and in two alike."""
PACKED = ": "
"""Separates an archive from a continuation in it."""
_DRAFT = re.compile(r"(drafts/[^/]+)/[0-9a-f]{32}/")


def values(folder: Path) -> Values:
    """Return what can be read in a folder; names that begin with a dot are left out."""
    found: Values = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in name.parts) or name.parts[0] == "in"
        derived = path.name.endswith((*REBUILT, "-wal", "-shm"))
        if hidden or derived or not path.is_file() or _UNNAMED.search(name.as_posix()):
            continue
        if _PARTS.search(name.as_posix()):
            found |= _rows(path)
            continue
        unit = _unit(name)
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as opened:
                for part in filter(_PARTS.search, opened.namelist()):
                    rows = _rows(io.BytesIO(opened.read(part)))
                    found |= {f"{unit}{PACKED}{row}": value for row, value in rows.items()}
        place = _DRAFT.sub(r"\1/ID/", name.as_posix())
        found.setdefault(unit, {})[place] = value_of(path)
    return found


def _rows(file: Path | io.BytesIO) -> Values:
    """Return the values of each row of a part of continuations."""
    return {
        f"continuation {row['id']}": {name: _digest(repr(value)) for name, value in row.items()}
        for row in pq.read_table(file).to_pylist()
    }


def _unit(name: Path) -> str:
    parts = name.parts[1:] if name.parts[0] == "w" else name.parts
    if parts[0] in _TOGETHER:
        return "/".join(parts[: _TOGETHER[parts[0]]])
    return _DRAFT.sub(r"\1/ID/", "/".join(parts))


def value_of(path: Path) -> Any:
    """Return what one file contains: columns, tables, a JSON value, or the digest of its bytes."""
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return {name: _digest(repr(table.column(name).to_pylist())) for name in table.column_names}
    if path.suffix == ".sqlite3":
        return _tables(path)
    if path.suffix == ".json":
        return json.loads(path.read_bytes())
    if not zipfile.is_zipfile(path):
        return _digest(path.read_bytes())
    with zipfile.ZipFile(path) as opened, tempfile.TemporaryDirectory() as folder:
        found: dict[str, Any] = {}
        for name in opened.namelist():
            if name.endswith(REBUILT) or _UNNAMED.search(name) or _PARTS.search(name):
                continue
            value: Any
            if name.endswith(".sqlite3"):
                value = _tables(Path(opened.extract(name, folder)))
            elif name.endswith(".json"):
                value = json.loads(opened.read(name))
            else:
                value = _digest(opened.read(name))
            found[_DRAFT.sub(r"\1/ID/", name)] = value
        return found


def _digest(value: str | bytes) -> str:
    return hashlib.sha256(value.encode() if isinstance(value, str) else value).hexdigest()[:16]


def _tables(path: Path) -> Any:
    with closing(sqlite3.connect(path)) as opened:
        opened.row_factory = sqlite3.Row
        names = opened.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        return {
            name: [dict(row) for row in opened.execute(f'SELECT * FROM "{name}" ORDER BY rowid')]
            for (name,) in names.fetchall()
        }


def leaves(value: Any, place: tuple[str, ...] = ()) -> Leaves:
    """Return every single value in one, by its place; a place in a list is "*"."""
    if isinstance(value, Mapping):
        items = [(str(key), one) for key, one in value.items()]
    elif isinstance(value, list):
        items = [("*", one) for one in value]
    else:
        return {place: [value]}
    found: Leaves = {}
    for key, one in items:
        for at, single in leaves(one, (*place, key)).items():
            found.setdefault(at, []).extend(single)
    return found


def _place(at: tuple[str, ...]) -> tuple[str, ...]:
    """Return a value's place, the same in a database or a row and in a copy of it."""
    files = [i for i, part in enumerate(at) if part.endswith((".sqlite3", ".json"))]
    return at[files[-1] + 1 :] if files else (at[0].rpartition(PACKED)[2], *at[1:])


class Masked(NamedTuple):
    """Values without those that differ each time: clocks, and what is drawn to be unique."""

    moment: frozenset[tuple[str, ...]]

    @classmethod
    def compare(cls, one: Values, other: Values) -> Masked:
        """Mask what differs between two undisturbed tries of the same."""
        own, others = leaves(one), leaves(other)
        both = own.keys() & others.keys()
        return cls(frozenset(_place(at) for at in both if own[at] != others[at]))

    def __call__(self, found: Values) -> Values:
        return {
            unit: {
                at: len(single) if _place((unit, *at)) in self.moment else single
                for at, single in leaves(value).items()
            }
            for unit, value in found.items()
        }


def find_mismatches(found: Values, *allowed: Values) -> list[str]:
    """Return the units that are as in none of the allowed values, a missing one is None."""
    units = {unit for one in (found, *allowed) for unit in one}
    return sorted(
        unit for unit in units if all(found.get(unit) != one.get(unit) for one in allowed)
    )
