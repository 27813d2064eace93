"""Everything one set of labels says about the agents, as plain values ready for JSON.

A set is the judgements of one source: human, automatic or model. Sets are never mixed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from analysis import annotators, completion, intervals, sampling
from analysis.comparisons import Comparisons, compare, rank_sets, ranks
from analysis.consistency import consistency, difficulty
from analysis.outcomes import Outcomes, Subject, Summary, arrange, continuation_values, summarise
from analysis.pass_rates import TARGETS, Rates, pass_rates, pooled_correlation
from analysis.rankings import Rankings, find_rankings

COMPARISON_DRAWS = 10_000
RESAMPLES = 4_000


@dataclasses.dataclass(frozen=True)
class LabelSet:
    """One set of labels, laid out and analysed.

    Attributes:
      source: "human", "automatic" or "model".
      suite: what was tested.
      continuations: as `continuation_values` returns it.
      outcomes: agents x scenarios.
      summary: the same, reduced.
      rates: pass rates over the whole suite, by target.
      continued: bool[A, S], where an agent has a continuation, judged or not.
      rankings: who is ranked, and among whom.
      ranked: int64, indices of the ranked agents, by ranking and then by falling rate.
      comparisons: of the ranked agents, in that order.
      agents: one report entry per agent: ranked ones first, then those with too few scenarios or
        nothing judged, then the baselines.
    """

    source: str
    suite: Subject
    continuations: pd.DataFrame
    outcomes: Outcomes
    summary: Summary
    rates: dict[str, Rates]
    continued: np.ndarray
    rankings: Rankings
    ranked: np.ndarray
    comparisons: Comparisons
    agents: list[dict[str, Any]]


def analyse(
    ratings: pd.DataFrame,
    source: str,
    *,
    suite: Subject,
    target: str,
    reference: annotators.Accuracy,
    seed: int,
) -> LabelSet:
    """Analyses the judgements of one source.

    Args:
      ratings: a checked ratings table with at least one continuation of an agent.
      source: whose judgements.
      suite: what was tested.
      target: of the main intervals, the comparisons and the ranks.
      reference: the annotators' pooled accuracy, to correct human pass rates with.
      seed: of every random draw.
    """
    continuations = continuation_values(ratings, source)
    outcomes = arrange(continuations, scenarios=suite.scenarios)
    summary = summarise(outcomes.values)
    rates = {name: pass_rates(summary, outcomes.category, target=name) for name in TARGETS}
    main = rates[target]
    order = np.lexsort((np.array(outcomes.agents), -np.nan_to_num(main.rate, nan=-1.0)))
    made = continuations.groupby(["agent", "scenario"]).size().unstack(fill_value=0)
    made = made.reindex(index=outcomes.agents, columns=outcomes.scenarios, fill_value=0)
    continued = made.to_numpy() > 0
    found = find_rankings(continued, np.isfinite(main.rate) & ~outcomes.baseline)
    inside = found.number > 0
    ranked = order[inside[order]]
    ranked = ranked[np.argsort(found.number[ranked], kind="stable")]
    comparisons = compare(
        Summary(*(part[ranked] for part in summary)),
        outcomes.category,
        Rates(main.rate[ranked], main.error[ranked], main.interval[ranked], ()),
        target=target,
        seed=seed,
        draws=COMPARISON_DRAWS,
    )
    label_set = LabelSet(
        source,
        suite,
        continuations,
        outcomes,
        summary,
        rates,
        continued,
        found,
        ranked,
        comparisons,
        [],
    )
    outside = order[~inside[order] & ~outcomes.baseline[order]]
    rows = [*ranked, *outside, *order[outcomes.baseline[order]]]
    entries = _entries(label_set, ratings, target, reference, seed)
    return dataclasses.replace(label_set, agents=[entries[row] for row in rows])


def comparison_entries(label_set: LabelSet) -> list[dict[str, Any]]:
    """The comparisons of the agents in one ranking, the higher rate first in each."""
    found = label_set.comparisons
    names = [label_set.outcomes.agents[row] for row in label_set.ranked]
    ranking = label_set.rankings.number[label_set.ranked]
    return [
        {
            "a": names[a],
            "b": names[b],
            "difference": found.difference[i],
            "standard_error": found.error[i],
            "interval": found.interval[i],
            "joint_interval": found.joint_interval[i],
            "p": found.p[i],
            "p_adjusted": found.p_adjusted[i],
            "separated": bool(found.p_adjusted[i] < 1 - intervals.LEVEL),
            "scenarios": found.scenarios[i],
            "method": found.method[i],
        }
        for i, (a, b) in enumerate(found.pairs)
        if ranking[a] == ranking[b]
    ]


def ranking_entries(label_set: LabelSet) -> list[dict[str, Any]]:
    """Each ranking: its agents, and how many scenarios of which categories these continued."""
    outcomes, number = label_set.outcomes, label_set.rankings.number[label_set.ranked]
    entries = []
    for ranking in dict.fromkeys(number.tolist()):
        rows = label_set.ranked[number == ranking]
        columns = label_set.continued[rows].any(axis=0)
        part = outcomes.of_scenarios(columns)
        entries.append(
            {
                "ranking": ranking,
                "agents": [outcomes.agents[row] for row in rows],
                "scenarios": int(columns.sum()),
                "categories": [name for name in part.categories if name],
            }
        )
    return entries


def scenario_entries(label_set: LabelSet) -> list[dict[str, Any]]:
    """Each scenario's difficulty: mean failure of the ranked agents, and each agent left out."""
    outcomes, summary = label_set.outcomes, label_set.summary
    rows = label_set.ranked
    without = difficulty(Summary(*(part[rows] for part in summary)))
    entries = []
    for s, name in enumerate(outcomes.scenarios):
        judged = rows[summary.number[rows, s] > 0]
        failure = 1 - summary.mean[judged, s].mean() if judged.size else None
        entries.append(
            {
                "scenario": name,
                "category": outcomes.categories[outcomes.category[s]] or None,
                "kind": outcomes.kind[s] or None,
                "difficulty": failure,
                "agents": int(judged.size),
                "pass_rates": {
                    outcomes.agents[a]: summary.mean[a, s] for a in range(len(summary.mean))
                },
                "difficulty_without": {
                    outcomes.agents[a]: without[i, s] for i, a in enumerate(rows)
                },
            }
        )
    return entries


