"""What another version of a suite does to the agents' pass rates.

What both versions hold is one measurement, and enters both rates with nearly the same weight, so
that it cancels. What is left is an exchange: some scenarios gain weight, others lose it.
"""

from typing import NamedTuple

import numpy as np

from sts_analysis.statistics import intervals, sampling
from sts_analysis.statistics.outcomes import Summary
from sts_analysis.statistics.pass_rates import Rates, pass_rates, weighted_rates

PARTS = ("old", "kept", "added", "retired", "new")
_LEAST = 1e-12
_NONE = np.full(2, np.nan)


class VersionChange(NamedTuple):
    """The rates of A agents over two versions and their parts, and the difference.

    Attributes:
      rates: of each of `PARTS`.
      scenarios: int64[A] of each of `PARTS`, judged ones.
      difference: float64[A], new minus old; NaN where one of them has nothing judged.
      interval: float64[A, 2]; NaN where none can be had.
      method: A of words.
    """

    rates: dict[str, Rates]
    scenarios: dict[str, np.ndarray]
    difference: np.ndarray
    interval: np.ndarray
    method: tuple[str, ...]


class _Side(NamedTuple):
    """What gained weight, or what lost it, of A agents.

    Attributes:
      rates: over it, each scenario by how much it gained.
      weight: float64[A], how much was exchanged.
      df: float64[A], degrees of freedom of the error; NaN where none are known.
      few: bool[A], it is too little, or too near 0 or 1, for a t interval.
    """

    rates: Rates
    weight: np.ndarray
    df: np.ndarray
    few: np.ndarray


def version_change(
    summary: Summary,
    category: np.ndarray,
    old: np.ndarray,
    new: np.ndarray,
    *,
    target: str,
    unit: np.ndarray | None = None,
) -> VersionChange:
    """Compares each agent's rate over some scenarios with that over others.

    The weights of a scenario in both rates differ by what the change of version gave to it, or took
    from it. The difference of rates is the rate over what gained, minus the rate over what lost,
    times the weight that was exchanged; these two share no scenario. Within a category, kept,
    added and retired scenarios are strata of their own, as nobody chose them alike.

    Args:
      summary: [A, S], of all scenarios of both versions, each once.
      category: int64[S].
      old: bool[S], scenarios of the one version.
      new: bool[S], of the other.
      target: "sampled" or "fixed".
      unit: of `sampling.units`.

    Source: Cochran 1977, sections 5.3 and 5.6, for strata; Satterthwaite 1946, Biometrics Bull.
      2:110; Zou and Donner 2008, Stat. Med. 27:1693, where a part is small or near 0 or 1.
    """
    columns = dict(zip(PARTS, (old, old & new, new & ~old, old & ~new, new), strict=True))
    rates = {name: _rates(summary, category, own, target, unit) for name, own in columns.items()}
    scenarios = {name: (summary.number[:, own] > 0).sum(axis=1) for name, own in columns.items()}
    gain = _weights(summary, category, new) - _weights(summary, category, old)
    gain[np.abs(gain) < _LEAST] = 0.0
    strata = 3 * category + np.where(old & new, 0, np.where(new, 1, 2))
    gained = _side(summary, strata, gain, target, unit)
    lost = _side(summary, strata, -gain, target, unit)
    difference = rates["new"].rate - rates["old"].rate
    known = np.isfinite(difference)
    found = [
        _interval(row, difference[row], gained, lost)
        if known[row]
        else (_NONE, "nothing judged in one of the versions")
        for row in range(len(difference))
    ]
    interval = np.array([ends for ends, _ in found]).reshape(-1, 2)
    return VersionChange(rates, scenarios, difference, interval, tuple(how for _, how in found))


def _rates(
    summary: Summary,
    category: np.ndarray,
    columns: np.ndarray,
    target: str,
    unit: np.ndarray | None,
) -> Rates:
    """Returns the rates over some scenarios as over a suite of them."""
    rows = len(summary.number)
    if not columns.any():
        nothing = np.full(rows, np.nan)
        empty = np.full((rows, 2), np.nan)
        return Rates(nothing, nothing, empty, ("no scenario",) * rows, nothing, nothing)
    _, inner = np.unique(category[columns], return_inverse=True)
    own = summary.at((slice(None), columns))
    drawn = None if unit is None else unit[columns]
    return pass_rates(own, inner.astype(np.int64), target=target, unit=drawn)


def _weights(summary: Summary, category: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """float64[A, S], how much each scenario weighs in the rate over some of them."""
    weights = np.zeros(summary.number.shape)
    if columns.any():  # a category weighs what it has of these, and not of both versions together
        _, inner = np.unique(category[columns], return_inverse=True)
        judged = summary.number[:, columns] > 0
        weights[:, columns] = sampling.scenario_weights(judged, inner.astype(np.int64))
    return weights


def _side(
    summary: Summary, strata: np.ndarray, gain: np.ndarray, target: str, unit: np.ndarray | None
) -> _Side:
    weights = np.maximum(gain, 0.0)
    total = weights.sum(axis=1)
    share = weights / np.where(total > 0, total, 1.0)[:, None]
    rates = weighted_rates(summary, strata, share, target=target, unit=unit)
    if target == "fixed":
        few = np.ones(len(total), dtype=bool)
        return _Side(rates, total, np.full(len(total), np.nan), few)
    codes = sampling.strata(share > 0, strata, unit)
    spread = sampling.sampling_spread(summary.mean, share, codes, unit)
    trials = intervals.effective_trials(rates.rate, spread.error, np.zeros(len(total)))
    few = ~(trials * np.minimum(rates.rate, 1 - rates.rate) >= intervals.FEW_EFFECTIVE)
    return _Side(rates, total, spread.df, few)


def _interval(row: int, difference: float, gained: _Side, lost: _Side) -> tuple[np.ndarray, str]:
    """Returns the interval of one agent's difference, and how it was made or why there is none."""
    exchanged = gained.weight[row]
    if not exchanged:
        return _NONE, "nothing judged of what was changed"
    share = f"{100 * exchanged:.0f}% of the weight exchanged"
    sides = [(side.rates.error[row], side.df[row]) for side in (gained, lost)]
    if not (gained.few[row] or lost.few[row]):
        square = [error**2 for error, _ in sides]
        df = sum(square) ** 2 / sum(one**2 / df for one, (_, df) in zip(square, sides, strict=True))
        error = exchanged * np.sqrt(sum(square))
        return intervals.student(
            np.array(difference), error, df
        ), f"stratified t, {df:.1f} df, {share}"
    for side in (gained, lost):
        if np.isnan(side.rates.interval[row]).any():
            return _NONE, side.rates.method[row]
    ends = intervals.difference_from_parts(
        gained.rates.rate[row],
        gained.rates.interval[row],
        lost.rates.rate[row],
        lost.rates.interval[row],
    )
    return exchanged * np.array(ends), f"from the intervals of both parts, {share}"
