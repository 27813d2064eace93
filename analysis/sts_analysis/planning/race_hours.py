"""Share of the judging that is left if agents leave a race: whole studies in rounds are simulated.

No two continuations look alike. The rules are those of `race` and `information`.

Axes: N studies, A agents, C categories, S scenarios.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from sts_analysis.planning.chances import Accuracy, ChanceModel
from sts_analysis.planning.power import Assumptions, Design
from sts_analysis.statistics import estimate as est
from sts_analysis.statistics import race
from sts_analysis.statistics.information import BETWEEN

MAX_AGENTS = 30
_STUDIES = 20, 400
_MAX_VERDICTS = 4_000_000
"""Verdicts that all studies together should have; the fewest studies may have twice as many."""
_RATES = 0.02, 0.98


class RaceShare(NamedTuple):
    """Means over studies: the share of the full plan's clips judged, and of pairs separated."""

    judged: float
    separated: float
    separated_by_all: float  # pairs, by the full plan


def spread_agents(assumptions: Assumptions, difference: float, agents: int) -> ChanceModel:
    """Spread agents evenly about the assumed rate, neighbours a difference in (0, 1] apart."""
    steps = (agents - 1) / 2 - np.arange(agents)[:, None]
    rate, icc = np.clip(assumptions.rate + difference * steps, *_RATES), assumptions.icc
    shares = assumptions.correlation, assumptions.trajectory_share
    return ChanceModel(rate, np.full(agents, icc), *shares)


