"""Builds the content of `report.json` (schema `sts-report/1`) from ratings and scores."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.inputs.scores import PASS_RATE
from analysis.inputs.subject import Subject
from analysis.report.label_sets import (
    COMPARISON_DRAWS,
    RESAMPLES,
    LabelSet,
    analyse,
    comparison_entries,
    ranking_entries,
    scenario_entries,
)
from analysis.report.verdict import verdict, warnings
from analysis.statistics import accuracy, alpha, intervals, label_agreement, step_offset
from analysis.statistics.comparisons import Comparisons
from analysis.statistics.correlation_difference import difference_interval
from analysis.statistics.correlations import correlate
from analysis.statistics.holm import holm
from analysis.statistics.order_accuracy import order_accuracy
from analysis.statistics.spearman import spearman
from sts.errors import DamagedData, UnknownName
from sts.ratings import SIGHTS, SOURCES

SCHEMA = "sts-report/1"
GOLD = "interactive"
UNKNOWN = {
    "category": "No categories are given: there is no rate of a category, and all scenarios are "
    "taken as a sample of one kind.",
    "annotator": "It is not given who judged: nothing is known of the annotators' agreement and "
    "accuracy, and each row without the name of a continuation is taken for one of its own.",
    "horizon": "No horizon is given: time to success is not known.",
    "step": "No step of a success is given: time to success is not known.",
}
"""What a report says where nothing stands in a column."""
SEEN = {
    "observation": "its observations alone",
    "world": "the whole world",
    "rehearsal": "a rehearsal of the episode",
    "recording": "the recording",
}
"""What an agent was shown, in words."""


def build(
    ratings: pd.DataFrame,
    scores: pd.DataFrame,
    *,
    suite: Subject,
    target: str = "sampled",
    seed: int = 0,
    contrasts: Sequence[tuple[str, str]] = (),
    provenance: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Analyses a ratings table and returns the report as plain JSON values.

    Args:
      ratings: a checked ratings table.
      scores: a checked scores table, possibly empty.
      suite: what the report is about.
      target: "sampled" or "fixed", of the main intervals.
      seed: of every random draw; equal seeds give equal reports.
      contrasts: pairs of agents planned beforehand, adjusted among themselves (Holm).
      provenance: versions and commit, kept as they are.

    Returns:
      No float in it is NaN or infinite: what is unknown is None, with a reason beside it.

    Raises:
      DamagedData: the table holds no continuation of an agent.
      UnknownName: a contrast names no ranked agent, or two that are not ranked together.
    """
    own = ratings[ratings["truth"] == ""]
    if own.empty:
        raise DamagedData(
            f"{suite.name}: expected continuations of agents, found only reference episodes"
        )
    references = ratings[(ratings["truth"] != "") & (ratings["source"] == "human")]
    pooled = accuracy.accuracy(references, seed=seed)
    judged = own[~own["verdict"].isin(("", "cannot_judge"))]
    labels = {source: int((judged["source"] == source).sum()) for source in SOURCES}
    present = [source for source in SOURCES if labels[source]]
    used = present[0] if present else "human"
    sets = {
        source: analyse(ratings, source, suite=suite, target=target, reference=pooled, seed=seed)
        for source in present or [used]
    }
    main = sets[used]
    comparisons = comparison_entries(main)
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "suite": suite.name,
        "target": target,
        "level": intervals.LEVEL,
        "seed": seed,
        "draws": {"comparisons": COMPARISON_DRAWS, "scenario_resamples": RESAMPLES},
        "labels": labels,
        "labels_used": used,
        "counts": _counts(main, own, references),
        "unknown": _unknown(own),
        "rankings": ranking_entries(main),
        "agents": main.agents,
        "comparisons": comparisons,
        "contrasts": _contrasts(comparisons, contrasts),
        **_metrics(main, scores, target=target, seed=seed),
        "annotators": _annotators(ratings, references, seed=seed),
        "annotators_together": _together(ratings, references, pooled, seed=seed),
        "label_sets": {source: _slim(found) for source, found in sets.items()},
        "human_automatic": label_agreement.compare_labels(ratings)._asdict()
        if {"human", "automatic"} <= set(present)
        else None,
        "scenarios": scenario_entries(main),
        "provenance": dict(provenance or {}),
    }
    found: dict[str, Any] = plain(content)
    return found | {"verdict": verdict(found), "warnings": warnings(found)}


