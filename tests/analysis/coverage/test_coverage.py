"""Simulated coverage of rates and differences, and naive analyses that fail in the same worlds.

Cells, seeds and limits are fixed in `grid`; a number outside them is a fault of the statistics.
"""

from typing import NamedTuple

import numpy as np
import pytest

from sts_analysis.statistics.rates import RateModel
from tests.analysis.coverage import grid
from tests.analysis.coverage.measures import (
    Looks,
    Measured,
    find_pairs,
    measure_adjustment,
    measure_cell,
    measure_looks,
    measure_order,
)
from tests.analysis.coverage.worlds import World, draw_successes, expect_rates, simulate

pytestmark = pytest.mark.landing

Cells = dict[World, Measured]


class Tier(NamedTuple):
    """How much is simulated: studies of a cell, and each which cell of the fast tier."""

    studies: int
    step: int

    @property
    def tolerance(self) -> grid.Tolerance:
        return grid.Tolerance.of_studies(self.studies)


TIERS = [Tier(120, 6), pytest.param(Tier(grid.FAST_STUDIES, 1), marks=pytest.mark.slow)]


@pytest.fixture(scope="module", params=TIERS, ids=["few", "many"])
def tier(request: pytest.FixtureRequest) -> Tier:
    found: Tier = request.param
    return found


@pytest.fixture(scope="module")
def cells(tier: Tier) -> Cells:
    chosen = grid.draw_fast_cells()[:: tier.step]
    return {world: measure_cell(world, tier.studies) for world in chosen}


@pytest.fixture(scope="module")
def looks(tier: Tier) -> dict[tuple[World, str], Looks]:
    chosen = grid.list_looks()[:: grid.FAST_LOOKS_STEP]
    return {(world, order): measure_looks(world, order, tier.studies) for world, order in chosen}


def test_nearly_all_cells_cover_within_their_limits(cells: Cells, tier: Tier) -> None:
    tolerance = tier.tolerance.coverage
    found = {world: grid.find_breaches(world, x, tolerance) for world, x in cells.items()}
    outside = {world: breaches for world, breaches in found.items() if breaches}
    assert len(outside) <= grid.MAX_SHARE_OUTSIDE * len(cells), outside
    assert all(b.excess <= grid.MAX_EXCESS for bs in outside.values() for b in bs), outside


def test_equal_agents_rarely_differ(cells: Cells, tier: Tier) -> None:
    sizes = {world: found.size for world, found in cells.items() if found.identifiable > 0}
    limit = grid.MAX_SIZE + tier.tolerance.size
    assert {world: size for world, size in sizes.items() if size > limit} == {}


def test_confounded_agents_never_differ(cells: Cells) -> None:
    confounded = [x.identifiable for world, x in cells.items() if world.assignment == "confounded"]
    assert confounded and not any(confounded)


def test_uneven_judging_covers_where_the_plain_rate_does_not(tier: Tier) -> None:
    for world in grid.UNEVEN:
        found = measure_cell(world, tier.studies)
        assert grid.find_breaches(world, found, tier.tolerance.coverage) == []
    for world in grid.WITHOUT_ANNOTATORS:
        naive = measure_cell(world, tier.studies, naive=True)
        assert naive.rate < grid.MAX_WITHOUT_ANNOTATORS, world


def test_favours_far_agents_and_new_people_are_covered(tier: Tier) -> None:
    cells = grid.list_favouring_cells()
    for world in cells[5 :: 7 * tier.step]:
        found = measure_cell(world, tier.studies)
        assert grid.find_breaches(world, found, tier.tolerance.coverage) == [], world
        limit = grid.MAX_SIZE + tier.tolerance.size
        assert not found.size > limit and not found.others_size > limit, world
    naive = measure_cell(cells[-1], tier.studies, naive=True)  # new people judge new agents
    assert naive.rate < grid.MAX_WITHOUT_ANNOTATORS


@pytest.mark.parametrize("world", grid.WITHOUT_UNITS)
def test_analysis_without_units_does_not_cover(world: World, tier: Tier) -> None:
    assert measure_cell(world, tier.studies, naive=True).rate < grid.MAX_WITHOUT_UNITS


@pytest.mark.parametrize("world", grid.list_orders()[:: grid.FAST_STEP])
def test_wrong_orders_are_rarely_claimed(world: World, tier: Tier) -> None:
    found = measure_order(world, tier.studies)
    assert found.wrong <= grid.MAX_WRONG_ORDER + tier.tolerance.size


def test_twenty_looks_rarely_claim_a_difference_of_equal_agents(looks, tier: Tier) -> None:
    limit = grid.MAX_WRONG_LOOK + tier.tolerance.size
    assert all(max(found.interim, found.closing) <= limit for found in looks.values()), looks


def test_twenty_looks_at_a_twentieth_claim_differences_of_equal_agents(looks) -> None:
    naive = [found.always for (_, order), found in looks.items() if order == "clips"]
    assert naive and min(naive) > grid.MIN_NAIVE_LOOKS


@pytest.mark.parametrize("world", grid.list_identical()[:: grid.FAST_STEP])
def test_identical_annotators_rarely_need_adjustment(world: World, tier: Tier) -> None:
    found = measure_adjustment(world, tier.studies)
    assert found <= grid.MAX_ADJUSTED + tier.tolerance.size


def test_worlds_have_the_rates_that_intervals_are_held_against() -> None:
    rng = np.random.default_rng(0)
    world = World((0.03, 0.3, 0.9), 4, 10, 3, "4")
    studies = draw_successes(world, 2000, rng).mean(axis=(2, 3))
    error = studies.std(axis=0) / np.sqrt(len(studies))
    assert (np.abs(studies.mean(axis=0) - world.rates) < 4 * error).all()
    judged = world._replace(annotators=5, deviation=1.2, assignment="favouring")
    for truths in ([outcomes.value.mean(axis=1) for outcomes, _ in simulate(judged, 2000)],
                   [truth[0] for _, truth in simulate(judged, 2000)]):  # fmt: skip
        error = np.std(truths, axis=0) / np.sqrt(len(truths))
        assert (np.abs(np.mean(truths, axis=0) - expect_rates(judged)) < 4 * error).all()


def test_studies_of_one_table_are_analysed_as_if_alone() -> None:
    world = World((0.5, 0.5, 0.6), 4, 5, 3, "unequal", missing=0.3)
    (outcomes, _), *_ = simulate(world, 4)
    together = RateModel(outcomes)
    compared = together.compare(np.arange(12))
    for n, pairs in enumerate(find_pairs(compared, 3)):
        rows = slice(3 * n, 3 * n + 3)
        alone = RateModel(outcomes._replace(value=outcomes.value[rows], agents=outcomes.agents[:3]))
        single = alone.compare(np.arange(3))
        np.testing.assert_allclose(single.interval, compared.interval[pairs], rtol=1e-9)
        np.testing.assert_allclose(single.p, compared.p[pairs], rtol=1e-9)
        rates = alone.estimate_rates().interval
        np.testing.assert_allclose(rates, together.estimate_rates().interval[rows], rtol=1e-9)
