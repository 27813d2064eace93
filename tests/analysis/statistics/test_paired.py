"""Pairs are worked out some at a time: what comes out does not depend on how many."""

import numpy as np
import pytest

from sts_analysis.statistics import paired
from sts_analysis.statistics.adjusted import adjusted
from sts_analysis.statistics.comparisons import compare
from sts_analysis.statistics.judgement_shares import Shares
from sts_analysis.statistics.outcomes import summarise
from sts_analysis.statistics.pass_rates import pass_rates
from tests.analysis.worlds import logistic_world


def compared(target: str, *, gaps: bool) -> list[np.ndarray]:
    """Every number of the comparisons of six agents, two of which do the same, and adjusted."""
    values, category = logistic_world(
        skills=[0.5, 0.0, -0.5, 1.0, 0.2, 0.2], categories=3, scenarios=8, continuations=4, seed=5
    )
    values[5] = values[4]
    rng = np.random.default_rng(6)
    if gaps:
        values[:, rng.random(24) < 0.4, 2:] = np.nan
        values[rng.random((6, 24)) < 0.2] = np.nan
    summary = summarise(values)
    rates = pass_rates(summary, category, target=target)
    plain = compare(summary, category, rates, target=target, seed=3, draws=300)
    judged = np.isfinite(summary.mean)[..., None]
    share = rng.dirichlet(np.ones(3), (6, 24)) * judged
    shares = Shares(("x", "y", "z"), share, share * np.nan_to_num(summary.mean)[..., None])
    beside = adjusted(shares, summary, category, plain, target=target, seed=3, draws=300)
    return [part for part in (*plain, *beside) if isinstance(part, np.ndarray)]


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("target", ["sampled", "fixed"])
def test_it_does_not_matter_how_many_pairs_are_looked_at_together(
    monkeypatch: pytest.MonkeyPatch, target: str, gaps: bool
) -> None:
    together = compared(target, gaps=gaps)
    monkeypatch.setattr(paired, "_AT_ONCE", 1)
    monkeypatch.setattr(paired, "_DRAWN_AT_ONCE", 1)
    for one, other in zip(together, compared(target, gaps=gaps), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("target", ["sampled", "fixed"])
def test_what_all_pairs_share_is_made_once_and_says_the_same(
    monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.setattr(
        *(paired, "drawn_alike"),
        lambda loads, draws, rng: loads @ rng.standard_normal((draws, loads.shape[1])).T,
    )
    shared = compared(target, gaps=False)
    monkeypatch.setattr(paired.Paired, "alike", False)
    for one, other in zip(shared, compared(target, gaps=False), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scenarios", [3, 400])
def test_chance_of_few_draws_is_that_of_one_for_every_scenario(scenarios: int) -> None:
    rng = np.random.default_rng(8)
    loads = rng.standard_normal((6, scenarios)) + rng.standard_normal(scenarios)
    loads[5] = loads[4]
    drawn = paired.drawn_alike(loads, 200_000, rng)
    exact = loads @ loads.T
    sizes = np.sqrt(np.outer(exact.diagonal(), exact.diagonal()))
    np.testing.assert_allclose(np.cov(drawn) / sizes, exact / sizes, atol=0.01)
    np.testing.assert_allclose(drawn[5], drawn[4], atol=1e-9)
    assert abs(drawn.mean(axis=1) / np.sqrt(exact.diagonal())).max() < 0.01