def _entries(
    label_set: LabelSet,
    ratings: pd.DataFrame,
    target: str,
    reference: annotators.Accuracy,
    seed: int,
) -> list[dict[str, Any]]:
    outcomes, summary = label_set.outcomes, label_set.summary
    main = label_set.rates[target]
    number = label_set.rankings.number
    sets = rank_sets(number[label_set.ranked], label_set.comparisons)
    places = ranks(main.rate[label_set.ranked], number[label_set.ranked])
    place = {int(row): i for i, row in enumerate(label_set.ranked)}
    groups = _groups(label_set)
    times = _times(label_set, ratings, seed)
    by_agent = label_set.continuations.groupby("agent")
    sights = by_agent["sees"].first()
    notes = ratings.groupby("agent")["notes"].unique()
    totals: pd.DataFrame = by_agent.agg(
        continuations=("y", "size"),
        judged=("y", "count"),
        annotations=("annotations", "sum"),
        cannot_judge=("cannot_judge", "sum"),
        unjudgeable=("unjudgeable", "sum"),
    )
    names = np.array(outcomes.scenarios, dtype=object)
    entries = []
    for row, agent in enumerate(outcomes.agents):
        counts = {name: int(totals[name].to_dict()[agent]) for name in totals.columns}
        alike = consistency(outcomes.values[row], outcomes.category)
        entries.append(
            {
                "agent": agent,
                "sees": sights[agent],
                "notes": sorted({n for n in notes[agent] if n}),
                "pass_rate": main.rate[row],
                "interval": main.interval[row],
                "standard_error": main.error[row],
                "method": main.method[row],
                "intervals": {
                    name: {
                        "interval": found.interval[row],
                        "standard_error": found.error[row],
                        "method": found.method[row],
                    }
                    for name, found in label_set.rates.items()
                },
                "rank": places[place[row]] if row in place else None,
                "rank_set": sets[place[row]] if row in place else None,
                "ranking": int(number[row]) or None,
                "unranked": None if row in place else _unranked(label_set, row, counts),
                **counts,
                "unjudged": _unjudged(counts),
                "scenarios": int(label_set.continued[row].sum()),
                "missing": names[~label_set.continued[row]].tolist(),
                "scenarios_judged": int((summary.number[row] > 0).sum()),
                "categories": _cells(groups["category"], row, target),
                "kinds": _cells(groups["kind"], row, target),
                "consistency": alike._asdict(),
                "time_to_success": times[row],
                "corrected_pass_rate": None,
                "corrected_reason": None,
                "guess_penalised": None,
            }
        )
        if label_set.source == "human":
            _correct(entries[-1], main, row, reference)
    return entries


