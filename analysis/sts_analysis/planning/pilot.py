"""Variances and accuracies of annotated or labelled continuations, from which studies are planned.

Axes: A agents, C groups of categories, S scenarios.
"""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from sts.errors import DamagedData
from sts.ratings import SOURCES
from sts_analysis.inputs.ratings import apply_adjudication, find_measuring
from sts_analysis.inputs.subject import Subject
from sts_analysis.planning.chances import Accuracy, ChanceModel
from sts_analysis.planning.power import (
    ERROR_RATE,
    MAX_COUNT,
    POWER,
    Assumptions,
    Design,
    find_count,
    reach,
)
from sts_analysis.statistics import estimate as est
from sts_analysis.statistics.rates import RateModel, Target
from sts_analysis.statistics.tabulation import UNCOUNTED, Outcomes, tabulate

_ASSUMED = 0.95
_ASSUMED_ANSWERS = 4
"""Reference answers that the assumed accuracy counts as, next to those given."""


class Pilot(NamedTuple):
    """A study that has been annotated or labelled."""

    name: str  # of the suite or of the table's file
    # columns scenario, category and kind of all scenarios of the suite; may be empty
    scenarios: pd.DataFrame
    ratings: pd.DataFrame  # the checked table, with adjudicated verdicts in place
    outcomes: Outcomes  # verdicts of the main label source; each agent has one
    model: RateModel  # rates and differences of these
    ranked: np.ndarray  # int64[A], agents that are not baselines, the best first
    accuracy: Accuracy  # of annotators; 1 for labels of a program
    answers: int  # number of answers to references that the accuracy rests on
    units_known: bool  # whether it is known which scenarios share a trajectory


class Moments(NamedTuple):
    """Means and variances of scenario values; see `measure`."""

    mean: np.ndarray  # float64[A, C], of each agent in each group of categories
    group: np.ndarray  # int64[S]; -1 for scenarios without a value
    covariance: np.ndarray  # float64[A, A], of agents in one scenario
    # float64[A, A], of agents in two scenarios of one unit; 0 if units have one each
    in_unit: np.ndarray
    # float64[A], variance that continuations add to a scenario's mean; NaN if each scenario has
    # one
    noise: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """float64[C], share of the scenarios in each group."""
        number = np.bincount(self.group[self.group >= 0])
        return np.asarray(number / number.sum())

    @property
    def rate_trajectory_share(self) -> float:
        """Share of the variance of rates between scenarios that belongs to the unit."""
        between = np.diag(self.covariance) - np.nan_to_num(self.noise)
        return _divide_share(float(np.diag(self.in_unit).mean()), float(between.mean()))

    def fit_chances(self, accuracy: Accuracy) -> ChanceModel:
        """Return the distribution of chances that gives these moments, freed of wrong verdicts.

        The trajectory share is that of differences.
        """
        share, scale, size = self.share, accuracy.scale, np.bincount(self.group[self.group >= 0])
        mean = (self.mean * size + (self.mean @ share)[:, None]) / (size + 1)  # towards the agent's
        rate = np.clip((mean + accuracy.specificity - 1) / scale, 0.005, 0.995)
        noise = np.nan_to_num(self.noise)
        between = np.maximum(np.diag(self.covariance) - noise, 0.0)
        icc = np.clip(between / (scale**2 * rate * (1 - rate) @ share), 0.0, 1.0)
        roots = np.sqrt(np.outer(between, between))
        apart = _compare_pairs(self.covariance - np.diag(noise))
        return ChanceModel(
            rate,
            icc,
            _divide_share(_average_pairs(self.covariance), _average_pairs(roots)),
            _divide_share(_compare_pairs(self.in_unit), apart),
        )


def read_pilot(
    ratings: pd.DataFrame, subject: Subject, *, target: Target, source: str | None = None
) -> Pilot:
    """Read what has been annotated or labelled so far.

    Args:
      ratings: a checked ratings table.
      subject: what it is about.
      target: "sampled" or "fixed".
      source: of the labels, "human", "automatic" or "model"; None for the report's.

    Raises:
      DamagedData: there is no label of that source, or fewer than two agents have one.
    """
    worth = apply_adjudication(ratings)
    counted = worth[~worth["verdict"].isin(UNCOUNTED)]
    labels, answers = (counted[(counted["truth"] == "") == agents] for agents in (True, False))
    present = [s for s in SOURCES if s != "settled" and (labels["source"] == s).any()]
    source = source or (present or ["human"])[0]
    if source not in present:
        raise DamagedData(f"{subject.name}: expected {source} labels to plan from, found none")
    people = source == "human"
    sources = (source, "settled") if people else (source,)
    labelled = labels["agent"][labels["source"].isin(sources)]
    worth = worth[worth["agent"].isin(labelled) & (worth["truth"] == "")]
    outcomes = tabulate(worth, source, scenarios=subject.scenarios, groups=subject.drawn_together)
    model = RateModel(outcomes, target=target)
    rates = model.estimate_rates()
    ranked = np.flatnonzero(~outcomes.baseline)
    ranked = ranked[np.argsort(-rates.rate[ranked], kind="stable")]
    if len(ranked) < 2:
        raise DamagedData(
            f"{subject.name}: expected labels of two agents that are not baselines, found "
            f"{len(ranked)}; `sts power` without a name plans from assumptions"
        )
    answers = answers[find_measuring(answers) & people]
    accuracy = measure_accuracy(answers, rates.interval) if people else Accuracy(1.0, 1.0)
    shown, known = (subject.name, subject.scenarios), subject.knows_units(ratings)
    return Pilot(*shown, worth, outcomes, model, ranked, accuracy, len(answers), known)


