"""Verdicts of one label source, laid out as agents x scenarios: the input of every statistic.

Axes: A agents, S scenarios, K annotators, C continuations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from sts.ratings import ACCESS_LEVELS
from sts_analysis.statistics.annotators import Judging
from sts_analysis.statistics.estimate import divide
from sts_analysis.statistics.units import join_units

UNCOUNTED = ("", "cannot_judge")
"""Cells of the column verdict that do not enter a pass rate."""


class Continuations(NamedTuple):
    """The continuations of agents, in the order of their numbers; C of each array.

    Attributes:
      number: int64, as in the ratings table.
      agent: int64, index of the agent.
      scenario: int64, index of the scenario.
      y: float64, mean verdict (success 1); 0 if auto-resolved, NaN without a verdict.
      verdicts: int64, verdicts in that mean.
      unjudgeable: bool, every annotator who saw it answered "cannot judge".
      auto_resolved: bool.
      horizon: float64, NaN if unknown.
    """

    number: np.ndarray
    agent: np.ndarray
    scenario: np.ndarray
    y: np.ndarray
    verdicts: np.ndarray
    unjudgeable: np.ndarray
    auto_resolved: np.ndarray
    horizon: np.ndarray

    def tally(
        self, chosen: np.ndarray, shape: tuple[int, ...], weights: np.ndarray | None = None
    ) -> np.ndarray:
        """Count continuations, bool[C], or sum their weights, in a table [A, S] of this shape."""
        place = (self.agent * shape[1] + self.scenario)[chosen]
        weights = None if weights is None else weights[chosen]
        return np.asarray(np.bincount(place, weights, shape[0] * shape[1]).reshape(shape))


class Outcomes(NamedTuple):
    """Values of every agent in every scenario.

    Attributes:
      source: label source, "human", "automatic" or "model".
      agents: A names, in alphabetical order.
      baseline: bool[A], agents with privileged information.
      scenarios: S names, in alphabetical order.
      category: int64[S], index into `categories`.
      categories: names, in alphabetical order; ("",) if none is known.
      kind: S of "instruction", "question" or "" (unknown).
      unit: int64[S], see `units.join_units`.
      value: float64[A, S], NaN if nothing is judged. With o of n judgeable continuations not
        auto-resolved, the mean y of the judged among these times o / n.
      low: float64[A, S], the value if all unjudgeable continuations were failures.
      high: float64[A, S], the value if they were successes.
      bound_share: float64[A, S], by what annotators' shares of `value` become those of the bounds.
      continued: bool[A, S], the agent has a continuation, judged or not.
      judged: int64[A, S], continuations with a value.
      unjudgeable: int64[A, S].
      continuations: of agents, one by one.
      judging: who judged; None unless the source is human and annotators are known.
      judged_clips: int64[A], clips (continuations, where clips are unknown) that people judged.
    """

    source: str
    agents: tuple[str, ...]
    baseline: np.ndarray
    scenarios: tuple[str, ...]
    category: np.ndarray
    categories: tuple[str, ...]
    kind: tuple[str, ...]
    unit: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    bound_share: np.ndarray
    continued: np.ndarray
    judged: np.ndarray
    unjudgeable: np.ndarray
    continuations: Continuations
    judging: Judging | None
    judged_clips: np.ndarray

    def lay_out_counts(self, counts: Mapping[tuple[str, str], int]) -> np.ndarray:
        """Lay out numbers by agent and scenario, int64[A, S]; others are 0."""
        table = np.zeros(self.value.shape, np.int64)
        agents = {name: a for a, name in enumerate(self.agents)}
        scenarios = {name: s for s, name in enumerate(self.scenarios)}
        for (agent, scenario), count in counts.items():
            if agent in agents and scenario in scenarios:
                table[agents[agent], scenarios[scenario]] = count
        return table


def tabulate(
    ratings: pd.DataFrame,
    source: str,
    *,
    scenarios: pd.DataFrame,
    groups: Iterable[Iterable[str]] = (),
) -> Outcomes:
    """Lay out the verdicts of one label source.

    Args:
      ratings: a checked ratings table with at least one continuation of an agent, with adjudicated
        verdicts in place (`inputs.ratings.apply_adjudication`). References are left out.
      source: of the labels; sources are never mixed, but auto-resolved continuations count with
        human verdicts.
      scenarios: columns scenario, category and kind of all scenarios of the suite; may be empty.
      groups: names of scenarios that were drawn together; see `units.join_units`. Scenarios of one
        `trajectory` of the table are joined too.
    """
    rows = ratings[(ratings["truth"] == "").to_numpy()]
    seen = rows[["scenario", "category", "kind"]].drop_duplicates("scenario").astype(object)
    every = pd.concat([scenarios, seen]).drop_duplicates("scenario").sort_values("scenario")
    names = tuple(map(str, every["scenario"]))
    categories = tuple(sorted({str(name) for name in every["category"]}))
    agents = rows[["agent", "sees"]].drop_duplicates("agent").sort_values("agent")
    agent_names = tuple(map(str, agents["agent"]))
    codes = _Codes(rows, agent_names, names)
    if "trajectory" in rows:
        known = rows.loc[(rows["trajectory"] != "").to_numpy(), ["scenario", "trajectory"]]
        known = known.drop_duplicates("scenario")
        groups = [*groups, *known.groupby("trajectory", observed=True)["scenario"].agg(list)]
    made = _continuations(rows, codes, source)
    table = _values(made, (len(agent_names), len(names)))
    return Outcomes(
        source=source,
        agents=agent_names,
        baseline=agents["sees"].isin(ACCESS_LEVELS[1:]).to_numpy(),
        scenarios=names,
        category=pd.Index(categories).get_indexer(pd.Index(every["category"])).astype(np.int64),
        categories=categories,
        kind=tuple(map(str, every["kind"])),
        unit=join_units(names, groups),
        **table,
        continuations=made,
        judging=_judging(rows, codes, made, table) if source == "human" else None,
        judged_clips=_count_clips(rows, codes, source),
    )


class _Codes:
    """Rows of agents in numbers: agent, scenario, the place of the continuation, and the clip."""

    def __init__(self, rows: pd.DataFrame, agents: tuple[str, ...], scenarios: tuple[str, ...]):
        self.agent = encode(rows["agent"], agents)
        self.scenario = encode(rows["scenario"], scenarios)
        self.number, self.first, self.place = np.unique(
            rows["continuation"].to_numpy(), return_index=True, return_inverse=True
        )
        clip, names = pd.factorize(rows["clip"])
        nameless = np.append(names == "", False)[clip]
        self.clip = np.where(nameless, len(names) + self.place, clip)


def _continuations(rows: pd.DataFrame, codes: _Codes, source: str) -> Continuations:
    size = len(codes.number)
    mine = (rows["source"] == source).to_numpy()
    counted = mine & ~rows["verdict"].isin(UNCOUNTED).to_numpy()
    success = (rows["verdict"] == "success").to_numpy()
    verdicts = np.bincount(codes.place[counted], minlength=size)
    successes = np.bincount(codes.place[counted & success], minlength=size)
    refused = mine & (rows["verdict"] == "cannot_judge").to_numpy()
    unable = np.bincount(codes.place[refused], minlength=size)
    settled = (rows["source"] == "settled").to_numpy() & (source == "human")
    # Answers of people go before a rule's.
    auto = (np.bincount(codes.place[settled], minlength=size) > 0) & (verdicts == 0) & (unable == 0)
    y = np.divide(successes, verdicts, out=np.full(size, np.nan), where=verdicts > 0)
    return Continuations(
        number=codes.number,
        agent=codes.agent[codes.first],
        scenario=codes.scenario[codes.first],
        y=np.where(auto, 0.0, y),
        verdicts=verdicts,
        unjudgeable=(verdicts == 0) & (unable > 0),
        auto_resolved=auto,
        horizon=rows["horizon"].to_numpy(dtype=np.float64)[codes.first],
    )


def _values(made: Continuations, shape: tuple[int, int]) -> dict[str, np.ndarray]:
    total, unable = made.tally(made.agent >= 0, shape), made.tally(made.unjudgeable, shape)
    auto, judged = made.tally(made.auto_resolved, shape), made.tally(made.verdicts > 0, shape)
    successes = made.tally(made.verdicts > 0, shape, made.y)

    def mean(top: np.ndarray, number: np.ndarray, all_of_them: np.ndarray) -> np.ndarray:
        share = divide(all_of_them - auto, all_of_them)
        only_auto = (auto > 0) & (auto == all_of_them)
        return np.where(only_auto, 0.0, np.where(number > 0, share * divide(top, number), np.nan))

    fewer = judged * divide(total - unable, total - unable - auto) * (total - auto)
    return {
        "value": mean(successes, judged, total - unable),
        "low": mean(successes, judged + unable, total),
        "high": mean(successes + unable, judged + unable, total),
        "bound_share": divide(fewer, total * (judged + unable)),
        "continued": total > 0,
        "judged": judged + auto,
        "unjudgeable": unable,
    }


def _judging(
    rows: pd.DataFrame, codes: _Codes, made: Continuations, table: dict[str, np.ndarray]
) -> Judging | None:
    people = ((rows["source"] == "human") & (rows["annotator"] != "")).to_numpy()
    people = people & ~rows["verdict"].isin(UNCOUNTED).to_numpy()
    if "adjudicated" in rows:
        people = people & (rows["adjudicated"] == "").to_numpy()
    if not people.any():
        return None
    who, names = pd.factorize(rows["annotator"][people], sort=True)
    shape = (*table["value"].shape, len(names))
    agent, scenario = codes.agent[people], codes.scenario[people]
    place = (agent * shape[1] + scenario) * shape[2] + who
    size = int(np.prod(shape))
    success = (rows["verdict"] == "success").to_numpy()[people]
    # A value is (o / n) x the mean over judged continuations of the mean over verdicts.
    auto, judgeable = (made.tally(x, shape[:2]) for x in (made.auto_resolved, ~made.unjudgeable))
    each = divide(divide(judgeable - auto, judgeable), table["judged"] - auto)[agent, scenario]
    each = each / made.verdicts[codes.place[people]]
    # Continuations that share a clip repeat its verdicts; a judgement counts once.
    once = ~pd.DataFrame({"place": place, "clip": codes.clip[people]}).duplicated().to_numpy()

    def add(weights: np.ndarray) -> np.ndarray:
        return np.bincount(place, weights, size).reshape(shape)

    return Judging(
        annotators=tuple(map(str, names)),
        share=add(each),
        value=add(each * success),
        judgements=add(once.astype(np.float64)),
        successes=add((once & success).astype(np.float64)),
    )


def _count_clips(rows: pd.DataFrame, codes: _Codes, source: str) -> np.ndarray:
    counted = (rows["source"] == source).to_numpy() & ~rows["verdict"].isin(UNCOUNTED).to_numpy()
    columns = {"agent": codes.agent[counted], "clip": codes.clip[counted]}
    pairs = pd.DataFrame(columns).drop_duplicates()
    return np.bincount(pairs["agent"], minlength=int(codes.agent.max()) + 1)


def encode(column: pd.Series, names: Sequence[str]) -> np.ndarray:
    """Return int64[rows], the place of each cell among names; -1 for one that is not among them."""
    code, words = pd.factorize(column)
    return np.asarray(pd.Index(names).get_indexer(pd.Index(words.astype(object)))[code])
