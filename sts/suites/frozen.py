"""Frozen suites as they lie on disk, held to their hashes; no world is needed to read one.

Whoever runs, shows or labels one reads it by `sts.suites.store`, which holds it to its worlds, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from sts.episodes import Episode, Instruction, columns
from sts.errors import DamagedData, TamperedSuite, UnknownName
from sts.names import escaped, one_line, shown
from sts.storage import parquet
from sts.storage.files import parsed_json
from sts.storage.workspace import Workspace
from sts.suites.folders import (
    DESCRIPTION,
    FORMAT,
    FORMAT_VERSION,
    NAME,
    VERSION,
    contents,
    draft_path,
    versions,
)
from sts.suites.types import Scenario, Suite

SCHEMA = {
    "id": pa.string(),
    "hash": pa.string(),
    "category": pa.string(),
    "kind": pa.string(),
    "instruction": pa.string(),
    "parameters": pa.string(),
    "trajectory": pa.string(),
    "world": pa.string(),
    "context_start": pa.int32(),
    "takeover": pa.int32(),
    "horizon": pa.int32(),
    "roles": pa.list_(pa.int32()),
    "partner": pa.string(),
    "difficulty": pa.string(),
    "tags": pa.list_(pa.string()),
    "takeover_hash": pa.string(),
    "provenance": pa.string(),
    "heard": pa.string(),
    "pair": pa.string(),
    "series": pa.string(),
    "turn": pa.int32(),
    "replaces": pa.string(),
    **columns.EPISODE,
}
PLAIN = (
    "id category kind trajectory world context_start takeover horizon partner difficulty "
    "takeover_hash pair series turn replaces"
).split()
_LABEL = re.compile(rf"({NAME.pattern})(?:@({VERSION.pattern}))?")
Check = Callable[[Sequence[Episode], Sequence[str]], Sequence[Episode]]
"""Returns recordings, each with what an error calls it, where they fit their worlds."""


def _unchecked(recordings: Sequence[Episode], names: Sequence[str]) -> Sequence[Episode]:
    return recordings


def read_scenarios(path: Path, check: Check = _unchecked) -> tuple[Scenario, ...]:
    """Returns the scenarios in one file.

    Raises:
      DamagedData: no such file, or a row cannot be a scenario.
      NewerFormat: a later version.
      TamperedSuite: a row is not what its hash says.
    """
    table = parquet.read(path, FORMAT, FORMAT_VERSION, SCHEMA)
    rows = table.drop_columns(list(columns.EPISODE)).to_pylist()
    names = [f"{path}: scenario {row['id']}" for row in rows]
    recordings = check(columns.episodes(table), names)
    out = []
    for row, recording in zip(rows, recordings, strict=True):
        try:
            scenario = Scenario(
                **{name: row[name] for name in PLAIN},
                instruction=Instruction(**parsed_json(row["instruction"], dict)),
                parameters=parsed_json(row["parameters"], dict),
                roles=tuple(row["roles"]),
                tags=tuple(row["tags"]),
                recording=recording,
                provenance=parsed_json(row["provenance"], dict),
                heard=tuple(Instruction(**one) for one in parsed_json(row["heard"], list)),
            )
            mark = scenario.hash
        except (TypeError, ValueError, DamagedData) as error:
            raise DamagedData(f"{path}: scenario {row['id']}: {error}") from None
        if mark != row["hash"]:
            raise TamperedSuite(f"{path}: scenario {row['id']} was edited: its hash does not match")
        out.append(scenario)
    return tuple(out)


def read(folder: Path, check: Check = _unchecked) -> Suite:
    """Returns the suite in a folder, every hash checked.

    Raises:
      TamperedSuite: its content is not what was frozen.
      DamagedData: a file of it is missing or cannot be read.
      NewerFormat: a later version of the format.
    """
    try:
        own = contents(folder)
        scenarios = read_scenarios(folder / "scenarios.parquet", check)
        suite = Suite(
            name=own["name"],
            version=own["version"],
            parent=own["parent"],
            description=own["description"],
            scenarios=scenarios,
            provenance=own["provenance"],
        )
        sound = own["scenarios"] == {s.id: s.hash for s in scenarios}
        sound = sound and own["hash"] == suite.hash
    except FileNotFoundError as error:
        raise DamagedData(f"suite in {folder}: {Path(error.filename).name} is missing") from None
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedData(f"{folder / 'suite.json'}: not a suite: {error!r}") from None
    if not sound:
        raise TamperedSuite(
            f"{escaped(suite.label)} in {folder} was edited after it was frozen: its hash does not "
            "match; restore the files, or freeze a new version"
        )
    if not one_line(suite.description, DESCRIPTION):
        raise DamagedData(
            f"{suite.label} in {folder}: expected a description of one line, at most {DESCRIPTION} "
            f"letters that print, found {shown(suite.description)}"
        )
    return suite


def load(workspace: Workspace, label: str, read: Callable[[Path], Suite] = read) -> Suite:
    """Returns the suite NAME@VERSION.

    Raises:
      UnknownName: no such suite or version, or no version is named; says which exist.
      TamperedSuite: it was edited.
    """
    match = _LABEL.fullmatch(label)
    every = versions(workspace)
    if not match or match[1] not in every:
        error = UnknownName("suite", label, [f"{n}@{v}" for n, vs in every.items() for v in vs])
        if match and draft_path(workspace, match[1]).exists():
            raise error.saying(f"{error}; {match[1]} is a draft: sts suite freeze {match[1]}")
        raise error
    name, version = match[1], match[2]
    if version is None or int(version) not in every[name]:
        raise UnknownName("suite version", label, [f"{name}@{v}" for v in every[name]])
    suite = read(every[name][int(version)])
    if suite.label != label:
        raise TamperedSuite(f"{every[name][int(version)]} says that it is {suite.label}")
    return suite
