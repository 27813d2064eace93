"""What a report's numbers are worth in a user's own design, by simulating studies of it."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sts.errors import StsError
from sts.jobs.executors import Executor
from sts_analysis.planning.people import People
from sts_analysis.planning.power import Criterion, reach
from sts_analysis.planning.verify import TESTS, analysed, left_of_a_difference, verify
from sts_analysis.planning.world import Design, simulate
from sts_analysis.statistics import intervals

NEAR_ZERO = 0.05
UNEQUAL = (0.1, 0.8)
UNLIKE = 0.1
"""Intraclass correlation of right answers of people who differ."""
RIGHT = 0.95
"""Sensitivity and specificity that people who differ have at most in the mean."""
TRIED = 20
"""Studies that show how far differences between agents that are alike can be off."""
MOST_ROOM = 0.95
"""Of what lies between the mean rate and 0 or 1, how much a difference may take."""
AT_ONCE = 10
"""Studies of one task."""


class Case(NamedTuple):
    """What is simulated.

    Attributes:
      words: what it is.
      design: of the studies.
      better: whether one agent is better than all others, which are alike.
    """

    words: str
    design: Design
    better: bool = False


class Share(NamedTuple):
    """A share of simulated studies, or a mean of shares in them.

    Attributes:
      share: in [0, 1].
      low: end of its 95% Monte Carlo interval.
      high: likewise.
      studies: that it is of; of those that are left a report says nothing of the kind.
    """

    share: float
    low: float
    high: float
    studies: int


class Checked(NamedTuple):
    """What came of the simulated studies of one case.

    Attributes:
      case: what it is, in words.
      shares: by name, as `verify` names them; None of what no study says.
      studies: simulated.
    """

    case: str
    shares: dict[str, Share | None]
    studies: int


def smallest_differences(
    design: Design, *, target: str, seed: int, studies: int = TRIED
) -> dict[str, float | None]:
    """The smallest difference between agents of the mean rate that is seen four times in five.

    Args:
      design: as estimated.
      target: of the comparisons.
      seed: of the studies that show how far such a difference can be off.
      studies: how many these are.

    Returns:
      For each of `TESTS` that the report has, of the rates as judged, in (0, 1); None where none is
      seen.
    """
    alike, layout = _alike(design, target), design.layout
    errors: dict[str, list[np.ndarray]] = {test: [] for test in TESTS}
    freedom, scenarios = [], []
    for i in range(studies):
        study = simulate(alike, np.random.default_rng([seed, i]))
        one = analysed(alike, study, target=target, seed=i, draws=1)
        kept = one.labels.compared()
        scenarios.append(one.labels.comparisons.scenarios[kept])
        errors["plain"].append(one.labels.comparisons.error[kept])
        if one.judged is not None:
            errors["adjusted"].append(one.judged.adjusted.error[kept])
            if one.judged.others is not None:
                errors["others"].append(one.judged.others.differences.error[kept])
                freedom.append(one.judged.others.differences.df[kept])
    pairs = len(scenarios[0])
    criterion = Criterion(
        int(layout.ranked.sum()), int(layout.category.max()) + 1, fixed=target == "fixed"
    )
    usual = criterion.reach(float(np.median(scenarios)))
    reaches = {"plain": usual, "adjusted": usual}
    if freedom:
        df = np.concatenate(freedom)
        middle = float(np.median(df[np.isfinite(df)])) if np.isfinite(df).any() else np.nan
        reaches["others"] = reach(middle, (1 - intervals.LEVEL) / pairs, criterion.power)
    return {
        test: _smallest(np.concatenate(errors[test]), bar)
        for test, bar in reaches.items()
        if errors[test]
    }


def _smallest(errors: np.ndarray, bar: float) -> float | None:
    known = errors[np.isfinite(errors)]
    if not len(known) or not np.isfinite(bar):
        return None
    smallest = bar * float(np.sqrt(np.mean(known**2)))
    return smallest if 0 < smallest < 1 else None


def cases(design: Design, *, target: str, difference: float | None = None) -> Iterator[Case]:
    """Yields the cases that a design is tried in.

    Args:
      design: as estimated.
      target: "fixed" has agents that are alike do alike in every scenario.
      difference: in (0, 1), of rates as judged, by which one agent is better in the last case; left
        out where None, or where the rates leave no room for it.
    """
    alike, layout, people = _alike(design, target), design.layout, design.people
    yield Case("as estimated", design)
    yield Case("all agents alike", alike)
    low = alike.rate * NEAR_ZERO / max(float(alike.rate.mean()), 1e-9)
    near = alike._replace(rate=np.clip(low, 0.001, 0.999))
    yield Case(f"all alike, and near {NEAR_ZERO:.0%}", near)
    agent, category = np.indices(alike.icc.shape)
    # Under "fixed" agents of unequal correlation would not do alike in every scenario.
    place = category + (agent if target == "sampled" else 0)
    if place.max() > 0:
        icc = np.array(UNEQUAL)[place % 2]
        icc[layout.exact] = 1.0
        yield Case("all alike, unequal correlation", alike._replace(icc=icc))
    if layout.people and len(layout.annotators) > 1:
        differing = People(min(people.sensitivity, RIGHT), min(people.specificity, RIGHT), UNLIKE)
        yield Case("all alike, annotators differ", alike._replace(people=differing))
    if difference is not None:
        yield from _better(alike, difference)


def _better(alike: Design, difference: float) -> Iterator[Case]:
    """Yields the case in which one agent is better, or worse where there is more room for that."""
    layout, first = alike.layout, int(np.flatnonzero(alike.layout.ranked)[0])
    people = alike.people
    true = difference / left_of_a_difference(layout, people.sensitivity, people.specificity)
    own = alike.rate[first]
    weight = np.bincount(layout.category) / len(layout.category)
    up, down = float(weight @ (1 - own)), float(weight @ own)
    if not 0 < true <= MOST_ROOM * max(up, down):
        return
    rate = alike.rate.copy()
    rate[first] += true * ((1 - own) / up if up >= down else -own / down)
    words = f"one agent {100 * difference:.1f} points {'better' if up >= down else 'worse'}"
    yield Case(words, alike._replace(rate=rate), better=True)


def _alike(design: Design, target: str) -> Design:
    """The design with agents that are alike, in every scenario where these are all that count."""
    layout = design.layout
    usual = layout.ranked & ~layout.exact
    usual = usual if usual.any() else layout.ranked
    rate = np.broadcast_to(design.rate[layout.ranked].mean(axis=0), design.rate.shape).copy()
    icc = np.full(design.icc.shape, design.icc[usual].mean())
    icc[layout.exact] = 1.0
    together = 1.0 if target == "fixed" else design.correlation
    return design._replace(rate=rate, icc=icc, correlation=together)


def check(
    tried: Sequence[Case],
    *,
    target: str,
    studies: int,
    seed: int,
    there: Executor,
    show: Callable[[int], None] = lambda _: None,
) -> list[Checked]:
    """Simulates studies of cases, and counts what a report would have said rightly.

    Args:
      tried: the cases.
      target: of comparisons and ranks.
      studies: how many of each.
      seed: of every draw; study i is the same whatever their number.
      there: does them.
      show: called with the number of studies that are over.

    Raises:
      StsError: one could not be done.
    """
    verified: list[dict[int, dict[str, float]]] = [{} for _ in tried]
    starts = range(0, studies, AT_ONCE)
    for at, case in enumerate(tried):
        for start in starts:
            stop = min(start + AT_ONCE, studies)
            number = at * len(starts) + start // AT_ONCE
            there.submit(number, _batch, case.design, target, seed, start, stop)
    for number, outcome in there.completed():
        if isinstance(outcome, StsError):
            raise outcome
        at, place = divmod(number, len(starts))
        verified[at] |= dict(enumerate(outcome, starts[place]))
        show(sum(map(len, verified)))
    return [
        _checked(case, [own[i] for i in sorted(own)])
        for case, own in zip(tried, verified, strict=True)
    ]


def _batch(design: Design, target: str, seed: int, start: int, stop: int) -> list[dict[str, float]]:
    """Studies `start` to `stop`."""
    return [
        verify(
            design,
            simulate(design, np.random.default_rng([seed, i])),
            target=target,
            seed=i,
        )
        for i in range(start, stop)
    ]


def _checked(case: Case, verified: Sequence[dict[str, float]]) -> Checked:
    names = dict.fromkeys(name for one in verified for name in one)
    shares = {
        name: _share(np.array([one[name] for one in verified if name in one]))
        for name in names
        if case.better or not name.startswith("seen")
    }
    return Checked(case.words, shares, len(verified))


def _share(each: np.ndarray) -> Share | None:
    """The mean of what studies show, with Wilson's interval by their spread."""
    each = each[np.isfinite(each)]
    if not len(each):
        return None
    mean = np.clip(np.asarray(each.mean()), 0.0, 1.0)
    error = np.asarray(each.std() / np.sqrt(max(len(each) - 1, 1)))
    trials = intervals.effective_trials(mean, error, np.asarray(len(each)))
    low, high = intervals.wilson(mean, np.maximum(trials, 1))
    return Share(float(mean), float(low), float(high), len(each))
