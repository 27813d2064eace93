"""What a report is made from, gathered: ratings, scores and what they are about."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analysis.inputs.ratings import read_ratings
from analysis.inputs.scores import empty_scores
from analysis.inputs.subject import Other, Subject


class Gathered(NamedTuple):
    """What `build` asks for, and where the report goes.

    Attributes:
      ratings: a checked ratings table.
      scores: a checked scores table.
      suite: what the report is about.
      folder: where it goes unless it is told otherwise.
      other: the other version, where one is asked.
      ids: of a workspace the id of each continuation, by its number in the ratings table.
    """

    ratings: pd.DataFrame
    scores: pd.DataFrame
    suite: Subject
    folder: Path
    other: Other | None = None
    ids: pd.Series | None = None


def gather_table(path: Path) -> Gathered:
    """Gathers everything for the report of a ratings table in a file; see `read_ratings`."""
    return Gathered(read_ratings(path), empty_scores(), Subject(path.name), Path("sts-report"))


def gather_any(label: str | None, table: Path | None, workspace: str | None) -> Gathered:
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
