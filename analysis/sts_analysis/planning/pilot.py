"""What has been judged so far, from which studies are planned and simulated."""

from typing import Any, NamedTuple

import pandas as pd

from sts.errors import DamagedData
from sts.ratings import SOURCES
from sts_analysis.inputs.ratings import valued
from sts_analysis.inputs.subject import Subject
from sts_analysis.statistics.label_set import LabelSet, analyse


class Pilot(NamedTuple):
    """What has been judged.

    Attributes:
      name: of the suite, or of the table's file.
      labels: the main set of labels, analysed.
      ratings: the checked table that they come from.
      options: of `analyse`, that a report on the same has.
    """

    name: str
    labels: LabelSet
    ratings: pd.DataFrame
    options: dict[str, Any]

    @property
    def ranked(self) -> tuple[str, ...]:
        """The ranked agents, the best first."""
        return tuple(self.labels.outcomes.agents[row] for row in self.labels.ranked)


def pilot(
    ratings: pd.DataFrame, subject: Subject, *, target: str, source: str | None = None
) -> Pilot:
    """Analyses what has been judged so far.

    Args:
      ratings: a checked ratings table.
      subject: what it is about.
      target: "sampled" or "fixed".
      source: whose labels, "human", "automatic" or "model"; the report's where None.

    Raises:
      DamagedData: there is no label of that source, or fewer than two agents are ranked.
    """
    worth = valued(ratings)
    judged = worth[(worth["truth"] == "") & ~worth["verdict"].isin(("", "cannot_judge"))]
    present = [s for s in SOURCES if s != "settled" and (judged["source"] == s).any()]
    source = source or (present or ["human"])[0]
    if source not in present:
        raise DamagedData(f"{subject.name}: expected {source} labels to plan from, found none")
    options: dict[str, Any] = {
        "source": source,
        "scenarios": subject.scenarios,
        "together": subject.together,
        "deterministic": subject.deterministic,
    }
    labels = analyse(worth, target=target, seed=0, **options)
    if len(labels.ranked) < 2:
        raise DamagedData(
            f"{subject.name}: expected at least two ranked agents, found {len(labels.ranked)}; "
            "`sts power` without a name plans from assumptions"
        )
    return Pilot(subject.name, labels, ratings, options)
