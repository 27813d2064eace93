"""Verdicts of one label source, laid out as agents x scenarios: the input of every statistic.

Axes: A agents, S scenarios, K annotators, C continuations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from sts.annotations.queue.rounds import find_reached
from sts.ratings import ACCESS_LEVELS
from sts_analysis.statistics.annotators import Judging
from sts_analysis.statistics.copies import Copies, spread_by_weight, weigh_copies
from sts_analysis.statistics.estimate import divide
from sts_analysis.statistics.units import join_units

Draw = Literal["", "rounds", "random", "uneven"]
UNCOUNTED = ("", "cannot_judge")
"""Cells of the column verdict that do not enter a pass rate."""


class RaceBounds(NamedTuple):
    """Bounds of the continuations that count in a race, by places in rounds; see `race`."""

    # by agent, the place before which everything was judged at its last look, and counts
    looked: Mapping[str, float]
    left: Mapping[str, float]  # by agent that has left, the place from which on nothing counts


class Continuations(NamedTuple):
    """The continuations of agents, in the order of their numbers; C of each array."""

    number: np.ndarray  # int64, as in the ratings table
    agent: np.ndarray  # int64, index of the agent
    scenario: np.ndarray  # int64, index of the scenario
    # float64, mean verdict (success 1); 0 if auto-resolved, NaN without a verdict that counts; see
    # `find_reached`
    y: np.ndarray
    verdicts: np.ndarray  # int64, verdicts in that mean
    unjudgeable: np.ndarray  # bool, every annotator who saw it answered "cannot judge"
    auto_resolved: np.ndarray  # bool
    horizon: np.ndarray  # float64, NaN if unknown

    @property
    def known(self) -> np.ndarray:
        """bool[C], it has a verdict, or everyone who saw it could not judge it."""
        return np.asarray((self.verdicts > 0) | self.unjudgeable | self.auto_resolved)

    def keep(self, counted: np.ndarray) -> Continuations:
        """Return the same with nothing known of others than these, bool[C]."""
        return self._replace(
            y=np.where(counted, self.y, np.nan),
            verdicts=np.where(counted, self.verdicts, 0),
            unjudgeable=self.unjudgeable & counted,
            auto_resolved=self.auto_resolved & counted,
        )

    def tally(
        self, chosen: np.ndarray, shape: tuple[int, ...], weights: np.ndarray | None = None
    ) -> np.ndarray:
        """Count continuations, bool[C], or sum their weights, in a table [A, S] of this shape."""
        place = (self.agent * shape[1] + self.scenario)[chosen]
        weights = None if weights is None else weights[chosen]
        return np.asarray(np.bincount(place, weights, shape[0] * shape[1]).reshape(shape))


class Outcomes(NamedTuple):
    """Values of every agent in every scenario."""

    source: str  # label source, "human", "automatic" or "model"
    agents: tuple[str, ...]  # A names, in alphabetical order
    baseline: np.ndarray  # bool[A], agents with privileged information
    scenarios: tuple[str, ...]  # S names, in alphabetical order
    category: np.ndarray  # int64[S], index into `categories`
    categories: tuple[str, ...]  # names, in alphabetical order; ("",) if none is known
    kind: tuple[str, ...]  # S of "instruction", "question" or "" (unknown)
    unit: np.ndarray  # int64[S], see `units.join_units`
    # float64[A, S], mean y, NaN if none is known; in a study that is judged in part without rounds,
    # see `spread_by_weight`
    value: np.ndarray
    low: np.ndarray  # float64[A, S], the value if all unjudgeable continuations were failures
    high: np.ndarray  # float64[A, S], the value if they were successes
    # float64[A, S], by what annotators' shares of `value` become those of the bounds
    bound_share: np.ndarray
    continued: np.ndarray  # bool[A, S], the agent has a continuation, judged or not
    judged: np.ndarray  # int64[A, S], continuations with a value
    unjudgeable: np.ndarray  # int64[A, S]
    continuations: Continuations  # of agents, one by one
    judging: Judging | None  # who judged; None unless the source is human and annotators are known
    # int64[A], clips (continuations, where clips are unknown) that people judged
    judged_clips: np.ndarray
    # which part of a study that is judged in part counts: "rounds"; without rounds "random", or
    # "uneven" if continuations of some agents also share clips more than those of others. "" if all
    # is judged
    draw: Draw = ""
    round: int = 0  # of `rounds`, the first with a cell that has not been reached; 0 without rounds
    rounds: int = 0  # number of rounds

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
    bounds: RaceBounds | None = None,
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
      bounds: of a race of these agents, if people judge in one.
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
    category = pd.Index(categories).get_indexer(pd.Index(every["category"])).astype(np.int64)
    draw: Draw = ""
    copies, rounds = None, codes.round[np.isfinite(codes.round)]
    last = current = int(rounds.max(initial=0))
    if source == "human" and (not made.known.all() or bounds is not None):
        reached = find_reached(made.agent, codes.cell, codes.round, made.known)
        if reached is not None:
            waiting = ~reached
            if bounds is not None:
                looked, left = (
                    np.array([of.get(name, usual) for name in agent_names])[made.agent]
                    for of, usual in ((bounds.looked, 0.0), (bounds.left, np.inf))
                )
                reached |= made.known & (codes.position < looked)
                reached &= ~(codes.position >= left)
                waiting = ~reached & np.isinf(left)
            draw, made = "rounds", made.keep(reached)
            current = int(np.nanmin(codes.round[waiting], initial=last))
        else:
            copies = weigh_copies(
                made.agent, category[made.scenario], codes.clip_of, made.known, made.auto_resolved
            )
            draw = "uneven" if copies.differ else "random"
    shape = len(agent_names), len(names)
    weight = None if copies is None else copies.weight
    table = _values(made, shape, weight)
    judging = _judging(rows, codes, made, shape, weight) if source == "human" else None
    if copies is not None and (rows["clip"] != "").any():
        table, judging = _spread(made, copies, category, table, judging)
    return Outcomes(
        source=source,
        agents=agent_names,
        baseline=agents["sees"].isin(ACCESS_LEVELS[1:]).to_numpy(),
        scenarios=names,
        category=category,
        categories=categories,
        kind=tuple(map(str, every["kind"])),
        unit=join_units(names, groups),
        **table,
        continuations=made,
        judging=judging,
        judged_clips=_count_clips(rows, codes, made, source),
        draw=draw,
        round=current,
        rounds=last,
    )


def measure_reached(ratings: pd.DataFrame) -> tuple[dict[str, float], int]:
    """Return how far people have judged each agent, and the number of rounds.

    Args:
      ratings: as for `tabulate`.

    Returns:
      By agent, the place in rounds before which everything is judged. Empty without the columns
      `round` and `place`.
    """
    rows = ratings[(ratings["truth"] == "").to_numpy()]
    agents = sorted(map(str, rows["agent"].unique()))
    codes = _Codes(rows, tuple(agents), ())
    made = _continuations(rows, codes, "human")
    placed = np.isfinite(codes.position)
    rounds = int(codes.round[placed].max(initial=0))
    until = np.full(len(agents), float(rounds))
    waiting = placed & ~made.known
    np.minimum.at(until, made.agent[waiting], codes.position[waiting])
    return (dict(zip(agents, until.tolist(), strict=True)) if placed.any() else {}), rounds


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
        self.clip_of = self.clip[self.first]
        self.cell, self.round, inside = np.full((3, len(self.number)), np.nan)
        for column, numbers in (("cell", self.cell), ("round", self.round), ("place", inside)):
            if column in rows:  # known of people's rows, not of a program's
                np.fmax.at(numbers, self.place, rows[column].to_numpy(dtype=np.float64))
        self.position = self.round - 1 + inside  # in rounds


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


def _values(
    made: Continuations, shape: tuple[int, int], weight: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    judged_ones = made.verdicts > 0
    kinds = made.unjudgeable, made.auto_resolved, judged_ones
    unable, auto, judged = (made.tally(kind, shape, weight) for kind in kinds)
    total = unable + auto + judged
    y = made.y if weight is None else made.y * weight
    successes = made.tally(judged_ones, shape, y)

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
        "continued": made.tally(made.agent >= 0, shape) > 0,
        "judged": made.tally(judged_ones | made.auto_resolved, shape),
        "unjudgeable": made.tally(made.unjudgeable, shape),
    }


def _spread(
    made: Continuations,
    copies: Copies,
    category: np.ndarray,
    table: dict[str, np.ndarray],
    judging: Judging | None,
) -> tuple[dict[str, np.ndarray], Judging | None]:
    """Return values and annotators' parts of them, of scenarios that stand for unequally much."""
    shape = table["value"].shape
    counted = (made.verdicts > 0) | made.auto_resolved
    judgeable = made.tally(~made.unjudgeable, shape)
    weight = divide(made.tally(counted, shape, copies.weight), judgeable)
    spread = {
        name: spread_by_weight(table[name], weight, category) for name in ("value", "low", "high")
    }
    centre, factor = spread["value"].centre, spread["value"].factor[..., None]
    if judging is not None:
        rest = (1 - factor) * centre[..., None] * judging.share
        judging = judging._replace(
            share=factor * judging.share, value=factor * judging.value + rest
        )
    return table | {name: found.value for name, found in spread.items()}, judging


