"""Which scenarios are hard and which tell agents from each other: by hand and against NumPy."""

import numpy as np
import pytest

from sts_analysis.statistics.scenario_summary import summarise_scenarios

RATES = np.array(
    [
        [1.0, 1.0, 0.0, 1.0, np.nan],
        [0.5, 1.0, 0.5, 0.0, np.nan],
        [0.0, 1.0, 1.0, 0.5, 1.0],
        [0.0, 1.0, 0.5, np.nan, np.nan],
    ]
)


def test_difficulty_and_range_are_over_agents_with_a_value() -> None:
    found = summarise_scenarios(RATES)
    assert found.difficulty == pytest.approx([0.625, 0, 0.5, 0.5, 0])
    assert found.range[:4].tolist() == [1, 0, 1, 1] and np.isnan(found.range[4])


def test_discrimination_correlates_with_the_rate_over_other_scenarios() -> None:
    found = summarise_scenarios(RATES).discrimination
    for s in (0, 2, 3):
        known = np.isfinite(RATES[:, s])
        rest = np.nanmean(np.delete(RATES, s, axis=1), axis=1)
        assert found[s] == pytest.approx(np.corrcoef(RATES[known, s], rest[known])[0, 1])
    assert np.isnan(found[[1, 4]]).all(), "equal agents, and a single agent, show nothing"


def test_scenario_that_better_agents_fail_discriminates_negatively() -> None:
    skill = np.linspace(0.1, 0.9, 6)
    found = summarise_scenarios(np.column_stack([skill, skill, skill, 1 - skill])).discrimination
    assert (found[:3] > 0.9).all() and found[3] < -0.9


def test_summary_without_agents_is_unknown() -> None:
    found = summarise_scenarios(np.empty((0, 3)))
    for values in (found.difficulty, found.range, found.discrimination):
        assert np.isnan(values).all()
