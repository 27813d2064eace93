"""The workspace: the folder with all data of a study."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import tomllib
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from sts.errors import DamagedData, NewerFormat
from sts.storage.files import lock_file, read_bytes, write_new
from sts.storage.store import KeyValueStore

T = TypeVar("T")
SCHEMA_VERSION = 2
DEFAULT_FOLDER = "sts-workspace"
_ID = re.compile(r"[0-9a-f]{32}")
_MAX_SETTINGS_BYTES = 2**20
_DEFAULT_SETTINGS = """\
# A workspace of the Standardised Test Suite. You may edit the settings, but not the schema.
schema = 2

[annotation]
goal = "rank"         # rank all agents, find the "best", or judge "all" that is queued
annotations_per_clip = 1
overlap = 0.1         # share of clips that at least two people annotate
queue = 100000        # continuations queued at a time, in the order of judging
reference_rate = 0.1  # share of references among the clips shown, if there are any
"""


@dataclass(frozen=True)
class Workspace:
    """The folder of a study; `settings` is the content of its `workspace.toml`.

    Examples:
      >>> import sts
      >>> workspace = sts.Workspace.open("study").create()
      >>> str(workspace.root), workspace.settings["annotation"]["annotations_per_clip"]
      ('study', 1)
    """

    root: Path
    settings: dict[str, Any]

    @classmethod
    def open(cls, path: Workspace | str | Path | None = None) -> Workspace:
        """Open the workspace at `path`, by default `STS_WORKSPACE` or else `sts-workspace`.

        Nothing is written; a folder that does not exist is an empty workspace. An open
        workspace is returned as it is.

        Raises:
          NewerFormat: its schema is later than this version reads.
          DamagedData: its `workspace.toml` is invalid, or of an earlier version, whose results are
            not comparable.
          OSError: a parent of `path` is a file, or a loop of links.
        """
        if isinstance(path, Workspace):
            return path
        root = Path(path or os.environ.get("STS_WORKSPACE") or DEFAULT_FOLDER)
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISDIR(root.stat().st_mode):
                raise DamagedData(f"expected a workspace folder at {root}, found a file")
        file = root / "workspace.toml"
        exists = file.exists()
        return cls(root, _read_settings(file) if exists else tomllib.loads(_DEFAULT_SETTINGS))

    def create(self) -> Workspace:
        """Create the folder and its `workspace.toml` if they are missing; return the workspace."""
        file = self.root / "workspace.toml"
        if not file.exists():
            first, rest = _DEFAULT_SETTINGS.split("\n", 1)
            write_new(file, f"{first}\n{_new_id_line()}{rest}".encode())
        return self

    def identity(self) -> str:
        """Return the ID of the workspace, 32 hex digits; create it if necessary.

        A copy of a workspace has the same ID.
        """
        return str(_read_settings(self.create().root / "workspace.toml")["id"])

    def lock(self) -> AbstractContextManager[None]:
        """Lock the workspace in a context, waiting for other processes that change it."""
        return lock_file(self.root / "workspace.toml")

    @property
    def store(self) -> KeyValueStore:
        """The store of continuations."""
        return KeyValueStore(self.root)

    def path(self, *names: str) -> Path:
        """Return a path inside the workspace, which need not exist."""
        return self.root.joinpath(*names)

    def setting(self, section: str, name: str, default: T) -> T:
        """Return a setting, or `default`; raise DamagedData if its type is another."""
        table = self.settings.get(section, {})
        value: Any = table.get(name, default) if isinstance(table, dict) else None
        whole_for_float = type(value) is int and isinstance(default, float)
        if not whole_for_float and type(value) is not type(default):
            raise DamagedData(
                f"{self.root / 'workspace.toml'}: expected {section}.{name} like {default!r}, "
                f"found {value!r}"
            )
        return cast(T, value)


def _new_id_line() -> str:
    """Return the line of `workspace.toml` with a new ID."""
    return f'id = "{secrets.token_hex(16)}"  # its annotation database knows it by this\n'


def _read_settings(file: Path) -> dict[str, Any]:
    """Read a `workspace.toml`; errors as for `Workspace.open`."""
    raw = read_bytes(file, _MAX_SETTINGS_BYTES)
    try:
        settings = tomllib.loads(raw.decode())
    except (ValueError, RecursionError) as error:
        raise DamagedData(f"{file} is not valid TOML: {error}") from None
    schema = settings.get("schema")
    if type(schema) is not int or schema < 1:
        raise DamagedData(f"{file} has no integer `schema`; expected schema = {SCHEMA_VERSION}")
    if schema > SCHEMA_VERSION:
        raise NewerFormat(
            f"{file} has schema {schema}; this version reads up to {SCHEMA_VERSION}: update sts"
        )
    if schema < SCHEMA_VERSION:
        raise DamagedData(
            f"{file} has schema {schema}, of an earlier version whose results are not comparable; "
            "start a new workspace (you may copy the folder trajectories/ to it)"
        )
    id = settings.get("id")
    if not (isinstance(id, str) and _ID.fullmatch(id)):
        raise DamagedData(f"{file}: expected an id of 32 hexadecimal digits, found {id!r}")
    return settings
