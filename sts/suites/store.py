"""Suites and drafts on disk: `scenarios.parquet`, and beside it what freezes it, `suite.json`."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sts.domains import checked
from sts.episodes import Instruction, columns
from sts.errors import (
    ArgumentError,
    DamagedData,
    StsError,
    TamperedSuite,
    UnknownName,
)
from sts.names import escaped, one_line, shown
from sts.provenance import provenance
from sts.storage import parquet
from sts.storage.files import (
    canonical_json,
    content_hash,
    new_folder,
    parsed_json,
    regular_bytes,
    write_atomically,
)
from sts.storage.workspace import Workspace
from sts.suites.folders import (
    DESCRIPTION,
    FORMAT,
    FORMAT_VERSION,
    VERSION,
    contents,
    versions,
)
from sts.suites.lint import lint, misfits
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
_PLAIN = (
    "id category kind trajectory world context_start takeover horizon partner difficulty "
    "takeover_hash pair series turn replaces"
).split()
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,47}")
_LABEL = re.compile(rf"({_NAME.pattern})(?:@({VERSION.pattern}))?")


def write_scenarios(path: Path, scenarios: Sequence[Scenario]) -> None:
    """Writes scenarios to one Parquet file, `scenarios/2`."""
    rows: dict[str, Any] = {name: [getattr(s, name) for s in scenarios] for name in _PLAIN}
    rows |= {
        "hash": [s.hash for s in scenarios],
        "instruction": [canonical_json(s.instruction.view()).decode() for s in scenarios],
        "parameters": [canonical_json(s.parameters).decode() for s in scenarios],
        "roles": [list(s.roles) for s in scenarios],
        "tags": [list(s.tags) for s in scenarios],
        "provenance": [canonical_json(s.provenance).decode() for s in scenarios],
        "heard": [canonical_json([i.view() for i in s.heard]).decode() for s in scenarios],
    }
    recordings = columns.episode_columns([s.recording for s in scenarios])
    parquet.write(path, FORMAT, FORMAT_VERSION, SCHEMA, rows | recordings)


def read_scenarios(path: Path) -> tuple[Scenario, ...]:
    """Returns the scenarios in one file.

    Raises:
      DamagedData: no such file, or a row cannot be a scenario.
      NewerFormat: a later version.
      TamperedSuite: a row is not what its hash says.
    """
    table = parquet.read(path, FORMAT, FORMAT_VERSION, SCHEMA)
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
                heard=tuple(Instruction(**one) for one in parsed_json(row["heard"], list)),
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
            "expected a suite name of lower-case letters, digits and dashes, at most 48, found "
            f"{shown(name)}"
        )
    return workspace.path("drafts", name, "scenarios.parquet")


def read_draft(workspace: Workspace, name: str) -> tuple[tuple[Scenario, ...], str]:
    """Returns the scenarios of a draft, and its mark.

    Raises:
      UnknownName: there is no such draft.
      ArgumentError: not a suite's name.
      DamagedData: its file cannot be read.
    """
    path = draft_path(workspace, name)
    mark = draft_mark(workspace, name)
    if mark is None:
        drafts = [p.parent.name for p in workspace.path("drafts").glob("*/scenarios.parquet")]
        raise UnknownName("draft", name, drafts)
    return tuple(sorted(read_scenarios(path), key=lambda s: s.id)), mark


def draft_mark(workspace: Workspace, name: str) -> str | None:
    """Returns a hash of the draft's file, by which a change of it is seen; None without a draft.

    Raises:
      ArgumentError: not a suite's name.
      DamagedData: what stands there is no file.
    """
    with contextlib.suppress(FileNotFoundError):
        return content_hash(regular_bytes(draft_path(workspace, name)))
    return None


def put_draft(
    workspace: Workspace, name: str, scenarios: Sequence[Scenario], *, replaces: str | None
) -> Path:
    """Writes a draft in place of the one with the mark `replaces`, None for none; returns its path.

    Raises:
      StsError: another draft stands there by now.
      ArgumentError: not a suite's name.
    """
    path = draft_path(workspace, name)
    with workspace.ensure().locked():
        if draft_mark(workspace, name) != replaces:
            raise StsError(
                f"draft {name} was written by another command meanwhile and stays as that one left "
                "it; look at it, then mine again with --replace, or under another name"
            )
        write_scenarios(path, scenarios)
    return path


def freeze(workspace: Workspace, draft: str, *, description: str = "") -> Suite:
    """Freezes a draft, NAME or NAME@VERSION, as the next version or that one; returns the suite.

    Of several that freeze at once at most one succeeds. A version is there as a whole or not.

    Raises:
      UnknownName: there is no such draft.
      ArgumentError: the version is none, exists, or is below the newest; or the newest or an older
        one holds the same scenarios.
      DamagedData: the draft does not pass `lint`; says how.
      StsError: the draft was changed meanwhile.
    """
    name, at, version = draft.partition("@")
    if at and not VERSION.fullmatch(version):
        raise ArgumentError(
            f"expected a version of 1 or more, at most 6 digits, found {shown(version)}"
        )
    if not one_line(description, DESCRIPTION):
        raise ArgumentError(
            f"expected a description of one line, at most {DESCRIPTION} letters that print, found "
            f"{shown(description)}"
        )
    scenarios, mark = read_draft(workspace, name)
    parent = _newest(workspace, name)
    chosen = int(version) if version else parent + 1
    _check_next(workspace, name, chosen, scenarios)
    faults = lint(scenarios)
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise DamagedData(f"draft {name} cannot be frozen: {faults[0]}{more}")
    grown_from = f"{name}@{parent}" if parent else None
    suite = Suite(name, chosen, grown_from, description, scenarios, provenance())
    with workspace.ensure().locked():
        _check_next(workspace, name, chosen, scenarios)
        if _newest(workspace, name) != parent or draft_mark(workspace, name) != mark:
            raise StsError(
                f"draft {name} or its newest version was changed while it was being frozen; "
                "nothing was frozen, so freeze it again"
            )
        with new_folder(workspace.path("suites", name, str(chosen))) as folder:
            write(folder, suite)
    return suite


def _newest(workspace: Workspace, name: str) -> int:
    """Returns the newest version of a suite, 0 where it has none."""
    return max(versions(workspace).get(name, {}), default=0)


def _check_next(
    workspace: Workspace, name: str, chosen: int, scenarios: Sequence[Scenario]
) -> None:
    """Raises ArgumentError unless these scenarios can become version `chosen`."""
    folders = versions(workspace).get(name, {})
    newest = max(folders, default=0)
    if chosen in folders:
        raise ArgumentError(f"{name}@{chosen} is frozen already; the next is {newest + 1}")
    if chosen < newest:
        raise ArgumentError(
            f"{name}@{chosen} would be older than {name}@{newest}, which is frozen; the next is "
            f"{newest + 1}"
        )
    hashes = {s.hash for s in scenarios}
    for version, folder in folders.items():
        if _hashes(folder) == hashes:
            raise ArgumentError(
                f"{name}@{version} holds the same scenarios already: use that one, or change the "
                "draft first"
            )


def _hashes(folder: Path) -> set[str] | None:
    """Returns the hashes of a suite's scenarios, None of one that is broken."""
    try:
        return set(contents(folder)["scenarios"].values())
    except (StsError, OSError, LookupError, ValueError, TypeError, AttributeError):
        return None


def write(folder: Path, suite: Suite) -> None:
    """Writes the files of a suite to a folder, `suite.json`, which makes it one, last."""
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
    try:
        own = contents(folder)
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
    for scenario in scenarios:
        for fault in misfits(scenario):
            raise DamagedData(f"{suite.label} in {folder}: {shown(scenario.id)}: {fault}")
    return suite


def load(workspace: Workspace, label: str) -> Suite:
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
