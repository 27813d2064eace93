"""Pass rates and all comparisons of agents, adjusted for the annotators who judged.

The rate of an agent is what the pool of these annotators says of it. Its differences are the
adjusted differences, so that rates, order and claims agree.

Axes: A agents, S scenarios, K annotators, U units, P pairs of agents, R rows (some agents).
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import expit, stdtr

from sts_analysis.statistics import estimate as est
from sts_analysis.statistics.annotator_fit import fit_annotators
from sts_analysis.statistics.annotators import AnnotatorModel
from sts_analysis.statistics.means import group_rows
from sts_analysis.statistics.missing import WorstCase, fill_missing
from sts_analysis.statistics.powered_rates import LabelControl
from sts_analysis.statistics.tabulation import Outcomes

Target = Literal["sampled", "fixed"]
MIN_CLIPS = 30
"""Judged clips that an agent must have for its differences to be adjusted."""
MIN_ANNOTATORS = 3
MIN_EFFECTIVE_ANNOTATORS = 2.0
"""Annotators from which on differences can hold for others."""
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
    """Pass rates of A agents; NaN where nothing is judged."""

    rate: np.ndarray  # float64[A], adjusted for annotators
    se: np.ndarray  # float64[A]
    df: np.ndarray  # float64[A]
    interval: np.ndarray  # float64[A, 2]
    # float64[A, 2], the lower end if unjudgeable continuations were all failures and the upper end
    # if all were successes; NaN for agents with few of them
    bounds: np.ndarray
    units: np.ndarray  # int64[A], units with a value
    effective_units: np.ndarray  # float64[A]
    scenarios: np.ndarray  # int64[A], scenarios with a value
    plain: np.ndarray  # float64[A], not adjusted
    workload: np.ndarray  # float64[A, K], the share of each rate that an annotator gave

    @property
    def effective_annotators(self) -> np.ndarray:
        """float64[A]; 0 where no annotator is known."""
        return _count_effective(self.workload)


class Comparisons(NamedTuple):
    """All pairs of some agents; NaN where a pair cannot be compared."""

    first: np.ndarray  # int64[P], index of the agent
    second: np.ndarray  # int64[P]
    # float64[P], rate of the first minus rate of the second, adjusted for annotators
    value: np.ndarray
    se: np.ndarray  # float64[P]
    df: np.ndarray  # float64[P]
    interval: np.ndarray  # float64[P, 2]
    p: np.ndarray  # float64[P]; NaN also if too few units differ
    p_holm: np.ndarray  # float64[P], for all pairs together
    p_worst: np.ndarray  # float64[P], with all missing continuations against the agent in front
    p_worst_holm: np.ndarray  # float64[P], for all pairs together
    missing: np.ndarray  # int64[P], planned continuations that the two agents lack
    identifiable: np.ndarray  # bool[P], the data can tell the agents from their annotators
    scenarios: np.ndarray  # int64[P], in which both have a value
    adjustment: np.ndarray  # float64[P], how far adjusting for annotators moved the difference
    adjustment_p: np.ndarray  # float64[P], for all pairs together (Holm)


class _Design(NamedTuple):
    """Weights of scenarios: of judged ones, and of those whose labels count."""

    judged: est.Weighting
    labelled: est.Weighting | None  # without labels None


class _Terms(NamedTuple):
    """Contributions of agents to rates and differences under one weighting."""

    plain: np.ndarray  # float64[R], rate without adjustment
    rate: np.ndarray  # float64[R], adjusted
    unit_errors: np.ndarray  # float64[R, U], of the adjusted rate
    moved: np.ndarray  # float64[R, U], of what adjusting moves
    unknown: np.ndarray  # float64[R, N], errors that no unit makes; see `Opinions`
    within: np.ndarray  # float64[R], variance of continuations, if the scenarios are fixed; else 0
    df: np.ndarray  # float64[R]
    owed: np.ndarray  # float64[R, K], the share of the rate that each annotator gave
    sums: np.ndarray  # float64[R, U], weighted values by unit
    # float64[R, K], how far annotators would move the rate; see `AnnotatorModel.vary`
    lenient: np.ndarray
    favoured: np.ndarray  # float64[R], variance of favours

    @property
    def se(self) -> np.ndarray:
        """float64[R]; rounding counts as 0."""
        squares = (self.unit_errors**2).sum(axis=1) + (self.unknown**2).sum(axis=1)
        return est.take_root(squares + self.within)


class RateModel:
    """The rates and differences of one label source.

    Args:
      outcomes: of that source.
      target: "sampled" for other scenarios like these, "fixed" for these scenarios alone.
      missing: int64[A, S], planned continuations that agents lack; None for none.
      control: labels that correct the values, of target "sampled"; None for none.
    """

    def __init__(
        self,
        outcomes: Outcomes,
        *,
        target: Target = "sampled",
        missing: np.ndarray | None = None,
        control: LabelControl | None = None,
    ) -> None:
        judging = outcomes.judging
        self.outcomes, self.target, self.control = outcomes, target, control
        self.missing = np.zeros(outcomes.value.shape, np.int64) if missing is None else missing
        self.annotators: AnnotatorModel | None = (
            None
            if judging is None
            else fit_annotators(judging.judgements, judging.successes, outcomes.unit)
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
        for rows, mask in group_rows(self._find_known(np.arange(agents), suite)):
            design = self._weigh(mask, suite)
            terms, weighting = self._measure(rows, design), design.judged
            rate[rows] = np.clip(np.round(terms.rate, _DIGITS), 0, 1) + 0.0  # no -0
            se[rows], plain[rows] = terms.se, terms.plain
            df[rows], workload[rows] = terms.df, terms.owed
            count[rows] = (weighting.weight > 0).sum()
            units[rows], effective[rows] = weighting.units, weighting.effective_units
            interval[rows] = est.rate_intervals(terms.rate, terms.se, terms.df, weighting.units)
        for row in np.flatnonzero(self.bounded):
            mask = self._find_known(np.array([row]), suite, outcomes.low[[row]])[0]
            if mask.any():
                design = self._weigh(mask, suite)
                for end in (0, 1):
                    filled = self._fill(int(row), end, with_unjudgeable=True, with_missing=False)
                    terms = self._measure(np.array([row]), design, filled)
                    ends = est.rate_intervals(terms.rate, terms.se, terms.df, design.judged.units)
                    bounds[row, end] = ends[0, end]
        return Rates(rate, se, df, interval, bounds, units, effective, count, plain, workload)

    def generalises(self, rates: Rates, agents: np.ndarray) -> bool:
        """Return whether the data can tell which differences hold for other annotators, too."""
        if self.annotators is None or self._people < MIN_ANNOTATORS:
            return False
        known = self.annotators.favour_df > 0 and self.annotators.tell(rates.workload[agents]).all()
        enough = rates.effective_annotators[agents] >= MIN_EFFECTIVE_ANNOTATORS
        return bool(known and enough.all())

    def widen_rates(self, rates: Rates) -> np.ndarray:
        """Return intervals of rates for other annotators, float64[A, 2].

        Variances are added, with Satterthwaite's degrees of freedom. NaN with few annotators, or
        if the data cannot tell some of their effects.
        """
        model, wide = self.annotators, np.full((len(rates.rate), 2), np.nan)
        if model is None or self._people < MIN_ANNOTATORS_OF_RATES:
            return wide
        known = np.flatnonzero(np.isfinite(rates.rate) & model.tell(rates.workload))
        lenient, favoured = model.vary(rates.rate[known], expit(model.log_odds[known]))
        se, df = _join_variances(
            (rates.se[known] ** 2, rates.df[known]),
            ((lenient**2).sum(axis=1), np.full(len(known), self._people - 1.0)),
            (favoured, np.full(len(known), self.favour_df)),
        )
        units = np.maximum(rates.units[known], 1)
        wide[known] = est.rate_intervals(rates.rate[known], se, df, units)
        return wide

    def compare(self, agents: np.ndarray, *, other_annotators: bool = False) -> Comparisons:
        """Compare all pairs of agents, int64[R], the earlier of each pair first.

        Args:
          agents: indices.
          other_annotators: whether intervals and p are for other annotators like these.
        """
        first, second = agents[np.array(np.triu_indices(len(agents), 1))]
        pairs = len(first)
        place = np.zeros((len(agents), len(agents)), np.int64)
        place[np.triu_indices(len(agents), 1)] = np.arange(pairs)
        place += place.T
        value, se, p = np.full((3, pairs), np.nan)
        df, interval = np.ones(pairs), np.full((pairs, 2), np.nan)
        owed, scenarios = np.zeros((pairs, self._people)), np.zeros(pairs, np.int64)
        moved, moved_p = np.zeros(pairs), np.full(pairs, np.nan)
        suite = np.ones(len(self.outcomes.scenarios), bool)
        groups = group_rows(self._find_known(agents, suite))
        for g, (rows, mask) in enumerate(groups):
            # Agents of one group make pairs among themselves, unless there is only one.
            for columns, other_mask in groups[g + (len(rows) == 1) :]:
                joint = mask & other_mask
                if not joint[: len(suite)].any():
                    continue
                design = self._weigh(joint, suite)
                left = self._measure(agents[rows], design)
                right = left
                if columns is not rows:
                    right = self._measure(agents[columns], design)
                found_rows = self._compare_rows(left, right, design.judged, other_annotators)
                for i, j, found in found_rows:
                    at = place[rows[i], columns[j]]
                    turn = np.where(rows[i] < columns[j], 1.0, -1.0)
                    value[at], se[at], df[at] = turn * found.value, found.se, found.df
                    interval[at], p[at] = np.sort(turn[:, None] * found.interval, axis=1), found.p
                    owed[at] = turn[:, None] * (left.owed[i] - right.owed[j])
                    scenarios[at] = joint[: len(suite)].sum()
                    moved[at] = turn * (found.value - (left.plain[i] - right.plain[j]))
                    moved_p[at] = _test_adjustment(moved[at], left.moved[i] - right.moved[j])
        identifiable = (scenarios > 0) & self._identify(owed, first, second)
        lacked = self.missing.sum(axis=1)
        missing = lacked[first] + lacked[second]
        p, p_worst = self._count_against(value, p, missing, first, second, other_annotators)
        for column in (value, se, p, p_worst, interval):
            column[~identifiable] = np.nan
        moved_p = np.where(identifiable, moved_p, np.nan)
        moved = np.where(identifiable, moved, np.nan)
        return Comparisons(
            first, second, value, se, df, interval, p, est.adjust_holm(p), p_worst,
            est.adjust_holm(p_worst), missing, identifiable, scenarios,
            moved, est.adjust_holm(moved_p),
        )  # fmt: skip

    def compare_worst(
        self,
        best: int,
        other: int,
        *,
        other_annotators: bool = False,
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
        suite = np.ones(len(low.value), bool)
        values = np.stack([low.value, high.value])
        joint = np.asarray(self._find_known(np.array([best, other]), suite, values).all(axis=0))
        design = self._weigh(joint, suite)
        left = self._measure(np.array([best]), design, low)
        right = self._measure(np.array([other]), design, high)
        (_, _, found), *_ = self._compare_rows(left, right, design.judged, other_annotators)
        return found

    @property
    def without_labels(self) -> RateModel:
        """The same by people's verdicts alone."""
        model = copy(self)
        model.control = None
        return model

    @property
    def _people(self) -> int:
        return 0 if self.annotators is None else len(self.annotators.workload)

    @property
    def favour_df(self) -> float:
        """Degrees of freedom of the variance of favours, less its noise (Satterthwaite 1946)."""
        if self.annotators is None:
            return 1.0
        return max(1.0, self.annotators.favour_df * self.annotators.favour_share**2)

    def _find_known(
        self, agents: np.ndarray, suite: np.ndarray, values: np.ndarray | None = None
    ) -> np.ndarray:
        """Return which scenarios have values, bool[R, S], and with labels which have these, too."""
        values = self.outcomes.value[agents] if values is None else values
        known = np.asarray(np.isfinite(values) & suite)
        if self.control is None:
            return known
        return np.concatenate([known, self.control.inside[agents] & suite], axis=1)

    def _weigh(self, known: np.ndarray, suite: np.ndarray) -> _Design:
        """Weigh the scenarios of a row, or of some rows, of `_find_known`."""
        category, unit = np.where(suite, self.outcomes.category, -1), self.outcomes.unit
        judged, inside = known[: len(suite)], known[len(suite) :]
        weighting = est.weigh(judged, category, unit)
        if self.control is None:
            return _Design(weighting, None)
        # Where the labels of agents with a reason are not used, neither are these of others.
        inside = (inside | judged) & np.isin(category, category[judged])
        return _Design(weighting, est.weigh(inside, category, unit))

    def _fill(
        self, agent: int, outcome: int, *, with_unjudgeable: bool, with_missing: bool
    ) -> WorstCase:
        missing = self.missing if with_missing else np.zeros_like(self.missing)
        return fill_missing(
            self.outcomes, missing, agent, outcome, with_unjudgeable=with_unjudgeable
        )

    def _measure(
        self, agents: np.ndarray, design: _Design, worst: WorstCase | None = None
    ) -> _Terms:
        """Return the terms of agents, int64[R], from their values, or of one from its `worst`."""
        values = self.outcomes.value[agents] if worst is None else worst.value[None]
        weighting = design.judged
        inside = weighting.group >= 0
        x = np.where(inside, values, 0.0)
        sums = est.sum_units(x * weighting.weight, weighting.unit, len(weighting.scale))
        judging, model = self.outcomes.judging, self.annotators
        count = len(agents)
        # What labels of judged continuations move, and what labels of all add.
        moved_by, added, added_errors = np.zeros(x.shape), np.zeros(count), np.zeros((count, 1))
        if self.control is not None and design.labelled is not None:
            kept = 1.0 if worst is None else worst.share
            moved_by = np.where(inside, kept * self.control.moved[agents], 0.0)
            rest = est.estimate(kept * self.control.added[agents], design.labelled)
            added, added_errors = rest.value, rest.unit_errors
        adjusted, gain = x + moved_by, np.ones(count)
        plain = est.estimate(adjusted, weighting)
        owed = lenient = np.zeros((count, 0))
        unknown, favoured = np.zeros((count, 0)), np.zeros(count)
        spread = np.zeros((count, len(weighting.scale)))
        if judging is not None and model is not None:
            share, given = judging.share[agents], judging.value[agents]
            part = inside if worst is None else inside * worst.share
            weight = weighting.weight * part
            owed = np.einsum("s,rsk->rk", weight, share)
            given = given.sum(axis=2) * part
            passed = (given + moved_by) @ weighting.weight + added
            opinions = model.consult(agents, owed, passed)
            gain, whole = opinions.gain, part * share.sum(axis=2)
            above = given + moved_by - part * np.einsum("rsk,rk->rs", share, opinions.chance)
            # Has the adjusted rate as its mean, and varies by units as that does.
            adjusted = (x - given) + gain[:, None] * above + whole * opinions.pool[:, None]
            spread, unknown = opinions.unit_errors, opinions.unknown
        estimates = est.estimate(adjusted, weighting)
        rate = estimates.value + gain * added
        # Both errors are of the same units, so they are added before they are squared.
        unit_errors = estimates.unit_errors + gain[:, None] * added_errors
        df = np.full(count, weighting.df)
        moved = unit_errors + spread - plain.unit_errors - added_errors
        within = np.zeros(count)
        if self.target == "fixed":
            # The spread between scenarios is no error where these are the only ones.
            unit_errors = np.zeros_like(unit_errors)
            spreads = [self._vary_within(agent, weighting, worst) for agent in agents]
            within, df = (np.array(column) for column in zip(*spreads, strict=True))
        if model is not None:
            lenient, favoured = model.vary(rate, opinions.chance)
        return _Terms(
            plain.value + added, rate, unit_errors + spread, moved, unknown, within, df, owed,
            sums, lenient, favoured,
        )  # fmt: skip

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
        if self.annotators is None:
            return np.ones(len(first), bool)
        few = self.outcomes.judged_clips < MIN_CLIPS
        # With equal shares nothing is adjusted, so that few clips do no harm.
        balanced = (np.abs(self.annotators.centre(owed)) < est.ZERO).all(axis=1)
        return np.asarray((balanced | ~(few[first] | few[second])) & self.annotators.tell(owed))

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

    def _compare_rows(
        self, left: _Terms, right: _Terms, weighting: est.Weighting, other_annotators: bool
    ) -> Iterator[tuple[int, np.ndarray, est.Differences]]:
        """Yield (i, j, differences) of each row i on the left and rows j on the right, int64[n]."""
        sides = [
            est.rate_intervals(side.rate, side.se, side.df, weighting.units)
            for side in (left, right)
        ]
        gram = left.unknown @ right.unknown.T
        lengths = [np.einsum("rn,rn->r", side.unknown, side.unknown) for side in (left, right)]
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
            unknown = np.maximum(0.0, lengths[0][i] + lengths[1][j] - 2 * gram[i, j])
            variances = [(gap + within, df), (unknown, np.full(len(j), np.inf))]
            if other_annotators:
                people = ((left.lenient[i] - right.lenient[j]) ** 2).sum(axis=1)
                favoured = left.favoured[i] + right.favoured[j]
                variances.append((people, np.full(len(j), max(self._people - 1.0, 1.0))))
                variances.append((favoured, np.full(len(j), self.favour_df)))
            se, df = _join_variances(*variances)
            differing = (np.abs(left.sums[i] - right.sums[j]) > weighting.rounding).sum(axis=1)
            rates = np.broadcast_to(left.rate[i], len(j)), right.rate[j]
            ends = np.broadcast_to(sides[0][i], (len(j), 2)), sides[1][j]
            yield i, j, est.compare(se, df, differing, rates, ends)


def _join_variances(*parts: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return standard errors and degrees of freedom of sums of variances (Satterthwaite 1946)."""
    variance = np.sum([part for part, _ in parts], axis=0)
    below = np.sum([part**2 / df for part, df in parts], axis=0)
    df = np.divide(variance**2, below, out=np.array(parts[0][1], float), where=below > 0)
    return est.take_root(variance), df


def _test_adjustment(moved: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Return p of adjustments, float64[n], from their units' errors, float64[n, U].

    NaN where nothing is adjusted. Source: Hausman 1978, Econometrica 46:1251.
    """
    se, units = est.take_root((errors**2).sum(axis=1)), errors.shape[1]
    p = 2 * stdtr(max(units - 1, 1), -np.abs(moved) / np.where(se > 0, se, 1.0))
    return np.where(se > 0, p, np.nan)


def _count_effective(workload: np.ndarray) -> np.ndarray:
    return est.divide(1.0, (workload**2).sum(axis=1))
