"""Frozen suites on disk: `scenarios.parquet`, and `suite.json` with its hashes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from sts.domains import validate_episodes
from sts.errors import ArgumentError, DamagedData, StsError
from sts.names import is_one_line, quote
from sts.provenance import collect_provenance
from sts.storage.files import create_folder, write_atomically
from sts.storage.workspace import Workspace
from sts.suites import frozen, scenarios
from sts.suites.folders import (
    ERASED_VERSION,
    MAX_DESCRIPTION_CHARS,
    SUITE_VERSION,
    VERSION,
    encode_json,
    list_versions,
    read_erased,
    read_suite_json,
    validate_suite_name,
)
from sts.suites.lint import find_field_faults, lint_scenarios
from sts.suites.suite import Change, Scenario, Suite


def freeze_scenarios(
    workspace: Workspace,
    label: str,
    members: Sequence[Scenario],
    *,
    description: str = "",
    changes: Sequence[Change] = (),
    last: Mapping[str, int] | None = None,
    made_by: Mapping[str, Any] | None = None,
    is_unchanged: Callable[[], bool] = lambda: True,
) -> Suite:
    """Freeze scenarios as the next version of NAME, or as NAME@VERSION; return the suite.

    Of concurrent calls at most one succeeds. A version is written as a whole or not at all. `last`
    has the highest number in an id of each category so far, `made_by` further provenance;
    `is_unchanged` is called last and returns True if the scenarios are still those of the draft.

    Raises:
      ArgumentError: an invalid name or version, or the version exists or is below the newest; or an
        older one holds the same scenarios.
      DamagedData: the scenarios do not pass `lint_scenarios`; names the first fault.
      StsError: the draft or its versions changed meanwhile.
    """
    name, number, parent = parse_label(workspace, label)
    if not is_one_line(description, MAX_DESCRIPTION_CHARS):
        raise ArgumentError(
            f"expected a description of one line, at most {MAX_DESCRIPTION_CHARS} printable "
            f"characters, found {quote(description)}"
        )
    _check_distinct(workspace, name, members)
    if faults := lint_scenarios(members):
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise DamagedData(f"{name} cannot be frozen: {faults[0]}{more}")
    older = f"{name}@{parent}" if parent else None
    ordered = tuple(sorted(members, key=lambda s: s.id))
    origin, used = collect_provenance() | dict(made_by or {}), dict(last or {})
    suite = Suite(name, number, older, description, ordered, origin, tuple(changes), used)
    with workspace.create().lock():
        *_, newest = parse_label(workspace, f"{name}@{number}")
        _check_distinct(workspace, name, members)
        if newest != parent or not is_unchanged():
            raise StsError(
                f"draft {name} or its newest version changed while it was being frozen; nothing "
                "was frozen, run the command again"
            )
        with create_folder(workspace.path("suites", name, str(number))) as folder:
            write(folder, suite)
    return suite


def parse_label(workspace: Workspace, label: str) -> tuple[str, int, int]:
    """Return the name in NAME or NAME@VERSION, the version to freeze, and the newest version.

    The newest version is 0 if there is none.

    Raises:
      ArgumentError: an invalid name or version, or the version exists or is below the newest.
    """
    name, at, version = label.partition("@")
    if at and not VERSION.fullmatch(version):
        raise ArgumentError(
            f"expected a version of 1 or more, at most 6 digits, found {quote(version)}"
        )
    folders = list_versions(workspace).get(validate_suite_name(name), {})
    newest = max(folders, default=0)
    number = int(version) if version else newest + 1
    if number in folders:
        raise ArgumentError(f"{name}@{number} is already frozen; the next version is {newest + 1}")
    if number < newest:
        raise ArgumentError(
            f"{name}@{number} would be older than {name}@{newest}, which is frozen; the next "
            f"version is {newest + 1}"
        )
    return name, number, newest


def find_equal_version(workspace: Workspace, name: str, members: Sequence[Scenario]) -> str | None:
    """Return the version of a suite that holds the same scenarios, or None."""
    hashes = {s.hash for s in members}
    for version, folder in list_versions(workspace).get(name, {}).items():
        if _hashes(folder) == hashes:
            return f"{name}@{version}"
    return None


def _check_distinct(workspace: Workspace, name: str, members: Sequence[Scenario]) -> None:
    """Raise ArgumentError if a version holds the same scenarios."""
    if (equal_version := find_equal_version(workspace, name, members)) is not None:
        raise ArgumentError(
            f"{equal_version} holds the same scenarios; use that one, or change the draft first"
        )


def _hashes(folder: Path) -> set[str] | None:
    """Return the hashes of a suite's scenarios, None if it is broken."""
    try:
        return set(read_suite_json(folder)["scenarios"].values())
    except (StsError, OSError, LookupError, ValueError, TypeError, AttributeError):
        return None