def simulate_race(
    model: ChanceModel,
    share: np.ndarray,
    accuracy: Accuracy,
    goal: str,
    design: Design,
    numbers: tuple[int, ...],
) -> dict[int, RaceShare]:
    """Simulate studies of A agents, with each of some numbers of continuations.

    Args:
      model: chances of the agents.
      share: float64[C], share of the scenarios in each category.
      accuracy: of annotators.
      goal: "rank", "best" or "all"; see `race.look_at`.
      design: of the study; its number of continuations is not used.
      numbers: of continuations.

    Returns:
      By number of continuations; empty without a race, or if it is too large to be simulated.
    """
    size = len(model.rate) * design.scenarios * max(numbers)
    if goal == "all" or len(model.rate) > MAX_AGENTS or size * _STUDIES[0] > 2 * _MAX_VERDICTS:
        return {}
    rng, scenario = np.random.default_rng(0), np.arange(design.scenarios)
    category = np.searchsorted(np.cumsum(share)[:-1], (scenario + 0.5) / design.scenarios)
    unit = (scenario / design.unit_size).astype(np.int64)
    model = model._replace(correlation=1.0) if design.fixed else model
    chance = model.draw(category, unit, rng, int(np.clip(_MAX_VERDICTS // size, *_STUDIES)))
    chance = chance.swapaxes(0, 1)  # float64[N, A, S]
    mean = (1 - accuracy.specificity + accuracy.scale * model.rate)[:, category]
    within = accuracy.scale**2 * chance * (1 - chance)
    within += accuracy.verdict_variance(chance) / design.annotations
    sums = np.zeros((max(numbers) + 1, *chance.shape), np.float32)
    for made in sums[1:]:
        success = rng.random(chance.shape) < chance
        called = np.where(success, accuracy.sensitivity, 1 - accuracy.specificity)
        made[:] = rng.binomial(design.annotations, called) / design.annotations - mean
    place = rng.permuted(np.broadcast_to(scenario, chance.shape), axis=2) / design.scenarios
    figures = len(share), model.trajectory_share, mean.mean(axis=1), within.mean(axis=(0, 2))
    studies = _Studies(design, *figures, place, np.cumsum(sums, axis=0))
    return {number: studies.race(goal, number) for number in numbers}


class _Studies(NamedTuple):
    """Simulated studies, in which every clip has its verdicts."""

    design: Design
    categories: int
    trajectory_share: float
    level: np.ndarray  # float64[A], expected rates as judged
    within: np.ndarray  # float64[A], variance of a continuation's verdict within its scenario
    place: np.ndarray  # float64[N, A, S], of cells in a round, in [0, 1)
    sums: np.ndarray  # float32[K + 1, N, A, S], deviations from categories in the first rounds

    def race(self, goal: str, rounds: int) -> RaceShare:
        """Judge in rounds, and let agents leave at each point."""
        studies, agents, _ = self.place.shape
        racing, number = np.ones((studies, agents), bool), np.ones((studies, agents))
        sign = np.zeros((studies, agents, agents))  # 1 if the first agent is better
        resolved = sign + np.eye(agents) > 0
        judged = before = 0.0
        value, known = np.zeros((2, *self.place.shape), np.float32)
        for point in race.list_points(rounds):
            judged, before = judged + (point - before) * float(racing.mean()), point
            made, here = max(1, int(point)), self.place < point
            value = np.where(racing[..., None], here * self.sums[made] / np.float32(made), value)
            known = np.where(racing[..., None], here, known)
            number = np.where(racing, made, number)
            difference, se, p, information = self._compare(value, known, number, rounds)
            enough = known.sum(axis=2) / self.design.unit_size >= race.MIN_UNITS
            enough = enough[:, :, None] & enough[:, None]
            differ = enough & (p < race.find_closed_bar(information))
            pairs = ((~differ & (sign == 0)).sum(axis=(1, 2), keepdims=True) - agents) // 2
            several = number > 1
            hopeless = enough & several[:, :, None] & several[:, None]
            hopeless &= race.find_hopeless(difference, se, information, pairs)
            sign = np.where(~resolved & differ, np.sign(difference), sign)
            resolved |= differ | hopeless
            waiting = ~resolved
            if goal == "best":
                beaten = np.asarray((sign < 0).any(axis=2))
                waiting &= ~(beaten[:, :, None] | beaten[:, None])
            racing &= waiting.any(axis=2)
        full, all_known = self.sums[rounds] / np.float32(rounds), np.ones_like(value)
        p = self._compare(full, all_known, np.full_like(number, rounds), rounds)[2]
        found = sign != 0, p < race.ALPHA
        separated = [float(x.sum() / studies / agents / (agents - 1)) for x in found]
        return RaceShare(judged / rounds, *separated)

    def _compare(
        self, value: np.ndarray, known: np.ndarray, number: np.ndarray, rounds: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return differences, standard errors, adjusted p and information, float64[N, A, A] each.

        `value` is float32[N, A, S], 0 where not `known`; that is 1 where a scenario is reached, and
        `number`, float64[N, A], the continuations of each of these; the full plan has `rounds`.
        """
        design, there = self.design, known.swapaxes(1, 2)
        joint = (known @ there).astype(np.float64)
        sums, squares = value @ there, value**2 @ there
        squares = squares + squares.swapaxes(1, 2) - 2 * value @ value.swapaxes(1, 2)
        difference = self.level[:, None] - self.level
        difference = difference + est.divide(sums - sums.swapaxes(1, 2), joint)
        units, groups, share = joint / design.unit_size, self.categories, joint / design.scenarios
        least = np.minimum(number[:, :, None], number[:, None])
        within = (self.within / number)[:, :, None] + (self.within / number)[:, None]
        larger = 1 + np.maximum(design.unit_size * share - 1, 0) * self.trajectory_share
        now = within + np.maximum(est.divide(squares, joint) - within, 0.0) * larger
        if design.fixed:
            now = np.where(least >= est.MIN_UNITS_PER_CATEGORY, within, now)
            units, groups = joint * least, joint
        later = now - within + (self.within[:, None] + self.within) / rounds
        fewer = 2 / rounds / (1 / number[:, :, None] + 1 / number[:, None])
        assumed = BETWEEN + (1 - BETWEEN) * fewer
        information = share * np.where(least > 1, est.divide(later, now), assumed)
        df = units - np.where(units >= est.MIN_UNITS_PER_CATEGORY * groups, groups, 1)
        se = np.sqrt(est.divide(now, joint))
        p = 2 * stdtr(np.maximum(df, 1), -est.divide(np.abs(difference), se))
        p[(units < est.MIN_DIFFERING_UNITS) | (se == 0)] = np.nan
        upper = np.triu_indices(p.shape[1], 1)
        for study in p:
            study[upper] = study.T[upper] = est.adjust_holm(study[upper])
        return difference, se, p, information
