"""Annotators' accuracy from judgements alone: by hand, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from sts_analysis.statistics.dawid_skene import Panel, draw, fit, panel


def test_with_references_alone_it_is_the_share_of_right_answers_by_hand() -> None:
    # One person: 6 of 8 successes called so, 9 of 10 others not; with the prior's 3 and 1.
    said = np.array([[1.0], [0], [0], [1]])
    found = fit(Panel(said, 1 - said, np.array([1, 1, 0, 0]), np.array([6.0, 2, 9, 1])))
    assert found.sensitivity[0] == pytest.approx((6 + 3) / (8 + 4))
    assert found.specificity[0] == pytest.approx((9 + 3) / (10 + 4))


def test_an_open_clip_has_the_odds_of_what_is_said_of_it_by_hand() -> None:
    # Each is right in nine of ten references, of which there are many; an open clip of which both
    # say the same has odds .81 : .01, one that they differ on stays open.
    said = np.array([[1.0, 1], [1, 0], [1, 1], [1, 0], [0, 1], [0, 0], [0, 1], [1, 0]])
    truth = np.array([-1, -1, 1, 1, 1, 0, 0, 0])
    number = np.array([1e-6, 1e-6, 8e6, 1e6, 1e6, 8e6, 1e6, 1e6])
    found = fit(Panel(said, 1 - said, truth, number))
    assert found.sensitivity == pytest.approx([0.9, 0.9]) and found.specificity[0] < 0.9001
    assert found.success[:2] == pytest.approx([0.81 / 0.82, 0.5], abs=1e-5)
    assert set(found.success[2:]) == {0, 1}


def test_rows_that_are_alike_are_counted_as_one() -> None:
    clip, who = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 1])
    judged, place = panel(clip, who, np.array([1, 0, 1, 0, 1]), np.array([-1, -1, 1]))
    assert sorted(judged.number) == [1, 2] and place[0] == place[1] != place[2]
    assert judged.yes[place[2]].tolist() == [0, 1] and judged.no[place[2]].tolist() == [0, 0]
    assert judged.truth[place[2]] == 1


def simulated(seed: int, references: int, clips: int) -> tuple[Panel, np.ndarray, np.ndarray]:
    """Three of four people judge each clip; the last one is a bad judge."""
    rng = np.random.default_rng(seed)
    se, sp = np.array([0.95, 0.9, 0.85, 0.6]), np.array([0.9, 0.95, 0.9, 0.7])
    truth = np.concatenate([np.arange(references) % 2, rng.random(clips) < 0.3]).astype(np.int64)
    rows = [
        (c, k, rng.random() < (se[k] if truth[c] else 1 - sp[k]))
        for c in range(len(truth))
        for k in rng.permutation(4)[: 4 if c < references else 3]
    ]
    clip, who, yes = (np.array(part) for part in zip(*rows, strict=True))
    known = np.where(np.arange(len(truth)) < references, truth, -1)
    return panel(clip, who, yes, known)[0], se, sp


def coverage(replicates: int) -> float:
    hits = []
    for seed in range(replicates):
        judged, se, sp = simulated(seed, 20, 200)
        found = draw(judged, seed=seed, draws=400, burn=100)
        for name, true in (("sensitivity", se), ("specificity", sp)):
            ends = found.ends(name)
            hits.append((ends[:, 0] <= true) & (true <= ends[:, 1]))
    return float(np.mean(hits))


def test_intervals_cover_and_equal_seeds_agree() -> None:
    assert 0.9 <= coverage(15) <= 0.99
    judged, _, _ = simulated(0, 20, 200)
    first, second = (draw(judged, seed=1, draws=50) for _ in range(2))
    np.testing.assert_array_equal(first.sensitivity, second.sensitivity)
    assert (draw(judged, seed=2, draws=50).sensitivity != first.sensitivity).any()


@pytest.mark.slow
def test_intervals_cover_closely() -> None:
    found = coverage(400)
    print(f"Dawid-Skene's intervals cover {found:.3f}")
    assert 0.93 <= found <= 0.97


def test_without_a_reference_a_bad_judge_is_known_by_the_others() -> None:
    judged, se, sp = simulated(3, 0, 2000)
    found = fit(judged)
    assert np.abs(found.sensitivity - se).max() < 0.06
    assert np.abs(found.specificity - sp).max() < 0.06
    assert found.prevalence == pytest.approx(0.3, abs=0.04)
    # The mean of verdicts gives the bad judge a full voice.
    said = judged.yes.sum(axis=1) / (judged.yes + judged.no).sum(axis=1)
    assert (said * judged.number).sum() / judged.number.sum() > 0.33
