"""Dimensions of the categories in the appendix: the sentence, the figure and the tables."""

import re

import numpy as np
import pandas as pd
import pytest

from sts.storage.csv_tables import parse_csv
from sts_analysis.report.appendix import dimensions
from sts_analysis.report.csv_files import format_tables
from sts_analysis.report.text import to_plain
from tests.analysis.studies import compute_appendix, draw_rows, make_rows, make_study, read_section

RATES = {"good": 0.9, "also": 0.7, "fair": 0.5, "poor": 0.3, "last": 0.1}


def draw_two_skills(seed: int = 0) -> pd.DataFrame:
    """Draw agents of which half can do even categories, half odd ones, and one agent both."""
    rng = np.random.default_rng(seed)
    skills = {"even": (9, 1), "odd": (1, 9), "both": (9, 9), "none": (1, 1), "some": (8, 2)}
    words = {
        agent: " ".join(f"{int(rng.random() < rates[s % 2] / 10)}a" for s in range(120))
        for agent, rates in skills.items()
    }
    return make_rows(words, categories=6)


def test_second_dimension_is_claimed_if_its_eigenvalue_is_above_the_band() -> None:
    result = dimensions.compute(make_study(draw_two_skills()))
    assert result is not None and result.more_than_one
    assert (result.agents, result.categories, result.left_out) == (5, 6, 0)
    assert [row.eigenvalue for row in result.rows] == [1, 2, 3, 4]
    second = result.rows[1]
    assert second.observed > second.null_band[1] > second.null_median > second.null_band[0]
    assert to_plain(result.claim) == (
        "More than one dimension can be claimed from these 5 agents: the second eigenvalue, "
        f"{second.observed:.2f}, is above {second.null_band[1]:.2f}, the 97.5% quantile of studies "
        "with a single dimension."
    )


def test_second_eigenvalue_above_1_is_no_claim_if_it_is_inside_the_band() -> None:
    result = dimensions.compute(make_study(draw_rows(dict.fromkeys(RATES, 0.5), seed=1)))
    assert result is not None and result.more_than_one is False
    assert 1 < result.rows[1].observed <= result.rows[1].null_band[1]
    assert to_plain(result.claim).startswith("No more than one dimension can be claimed from these")


def test_more_annotations_of_the_same_clips_change_no_eigenvalue_and_no_band() -> None:
    rows = draw_rows(RATES)
    again = pd.concat([rows, rows.assign(annotator="d"), rows.assign(annotator="e")])
    once, thrice = (dimensions.compute(make_study(table)) for table in (rows, again))
    assert once is not None and thrice is not None
    for first, second in zip(once.rows, thrice.rows, strict=True):
        assert second.observed == pytest.approx(first.observed, abs=0.05)  # who judged is adjusted
        assert second.null_band == pytest.approx(first.null_band, abs=0.05)


def test_baselines_do_not_count_as_agents() -> None:
    rows = draw_rows(RATES | {"seer": 1.0})
    rows["sees"] = np.where(rows["agent"] == "seer", "world", "observation")
    result, without = (
        dimensions.compute(make_study(table)) for table in (rows, rows[rows["agent"] != "seer"])
    )
    assert result is not None and without is not None and result.agents == 5
    assert result.rows[0].observed == pytest.approx(without.rows[0].observed, abs=0.05)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (draw_rows({"A": 0.9, "B": 0.5, "C": 0.1}), "fewer than 4 agents can be compared"),
        (
            draw_rows(RATES, scenarios=16),
            "agents differ in fewer than 3 categories of 5 units",
        ),
        (
            pd.concat([draw_rows(RATES), make_rows({"good": "_a"}).assign(continuation="new")]),
            "the conclusion is interim",
        ),
    ],
)
def test_reason_is_shown_in_place_of_eigenvalues(rows, reason) -> None:
    report = compute_appendix(make_study(rows))
    assert report.dimensions.more_than_one is None and report.dimensions.rows == ()
    section = read_section(report, "dimensions")
    assert f"<p>Nothing is shown: {reason}.</p>" in section and "<svg" not in section


def test_studies_of_one_category_have_no_section() -> None:
    assert dimensions.compute(make_study(make_rows({"A": "1a0a", "B": "0a1a"}))) is None


def test_figure_and_tables_show_the_same_eigenvalues() -> None:
    report = compute_appendix(make_study(draw_two_skills()))
    section, rows = read_section(report, "dimensions"), report.dimensions.rows
    heights = [float(y) for y in re.findall(r"<circle class=dot cx=\d+ cy=([\d.]+)", section)]
    top = max(max(row.observed, row.null_band[1]) for row in rows)
    expected = [180 * (1 - np.sqrt(row.observed / top)) for row in rows]
    assert heights == pytest.approx(expected, abs=0.06)
    assert section.count("<rect class=band") == section.count("<line class=middle") == len(rows)
    table = parse_csv("dimensions.csv", format_tables(report)["dimensions.csv"])
    titles = ["eigenvalue", "observed", "null_median", "null_band_low", "null_band_high"]
    assert list(table.header) == titles
    for row, cells in zip(rows, table.rows, strict=True):
        found = row.eigenvalue, row.observed, row.null_median, *row.null_band
        assert tuple(map(float, cells)) == found
        assert f">{row.observed:.2f}<" in section


def test_numbers_follow_the_seed_of_the_report() -> None:
    first, again, other = (
        dimensions.compute(make_study(draw_rows(RATES), seed=seed)) for seed in (1, 1, 2)
    )
    assert first == again != other
