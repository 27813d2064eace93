"""What a study of two agents sees, from a pilot's judgements or from assumptions."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from analysis.inputs.ratings import valued
from analysis.inputs.subject import Subject
from analysis.planning import power
from analysis.planning.noise import Noise, Size, judging_noise, measured_noise
from analysis.planning.power import Criterion, Split
from analysis.statistics.label_set import LabelSet, analyse
from sts.errors import DamagedData, UnknownName
from sts.ratings import SOURCES


class Pilot(NamedTuple):
    """What has been judged.

    Attributes:
      labels: the main set of labels, analysed.
      ratings: the checked table that they come from.
    """

    labels: LabelSet
    ratings: pd.DataFrame

    @property
    def ranked(self) -> tuple[str, ...]:
        """The ranked agents, the best first."""
        return tuple(self.labels.outcomes.agents[row] for row in self.labels.ranked)


class Prospect(NamedTuple):
    """What a study of two agents sees.

    Attributes:
      noise: between them.
      size: of the study.
      criterion: how they are told apart.
      smallest: the smallest difference that is seen, in [0, 1]; None where none is.
      scenarios: how many see `difference`, all else as in `size`; None where none do.
      continuations: likewise.
      annotations: likewise.
      anchors: clips that the annotators of both should judge; None where that is not known.
      splits: ways to spend as many judgements.
      difference: what is to be seen, in (0, 1].
    """

    noise: Noise
    size: Size
    criterion: Criterion
    smallest: float | None
    scenarios: int | None
    continuations: int | None
    annotations: int | None
    anchors: int | None
    splits: tuple[Split, ...]
    difference: float

    def to_json(self) -> dict[str, Any]:
        """All of it, by name; what is not known is null."""
        own = self._asdict()
        own |= {"noise": _finite(self.noise), "size": self.size._asdict()}
        return own | {
            "criterion": self.criterion._asdict(),
            "splits": [split._asdict() for split in self.splits],
        }


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
    labels = analyse(
        worth,
        source,
        scenarios=subject.scenarios,
        target=target,
        seed=0,
        together=subject.together,
    )
    if len(labels.ranked) < 2:
        raise DamagedData(
            f"{subject.name}: expected at least two ranked agents to plan from, found "
            f"{len(labels.ranked)}; name no suite and no table to plan from assumptions"
        )
    return Pilot(labels, ratings)


def measured(pilot: Pilot, a: str, b: str) -> tuple[Noise, Size] | None:
    """The noise between two agents of a pilot, and the pilot's size.

    Returns:
      Both; None where fewer than two scenarios have judgements of both agents.

    Raises:
      UnknownName: one of them is not ranked there.
    """
    labels = pilot.labels
    for name in (a, b):
        if name not in pilot.ranked:
            raise UnknownName("ranked agent", name, pilot.ranked)
    rows = np.array([labels.outcomes.agents.index(name) for name in (a, b)])
    both = labels.summary.at(rows)
    if (both.number > 0).all(axis=0).sum() < 2:
        return None
    judging, annotations = judging_noise(pilot.ratings, (a, b))
    if labels.source != "human":
        judging, annotations = np.full(2, np.nan), np.ones(2)
    return measured_noise(
        both,
        labels.outcomes.category,
        judging=judging,
        annotations=annotations,
        unit=labels.outcomes.unit,
    )


def prospect(noise: Noise, size: Size, criterion: Criterion, difference: float) -> Prospect:
    """What a study of this noise and size sees, and what sees `difference`, in (0, 1]."""
    smallest = power.smallest_difference(noise, size, criterion)
    return Prospect(
        noise=noise,
        size=size,
        criterion=criterion,
        smallest=smallest if math.isfinite(smallest) else None,
        scenarios=power.scenarios_for(difference, noise, size, criterion),
        continuations=power.continuations_for(difference, noise, size, criterion),
        annotations=power.annotations_for(difference, noise, size, criterion),
        anchors=power.anchors_for(noise, size, criterion),
        splits=tuple(power.splits(noise, size.judgements, criterion)),
        difference=difference,
    )


def _finite(noise: Noise) -> dict[str, float | None]:
    return {key: None if math.isnan(value) else value for key, value in noise._asdict().items()}