def measure_accuracy(answers: pd.DataFrame, intervals: np.ndarray) -> Accuracy:
    """Measure annotators by references, as no worse than pass rates allow.

    Args:
      answers: rows of a ratings table that have a truth and a verdict that counts.
      intervals: float64[A, 2], of pass rates; NaN for agents without one.
    """
    shares = []
    for success in (True, False):
        asked = answers[(answers["truth"] == "success") == success]
        right = int(((asked["verdict"] == "success") == success).sum())
        shares.append((right + _ASSUMED_ANSWERS * _ASSUMED) / (len(asked) + _ASSUMED_ANSWERS))
    # A pass rate lies between 1 - specificity and sensitivity, whatever the agent's true rate.
    low, high = intervals[np.isfinite(intervals).all(axis=1)].T
    return Accuracy(
        max(shares[0], float(low.max(initial=0.0))),
        max(shares[1], 1 - float(high.min(initial=1.0))),
    )


def measure(outcomes: Outcomes, agents: np.ndarray, joint: np.ndarray | None = None) -> Moments:
    """Measure variances of scenario values about the means of the estimator's groups.

    A covariance is the mean product of two scenarios less that of two in the same groups but in
    different units, so that it is not biased by the means.

    Args:
      outcomes: of one label source.
      agents: int64[A], of which some scenario has a value.
      joint: bool[S], the scenarios that count; None for all.
    """
    there = np.isfinite(outcomes.value[agents]) & (joint is None or joint)
    group = est.weigh(there.any(axis=0), outcomes.category, outcomes.unit).group
    inside, size = group >= 0, int(group.max()) + 1
    place, unit, there = group[inside], outcomes.unit[inside], there[:, inside]
    value = np.where(there, outcomes.value[agents][:, inside], 0.0)
    centre = est.divide(value.sum(axis=1), there.sum(axis=1))[:, None]
    both = np.stack([np.where(there, value - centre, 0.0), there])  # sums and counts
    total, number = est.sum_units(both, place, size)
    units = int(unit.max()) + 1
    cells = est.sum_units(both, unit * size + place, units * size)
    cells = cells.reshape(2, len(agents), units, size)
    covariance, in_unit = np.zeros((2, len(agents), len(agents)))
    for row in range(len(agents)):
        same = est.sum_units(both[:, [row]] * both, place, size)  # [2, A, C]
        product, count = np.einsum("kug,kauh->kagh", cells[:, row], cells, optimize=True)
        apart = number[row][:, None] * number[:, None] - count
        baseline = est.divide(total[row][:, None] * total[:, None] - product, apart)
        near = np.diagonal(baseline, axis1=1, axis2=2)
        pairs = count - same[1][..., None] * np.eye(size)
        sums, counts = same.sum(axis=2)
        covariance[row] = est.divide(sums - (same[1] * near).sum(axis=1), counts)
        rest = product.sum(axis=(1, 2)) - sums - (pairs * baseline).sum(axis=(1, 2))
        in_unit[row] = est.divide(rest, pairs.sum(axis=(1, 2)))
    noise = np.array([_vary_within(outcomes, int(agent)) for agent in agents])
    return Moments(centre + est.divide(total, number), group, covariance, in_unit, noise)


def _vary_within(outcomes: Outcomes, agent: int) -> float:
    """Return the variance that an agent's continuations add to a scenario's mean."""
    made = outcomes.continuations
    mine = (made.agent == agent) & np.isfinite(made.y)
    place, y = np.unique(made.scenario[mine], return_inverse=True)[1], made.y[mine]
    number = np.bincount(place)
    free = len(y) - len(number)
    if not free:
        return float("nan")
    squares = ((y - (np.bincount(place, y) / number)[place]) ** 2).sum()
    # The spread within scenarios is pooled, as a few continuations of one show little of it.
    return float(squares / free * (1 / number).mean())


