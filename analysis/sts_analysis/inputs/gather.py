"""What a report is made from, gathered: ratings, scores and what they are about."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from sts_analysis.inputs.ratings import read_ratings
from sts_analysis.inputs.scores import empty_scores
from sts_analysis.inputs.subject import Other, Subject


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
