"""The parts of the variance of differences: their sum, and which source is found in which."""

import numpy as np
import pytest

from sts_analysis.inputs.gather import gather_table
from sts_analysis.report.appendix import variance
from sts_analysis.report.core import Options, Study
from sts_analysis.statistics.difference_variance import split_variance
from tests.analysis.planning.designs import draw_verdicts, make_pilot, make_table
from tests.analysis.variants import PROVENANCE, draw_study


@pytest.mark.parametrize("favoured", [False, True])
def test_parts_add_up_to_the_variance_for_other_annotators(favoured) -> None:
    verdicts = draw_verdicts([0.4, 0.5, 0.6], unit=np.arange(120), continuations=3, seed=1)[:, 0]
    frame = make_table(verdicts, people=5)
    frame.loc[(frame["agent"] == "a") & (frame["annotator"] == "p0") & favoured, "verdict"] = (
        "success"
    )
    model = make_pilot(frame).model
    rates, these = model.estimate_rates(), model.compare(np.arange(3))
    others = model.compare(np.arange(3), other_annotators=True)
    parts = split_variance(model, rates, these, for_others=True)
    assert sum(part.variance for part in parts) == pytest.approx(np.mean(others.se**2), rel=0.02)
    (alone,) = (part for part in parts if part.source == "annotator by agent")
    assert (alone.variance > 0.5 * np.mean(others.se**2)) == favoured


def test_continuations_that_are_alike_add_nothing() -> None:
    one = draw_verdicts([0.4, 0.6], unit=np.arange(60), continuations=1, seed=1)[:, 0]
    rng = np.random.default_rng(2)
    for verdicts, low, high in (
        (np.repeat(one, 3, axis=2), 0.0, 0.0),
        ((rng.random((2, 60, 3)) < [[[0.4]], [[0.6]]]) * 1.0, 0.7, 1.0),
    ):
        model = make_pilot(make_table(verdicts)).model
        parts = split_variance(
            model, model.estimate_rates(), model.compare(np.arange(2)), for_others=False
        )
        whole = sum(part.variance for part in parts)
        assert [part.source for part in parts] == ["agent by scenario", "continuation"]
        assert low <= parts[1].variance / whole <= high
    single = make_pilot(make_table(one)).model
    (part,) = split_variance(
        single, single.estimate_rates(), single.compare(np.arange(2)), for_others=False
    )
    assert part.source == "agent by scenario, and continuation"


def test_halving_the_largest_source_helps_most() -> None:
    frame = draw_study({"a": 0.5, "b": 0.0, "c": -1.0}, scenarios=60, continuations=2, seed=2)
    result = variance.compute(Study(gather_table(frame), Options(), PROVENANCE))
    assert result is not None and result.smallest is not None
    assert sum(row.share for row in result.rows) == pytest.approx(1)
    smallest = [row.smallest_if_halved for row in result.rows]
    assert all(x is not None and x <= result.smallest for x in smallest)
    least = np.argmin(np.array(smallest, float))
    assert least == np.argmax([row.share for row in result.rows])
    for row in result.rows:
        assert row.interval is None or row.interval[0] <= row.deviation <= row.interval[1]