def plain(value: Any) -> Any:
    """Turns numpy values into Python's, and every float that is not finite into None."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist()) if not _blank(value) else None
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value


def _blank(values: np.ndarray) -> bool:
    return values.dtype.kind == "f" and bool(np.isnan(values).any())


def _unknown(own: pd.DataFrame) -> dict[str, str]:
    """What cannot be told because a column is not there, by the column."""
    judged = own[~own["verdict"].isin(("", "cannot_judge"))]
    successes = judged[judged["verdict"] == "success"]
    without = {
        "category": (own["category"] == "").all(),
        "annotator": len(judged) > 0 and (own["annotator"] == "").all(),
        "horizon": own["horizon"].isna().all(),
        "step": len(successes) > 0 and successes["step"].isna().all(),
    }
    return {column: UNKNOWN[column] for column, missing in without.items() if missing}


def _counts(main: LabelSet, own: pd.DataFrame, references: pd.DataFrame) -> dict[str, int | None]:
    table = main.continuations
    judged, unjudgeable = int(table["y"].notna().sum()), int(table["unjudgeable"].sum())
    return {
        "agents": len(main.outcomes.agents),
        "ranked_agents": len(main.ranked),
        "scenarios": len(main.outcomes.scenarios),
        "categories": sum(map(bool, main.outcomes.categories)) or None,
        "continuations": len(table),
        "judged": judged,
        "unjudgeable": unjudgeable,
        "unjudged": len(table) - judged - unjudgeable,
        "annotations": int(table["annotations"].sum()),
        "cannot_judge": int(table["cannot_judge"].sum()),
        "extra": int((own["extra"] & (own["source"] == main.source)).sum()),
        "reference_annotations": len(references),
    }


def _contrasts(
    comparisons: list[dict[str, Any]], wanted: Sequence[tuple[str, str]]
) -> list[dict[str, Any]]:
    known = {name for entry in comparisons for name in (entry["a"], entry["b"])}
    chosen = []
    for a, b in wanted:
        for name in (a, b):
            if name not in known:
                raise UnknownName("ranked agent", name, known)
        beside = {n for e in comparisons if a in (e["a"], e["b"]) for n in (e["a"], e["b"])} - {a}
        if b not in beside:
            raise UnknownName(f"agent ranked beside {a}", b, beside)
        for entry in comparisons:
            if {entry["a"], entry["b"]} == {a, b}:
                chosen.append(entry)
    adjusted = holm(np.array([entry["p"] for entry in chosen], dtype=np.float64))
    keys = ("a", "b", "difference", "interval", "p", "scenarios", "method")
    return [
        {**{key: entry[key] for key in keys}, "p_holm": p}
        for entry, p in zip(chosen, adjusted, strict=True)
    ]


def _metrics(
    main: LabelSet, scores: pd.DataFrame, *, target: str, seed: int
) -> dict[str, list[Any]]:
    names = [main.outcomes.agents[row] for row in main.ranked]
    # Rates in another ranking are over other scenarios, and on no common scale.
    first = main.rankings.number[main.ranked] == 1
    rate = np.where(first, main.rates[target].rate[main.ranked], np.nan)
    reasons = _left_out(main, scores)
    used = scores["agent"].isin(names) & (reasons == "")
    included, others = scores[used], scores[reasons != ""].assign(reason=reasons[reasons != ""])
    strangers = sorted(set(scores["agent"]) - set(main.outcomes.agents))
    table = included.pivot(index="agent", columns="metric", values="value").reindex(names)
    errors = included.pivot(index="agent", columns="metric", values="standard_error").reindex(names)
    values = {PASS_RATE: rate}
    values |= {str(metric): table[metric].to_numpy(dtype=np.float64) for metric in table.columns}
    families = dict(zip(included["agent"], included["family"], strict=True))
    family = np.array([families.get(name, "") for name in names], dtype=object)
    separated = main.comparisons.p_adjusted < 1 - intervals.LEVEL
    entries = []
    for x, y in itertools.combinations(values, 2):
        both = np.isfinite(values[x]) & np.isfinite(values[y])
        noise = (
            _error_variance(main.comparisons, both) if x == PASS_RATE else _squared(errors, x, both)
        )
        correlation = correlate(
            values[x][both],
            values[y][both],
            variance_x=noise,
            variance_y=_squared(errors, y, both),
            family=family[both],
            seed=seed,
        )
        share, pairs = (None, 0)
        if x == PASS_RATE:
            share, pairs = order_accuracy(
                main.comparisons.pairs, main.comparisons.difference, separated, values[y]
            )
        entries.append(
            {"x": x, "y": y, **correlation._asdict(), "order_accuracy": share, "order_pairs": pairs}
        )
    return {
        "metrics": _rows(included),
        "metrics_left_out": _rows(others),
        "metrics_of_unknown_agents": strangers,
        "correlations": entries,
        "correlation_differences": _gold_differences(values),
    }


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): item for key, item in row.items()} for row in frame.to_dict("records")]


def _left_out(main: LabelSet, scores: pd.DataFrame) -> pd.Series:
    """Why a score enters no correlation, "" where nothing is against it.

    An agent that saw more when it was measured than in the suite was another one there.
    """
    entries = {entry["agent"]: entry for entry in main.agents}
    reasons = []
    for agent, sees in zip(scores["agent"], scores["sees"], strict=True):
        entry = entries.get(agent)
        reason = entry["unranked"] or "" if entry else ""
        if entry and not reason and sees not in (entry["sees"], SIGHTS[0]):
            reason = f"it saw {SEEN[sees]} there, and {SEEN[entry['sees']]} here"
        reasons.append(reason)
    return pd.Series(reasons, index=scores.index, dtype=object)


def _error_variance(comparisons: Comparisons, both: np.ndarray) -> float | None:
    # Half the squared error of a difference: scenarios that are hard for everyone move all pass
    # rates together and disturb no ranking.
    chosen = both[comparisons.pairs].all(axis=1) & np.isfinite(comparisons.error)
    return float((comparisons.error[chosen] ** 2).mean() / 2) if chosen.any() else None


def _squared(errors: pd.DataFrame, metric: str, both: np.ndarray) -> float | None:
    error = errors[metric].to_numpy(dtype=np.float64)[both]
    return float((error**2).mean()) if len(error) and np.isfinite(error).all() else None


def _gold_differences(values: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    if GOLD not in values:
        return []
    entries = []
    for other in values:
        if other in (GOLD, PASS_RATE):
            continue
        both = np.all([np.isfinite(values[m]) for m in (GOLD, PASS_RATE, other)], axis=0)
        gold, rate, third = (values[m][both] for m in (GOLD, PASS_RATE, other))
        r12, r13, r23 = spearman(gold, rate), spearman(gold, third), spearman(rate, third)
        if r12 is not None and r13 is not None and r23 is not None:
            entries.append(
                {
                    "gold": GOLD,
                    "a": PASS_RATE,
                    "b": other,
                    "difference": r12 - r13,
                    "interval": difference_interval(r12, r13, r23, int(both.sum())),
                    "n": int(both.sum()),
                }
            )
    return entries


def _annotators(
    ratings: pd.DataFrame, references: pd.DataFrame, *, seed: int
) -> list[dict[str, Any]]:
    human = ratings[(ratings["source"] == "human") & (ratings["annotator"] != "")]
    entries = []
    for name, rows in human.groupby("annotator"):
        mine = references[references["annotator"] == name]
        own = rows[rows["truth"] == ""]
        seconds = rows["seconds"].median()
        entries.append(
            {
                "annotator": name,
                "annotations": int(own["verdict"].ne("cannot_judge").sum()),
                "cannot_judge": int(own["verdict"].eq("cannot_judge").sum()),
                "references": len(mine),
                **accuracy.accuracy(mine, seed=seed)._asdict(),
                "step_offset": step_offset.step_offset(mine)._asdict(),
                "median_seconds": seconds,
            }
        )
    return entries


def _together(
    ratings: pd.DataFrame, references: pd.DataFrame, pooled: accuracy.Accuracy, *, seed: int
) -> dict[str, Any]:
    human = ratings[ratings["source"] == "human"]
    own, served = human[human["truth"] == ""], human[human["truth"] != ""]
    return {
        **pooled._asdict(),
        "references": len(references),
        "step_offset": step_offset.step_offset(references)._asdict(),
        "alpha": alpha.krippendorff(own, seed=seed)._asdict(),
        "alpha_references": alpha.krippendorff(served, seed=seed)._asdict(),
    }


def _slim(found: LabelSet) -> dict[str, Any]:
    pairs = comparison_entries(found)
    keys = ("agent", "pass_rate", "interval", "rank", "rank_set", "continuations", "judged")
    more = ("annotations", "cannot_judge", "unjudgeable", "sees")
    return {
        "agents": [{key: entry[key] for key in (*keys, *more)} for entry in found.agents],
        "annotations": int(found.continuations["annotations"].sum()),
        "judged": int(found.continuations["y"].notna().sum()),
        "unjudgeable": int(found.continuations["unjudgeable"].sum()),
        "separated_pairs": sum(pair["separated"] for pair in pairs),
        "pairs": len(pairs),
    }
