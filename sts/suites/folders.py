"""The folders of suites and drafts, and their JSON files, which can be read without any world."""

import contextlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sts import registry
from sts.errors import ArgumentError, DamagedData, ErasedSuite, NewerFormat, StsError
from sts.names import count_noun, is_one_line, quote
from sts.storage.files import parse_versioned_json, read_bytes
from sts.storage.workspace import Workspace

GROUP = "sts.suites"
FORMAT, FORMAT_VERSION = "scenarios", 3
SUITE_VERSION, DRAFT_VERSION, ERASED_VERSION = 2, 1, 1
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,47}")
VERSION = re.compile(r"[1-9][0-9]{0,5}")
MAX_DESCRIPTION_CHARS = 500
"""Maximum length of a suite's description, in characters."""
_MAX_BYTES = 2**26
_ID = re.compile(r"[0-9a-f]{32}")
_PART = re.compile(r"candidates/[0-9a-f]{24}\.parquet")


class ListedSuite(NamedTuple):
    """A suite or a draft in a listing."""

    suite: str  # NAME@VERSION, or the draft's name
    scenarios: int  # how many it has; 0 if it is unusable
    where: str  # "packaged", "workspace" or "draft"
    description: str  # one line; or why it is unusable, if its JSON file shows that


def list_versions(workspace: Workspace) -> dict[str, dict[int, Path]]:
    """Return the folder of every version of every suite, packaged ones too."""
    roots = []
    for name in registry.list_entry_points(GROUP):
        with contextlib.suppress(StsError):  # does not load; `list_suites` reports it
            roots.append(_packaged_folder(name))
    roots += sorted(p for p in workspace.path("suites").glob("*") if p.is_dir())
    by_name: dict[str, dict[int, Path]] = {}
    for root in roots:
        for file in root.glob("*/suite.json"):
            if VERSION.fullmatch(file.parent.name):
                by_name.setdefault(root.name, {}).setdefault(int(file.parent.name), file.parent)
    return by_name


def _packaged_folder(name: str) -> Path:
    return registry.find_package_folder(GROUP, "packaged suite", name) / name


def validate_name(word: str, what: str) -> str:
    """Return `word` if it is a valid name of a suite, a tag or a selection.

    Raises:
      ArgumentError: it is not; `what` names the kind in the message.
    """
    if not NAME.fullmatch(word):
        raise ArgumentError(
            f"expected a {what} of lower-case letters, digits and dashes, at most 48, found "
            f"{quote(word)}"
        )
    return word


def validate_suite_name(name: str) -> str:
    """Return `name` if it is a valid suite name; errors as of `validate_name`."""
    return validate_name(name, "suite name")


def draft_file(workspace: Workspace, name: str) -> Path:
    """Return the path of a draft's `draft.json`, if any; errors as of `validate_suite_name`."""
    return workspace.path("drafts", validate_suite_name(name), "draft.json")


def read_suite_json(folder: Path) -> dict[str, Any]:
    """Return the fields of the `suite.json` in a folder; errors as of `read_json`."""
    return read_json(folder / "suite.json", "suite", SUITE_VERSION)


def read_erased(folder: Path) -> dict[str, Any]:
    """Read which `scenarios` were erased from a version, each with the date, and what to `use`."""
    try:
        return read_json(folder / "erased.json", "erased", ERASED_VERSION)
    except FileNotFoundError:
        return {"scenarios": {}, "use": None}
    except (ValueError, KeyError) as error:
        raise DamagedData(f"{folder / 'erased.json'}: cannot be read: {error!r}") from None


def check_whole(folder: Path) -> None:
    """Raise ErasedSuite if scenarios were erased from the version in a folder."""
    dates, use = (read_erased(folder)[key] for key in ("scenarios", "use"))
    if dates:
        count, days = count_noun(len(dates), "scenario"), " and ".join(sorted({*dates.values()}))
        raise ErasedSuite(
            f"{folder.parent.name}@{folder.name} can no longer be verified: {count} erased on "
            f"{days} because a person asked to be forgotten{f'; use {use}' if use else ''}"
        )


def list_erased(workspace: Workspace) -> dict[tuple[str, str], str]:
    """Return the content hashes of erased scenarios, by NAME@VERSION and id."""
    return {
        (f"{name}@{version}", id): read_suite_json(folder)["scenarios"][id]
        for name, folders in list_versions(workspace).items()
        for version, folder in folders.items()
        for id in read_erased(folder)["scenarios"]
    }


def list_draft_folders(workspace: Workspace) -> list[Path]:
    """Return the folder of every draft; a name with a leading dot is an aborted write."""
    folders = (file.parent for file in workspace.path("drafts").glob("*/draft.json"))
    return sorted(folder for folder in folders if not folder.name.startswith("."))


