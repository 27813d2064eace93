"""Frozen suites on disk, checked against their hashes; no world is needed to read one.

To run, render or label a suite read it with `sts.suites.suite_store`, which checks its worlds, too.
"""

import re
from collections.abc import Callable
from pathlib import Path

from sts.errors import DamagedData, TamperedSuite, UnknownName
from sts.names import escape_unprintable, is_one_line, quote
from sts.storage.workspace import Workspace
from sts.suites import scenarios as files
from sts.suites.folders import (
    MAX_DESCRIPTION_CHARS,
    NAME,
    VERSION,
    check_whole,
    draft_file,
    list_versions,
    read_suite_json,
)
from sts.suites.scenarios import Check
from sts.suites.suite import Change, Suite

_LABEL = re.compile(rf"({NAME.pattern})(?:@({VERSION.pattern}))?")


def read(folder: Path, check: Check | None = None) -> Suite:
    """Return the suite in a folder after checking every hash.

    Raises:
      TamperedSuite: its content was changed after freezing.
      ErasedSuite: scenarios of it were erased.
      DamagedData, NewerFormat: a file of it is missing, cannot be read or is of a later version.
    """
    try:
        check_whole(folder)
        fields = read_suite_json(folder)
        scenarios = files.read(folder / "scenarios.parquet", check)
        names = ("name", "version", "parent", "description", "provenance")
        suite = Suite(
            **{name: fields[name] for name in names},
            scenarios=scenarios,
            changes=tuple(Change(**change) for change in fields.get("changes", ())),
            last=dict(fields.get("last", {})),
        )
        sound = fields["scenarios"] == {s.id: s.hash for s in scenarios}
        sound = sound and fields["hash"] == suite.hash
    except FileNotFoundError as error:
        raise DamagedData(f"suite in {folder}: {Path(error.filename).name} is missing") from None
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedData(f"{folder / 'suite.json'}: not a suite: {error!r}") from None
    if not sound:
        raise TamperedSuite(
            f"{escape_unprintable(suite.label)} in {folder} has been modified since it was "
            "frozen: its hash does not match; restore the files, or freeze a new version"
        )
    if not is_one_line(suite.description, MAX_DESCRIPTION_CHARS):
        raise DamagedData(
            f"{suite.label} in {folder}: expected a description of one line, at most "
            f"{MAX_DESCRIPTION_CHARS} printable characters, found {quote(suite.description)}"
        )
    return suite


def load_unreviewed(workspace: Workspace, name: str, version: str) -> frozenset[str]:
    """Return `Suite.unreviewed` of a version, from its `suite.json` alone."""
    fields = read_suite_json(list_versions(workspace)[name][int(version)])
    return frozenset(fields["provenance"].get("unreviewed", ()))


def load(workspace: Workspace, label: str, read: Callable[[Path], Suite] = read) -> Suite:
    """Return the suite NAME@VERSION, using `read`; errors as of `sts.suites.suite_store.load`."""
    match = _LABEL.fullmatch(label)
    suites = list_versions(workspace)
    if not match or match[1] not in suites:
        error = UnknownName("suite", label, [f"{n}@{v}" for n, vs in suites.items() for v in vs])
        if match and draft_file(workspace, match[1]).exists():
            raise error.with_message(
                f"{error}; {match[1]} is a draft, see sts draft show {match[1]}"
            )
        raise error
    name, version = match[1], match[2]
    if version is None or int(version) not in suites[name]:
        error = UnknownName("suite version", label, [f"{name}@{v}" for v in suites[name]])
        if version is None:  # the newest version is the best guess
            known = str(error).partition("; did you mean")[0]
            raise error.with_message(f"{known}; did you mean {name}@{max(suites[name])}?")
        raise error
    suite = read(suites[name][int(version)])
    if suite.label != label:
        raise TamperedSuite(f"{suites[name][int(version)]} holds {suite.label} instead")
    return suite
