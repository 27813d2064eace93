"""Suites and drafts on disk: `scenarios.parquet`, and beside it what freezes it, `suite.json`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sts.domains import checked
from sts.episodes import columns
from sts.errors import (
    ArgumentError,
    DamagedData,
    StsError,
    UnknownName,
)
from sts.names import one_line, shown
from sts.provenance import provenance
from sts.storage import parquet
from sts.storage.files import (
    canonical_json,
    content_hash,
    new_folder,
    regular_bytes,
    write_atomically,
)
from sts.storage.workspace import Workspace
from sts.suites import frozen
from sts.suites.folders import (
    DESCRIPTION,
    FORMAT,
    FORMAT_VERSION,
    VERSION,
    contents,
    versions,
)
from sts.suites.folders import draft_path as draft_path
from sts.suites.frozen import PLAIN, SCHEMA
from sts.suites.lint import lint, misfits
from sts.suites.types import Scenario, Suite


def write_scenarios(path: Path, scenarios: Sequence[Scenario]) -> None:
    """Writes scenarios to one Parquet file, `scenarios/2`."""
    rows: dict[str, Any] = {name: [getattr(s, name) for s in scenarios] for name in PLAIN}
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
    return frozen.read_scenarios(path, checked)


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
    """Returns the suite in a folder, every hash checked, and held to its worlds.

    Raises:
      TamperedSuite: its content is not what was frozen.
      DamagedData: a file of it is missing or cannot be read, or it does not fit its worlds.
      NewerFormat: a later version of the format.
    """
    suite = frozen.read(folder, checked)
    for scenario in suite.scenarios:
        for fault in misfits(scenario):
            raise DamagedData(f"{suite.label} in {folder}: {shown(scenario.id)}: {fault}")
    return suite


def load(workspace: Workspace, label: str) -> Suite:
    """Returns the suite NAME@VERSION; see `read`.

    Raises:
      UnknownName: no such suite or version, or no version is named; says which exist.
      TamperedSuite: it was edited.
    """
    return frozen.load(workspace, label, read)
