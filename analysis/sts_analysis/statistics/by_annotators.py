"""What a set of labels says with annotators taken into account: adjusted for, and as a sample."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sts_analysis.statistics import sampling
from sts_analysis.statistics.adjusted import Adjusted, adjusted
from sts_analysis.statistics.judgement_shares import Shares, judgement_shares
from sts_analysis.statistics.label_set import COMPARISON_DRAWS, LabelSet
from sts_analysis.statistics.other_annotators import (
    OtherDifferences,
    between,
    other_differences,
    other_rates,
)
from sts_analysis.statistics.pass_rates import Rates


class Others(NamedTuple):
    """What holds for other annotators of the same kind.

    Attributes:
      number: int64[A], annotators of each agent.
      rates: of the A agents, by target.
      differences: of the pairs of `LabelSet.comparisons`.
    """

    number: np.ndarray
    rates: dict[str, Rates]
    differences: OtherDifferences


class ByAnnotators(NamedTuple):
    """The same labels, with who judged.

    Attributes:
      ranked: of the ranked agents, what each annotator gave.
      adjusted: the pairs of `LabelSet.comparisons`, with annotators adjusted for.
      others: None where one person judged.
    """

    ranked: Shares
    adjusted: Adjusted
    others: Others | None


def by_annotators(
    main: LabelSet, ratings: pd.DataFrame, *, seed: int, draws: int = COMPARISON_DRAWS
) -> ByAnnotators | None:
    """Analyses who judged whom; None where that is not given.

    Args:
      main: human labels, analysed.
      ratings: their checked table, as `valued` returns it.
      seed: of the multiplier bootstrap.
      draws: of the multiplier bootstrap.
    """
    shares = judgement_shares(ratings, main.outcomes, main.parts)
    if not shares.annotators:
        return None
    ranked, plain = shares.of_agents(main.ranked), main.comparisons
    beside = adjusted(
        ranked,
        main.whole.at(main.ranked),
        main.outcomes.category,
        plain,
        target=main.target,
        seed=seed,
        draws=draws,
        unit=main.outcomes.unit,
    )
    if len(shares.annotators) == 1:
        return ByAnnotators(ranked, beside, None)
    weights = sampling.scenario_weights(main.whole.number > 0, main.outcomes.category)
    apart = between(shares, weights)
    scenarios = (main.whole.number > 0).sum(axis=1)
    others = Others(
        apart.number,
        {name: other_rates(own, apart, scenarios) for name, own in main.rates.items()},
        other_differences(ranked, weights[main.ranked], plain.pairs, beside, plain.scenarios),
    )
    return ByAnnotators(ranked, beside, others)
