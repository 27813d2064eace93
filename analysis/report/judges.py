"""What a report says of who judged whom: the audit, adjusted differences, other annotators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from analysis.report import schema_judges as schema
from analysis.report.likely import by_group, likely
from analysis.report.values import ends, number
from analysis.report.words import listed
from analysis.statistics import sampling
from analysis.statistics.adjusted import Adjusted, adjusted
from analysis.statistics.comparisons import ALPHA
from analysis.statistics.judgement_shares import Shares, judgement_shares
from analysis.statistics.label_set import COMPARISON_DRAWS, LabelSet
from analysis.statistics.other_annotators import between, other_differences, other_rates
from sts.annotations import imbalance

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
    shares = judgement_shares(worth, main.outcomes)
    found = audit(ratings, seed=seed)
    if not shares.annotators or found is None:
        return schema.Judges(UNKNOWN, found, (), (), (), (), UNKNOWN)
    ranked = shares.of_agents(main.ranked)
    beside = adjusted(
        ranked,
        main.summary.at(main.ranked),
        main.outcomes.category,
        main.comparisons,
        target=main.target,
        seed=seed,
        draws=COMPARISON_DRAWS,
        unit=main.outcomes.unit,
    )
    one = len(found.annotators) == 1
    pairs = () if one else _other_pairs(main, ranked, beside)
    return schema.Judges(
        whose=whose(found.annotators, pairs),
        audit=found,
        effects=() if one else _effects(ranked, beside),
        adjusted=_adjusted(main, beside),
        other_rates=() if one else _other_rates(main, shares, pairs),
        other_pairs=pairs,
        other_reason=ONE if one else None,
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
    alone = own["continuation"].astype(str).radd("=")
    found = imbalance.of_rows(
        own["clip"].where(own["clip"] != "", alone).tolist(),
        own["scenario"].tolist(),
        own["agent"].tolist(),
        own["annotator"].tolist(),
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


def _effects(ranked: Shares, beside: Adjusted) -> tuple[schema.AnnotatorEffect, ...]:
    effects = beside.effects
    told = effects.told(np.eye(len(ranked.annotators)))
    return tuple(
        schema.AnnotatorEffect(
            annotator=name,
            share=float(effects.mean[k]),
            effect=number(effects.effect[k]) if told[k] else None,
        )
        for k, name in enumerate(ranked.annotators)
    )


def _adjusted(main: LabelSet, beside: Adjusted) -> tuple[schema.AdjustedPair, ...]:
    names = [main.outcomes.agents[row] for row in main.ranked]
    plain = main.comparisons
    return tuple(
        schema.AdjustedPair(
            a=names[plain.pairs[i, 0]],
            b=names[plain.pairs[i, 1]],
            told=bool(beside.told[i]),
            apart=float(beside.apart[i]),
            difference=number(beside.difference[i]),
            interval=ends(beside.interval[i]) if beside.told[i] else None,
            p=number(beside.p[i]),
            p_adjusted=number(beside.p_adjusted[i]),
            separated=bool(beside.p_adjusted[i] < ALPHA),
            plain_separated=bool(plain.separated[i]),
        )
        for i in main.compared()
        if np.isfinite(plain.difference[i])
    )


def _weights(main: LabelSet) -> np.ndarray:
    return sampling.scenario_weights(main.summary.number > 0, main.outcomes.category)


def _other_rates(
    main: LabelSet, shares: Shares, pairs: Sequence[schema.OtherPair]
) -> tuple[schema.OtherRate, ...]:
    places = _places(main, pairs)
    found = between(shares, _weights(main))
    scenarios = (main.summary.number > 0).sum(axis=1)
    rates = {name: other_rates(own, found, scenarios) for name, own in main.rates.items()}
    return tuple(
        schema.OtherRate(
            agent=main.outcomes.agents[row],
            annotators=int(found.number[row]),
            rank_set=places.get(main.outcomes.agents[row]),
            interval=ends(rates[main.target].interval[row]),
            intervals={name: ends(own.interval[row]) for name, own in rates.items()},
            method=rates[main.target].method[row],
        )
        for row in main.order
    )


def _places(main: LabelSet, pairs: Sequence[schema.OtherPair]) -> dict[str, tuple[int, int]]:
    """The ranks that each ranked agent can hold by what is separated for other annotators."""
    number = main.rankings.number[main.ranked]
    names = [main.outcomes.agents[row] for row in main.ranked]
    places = {
        name: [1, int((number == own).sum())] for name, own in zip(names, number, strict=True)
    }
    for pair in pairs:
        if pair.separated and pair.difference is not None:
            better, worse = (pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a)
            places[worse][0] += 1
            places[better][1] -= 1
    return {name: (best, worst) for name, (best, worst) in places.items()}


def _other_pairs(main: LabelSet, ranked: Shares, beside: Adjusted) -> tuple[schema.OtherPair, ...]:
    names = [main.outcomes.agents[row] for row in main.ranked]
    plain = main.comparisons
    found = other_differences(
        ranked, _weights(main)[main.ranked], plain.pairs, beside, plain.scenarios
    )
    return tuple(
        schema.OtherPair(
            a=names[plain.pairs[i, 0]],
            b=names[plain.pairs[i, 1]],
            difference=number(found.difference[i]),
            interval=ends(found.interval[i]),
            p=number(found.p[i]),
            p_adjusted=number(found.p_adjusted[i]),
            separated=bool(found.p_adjusted[i] < ALPHA),
        )
        for i in main.compared()
    )
