"""Pass rates and all comparisons of agents, adjusted for the annotators who judged.

The rate of an agent is the mean of x - share . effect over scenarios: what the pool of these
annotators says of it. Its differences are the adjusted differences, so that rates, order and
claims agree.

Axes: A agents, S scenarios, K annotators, U units, P pairs of agents, R rows (some agents).
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import chdtrc, stdtr

from sts_analysis.statistics import estimate as est
from sts_analysis.statistics.annotators import (
    MIN_ANNOTATORS,
    MIN_EFFECTIVE_ANNOTATORS,
    Effects,
    fit_effects,
)
from sts_analysis.statistics.means import group_rows
from sts_analysis.statistics.missing import WorstCase, fill_missing
from sts_analysis.statistics.tabulation import Outcomes

Target = Literal["sampled", "fixed"]
MIN_CLIPS = 30
"""Judged clips that an agent must have for its differences to be adjusted."""
MIN_SHARED = 0.5
"""Share of an agent's scenarios that two annotators must have judged, for a statement on others:
whether people favour an agent shows only where two judged the same."""
MIN_ANNOTATORS_OF_RATES = 5
"""Annotators from which on rates have an interval for others; the variance of fewer is too vague
near 0 and 1."""
MAX_UNJUDGEABLE = 0.05
"""Share of an agent's continuations from which on unjudgeable ones are counted against it."""

MAX_CLAIMED_P = 0.05
"""Value of p from which on no pair is claimed, so that missing continuations cannot undo it."""
_DIGITS = 12
"""Digits of a rate; what follows is rounding."""


class Rates(NamedTuple):
    """Pass rates of A agents; NaN where nothing is judged.

    Attributes:
      rate: float64[A], adjusted for annotators.
      se: float64[A].
      df: float64[A].
      interval: float64[A, 2].
      bounds: float64[A, 2], the lower end if unjudgeable continuations were all failures and the
        upper end if all were successes; NaN for agents with few of them.
      units: int64[A], units with a value.
      effective_units: float64[A].
      scenarios: int64[A], scenarios with a value.
      plain: float64[A], not adjusted.
      workload: float64[A, K], the share of each rate that an annotator gave.
    """

    rate: np.ndarray
    se: np.ndarray
    df: np.ndarray
    interval: np.ndarray
    bounds: np.ndarray
    units: np.ndarray
    effective_units: np.ndarray
    scenarios: np.ndarray
    plain: np.ndarray
    workload: np.ndarray

    @property
    def effective_annotators(self) -> np.ndarray:
        """float64[A]; 0 where no annotator is known."""
        return _count_effective(self.workload)


class Comparisons(NamedTuple):
    """All pairs of some agents; NaN where a pair cannot be compared.

    Attributes:
      first: int64[P], index of the agent.
      second: int64[P].
      value: float64[P], rate of the first minus rate of the second, adjusted for annotators.
      se: float64[P].
      df: float64[P].
      interval: float64[P, 2].
      p: float64[P]; NaN also if too few units differ.
      p_holm: float64[P], for all pairs together.
      p_worst: float64[P], with all missing continuations against the agent in front.
      p_worst_holm: float64[P], for all pairs together.
      missing: int64[P], planned continuations that the two agents lack.
      identifiable: bool[P], the data can tell the agents from their annotators.
      scenarios: int64[P], in which both have a value.
      adjustment: float64[P], how far adjusting for annotators moved the difference.
      adjustment_p: float64[P], for all pairs together (Holm).
    """

    first: np.ndarray
    second: np.ndarray
    value: np.ndarray
    se: np.ndarray
    df: np.ndarray
    interval: np.ndarray
    p: np.ndarray
    p_holm: np.ndarray
    p_worst: np.ndarray
    p_worst_holm: np.ndarray
    missing: np.ndarray
    identifiable: np.ndarray
    scenarios: np.ndarray
    adjustment: np.ndarray
    adjustment_p: np.ndarray


class _Terms(NamedTuple):
    """What agents contribute to rates and differences under one weighting.

    Attributes:
      plain: float64[R], rate without adjustment.
      rate: float64[R], adjusted.
      unit_errors: float64[R, U], of the adjusted rate.
      within: float64[R], variance of continuations, if the scenarios are fixed; else 0.
      df: float64[R].
      owed: float64[R, K], the share of the rate that each annotator gave.
      sums: float64[R, U], weighted values by unit.
      people: float64[R, K], how far annotators deviate from each other, once adjusted.
      cells: float64[R, S * K], the same by scenario.
    """

    plain: np.ndarray
    rate: np.ndarray
    unit_errors: np.ndarray
    within: np.ndarray
    df: np.ndarray
    owed: np.ndarray
    sums: np.ndarray
    people: np.ndarray
    cells: np.ndarray

    @property
    def se(self) -> np.ndarray:
        """float64[R]; rounding counts as 0."""
        return est.take_root((self.unit_errors**2).sum(axis=1) + self.within)


