"""Where suites and drafts lie, and what is said of them in front: listing them needs no world."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sts import registry
from sts.errors import ArgumentError, DamagedData, NewerFormat, StsError
from sts.names import one_line, shown
from sts.storage.files import parsed_json, regular_bytes
from sts.storage.workspace import Workspace

GROUP = "sts.suites"
FORMAT, FORMAT_VERSION = "scenarios", 2
SUITE_VERSION, DRAFT_VERSION = 2, 1
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,47}")
VERSION = re.compile(r"[1-9][0-9]{0,5}")
DESCRIPTION = 500
"""Letters of a suite's description."""
_MOST_BYTES = 2**26
_ID = re.compile(r"[0-9a-f]{32}")
_PART = re.compile(r"candidates/[0-9a-f]{24}\.parquet")


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
    """Return the folder of every version of every suite, packaged ones too."""
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


def check_word(word: str, what: str) -> str:
    """Return `word`, which a suite, a tag or a selection may be called.

    Raises:
      ArgumentError: none may; `what` says what it was to be.
    """
    if not NAME.fullmatch(word):
        raise ArgumentError(
            f"expected a {what} of lower-case letters, digits and dashes, at most 48, found "
            f"{shown(word)}"
        )
    return word


def named(name: str) -> str:
    """Return `name`, which a suite may have; errors as of `check_word`."""
    return check_word(name, "suite name")


def draft_file(workspace: Workspace, name: str) -> Path:
    """Return where the `draft.json` of a draft is, if there is one; errors as of `named`."""
    return workspace.path("drafts", named(name), "draft.json")


def contents(folder: Path) -> dict[str, Any]:
    """Return what the `suite.json` of a folder says; errors as of `formatted`."""
    return formatted(folder / "suite.json", "suite", SUITE_VERSION)


def drafts(workspace: Workspace) -> list[Path]:
    """Return the folder of every draft; one whose maker was killed begins with a dot."""
    every = (file.parent for file in workspace.path("drafts").glob("*/draft.json"))
    return sorted(folder for folder in every if not folder.name.startswith("."))


def draft_contents(folder: Path) -> dict[str, Any]:
    """Return what the `draft.json` of a folder says; it is damaged where it is none."""
    file = folder / "draft.json"
    try:
        own = formatted(file, "draft", DRAFT_VERSION)
        parts = own["parts"]
        sound = own["name"] == folder.name and bool(_ID.fullmatch(own["id"]))
        sound = sound and isinstance(own["provenance"], dict)
        sound = sound and (own["parent"] is None or isinstance(own["parent"], str))
        sound = sound and all(_PART.fullmatch(n) and type(c) is int for n, c in parts.items())
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise DamagedData(f"{file}: not a draft: {error!r}") from None
    if not sound:
        raise DamagedData(f"{file}: not a draft of {folder.name}")
    return own


def formatted(file: Path, kind: str, version: int) -> dict[str, Any]:
    """Return what a JSON file of ours says, whose `version_of_format` is read here.

    Raises:
      OSError: it cannot be read.
      DamagedData, NewerFormat: it is of no such format.
      KeyError, ValueError: it is no such file.
    """
    return in_format(str(file), regular_bytes(file, _MOST_BYTES), kind, version)


def in_format(file: str, raw: bytes, kind: str, version: int) -> dict[str, Any]:
    """Return what the bytes of such a file say; errors as of `formatted`."""
    own: dict[str, Any] = parsed_json(raw.decode(), dict)
    number = own["version_of_format"]
    if type(number) is not int or number < 1:
        raise DamagedData(f"{file}: expected version_of_format {version}, found {number!r}")
    if number > version:
        raise NewerFormat(
            f"{file}: {kind} format {number}; this version reads up to {version}: update sts"
        )
    if own.get("format") != kind:
        raise ValueError(f"expected format {kind}, found {shown(str(own.get('format')))}")
    return own


def encode_json(kind: str, version: int, own: Mapping[str, Any]) -> bytes:
    """Return the bytes of a JSON file that `formatted` reads."""
    whole = {"format": kind, "version_of_format": version, **own}
    return f"{json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False)}\n".encode()


def listed(workspace: Workspace) -> list[Listed]:
    """Return every suite and then every draft; one that is broken hides no other.

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
    spent = frozen(workspace)
    waiting = [_draft(folder, spent) for folder in drafts(workspace)]
    return out + [one for one in waiting if one is not None]


def frozen(workspace: Workspace) -> dict[str, str]:
    """Return the version, NAME@VERSION, that each draft was frozen as, by the draft's id."""
    out = {}
    for name, folders in versions(workspace).items():
        for version, folder in folders.items():
            with contextlib.suppress(StsError, OSError, LookupError, ValueError, AttributeError):
                out[contents(folder)["provenance"]["draft"]] = f"{name}@{version}"
    return out


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


def _draft(folder: Path, spent: Mapping[str, str]) -> Listed | None:
    try:
        own = draft_contents(folder)
    except StsError as error:
        return _broken(folder.name, "draft", error)
    if own["id"] in spent:
        return None
    begun = f"from {own['parent']}" if own["parent"] else "candidates"
    return Listed(folder.name, sum(own["parts"].values()), "draft", f"{begun}, to be decided")


def _broken(name: str, where: str, error: StsError) -> Listed:
    return Listed(name, 0, where, f"CANNOT BE USED: {error}")