def read_draft_json(folder: Path) -> dict[str, Any]:
    """Return the fields of the `draft.json` in a folder; `DamagedData` if it is invalid."""
    file = folder / "draft.json"
    try:
        fields = read_json(file, "draft", DRAFT_VERSION)
        parts = fields["parts"]
        sound = fields["name"] == folder.name and bool(_ID.fullmatch(fields["id"]))
        sound = sound and isinstance(fields["provenance"], dict)
        sound = sound and (fields["parent"] is None or isinstance(fields["parent"], str))
        sound = sound and all(_PART.fullmatch(n) and type(c) is int for n, c in parts.items())
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise DamagedData(f"{file}: not a draft: {error!r}") from None
    if not sound:
        raise DamagedData(f"{file}: not a draft of {folder.name}")
    return fields


def read_json(file: Path, kind: str, version: int) -> dict[str, Any]:
    """Return the fields of a JSON file of this package, of at most this `version_of_format`.

    Raises:
      OSError: it cannot be read.
      DamagedData, NewerFormat: its format version is invalid or later.
      KeyError, ValueError: it is not such a file.
    """
    return parse_json(str(file), read_bytes(file, _MAX_BYTES), kind, version)


def parse_json(file: str, raw: bytes, kind: str, version: int) -> dict[str, Any]:
    """Return the fields of such a file from its bytes; errors as of `read_json`."""
    fields: dict[str, Any] = parse_versioned_json(raw.decode(), dict)
    number = fields["version_of_format"]
    if type(number) is not int or number < 1:
        raise DamagedData(f"{file}: expected version_of_format {version}, found {number!r}")
    if number > version:
        raise NewerFormat(
            f"{file}: {kind} format {number}; this version reads up to {version}: update sts"
        )
    if fields.get("format") != kind:
        raise ValueError(f"expected format {kind}, found {quote(str(fields.get('format')))}")
    return fields


def encode_json(kind: str, version: int, fields: Mapping[str, Any]) -> bytes:
    """Return the bytes of a JSON file that `read_json` reads."""
    document = {"format": kind, "version_of_format": version, **fields}
    return f"{json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)}\n".encode()


def list_suites(workspace: Workspace) -> list[ListedSuite]:
    """Return every suite and then every draft; a broken one is listed as such.

    Only their JSON files are read. `sts.suites.suite_store.read` checks all hashes of a suite.
    """
    suites = []
    for name in registry.list_entry_points(GROUP):
        try:
            _packaged_folder(name)
        except StsError as error:
            suites.append(_list_broken(name, "packaged", error))
    for name, folders in sorted(list_versions(workspace).items()):
        for version, folder in sorted(folders.items()):
            where = "workspace" if workspace.root in folder.parents else "packaged"
            suites.append(_list_suite(f"{name}@{version}", where, folder))
    frozen_ids = find_frozen_drafts(workspace)
    open_drafts = [_list_draft(folder, frozen_ids) for folder in list_draft_folders(workspace)]
    return suites + [draft for draft in open_drafts if draft is not None]


def find_frozen_drafts(workspace: Workspace) -> dict[str, str]:
    """Return the version, NAME@VERSION, as which each draft was frozen, by the draft's id."""
    by_draft = {}
    for name, folders in list_versions(workspace).items():
        for version, folder in folders.items():
            with contextlib.suppress(StsError, OSError, LookupError, ValueError, AttributeError):
                by_draft[read_suite_json(folder)["provenance"]["draft"]] = f"{name}@{version}"
    return by_draft


def _list_suite(label: str, where: str, folder: Path) -> ListedSuite:
    try:
        check_whole(folder)
        fields = read_suite_json(folder)
        count, description = len(fields["scenarios"]), fields["description"]
        if not is_one_line(description, MAX_DESCRIPTION_CHARS):
            raise DamagedData(f"{folder}: its description is not one line of text")
        if not (folder / "scenarios.parquet").is_file():
            raise DamagedData(f"suite in {folder}: scenarios.parquet is missing")
    except StsError as error:
        return _list_broken(label, where, error)
    except (OSError, ValueError, LookupError, TypeError) as error:
        damage = DamagedData(f"{folder / 'suite.json'}: not a suite: {error!r}")
        return _list_broken(label, where, damage)
    return ListedSuite(label, count, where, description)


def _list_draft(folder: Path, frozen_drafts: Mapping[str, str]) -> ListedSuite | None:
    try:
        fields = read_draft_json(folder)
    except StsError as error:
        return _list_broken(folder.name, "draft", error)
    if fields["id"] in frozen_drafts:
        return None
    origin = f"from {fields['parent']}" if fields["parent"] else "candidates"
    return ListedSuite(folder.name, sum(fields["parts"].values()), "draft", f"{origin}, undecided")


def _list_broken(name: str, where: str, error: StsError) -> ListedSuite:
    return ListedSuite(name, 0, where, f"CANNOT BE USED: {error}")