def _unjudged(counts: Mapping[str, int]) -> int:
    """Continuations that nobody has looked at."""
    return counts["continuations"] - counts["judged"] - counts["unjudgeable"]


def _unranked(label_set: LabelSet, row: int, counts: Mapping[str, int]) -> str:
    """Says why an agent stands outside the rankings."""
    if label_set.outcomes.baseline[row]:
        return "baseline: it sees more than an agent may"
    nothing = "nothing judged yet" if _unjudged(counts) else "nobody could judge what it did"
    return f"not ranked: {label_set.rankings.reason[row] or nothing}"


def _correct(entry: dict[str, Any], main: Rates, row: int, reference: annotators.Accuracy) -> None:
    if not np.isfinite(main.error[row]):
        entry["corrected_reason"] = main.method[row]
        return
    scenarios = np.array(max(entry["scenarios_judged"], 1))
    trials = intervals.effective_trials(main.rate[row], main.error[row], scenarios)
    found = annotators.correct(float(main.rate[row]), float(trials), reference)
    if isinstance(found, str):
        entry["corrected_reason"] = found
    else:
        entry["corrected_pass_rate"] = found._asdict()


def _groups(label_set: LabelSet) -> dict[str, dict[str, tuple[dict[str, Rates], np.ndarray]]]:
    outcomes, summary = label_set.outcomes, label_set.summary
    several = len(outcomes.categories) > 1
    rho = pooled_correlation(summary, outcomes.category) if several else None
    found: dict[str, dict[str, tuple[dict[str, Rates], np.ndarray]]] = {"category": {}, "kind": {}}
    names = np.array(outcomes.categories, dtype=object)[outcomes.category]
    kinds = np.array(outcomes.kind, dtype=object)
    for group, labels in (("category", names), ("kind", kinds)):
        for name in dict.fromkeys(labels):
            if name:
                part = outcomes.of_scenarios(labels == name)
                alone = len(part.categories) == 1
                reduced = summarise(part.values)
                rates = {
                    target: pass_rates(
                        reduced, part.category, target=target, correlation=rho if alone else None
                    )
                    for target in TARGETS
                }
                found[group][str(name)] = (rates, reduced.number)
    return found


def _cells(
    groups: dict[str, tuple[dict[str, Rates], np.ndarray]], row: int, target: str
) -> dict[str, dict[str, Any]]:
    return {
        name: {
            "pass_rate": rates[target].rate[row],
            "interval": rates[target].interval[row],
            "intervals": {key: found.interval[row] for key, found in rates.items()},
            "method": rates[target].method[row],
            "scenarios": int((number[row] > 0).sum()),
            "judged": int(number[row].sum()),
        }
        for name, (rates, number) in groups.items()
    }


