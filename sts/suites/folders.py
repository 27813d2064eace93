"""Where suites and drafts lie, and what is said of them in front: listing them needs no world."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any, NamedTuple

from sts import registry
from sts.errors import ArgumentError, DamagedData, NewerFormat, StsError
from sts.names import one_line, shown
from sts.storage.files import parsed_json, regular_bytes
from sts.storage.workspace import Workspace

GROUP = "sts.suites"
FORMAT, FORMAT_VERSION = "scenarios", 2
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,47}")
VERSION = re.compile(r"[1-9][0-9]{0,5}")
DESCRIPTION = 500
"""Letters of a suite's description."""
_MOST_BYTES = 2**26


class Listed(NamedTuple):
    """A suite or a draft, as it is listed.

    Attributes:
      suite: NAME@VERSION, or the draft's name.
      scenarios: how many it has; 0 where it cannot be used.
      where: "packaged", "workspace" or "draft".
      description: one line; or why it cannot be used, as far as is seen from outside.
    """

    suite: str
    scenarios: int
    where: str
    description: str


def versions(workspace: Workspace) -> dict[str, dict[int, Path]]:
    """Returns the folder of every version of every suite, packaged ones too."""
    roots = []
    for name in registry.named(GROUP):
        with contextlib.suppress(StsError):  # of a package that does not load; `listed` says so
            roots.append(_packaged(name))
    roots += sorted(p for p in workspace.path("suites").glob("*") if p.is_dir())
    out: dict[str, dict[int, Path]] = {}
    for root in roots:
        for file in root.glob("*/suite.json"):
            if VERSION.fullmatch(file.parent.name):
                out.setdefault(root.name, {}).setdefault(int(file.parent.name), file.parent)
    return out


def _packaged(name: str) -> Path:
    package = registry.load(GROUP, "packaged suite", name)
    if not getattr(package, "__path__", ()):
        raise StsError(f"entry point {GROUP}:{name} is no package with a folder {name} in it")
    return Path(package.__path__[0]) / name


def draft_path(workspace: Workspace, name: str) -> Path:
    """Returns where the draft called `name` is kept.

    Raises:
      ArgumentError: not a suite's name.
    """
    if not NAME.fullmatch(name):
        raise ArgumentError(
            "expected a suite name of lower-case letters, digits and dashes, at most 48, found "
            f"{shown(name)}"
        )
    return workspace.path("drafts", name, "scenarios.parquet")


def contents(folder: Path) -> dict[str, Any]:
    """Returns what the `suite.json` of a folder says, of a format that is read here.

    Raises:
      DamagedData, NewerFormat: it is of none.
      KeyError, ValueError: it is none.
    """
    file = folder / "suite.json"
    own: dict[str, Any] = parsed_json(regular_bytes(file, _MOST_BYTES).decode(), dict)
    number = own["version_of_format"]
    if type(number) is not int or number < 1:
        raise DamagedData(f"{file}: expected version_of_format 1, found {number!r}")
    if number > 1:
        raise NewerFormat(f"{file}: suite format {number}; this version reads up to 1: update sts")
    return own


def listed(workspace: Workspace) -> list[Listed]:
    """Returns every suite and then every draft; one that is broken hides no other.

    Only what stands in front is read. `sts.suites.store.read` holds a suite to all its hashes.
    """
    out = []
    for name in registry.named(GROUP):
        try:
            _packaged(name)
        except StsError as error:
            out.append(_broken(name, "packaged", error))
    for name, folders in sorted(versions(workspace).items()):
        for version, folder in sorted(folders.items()):
            where = "workspace" if workspace.root in folder.parents else "packaged"
            out.append(_suite(f"{name}@{version}", where, folder))
    drafts = sorted(workspace.path("drafts").glob("*/scenarios.parquet"))
    return out + [_draft(path) for path in drafts]


def _suite(label: str, where: str, folder: Path) -> Listed:
    try:
        own = contents(folder)
        count, description = len(own["scenarios"]), own["description"]
        if not one_line(description, DESCRIPTION):
            raise DamagedData(f"{folder}: its description is not one line of text")
        if not (folder / "scenarios.parquet").is_file():
            raise DamagedData(f"suite in {folder}: scenarios.parquet is missing")
    except StsError as error:
        return _broken(label, where, error)
    except (OSError, ValueError, LookupError, TypeError) as error:
        return _broken(
            label, where, DamagedData(f"{folder / 'suite.json'}: not a suite: {error!r}")
        )
    return Listed(label, count, where, description)


def _draft(path: Path) -> Listed:
    import pyarrow as pa

    from sts.storage import parquet

    try:
        count = parquet.read(path, FORMAT, FORMAT_VERSION, {"id": pa.string()}).num_rows
    except StsError as error:
        return _broken(path.parent.name, "draft", error)
    return Listed(path.parent.name, count, "draft", "candidates, to be frozen")


def _broken(name: str, where: str, error: StsError) -> Listed:
    return Listed(name, 0, where, f"CANNOT BE USED: {error}")
