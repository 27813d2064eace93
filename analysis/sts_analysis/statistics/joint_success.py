"""Joint success: credit for a contrast pair or a dialogue, of which all scenarios must succeed.

Continuations of different scenarios are independent, so the chance that all succeed is the product
of their rates. Scenarios of a group resemble each other; a group is one value, and a part of one
unit.
"""

from collections.abc import Sequence

import numpy as np

from sts_analysis.statistics.means import Means, estimate_means
from sts_analysis.statistics.tabulation import Outcomes


def measure_joint_success(
    outcomes: Outcomes, groups: Sequence[Sequence[str]]
) -> tuple[np.ndarray, Means]:
    """Measure the joint success of A agents in G groups of scenarios.

    Args:
      outcomes: of one label source, whose units hold whole groups.
      groups: names of the scenarios of each pair or dialogue; at least one group.

    Returns:
      The credit, float64[A, G], NaN where a scenario of the group has no value; and its means over
      groups, all groups alike.
    """
    place = {name: i for i, name in enumerate(outcomes.scenarios)}
    columns = [np.array([place[name] for name in group]) for group in groups]
    credit = np.stack([outcomes.value[:, group].prod(axis=1) for group in columns], axis=1)
    unit = np.array([outcomes.unit[group[0]] for group in columns])
    return credit, estimate_means(credit, np.zeros(len(groups), np.int64), unit)
