"""What a report's intervals cover in a user's own design, by simulating studies of that design."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from analysis.planning.power import Criterion, reach
from analysis.planning.world import Design, Study, judged_rates, simulate
from analysis.statistics.comparisons import Comparisons, compare
from analysis.statistics.outcomes import Summary, summarise
from analysis.statistics.pass_rates import TARGETS, Rates, pass_rates
from analysis.statistics.rank_sets import rank_sets

DRAWS = 999
"""Of the multiplier bootstrap in each simulated study."""
NEAR_ZERO = 0.05
UNEQUAL = (0.1, 0.8)


class Checked(NamedTuple):
    """What came of the simulated studies of one case; shares in [0, 1].

    Attributes:
      case: what it is, in words.
      rates: by target, how often the interval of a rate contained it.
      true_rates: how often the target's interval contained the rate of faultless annotators.
      differences: how often a pair's interval contained the difference.
      rank_sets: how often all sets of ranks were right.
      separated: how often any two agents that are alike were called different; None where none
        are.
      seen: how often the agent that is better was separated from another; None where none is.
      studies: simulated.
    """

    case: str
    rates: dict[str, float]
    true_rates: float
    differences: float
    rank_sets: float
    separated: float | None
    seen: float | None
    studies: int


def smallest_difference(
    design: Design, *, target: str, seed: int, studies: int = 20
) -> float | None:
    """The smallest difference between agents of the mean rate that is seen four times in five.

    Args:
      design: as estimated.
      target: of the comparisons.
      seed: of the studies that show how far such a difference can be off.
      studies: how many these are.

    Returns:
      Of the rates that faultless annotators would give, in (0, 1); None where none is seen.
    """
    alike = _alike(design, target)
    squares = []
    for i in range(studies):
        summary = summarise(simulate(alike, np.random.default_rng([seed, i])).values)
        squares.append(_compared(alike, summary, target=target, seed=i, draws=1)[1].error ** 2)
    criterion = Criterion(
        len(design.agents), int(design.category.max()) + 1, fixed=target == "fixed"
    )
    error = float(np.sqrt(np.nanmean(squares)))
    scale = np.mean((design.sensitivity + design.specificity - 1)[design.annotator])
    smallest = reach(len(design.category), criterion) * error / float(scale)
    return smallest if 0 < smallest < 1 else None


def _alike(design: Design, target: str) -> Design:
    """The design with agents that are alike, in every scenario where these are all that count."""
    rate = np.broadcast_to(design.rate.mean(axis=0), design.rate.shape).copy()
    icc = np.full(design.icc.shape, design.icc.mean())
    together = 1.0 if target == "fixed" else design.correlation
    return design._replace(rate=rate, icc=icc, correlation=together)


def cases(
    design: Design, *, target: str, difference: float | None = None
) -> Iterator[tuple[str, Design]]:
    """Yields the cases that a design is tried in, with what they are in words.

    Args:
      design: as estimated.
      target: "fixed" has agents that are alike do alike in every scenario.
      difference: in (0, 1], of the case in which one agent is better; left out where None.
    """
    yield "as estimated", design
    alike = _alike(design, target)
    mean = alike.rate
    yield "all agents alike", alike
    low = mean * NEAR_ZERO / max(float(mean.mean()), 1e-9)
    yield f"all alike, and near {NEAR_ZERO:.0%}", alike._replace(rate=np.clip(low, 0.001, 0.999))
    icc = np.array(UNEQUAL)[np.arange(design.icc.shape[1]) % 2]
    unequal = np.broadcast_to(icc, design.icc.shape)
    yield "all alike, unequal correlation", alike._replace(icc=unequal)
    if len(design.sensitivity) > 1:
        worse = np.linspace(0.0, 0.1, len(design.sensitivity))
        yield (
            "all alike, annotators unequal",
            alike._replace(sensitivity=0.95 - worse / 2, specificity=0.95 - worse),
        )
    if difference is not None:
        better = mean.copy()
        better[0] += difference * (1 - mean[0]) / (1 - mean[0]).mean()
        words = f"one agent {100 * difference:.1f} points better"
        yield words, alike._replace(rate=np.clip(better, 0.001, 0.999))


def check(
    case: str,
    design: Design,
    *,
    target: str,
    studies: int,
    seed: int,
    show: Callable[[int], None] = lambda _: None,
) -> Checked:
    """Simulates studies of one case and counts what a report would have said rightly.

    Args:
      case: what it is, in words.
      design: of the studies.
      target: of comparisons and ranks.
      studies: how many.
      seed: of every draw; study i is the same whatever their number.
      show: called with the number of studies that are over.
    """
    rate = design.rate[:, design.category]
    counts = []
    for i in range(studies):
        rng = np.random.default_rng([seed, i])
        counts.append(_one(design, simulate(design, rng), rate, target=target, seed=i))
        show(i + 1)
    mean = {key: float(np.mean([one[key] for one in counts])) for key in counts[0]}
    alike = np.isclose(design.rate.mean(axis=1), design.rate.mean(axis=1)[-1])
    return Checked(
        case,
        {name: mean[name] for name in TARGETS},
        mean["true"],
        mean["differences"],
        mean["rank_sets"],
        mean["wrong"] if alike[1:].all() and len(alike) > 1 + (not alike[0]) else None,
        mean["seen"] if not alike[0] and alike[1:].all() else None,
        studies,
    )


def _one(
    design: Design, study: Study, rate: np.ndarray, *, target: str, seed: int
) -> dict[str, float]:
    summary = summarise(study.values)
    rates, compared = _compared(design, summary, target=target, seed=seed, draws=DRAWS)
    main = rates[target]
    means = {"sampled": rate, "fixed": study.chance}
    truth = {name: judged_rates(design, mean) for name, mean in means.items()}
    # Whether agents differ is a matter of what they do; whom it was judged by is no excuse.
    does = means[target].mean(axis=1)
    a, b = compared.pairs.T
    gap = truth[target][a] - truth[target][b]
    alike = np.isclose(does[a], does[b])
    sets = rank_sets(np.ones(len(does), np.int64), compared)
    above = (does[None, :] > does[:, None] + 1e-12).sum(axis=1)
    below = (does[None, :] < does[:, None] - 1e-12).sum(axis=1)
    right = (sets[:, 0] <= 1 + above) & (sets[:, 1] >= len(does) - below)
    first = ~alike & (a == 0)
    return {
        **{name: _covered(rates[name].interval, truth[name]) for name in TARGETS},
        "true": _covered(main.interval, does),
        "differences": _covered(compared.interval, gap),
        "rank_sets": float(right.all()),
        "wrong": float((compared.separated & alike).any()),
        "seen": float(compared.separated[first].mean()) if first.any() else np.nan,
    }


def _compared(
    design: Design, summary: Summary, *, target: str, seed: int, draws: int
) -> tuple[dict[str, Rates], Comparisons]:
    rates = {
        name: pass_rates(summary, design.category, target=name, unit=design.unit)
        for name in TARGETS
    }
    compared = compare(
        summary,
        design.category,
        rates[target],
        target=target,
        seed=seed,
        draws=draws,
        unit=design.unit,
    )
    return rates, compared


def _covered(interval: np.ndarray, truth: np.ndarray) -> float:
    there = np.isfinite(interval).all(axis=1)
    inside = (interval[:, 0] <= truth + 1e-12) & (truth - 1e-12 <= interval[:, 1])
    return float(inside[there].mean()) if there.any() else np.nan
