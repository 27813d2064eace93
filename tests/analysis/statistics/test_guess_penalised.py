"""The score that penalises guessing, by hand; what is blank, and who scores 0 and 1."""

import numpy as np
import pytest

from sts_analysis.statistics.guess_penalised import Penalised, guess_penalised
from sts_analysis.statistics.outcomes import summarise


def suite(rows: list[list[float]]) -> np.ndarray:
    """Ten continuations a scenario with these rates."""
    passes = np.array(rows)[..., None] * 10
    return (np.arange(10) < passes - 1e-9).astype(float)


def scored(rows: list[list[float]], category: list[int], **options: object) -> Penalised:
    settings: dict[str, object] = {"agent": 0, "blind": 1, "target": "sampled"}
    return guess_penalised(
        summarise(suite(rows)),
        np.array(category),
        ("a", "b"),
        **(settings | options),  # type: ignore[arg-type]
    )


def test_a_category_at_a_time_by_hand() -> None:
    found = scored([[0.6, 0.8, 0.5, 0.5], [0.2, 0.4, 0.5, 0.5]], [0, 0, 1, 1])
    # Category a: (.7 - .3) / .7; category b: 0.
    assert found.value == pytest.approx(0.5 * 0.4 / 0.7) and found.blank == ()


def test_the_error_knows_that_both_find_the_same_scenarios_hard() -> None:
    found = scored([[0.6, 0.8, 0.3, 0.7], [0.2, 0.4, 0.1, 0.3]], [0, 0, 0, 0])
    p, g = np.array([0.6, 0.8, 0.3, 0.7]), np.array([0.2, 0.4, 0.1, 0.3])
    linear = p / 0.75 - 0.4 / 0.75**2 * g
    assert found.standard_error == pytest.approx(linear.std(ddof=1) / 2)


def test_a_blind_agent_scores_0_a_perfect_one_1_and_a_worse_one_less() -> None:
    rows = [[1.0, 1.0], [0.4, 0.2], [0.1, 0.1]]
    assert scored(rows, [0, 0]).value == 1.0
    assert scored(rows, [0, 0], agent=1)[:3] == (0.0, 0.0, (0.0, 0.0))
    assert (scored(rows, [0, 0], agent=2).value or 0) < 0


def test_what_a_blind_agent_mostly_passes_is_blank() -> None:
    found = scored([[0.9, 0.9, 0.5, 0.7], [0.9, 0.8, 0.1, 0.2]], [0, 0, 1, 1])
    assert found.blank == ("a",) and found.scenarios == 2
    nothing = scored([[0.9, 0.9], [0.9, 0.9]], [0, 0])
    assert nothing.value is None and "passes over 80%" in nothing.method


def test_the_fixed_target_counts_continuations_only() -> None:
    rows = [[0.5, 0.5], [0.2, 0.2]]
    assert scored(rows, [0, 0]).interval is None
    fixed = scored(rows, [0, 0], target="fixed")
    variance = 0.25 / 18 / 0.8**2 + (0.5 / 0.64) ** 2 * 0.16 / 18
    assert fixed.standard_error == pytest.approx(np.sqrt(variance))
