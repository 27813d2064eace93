"""Frozen suites on disk: `scenarios.parquet`, and beside it what freezes it, `suite.json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sts.domains import checked
from sts.errors import ArgumentError, DamagedData, StsError
from sts.names import one_line, shown
from sts.provenance import provenance
from sts.storage.files import new_folder, write_atomically
from sts.storage.workspace import Workspace
from sts.suites import frozen, scenarios
from sts.suites.folders import (
    DESCRIPTION,
    SUITE_VERSION,
    VERSION,
    contents,
    encode_json,
    named,
    versions,
)
from sts.suites.lint import lint, misfits
from sts.suites.types import Change, Scenario, Suite


def freeze(
    workspace: Workspace,
    label: str,
    every: Sequence[Scenario],
    *,
    description: str = "",
    changes: Sequence[Change] = (),
    last: Mapping[str, int] | None = None,
    made_by: Mapping[str, Any] | None = None,
    unchanged: Callable[[], bool] = lambda: True,
) -> Suite:
    """Freezes scenarios as the next version of NAME, or as NAME@VERSION; returns the suite.

    Of several that freeze at once at most one succeeds. A version is there as a whole or not.

    Args:
      workspace: where it is put.
      label: NAME or NAME@VERSION.
      every: its scenarios.
      description: one line.
      changes: what makes it another than its parent.
      last: the highest number of an id of each category so far.
      made_by: what its provenance says besides versions.
      unchanged: asked at the last moment whether what was frozen is still what there is.

    Raises:
      ArgumentError: no such name or version, or the version exists or is below the newest; or an
        older one holds the same scenarios.
      DamagedData: the scenarios do not pass `lint`; says how.
      StsError: something was changed meanwhile.
    """
    name, chosen, parent = following(workspace, label)
    if not one_line(description, DESCRIPTION):
        raise ArgumentError(
            f"expected a description of one line, at most {DESCRIPTION} letters that print, found "
            f"{shown(description)}"
        )
    _check_other(workspace, name, every)
    if faults := lint(every):
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise DamagedData(f"{name} cannot be frozen: {faults[0]}{more}")
    suite = Suite(
        name,
        chosen,
        f"{name}@{parent}" if parent else None,
        description,
        tuple(sorted(every, key=lambda s: s.id)),
        provenance() | dict(made_by or {}),
        tuple(changes),
        dict(last or {}),
    )
    with workspace.ensure().locked():
        following(workspace, f"{name}@{chosen}")
        _check_other(workspace, name, every)
        if _newest(workspace, name) != parent or not unchanged():
            raise StsError(
                f"draft {name} or its newest version was changed while it was being frozen; "
                "nothing was frozen, so freeze it again"
            )
        with new_folder(workspace.path("suites", name, str(chosen))) as folder:
            write(folder, suite)
    return suite


def _newest(workspace: Workspace, name: str) -> int:
    """Return the newest version of a suite, 0 where it has none."""
    return max(versions(workspace).get(name, {}), default=0)


def following(workspace: Workspace, label: str) -> tuple[str, int, int]:
    """Return the name of NAME or NAME@VERSION, the version that it can be frozen as, and the last.

    The last is 0 where there is none.

    Raises:
      ArgumentError: it is no such name or version, or the version exists or is below the newest.
    """
    name, at, version = label.partition("@")
    if at and not VERSION.fullmatch(version):
        raise ArgumentError(
            f"expected a version of 1 or more, at most 6 digits, found {shown(version)}"
        )
    folders = versions(workspace).get(named(name), {})
    newest = max(folders, default=0)
    chosen = int(version) if version else newest + 1
    if chosen in folders:
        raise ArgumentError(f"{name}@{chosen} is frozen already; the next is {newest + 1}")
    if chosen < newest:
        raise ArgumentError(
            f"{name}@{chosen} would be older than {name}@{newest}, which is frozen; the next is "
            f"{newest + 1}"
        )
    return name, chosen, newest


def same_as(workspace: Workspace, name: str, every: Sequence[Scenario]) -> str | None:
    """Return the version of a suite that holds the same scenarios; None where none does."""
    hashes = {s.hash for s in every}
    for version, folder in versions(workspace).get(name, {}).items():
        if _hashes(folder) == hashes:
            return f"{name}@{version}"
    return None


def _check_other(workspace: Workspace, name: str, every: Sequence[Scenario]) -> None:
    """Raise ArgumentError where a version holds the same scenarios."""
    if (same := same_as(workspace, name, every)) is not None:
        raise ArgumentError(
            f"{same} holds the same scenarios already: use that one, or change the draft first"
        )


def _hashes(folder: Path) -> set[str] | None:
    """Return the hashes of a suite's scenarios, None of one that is broken."""
    try:
        return set(contents(folder)["scenarios"].values())
    except (StsError, OSError, LookupError, ValueError, TypeError, AttributeError):
        return None


def write(folder: Path, suite: Suite) -> None:
    """Write the files of a suite to a folder, `suite.json`, which makes it one, last."""
    scenarios.write(folder / "scenarios.parquet", suite.scenarios)
    grown = bool(suite.changes or suite.last)
    own: dict[str, Any] = {
        "name": suite.name,
        "version": suite.version,
        "parent": suite.parent,
        "description": suite.description,
        "provenance": suite.provenance,
        "hash": suite.hash,
        "scenarios": {s.id: s.hash for s in suite.scenarios},
    }
    if grown:
        own |= {"changes": [one._asdict() for one in suite.changes], "last": dict(suite.last)}
    write_atomically(
        folder / "suite.json", encode_json("suite", SUITE_VERSION if grown else 1, own)
    )


def read(folder: Path) -> Suite:
    """Return the suite in a folder, held to its worlds, too; errors as of `frozen.read`."""
    suite = frozen.read(folder, checked)
    for scenario in suite.scenarios:
        for fault in misfits(scenario):
            raise DamagedData(f"{suite.label} in {folder}: {shown(scenario.id)}: {fault}")
    return suite


def load(workspace: Workspace, label: str) -> Suite:
    """Return the suite NAME@VERSION; see `read`.

    Raises:
      UnknownName: no such suite or version, or no version is named; says which exist.
      TamperedSuite: it was edited.
    """
    return frozen.load(workspace, label, read)
