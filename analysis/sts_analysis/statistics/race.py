"""A race of agents: which pairs a look at a study in rounds resolves, and which agents leave.

A pair is resolved if its agents differ significantly, by a bar that follows from its share of
information (Haybittle 1971 and Peto et al. 1976 for looks before the end), or if it is hopeless:
then they would hardly differ significantly at the end of the plan either.

Axes: A agents, P pairs of agents.
"""

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import numpy as np
from scipy import stats

from sts.annotations.races import DIFFERENT, HOPELESS, OPEN, Look, PairLook, Race, find_points
from sts_analysis.statistics import estimate as est
from sts_analysis.statistics.information import measure_information
from sts_analysis.statistics.rates import RateModel, Rates
from sts_analysis.statistics.tabulation import Outcomes, RaceBounds

ALPHA = 0.05
CLOSED_Z = 2.24
MIN_UNITS = 10
MAX_LACKING = 0.1
_HOPE = 1.5
"""Standard deviations by which a difference may still grow until the end of the plan."""
_RULE_OF_THREE = 3
"""Units that hardly differ by chance among as many as were seen, if none of these did (Hanley and
Lippman-Hand 1983, JAMA 249:1743)."""
_FIRST_POINTS = (0.25, 0.5, 0.75)
_COMPLETE = 1 - 1e-9

ModelAt = Callable[[RaceBounds], RateModel]
"""Returns the rates from what is judged within the bounds of a look."""
Resolved = Mapping[tuple[str, str], float]
"""Pairs of agents by name, in alphabetical order: 1 if the first is better, -1 if the second is,
0 if they do not differ significantly."""


class LookResult(NamedTuple):
    """Result of one look at the ratings; see `races.Look`."""

    pairs: tuple[PairLook, ...]
    leaving: tuple[str, ...]


def list_points(rounds: int) -> tuple[float, ...]:
    """List the points of looks, in rounds: each quarter of the first, and the end of each."""
    return (*_FIRST_POINTS, *map(float, range(1, rounds + 1)))


def find_due_point(
    until: Mapping[str, float], last: Mapping[str, float], rounds: int
) -> float | None:
    """Find the point at which a look is due; None if none is.

    Args:
      until: of each agent in the race, the place in rounds before which everything is judged.
      last: the point of each agent's last look; without one, it had none.
      rounds: number of rounds.
    """
    if not until:
        return None
    reached = min(until.values())
    point = max((point for point in list_points(rounds) if point <= reached), default=0.0)
    return point if any(last.get(agent, 0.0) < point for agent in until) else None


def find_closed_bar(information: np.ndarray | float) -> np.ndarray:
    """Find the adjusted p below which pairs of a study that ended early differ significantly.

    Args:
      information: share of the full plan's that there is; NaN gives a bar of 0.
    """
    share = np.nan_to_num(information)
    bar = np.minimum(ALPHA, 2 * stats.norm.sf(CLOSED_Z / np.sqrt(np.maximum(share, 1e-9))))
    return np.asarray(np.where(share >= _COMPLETE, ALPHA, bar))


def find_hopeless(
    difference: np.ndarray, se: np.ndarray, information: np.ndarray, pairs: int | np.ndarray
) -> np.ndarray:
    """Find pairs that would hardly differ significantly at the end of the plan.

    Args:
      difference: float64[..., P], of one or many studies.
      se: float64[..., P], its standard error.
      information: float64[..., P], share of the full plan's that there is.
      pairs: number of comparisons among which a pair would have to stand out; of many studies,
        int64[..., 1].

    Returns:
      bool[..., P]; False where anything is NaN.
    """
    end = np.sqrt(information) * se
    room = _HOPE * np.sqrt(np.maximum(se**2 - end**2, 0.0))
    level = ALPHA / 2 / np.maximum(pairs, 1)
    hopeless = np.abs(difference) + room < stats.norm.isf(level) * end
    # A sign test of units that differ, which those without an error get, needs so many.
    may_differ = _RULE_OF_THREE * (est.divide(1.0, information) - 1)
    alike = (np.abs(difference) <= est.ZERO) & (information > 0) & (may_differ < -np.log2(level))
    return np.asarray(np.where(se == 0, alike, hopeless))


def find_candidates(outcomes: Outcomes, rates: Rates) -> tuple[np.ndarray, dict[int, int]]:
    """Find the agents to compare.

    Returns:
      int64, those that are no baseline, have a rate, and continued the scenarios that others did;
      and how many scenarios each agent lacks that is left out for it.
    """
    agents = np.flatnonzero(~outcomes.baseline)
    wanted = np.isfinite(outcomes.value).any(axis=0)
    lacks = (wanted & ~outcomes.continued).sum(axis=1)  # what waits to be judged is not lacking
    lacking = {int(a): int(lacks[a]) for a in agents if lacks[a] > MAX_LACKING * wanted.sum()}
    known = np.isfinite(rates.rate[agents]) & ~np.isin(agents, list(lacking))
    return agents[known], lacking


