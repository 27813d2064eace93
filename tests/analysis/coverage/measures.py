"""What the report claims in many studies of a cell, held against the truth."""

import zlib
from typing import NamedTuple

import numpy as np
from scipy import stats

from sts_analysis.report.core import MIN_UNITS_OF_INTERVAL
from sts_analysis.statistics import estimate as est
from sts_analysis.statistics.rates import Comparisons, RateModel
from tests.analysis.coverage.worlds import (
    AGENTS_AT_ONCE,
    World,
    draw_successes,
    expect_rates,
    lay_out,
    simulate,
)

ALPHA, INTERIM = 0.05, 0.001
CLOSING = 2.24
"""z at which a study may be closed early, times the root of the share that is judged."""
LOOKS = 20


class Measured(NamedTuple):
    """Shares of a cell's studies, and mean widths; NaN where no study has such a number.

    Attributes:
      rate: the interval of a rate holds; of the first two agents, which are equal.
      width: of these intervals.
      difference: the interval of a difference holds; of the second agent and the third, or of the
        only two.
      difference_width: of these intervals.
      size: the two equal agents differ at .05; without favours, by which they do differ.
      few: fewer than six units differ between the second agent and the third.
      identifiable: their difference can be told from that of their annotators.
      others: the interval of a rate for other annotators holds.
      others_difference: that of a difference.
      others_width: of these intervals.
      others_size: the two equal agents differ at .05 for other annotators.
      generalises: the report says whether differences hold for other annotators.
    """

    rate: float
    width: float
    difference: float
    difference_width: float
    size: float
    few: float
    identifiable: float
    others: float
    others_difference: float
    others_width: float
    others_size: float
    generalises: float


class Order(NamedTuple):
    """Share of studies that claim a wrong order, and of unequal pairs that differ as they should.

    Equal agents have no right order.
    """

    wrong: float
    right: float


class Looks(NamedTuple):
    """Shares of studies of equal agents that claim a difference at some of twenty looks, by rule.

    Attributes:
      always: Holm p < .05 at each look.
      interim: .001 until the last look, .05 there.
      closing: the bar of closing early until it is crossed, .05 at the last look.
      last: .05 at the last look alone.
    """

    always: float
    interim: float
    closing: float
    last: float


def measure_cell(world: World, studies: int, *, naive: bool = False) -> Measured:
    """Measure the report's intervals in seeded studies.

    Args:
      world: of the cell.
      studies: how many.
      naive: whether the analysis ignores units and annotators.
    """
    agents = len(world.rates)
    chosen, (a, b) = np.arange(min(agents, 3)), (1, 2) if agents > 2 else (0, 1)
    for_others = expect_rates(world)
    seen: dict[str, list[np.ndarray]] = {name: [] for name in Measured._fields}
    for outcomes, truth in simulate(world, studies):
        if naive:
            outcomes = outcomes._replace(unit=np.arange(world.scenarios), judging=None)
        model = RateModel(outcomes)
        rates = model.estimate_rates()
        general = model.generalises(rates, np.arange(agents))
        rows = (np.arange(len(truth))[:, None] * agents + chosen).ravel()
        compared = model.compare(rows)
        pairs = find_pairs(compared, agents)
        known, last = compared.identifiable[pairs], pairs[:, -1]
        intervals = rates.interval.reshape(*truth.shape, 2)[:, :2]
        shown = rates.units.reshape(truth.shape)[:, :2] >= MIN_UNITS_OF_INTERVAL  # as on the page
        seen["rate"].append(covers(intervals, truth[:, :2])[shown])
        seen["width"].append(np.diff(intervals)[shown])
        seen["identifiable"].append(known[:, -1])
        seen["generalises"].append(np.full(len(truth), general))
        equal = pairs[known[:, 0], 0]
        if (truth[:, 0] == truth[:, 1]).all():
            seen["size"].append(compared.p[equal] < ALPHA)
        last, truth = last[known[:, -1]], truth[known[:, -1]]
        seen["difference"].append(covers(compared.interval[last], truth[:, a] - truth[:, b]))
        seen["difference_width"].append(np.diff(compared.interval[last]))
        seen["few"].append(np.isnan(compared.p[last]))
        if general:
            wider = model.compare(rows, other_annotators=True)
            gap = np.full(len(last), for_others[a] - for_others[b])
            seen["others_difference"].append(covers(wider.interval[last], gap))
            seen["others_width"].append(np.diff(wider.interval[last]))
            if world.rates[0] == world.rates[1]:
                seen["others_size"].append(wider.p[equal] < ALPHA)
        wide = model.widen_rates(rates)[:2]
        if np.isfinite(wide).all():
            seen["others"].append(covers(wide, for_others[:2]))
    # Where annotators confound nearly all differences, the few that are left say nothing.
    least = studies // 100
    return Measured(**{name: _mean(arrays, least) for name, arrays in seen.items()})


