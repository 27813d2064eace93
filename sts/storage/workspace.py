"""The workspace: one folder that holds everything a study makes."""

from __future__ import annotations

import os
import tomllib
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sts.errors import DamagedData, NewerFormat
from sts.storage.files import locked, write_atomically

SCHEMA = 2
DEFAULT = "sts-workspace"
_HEADER = """\
# A workspace of the Standardised Test Suite. Settings may be edited; the schema may not.
schema = 2

[annotation]
required = 1          # judgements wanted for each continuation
reference_rate = 0.1  # share of reference episodes among what annotators see, where there are any
"""


@dataclass(frozen=True)
class Workspace:
    """A study's folder; `settings` is what its `workspace.toml` says."""

    root: Path
    settings: dict[str, Any]

    @classmethod
    def open(cls, path: str | None = None) -> Workspace:
        """Returns the workspace at `path`, else at `STS_WORKSPACE`, else at `sts-workspace`.

        Nothing is written: a workspace that does not exist yet is an empty one.

        Raises:
          NewerFormat: its schema is later than this version reads.
          DamagedData: its `workspace.toml` cannot be read, or is of an earlier version, whose
            agents had other identities and drew otherwise.
        """
        root = Path(path or os.environ.get("STS_WORKSPACE") or DEFAULT)
        if root.exists() and not root.is_dir():
            raise DamagedData(f"expected a workspace folder at {root}, found a file")
        file = root / "workspace.toml"
        text = file.read_bytes() if file.exists() else _HEADER.encode()
        try:
            settings = tomllib.loads(text.decode())
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise DamagedData(f"{file} is not readable TOML: {error}") from None
        schema = settings.get("schema")
        if type(schema) is not int or schema < 1:
            raise DamagedData(f"{file} has no integer `schema`; expected schema = {SCHEMA}")
        if schema > SCHEMA:
            raise NewerFormat(
                f"{file} has schema {schema}; this version reads up to {SCHEMA}: update sts"
            )
        if schema < SCHEMA:
            raise DamagedData(
                f"{file} has schema {schema}: an earlier version made it, whose agents drew "
                "otherwise; start a new workspace (what is recorded here may be copied to it: "
                "trajectories/)"
            )
        return cls(root, settings)

    def ensure(self) -> Workspace:
        """Makes the folder and its `workspace.toml` where they are missing."""
        file = self.root / "workspace.toml"
        if not file.exists():
            write_atomically(file, _HEADER.encode())
        return self

    def locked(self) -> AbstractContextManager[None]:
        """Waits until no other process changes what is shared here, and keeps others waiting."""
        return locked(self.root / "workspace.toml")

    def path(self, *parts: str) -> Path:
        """Returns a path inside the workspace; nothing is made."""
        return self.root.joinpath(*parts)

    def setting(self, section: str, name: str, default: Any) -> Any:
        """Returns a setting of `workspace.toml`, or `default` where it is absent.

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
