"""Building a packaged suite from nothing but the public commands."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from sts.cli.main import main as sts_command
from sts.errors import DamagedData, StsError
from sts.provenance import provenance
from sts.storage.workspace import Workspace
from sts.suites import store
from sts.suites.drafts import open_draft
from sts.suites.lint import lint
from sts.suites.types import Suite

DRAFT = "draft"


def build(
    out: Path, name: str, version: int, description: str, commands: Sequence[Sequence[str]]
) -> Suite:
    """Write NAME@VERSION to the folder `out` and return it.

    Args:
      out: where `suite.json` and `scenarios.parquet` go.
      name: of the suite.
      version: of the suite.
      description: one line.
      commands: command lines without the leading `sts`, run in a new workspace, that make the
        draft `DRAFT`.

    Raises:
      StsError: a command failed; it has said how.
      DamagedData: the scenarios do not pass the lint.
    """
    with tempfile.TemporaryDirectory() as folder:
        carry_out(folder, commands)
        draft = open_draft(Workspace.open(folder), DRAFT)
        scenarios = tuple(draft.scenarios(dict.fromkeys(draft.ids(), "")))
    faults = lint(scenarios)
    if faults:
        raise DamagedData(f"{name}: {faults[0]} ({len(faults)} faults in all)")
    suite = Suite(name, version, None, description, scenarios, provenance())
    store.write(out, suite)
    return suite


def carry_out(folder: str, commands: Iterable[Sequence[str]]) -> None:
    """Run command lines without the leading `sts` in the workspace at `folder`.

    Raises:
      StsError: one failed; it has said how.
    """
    for line in commands:
        if sts_command([*line, "--workspace", folder]) != 0:
            raise StsError(f"sts {' '.join(line)} failed")
