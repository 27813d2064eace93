"""Dimensions of the categories: eigenvalues of their correlation, and a one-factor null.

Even if all categories measure a single ability, their pass rates do not correlate perfectly,
because each rests on few scenarios. The null simulates studies of the same agents and scenarios in
which a single ability decides; more than one dimension can be claimed only if the second eigenvalue
exceeds theirs.

- **One factor.** The chance of an agent in a category has the logit base + slope x ability, with
  standard normal priors of ability and slope. Each rate counts as many trials as it has scenarios.
  Without slopes, categories that depend on the ability more or less would count as a dimension;
  without the logit, easy and hard ones would.
- **Error.** Units get random weights, the same for all agents, and rates move by as much as these
  move them. An agent repeats itself in the continuations of a scenario, and similar agents fail in
  the same scenarios. Independent draws for each continuation (or annotation) would miss both, and
  would find dimensions that other scenarios do not show.

Source: comparison data: Ruscio and Roche 2012, Psychological Assessment 24:282. Model: Birnbaum
1968, the two-parameter logistic. Weights: Rubin 1981, Ann. Stat. 9:130.

Axes: A agents, C categories, U units, E eigenvalues.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from sts_analysis.statistics import estimate as est
from sts_analysis.statistics.tabulation import Outcomes

MIN_AGENTS, MIN_CATEGORIES = 4, 3
MIN_UNITS = 5
"""Units that each agent must have in a category."""
DRAWS = 1_000
QUANTILES = (0.025, 0.5, 0.975)
_BATCH = 50


class Dimensions(NamedTuple):
    """Eigenvalues of the correlation between categories, the largest first."""

    agents: int  # how many are compared
    categories: int  # how many are compared
    left_out: int  # other categories: agents do not differ, or one has too few units
    observed: np.ndarray  # float64[E]; E is the smaller of C and A - 1, as any others are 0
    median: np.ndarray  # float64[E], of the null
    band: np.ndarray  # float64[E, 2], the 2.5% and 97.5% quantiles of the null
    reason: str  # why there are no eigenvalues, or ""

    @property
    def is_more_than_one(self) -> bool:
        """True if more than one dimension can be claimed: the second eigenvalue is above its band.

        A single dimension leads to this claim in fewer than 5% of studies. Without the claim there
        may still be a second dimension, too weak for the size of the study.
        """
        return not self.reason and bool(self.observed[1] > self.band[1, 1])


class _Category(NamedTuple):
    """A category: units, int64[U]; agents' scenarios and deviations in each, float64[A, U]."""

    unit: np.ndarray
    scenarios: np.ndarray
    deviations: np.ndarray

    @property
    def units(self) -> np.ndarray:
        """int64[A]."""
        return np.asarray((self.scenarios > 0).sum(axis=1))


def measure_dimensions(
    outcomes: Outcomes, rates: np.ndarray, agents: np.ndarray, *, seed: int
) -> Dimensions:
    """Compare the eigenvalues of the correlation between categories with a one-factor null.

    Args:
      outcomes: of all agents.
      rates: float64[agents of `outcomes`, its categories], pass rates; NaN if unknown.
      agents: int64[A], the agents to compare.
      seed: of the null's draws.
    """
    categories = _divide_categories(outcomes, agents)
    enough = np.array([(category.units >= MIN_UNITS).all() for category in categories])
    spread = rates[agents].max(axis=0, initial=0) - rates[agents].min(axis=0, initial=1)
    usable = np.flatnonzero(enough & (spread > est.ZERO))
    counts = len(agents), len(usable), len(categories) - len(usable)
    if reason := _find_reason(len(agents), len(usable)):
        return Dimensions(*counts, np.zeros(0), np.zeros(0), np.zeros((0, 2)), reason)
    compared, rates = [categories[c] for c in usable], rates[np.ix_(agents, usable)]
    trials = np.stack([category.scenarios.sum(axis=1) for category in compared], axis=1)
    size = min(len(usable), len(agents) - 1)
    null = _simulate(fit_one_factor(rates, trials), compared, size, seed)
    low, median, high = np.quantile(null, QUANTILES, axis=0)
    band = np.stack([low, high], axis=1)
    return Dimensions(*counts, find_eigenvalues(rates, size), median, band, "")


