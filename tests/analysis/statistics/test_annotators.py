"""Accuracy on reference episodes, corrected pass rates and agreement, by hand."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from analysis.statistics import accuracy, alpha, corrected, intervals, label_agreement, step_offset
from analysis.statistics.accuracy import Accuracy
from analysis.statistics.corrected import Corrected


def references(*rows: tuple[str, str, str, float, float]) -> pd.DataFrame:
    columns = ["continuation", "truth", "verdict", "truth_step", "step"]
    return pd.DataFrame(rows, columns=columns)


SERVED = references(
    ("r1", "success", "success", 10, 12),
    ("r2", "success", "failure", 10, 10),
    ("r3", "failure", "failure", 20, 19),
    ("r4", "not_done", "not_done", np.nan, np.nan),
    ("r5", "failure", "success", 20, 19),
    ("r6", "failure", "not_done", 5, np.nan),
    ("r7", "success", "cannot_judge", 5, np.nan),
)


def test_balanced_accuracy_by_hand() -> None:
    found = accuracy.accuracy(SERVED, seed=0)
    assert (found.successes, found.others, found.references_cannot_judge) == (2, 4, 1)
    assert (found.sensitivity, found.specificity) == (0.5, 0.75)
    assert found.balanced_accuracy == 0.625
    assert found.specificity_interval == intervals.jeffreys(3, 4)
    assert found.interval is not None and found.interval[0] < 0.625 < found.interval[1]


def test_a_faultless_annotator_still_has_an_interval() -> None:
    rows = references(
        *[(f"s{i}", "success", "success", 1, 1) for i in range(10)],
        *[(f"f{i}", "failure", "failure", 1, 1) for i in range(10)],
    )
    found = accuracy.accuracy(rows, seed=0)
    assert found.balanced_accuracy == 1 and found.interval is not None
    assert 0.7 < found.interval[0] < 0.95 and found.interval[1] == 1


def test_several_annotators_are_resampled_by_episode() -> None:
    rows = pd.concat([SERVED, SERVED])
    found = accuracy.accuracy(rows, seed=0)
    assert "bootstrap of reference episodes" in found.method
    assert found.interval == accuracy.accuracy(rows, seed=0).interval
    alone = accuracy.accuracy(SERVED, seed=0).interval
    assert found.interval is not None and alone is not None and found.interval[0] <= alone[0] + 0.2


def test_without_both_kinds_of_reference_there_is_a_reason() -> None:
    found = accuracy.accuracy(SERVED[SERVED["truth"] == "success"], seed=0)
    assert found.balanced_accuracy is None and found.sensitivity == 0.5
    assert "of success and of failure" in found.method


def test_step_offsets_are_those_of_right_marks() -> None:
    found = step_offset.step_offset(SERVED)
    assert (found.marks, found.median, found.mean_absolute) == (2, 0.5, 1.5)
    assert found.within[0] == 0 and found.within[1] == 0.5 and found.within[2] == 1
    assert step_offset.step_offset(SERVED[:0]).marks == 0


def test_the_marks_of_one_episode_are_one_cluster() -> None:
    rows = references(*[(f"r{i}", "success", "success", 10, 10 + i % 4) for i in range(40)])
    alone = step_offset.step_offset(rows)
    assert alone.within[2] == 0.75
    assert alone.within_intervals[2] == pytest.approx(
        proportion_confint(30, 40, method="wilson"), abs=0.01
    )
    again = step_offset.step_offset(pd.concat([rows] * 5)).within_intervals
    for steps, (low, high) in alone.within_intervals.items():
        assert again[steps] == pytest.approx((low, high), abs=0.01)


def test_a_marks_interval_covers_its_share() -> None:
    rng, covered = np.random.default_rng(5), 0
    for _ in range(400):
        right = np.repeat(rng.random(25) < 0.7, 3) ^ (rng.random(75) < 0.05)
        rows = references(
            *[
                (f"r{i // 3}", "success", "success", 9, 9 + 4 * (not ok))
                for i, ok in enumerate(right)
            ]
        )
        low, high = step_offset.step_offset(rows).within_intervals[3]
        covered += low <= 0.7 * 0.95 + 0.3 * 0.05 <= high
    assert covered / 400 > 0.92


def known(se: float, sp: float, count: int = 50) -> Accuracy:
    return Accuracy(count, se, None, count, sp, None, (se + sp) / 2, None, "", 0)


def test_the_corrected_rate_by_hand() -> None:
    found = corrected.correct(0.5, 100, known(0.9, 0.8))
    assert isinstance(found, Corrected)
    assert found.value == pytest.approx((0.5 + 0.8 - 1) / 0.7)
    # n' = 103.84, p' = .5, Se' = 46/52, Sp' = 41/52, J' = .6731, pi' = .4286, shift
    # 7.683 (.4286 x .00196 - .5714 x .00321), then +- 1.96 sqrt(.00241 + .00036 + .00105) / J'.
    assert found.interval == pytest.approx((0.241085, 0.600821), abs=1e-6)


def test_with_endless_references_the_corrected_interval_is_the_apparent_one_stretched() -> None:
    found = corrected.correct(0.5, 400, known(0.9, 0.8, 10**9))
    z, n = intervals.Z, 400 + intervals.Z**2
    assert isinstance(found, Corrected)
    half = z * np.sqrt(0.25 / n) / 0.7
    centre = 0.3 / 0.7
    assert found.interval == pytest.approx((centre - half, centre + half), abs=1e-4)


def test_annotators_near_guessing_are_refused() -> None:
    assert corrected.correct(0.5, 100, known(0.6, 0.6)) == "refused: Se + Sp - 1 is 0.20, below 0.3"


def test_without_references_nothing_is_corrected() -> None:
    nobody = accuracy.accuracy(SERVED[:0], seed=0)
    assert "needs reference episodes" in str(corrected.correct(0.5, 100, nobody))


def judgements(*rows: tuple[str, str, str]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["continuation", "annotator", "verdict"])
    return frame.assign(truth="", source="human", scenario=frame["continuation"])


def test_alpha_on_krippendorffs_binary_example() -> None:
    # Krippendorff 2011, "Computing Krippendorff's alpha-reliability", section B: .095.
    ben, gerry = "0100000010", "1110010000"
    word = {"0": "failure", "1": "success"}
    rows = [
        (f"k{i}", who, word[mark])
        for who, marks in (("ben", ben), ("gerry", gerry))
        for i, mark in enumerate(marks)
    ]
    found = alpha.krippendorff(judgements(*rows), seed=1)
    assert found.alpha == pytest.approx(0.095, abs=5e-4)
    assert (found.continuations, found.annotators) == (10, 2)
    assert found == alpha.krippendorff(judgements(*rows), seed=1)


def test_alpha_needs_overlap_and_variety() -> None:
    alone = alpha.krippendorff(judgements(("k1", "a", "success"), ("k2", "b", "failure")), seed=0)
    assert alone.alpha is None and "two annotators" in str(alone.reason)
    same = [(k, who, "success") for k in ("k1", "k2") for who in ("a", "b")]
    assert "every judgement is the same" in str(
        alpha.krippendorff(judgements(*same), seed=0).reason
    )


def test_human_and_automatic_labels_are_compared_by_hand() -> None:
    human = judgements(
        *[(f"k{i}", "a", "success" if i < 6 else "not_done") for i in range(10)],
        ("k0", "b", "cannot_judge"),
    )
    machine = judgements(
        *[(f"k{i}", "rule", "success" if i in (0, 1, 2, 3, 4, 9) else "failure") for i in range(9)],
        ("k9", "rule", "success"),
    ).assign(source="automatic")
    found = label_agreement.compare_labels(pd.concat([human, machine]))
    assert (found.both_success, found.human_only, found.automatic_only, found.neither) == (
        5,
        1,
        1,
        3,
    )
    assert found.share == 0.8 and found.continuations == found.judgements == 10
    assert found.kappa == pytest.approx((0.8 - 0.52) / 0.48)
    assert found.balanced_accuracy == pytest.approx((5 / 6 + 3 / 4) / 2)
    assert found.interval is not None and found.interval[0] < 0.8 < found.interval[1]


def test_labels_without_a_continuation_in_common_have_no_agreement() -> None:
    found = label_agreement.compare_labels(judgements(("k1", "a", "success")))
    assert found.judgements == 0 and found.share is None and found.kappa is None
