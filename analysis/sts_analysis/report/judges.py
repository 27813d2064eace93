"""What a report says of who judged whom: the audit, adjusted differences, other annotators."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from sts.annotations import imbalance
from sts_analysis.report import schema_judges as schema
from sts_analysis.report.likely import by_group, likely
from sts_analysis.report.values import ends, entries, number
from sts_analysis.report.words import listed
from sts_analysis.statistics.adjusted import Adjusted
from sts_analysis.statistics.by_annotators import ByAnnotators, Others, by_annotators
from sts_analysis.statistics.comparisons import ALPHA
from sts_analysis.statistics.label_set import LabelSet
from sts_analysis.statistics.other_annotators import OtherDifferences
from sts_analysis.statistics.rank_sets import rank_sets

CONFOUNDED, DECIDE = "annotators_confounded", "annotators_decide"
ONE = "needs two annotators: what one person says does not tell what others would"
LABELS = {
    "automatic": "No person judged: it holds for the labels of a rule.",
    "model": "No person judged: it holds for the labels of a model.",
}
UNKNOWN = "Who judged is not given: for whose judgement it holds is not known."


def judges(
    main: LabelSet, ratings: pd.DataFrame, worth: pd.DataFrame, *, seed: int
) -> schema.Judges:
    """Returns for whose judgement the ranking holds, and what it would be for others'.

    Args:
      main: the set of labels that the report rests on.
      ratings: the checked table.
      worth: the same, as `valued` returns it.
      seed: of every random draw.
    """
    if main.source != "human":
        return schema.Judges(LABELS[main.source], None, (), (), (), (), None)
    found = audit(ratings, seed=seed)
    who = by_annotators(main, worth, seed=seed)
    if who is None or found is None:
        return schema.Judges(UNKNOWN, found, (), (), (), (), UNKNOWN)
    pairs = _other_pairs(main, who.others.differences) if who.others else ()
    return schema.Judges(
        whose=whose(found.annotators, pairs),
        audit=found,
        effects=_effects(who) if who.others else (),
        adjusted=_adjusted(main, who.adjusted),
        other_rates=_other_rates(main, who.others) if who.others else (),
        other_pairs=pairs,
        other_reason=None if who.others else ONE,
        likely=likely(ratings, seed=seed),
        by_group=by_group(ratings, seed=seed),
    )


def whose(annotators: Sequence[str], others: Sequence[schema.OtherPair]) -> str:
    """Says for whose judgement the numbers of a report hold, and what of it holds for others."""
    if len(annotators) == 1:
        return (
            f"This holds for the judgement of {annotators[0]} alone; what others would say is not "
            "known."
        )
    these = (
        f"This holds for the judgement of these {len(annotators)} annotators: {listed(annotators)}."
    )
    if not others:
        return these
    kept = [f"{pair.a} and {pair.b}" for pair in others if pair.separated]
    if not kept:
        return f"{these} Of other annotators like them it does not say who is better."
    if len(kept) == 1 < len(others):
        return f"{these} For other annotators like them {kept[0]} stay apart, and no other two."
    number = "all" if len(kept) == len(others) else f"{len(kept)} of {len(others)}"
    return f"{these} For other annotators like them {number} pairs are separated."


def audit(ratings: pd.DataFrame, *, seed: int) -> schema.Audit | None:
    """Returns who judged which agent, people's judgements alone; None where that is not given.

    Args:
      ratings: a checked ratings table; references are left out.
      seed: of the permutations.
    """
    own = ratings[(ratings["truth"] == "") & (ratings["source"] == "human")]
    own = own[(own["annotator"] != "") & (own["verdict"] != "")]
    if own.empty:
        return None
    clip = pd.factorize(own["clip"])[0] + own["continuation"].max() + 1
    found = imbalance.measure_imbalance(
        np.where(own["clip"] != "", clip, own["continuation"]),
        own["scenario"].to_numpy(),
        own["agent"].to_numpy(),
        own["annotator"].to_numpy(),
        seed=seed,
    )
    kept = found._asdict()
    del kept["anchors"], kept["anchors_judged"]
    return schema.Audit(**kept, sentence=found.sentence)


def alarms(found: schema.Judges) -> tuple[schema.Alarm, ...]:
    """Returns what a reader must know of who judged before they read a number."""
    untold = [pair for pair in found.adjusted if not pair.told]
    other = [
        pair for pair in found.adjusted if pair.told and pair.separated != pair.plain_separated
    ]
    lines = []
    if untold:
        every = len(untold) == len(found.adjusted)
        lines.append(
            schema.Alarm(
                CONFOUNDED,
                _names(untold),
                f"{'Agents' if every else 'Some agents'} cannot be told apart from their "
                f"annotators: {_pairs(untold)} were judged by different people, and no clips that "
                "these have in common connect them. A difference between such agents may be one "
                "between people. Have some clips of each judged by those who judged the other.",
            )
        )
    for separated, words in (
        (True, "separated as judged, and not with annotators adjusted for"),
        (False, "not separated as judged, and separated with annotators adjusted for"),
    ):
        own = [pair for pair in other if pair.plain_separated == separated]
        if own:
            text = f"Who is ahead depends on who judged: {_pairs(own)}: {words}."
            lines.append(schema.Alarm(DECIDE, _names(own), text))
    return tuple(lines)


def _names(pairs: Iterable[schema.AdjustedPair]) -> tuple[tuple[str, str], ...]:
    return tuple((pair.a, pair.b) for pair in pairs)


def _pairs(pairs: Sequence[schema.AdjustedPair]) -> str:
    return listed([f"{pair.a} – {pair.b}" for pair in pairs])


def _effects(who: ByAnnotators) -> tuple[schema.AnnotatorEffect, ...]:
    people, effects = who.ranked.annotators, who.adjusted.effects
    told = effects.told(np.eye(len(people)))
    return tuple(
        schema.AnnotatorEffect(
            annotator=name,
            share=float(effects.mean[k]),
            effect=number(effects.effect[k]) if told[k] else None,
        )
        for k, name in enumerate(people)
    )


def _adjusted(main: LabelSet, beside: Adjusted) -> tuple[schema.AdjustedPair, ...]:
    plain, rows = main.comparisons, main.compared()
    rows = rows[np.isfinite(plain.difference[rows])]
    a, b = main.names_of(rows)
    told = beside.told[rows]
    return entries(
        schema.AdjustedPair,
        a=a,
        b=b,
        told=told,
        apart=beside.apart[rows],
        difference=beside.difference[rows],
        interval=np.where(told[:, None], beside.interval[rows], np.nan),
        p=beside.p[rows],
        p_adjusted=beside.p_adjusted[rows],
        separated=beside.p_adjusted[rows] < ALPHA,
        plain_separated=plain.separated[rows],
    )


def _other_rates(main: LabelSet, others: Others) -> tuple[schema.OtherRate, ...]:
    sets = rank_sets(
        main.rankings.number[main.ranked],
        main.comparisons.pairs,
        others.differences.difference,
        others.differences.separated,
    )
    places = {
        int(row): (int(low), int(high)) for row, (low, high) in zip(main.ranked, sets, strict=True)
    }
    rates = others.rates
    return tuple(
        schema.OtherRate(
            agent=main.outcomes.agents[row],
            annotators=int(others.number[row]),
            rank_set=places.get(int(row)),
            interval=ends(rates[main.target].interval[row]),
            intervals={name: ends(own.interval[row]) for name, own in rates.items()},
            method=rates[main.target].method[row],
        )
        for row in main.order
    )


def _other_pairs(main: LabelSet, others: OtherDifferences) -> tuple[schema.OtherPair, ...]:
    rows = main.compared()
    a, b = main.names_of(rows)
    return entries(
        schema.OtherPair,
        a=a,
        b=b,
        difference=others.difference[rows],
        interval=others.interval[rows],
        p=others.p[rows],
        p_adjusted=others.p_adjusted[rows],
        separated=others.separated[rows],
    )
