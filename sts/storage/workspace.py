"""The workspace: one folder that holds everything a study makes."""

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
from typing import Any

from sts.errors import DamagedData, NewerFormat
from sts.storage.files import lock_file, put_new, regular_bytes
from sts.storage.store import Store

SCHEMA_VERSION = 2
DEFAULT_FOLDER = "sts-workspace"
_ID = re.compile(r"[0-9a-f]{32}")
_MAX_SETTINGS_BYTES = 2**20
_DEFAULT_SETTINGS = """\
# A workspace of the Standardised Test Suite. Settings may be edited; the schema may not.
schema = 2

[annotation]
required = 1          # judgements wanted of each clip
twice = 0.1           # share of clips that are judged twice at least, and first
queue = 100000        # continuations that wait to be judged at a time, drawn by lot from all
reference_rate = 0.1  # share of reference episodes among what annotators see, where there are any
"""


@dataclass(frozen=True)
class Workspace:
    """A study's folder; `settings` is what its `workspace.toml` says."""

    root: Path
    settings: dict[str, Any]

    @classmethod
    def open(cls, path: str | Path | None = None) -> Workspace:
        """Return the workspace at `path`, else at `STS_WORKSPACE`, else at `sts-workspace`.

        Nothing is written: a workspace that does not exist yet is an empty one.

        Raises:
          NewerFormat: its schema is later than this version reads.
          DamagedData: its `workspace.toml` cannot be read, or is of an earlier version, whose
            agents had other identities and drew otherwise.
          OSError: `path` leads through a file, or round in a circle.
        """
        root = Path(path or os.environ.get("STS_WORKSPACE") or DEFAULT_FOLDER)
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISDIR(root.stat().st_mode):
                raise DamagedData(f"expected a workspace folder at {root}, found a file")
        file = root / "workspace.toml"
        return cls(
            root, _read_settings(file) if file.exists() else tomllib.loads(_DEFAULT_SETTINGS)
        )

    def ensure(self) -> Workspace:
        """Make the folder and its `workspace.toml` where they are missing."""
        file = self.root / "workspace.toml"
        if not file.exists():
            first, rest = _DEFAULT_SETTINGS.split("\n", 1)
            put_new(file, f"{first}\n{_new_id_line()}{rest}".encode())
        return self

    def identity(self) -> str:
        """Return the workspace's own id, 32 hex digits, made with it; a copy has the original's."""
        return str(_read_settings(self.ensure().root / "workspace.toml")["id"])

    def locked(self) -> AbstractContextManager[None]:
        """Wait until no other process changes what is shared here, and keeps others waiting."""
        return lock_file(self.root / "workspace.toml")

    @property
    def store(self) -> Store:
        """What continuations are kept in."""
        return Store(self.root)

    def path(self, *parts: str) -> Path:
        """Return a path inside the workspace; nothing is made."""
        return self.root.joinpath(*parts)

    def setting(self, section: str, name: str, default: Any) -> Any:
        """Return a setting of `workspace.toml`, or `default` where it is absent.

        Raises:
          DamagedData: the section is not a table, or the value's type is not the default's.
        """
        table = self.settings.get(section, {})
        value = table.get(name, default) if isinstance(table, dict) else None
        whole_for_float = type(value) is int and isinstance(default, float)
        if not whole_for_float and type(value) is not type(default):
            raise DamagedData(
                f"{self.root / 'workspace.toml'}: expected {section}.{name} like {default!r}, "
                f"found {value!r}"
            )
        return value


def _new_id_line() -> str:
    """Return the line of a `workspace.toml` that gives it an id."""
    return f'id = "{secrets.token_hex(16)}"  # its annotation database knows it by this\n'


def _read_settings(file: Path) -> dict[str, Any]:
    """Return what a `workspace.toml` says; errors as of `Workspace.open`."""
    raw = regular_bytes(file, _MAX_SETTINGS_BYTES)
    try:
        settings = tomllib.loads(raw.decode())
    except (ValueError, RecursionError) as error:
        raise DamagedData(f"{file} is not readable TOML: {error}") from None
    schema = settings.get("schema")
    if type(schema) is not int or schema < 1:
        raise DamagedData(f"{file} has no integer `schema`; expected schema = {SCHEMA_VERSION}")
    if schema > SCHEMA_VERSION:
        raise NewerFormat(
            f"{file} has schema {schema}; this version reads up to {SCHEMA_VERSION}: update sts"
        )
    if schema < SCHEMA_VERSION:
        raise DamagedData(
            f"{file} has schema {schema}: an earlier version made it, whose agents drew otherwise; "
            "start a new workspace (what is recorded here may be copied to it: trajectories/)"
        )
    own = settings.get("id")
    if not (isinstance(own, str) and _ID.fullmatch(own)):
        raise DamagedData(f"{file}: expected an id of 32 hexadecimal digits, found {own!r}")
    return settings