def write(folder: Path, suite: Suite) -> None:
    """Write the files of a suite to a folder; `suite.json`, which makes it one, comes last."""
    scenarios.write(folder / "scenarios.parquet", suite.scenarios)
    has_history = bool(suite.changes or suite.last)
    names = ("name", "version", "parent", "description", "provenance", "hash")
    fields: dict[str, Any] = {name: getattr(suite, name) for name in names}
    fields["scenarios"] = {s.id: s.hash for s in suite.scenarios}
    if has_history:
        changes = [change._asdict() for change in suite.changes]
        fields |= {"changes": changes, "last": dict(suite.last)}
    version = SUITE_VERSION if has_history else 1
    write_atomically(folder / "suite.json", encode_json("suite", version, fields))


def erase_scenarios(
    workspace: Workspace, by_suite: Mapping[str, Collection[str]], date: str
) -> None:
    """Erase scenarios, by NAME@VERSION; see `freeze_without`, which is best called before."""
    for label, ids in by_suite.items():
        name, _, version = label.partition("@")
        folder = workspace.path("suites", name, version)
        fields: dict[str, Any] = {"use": freeze_without(workspace, name, by_suite)}
        fields["scenarios"] = dict.fromkeys(ids, date) | read_erased(folder)["scenarios"]
        erased = encode_json("erased", ERASED_VERSION, fields)
        write_atomically(folder / "erased.json", erased)
        file = folder / "scenarios.parquet"
        scenarios.write(file, [s for s in scenarios.read(file) if s.id not in ids])


def freeze_without(
    workspace: Workspace, name: str, by_suite: Mapping[str, Collection[str]]
) -> str | None:
    """Return a version without these scenarios, freezing the newest again if it has some.

    None if no scenario is left. A call can be repeated; errors as of `freeze_scenarios`.
    """
    newest = max(folders := list_versions(workspace)[name])
    label, folder = f"{name}@{newest}", folders[newest]
    ids = by_suite.get(label, ())
    if not ids and not read_erased(folder)["scenarios"]:
        return label
    kept = [s for s in scenarios.read(folder / "scenarios.parquet") if s.id not in ids]
    if not kept or (equal := find_equal_version(workspace, name, kept)):
        return equal if kept else None
    suite, why = frozen.read(folder), "erased because a person asked to be forgotten"
    changes = [Change("retired", id, "", why) for id in ids]
    unreviewed = [id for id in suite.unreviewed if id not in ids]
    return freeze_scenarios(
        workspace,
        name,
        kept,
        description=suite.description,
        changes=changes,
        last=suite.last,
        made_by={"unreviewed": unreviewed} if unreviewed else None,
    ).label


def read(folder: Path) -> Suite:
    """Return the suite in a folder after checking its worlds, too; errors as of `frozen.read`."""
    suite = frozen.read(folder, validate_episodes)
    for scenario in suite.scenarios:
        for fault in find_field_faults(scenario):
            raise DamagedData(f"{suite.label} in {folder}: {quote(scenario.id)}: {fault}")
    return suite


def load(workspace: Workspace, label: str) -> Suite:
    """Return the suite NAME@VERSION; see `read`.

    Raises:
      UnknownName: no such suite or version, or no version is given; lists those that exist.
      TamperedSuite: it was modified.
    """
    return frozen.load(workspace, label, read)
