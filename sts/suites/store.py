"""Suites and drafts on disk: `scenarios.parquet`, and beside it what freezes it, `suite.json`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sts import registry
from sts.domains import checked
from sts.episodes import Instruction, columns
from sts.errors import ArgumentError, DamagedData, NewerFormat, TamperedSuite, UnknownName
from sts.provenance import provenance
from sts.storage import parquet
from sts.storage.files import canonical_json, parsed_json, write_atomically
from sts.storage.workspace import Workspace
from sts.suites.lint import lint, misfits
from sts.suites.types import Scenario, Suite

FORMAT, VERSION = "scenarios", 1
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
    **columns.EPISODE,
}
_PLAIN = (
    "id category kind trajectory world context_start takeover horizon partner difficulty "
    "takeover_hash"
).split()
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,47}")
_VERSION = re.compile(r"[1-9][0-9]{0,5}")
_LABEL = re.compile(rf"({_NAME.pattern})(?:@({_VERSION.pattern}))?")
_MOST_BYTES = 2**26


def write_scenarios(path: Path, scenarios: Sequence[Scenario]) -> None:
    """Writes scenarios to one Parquet file, `scenarios/1`."""
    rows: dict[str, Any] = {name: [getattr(s, name) for s in scenarios] for name in _PLAIN}
    rows |= {
        "hash": [s.hash for s in scenarios],
        "instruction": [canonical_json(s.instruction.view()).decode() for s in scenarios],
        "parameters": [canonical_json(s.parameters).decode() for s in scenarios],
        "roles": [list(s.roles) for s in scenarios],
        "tags": [list(s.tags) for s in scenarios],
        "provenance": [canonical_json(s.provenance).decode() for s in scenarios],
    }
    recordings = columns.episode_columns([s.recording for s in scenarios])
    parquet.write(path, FORMAT, VERSION, SCHEMA, rows | recordings)


def read_scenarios(path: Path) -> tuple[Scenario, ...]:
    """Returns the scenarios in one file.

    Raises:
      DamagedData: no such file, or a row cannot be a scenario.
      NewerFormat: a later version.
      TamperedSuite: a row is not what its hash says.
    """
    table = parquet.read(path, FORMAT, VERSION, SCHEMA)
    rows = table.drop_columns(list(columns.EPISODE)).to_pylist()
    names = [f"{path}: scenario {row['id']}" for row in rows]
    recordings = checked(columns.episodes(table), names)
    out = []
    for row, recording in zip(rows, recordings, strict=True):
        try:
            scenario = Scenario(
                **{name: row[name] for name in _PLAIN},
                instruction=Instruction(**parsed_json(row["instruction"], dict)),
                parameters=parsed_json(row["parameters"], dict),
                roles=tuple(row["roles"]),
                tags=tuple(row["tags"]),
                recording=recording,
                provenance=parsed_json(row["provenance"], dict),
            )
            mark = scenario.hash
        except (TypeError, ValueError, DamagedData) as error:
            raise DamagedData(f"{path}: scenario {row['id']}: {error}") from None
        if mark != row["hash"]:
            raise TamperedSuite(f"{path}: scenario {row['id']} was edited: its hash does not match")
        out.append(scenario)
    return tuple(out)


def draft_path(workspace: Workspace, name: str) -> Path:
    """Returns where the draft called `name` is kept.

    Raises:
      ArgumentError: not a suite's name.
    """
    if not _NAME.fullmatch(name):
        raise ArgumentError(
            f"expected a suite name of lower-case letters, digits and dashes, found {name!r}"
        )
    return workspace.path("drafts", name, "scenarios.parquet")


def freeze(workspace: Workspace, draft: str, *, description: str = "") -> Suite:
    """Freezes a draft, NAME or NAME@VERSION, as the next version or that one; returns the suite.

    Raises:
      UnknownName: there is no such draft.
      ArgumentError: the version exists, or is none.
      DamagedData: the draft does not pass `lint`; says how.
    """
    name, at, version = draft.partition("@")
    if at and not _VERSION.fullmatch(version):
        raise ArgumentError(f"expected a version of 1 or more, at most 6 digits, found {version!r}")
    path = draft_path(workspace, name)
    if not path.exists():
        drafts = [p.parent.name for p in workspace.path("drafts").glob("*/scenarios.parquet")]
        raise UnknownName("draft", name, drafts)
    existing = versions(workspace).get(name, {})
    chosen = int(version) if version else max(existing, default=0) + 1
    if chosen in existing:
        raise ArgumentError(f"{name}@{chosen} is frozen already; the next is {max(existing) + 1}")
    scenarios = tuple(sorted(read_scenarios(path), key=lambda s: s.id))
    faults = lint(scenarios)
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise DamagedData(f"draft {name} cannot be frozen: {faults[0]}{more}")
    parent = f"{name}@{max(existing)}" if existing else None
    suite = Suite(name, chosen, parent, description, scenarios, provenance())
    write(workspace.ensure().path("suites", name, str(chosen)), suite)
    return suite


def write(folder: Path, suite: Suite) -> None:
    """Writes a suite to its folder; `suite.json`, which makes it one, comes last."""
    write_scenarios(folder / "scenarios.parquet", suite.scenarios)
    own = {
        "format": "suite",
        "version_of_format": 1,
        "name": suite.name,
        "version": suite.version,
        "parent": suite.parent,
        "description": suite.description,
        "provenance": suite.provenance,
        "hash": suite.hash,
        "scenarios": {s.id: s.hash for s in suite.scenarios},
    }
    text = json.dumps(own, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_atomically(folder / "suite.json", text.encode())


def read(folder: Path) -> Suite:
    """Returns the suite in a folder, every hash checked.

    Raises:
      TamperedSuite: its content is not what was frozen.
      DamagedData: a file of it is missing or cannot be read.
      NewerFormat: a later version of the format.
    """
    file = folder / "suite.json"
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise DamagedData(f"{file}: over {_MOST_BYTES} bytes, which no suite needs")
        own = parsed_json(file.read_text(encoding="utf-8"), dict)
        number = own["version_of_format"]
        if type(number) is not int or number < 1:
            raise DamagedData(f"{file}: expected version_of_format 1, found {number!r}")
        if number > 1:
            raise NewerFormat(
                f"{file}: suite format {number}; this version reads up to 1: update sts"
            )
        scenarios = read_scenarios(folder / "scenarios.parquet")
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
        raise DamagedData(f"{file}: not a suite: {error!r}") from None
    if not sound:
        raise TamperedSuite(
            f"{suite.label} in {folder} was edited after it was frozen: its hash does not match; "
            "restore the files, or freeze a new version"
        )
    for scenario in scenarios:
        for fault in misfits(scenario):
            raise DamagedData(f"{suite.label} in {folder}: {scenario.id}: {fault}")
    return suite


def versions(workspace: Workspace) -> dict[str, dict[int, Path]]:
    """Returns the folder of every version of every suite, packaged ones too."""
    roots = [Path(p.load().__path__[0]) / n for n, p in registry.named("sts.suites").items()]
    roots += sorted(p for p in workspace.path("suites").glob("*") if p.is_dir())
    out: dict[str, dict[int, Path]] = {}
    for root in roots:
        for file in root.glob("*/suite.json"):
            if _VERSION.fullmatch(file.parent.name):
                out.setdefault(root.name, {}).setdefault(int(file.parent.name), file.parent)
    return out


def load(workspace: Workspace, label: str) -> Suite:
    """Returns the suite NAME@VERSION.

    Raises:
      UnknownName: no such suite or version, or no version is named; says which exist.
      TamperedSuite: it was edited.
    """
    match = _LABEL.fullmatch(label)
    every = versions(workspace)
    if not match or match[1] not in every:
        raise UnknownName("suite", label, [f"{n}@{v}" for n, vs in every.items() for v in vs])
    name, version = match[1], match[2]
    if version is None or int(version) not in every[name]:
        raise UnknownName("suite version", label, [f"{name}@{v}" for v in every[name]])
    suite = read(every[name][int(version)])
    if suite.label != label:
        raise TamperedSuite(f"{every[name][int(version)]} says that it is {suite.label}")
    return suite
