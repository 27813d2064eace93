"""What a rule has settled counts as the share that it is, while other continuations wait.

Silence is settled at once, the rest when somebody has judged it. Were all that has a value counted
alike, rates would lean to what is settled until the last judgement. So a scenario is two strata:
the settled part, whose size is known and whose value is 0, and the open part, for which the judged
ones stand. And where nothing of an open part is judged yet, the category's others stand for it.

Axes: A agents, S scenarios.
"""

from typing import NamedTuple

import numpy as np

from sts_analysis.statistics.outcomes import Outcomes, Summary, summarise


class Parts(NamedTuple):
    """Of how many one continuation is one, in its scenario's share of an agent's rate.

    Attributes:
      judged: float64[A, S], one that somebody has judged.
      settled: float64[A, S], one that a rule has settled.
    """

    judged: np.ndarray
    settled: np.ndarray

    def of(self, agent: np.ndarray, scenario: np.ndarray, by_rule: np.ndarray) -> np.ndarray:
        """float64[n], of continuations, int64[n], that a rule has settled or not, bool[n]."""
        place = agent, scenario
        number: np.ndarray = np.where(by_rule, self.settled[place], self.judged[place])
        return number


class _Strata(NamedTuple):
    """The two parts of each scenario.

    Attributes:
      settled: int64[A, S], continuations that a rule has settled.
      total: int64[A, S], continuations that have a value, or wait for one.
      open: float64[A, S], the share of these that no rule has settled; 1 where there is none.
      judged: int64[A, S], of the open ones those that have a value.
      waits: bool[A, S], something is settled and something else waits.
    """

    settled: np.ndarray
    total: np.ndarray
    open: np.ndarray
    judged: np.ndarray
    waits: np.ndarray


class _Cells(NamedTuple):
    """What an agent's scenarios of one category are together; at each of them, [A, S].

    Attributes:
      leans: bool, something there is settled, and the open part of a scenario waits as a whole.
      present: float64, scenarios with a continuation.
      judged: float64, those of which something open is judged.
      more: float64, open shares of all over those of the judged ones, 1 or more.
      ratio: float64, what the judged open parts are worth; 0 without any.
    """

    leans: np.ndarray
    present: np.ndarray
    judged: np.ndarray
    more: np.ndarray
    ratio: np.ndarray


def of_scenarios(outcomes: Outcomes) -> Summary:
    """Numbers, means and spread of each scenario by itself.

    Where one is settled in part and judged in part, its mean is the open share times the mean of
    what is judged, and its spread is such that spread / number is the variance of that mean; where
    nothing of its open part is judged, it has no value yet.

    Source: Cochran 1977, Sampling Techniques, section 12.2, double sampling for stratification.
    """
    plain = summarise(outcomes.values)._replace(shared=outcomes.shared)
    strata = _strata(outcomes, plain)
    if strata is None:
        return plain
    number = np.where(strata.waits & (strata.judged == 0), 0, plain.number)
    mean, spread = plain.mean.copy(), plain.spread.copy()
    own = strata.waits & (strata.judged > 0)
    n, share, total = strata.judged[own], strata.open[own], strata.total[own]
    of_open = plain.mean[own] * plain.number[own] / n
    squares = np.where(np.isfinite(outcomes.values[own]), outcomes.values[own], 0.0) ** 2
    rest = np.maximum(squares.sum(axis=1) - n * of_open**2, 0.0)
    within = np.where(n > 1, rest / np.maximum(n - 1, 1), np.nan)
    mean[own] = share * of_open
    sizes = of_open**2 * share * (1 - share) / np.maximum(total - 1, 1)
    spread[own] = plain.number[own] * (sizes + share**2 * within / n)
    mean[number == 0] = spread[number == 0] = np.nan
    shared = plain.shared
    if shared is not None:
        shared = shared.copy()
        shared[own] *= (share * plain.number[own] / n) ** 2
    return Summary(number, mean, spread, shared)


