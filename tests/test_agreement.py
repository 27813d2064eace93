"""Agreement by hand: pairs are counted, and alpha is Krippendorff's."""

import evalica
import numpy as np
import pandas as pd
import pytest

from sts.agreement import compute_alpha


def judged(**marks: str) -> pd.DataFrame:
    """Return judgements: of each person a letter a thing, y or n, or - for none."""
    rows = [
        (f"t{i}", person, mark == "y")
        for person, own in marks.items()
        for i, mark in enumerate(own)
        if mark != "-"
    ]
    return pd.DataFrame(rows, columns=["thing", "person", "yes"])


def test_agreement_of_three_people_matches_a_hand_computation():
    found = compute_alpha(judged(ana="yyn-", ben="yn--", cem="ynny"), seed=0)
    assert (found.shared, found.people) == (3, 3)  # nobody else saw the fourth
    assert (found.pairs, found.agreeing) == (3 + 3 + 1, 3 + 1 + 1)
    assert found.share == pytest.approx(5 / 7)
    # Coincidences: 3 of yes and yes, 3 of no and no, 2 of both; 4 of the 8 judgements are yes.
    assert found.alpha == pytest.approx(1 - (2 / 8) / (2 * 4 * 4 / (8 * 7)))
    assert found.reason == ""


def test_alpha_and_its_interval_are_those_of_evalica():
    rng = np.random.default_rng(3)
    thing = np.repeat(np.arange(60), rng.integers(1, 5, 60))
    frame = pd.DataFrame({"thing": thing})
    frame["person"] = frame.groupby("thing").cumcount()
    frame["yes"] = rng.random(len(thing)) < 0.25 + 0.5 * (thing % 2)
    matrix = frame.astype({"yes": "float64"}).pivot(index="person", columns="thing", values="yes")
    theirs = evalica.alpha_bootstrap(matrix, distance="nominal", n_resamples=20_000, random_state=1)
    ours = compute_alpha(frame, seed=1, draws=20_000)
    assert ours.alpha == pytest.approx(theirs.alpha, abs=1e-12)
    assert ours.interval == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_missing_alpha_has_a_reason():
    alone = compute_alpha(judged(ana="y-n", ben="-y-"), seed=0)
    assert (alone.alpha, alone.pairs, alone.people) == (None, 0, 0)
    assert "two people" in alone.reason
    alike = compute_alpha(judged(ana="yy", ben="yy"), seed=0)
    assert alike.share == 1.0 and "all judgements are the same" in alike.reason
    one = compute_alpha(judged(ana="y", ben="n"), seed=0)
    assert (one.share, one.alpha, one.is_unanimous) == (0.0, None, False)
