"""Accuracy on reference episodes, corrected pass rates and agreement, by hand."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from sts_analysis.statistics import (
    accuracy,
    alpha,
    corrected,
    intervals,
    label_agreement,
    step_offset,
)
from sts_analysis.statistics.corrected import Corrected
from sts_analysis.statistics.outcomes import summarise
from sts_analysis.statistics.pass_rates import pass_rates
from sts_analysis.statistics.weighed_accuracy import Share, judged_by, weighed_share


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
    for _ in range(200):
        right = np.repeat(rng.random(25) < 0.7, 3) ^ (rng.random(75) < 0.05)
        rows = references(
            *[
                (f"r{i // 3}", "success", "success", 9, 9 + 4 * (not ok))
                for i, ok in enumerate(right)
            ]
        )
        low, high = step_offset.step_offset(rows).within_intervals[3]
        covered += low <= 0.7 * 0.95 + 0.3 * 0.05 <= high
    assert covered / 200 > 0.92


def known(value: float, count: float = 50) -> Share:
    return Share(value, count, int(count), 0.0)


def test_the_corrected_rate_by_hand() -> None:
    found = corrected.correct(0.5, 100, np.nan, known(0.9), known(0.8))
    assert isinstance(found, Corrected) and not found.clipped
    assert found.value == pytest.approx((0.5 + 0.8 - 1) / 0.7)
    # n' = 103.84, p' = .5, Se' = 46/52, Sp' = 41/52, J' = .6731, pi' = .4286, shift
    # 7.683 (.4286 x .00196 - .5714 x .00321), then +- 1.96 sqrt(.00241 + .00036 + .00105) / J'.
    assert found.interval == pytest.approx((0.241085, 0.600821), abs=1e-6)


def test_with_endless_references_the_corrected_interval_is_the_apparent_one_stretched() -> None:
    found = corrected.correct(0.5, 400, np.nan, known(0.9, 10**9), known(0.8, 10**9))
    z, n = intervals.Z, 400 + intervals.Z**2
    assert isinstance(found, Corrected)
    half = z * np.sqrt(0.25 / n) / 0.7
    centre = 0.3 / 0.7
    assert found.interval == pytest.approx((centre - half, centre + half), abs=1e-4)


def test_few_degrees_of_freedom_widen_the_corrected_interval() -> None:
    sure, few = (corrected.correct(0.5, 20, df, known(0.9), known(0.9)) for df in (np.nan, 2.0))
    assert isinstance(sure, Corrected) and isinstance(few, Corrected)
    assert few.interval[0] < sure.interval[0] and few.interval[1] > sure.interval[1]
    assert "t with" in few.method


def test_annotators_who_may_be_near_guessing_are_refused() -> None:
    surely = corrected.correct(0.5, 100, np.nan, known(0.6), known(0.6))
    assert str(surely).startswith("refused: Se + Sp - 1 is 0.20 and may be 0.00")
    # .6 is above .3, but four and four answers do not show it; four hundred do.
    perhaps = corrected.correct(0.5, 100, np.nan, known(0.8, 4), known(0.8, 4))
    assert "is 0.60 and may be" in str(perhaps) and "by 4 and 4 reference" in str(perhaps)
    many = corrected.correct(0.5, 100, np.nan, known(0.65, 400), known(0.8, 400))
    assert isinstance(many, Corrected)


def test_a_value_outside_is_clipped_and_says_so() -> None:
    found = corrected.correct(0.02, 100, np.nan, known(0.9), known(0.9))
    assert isinstance(found, Corrected) and found.clipped and found.value == 0.0


ANSWERS = pd.DataFrame(
    [
        (f"e{i}", person, "success", "success" if right else "failure")
        for i in range(10)
        for person, right in (("good", True), ("poor", i < 5))
    ],
    columns=["continuation", "annotator", "truth", "verdict"],
)


def share_of(weights: dict[str, float], rows: pd.DataFrame = ANSWERS) -> Share:
    right = (rows["truth"] == rows["verdict"]).to_numpy()
    found = weighed_share(
        right, rows["annotator"].to_numpy(str), rows["continuation"].to_numpy(), weights
    )
    assert found is not None
    return found


def test_an_accuracy_is_that_of_who_judged() -> None:
    assert share_of({"good": 0.5, "poor": 0.5}).value == 0.75
    assert share_of({"poor": 1.0}).value == 0.5
    assert share_of({"good": 0.2, "poor": 0.8}).value == pytest.approx(0.6)


def test_who_answered_no_reference_counts_as_the_others_and_is_said() -> None:
    found = share_of({"good": 0.4, "stranger": 0.6})
    assert found.value == pytest.approx(0.4 + 0.6 * 0.75) and found.borrowed == pytest.approx(0.6)


def test_five_peoples_answers_to_one_episode_are_not_five_trials() -> None:
    one = ANSWERS[ANSWERS["annotator"] == "poor"]
    five = pd.concat([one.assign(annotator=str(i)) for i in range(5)])
    alone = share_of({"poor": 1.0}, one)
    together = share_of({str(i): 0.2 for i in range(5)}, five)
    assert together.trials == pytest.approx(alone.trials) and together.trials <= 10


def test_shares_of_who_judged_follow_the_weights_and_leave_out_what_a_rule_settled() -> None:
    rows = pd.DataFrame(
        {
            "continuation": [1, 1, 2, 3],
            "annotator": ["a", "b", "a", ""],
            "source": ["human", "human", "human", "settled"],
        }
    )
    shares, settled = judged_by(rows, np.array([0.5, 0.5, 0.25, 0.25]))
    assert settled == pytest.approx(0.25)
    assert shares == pytest.approx({"a": 2 / 3, "b": 1 / 3})


def test_without_references_nothing_is_corrected() -> None:
    rates = pass_rates(
        summarise(np.array([[[1.0, 0], [1, 1]]])), np.zeros(2, int), target="sampled"
    )
    rows = pd.DataFrame({"continuation": [1], "annotator": ["a"], "source": ["human"]})
    found = corrected.correct_rate(rates, 0, rows, np.ones(1), SERVED[:0].assign(annotator=""))
    assert found == corrected.NEEDS


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