def find_eigenvalues(rates: np.ndarray, size: int) -> np.ndarray:
    """Return float64[..., size], the largest of the correlation between categories.

    Args:
      rates: float64[..., A, C].
      size: how many.
    """
    centred = rates - rates.mean(axis=-2, keepdims=True)
    scaled = est.divide(centred, np.sqrt((centred**2).sum(axis=-2, keepdims=True)))
    turned = np.swapaxes(scaled, -1, -2)
    wide = rates.shape[-1] > rates.shape[-2]  # both products have the same eigenvalues above 0
    product = scaled @ turned if wide else turned @ scaled
    return np.asarray(np.linalg.eigvalsh(product)[..., : -size - 1 : -1].clip(0))


def fit_one_factor(rates: np.ndarray, trials: np.ndarray) -> np.ndarray:
    """Return the chances by which a single ability explains rates best, float64[A, C].

    Args:
      rates: float64[A, C]; in each category they differ.
      trials: float64[A, C], how many each rate counts as.
    """
    agents, categories = rates.shape
    successes = rates * trials
    # Half a success and half a failure more, so that rates of 0 and 1 have a logit.
    logits = logit((successes + 0.5) / (trials + 1))
    left, scale, right = np.linalg.svd(logits - logits.mean(axis=0), full_matrices=False)
    # Starts from the best product of an ability and a slope for these logits.
    root = np.sqrt(scale[0])
    start = np.concatenate([root * left[:, 0], root * right[0], logits.mean(axis=0)])

    def measure_misfit(x: np.ndarray) -> tuple[float, np.ndarray]:
        ability, slope, base = np.split(x, [agents, agents + categories])
        z = base + np.outer(ability, slope)
        excess = trials * expit(z) - successes
        misfit = (trials * np.logaddexp(0, z) - successes * z).sum()
        # Without priors, twice the ability with half the slope would be the same.
        prior = (ability @ ability + slope @ slope) / 2
        slopes = [excess @ slope + ability, ability @ excess + slope, excess.sum(axis=0)]
        return float(misfit + prior), np.concatenate(slopes)

    found = minimize(measure_misfit, start, jac=True, method="L-BFGS-B", options={"maxiter": 500})
    ability, slope, base = np.split(found.x, [agents, agents + categories])
    return np.asarray(expit(base + np.outer(ability, slope)))


def _divide_categories(outcomes: Outcomes, agents: np.ndarray) -> list[_Category]:
    """Return the categories, with how far the units of each deviate from agents' rates."""
    value = outcomes.value[agents]
    seen, categories = np.isfinite(value).astype(np.float64), []
    for c in range(len(outcomes.categories)):
        inside = outcomes.category == c
        unit, place = np.unique(outcomes.unit[inside], return_inverse=True)
        judged, total = seen[:, inside], np.nan_to_num(value[:, inside])
        mean = est.divide(total.sum(axis=1), judged.sum(axis=1))[:, None]
        columns = judged, total - mean * judged
        categories.append(_Category(unit, *(est.sum_units(x, place, len(unit)) for x in columns)))
    return categories


def _find_reason(agents: int, categories: int) -> str:
    if agents < MIN_AGENTS:
        return f"fewer than {MIN_AGENTS} agents can be compared"
    if categories < MIN_CATEGORIES:
        return f"agents differ in fewer than {MIN_CATEGORIES} categories of {MIN_UNITS} units"
    return ""


def _simulate(chances: np.ndarray, categories: list[_Category], size: int, seed: int) -> np.ndarray:
    """Return float64[DRAWS, size], eigenvalues of studies with these chances and units."""
    rng, found = np.random.default_rng(seed), []
    units = 1 + max(category.unit.max() for category in categories)
    for _ in range(DRAWS // _BATCH):
        # Exponential weights over their sum are Rubin's; one for a unit in all its categories.
        weight = rng.standard_exponential((_BATCH, units))
        rates = np.tile(chances, (_BATCH, 1, 1))
        for c, category in enumerate(categories):
            unit_weight, n = weight[:, category.unit], category.units
            moved = (unit_weight @ category.deviations.T) / (unit_weight @ category.scenarios.T)
            # Such weights give sum e^2 / (n (n + 1)), and the variance of a mean is over n (n - 1).
            rates[..., c] += moved * np.sqrt((n + 1) / (n - 1))
        found.append(find_eigenvalues(rates, size))
    return np.concatenate(found)
