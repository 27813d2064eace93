"""What is analysed: a suite of a workspace, or a ratings table in a file."""

from __future__ import annotations

from pathlib import Path

from analysis.inputs.gather import Gathered, gather_table


def gather_either(label: str | None, table: Path | None, workspace: str | None) -> Gathered:
    """Gathers everything for a suite of a workspace, or for a ratings table in a file.

    Args:
      label: `NAME@VERSION`, or None.
      table: the file; counts where `label` is None.
      workspace: its folder, or None for the usual one.
    """
    if label is None:
        assert table is not None
        return gather_table(table)
    # Only a suite needs a workspace, its annotations, and worlds to check it by.
    from analysis.inputs.workspace import gather
    from sts.storage.workspace import Workspace

    return gather(Workspace.open(workspace), label)
