"""Whether people judge some categories or agents better: found where it is so, and else seldom."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sts_analysis.statistics.accuracy_by_group import accuracy_by_group

NONE = pd.DataFrame(
    columns=["continuation", "scenario", "annotator", "verdict", "truth", "agent", "category"]
)


def answered(seed: int, se: dict[str, float], episodes: int = 20) -> pd.DataFrame:
    """Four people's answers to episodes of each category; an episode is hard for all of them."""
    rng = np.random.default_rng(seed)
    rows = []
    for category, mean in se.items():
        for number in range(episodes):
            chance = rng.beta(4 * mean, 4 * (1 - mean))
            rows += [
                {
                    "continuation": f"{category}{number}",
                    "scenario": f"{category}{number}",
                    "annotator": who,
                    "verdict": "success" if rng.random() < chance else "failure",
                    "truth": "success",
                    "agent": "reference",
                    "category": category,
                }
                for who in "wxyz"
            ]
    return pd.DataFrame(rows)


def test_a_category_in_which_successes_are_missed_is_found() -> None:
    found = accuracy_by_group(answered(1, {"go": 0.95, "ask": 0.5}), NONE, "category", seed=0)
    (one,) = found
    assert one.measure == "sensitivity" and one.p < 0.01 and one.episodes == {"go": 20, "ask": 20}
    assert one.shares["go"] > 0.85 > one.shares["ask"]


def test_answers_to_one_episode_are_not_taken_for_independent() -> None:
    ps = [
        accuracy_by_group(answered(seed, {"go": 0.8, "ask": 0.8}), NONE, "category", seed=0)[0].p
        for seed in range(40)
    ]
    assert np.mean(np.array(ps) < 0.05) <= 0.15  # a chi-square test of the answers: about .3


def test_too_few_references_are_replaced_by_disagreement_and_words_say_so() -> None:
    rng = np.random.default_rng(3)
    rows = []
    for agent, same in (("a", 1.0), ("b", 0.6)):
        for scenario in range(20):
            for n in range(3):
                first = rng.random() < 0.5
                second = first if rng.random() < same else not first
                rows += [
                    {"continuation": f"{agent}{scenario}/{n}", "scenario": f"s{scenario}",
                     "annotator": who, "verdict": "success" if yes else "failure", "truth": "",
                     "agent": agent, "category": "go"}
                    for who, yes in (("x", first), ("y", second))
                ]  # fmt: skip
    few = answered(1, {"go": 0.9, "ask": 0.9}, episodes=2)
    (one,) = accuracy_by_group(few, pd.DataFrame(rows), "agent", seed=0)
    assert one.measure == "disagreement" and one.p < 0.01
    assert one.shares["a"] == 0 and one.shares["b"] == pytest.approx(0.4, abs=0.15)
    assert "references are too few" in one.method and "rates differ" in one.method


def test_with_neither_there_is_no_test() -> None:
    assert accuracy_by_group(NONE, NONE, "category", seed=0) == ()
