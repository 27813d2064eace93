"""Pass rates of every agent over the scenarios of each category and of each kind."""

from typing import NamedTuple

import numpy as np

from sts_analysis.statistics import settled
from sts_analysis.statistics.outcomes import Outcomes, Summary
from sts_analysis.statistics.pass_rates import TARGETS, Rates, pass_rates
from sts_analysis.statistics.pooled_correlation import pooled_correlation


class GroupRates(NamedTuple):
    """Pass rates of A agents over one group of scenarios.

    Attributes:
      rates: by target.
      number: int64[A, scenarios of the group], judged continuations.
    """

    rates: dict[str, Rates]
    number: np.ndarray


def group_rates(
    outcomes: Outcomes,
    summary: Summary,
    labels: tuple[str, ...],
    *,
    exact: np.ndarray | None = None,
) -> dict[str, GroupRates]:
    """Pass rates by group, in the order in which the scenarios first name each.

    A group of one category out of several borrows the spread of all (`pooled_correlation`).

    Args:
      outcomes: of all scenarios.
      summary: of the same.
      labels: S names of groups, "" where a scenario is in none.
      exact: bool[A], agents whose continuations of a scenario are all the same.
    """
    several = len(outcomes.categories) > 1
    rho = pooled_correlation(summary, outcomes.category) if several else None
    names = np.array(labels, dtype=object)
    groups = {}
    for name in filter(None, dict.fromkeys(labels)):
        part = outcomes.of_scenarios(names == name)
        reduced = settled.of_suite(part)
        alone = len(part.categories) == 1
        rates = {
            target: pass_rates(
                reduced,
                part.category,
                target=target,
                correlation=rho if alone else None,
                unit=part.unit,
                exact=exact,
            )
            for target in TARGETS
        }
        groups[name] = GroupRates(rates, reduced.number)
    return groups