def measure_order(world: World, studies: int) -> Order:
    """Measure what all comparisons of a study claim together."""
    agents = len(world.rates)
    wrong, right = [], []
    for outcomes, truth in simulate(world, studies):
        rows = np.arange(len(outcomes.agents))
        compared = RateModel(outcomes).compare(rows)
        pairs = find_pairs(compared, agents)
        gap = truth.ravel()[compared.first] - truth.ravel()[compared.second]
        correct = (compared.value * gap > 0)[pairs]
        claimed = adjust_studies(compared.p[pairs]) < ALPHA
        wrong.append((claimed & ~correct).any(axis=1))
        right.append((claimed & correct)[gap[pairs] != 0])
    return Order(_mean(wrong), _mean(right))


def measure_looks(world: World, order: str, studies: int) -> Looks:
    """Measure how often equal agents differ at some of twenty looks.

    Args:
      world: of equal agents.
      order: of judging; "clips" at random, "scenarios" or "agents" after each other.
      studies: how many.
    """
    rng = np.random.default_rng([*world.seed, zlib.crc32(order.encode())])
    agents, together = len(world.rates), AGENTS_AT_ONCE // len(world.rates)
    claimed = []
    for start in range(0, studies, together):
        successes = draw_successes(world, min(together, studies - start), rng)
        turn = rng.random(successes.shape[1:])
        if order == "scenarios":
            turn += rng.permutation(world.scenarios)[:, None]
        elif order == "agents":
            turn += np.arange(agents)[:, None, None]
        rank = turn.ravel().argsort().argsort().reshape(turn.shape)
        smallest = []
        for look in range(1, LOOKS + 1):
            judged = rank < look / LOOKS * rank.size
            number = judged.sum(axis=2)
            value = (successes & judged).sum(axis=3) / np.maximum(number, 1)
            value = np.where(number > 0, value, np.nan).reshape(-1, world.scenarios)
            rows = np.arange(len(value))
            compared = RateModel(lay_out(world, value)).compare(rows)
            adjusted = adjust_studies(compared.p[find_pairs(compared, agents)])
            smallest.append(np.fmin.reduce(adjusted, axis=1, initial=1.0))
        claimed.append(np.stack(smallest))
    p = np.concatenate(claimed, axis=1)  # [looks, studies]
    share = np.arange(1, LOOKS + 1)[:, None] / LOOKS
    final = (p[-1] < ALPHA)[None]
    bar = 2 * stats.norm.sf(CLOSING / np.sqrt(share))
    rules = (p < ALPHA, np.append(p[:-1] < INTERIM, final, 0), np.append(p < bar, final, 0), final)
    return Looks(*(float(claims.any(axis=0).mean()) for claims in rules))


def measure_adjustment(world: World, studies: int) -> float:
    """Return the share of studies that claim that who judged moved a difference."""
    claims = []
    for outcomes, _ in simulate(world, studies):
        model = RateModel(outcomes)
        agents = np.arange(len(world.rates))
        compared = model.compare(agents)
        claims.append((compared.adjustment_p < ALPHA).any())
    return float(np.mean(claims))


def covers(interval: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return bool[...], whether intervals float64[..., 2] hold the truth."""
    return (interval[..., 0] <= truth) & (truth <= interval[..., 1])


def find_pairs(compared: Comparisons, agents: int) -> np.ndarray:
    """Return int64[N, P], the pairs of each study in a table of several."""
    study = compared.first // agents
    mine = np.flatnonzero(study == compared.second // agents)
    return mine.reshape(len(np.unique(study[mine])), -1)


def adjust_studies(p: np.ndarray) -> np.ndarray:
    """Return float64[N, P], p values adjusted within each study."""
    return np.apply_along_axis(est.adjust_holm, 1, p)


def _mean(arrays: list[np.ndarray], least: int = 1) -> float:
    """Return the mean of all values; NaN if there are fewer than `least`, or none."""
    values = np.concatenate([array.ravel() for array in arrays]) if arrays else np.zeros(0)
    return float(values.mean()) if len(values) >= max(least, 1) else np.nan