class RateModel:
    """The rates and differences of one label source.

    Args:
      outcomes: of that source.
      target: "sampled" for other scenarios like these, "fixed" for these scenarios alone.
      missing: int64[A, S], planned continuations that agents lack; None for none.
    """

    def __init__(
        self, outcomes: Outcomes, *, target: Target = "sampled", missing: np.ndarray | None = None
    ) -> None:
        judging = outcomes.judging
        self.outcomes, self.target = outcomes, target
        self.missing = np.zeros(outcomes.value.shape, np.int64) if missing is None else missing
        self.effects: Effects | None = (
            None
            if judging is None
            else fit_effects(judging.judgements, judging.successes, outcomes.unit)
        )
        bad, judged = outcomes.unjudgeable.sum(axis=1), outcomes.judged.sum(axis=1)
        self.bounded = (bad > 0) & (bad >= MAX_UNJUDGEABLE * (bad + judged))
        """bool[A], agents whose unjudgeable continuations are counted against them."""

    def estimate_rates(self, scenarios: np.ndarray | None = None) -> Rates:
        """Estimate the rates of all agents, over all scenarios or some of them, bool[S]."""
        outcomes = self.outcomes
        suite = np.ones(len(outcomes.scenarios), bool) if scenarios is None else scenarios
        agents = len(outcomes.agents)
        rate, se, df, plain = np.full((4, agents), np.nan)
        units, count = np.zeros((2, agents), np.int64)
        effective = np.zeros(agents)
        interval, bounds = np.full((2, agents, 2), np.nan)
        workload = np.zeros((agents, self._people))
        for rows, mask in group_rows(np.isfinite(outcomes.value) & suite):
            weighting = self._weigh(mask, suite)
            terms = self._measure(rows, weighting)
            # Adjusting for annotators may move a rate out of [0, 1].
            rate[rows] = np.clip(np.round(terms.rate, _DIGITS), 0, 1)
            se[rows], plain[rows] = terms.se, terms.plain
            df[rows], count[rows], workload[rows] = terms.df, mask.sum(), terms.owed
            units[rows], effective[rows] = weighting.units, weighting.effective_units
            interval[rows] = est.rate_intervals(terms.rate, terms.se, terms.df, weighting.units)
        for row in np.flatnonzero(self.bounded):
            mask = np.isfinite(outcomes.low[row]) & suite
            if mask.any():
                weighting = self._weigh(mask, suite)
                for end in (0, 1):
                    filled = self._fill(int(row), end, with_unjudgeable=True, with_missing=False)
                    terms = self._measure(np.array([row]), weighting, filled)
                    ends = est.rate_intervals(terms.rate, terms.se, terms.df, weighting.units)
                    bounds[row, end] = ends[0, end]
        return Rates(rate, se, df, interval, bounds, units, effective, count, plain, workload)

    def generalises(self, rates: Rates, agents: np.ndarray) -> bool:
        """Return whether differences of these agents hold for other annotators, too."""
        if self.outcomes.judging is None or self._people < MIN_ANNOTATORS:
            return False
        enough = rates.effective_annotators[agents] >= MIN_EFFECTIVE_ANNOTATORS
        people = (self.outcomes.judging.share[agents] > 0).sum(axis=2)
        shared = (people > 1).sum(axis=1) >= MIN_SHARED * (people > 0).sum(axis=1)
        return bool(enough.all() and shared.all())

    def widen_rates(self, rates: Rates) -> np.ndarray:
        """Return intervals of rates for other annotators, float64[A, 2].

        Variances are added, with Satterthwaite's degrees of freedom. NaN with few annotators, or
        if the data cannot tell some of their effects.
        """
        if (
            self.effects is None
            or len(self.effects.unknown)
            or self._people < MIN_ANNOTATORS_OF_RATES
        ):
            return np.full((len(rates.rate), 2), np.nan)
        # The variance of the mean effect of others who share the work as these do.
        people = self.effects.component * (self.effects.workload**2).sum()
        unit = rates.se**2
        variance = unit + people
        below = unit**2 / rates.df + people**2 / (self._people - 1)
        df = np.divide(variance**2, below, out=np.ones_like(below), where=below > 0)
        return est.rate_intervals(rates.rate, np.sqrt(variance), df, np.maximum(rates.units, 1))

    def compare(self, agents: np.ndarray, *, other_annotators: bool) -> Comparisons:
        """Compare all pairs of agents, int64[R], the earlier of each pair first.

        Args:
          agents: indices.
          other_annotators: whether intervals and p hold for other annotators as well.
        """
        first, second = agents[np.array(np.triu_indices(len(agents), 1))]
        pairs = len(first)
        place = np.zeros((len(agents), len(agents)), np.int64)
        place[np.triu_indices(len(agents), 1)] = np.arange(pairs)
        place += place.T
        value, se, p = np.full((3, pairs), np.nan)
        df, interval = np.ones(pairs), np.full((pairs, 2), np.nan)
        owed, scenarios = np.zeros((pairs, self._people)), np.zeros(pairs, np.int64)
        groups = group_rows(np.isfinite(self.outcomes.value[agents]))
        suite = np.ones(len(self.outcomes.scenarios), bool)
        for g, (rows, mask) in enumerate(groups):
            # Agents of one group make pairs among themselves, unless there is only one.
            for columns, other_mask in groups[g + (len(rows) == 1) :]:
                joint = mask & other_mask
                if not joint.any():
                    continue
                weighting = self._weigh(joint, suite)
                left = self._measure(agents[rows], weighting)
                right = left
                if columns is not rows:
                    right = self._measure(agents[columns], weighting)
                for i, j, found in _compare_rows(left, right, weighting, other_annotators):
                    at = place[rows[i], columns[j]]
                    turn = np.where(rows[i] < columns[j], 1.0, -1.0)
                    value[at], se[at], df[at] = turn * found.value, found.se, found.df
                    interval[at], p[at] = np.sort(turn[:, None] * found.interval, axis=1), found.p
                    owed[at] = turn[:, None] * (left.owed[i] - right.owed[j])
                    scenarios[at] = joint.sum()
        identifiable = (scenarios > 0) & self._identify(owed, first, second)
        lacked = self.missing.sum(axis=1)
        missing = lacked[first] + lacked[second]
        p, p_worst = self._count_against(value, p, missing, first, second, other_annotators)
        for column in (value, se, p, p_worst, interval):
            column[~identifiable] = np.nan
        moved, moved_p = self._measure_adjustment(owed, identifiable)
        return Comparisons(
            first, second, value, se, df, interval, p, est.adjust_holm(p), p_worst,
            est.adjust_holm(p_worst), missing, identifiable, scenarios,
            moved, est.adjust_holm(moved_p),
        )  # fmt: skip

    def measure_favouritism(self, first: int, second: int) -> float:
        """Return p if annotators judge two agents by the same measure; NaN if they are too few.

        Then the square of an annotator's summed deviations has the expectation of the sum of their
        squares, and the ratio of both over annotators is chi-square's.
        """
        joint = np.isfinite(self.outcomes.value[[first, second]]).all(axis=0)
        if self.effects is None or not joint.any():
            return float("nan")
        weighting = self._weigh(joint, np.ones_like(joint))
        terms = self._measure(np.array([first, second]), weighting)
        people, cells = (
            float(((sums[0] - sums[1]) ** 2).sum()) for sums in (terms.people, terms.cells)
        )
        effective = float(_count_effective(terms.owed).min())
        if effective - 1 < est.ZERO or cells < est.ZERO**2:
            return float("nan")
        return float(chdtrc(effective - 1, (effective - 1) * people / cells))

    def compare_worst(
        self,
        best: int,
        other: int,
        *,
        other_annotators: bool,
        with_unjudgeable: bool = False,
        with_missing: bool = True,
    ) -> est.Differences:
        """Compare agents, missing ones being failures of the first and successes of the second.

        Args:
          best: index of the first agent.
          other: index of the second.
          other_annotators: whether the interval and p hold for other annotators as well.
          with_unjudgeable: whether unjudgeable continuations count like missing ones.
          with_missing: whether missing ones count.
        """
        counted = {"with_unjudgeable": with_unjudgeable, "with_missing": with_missing}
        low, high = self._fill(best, 0, **counted), self._fill(other, 1, **counted)
        joint = np.isfinite(low.value + high.value)
        weighting = self._weigh(joint, np.ones_like(joint))
        left = self._measure(np.array([best]), weighting, low)
        right = self._measure(np.array([other]), weighting, high)
        (_, _, found), *_ = _compare_rows(left, right, weighting, other_annotators)
        return found

    @property
    def _people(self) -> int:
        return 0 if self.effects is None else len(self.effects.effect)

    def _weigh(self, judged: np.ndarray, suite: np.ndarray) -> est.Weighting:
        category = np.where(suite, self.outcomes.category, -1)
        return est.weigh(judged, category, self.outcomes.unit)

    def _fill(
        self, agent: int, outcome: int, *, with_unjudgeable: bool, with_missing: bool
    ) -> WorstCase:
        missing = self.missing if with_missing else np.zeros_like(self.missing)
        return fill_missing(
            self.outcomes, missing, agent, outcome, with_unjudgeable=with_unjudgeable
        )

    def _measure(
        self, agents: np.ndarray, weighting: est.Weighting, worst: WorstCase | None = None
    ) -> _Terms:
        """Return the terms of agents, int64[R], from their values, or of one from its `worst`."""
        values = self.outcomes.value[agents] if worst is None else worst.value[None]
        inside = weighting.group >= 0
        x = np.where(inside, values, 0.0)
        sums = est.sum_units(x * weighting.weight, weighting.unit, len(weighting.scale))
        judging, effects = self.outcomes.judging, self.effects
        owed = people = cells = np.zeros((len(agents), 0))
        adjusted = x
        if judging is not None and effects is not None:
            share, given = judging.share[agents], judging.value[agents]  # copies, changed in place
            if not inside.all():
                share *= inside[:, None]
                given *= inside[:, None]
            if worst is not None:
                share *= worst.share[:, None]
                given *= worst.existing_share[:, None]
            adjusted = x - share @ effects.effect
            owed = np.einsum("s,rsk->rk", weighting.weight, share)
            given -= share * effects.effect
            whole, total = share.sum(axis=2, keepdims=True), given.sum(axis=2, keepdims=True)
            share *= est.divide(total, whole)
            given -= share  # what is left deviates from the agent's mean in the scenario
            given *= weighting.weight[:, None]
            people, cells = given.sum(axis=1), given.reshape(len(agents), -1)
        estimates = est.estimate(adjusted, weighting)
        unit_errors, df = estimates.unit_errors, np.full(len(agents), weighting.df)
        within = np.zeros(len(agents))
        if self.target == "fixed":
            # The spread between scenarios is no error where these are the only ones.
            unit_errors = np.zeros_like(unit_errors)
            spreads = [self._vary_within(agent, weighting, worst) for agent in agents]
            within, df = (np.array(column) for column in zip(*spreads, strict=True))
        if effects is not None:
            # Effects are estimated from the same units, so a unit also errs by what it does to
            # them.
            unit_errors = unit_errors - owed @ effects.drop.T
        plain = x @ weighting.weight
        return _Terms(plain, estimates.value, unit_errors, within, df, owed, sums, people, cells)

    def _vary_within(
        self, agent: int, weighting: est.Weighting, worst: WorstCase | None
    ) -> tuple[float, float]:
        """Return variance and df of a rate over these very scenarios, from its continuations."""
        made = self.outcomes.continuations
        own = (made.agent == agent) & np.isfinite(made.y) & (weighting.group >= 0)[made.scenario]
        scenario, y = made.scenario[own], made.y[own]
        if worst is not None:
            added = np.repeat(np.arange(len(worst.missing)), worst.missing)
            added = added[(weighting.group >= 0)[added]]
            scenario = np.append(scenario, added)
            y = np.append(y, np.full(len(added), float(worst.outcome)))
        if not len(y):  # every continuation is unjudgeable
            return 0.0, 1.0
        # The same estimator, with scenarios as categories and continuations as units.
        size = weighting.weight[scenario] / np.bincount(scenario)[scenario]
        each = est.weigh(np.ones(len(y), bool), scenario, np.arange(len(y)), size)
        return float(est.estimate(y[None], each).se[0] ** 2), each.df

    def _identify(self, owed: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return bool[P], pairs whose difference is not confounded with their annotators."""
        if self.effects is None:
            return np.ones(len(first), bool)
        few = self.outcomes.judged_clips < MIN_CLIPS
        # With equal shares nothing is adjusted, so that few clips do no harm.
        balanced = (np.abs(self.effects.centre(owed)) < est.ZERO).all(axis=1)
        return np.asarray((balanced | ~(few[first] | few[second])) & self.effects.tell(owed))

    def _count_against(
        self,
        value: np.ndarray,
        p: np.ndarray,
        missing: np.ndarray,
        first: np.ndarray,
        second: np.ndarray,
        other_annotators: bool,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return p with unjudgeable continuations against the agent in front, float64[P].

        The second array also has missing ones against it.
        """
        p = p.copy()
        bounded = self.bounded[first] | self.bounded[second]

        def test(at: int, with_missing: bool) -> float:
            best, other = (first, second) if value[at] > 0 else (second, first)
            found = self.compare_worst(
                int(best[at]),
                int(other[at]),
                other_annotators=other_annotators,
                with_unjudgeable=bool(bounded[at]),
                with_missing=with_missing,
            )
            # If the order is lost or nothing can be tested, nothing can be claimed.
            return found.p[0] if found.value[0] > 0 and np.isfinite(found.p[0]) else 1.0

        for at in np.flatnonzero(bounded & np.isfinite(p)).tolist():
            p[at] = max(p[at], test(at, False))
        worst = p.copy()
        for at in np.flatnonzero((missing > 0) & (p < MAX_CLAIMED_P)).tolist():
            worst[at] = max(worst[at], test(at, True))
        return p, worst

    def _measure_adjustment(
        self, owed: np.ndarray, identifiable: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return how far adjusting moved each difference, and p, float64[P] each (Hausman 1978)."""
        nothing = np.zeros(len(owed)), np.full(len(owed), np.nan)
        if self.effects is None or len(self.effects.drop) < 2:
            return nothing
        units = len(self.effects.drop)
        contrast = self.effects.centre(owed)
        moved = -contrast @ self.effects.effect
        squares = self.effects.drop.T @ self.effects.drop
        variance = ((contrast @ squares) * contrast).sum(axis=1)  # of contrast . drop, over units
        # The jackknife over units, hence t with one degree less than units.
        se = np.sqrt((units - 1) / units * np.maximum(variance, 0.0))
        seen = identifiable & (se > est.ZERO)
        p = 2 * stdtr(units - 1, -np.abs(moved) / np.where(seen, se, 1.0))
        return np.where(identifiable, moved, np.nan), np.where(seen, p, np.nan)


def _compare_rows(
    left: _Terms, right: _Terms, weighting: est.Weighting, other_annotators: bool
) -> Iterator[tuple[int, np.ndarray, est.Differences]]:
    """Yield (i, j, differences) of each row i on the left and the rows j on the right, int64[n]."""
    sides = [
        est.rate_intervals(side.rate, side.se, side.df, weighting.units) for side in (left, right)
    ]
    gram = left.cells @ right.cells.T if other_annotators else np.zeros((0, 0))
    lengths = [np.einsum("rc,rc->r", side.cells, side.cells) for side in (left, right)]
    effective = [_count_effective(side.owed) for side in (left, right)]
    for i in range(len(left.rate)):
        j = np.arange(i + 1 if right is left else 0, len(right.rate))
        if not len(j):
            continue
        gap = ((left.unit_errors[i] - right.unit_errors[j]) ** 2).sum(axis=1)
        within = left.within[i] + right.within[j]
        df = np.full(len(j), weighting.df)
        if within.any():
            below = left.within[i] ** 2 / left.df[i] + right.within[j] ** 2 / right.df[j]
            df = np.where(below > 0, within**2 / np.where(below > 0, below, 1.0), df)
        variance = gap + within
        if other_annotators:
            people = ((left.people[i] - right.people[j]) ** 2).sum(axis=1)
            fewest = np.minimum(effective[0][i], effective[1][j])
            cell = lengths[0][i] + lengths[1][j] - 2 * gram[i, j]
            free = np.maximum(fewest - 1, est.ZERO)
            # K / (K - 1), as deviations are from a mean of K. The noise of single cells is in the
            # variance already: only what annotators repeat over scenarios is added.
            more = np.maximum(0.0, fewest / free * people - cell)
            whole = variance + more
            below = variance**2 / df + more**2 / free
            df = np.where(more > 0, whole**2 / np.where(more > 0, below, 1.0), df)
            variance = whole
        differing = (np.abs(left.sums[i] - right.sums[j]) > weighting.rounding).sum(axis=1)
        rates = np.broadcast_to(left.rate[i], len(j)), right.rate[j]
        ends = np.broadcast_to(sides[0][i], (len(j), 2)), sides[1][j]
        yield i, j, est.compare(est.take_root(variance), df, differing, rates, ends)


def _count_effective(workload: np.ndarray) -> np.ndarray:
    return est.divide(1.0, (workload**2).sum(axis=1))
