"""What a report says of the rates that a rule's verdicts on what nobody judged help to find."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from sts_analysis.inputs.subject import Subject
from sts_analysis.report.schema_powered import Powered, PoweredPair, PoweredRate
from sts_analysis.report.values import ends, entries, number
from sts_analysis.statistics import prediction_powered as estimator
from sts_analysis.statistics import sampling
from sts_analysis.statistics.label_set import LabelSet
from sts_analysis.statistics.outcomes import arrange

HELPERS = ("automatic", "model")
"""Whose verdicts may help, the first that there is."""
ASSUMES = (
    "what was judged is a random part of each scenario's continuations, and the scenarios judged "
    "a random part of their category"
)
NO_HELP = "needs verdicts of a rule or a model on what nobody judged"
ALL = "all of it is judged: there is nothing to predict"
NOTHING = "nothing judged"
SETTLED = "a rule has settled some of it, so what has a value is no random part"
UNSAID = "the verdicts do not cover all of its continuations in any category"
PICKED = (
    "what was judged is no random part: within scenarios the verdicts on it differ from those on "
    "all by more than chance"
)


class _Laid(NamedTuple):
    """People's and the helper's verdicts, laid out, and what a report must say of both.

    Attributes:
      beside: [A, S].
      made: bool[A, C], an agent has a continuation in a category.
      said: bool[A, C], and the helper has a verdict on all of these.
    """

    beside: estimator.Beside
    made: np.ndarray
    said: np.ndarray


def powered(sets: Mapping[str, LabelSet], ratings: pd.DataFrame, suite: Subject) -> Powered | None:
    """Returns the rates by people with a rule's help; None where people judged nothing, or all.

    Args:
      sets: labels by source.
      ratings: the table that they were made from.
      suite: what the report is about.
    """
    main = sets.get("human")
    if main is None:
        return None
    open_ = main.continuations["y"].isna() & ~main.continuations["unjudgeable"]
    if not open_.any():
        return None
    by = next((source for source in HELPERS if source in sets), None)
    if by is None:
        return Powered(None, 0, bool(suite.worlds), (), (), ASSUMES, NO_HELP)
    laid = _lay(main, sets[by])
    unit, fold = _worlds(main, suite)
    category = main.outcomes.category
    weight = estimator.fitted_weights(laid.beside, category, fold, unit)
    helped, alone = (
        estimator.powered_rates(laid.beside, category, used, unit)
        for used in (weight, np.zeros(weight.shape))
    )
    why = _reasons(main, ratings, laid, alone)
    rows = [row for row in main.order if laid.beside.total[row].any()]
    return Powered(
        by=by,
        folds=int(fold.max()) + 1,
        worlds_known=bool(suite.worlds),
        agents=tuple(_rate(main, laid, helped, alone, row, why[row]) for row in rows),
        pairs=_pairs(main, helped, alone, why),
        assumes=ASSUMES,
        reason=None,
    )


def _lay(main: LabelSet, helper: LabelSet) -> _Laid:
    """Both sets are of the same continuations, and so laid out alike."""
    people, rule = main.outcomes.values, helper.outcomes.values
    table = main.continuations
    there = arrange(
        table.assign(there=np.where(table["unjudgeable"], np.nan, 1.0)),
        "there",
        scenarios=_scenarios(main),
    ).values
    judgeable = np.isfinite(there)
    category = main.outcomes.category
    member = category[:, None] == np.arange(len(main.outcomes.categories))
    unsaid = (judgeable & ~np.isfinite(rule)).sum(axis=-1) @ member
    made = judgeable.sum(axis=-1) @ member > 0
    said = made & (unsaid == 0)
    held = np.where(said[:, category, None], rule, 0.0)  # one verdict on all moves no rate
    return _Laid(estimator.lay_beside(people, held, judgeable), made, said)


def _scenarios(main: LabelSet) -> pd.DataFrame:
    outcomes = main.outcomes
    names = [outcomes.categories[c] for c in outcomes.category]
    return pd.DataFrame({"scenario": outcomes.scenarios, "category": names, "kind": outcomes.kind})


def _worlds(main: LabelSet, suite: Subject) -> tuple[np.ndarray | None, np.ndarray]:
    """The unit of each scenario, which is its world with all that belongs to it, and its fold."""
    names = [suite.worlds.get(one, one) for one in main.outcomes.scenarios]
    world = pd.factorize(pd.Series(names))[0]
    groups = [
        np.flatnonzero(code == one)
        for code in (world, main.outcomes.unit)
        if code is not None
        for one in np.unique(code)
    ]
    unit = sampling.units(len(names), [own for own in groups if own.size > 1])
    if unit is None:
        return None, estimator.folds(names)
    first = pd.Series(names).groupby(unit).transform("min")
    return unit, estimator.folds(list(first))


def _reasons(
    main: LabelSet, ratings: pd.DataFrame, laid: _Laid, alone: estimator.Powered
) -> dict[int, str | None]:
    """Why an agent has no such rate, by its row."""
    beside, outcomes = laid.beside, main.outcomes
    judged, total = beside.judged.sum(axis=1), beside.total.sum(axis=1)
    settled = set(ratings.loc[(ratings["source"] == "settled") & (ratings["truth"] == ""), "agent"])
    picked = estimator.picked(beside, outcomes.category)
    covered = laid.said.sum(axis=1) > 0
    why: dict[int, str | None] = {}
    for row, name in enumerate(outcomes.agents):
        worth = alone.worth[row]
        few = (
            f"needs judgements in {estimator.FEWEST_WORLDS:.0f} worlds of equal size, or in more "
            f"of unequal; there are {alone.units[row]}, worth {worth:.1f}"
        )
        why[row] = next(
            (
                words
                for words, holds in (
                    (NOTHING, judged[row] == 0),
                    (ALL, judged[row] == total[row]),
                    (SETTLED, name in settled),
                    (UNSAID, not covered[row]),
                    (few, worth < estimator.FEWEST_WORLDS),
                    (PICKED, picked[row]),
                )
                if holds
            ),
            None,
        )
    return why


def _rate(
    main: LabelSet,
    laid: _Laid,
    helped: estimator.Powered,
    alone: estimator.Powered,
    row: int,
    why: str | None,
) -> PoweredRate:
    has = why is None
    rate, square = float(helped.rate[row]), helped.error[row] ** 2
    unsaid = np.flatnonzero(laid.made[row] & ~laid.said[row])
    ratio = alone.error[row] ** 2 / square if square > 0 else np.nan
    judged = int(laid.beside.judged[row].sum())
    people = alone.rate[row], alone.interval[row], _method(alone, row)
    if why == SETTLED:
        whole = main.rates["sampled"]
        people = whole.rate[row], whole.interval[row], whole.method[row]
    return PoweredRate(
        agent=main.outcomes.agents[row],
        judged=judged,
        continuations=int(laid.beside.total[row].sum()),
        pass_rate=number(people[0]),
        pass_rate_interval=ends(people[1]),
        powered=number(np.clip(rate, 0.0, 1.0)) if has else None,
        interval=ends(helped.interval[row]) if has else None,
        clipped=has and not 0 <= rate <= 1,
        weight=number(helped.weight[row]) if has else None,
        effective=number(judged * ratio) if has else None,
        worlds=int(alone.units[row]),
        alone=tuple(main.outcomes.categories[c] for c in unsaid) if has else (),
        method=f"people: {people[2]}" + (f"; powered: {_method(helped, row)}" if has else ""),
        reason=why,
    )


def _method(rates: estimator.Powered, row: int) -> str:
    df = f"{rates.df[row]:.1f} df"
    if rates.ordinary[row]:
        return f"stratified t, {df}"
    if not np.isfinite(rates.error[row]):
        return "Wilson, worlds as trials (the spread is not known)"
    if not np.isfinite(rates.df[row]):
        return "Wilson, worlds as trials (no spread seen)"
    return f"Wilson, t with {df}"


def _pairs(
    main: LabelSet,
    helped: estimator.Powered,
    alone: estimator.Powered,
    why: Mapping[int, str | None],
) -> tuple[PoweredPair, ...]:
    rows = main.ranked[main.comparisons.pairs[main.compared()]].reshape(-1, 2)
    rows = rows[[why[a] is None and why[b] is None for a, b in rows.tolist()]]
    by_people, by_both = (estimator.powered_differences(one, rows) for one in (alone, helped))
    names = main.outcomes.agents
    return entries(
        PoweredPair,
        a=[names[a] for a, _ in rows.tolist()],
        b=[names[b] for _, b in rows.tolist()],
        by_people=by_people.difference,
        by_people_interval=by_people.interval,
        powered=by_both.difference,
        interval=by_both.interval,
    )
