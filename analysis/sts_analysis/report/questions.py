"""What a report says to what users ask: how sure is the first, and who is hardly worse."""

import numpy as np
import pandas as pd

from sts.errors import UnknownName
from sts_analysis.report.schema_questions import Fragile, Improvement, NotWorse, Profiled, Questions
from sts_analysis.report.values import entries, number
from sts_analysis.statistics.fragility import fragility
from sts_analysis.statistics.improvement import improvements
from sts_analysis.statistics.label_set import LabelSet
from sts_analysis.statistics.profiles import LEVELS, profile
from sts_analysis.statistics.sampling import scenario_weights


def questions(
    main: LabelSet,
    ratings: pd.DataFrame,
    *,
    seed: int,
    margin: float | None = None,
    reference: str | None = None,
) -> Questions:
    """Answers of one set of labels.

    Args:
      main: the report's.
      ratings: the table that it was made from.
      seed: of the bands.
      margin: as a share, by which an agent may be worse; None if nobody asks.
      reference: whom agents are held against; the first of each ranking unless one is named.

    Raises:
      UnknownName: the reference is no ranked agent.
    """
    ranked = [main.outcomes.agents[row] for row in main.ranked]
    if reference is not None and reference not in ranked:
        raise UnknownName("ranked agent", reference, ranked)
    return Questions(
        fragility=_fragility(main, ratings),
        not_worse=() if margin is None else _not_worse(main, margin, reference),
        improvements=_improvements(main),
        profiles=_profiles(main, seed),
    )


def _fragility(main: LabelSet, ratings: pd.DataFrame) -> tuple[Fragile, ...]:
    outcomes = main.outcomes
    said = ratings[
        (ratings["truth"] == "")
        & (ratings["source"] == main.source)
        & ~ratings["verdict"].isin(("", "cannot_judge"))
    ]
    agent = pd.Index(outcomes.agents).get_indexer(pd.Index(said["agent"]))
    scenario = pd.Index(outcomes.scenarios).get_indexer(pd.Index(said["scenario"]))
    weights = scenario_weights(main.whole.number > 0, outcomes.category) / main.parts.judged
    answers = said.groupby("continuation")["verdict"].transform("size").to_numpy()
    worth = weights[agent, scenario] / answers
    success = (said["verdict"] == "success").to_numpy()
    entries = []
    for ranking in range(1, int(main.rankings.number.max(initial=0)) + 1):
        rate = np.where(main.rankings.number == ranking, main.main.rate, np.nan)
        found = fragility(rate, agent, success, worth)
        if found is not None:
            names = (outcomes.agents[found.first], outcomes.agents[found.rival])
            entries.append(Fragile(ranking, *names, found.flips, found.judgements))
    return tuple(entries)


def _not_worse(main: LabelSet, margin: float, reference: str | None) -> tuple[NotWorse, ...]:
    names = [main.outcomes.agents[row] for row in main.ranked]
    ranking = main.rankings.number[main.ranked]
    firsts = {names[np.flatnonzero(ranking == one)[0]] for one in set(ranking.tolist())}
    compared = main.comparisons
    entries = []
    for i in main.compared():
        a, b = (names[row] for row in compared.pairs[i])
        for agent, other, sign in ((b, a, -1.0), (a, b, 1.0)):
            if other != reference if reference else other not in firsts:
                continue
            low, high = compared.one_sided[i]
            bound = number(-high if sign < 0 else low)
            entries.append(
                NotWorse(
                    agent=agent,
                    reference=other,
                    difference=number(sign * compared.difference[i]),
                    bound=bound,
                    margin=margin,
                    shown=bound is not None and bound > -margin,
                    scenarios=int(compared.scenarios[i]),
                )
            )
    return tuple(entries)


def _improvements(main: LabelSet) -> tuple[Improvement, ...]:
    rows = main.compared()
    pairs = main.comparisons.pairs[rows]
    summary, category = main.summary.at(main.ranked), main.outcomes.category
    found = improvements(summary, category, pairs, main.outcomes.unit)
    a, b = main.names_of(rows)
    return entries(
        Improvement,
        a=a,
        b=b,
        chance=found.chance,
        interval=found.interval,
        scenarios=main.comparisons.scenarios[rows],
    )


def _profiles(main: LabelSet, seed: int) -> tuple[Profiled, ...]:
    words = [f"{level:g}" for level in LEVELS]
    entries = []
    for row in main.order:
        found = profile(
            main.summary, int(row), main.outcomes.category, seed=seed, unit=main.outcomes.unit
        )
        if found.scenarios:
            band = [(float(low), float(high)) for low, high in found.band]
            entries.append(
                Profiled(
                    agent=main.outcomes.agents[row],
                    scenarios=found.scenarios,
                    shares=dict(zip(words, found.share.tolist(), strict=True)),
                    band=dict(zip(words, band, strict=True)),
                )
            )
    return tuple(entries)
