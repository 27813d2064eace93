"""Real ratings: what the model makes of raters who differ, and halves of them held against others.

Each half of the ratings is judged unevenly, so that rates without a model of annotators disagree.
"""

import numpy as np
import pytest

from sts_analysis.planning.selfcheck import read_design, simulate
from sts_analysis.statistics.rates import RateModel
from tests.analysis.coverage import grid
from tests.analysis.coverage.wmt_ted import (
    check_design,
    compare_halves,
    fit_ratings,
    load_study,
    read_ratings,
)


def test_ratings_have_one_verdict_of_each_translation_of_a_segment() -> None:
    rows = read_ratings()
    assert len(rows) == 14 * 529 and not rows.duplicated(["agent", "scenario"]).any()
    assert sorted(rows["annotator"].unique()) == ["rater1", "rater2", "rater3", "rater4"]
    assert (rows["verdict"] == "success").mean() == pytest.approx(0.79, abs=0.005)
    assert load_study().outcomes.unit.max() + 1 == 54


def test_raters_differ_in_strictness_and_favour_translations() -> None:
    found = fit_ratings()
    assert found.strictness == pytest.approx(0.87, abs=0.01)
    assert found.favouritism == pytest.approx(0.39, abs=0.01) and found.favour_p < 0.001
    assert found[3:] == (91, 6, 0)


HALVES = [
    pytest.param(10, marks=pytest.mark.landing),
    pytest.param(60, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("studies", HALVES)
def test_uneven_halves_agree_only_if_annotators_are_modelled(studies: int) -> None:
    found = compare_halves(studies, uneven=True)
    assert found.agree > 0.925 and found.opposed < 0.01
    naive = compare_halves(studies, uneven=True, ignored="raters")
    assert naive.agree < grid.MAX_WITHOUT_ANNOTATORS


@pytest.mark.slow
def test_halves_agree_only_if_runs_of_segments_are_units() -> None:
    assert compare_halves(60, uneven=False).agree > 0.925
    assert compare_halves(60, uneven=False, ignored="runs").agree < 0.9


def test_self_check_draws_effects_of_the_size_that_ratings_show() -> None:
    shown, design = load_study().model.annotators, read_design(load_study())
    drawn = [RateModel(simulate(design, [seed])[0]).annotators for seed in range(20)]
    for name in ("strictness", "favouritism"):
        squares = [getattr(model, name) ** 2 for model in drawn]
        assert np.sqrt(np.mean(squares)) == pytest.approx(getattr(shown, name), rel=0.25)


@pytest.mark.slow
def test_intervals_hold_in_simulated_studies_of_such_raters() -> None:
    for label, shares in check_design(200).items():
        assert not any(share.misses(name) for name, share in shares.items()), (label, shares)
