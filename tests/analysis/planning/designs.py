"""Studies in a world of its own: normal logits, not the beta distributions of `sts power`."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd
from scipy import optimize
from scipy.special import expit, logit

from sts_analysis.inputs import tables
from sts_analysis.inputs.ratings import check_ratings
from sts_analysis.inputs.subject import Subject
from sts_analysis.planning.pilot import Pilot, read_pilot
from sts_analysis.statistics.rates import Target
from sts_analysis.statistics.tabulation import Outcomes

ICC, CORRELATION = 0.4, 0.5
COLUMNS = ["agent", "scenario", "category", "continuation", "annotator", "verdict"]
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(81)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@cache
def find_logits(rate: float) -> tuple[float, float]:
    """Return mean and standard deviation of logits whose chances have this mean and the ICC."""

    def miss(given: np.ndarray) -> list[float]:
        chance = expit(given[0] + np.exp(given[1]) * _NODES)
        mean = _WEIGHTS @ chance
        return [mean - rate, _WEIGHTS @ (chance - mean) ** 2 - ICC * rate * (1 - rate)]

    mean, log = optimize.fsolve(miss, [1.8 * logit(rate), 0.7])
    return float(mean), float(np.exp(log))


@cache
def find_latent(rate: float, target: float) -> float:
    """Return the correlation of logits whose chances have this correlation."""
    mean, deviation = find_logits(rate)

    def correlate(share: float) -> float:
        scores = np.sqrt(share) * _NODES[:, None] + np.sqrt(1 - share) * _NODES
        return float(_WEIGHTS @ ((expit(mean + deviation * scores) @ _WEIGHTS) - rate) ** 2)

    whole = ICC * rate * (1 - rate)
    return float(optimize.brentq(lambda share: correlate(share) - target * whole, 0, 1, xtol=1e-6))


def draw_verdicts(
    rates: Sequence[float],
    *,
    unit: np.ndarray,
    continuations: int,
    share: float = 0.0,
    accuracy: float = 1.0,
    studies: int = 1,
    seed: int = 0,
) -> np.ndarray:
    """Draw verdicts, float64[A, studies, S, C] of agents with these rates.

    Args:
      rates: A pass rates.
      unit: int64[S].
      continuations: C.
      share: of the variance between scenarios that belongs to the unit.
      accuracy: sensitivity and specificity.
      studies: how many.
      seed: of the random numbers.
    """
    rng = np.random.default_rng(seed)

    def draw(agents: int, variance: float, place: np.ndarray) -> np.ndarray:
        normal = rng.standard_normal((agents, studies, int(place.max()) + 1))
        return np.sqrt(max(variance, 0.0)) * normal[..., place]

    agents, lone = len(rates), np.arange(len(unit))
    shared, in_unit, both = (
        find_latent(rates[0], target) if target else 0.0
        for target in (CORRELATION, share, share * CORRELATION)
    )
    score = draw(1, both, unit) + draw(agents, in_unit - both, unit)
    score = score + draw(1, shared - both, lone) + draw(agents, 1 - shared - in_unit + both, lone)
    mean, deviation = np.array([find_logits(rate) for rate in rates]).T[..., None, None]
    chance = expit(mean + deviation * score)[..., None]
    success = rng.random((agents, studies, len(unit), continuations)) < chance
    right = rng.random(success.shape) < accuracy
    return (success == right).astype(np.float64)


@cache
def _tabulate(shape: tuple[int, int, int]) -> Outcomes:
    return make_pilot(make_table(np.zeros(shape)).assign(source="automatic")).outcomes


def lay_out(verdicts: np.ndarray, category: np.ndarray, unit: np.ndarray) -> Outcomes:
    """Lay out float64[A, S, C] as `tabulate` does labels of a program, in less time."""
    template = _tabulate(verdicts.shape)
    made = template.continuations._replace(y=verdicts.ravel())
    value = verdicts.mean(axis=2)
    return template._replace(category=category, unit=unit, value=value, continuations=made)


def make_table(verdicts: np.ndarray, *, people: int = 2, apart: bool = False) -> pd.DataFrame:
    """Make a ratings table of float64[A, S, C] in two categories, each judged by one of some.

    Args:
      verdicts: 1 for success.
      people: number of annotators.
      apart: whether each agent has an annotator of its own.
    """
    rows = [
        (
            "abcdefgh"[a],
            f"s{s:04}",
            f"c{s % 2}",
            f"{a}-{s}-{n}",
            f"p{a if apart else (s + n) % people}",
            ("failure", "success")[int(verdict)],
        )
        for (a, s, n), verdict in np.ndenumerate(verdicts)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def make_pilot(
    frame: pd.DataFrame, unit: np.ndarray | None = None, *, target: Target = "sampled"
) -> Pilot:
    """Read a table as a pilot; scenarios of one unit, int64[S], are declared to be a pair."""
    ratings = check_ratings(tables.from_frame("table", frame))
    names = np.array(sorted(frame["scenario"].unique()))
    units = {} if unit is None else {str(u): tuple(names[unit == u]) for u in np.unique(unit)}
    subject = Subject("table", pairs=units)
    return read_pilot(ratings, subject, target=target)
