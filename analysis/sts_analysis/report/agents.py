"""What a report says of each agent under one set of labels."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from sts.errors import UnknownName
from sts_analysis.inputs.subject import Subject
from sts_analysis.report.schema import (
    Agent,
    Consistency,
    Corrected,
    Estimate,
    Group,
    GuessPenalised,
    LabelSet,
    Standing,
    TimeToSuccess,
)
from sts_analysis.report.values import ends, number, points
from sts_analysis.statistics import label_set as sets
from sts_analysis.statistics.consistency import consistency
from sts_analysis.statistics.corrected import correct_rates
from sts_analysis.statistics.group_rates import GroupRates, group_rates
from sts_analysis.statistics.guess_penalised import guess_penalised
from sts_analysis.statistics.pooled_correlation import pooled_correlation
from sts_analysis.statistics.rank_sets import rank_sets, ranks
from sts_analysis.statistics.success_times import SuccessTimes, success_times


def standings(label_set: sets.LabelSet) -> tuple[Standing, ...]:
    """Each agent's place: ranked ones first, then those without a rank, then baselines."""
    rankings = label_set.rankings.number[label_set.ranked]
    found = label_set.comparisons
    sets = rank_sets(rankings, found.pairs, found.difference, found.separated)
    best_and_worst = [(int(best), int(worst)) for best, worst in sets]
    places = ranks(label_set.main.rate[label_set.ranked], rankings)
    position = {int(row): i for i, row in enumerate(label_set.ranked)}
    by_agent = label_set.continuations.groupby("agent")
    sights = by_agent["sees"].first()
    totals = by_agent[["annotations", "cannot_judge", "unjudgeable"]].sum()
    y = by_agent["y"]
    made, judged = y.size(), y.count()
    entries = []
    for row in label_set.order:
        agent, i = label_set.outcomes.agents[row], position.get(int(row))
        entries.append(
            Standing(
                agent=agent,
                pass_rate=number(label_set.main.rate[row]),
                interval=ends(label_set.main.interval[row]),
                rank=None if i is None else places[i],
                rank_set=None if i is None else best_and_worst[i],
                continuations=int(made[agent]),
                judged=int(judged[agent]),
                annotations=int(totals["annotations"][agent]),
                cannot_judge=int(totals["cannot_judge"][agent]),
                unjudgeable=int(totals["unjudgeable"][agent]),
                sees=str(sights[agent]),
            )
        )
    return tuple(entries)


def side_by_side(label_set: sets.LabelSet) -> LabelSet:
    """The set in short, to stand beside the others."""
    table, pairs = label_set.continuations, label_set.compared()
    return LabelSet(
        agents=standings(label_set),
        annotations=int(table["annotations"].sum()),
        judged=int(table["y"].notna().sum()),
        unjudgeable=int(table["unjudgeable"].sum()),
        separated_pairs=int(label_set.comparisons.separated[pairs].sum()),
        pairs=len(pairs),
    )


