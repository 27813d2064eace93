"""What a clip is likely to be, and how well each annotator judges, from judgements alone.

Each annotator calls a true success so with chance Se, and anything else not so with chance Sp; what
a clip is, is not seen, but for reference episodes.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sts_analysis.statistics import intervals

PRIOR = (4.0, 2.0)
"""Of Se and Sp, as successes and failures: a person is more likely right than wrong."""
_EVEN = (1.0, 1.0)
_TOLERANCE = 1e-9


class Panel(NamedTuple):
    """Judgements as rows of clips that K annotators judged, alike rows as one.

    Attributes:
      yes: float64[R, K], 1 where they said success.
      no: float64[R, K], 1 where they said not; both are 0 where they said nothing.
      truth: int64[R], 1 or 0 of reference episodes, -1 of all others.
      number: float64[R], clips of that row.
    """

    yes: np.ndarray
    no: np.ndarray
    truth: np.ndarray
    number: np.ndarray


class Chances(NamedTuple):
    """What judgements make likely.

    Attributes:
      sensitivity: float64[K], posterior mode.
      specificity: float64[K].
      prevalence: share of clips that are successes, references left out.
      success: float64[R], chance that a clip of each row is a success.
    """

    sensitivity: np.ndarray
    specificity: np.ndarray
    prevalence: float
    success: np.ndarray


def panel(
    clip: np.ndarray, annotator: np.ndarray, yes: np.ndarray, truth: np.ndarray
) -> tuple[Panel, np.ndarray]:
    """Returns judgements laid out, and int64[clips], which row each clip is.

    Args:
      clip: int64[N], from 0 without gaps, of each judgement.
      annotator: int64[N], from 0.
      yes: bool[N], whether it says success.
      truth: int64[clips], 1 or 0 where it is known, else -1.
    """
    table = np.full((len(truth), int(annotator.max()) + 2), -1, np.int8)
    table[clip, annotator] = yes
    table[:, -1] = truth
    rows, place, number = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    said, known = rows[:, :-1], rows[:, -1].astype(np.int64)
    made = Panel((said == 1).astype(float), (said == 0).astype(float), known, number.astype(float))
    return made, place.reshape(-1)


def fit(judged: Panel, *, rounds: int = 1000) -> Chances:
    """The most likely Se, Sp and prevalence by expectation and maximisation, with their priors.

    Args:
      judged: the judgements.
      rounds: at most.

    Source: Dawid and Skene 1979, Appl. Stat. 28:20; with references clamped as in Raykar et al.
      2010, J. Mach. Learn. Res. 11:1297.
    """
    success = _start(judged)
    for _ in range(rounds):
        se, sp, prevalence = _rates(judged, success, _mode)
        new = _expect(judged, se, sp, prevalence)
        change = np.abs(new - success).max(initial=0.0)
        success = new
        if change < _TOLERANCE:
            break
    return Chances(se, sp, float(prevalence), success)


def _mode(yes: Any, no: Any) -> Any:
    """Of a Beta distribution, both above 1."""
    return (yes - 1) / (yes + no - 2)


class Drawn(NamedTuple):
    """Draws from what judgements leave open.

    Attributes:
      sensitivity: float64[draws, K].
      specificity: float64[draws, K].
      success: float64[R], mean chance that a clip of each row is a success.
    """

    sensitivity: np.ndarray
    specificity: np.ndarray
    success: np.ndarray

    def ends(self, of: str) -> np.ndarray:
        """float64[K, 2], 95% of the draws of `sensitivity` or `specificity`, in the middle."""
        tail = (1 - intervals.LEVEL) / 2
        found: np.ndarray = np.quantile(getattr(self, of), [tail, 1 - tail], axis=0).T
        return found


def draw(judged: Panel, *, seed: int, draws: int = 1000, burn: int = 200) -> Drawn:
    """Draws Se, Sp and what clips are in turn, each given the others (Gibbs).

    Args:
      judged: the judgements.
      seed: equal seeds give equal draws.
      draws: kept.
      burn: left out before.

    Source: Joseph, Gyorkos and Coupal 1995, Am. J. Epidemiol. 141:263.
    """
    rng = np.random.default_rng(seed)
    success = fit(judged).success
    whole = judged.number.astype(np.int64)
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    total = np.zeros(len(success))
    for turn in range(burn + draws):
        held = rng.binomial(whole, success) / judged.number
        se, sp, prevalence = _rates(judged, held, rng.beta)
        success = _expect(judged, se, sp, prevalence)
        if turn >= burn:
            kept.append((se, sp))
            total += success
    se, sp = (np.stack(part) for part in zip(*kept, strict=True))
    return Drawn(se, sp, total / draws)


def _start(judged: Panel) -> np.ndarray:
    """What most say of each row."""
    yes = judged.yes.sum(axis=1)
    mean = (yes + 0.5) / (yes + judged.no.sum(axis=1) + 1)
    started: np.ndarray = np.where(judged.truth >= 0, judged.truth, mean)
    return started


def _rates(
    judged: Panel, success: np.ndarray, make: Callable[[Any, Any], Any]
) -> tuple[np.ndarray, np.ndarray, float]:
    """Se, Sp and prevalence by `make` from how often each would be right, and wrong."""
    yes, no = judged.yes, judged.no
    true, other = judged.number * success, judged.number * (1 - success)
    se = make(true @ yes + PRIOR[0], true @ no + PRIOR[1])
    sp = make(other @ no + PRIOR[0], other @ yes + PRIOR[1])
    open_ = judged.truth < 0
    prevalence = make(true[open_].sum() + _EVEN[0] + 1, other[open_].sum() + _EVEN[1] + 1)
    return se, sp, prevalence


def _expect(judged: Panel, se: np.ndarray, sp: np.ndarray, prevalence: float) -> np.ndarray:
    """float64[R], chance of a success given all else."""
    se, sp = np.clip(se, 1e-9, 1 - 1e-9), np.clip(sp, 1e-9, 1 - 1e-9)
    odds = judged.yes @ (np.log(se) - np.log1p(-sp)) + judged.no @ (np.log1p(-se) - np.log(sp))
    odds = odds + np.log(prevalence) - np.log1p(-prevalence)
    chance: np.ndarray = np.where(judged.truth >= 0, judged.truth, 1 / (1 + np.exp(-odds)))
    return chance
