"""Accuracy and marker errors on reference episodes: by hand, and an episode as a unit."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from statsmodels.stats.proportion import proportion_confint

from sts_analysis.statistics.reference_accuracy import (
    TOLERANCES,
    measure_accuracy,
    measure_marker_errors,
)


def refer(*rows: tuple[str, str, str, float, float], annotator: str = "ana") -> pd.DataFrame:
    columns = ["continuation", "truth", "verdict", "truth_step", "step"]
    return pd.DataFrame(rows, columns=columns).assign(annotator=annotator)


ANSWERS = refer(
    ("r1", "success", "success", 10, 12),
    ("r2", "success", "failure", 10, 10),
    ("r3", "failure", "failure", 20, 19),
    ("r4", "not_done", "not_done", np.nan, np.nan),
    ("r5", "failure", "success", 20, 19),
    ("r6", "failure", "not_done", 5, np.nan),
    ("r7", "success", "cannot_judge", 5, np.nan),
)
FAULTLESS = refer(
    *[(f"s{i}", "success", "success", 1, 1) for i in range(10)],
    *[(f"f{i}", "failure", "failure", 1, 1) for i in range(10)],
    annotator="ben",
)


def test_accuracy_counts_successes_and_others_apart() -> None:
    found = measure_accuracy(ANSWERS)
    assert (found.successes, found.non_successes, found.cannot_judge) == (2, 4, 1)
    assert (found.sensitivity, found.specificity, found.balanced) == (0.5, 0.75, 0.625)
    assert found.interval[0] < 0.625 < found.interval[1]


def test_faultless_annotator_still_has_an_interval() -> None:
    found = measure_accuracy(FAULTLESS)
    low, high = proportion_confint(10, 10, method="wilson")
    assert found.sensitivity_interval == pytest.approx([low, high])
    assert found.interval == pytest.approx([1 - (1 - low) * np.sqrt(2) / 2, 1])


def test_answers_to_one_episode_are_one_unit() -> None:
    five = pd.concat([ANSWERS.assign(annotator=f"p{i}") for i in range(5)])
    alone, together = measure_accuracy(ANSWERS), measure_accuracy(five)
    assert together.successes == 10 and together.cannot_judge == 5
    assert together.specificity_interval == pytest.approx(alone.specificity_interval)
    assert together.interval == pytest.approx(alone.interval)


def test_accuracy_without_references_of_a_kind_is_unknown() -> None:
    found = measure_accuracy(ANSWERS[ANSWERS["truth"] == "success"])
    assert found.sensitivity == 0.5 and found.non_successes == 0
    assert np.isnan([found.specificity, found.balanced, *found.interval]).all()


def test_marker_errors_are_those_of_right_verdicts() -> None:
    found = measure_marker_errors(ANSWERS)
    assert (found.markers, found.median) == (2, 0.5)
    assert found.within[:3].tolist() == [0, 0.5, 1] and len(found.within) == len(TOLERANCES)
    nothing = measure_marker_errors(ANSWERS[:0])
    assert nothing.markers == 0 and np.isnan(nothing.within).all()


def test_markers_of_one_episode_are_one_unit() -> None:
    rows = refer(*[(f"r{i}", "success", "success", 10, 10 + i % 4) for i in range(40)])
    alone, again = measure_marker_errors(rows), measure_marker_errors(pd.concat([rows] * 5))
    assert again.markers == 200 and alone.within[2] == 0.75
    assert again.intervals == pytest.approx(alone.intervals)
    exact = proportion_confint(30, 40, method="wilson")
    assert alone.intervals[2] == pytest.approx(exact, abs=0.015)


@pytest.mark.landing
@pytest.mark.parametrize(
    ("studies", "least"), [(300, 0.9), pytest.param(800, 0.91, marks=pytest.mark.slow)]
)
def test_accuracy_covers_where_answers_as_trials_do_not(studies: int, least: float) -> None:
    rng, people, episodes = np.random.default_rng(4), 5, 20
    truth = expit(3 + 2 * rng.normal(size=400_000)).mean()
    rows = pd.DataFrame({"continuation": np.tile(np.arange(2 * episodes), people)})
    rows["truth"] = np.where(rows["continuation"] < episodes, "success", "failure")
    success, hits = (rows["truth"] == "success").to_numpy(), []
    for _ in range(studies):
        chance = expit(3 + 2 * rng.normal(size=2 * episodes))
        right = rng.random((people, 2 * episodes)) < chance
        verdict = np.where(right.ravel() == success, "success", "failure")
        found = measure_accuracy(rows.assign(verdict=verdict))
        trials = proportion_confint(int(right[:, :episodes].sum()), 100, method="wilson")
        ends = found.interval, found.sensitivity_interval, trials
        hits.append([low <= truth <= high for low, high in ends])
    balanced, sensitivity, naive = np.mean(hits, axis=0)
    assert least <= balanced <= 0.985 and least <= sensitivity <= 0.985 and naive < 0.88