def measure_pair(pilot: Pilot, first: int, second: int) -> tuple[Assumptions, Design] | str:
    """Return what a pilot shows of two agents and how large it is, or why it shows nothing."""
    agents, outcomes = np.array([first, second]), pilot.outcomes
    joint = np.isfinite(outcomes.value[agents]).all(axis=0)
    units = np.unique(outcomes.unit[joint], return_counts=True)[1]
    if len(units) < est.MIN_DIFFERING_UNITS:
        return f"{len(units)} units have labels of both, fewer than {est.MIN_DIFFERING_UNITS}"
    moments = measure(outcomes, agents, joint)
    seen = moments.noise if pilot.model.target == "fixed" else np.diag(moments.covariance)
    if not seen.any():
        return "neither agent's outcomes vary, so the uncertainty of a difference is not known"
    chances, made = moments.fit_chances(pilot.accuracy), outcomes.continuations
    assumptions = Assumptions(
        rate=chances.rate.mean(axis=0),
        share=moments.share,
        icc=float("nan") if np.isnan(moments.noise).any() else float(chances.icc.mean()),
        correlation=chances.correlation,
        trajectory_share=chances.trajectory_share,
        accuracy=pilot.accuracy,
    )
    design = Design(
        scenarios=int(joint.sum()),
        continuations=_average(outcomes.judged[agents][:, joint]),
        annotations=_average(made.verdicts[np.isin(made.agent, agents)]),
        # Kish's design effect takes the mean over scenarios of the size of their unit.
        unit_size=float((units**2).sum() / units.sum()),
        fixed=pilot.model.target == "fixed",
    )
    return assumptions, design


def find_deviations(pilot: Pilot, rate: float) -> tuple[float, float] | None:
    """Find how far annotators differ in log odds, in strictness and in whom they favour.

    None if fewer than two judged. `rate` is the true rate at which rates as judged vary as they do.
    """
    model = pilot.model.annotators
    if model is None or len(model.workload) < 2:
        return None
    strict = pilot.accuracy.find_deviation(rate, model.strictness**2)
    # Next to strictness, the same favours make rates vary more than they do alone.
    both = pilot.accuracy.find_deviation(rate, model.strictness**2 + model.favouritism**2)
    return strict, math.sqrt(max(0.0, both**2 - strict**2))


def scenarios_needed(
    model: RateModel, first: int, second: int, *, pairs: int
) -> tuple[int, int] | None:
    """Return how many scenarios would make a difference as large as this one significant.

    Args:
      model: of one label source.
      first: index of an agent.
      second: index of another.
      pairs: comparisons that share the error rate of the conclusion.

    Returns:
      The range for a power of 80% that the uncertainty of the variance leaves (80%); None if the
      pair cannot be compared or no number of scenarios suffices.
    """
    agents, outcomes = np.array([first, second]), model.outcomes
    found = model.compare(agents)
    value, se, df = abs(float(found.value[0])), float(found.se[0]), float(found.df[0])
    if not (np.isfinite(found.p[0]) and value > est.ZERO and se > 0):
        return None
    joint = np.isfinite(outcomes.value[agents]).all(axis=0)
    scenarios, units = int(joint.sum()), len(np.unique(outcomes.unit[joint]))

    def suffices(number: int) -> bool:
        # Each further unit adds a degree of freedom; the number of categories stays.
        part, free = se**2 * scenarios / number, df + units * (number / scenarios - 1)
        return value >= reach(max(free, 1.0), ERROR_RATE / pairs, POWER) * math.sqrt(part)

    number = find_count(suffices, MAX_COUNT["scenarios"])
    return None if number is None else widen_count(number, df)


def share_between(outcomes: Outcomes, first: int, second: int) -> float | None:
    """Return the share of the variance of a difference that lies between scenarios.

    The rest lies between continuations. None if it is not known.
    """
    agents = np.array([first, second])
    joint = np.isfinite(outcomes.value[agents]).all(axis=0)
    if not joint.any():
        return None
    moments = measure(outcomes, agents, joint)
    total = _compare_pairs(moments.covariance)
    if np.isnan(moments.noise).any() or total <= est.ZERO:
        return None
    return _divide_share(total - float(moments.noise.mean()), total)


def widen_count(number: int, df: float) -> tuple[int, int]:
    """Return the range of a needed number of scenarios that a variance with df leaves (80%)."""
    # The number goes with the true variance, and an estimate is that times chi-square over df.
    low, high = (math.ceil(number * df / stats.chi2.ppf(end, df)) for end in (0.9, 0.1))
    return low, high


def _average(numbers: np.ndarray) -> int:
    """Return the harmonic mean of the positive numbers, rounded."""
    # Harmonic, as variances go with 1 / number.
    positive = numbers[numbers > 0]
    return max(1, round(1 / float((1 / positive).mean()))) if positive.size else 1


def _average_pairs(matrix: np.ndarray) -> float:
    """Return the mean over pairs of agents."""
    return float(matrix[np.triu_indices(len(matrix), 1)].mean())


def _compare_pairs(covariance: np.ndarray) -> float:
    """Return half the variance of a difference, averaged over pairs of agents."""
    return float(np.diag(covariance).mean()) - _average_pairs(covariance)


def _divide_share(part: float, whole: float) -> float:
    return float(np.clip(part / whole, 0.0, 1.0)) if whole > est.ZERO else 0.0
