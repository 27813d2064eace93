"""Copies of a clip share their judges' errors: by simulation, and by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sts_analysis.inputs.ratings import check_ratings
from sts_analysis.inputs.tables import from_frame
from sts_analysis.statistics.comparisons import compare
from sts_analysis.statistics.copies import Copies, find_copies
from sts_analysis.statistics.outcomes import arrange, continuation_values, summarise
from sts_analysis.statistics.pass_rates import pass_rates

SCENARIOS, EACH, KINDS = 40, 10, 3


def studies(replicates: int, verdicts: int) -> np.ndarray:
    """How often intervals of a rate and of a difference cover: as it was, and with copies.

    Continuations fall on three possible clips a scenario, of both agents alike; a clip is judged by
    so many people, each right in nine of ten cases.
    """
    hits = []
    for seed in range(replicates):
        rng = np.random.default_rng(seed)
        success = rng.random((SCENARIOS, KINDS)) < 0.5
        odds = rng.dirichlet([0.15] * KINDS, size=(2, SCENARIOS))
        drawn = np.array([[rng.choice(KINDS, EACH, p=own) for own in rows] for rows in odds])
        chance = np.where(success, 0.9, 0.1)
        said = rng.binomial(verdicts, chance) / verdicts
        values = said[np.arange(SCENARIOS)[:, None], drawn]
        truth = (odds * chance).sum(axis=2).mean(axis=1)
        a, s = np.indices((2, SCENARIOS))
        share = (drawn[..., None] == np.arange(KINDS)).mean(axis=2)
        there = np.nonzero(share)
        copies = Copies(
            2, there[0], there[1], there[1] * KINDS + there[2], share[there],
            np.full(len(there[0]), 0.09 / verdicts), np.full((2, SCENARIOS), float(EACH)),
        )  # fmt: skip
        category = np.zeros(SCENARIOS, dtype=np.int64)
        for known in (None, copies):
            summary = summarise(values)
            if known is not None:
                summary = summary._replace(shared=known.within())
            rates = pass_rates(summary, category, target="fixed")
            pair = compare(summary, category, rates, target="fixed", seed=0, draws=10, copies=known)
            gap = truth[0] - truth[1]
            hits.append(
                (
                    rates.interval[0, 0] <= truth[0] <= rates.interval[0, 1],
                    pair.interval[0, 0] <= gap <= pair.interval[0, 1],
                )
            )
    covered: np.ndarray = np.array(hits).reshape(replicates, 2, 2).mean(axis=0)
    return covered


def test_intervals_of_these_scenarios_cover_with_copies_and_without_do_not() -> None:
    before, after = studies(100, 1)
    assert (before < 0.7).all() and (after > 0.92).all()


@pytest.mark.slow
@pytest.mark.parametrize("verdicts", [1, 2])
def test_copies_cover_closely(verdicts: int) -> None:
    before, after = studies(4000, verdicts)
    print(f"{verdicts} verdicts a clip: before {before}, after {after}")
    assert (before < 0.7).all() and (after > 0.93).all()


@pytest.mark.parametrize(
    ("ends", "variance"),
    [
        ("pfpf", 0.25),  # each scenario's two clips end apart: they vary by .5, as no verdict can
        ("ppff", 0.0),  # they end alike
    ],
)
def test_no_verdict_varies_by_more_than_a_yes_or_no_can(ends: str, variance: float) -> None:
    # Nobody judged a clip twice, so what verdicts vary by is bounded by how clips differ.
    rows = [
        {
            "agent": "a",
            "scenario": f"s{i // 2}",
            "continuation": str(n),
            "annotator": "Ana",
            "verdict": "success" if end == "p" else "failure",
            "clip": f"c{i}",
        }
        for i, end in enumerate(ends)
        for n in (2 * i, 2 * i + 1)
    ]
    ratings = check_ratings(from_frame("t", pd.DataFrame(rows)))
    continuations = continuation_values(ratings, "human")
    found = find_copies(ratings, continuations, arrange(continuations))
    assert found is not None and found.error.tolist() == [variance] * 4


def test_what_copies_add_by_hand() -> None:
    # A made clip 0 twice; B made clip 0 once and clip 1 once. A verdict varies by .2.
    copies = Copies(
        2, np.array([0, 1, 1]), np.zeros(3, int), np.array([0, 0, 1]), np.array([1, 0.5, 0.5]),
        np.full(3, 0.2), np.full((2, 1), 2.0),
    )  # fmt: skip
    np.testing.assert_allclose(copies.within()[:, 0], [0.2, 0.0])  # B's two are two judgements
    weight = np.ones(1)
    np.testing.assert_allclose(copies.between(np.array([[0, 1]]), lambda _: weight), [0.1])
    np.testing.assert_allclose(copies.at(np.array([1])).within()[:, 0], [0.0])
