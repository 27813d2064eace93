"""Eigenvalues of categories next to those of one ability: known truths, and a naive null."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from sts_analysis.statistics import dimensions
from sts_analysis.statistics.dimensions import (
    Dimensions,
    find_eigenvalues,
    fit_one_factor,
    measure_dimensions,
)
from sts_analysis.statistics.tabulation import Outcomes
from tests.analysis.outcomes import make_outcomes

SIZE = 10
"""Scenarios of a category."""


def draw(
    rng: np.random.Generator,
    *,
    agents: int = 8,
    categories: int = 8,
    continuations: int = 10,
    ability: float = 1.0,
    slopes: float = 0.0,
    second: float = 0.0,
    own: float = 0.8,
    families: int = 0,
) -> Outcomes:
    """Draw a study of abilities, scenarios of different difficulty, and their interaction.

    Args:
      rng: of the draws.
      agents: number of them.
      categories: number of them.
      continuations: of each scenario.
      ability: standard deviation of the first ability, in logits.
      slopes: standard deviation of the logarithm of what it counts for in a category.
      second: standard deviation of an ability that every other category needs, others punish.
      own: standard deviation of what an agent makes of a single scenario.
      families: of agents that make nearly the same of it; 0 if each agent is a family.
    """
    category = np.repeat(np.arange(categories), SIZE)
    slope = np.exp(slopes * rng.standard_normal(categories))
    logits = ability * np.outer(rng.standard_normal(agents), slope)
    sides = np.where(np.arange(categories) % 2, 1, -1)
    logits += second * np.outer(rng.standard_normal(agents), sides)
    logits = logits + rng.standard_normal(categories)
    chances = logits[:, category] + 1.2 * rng.standard_normal(len(category))
    shared = rng.standard_normal((families or agents, len(category)))
    lone = rng.standard_normal((agents, len(category)))
    family = np.arange(agents) % (families or agents)
    chances += own * (np.sqrt(0.9) * shared[family] + np.sqrt(0.1) * lone)
    shape = (*chances.shape, continuations)
    return make_outcomes((rng.random(shape) < expit(chances)[..., None]) * 1.0, category=category)


def average(outcomes: Outcomes) -> np.ndarray:
    """Return the rates of all agents in all categories."""
    places = range(len(outcomes.categories))
    parts = [outcomes.value[:, outcomes.category == c].mean(axis=1) for c in places]
    return np.stack(parts, axis=1)


def measure(outcomes: Outcomes, seed: int = 0) -> Dimensions:
    every = np.arange(len(outcomes.agents))
    return measure_dimensions(outcomes, average(outcomes), every, seed=seed)


def claim_naively(outcomes: Outcomes, seed: int = 0) -> bool:
    """Return whether the second eigenvalue is above those of independent continuations."""
    rates = average(outcomes)
    trials = np.full(rates.shape, len(outcomes.continuations.y) // rates.size)
    chances, rng = fit_one_factor(rates, trials), np.random.default_rng(seed)
    null = rng.binomial(trials, chances, (dimensions.DRAWS, *rates.shape)) / trials
    highest = np.quantile(find_eigenvalues(null, 2)[:, 1], 0.975)
    return bool(find_eigenvalues(rates, 2)[1] > highest)


def claim(outcomes: Outcomes, seed: int) -> bool:
    return measure(outcomes, seed).is_more_than_one


def share_claims(decide: Callable[[Outcomes, int], bool], studies: int, **world: Any) -> float:
    """Return the share of simulated studies that claim a second dimension."""
    rng = np.random.default_rng(4)
    return float(np.mean([decide(draw(rng, **world), seed) for seed in range(studies)]))


@pytest.fixture
def fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dimensions, "DRAWS", 200)


@pytest.mark.parametrize("shape", [(12, 5), (5, 12)])
def test_eigenvalues_are_those_of_the_correlation_between_categories(shape) -> None:
    rates = np.random.default_rng(0).random((3, *shape))
    size = min(shape[1], shape[0] - 1)
    for found, table in zip(find_eigenvalues(rates, size), rates, strict=True):
        expected = np.linalg.eigvalsh(np.corrcoef(table.T))[::-1]
        assert found == pytest.approx(expected[:size])
        assert expected[size:] == pytest.approx(0)


def test_one_ability_is_recovered_with_slopes_of_either_sign() -> None:
    rng = np.random.default_rng(1)
    slope, base = np.array([2.0, 1, 0.5, -0.5, -1, -2]), rng.normal(size=6)
    chances = expit(base + np.outer(rng.normal(size=9), slope))
    assert fit_one_factor(chances, np.full(chances.shape, 1e6)) == pytest.approx(chances, abs=1e-3)


@pytest.mark.usefixtures("fewer_draws")
def test_one_ability_leads_to_no_second_dimension_as_a_naive_null_does() -> None:
    assert share_claims(claim, 40, own=1.5) <= 0.05
    assert share_claims(claim_naively, 40, own=1.5) >= 0.4


@pytest.mark.usefixtures("fewer_draws")
def test_two_abilities_lead_to_two_dimensions() -> None:
    assert share_claims(claim, 25, agents=12, second=0.8) >= 0.8


@pytest.mark.landing
@pytest.mark.parametrize("studies", [60, pytest.param(120, marks=pytest.mark.slow)])
@pytest.mark.usefixtures("fewer_draws")
@pytest.mark.parametrize(
    "world",
    [
        {"own": 0.0, "continuations": 3},
        {"own": 1.5},
        {"agents": 4, "categories": 3, "continuations": 1},
        {"agents": 20, "categories": 20, "ability": 0.0},
        {"agents": 13, "categories": 19, "ability": 2.0, "slopes": 0.5},
        {"agents": 15, "categories": 10, "ability": 2.0, "own": 2.0, "families": 3},
    ],
)
def test_one_ability_is_called_two_in_at_most_5_percent_of_studies(world, studies) -> None:
    assert share_claims(claim, studies, **world) <= 0.05


def test_categories_that_cannot_be_compared_are_counted() -> None:
    outcomes = draw(np.random.default_rng(2))
    y = outcomes.continuations.y.reshape(8, 80, 10).copy()
    y[:, :10] = 1.0  # agents do not differ in these
    unit = np.arange(80)
    unit[10:20] = 10 + np.arange(10) % 4
    y[0, 24:30] = np.nan  # an agent with four scenarios
    found = measure_dimensions(
        make_outcomes(y, category=outcomes.category, unit=unit),
        np.where(np.arange(8) > 0, average(outcomes), 1.0),
        np.arange(8),
        seed=0,
    )
    assert (found.agents, found.categories, found.left_out) == (8, 5, 3)
    assert found.observed.sum() == pytest.approx(5)
    assert found.band.shape == (5, 2) and found.median.shape == (5,)


@pytest.mark.parametrize(
    ("agents", "categories", "reason"),
    [
        (0, 8, "fewer than 4 agents can be compared"),
        (3, 8, "fewer than 4 agents can be compared"),
        (8, 2, "agents differ in fewer than 3 categories of 5 units"),
    ],
)
def test_small_studies_show_a_reason_and_no_eigenvalues(agents, categories, reason) -> None:
    outcomes = draw(np.random.default_rng(3), categories=categories)
    found = measure_dimensions(outcomes, average(outcomes), np.arange(agents), seed=0)
    assert found.reason == reason and not found.is_more_than_one
    assert len(found.observed) == len(found.median) == len(found.band) == 0


def test_null_follows_its_seed() -> None:
    outcomes = draw(np.random.default_rng(5))
    first, again, other = measure(outcomes, 1), measure(outcomes, 1), measure(outcomes, 2)
    assert (first.band == again.band).all() and (first.band != other.band).any()
    assert first.band == pytest.approx(other.band, abs=0.2)
    assert (first.observed == other.observed).all()


def test_null_allows_for_units_that_scenarios_share() -> None:
    rng = np.random.default_rng(6)
    y = draw(rng).value[..., None]
    twice = np.repeat(y, 2, axis=1)
    category, unit = np.repeat(np.arange(8), 2 * SIZE), np.repeat(np.arange(8 * SIZE), 2)
    one = make_outcomes(y, category=category[::2])
    joined = make_outcomes(twice, category=category, unit=unit)
    loose = make_outcomes(twice, category=category)
    bands = [measure(outcomes).band[1, 1] for outcomes in (one, joined, loose)]
    assert bands[0] == pytest.approx(bands[1], rel=0.1) and bands[2] < 0.8 * bands[0]