def read_sign(pair: PairLook) -> float:
    """Return 1 if the first agent of a resolved pair is better, -1 if the second is, 0 if none."""
    return float(np.sign(pair.difference or 0.0)) if pair.outcome == DIFFERENT else 0.0


def take_look(
    model_at: ModelAt, race: Race, racing: Collection[str], point: float, goal: str
) -> Look:
    """Look at the agents in a race at a point, in rounds; see `look_at`.

    The time, the seed and whether a lead must confirm it are for the caller to fill in.
    """
    looked = find_points(race.looks)
    bounds = looked | {agent: max(point, looked.get(agent, 0.0)) for agent in racing} | race.out
    resolved = {names: read_sign(pair) for names, (_, pair) in race.resolved.items()}
    found = look_at(model_at(RaceBounds(bounds, bounds)), resolved, goal, racing)
    return Look(
        number=len(race.looks) + 1,
        at=0.0,
        point=point,
        goal=goal,
        seed=0,
        agents=tuple(sorted(racing)),
        pairs=found.pairs,
        leaving=tuple(agent for agent in found.leaving if agent not in race.kept),
        needs_confirmation=False,
    )


def repeat_race(model_at: ModelAt, until: Mapping[str, float], rounds: int, goal: str) -> Race:
    """Repeat a race from its ratings: the looks of a study that makes each in time.

    Args:
      model_at: see `ModelAt`.
      until: of each agent, the place in rounds before which everything is judged.
      rounds: number of rounds.
      goal: "rank" or "best".
    """
    race = Race()
    for point in list_points(rounds):
        racing = {agent for agent in until if agent not in race.out}
        if not racing or min(until[agent] for agent in racing) < point:
            break
        race.looks.append(take_look(model_at, race, racing, point, goal))
    return race


def look_at(model: RateModel, resolved: Resolved, goal: str, racing: Collection[str]) -> LookResult:
    """Look at all pairs of agents that are not resolved yet.

    Agents that cannot be compared stay until the last of the others leaves. No agent leaves if
    fewer than two can be compared.

    Args:
      model: of what was judged before the point of the look.
      resolved: pairs that earlier looks resolved.
      goal: "rank"; or "best", for which only pairs count of which both may be the best.
      racing: names of the agents that are in the race.
    """
    rates, names = model.estimate_rates(), model.outcomes.agents
    candidates, _ = find_candidates(model.outcomes, rates)
    if len(candidates) < 2:  # there is nothing to compare yet
        return LookResult((), ())
    looks = _resolve(model, rates, candidates, resolved)
    decided = {(one.first, one.second): read_sign(one) for one in looks if one.outcome != OPEN}
    found = {**resolved, **decided}
    open_pairs = [(one.first, one.second) for one in looks if one.outcome == OPEN]
    if goal == "best":
        beaten = {pair[1 if sign > 0 else 0] for pair, sign in found.items() if sign}
        open_pairs = [pair for pair in open_pairs if not beaten.intersection(pair)]
    racing_pairs = [pair for pair in open_pairs if not {*racing}.isdisjoint(pair)]
    if not racing_pairs:
        return LookResult(looks, tuple(sorted(racing)))
    waiting = {name for pair in racing_pairs for name in pair}
    ranked = {names[agent] for agent in candidates}
    return LookResult(looks, tuple(sorted(ranked.intersection(racing) - waiting)))


def _resolve(
    model: RateModel, rates: Rates, candidates: np.ndarray, resolved: Resolved
) -> tuple[PairLook, ...]:
    """Decide each pair that is not resolved yet."""
    pairs, names = model.compare(candidates), model.outcomes.agents
    people = model.without_labels.compare(candidates) if model.control else None
    information, is_known = measure_information(model.outcomes, pairs, people)
    bar = find_closed_bar(information)
    enough = rates.units[np.stack([pairs.first, pairs.second])].min(axis=0) >= MIN_UNITS
    with np.errstate(invalid="ignore"):
        differ = enough & (pairs.p_worst_holm < bar)
    both = zip(pairs.first, pairs.second, strict=True)
    known = [(min(names[a], names[b]), max(names[a], names[b])) for a, b in both]
    told = np.array([bool(resolved.get(pair)) for pair in known]) | differ
    # What is assumed of the variance may decide that agents differ, whose bar is then far from its
    # level in any case, but not that they do not.
    share = np.where(is_known, information, np.nan)
    hopeless = enough & find_hopeless(pairs.value, pairs.se, share, int((~told).sum()))
    rows = []
    for at, pair in enumerate(known):
        if pair in resolved:
            continue
        sign = 1.0 if names[pairs.first[at]] == pair[0] else -1.0
        numbers = sign * pairs.value[at], pairs.se[at], pairs.p_worst_holm[at], bar[at]
        difference, se, p, bar_, own = (
            float(x) if np.isfinite(x) else None for x in (*numbers, information[at])
        )
        outcome = DIFFERENT if differ[at] else HOPELESS if hopeless[at] else OPEN
        rows.append(PairLook(*pair, difference, se, p, bar_ or 0.0, own, outcome))
    return tuple(rows)