def of_suite(outcomes: Outcomes) -> Summary:
    """The same as a mean over scenarios needs it, for rates and what compares them.

    In a category that has both something settled and scenarios whose open part waits as a whole,
    each scenario's value is what it adds to: open shares of all scenarios x what the judged open
    parts are worth. Such a value may be outside [0, 1]; its mean is the ratio estimate, and its
    variance the linearised one. For these scenarios alone, that others stand for what waits is a
    part of the spread. Where no open part of a category is judged, none of it has a value.

    Source: Cochran 1977, section 12.8, the ratio estimate in double sampling.
    """
    own = of_scenarios(outcomes)
    strata = _strata(outcomes, summarise(outcomes.values))
    if strata is None:
        return own
    cells = _cells(outcomes, own, strata)
    if not cells.leans.any():
        return own
    judged, share = own.number > 0, strata.open
    mean = np.where(judged, own.mean, 0.0)
    off = np.where(judged, cells.more * (mean - cells.ratio * share), 0.0)
    # As many degrees of freedom go into the spread of all scenarios as only the judged ones have.
    stretched = off * np.sqrt(cells.judged / np.maximum(cells.judged - 1, 1))
    stretched *= np.sqrt((cells.present - 1) / np.maximum(cells.present, 1))
    absent = 1 - cells.judged / np.maximum(cells.present, 1)
    noise = _noise(own, strata, cells) + absent * stretched**2
    known = cells.leans & (cells.judged > 0)
    number = np.where(known, np.maximum(own.number, 1), np.where(cells.leans, 0, own.number))
    value = np.where(known, cells.ratio * share + stretched, own.mean)
    value[number == 0] = np.nan
    spread = np.where(known, number * noise, own.spread)
    shared = own.shared
    if shared is not None:
        shared = shared * np.where(known & judged, cells.more, 1.0) ** 2
    return Summary(number, value, spread, shared)


def _noise(own: Summary, strata: _Strata, cells: _Cells) -> np.ndarray:
    """float64[A, S], variance from continuations of what each scenario adds; NaN if not known.

    Continuations decide how much is settled, and what the judged ones of the rest are worth.
    """
    judged, share = own.number > 0, strata.open
    known = judged & np.isfinite(own.spread)
    seen = known.any(axis=1, keepdims=True)
    total = np.where(known, own.spread, 0.0).sum(axis=1, keepdims=True)
    borrowed = total / np.maximum(known.sum(axis=1, keepdims=True), 1)
    each = np.where(known, own.spread, borrowed) / np.maximum(own.number, 1)
    sizes = share * (1 - share) / np.maximum(strata.total - 1, 1)
    worth = np.where(judged & (share > 0), own.mean / np.where(share > 0, share, 1.0), cells.ratio)
    of_open = np.where(judged, np.maximum(each - worth**2 * sizes, 0.0), 0.0)
    more = np.where(judged, cells.more, 0.0)
    adds = cells.ratio + more * (worth - cells.ratio)
    return np.where(seen, adds**2 * sizes + more**2 * of_open, np.nan)


def parts(outcomes: Outcomes) -> Parts:
    """Of how many one continuation is one: as many as have a value, where nothing leans."""
    plain = summarise(outcomes.values)
    alike = np.maximum(plain.number, 1).astype(np.float64)
    strata = _strata(outcomes, plain)
    if strata is None:
        return Parts(alike, alike)
    own = of_scenarios(outcomes)
    cells = _cells(outcomes, own, strata)
    uneven = strata.waits | cells.leans
    scale = np.where(cells.leans & (own.number > 0), cells.more, 1.0)
    judged = strata.judged / np.where(strata.judged > 0, scale * strata.open, 1.0)
    settled = np.where(uneven, strata.total, alike)
    return Parts(np.where(uneven & (strata.judged > 0), judged, alike), settled)


def _strata(outcomes: Outcomes, plain: Summary) -> _Strata | None:
    """The two parts of each scenario; None where no rule has settled anything, or nothing waits."""
    if outcomes.settled is None or outcomes.waiting is None:
        return None
    settled, waiting = outcomes.settled, outcomes.waiting
    if not (settled.any() and waiting.any()):
        return None
    total = plain.number + waiting
    share = 1 - settled / np.maximum(total, 1)
    judged = plain.number - settled
    return _Strata(settled, total, share, judged, (settled > 0) & (waiting > 0))


def _cells(outcomes: Outcomes, own: Summary, strata: _Strata) -> _Cells:
    present = strata.total > 0
    judged = (own.number > 0) & (strata.open > 0)
    settled, none, number, every, seen, worth = (
        _by_category(outcomes, values)
        for values in (
            strata.settled,
            present & (own.number == 0),
            judged,
            np.where(present, strata.open, 0.0),
            np.where(judged, strata.open, 0.0),
            np.where(judged, own.mean, 0.0),
        )
    )
    least = np.where(seen > 0, seen, 1.0)
    return _Cells(
        leans=present & (settled > 0) & (none > 0),
        present=_by_category(outcomes, present),
        judged=number,
        more=np.where(seen > 0, every / least, 1.0),
        ratio=worth / least,
    )


def _by_category(outcomes: Outcomes, values: np.ndarray) -> np.ndarray:
    """float64[A, S], the sum of each agent's values over the scenario's category."""
    member = outcomes.category[:, None] == np.arange(len(outcomes.categories))
    total: np.ndarray = values @ member.astype(np.float64)
    return total[:, outcomes.category]