def agents(
    label_set: sets.LabelSet,
    ratings: pd.DataFrame,
    *,
    suite: Subject,
    references: pd.DataFrame,
    blind: str | None = None,
) -> tuple[Agent, ...]:
    """Everything about each agent, in the order of `standings`.

    Args:
      label_set: the main one.
      ratings: the table that it was made from.
      suite: what was tested.
      references: rows that have a truth, each answer once, to correct human pass rates with.
      blind: the agent that guesses, if one is named.

    Raises:
      UnknownName: there is no such agent.
    """
    if blind is not None and blind not in label_set.outcomes.agents:
        raise UnknownName("agent", blind, label_set.outcomes.agents)
    outcomes, summary, main = label_set.outcomes, label_set.summary, label_set.main
    names = tuple(outcomes.categories[c] for c in outcomes.category)
    categories = group_rates(outcomes, summary, names, exact=label_set.exact)
    kinds = group_rates(outcomes, summary, outcomes.kind, exact=label_set.exact)
    times = success_times(label_set, ratings, scenarios=suite.scenarios)
    notes = ratings.groupby("agent")["notes"].unique()
    scenarios = np.array(outcomes.scenarios, dtype=object)
    several = len(outcomes.categories) > 1
    within = pooled_correlation(summary, outcomes.category)
    corrections = correct_rates(label_set, ratings, references)
    entries = []
    for row, standing in zip(label_set.order, standings(label_set), strict=True):
        unjudged = standing.continuations - standing.judged - standing.unjudgeable
        judged_on = int((summary.number[row] > 0).sum())
        correction = corrections.get(standing.agent)
        entries.append(
            Agent(
                **vars(standing),
                notes=tuple(sorted({n for n in notes[standing.agent] if n})),
                standard_error=number(main.error[row]),
                method=main.method[row],
                intervals=_estimates(label_set, row),
                ranking=int(label_set.rankings.number[row]) or None,
                unranked=None if standing.rank else _unranked(label_set, row, unjudged),
                unjudged=unjudged,
                scenarios=int(label_set.continued[row].sum()),
                missing=tuple(scenarios[~label_set.continued[row]]),
                scenarios_judged=judged_on,
                categories=_groups(categories, row, label_set.target),
                kinds=_groups(kinds, row, label_set.target),
                consistency=Consistency(
                    **consistency(outcomes.values[row], outcomes.category, outcomes.unit)._asdict(),
                    icc_within_categories=number(within[row]) if several else None,
                ),
                time_to_success=_time_to_success(times[row]),
                corrected_pass_rate=None
                if correction is None or isinstance(correction, str)
                else Corrected(**correction._asdict()),
                corrected_reason=correction if isinstance(correction, str) else None,
                guess_penalised=_penalised(label_set, int(row), blind),
            )
        )
    return tuple(entries)


def _penalised(label_set: sets.LabelSet, row: int, blind: str | None) -> GuessPenalised | None:
    outcomes = label_set.outcomes
    if blind is None:
        return None
    found = guess_penalised(
        label_set.whole,
        outcomes.category,
        outcomes.categories,
        agent=row,
        blind=outcomes.agents.index(blind),
        target=label_set.target,
        unit=outcomes.unit,
    )
    return GuessPenalised(**found._asdict(), blind=blind)


def _unranked(label_set: sets.LabelSet, row: int, unjudged: int) -> str:
    """Says why an agent stands outside the rankings."""
    if label_set.outcomes.baseline[row]:
        return "baseline: it sees more than an agent may"
    nothing = "nothing judged yet" if unjudged else "nobody could judge what it did"
    return f"not ranked: {label_set.rankings.reason[row] or nothing}"


def _estimates(label_set: sets.LabelSet, row: int) -> dict[str, Estimate]:
    return {
        target: Estimate(
            interval=ends(rates.interval[row]),
            standard_error=number(rates.error[row]),
            method=rates.method[row],
        )
        for target, rates in label_set.rates.items()
    }


def _groups(groups: Mapping[str, GroupRates], row: int, target: str) -> dict[str, Group]:
    return {
        name: Group(
            pass_rate=number(rates[target].rate[row]),
            interval=ends(rates[target].interval[row]),
            intervals={key: ends(every.interval[row]) for key, every in rates.items()},
            method=rates[target].method[row],
            scenarios=int((judged[row] > 0).sum()),
            judged=int(judged[row].sum()),
        )
        for name, (rates, judged) in groups.items()
    }


def _time_to_success(times: SuccessTimes) -> TimeToSuccess:
    return TimeToSuccess(
        curve=points(times.curve),
        reached=points(times.reached),
        successes_curve=points(times.successes_curve),
        mean_area=number(times.mean_area),
        interval=ends(times.interval),
        horizon=times.horizon,
        reason=times.reason,
    )