def _judging(
    rows: pd.DataFrame,
    codes: _Codes,
    made: Continuations,
    shape: tuple[int, int],
    weight: np.ndarray | None,
) -> Judging | None:
    people = ((rows["source"] == "human") & (rows["annotator"] != "")).to_numpy()
    people = people & ~rows["verdict"].isin(UNCOUNTED).to_numpy()
    people &= made.verdicts[codes.place] > 0
    if "adjudicated" in rows:
        people = people & (rows["adjudicated"] == "").to_numpy()
    if not people.any():
        return None
    who, names = pd.factorize(rows["annotator"][people], sort=True)
    agent, scenario = codes.agent[people], codes.scenario[people]
    place = (agent * shape[1] + scenario) * len(names) + who
    size = int(np.prod(shape)) * len(names)
    success = (rows["verdict"] == "success").to_numpy()[people]
    # A value is the mean over continuations, of which auto-resolved ones have no verdicts.
    auto, judged = (
        made.tally(kind, shape, weight) for kind in (made.auto_resolved, made.verdicts > 0)
    )
    number = made.tally(made.verdicts > 0, shape)
    each = divide(divide(judged, judged + auto), number)[agent, scenario]
    each = each / made.verdicts[codes.place[people]]
    # Continuations that share a clip repeat its verdicts; a judgement counts once.
    once = ~pd.DataFrame({"place": place, "clip": codes.clip[people]}).duplicated().to_numpy()

    def add(weights: np.ndarray) -> np.ndarray:
        return np.bincount(place, weights, size).reshape(*shape, len(names))

    return Judging(
        annotators=tuple(map(str, names)),
        share=add(each),
        value=add(each * success),
        judgements=add(once.astype(np.float64)),
        successes=add((once & success).astype(np.float64)),
    )


def _count_clips(rows: pd.DataFrame, codes: _Codes, made: Continuations, source: str) -> np.ndarray:
    counted = (rows["source"] == source).to_numpy() & (made.verdicts[codes.place] > 0)
    counted &= ~rows["verdict"].isin(UNCOUNTED).to_numpy()
    columns = {"agent": codes.agent[counted], "clip": codes.clip[counted]}
    pairs = pd.DataFrame(columns).drop_duplicates()
    return np.bincount(pairs["agent"], minlength=int(codes.agent.max()) + 1)


def encode(column: pd.Series, names: Sequence[str]) -> np.ndarray:
    """Return int64[rows], the place of each cell among names; -1 for one that is not among them."""
    code, words = pd.factorize(column)
    return np.asarray(pd.Index(names).get_indexer(pd.Index(words.astype(object)))[code])
