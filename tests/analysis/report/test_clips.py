"""Copies of a clip share what is said of it, and it counts once."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tests.analysis.report.test_build import world
from tests.analysis.reports import report_of


def copied(frame: pd.DataFrame, copies: int) -> pd.DataFrame:
    """Return a table in which each continuation stands for `copies` of one agent that look so."""
    frame = frame.assign(
        clip=[f"clip {n}" for n in pd.factorize(frame["continuation"])[0]], seconds=36.0
    )
    count = int(frame["continuation"].astype(int).max()) + 1
    return pd.concat(
        [
            frame.assign(continuation=(frame["continuation"].astype(int) + k * count).astype(str))
            for k in range(copies)
        ],
        ignore_index=True,
    )


def test_a_judgement_counts_once_in_agreement_accuracy_and_hours() -> None:
    frame = world(
        annotators={"Ana": (0.95, 0.9), "Bo": (0.8, 0.9), "Cy": (0.9, 0.85)},
        each=2,
        references=8,
        baselines=(),
    )
    frame["continuation"] = pd.factorize(
        frame["agent"] + frame["scenario"] + frame["continuation"]
    )[0]
    alone, three = report_of(copied(frame, 1)), report_of(copied(frame, 3))
    assert three.counts.continuations == 3 * alone.counts.continuations
    assert three.counts.clips == alone.counts.clips == alone.counts.continuations
    assert three.counts.clips_judged == alone.counts.clips_judged
    assert three.counts.judgements == alone.counts.judgements == alone.counts.annotations
    assert three.annotators == alone.annotators
    assert three.annotators_together == alone.annotators_together
    assert alone.counts.hours and alone.counts.hours_saved == 0
    assert three.counts.hours == alone.counts.hours
    assert np.isclose(three.counts.hours_saved or 0, 2 * alone.counts.hours)
    assert not any("clips" in line for line in (*three.warnings, *alone.warnings))


def test_a_table_that_tells_no_clips_says_so_and_counts_as_ever() -> None:
    counts = report_of(world()).counts
    assert counts.clips is None and counts.clips_judged is None and counts.hours_saved is None
    assert counts.judgements == counts.annotations
