"""Joint success: credit for a contrast pair or a dialogue, of which all scenarios must succeed.

Continuations of different scenarios are independent, so the chance that all succeed is the product
of their rates. Scenarios of a group resemble each other; a group is one value, and a part of one
unit.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sts_analysis.statistics.means import Means, estimate_means
from sts_analysis.statistics.tabulation import Outcomes
from sts_analysis.statistics.units import join_units


class JointSuccess(NamedTuple):
    """Joint success of A agents in G groups of scenarios.

    Attributes:
      credit: float64[A, G], NaN where a scenario of the group has no value.
      means: of A agents over groups, all groups alike.
    """

    credit: np.ndarray
    means: Means


def measure_joint_success(outcomes: Outcomes, groups: Sequence[Sequence[str]]) -> JointSuccess:
    """Measure joint success in groups of scenarios.

    Args:
      outcomes: of one label source.
      groups: names of the scenarios of each pair or dialogue; at least one group.
    """
    place = {name: i for i, name in enumerate(outcomes.scenarios)}
    columns = [np.array([place[name] for name in group]) for group in groups]
    credit = np.stack([outcomes.value[:, own].prod(axis=1) for own in columns], axis=1)
    by_unit: dict[int, list[str]] = {}
    for g, own in enumerate(columns):
        for unit in outcomes.unit[own].tolist():
            by_unit.setdefault(unit, []).append(str(g))
    unit = join_units([str(g) for g in range(len(groups))], by_unit.values())
    return JointSuccess(credit, estimate_means(credit, np.zeros(len(groups), np.int64), unit))
