"""What a study of two agents sees, from a pilot's judgements or from assumptions."""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sts.errors import UnknownName
from sts_analysis.planning import power
from sts_analysis.planning.noise import Noise, Size, judging_noise, measured_noise
from sts_analysis.planning.pilot import Pilot
from sts_analysis.planning.power import Criterion, Split


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


def neighbours(pilot: Pilot) -> list[tuple[str, str]]:
    """Ranked agents that stand next to each other in one ranking."""
    number = pilot.labels.rankings.number[pilot.labels.ranked]
    pairs = zip(pairwise(pilot.ranked), pairwise(number.tolist()), strict=True)
    return [pair for pair, (one, other) in pairs if one == other]


def measured(pilot: Pilot, a: str, b: str) -> tuple[Noise, Size] | str:
    """The noise between two agents of a pilot and the pilot's size, or why it is not known.

    Raises:
      UnknownName: one of them is not ranked there.
    """
    labels, fixed = pilot.labels, pilot.labels.target == "fixed"
    for name in (a, b):
        if name not in pilot.ranked:
            raise UnknownName("ranked agent", name, pilot.ranked)
    rows = np.array([labels.outcomes.agents.index(name) for name in (a, b)])
    both = labels.whole.at(rows)
    if (both.number > 0).all(axis=0).sum() < 2:
        return "fewer than two scenarios are judged for both"
    if fixed and labels.exact[rows].all():
        return "both are deterministic, so these scenarios show any difference as it is"
    place = [pilot.ranked.index(name) for name in (a, b)]
    pair = (np.sort(labels.comparisons.pairs, axis=1) == np.sort(place)).all(axis=1)
    error = float(labels.comparisons.error[pair][0])
    if np.isnan(error):
        return "each scenario has one continuation, so how far another would be off is not known"
    if error == 0 and not np.nansum(both.spread):
        return "no spread is seen, so how far their difference can be off is not known"
    judging, annotations = judging_noise(pilot.ratings, (a, b))
    if labels.source != "human":
        judging, annotations = np.full(2, np.nan), np.ones(2)
    if fixed:
        spread = np.where(labels.exact[rows][:, None], 0.0, both.spread)
        both = both._replace(spread=spread)
    return measured_noise(both, error, judging=judging, annotations=annotations, fixed=fixed)


def prospect(noise: Noise, size: Size, criterion: Criterion, difference: float) -> Prospect:
    """What a study of this noise and size sees, and what sees `difference`, in (0, 1]."""
    smallest = power.smallest_difference(noise, size, criterion)
    return Prospect(
        noise=noise,
        size=size,
        criterion=criterion,
        smallest=smallest if smallest < 1 else None,
        scenarios=power.scenarios_for(difference, noise, size, criterion),
        continuations=power.continuations_for(difference, noise, size, criterion),
        annotations=power.annotations_for(difference, noise, size, criterion),
        anchors=power.anchors_for(noise, size, criterion),
        splits=tuple(power.splits(noise, size.judgements, criterion)),
        difference=difference,
    )


def _finite(noise: Noise) -> dict[str, float | None]:
    return {key: None if math.isnan(value) else value for key, value in noise._asdict().items()}
