"""Coverage of a report's intervals in the user's study design, by simulated studies of it.

Whole units are drawn, with the share of the variance that the data show to belong to them. Each
study is a ratings table that the functions of the report analyse.

Axes: A agents, S scenarios, J verdicts, K annotators.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from sts.errors import StsError
from sts.jobs.executors import Executor
from sts_analysis.planning.chances import ChanceModel
from sts_analysis.planning.pilot import Pilot, find_deviations, measure
from sts_analysis.planning.power import ERROR_RATE
from sts_analysis.statistics import estimate as est
from sts_analysis.statistics.means import weigh_rows
from sts_analysis.statistics.rates import Comparisons, RateModel
from sts_analysis.statistics.tabulation import UNCOUNTED, Outcomes, encode, tabulate

LOW_RATE = 0.05
LIMITS = {
    "rate": (0.95, 0.925),
    "difference": (0.95, 0.925),
    "wrong_order": (0.05, 0.075),
    "rate_others": (0.95, 0.91),
    "difference_others": (0.95, 0.91),
    "wrong_order_others": (0.05, 0.075),
}
"""The nominal value of each share and the worst that passes; below .5 they are error rates."""
_AT_ONCE = 10
_WORDS = np.array(["failure", "success"], dtype=object)


class StudyDesign(NamedTuple):
    """A study that can be repeated: who continued and judged what, and how well."""

    pilot: Pilot  # what was annotated or labelled; its units are drawn
    row: np.ndarray  # int64[J], where a verdict that counts is in the pilot's ratings
    continuation: np.ndarray  # int64[J], of what, from 0
    annotator: np.ndarray  # int64[J], by whom; -1 for a reviewer or a program
    cell: np.ndarray  # int64[J], agent and scenario, an index into the flat [A, S]
    counted: np.ndarray  # float64[A, S], share of the continuations that are not auto-resolved
    group: np.ndarray  # int64[S], categories of the chances; -1 for scenarios without a verdict
    chances: ChanceModel  # of the agents
    # standard deviation of annotators, in log odds of calling something a success
    strictness: float
    favouritism: float  # standard deviation of what an annotator adds for an agent, in the same
    label: str = "as estimated"  # what is simulated

    def judge(self, chance: np.ndarray, called: np.ndarray) -> np.ndarray:
        """Return float64[A, S], rates as judged, from chances of success.

        `called`, float64[2, A], is how often a success of each agent and anything else are called
        a success.
        """
        success, other = called[..., None]
        return np.asarray(self.counted * (other + (success - other) * chance))


class Share(NamedTuple):
    """A mean share of simulated studies, with its 95% Monte Carlo interval."""

    share: float
    low: float
    high: float
    studies: int

    def misses(self, name: str) -> bool:
        """Return True if it is worse than its limit, beyond chance."""
        nominal, limit = LIMITS.get(name, (1.0, 0.0))
        return self.low > limit if nominal < 0.5 else self.high < limit


def read_design(pilot: Pilot) -> StudyDesign:
    """Return the design of what has been annotated, with what it shows of agents."""
    outcomes, ratings = pilot.outcomes, pilot.ratings
    mine = ratings["source"].isin((outcomes.source, "settled"))
    others = ~ratings["continuation"].isin(ratings["continuation"][mine])
    table = ratings[mine | others].assign(clip="")
    drawn = (table["source"] == outcomes.source) & ~table["verdict"].isin(UNCOUNTED)
    rows = table[drawn]
    people = outcomes.judging.annotators if outcomes.judging else ()
    moments = measure(outcomes, np.arange(len(outcomes.agents)))
    chances = moments.fit_chances(pilot.accuracy)
    # The larger of what differences and rates show, so that the check can fail for both.
    share = max(chances.trajectory_share, moments.rate_trajectory_share)
    strictness, favouritism = find_deviations(pilot, float(chances.rate.mean())) or (0.0, 0.0)
    made = outcomes.continuations
    auto = made.tally(made.auto_resolved, outcomes.value.shape)
    return StudyDesign(
        pilot=pilot._replace(ratings=table),
        row=np.flatnonzero(drawn),
        continuation=pd.factorize(rows["continuation"])[0],
        annotator=np.where(rows["adjudicated"] == "", encode(rows["annotator"], people), -1),
        cell=encode(rows["agent"], outcomes.agents) * len(outcomes.scenarios)
        + encode(rows["scenario"], outcomes.scenarios),
        counted=1 - auto / np.maximum(outcomes.judged, 1),
        group=moments.group,
        chances=chances._replace(trajectory_share=share),
        strictness=strictness,
        favouritism=favouritism,
    )


def list_cases(design: StudyDesign) -> list[StudyDesign]:
    """Return the designs to simulate: as estimated, with equal agents, and with low rates."""
    chances, known = design.chances, design.group >= 0
    ranked, share = design.pilot.ranked, np.bincount(design.group[known]) / known.sum()
    mean = chances.rate[ranked].mean(axis=0)
    alike = chances._replace(
        rate=np.tile(mean, (len(chances.rate), 1)),
        icc=np.full(len(chances.icc), chances.icc[ranked].mean()),
        # If these scenarios are the only ones, equal agents are equal in each of them.
        correlation=1.0 if design.pilot.model.target == "fixed" else chances.correlation,
    )
    low = alike._replace(rate=np.clip(alike.rate * LOW_RATE / (mean @ share), 0.001, 0.999))
    return [
        design,
        design._replace(chances=alike, label="all agents alike"),
        design._replace(chances=low, label=f"all agents alike, near {LOW_RATE:.0%}"),
    ]


def simulate(design: StudyDesign, seed: Sequence[int]) -> tuple[Outcomes, np.ndarray, np.ndarray]:
    """Simulate a study.

    Returns:
      Its verdicts; the chances of success, float64[A, S]; and float64[2, A, K + 1], how often each
      annotator calls a success and anything else of an agent a success, the last one standing for
      reviewers and programs.
    """
    pilot, rng = design.pilot, np.random.default_rng(seed)
    chance = design.chances.draw(np.maximum(design.group, 0), pilot.outcomes.unit, rng, 1)[:, 0]
    people = design.annotator.max() + 2
    shift = design.strictness * rng.standard_normal(people)
    shift = shift + design.favouritism * rng.standard_normal((len(chance), people))
    called = pilot.accuracy.call(shift)
    success = rng.random(len(design.row))[design.continuation] < chance.flat[design.cell]
    agent = design.cell // chance.shape[1]
    share = np.where(success, *called[:, agent, design.annotator])
    verdict = pilot.ratings["verdict"].to_numpy(dtype=object, copy=True)
    verdict[design.row] = _WORDS[(rng.random(len(share)) < share).astype(int)]
    table = pilot.ratings.assign(verdict=verdict)
    outcomes = tabulate(table, pilot.outcomes.source, scenarios=pilot.scenarios)
    before = pilot.outcomes
    outcomes = outcomes._replace(unit=before.unit, judged_clips=before.judged_clips)
    return outcomes, chance, called


def check_study(design: StudyDesign, seed: Sequence[int]) -> dict[str, float]:
    """Return how far a report on a simulated study is right: shares by name, NaN for none.

    Of these annotators, agents that some favour do differ.
    """
    outcomes, chance, called = simulate(design, seed)
    model = RateModel(outcomes, target=design.pilot.model.target)
    rates, ranked = model.estimate_rates(), design.pilot.ranked
    if model.target == "sampled":
        chance = design.chances.rate[:, design.group]
    pool = called[..., -1]
    if model.annotators is not None:
        pool = called[..., :-1] @ model.annotators.workload
    here = design.judge(chance, pool)
    there = np.isfinite(outcomes.value)
    grouping = outcomes.category, outcomes.unit
    weight = weigh_rows(there[ranked], *grouping)
    pairs = model.compare(ranked)
    shares = {
        "rate": _cover(rates.interval[ranked], (weight * here[ranked]).sum(axis=1)),
        **_check_pairs(pairs, here, there, grouping),
    }
    if model.generalises(rates, ranked):
        spread = float(np.hypot(design.strictness, design.favouritism))
        usual = design.pilot.accuracy.average(spread)
        called = np.array([usual.sensitivity, 1 - usual.specificity])
        elsewhere = design.judge(chance, np.repeat(called[:, None], len(chance), axis=1))
        truth = (weight * elsewhere[ranked]).sum(axis=1)
        found = _check_pairs(
            model.compare(ranked, other_annotators=True), elsewhere, there, grouping
        )
        shares["rate_others"] = _cover(model.widen_rates(rates)[ranked], truth)
        shares |= {f"{name}_others": share for name, share in found.items()}
    return shares | {"not_compared": float(np.isnan(pairs.p).mean())}


def _check_pairs(
    pairs: Comparisons,
    judged: np.ndarray,
    there: np.ndarray,
    grouping: tuple[np.ndarray, np.ndarray],
) -> dict[str, float]:
    """Hold comparisons against rates as judged, float64[A, S]."""
    weight = weigh_rows(there[pairs.first] & there[pairs.second], *grouping)
    difference = (weight * (judged[pairs.first] - judged[pairs.second])).sum(axis=1)
    right = (np.abs(difference) > est.ZERO) & (np.sign(pairs.value) == np.sign(difference))
    return {
        "difference": _cover(pairs.interval, difference),
        "wrong_order": float(((pairs.p_holm < ERROR_RATE) & ~right).any()),
    }


def simulate_studies(
    cases: Sequence[StudyDesign],
    *,
    studies: int,
    seed: int,
    executor: Executor,
    show: Callable[[int], None] = lambda _: None,
) -> list[dict[str, Share]]:
    """Simulate studies of designs, and count how often a report would have been right.

    Args:
      cases: the designs.
      studies: how many of each; study i is the same for any number.
      seed: of every draw.
      executor: runs them.
      show: called with the number of finished studies.

    Raises:
      StsError: a study failed.
    """
    found: dict[int, dict[str, float]] = {}
    for case, design in enumerate(cases):
        for start in range(0, studies, _AT_ONCE):
            numbers = range(start, min(start + _AT_ONCE, studies))
            executor.submit(case * studies + start, _check_studies, design, seed, numbers)
    for first, shares in executor.completed():
        if isinstance(shares, StsError):
            raise shares
        found |= dict(enumerate(shares, first))
        show(len(found))
    return [
        _summarise([found[case * studies + number] for number in range(studies)])
        for case in range(len(cases))
    ]


def _check_studies(design: StudyDesign, seed: int, numbers: range) -> list[dict[str, float]]:
    # A stream of its own for each study, whatever the number of studies and of workers.
    return [check_study(design, [seed, number]) for number in numbers]


def _summarise(studies: Sequence[dict[str, float]]) -> dict[str, Share]:
    """Return the mean of each share; those that no study has are left out."""
    result = {}
    for name in dict.fromkeys(name for study in studies for name in study):
        each = np.array([study.get(name, np.nan) for study in studies])
        each = each[np.isfinite(each)]
        if number := len(each):
            error = each.std(keepdims=True) / math.sqrt(max(number - 1, 1))
            mean, df = each.mean(keepdims=True), max(number - 1, 1)
            low, high = est.rate_intervals(mean, error, df, number)[0]
            result[name] = Share(float(mean[0]), float(low), float(high), number)
    return result


def _cover(interval: np.ndarray, truth: np.ndarray) -> float:
    """Return the share of intervals that contain the truth; NaN without an interval."""
    inside = (interval[:, 0] <= truth + est.ZERO) & (truth - est.ZERO <= interval[:, 1])
    known = np.isfinite(interval).all(axis=1)
    return float(inside[known].mean()) if known.any() else float("nan")