def _times(label_set: LabelSet, ratings: pd.DataFrame, seed: int) -> list[dict[str, Any]]:
    outcomes = label_set.outcomes
    marks = _marks(label_set, ratings)
    area = label_set.continuations["continuation"].map(marks.groupby("continuation")["area"].mean())
    laid = arrange(
        label_set.continuations.assign(area=area), "area", scenarios=label_set.suite.scenarios
    )
    resamples = sampling.resample_counts(outcomes.category, draws=RESAMPLES, seed=seed)
    areas = completion.mean_areas(laid, resamples)
    horizons = label_set.continuations["horizon"]
    longest = None if horizons.isna().any() else int(horizons.max())
    entries: list[dict[str, Any]] = []
    for row, agent in enumerate(outcomes.agents):
        mine = marks[marks["agent"] == agent]
        timeless = int(((mine["verdict"] == "success") & mine["step"].isna()).sum())
        if mine.empty or timeless or longest is None:
            without = "no horizon is given" if longest is None else "nothing judged"
            reason = (
                f"{timeless} {'success has' if timeless == 1 else 'successes have'} no step"
                if timeless
                else without
            )
            keys = ("curve", "reached", "successes_curve", "mean_area", "interval")
            entries.append({**dict.fromkeys(keys), "horizon": longest, "reason": reason})
            continue
        horizon = int(mine["horizon"].max())
        curve = completion.cumulative_incidence(
            mine["time"].to_numpy(),
            mine["status"].to_numpy(),
            mine["weight"].to_numpy(),
            horizon=horizon,
        )
        wins = mine[mine["verdict"] == "success"]
        won_at, won = wins["time"].to_numpy(), wins["weight"].to_numpy()
        total = float(mine["weight"].sum())
        every = completion.reached(won_at, won, total=total, horizon=horizon)
        among = completion.reached(won_at, won, total=max(won.sum(), 1e-300), horizon=horizon)
        entries.append(
            {
                "curve": _points(curve),
                "reached": _points(every),
                "successes_curve": _points(among) if len(won) else None,
                "mean_area": areas.area[row],
                "interval": areas.interval[row],
                "horizon": horizon,
                "reason": None if areas.error[row] > 0 else "scenarios show no spread",
            }
        )
    return entries


def _marks(label_set: LabelSet, ratings: pd.DataFrame) -> pd.DataFrame:
    # Weights make every scenario count as in the pass rate, so that F1 ends where the rate is.
    verdicts = ("success", "failure", "not_done")
    rows = ratings[
        (ratings["truth"] == "")
        & (ratings["source"] == label_set.source)
        & ratings["verdict"].isin(verdicts)
    ]
    outcomes, number = label_set.outcomes, label_set.summary.number
    weights = sampling.scenario_weights(number > 0, outcomes.category) / np.maximum(number, 1)
    agent = pd.Index(outcomes.agents).get_indexer(pd.Index(rows["agent"]))
    scenario = pd.Index(outcomes.scenarios).get_indexer(pd.Index(rows["scenario"]))
    annotations = rows.groupby("continuation")["verdict"].transform("size")
    step, horizon = rows["step"], rows["horizon"]
    success = rows["verdict"] == "success"
    status = np.select(
        [success, rows["verdict"] == "failure"],
        [completion.SUCCESS, completion.FAILURE],
        completion.CENSORED,
    )
    return rows.assign(
        time=step.fillna(horizon).fillna(0).astype(np.int64),
        status=status,
        weight=weights[agent, scenario] / annotations,
        area=np.where(success, (horizon - step) / horizon, 0.0),
    )


def _points(curve: completion.Curve) -> list[list[float]]:
    return [
        [int(step), float(height)] for step, height in zip(curve.steps, curve.height, strict=True)
    ]
