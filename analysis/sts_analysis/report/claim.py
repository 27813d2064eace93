"""What a report may claim: decided once, before any sentence is made.

Source: Holm 1979 for all pairs; Haybittle 1971 and Peto et al. 1976 for looks before the end.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from sts.annotations.races import DIFFERENT, Look, PairLook
from sts_analysis.statistics.estimate import find_rank_sets
from sts_analysis.statistics.information import measure_information
from sts_analysis.statistics.race import (
    ALPHA,
    MIN_UNITS,
    find_candidates,
    find_closed_bar,
    read_sign,
)
from sts_analysis.statistics.rates import MIN_CLIPS, Comparisons, RateModel, Rates

State = Literal["final", "interim", "withheld", "single agent"]
Reason = Literal["units", "lacking", "annotators", "clips", "scenarios", "copies", ""]
Resolved = Mapping[tuple[str, str], tuple[Look, PairLook]]
"""Pairs of agents, in alphabetical order, that a look has resolved."""
INTERIM_ALPHA = 0.001


class Progress(NamedTuple):
    """How much of what was planned is judged."""

    planned: int  # clips
    judged: int  # clips of these
    closed: str = ""  # the reason why a study lead closed the study early; "" if it is not closed
    plan: int = 1  # its number; more than 1 if something was added after a final conclusion
    missing: int = 0  # planned ones that do not exist, and so do not wait to be judged
    skipped: int = 0  # planned ones that are not judged because all their agents have left the race

    @property
    def share(self) -> float:
        """The share that is judged."""
        return self.judged / self.planned if self.planned else 1.0

    @property
    def is_complete(self) -> bool:
        """Return True if all continuations that were planned, exist and are needed are judged."""
        return self.judged >= self.planned - self.missing - self.skipped

    @property
    def bar(self) -> float:
        """The adjusted p below which a pair differs significantly."""
        if self.is_complete:
            return ALPHA
        if self.closed:
            return float(find_closed_bar(self.share))
        return INTERIM_ALPHA


class Claim(NamedTuple):
    """The state of a report, and what follows from it."""

    state: State  # see /docs/method.md
    # why the conclusion is withheld; "" otherwise. See `incomparable`; "copies" if the study was
    # closed early, judged clips were drawn at random, and agents differ in how many continuations
    # share a clip
    reason: Reason
    ranked: np.ndarray  # int64[R], the agents that can be compared, by falling rate
    # scenarios that other agents have and an agent lacks, by agent left out for it
    lacking: Mapping[int, int]
    # agents left out because their differences cannot be known, with the reason: "scenarios" if
    # none of another agent's is judged, "clips" if fewer than 30 are judged, or "annotators" if
    # the data cannot distinguish the agent from its annotators
    incomparable: Mapping[int, Reason]
    baselines: np.ndarray  # int64, by falling rate
    comparisons: Comparisons  # of the ranked agents
    # float64[P], the adjusted p below which each pair of these differs significantly
    bar: np.ndarray
    significant: np.ndarray  # bool[P], pairs of `comparisons` that differ significantly
    # float64[P], 1 if the first agent of such a pair is better, -1 if the second is
    direction: np.ndarray
    unsettled: np.ndarray  # bool[P], pairs that would, if missing continuations could not change it
    rank_sets: np.ndarray  # int64[R, 2]
    units: int  # number of units that the conclusion rests on
    # the comparisons for other annotators like these; None if nothing is known of them
    others: Comparisons | None
    holds: np.ndarray  # bool[P], pairs that differ significantly, for other annotators too

    @property
    def best(self) -> np.ndarray:
        """int64, ranked agents that no other is significantly better than."""
        return np.asarray(self.ranked[self.rank_sets[:, 0] == 1])

    @property
    def better(self) -> np.ndarray:
        """bool[R, R], whether a ranked agent is significantly better than another."""
        return find_better(self.ranked, self.comparisons, self.direction * self.significant)

    @property
    def level_runs(self) -> list[tuple[int, int]]:
        """The maximal runs [start, stop) of ranked agents of which no two differ significantly."""
        level = ~(self.better | self.better.T)
        runs: list[tuple[int, int]] = []
        stop = 0
        for start in range(len(level)):
            end = max(stop, start + 1)
            while end < len(level) and level[start:end, end].all():
                end += 1
            if end > stop and level[start:end, start:end].all():
                if end - start > 1:
                    runs.append((start, end))
                stop = end
        return runs

    def read_difference(self, first: int, second: int) -> tuple[float, np.ndarray]:
        """Return the difference of two ranked agents, and its interval, float64[2].

        It is the pass rate of the first minus that of the second, in scenarios in which both are
        judged; NaN if they cannot be compared.
        """
        pairs = self.comparisons
        same = (pairs.first == first) & (pairs.second == second)
        turned = (pairs.first == second) & (pairs.second == first)
        (at,) = np.flatnonzero(same | turned)
        sign = 1.0 if same[at] else -1.0
        return float(sign * pairs.value[at]), np.sort(sign * pairs.interval[at])


def decide(
    model: RateModel,
    rates: Rates,
    progress: Progress,
    resolved: Resolved = MappingProxyType({}),
) -> Claim:
    """Decide what a report may claim.

    Args:
      model: of the label source that the report rests on.
      rates: of all its agents.
      progress: of the study.
      resolved: pairs of a race that are decided already, and stay so.
    """
    outcomes = model.outcomes
    interim = not progress.is_complete and not progress.closed
    agents = np.flatnonzero(~outcomes.baseline)
    judged = np.isfinite(outcomes.value)
    candidates, lacking = find_candidates(outcomes, rates)
    comparisons = model.compare(candidates)
    # Agents that cannot be compared yet may be when all is judged, so they are not left out before.
    ranked = candidates if interim else _find_comparable(candidates, comparisons)
    incomparable = {
        int(a): _explain(a, comparisons, outcomes.judged_clips)
        for a in candidates
        if a not in ranked
    }
    if len(ranked) < len(candidates):
        comparisons = model.compare(ranked)
    others = None
    if len(ranked) and model.generalises(rates, ranked):
        others = model.compare(ranked, other_annotators=True)
    ranked = ranked[np.lexsort((ranked, -rates.rate[ranked]))]
    counted = (outcomes.continued if interim else judged).any(axis=0)
    units = len(np.unique(outcomes.unit[counted]))
    bar = np.full(len(comparisons.p), progress.bar)
    if not interim and outcomes.draw == "rounds":
        people = model.without_labels.compare(np.sort(ranked)) if model.control else None
        bar = find_closed_bar(measure_information(outcomes, comparisons, people).share)
    with np.errstate(invalid="ignore"):
        significant = comparisons.p_worst_holm < bar
        unsettled = (comparisons.p_holm < bar) & ~significant
        holds = np.zeros(len(bar), bool) if others is None else others.p_worst_holm < bar
    direction = np.sign(comparisons.value)
    all_names = list_pair_names(outcomes.agents, comparisons) if resolved else ()
    for at, (names, turn) in enumerate(all_names):
        if names in resolved:
            _, pair = resolved[names]
            bar[at], significant[at] = pair.bar, pair.outcome == DIFFERENT
            unsettled[at], direction[at] = False, turn * read_sign(pair)
    reason: Reason = ""
    if units < MIN_UNITS:
        reason = "units"
    elif len(ranked) < 2:
        reason = "lacking" if lacking and len(candidates) < 2 else "annotators"
        reasons = set(incomparable.values())
        reason = min(reasons - {"annotators"}, default=reason)
    elif outcomes.draw == "uneven" and not interim and not progress.is_complete:
        reason = "copies"
    state: State = (
        "single agent"
        if len(agents) == 1
        else "withheld"
        if reason
        else "interim"
        if interim
        else "final"
    )
    better = find_better(ranked, comparisons, direction * significant)
    return Claim(
        state=state,
        reason=reason if state == "withheld" else "",
        ranked=ranked,
        lacking=lacking,
        incomparable=incomparable,
        baselines=_order(np.flatnonzero(outcomes.baseline), rates),
        comparisons=comparisons,
        bar=bar,
        significant=significant,
        direction=direction,
        unsettled=unsettled,
        rank_sets=find_rank_sets(better),
        units=units,
        others=others,
        holds=holds & significant & (direction == np.sign(comparisons.value)),
    )


def list_pair_names(
    agents: Sequence[str], comparisons: Comparisons
) -> list[tuple[tuple[str, str], float]]:
    """List the names of each pair in alphabetical order, with -1 if that turns the pair, or 1."""
    pairs = zip(comparisons.first, comparisons.second, strict=True)
    names = [(agents[first], agents[second]) for first, second in pairs]
    return [((min(pair), max(pair)), 1.0 if pair[0] < pair[1] else -1.0) for pair in names]


def find_better(ranked: np.ndarray, comparisons: Comparisons, direction: np.ndarray) -> np.ndarray:
    """Return bool[R, R], whether a ranked agent is significantly better than another.

    `direction`, float64[P], is 1 where the first agent of a pair is, and -1 where the second is.
    """
    place = {int(agent): i for i, agent in enumerate(ranked)}
    better = np.zeros((len(ranked), len(ranked)), bool)
    for pair in np.flatnonzero(np.nan_to_num(direction)):
        a, b = place[int(comparisons.first[pair])], place[int(comparisons.second[pair])]
        above, below = (a, b) if direction[pair] > 0 else (b, a)
        better[above, below] = True
    return better


def _find_comparable(agents: np.ndarray, comparisons: Comparisons) -> np.ndarray:
    """Return the largest group of comparable agents; none if there are two such groups."""
    place = {int(agent): i for i, agent in enumerate(agents)}
    linked = np.zeros((len(agents), len(agents)), bool)
    for pair in np.flatnonzero(comparisons.identifiable):
        linked[place[int(comparisons.first[pair])], place[int(comparisons.second[pair])]] = True
    count, group = connected_components(linked, directed=False)
    sizes = np.bincount(group, minlength=count)
    largest = np.flatnonzero(sizes == sizes.max(initial=0))
    return agents[group == largest[0]] if len(largest) == 1 else agents[:0]


def _explain(agent: int, comparisons: Comparisons, judged_clips: np.ndarray) -> Reason:
    """Return why an agent cannot be compared."""
    own = (comparisons.first == agent) | (comparisons.second == agent)
    if not comparisons.scenarios[own].any():
        return "scenarios"
    return "clips" if judged_clips[agent] < MIN_CLIPS else "annotators"


def _order(agents: np.ndarray, rates: Rates) -> np.ndarray:
    return agents[np.lexsort((agents, -np.nan_to_num(rates.rate[agents], nan=-1.0)))]
