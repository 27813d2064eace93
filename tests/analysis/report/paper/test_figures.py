"""The paper's figures: each shows what its caption says, fills its column, or says why not."""

import dataclasses
import functools
import math
import re
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest

from sts.errors import ArgumentError, UnknownName
from sts_analysis.report.paper.figure_3 import figure_3
from sts_analysis.report.paper.figure_7 import figure_7
from sts_analysis.report.paper.figure_8 import figure_8
from sts_analysis.report.paper.figure_9 import figure_9
from sts_analysis.report.paper.figures import FIGURES
from sts_analysis.report.paper.picture import WIDTHS, Picture
from sts_analysis.report.schema import Report
from sts_analysis.statistics.intervals import jeffreys
from sts_analysis.statistics.pass_rates import EXACT
from tests.analysis.report.paper.tables import made, usual
from tests.analysis.reports import report_of, sure

SVG = "{http://www.w3.org/2000/svg}"


def picture(made: Picture | str) -> Picture:
    assert isinstance(made, Picture), made
    return made


def words(one: Picture) -> list[str]:
    """Every text of the drawing, in its order."""
    return [text.text or "" for text in ElementTree.fromstring(one.svg).iter(f"{SVG}text")]


@functools.cache
def drawn(name: str, columns: int) -> Picture:
    """A figure of the usual report under a title, drawn once for all who look at it."""
    return picture(FIGURES[name](usual(), columns=columns, title="Our agents"))


def judged(report: Report, agent: str) -> Any:
    return next(entry for entry in report.agents if entry.agent == agent)


def test_figure_3_has_each_agent_overall_and_by_kind_with_the_reports_intervals() -> None:
    report, one = usual(), drawn("figure_3", 2)
    assert list(one.data["panel"].unique()) == [
        "Overall", "Instruction following", "Question answering",
    ]  # fmt: skip
    assert set(one.data["panel"]) <= set(words(one)) and words(one).count("pass rate") == 3
    overall = one.data[one.data["panel"] == "Overall"]
    assert list(overall["agent"]) == [entry.agent for entry in report.agents]
    assert list(zip(overall["bar_low"], overall["bar_high"], strict=True)) == [
        entry.interval for entry in report.agents
    ]
    question = one.data[one.data["panel"] == "Question answering"].set_index("agent")
    assert question["rate"].to_dict() == {
        entry.agent: entry.kinds["question"].pass_rate for entry in report.agents
    }
    assert "Error bars: 95% intervals for fresh scenarios" in one.caption


def test_the_papers_error_bar_is_one_standard_error_over_all_continuations() -> None:
    report = usual()
    one = picture(figure_3(report, error="paper", columns=1))
    for _, row in one.data.iterrows():
        reach = math.sqrt(row["rate"] * (1 - row["rate"]) / row["judged"])
        assert row["bar_high"] == pytest.approx(min(1, row["rate"] + reach))
        assert row["bar_low"] == pytest.approx(max(0, row["rate"] - reach))
    overall = one.data[one.data["panel"] == "Overall"].set_index("agent")
    assert overall["judged"].to_dict() == {entry.agent: entry.judged for entry in report.agents}
    best = judged(report, "best")
    assert overall.loc["best", "bar_high"] - best.pass_rate < best.interval[1] - best.pass_rate
    assert "no 95% intervals" in one.caption and "Abramson" in one.caption
    with pytest.raises(UnknownName, match="unknown error bars 'se'; known: interval, paper"):
        figure_3(report, error="se")


def test_figure_7_has_a_panel_for_each_category_those_of_instructions_first() -> None:
    report, one = usual(), drawn("figure_7", 2)
    assert list(one.data["panel"].unique()) == ["arrange", "lift", "yes/no", "count"]
    assert set(one.data["panel"]) <= set(words(one))
    for _, row in one.data.iterrows():
        group = judged(report, row["agent"]).categories[row["panel"]]
        assert (row["rate"], (row["bar_low"], row["bar_high"])) == (
            group.pass_rate, group.interval,
        )  # fmt: skip
    assert "4 categories of 3 scenarios" in one.caption


def test_figure_8_has_the_time_among_successes_as_in_the_paper_and_of_all_beside_it() -> None:
    report, one = usual(), drawn("figure_8", 2)
    assert words(one).count("steps after takeover") == 2
    curves = {key: rows for key, rows in one.data.groupby(["agent", "panel"])}
    for entry in report.agents:
        among = curves[entry.agent, "Of its successes"]
        whole = curves[entry.agent, "Of all its continuations"]
        assert among["share"].iloc[-1] == pytest.approx(1)
        assert whole["share"].iloc[-1] == pytest.approx(sure(entry.pass_rate))
        times = sure(entry.time_to_success.successes_curve)
        assert list(zip(among["step"], among["share"], strict=True)) == list(times)


def test_figure_9_has_one_scenario_with_intervals_for_its_continuations() -> None:
    report, one = usual(), drawn("figure_9", 1)
    (name,) = one.data["panel"].unique()
    scenario = next(s for s in report.scenarios if s.scenario == name)
    assert scenario.spread == max(sure(s.spread) for s in report.scenarios)
    for _, row in one.data.iterrows():
        count = sure(scenario.judged)[row["agent"]]
        assert row["rate"] == scenario.pass_rates[row["agent"]] and row["judged"] == count
        assert (row["bar_low"], row["bar_high"]) == jeffreys(row["rate"] * count, count)
    assert name in one.caption and f"category {scenario.category}" in one.caption
    other = picture(figure_9(report, scenario="lift-02", agents=["poor", "best"]))
    assert list(other.data["agent"]) == ["best", "poor"] and set(other.data["panel"]) == {"lift-02"}
    with pytest.raises(UnknownName, match="unknown scenario 'lift-2'"):
        figure_9(report, scenario="lift-2")


def test_the_bar_of_a_deterministic_agent_on_one_scenario_has_no_length() -> None:
    report = usual()
    first, *others = report.agents
    fixed = dataclasses.replace(first.intervals["fixed"], method=EXACT)
    sure_of = dataclasses.replace(first, intervals=dict(first.intervals) | {"fixed": fixed})
    one = picture(figure_9(dataclasses.replace(report, agents=(sure_of, *others))))
    length = (one.data["bar_high"] - one.data["bar_low"]).tolist()
    assert length[0] == 0 and min(length[1:]) > 0


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_fills_one_column_or_two_with_text_that_stays_text(name: str) -> None:
    for columns, width in WIDTHS.items():
        one = drawn(name, columns)
        across = ElementTree.fromstring(one.svg).attrib["width"]
        assert across.endswith("pt") and abs(float(across[:-2]) - width) <= 1.5
        assert "Our agents" in words(one) and 'fill="white"' not in one.svg[:100]
        assert "seer\N{DOUBLE DAGGER}" in words(one) and "currentColor" not in one.svg
    assert "\N{DOUBLE DAGGER}: sees more than an agent may" in one.caption
    with pytest.raises(ArgumentError, match="expected a figure of 1 or 2 columns, found 3"):
        FIGURES[name](usual(), columns=3)


def test_a_pdf_has_its_font_inside_and_a_png_600_dots_per_inch(tmp_path: Any) -> None:
    one = drawn("figure_9", 1)
    pdf = one.save(tmp_path / "f.pdf").read_bytes()
    assert pdf.startswith(b"%PDF") and re.search(rb"/BaseFont ?/\w+\+LiberationSans", pdf)
    assert b"/FontFile2" in pdf and b"/Type3" not in pdf
    box = re.search(rb"/MediaBox ?\[0 0 ([\d.]+)", pdf)
    assert box is not None and abs(float(box[1]) - WIDTHS[1]) <= 1.5
    png = one.save(str(tmp_path / "f.png")).read_bytes()
    width = int.from_bytes(png[16:20], "big")
    assert abs(width - 252 / 72 * 600) < 20
    assert one.save(tmp_path / "f.svg").read_text() == one.svg
    with pytest.raises(ArgumentError, match=r"ends in .svg, .pdf or .png, found f.eps"):
        one.save(tmp_path / "f.eps")


BAD: list[Any] = [
    pytest.param({"skills": {"alone": 0.0}, "baselines": ()}, set(), marks=pytest.mark.slow),
    ({"judged": 0, "references": 0}, set(FIGURES)),
    pytest.param(
        {"skills": {"a": 99.0, "b": 99.0}, "baselines": ()}, set(), marks=pytest.mark.slow
    ),
    pytest.param(
        {"skills": {"a": -99.0, "b": -99.0}, "baselines": ()}, set(), marks=pytest.mark.slow
    ),
    ({"skills": {"a": -99.0, "b": -99.0}, "baselines": (), "categories": ["go", "lift"]}, set()),
    ({"categories": ["one"], "scenarios": 1, "continuations": 1}, {"figure_7"}),
    pytest.param(
        {"skills": {f"agent {i:02d} of a long name, number {i}": i / 9 for i in range(30)}},
        set(),
        marks=pytest.mark.slow,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("options", "missing"), BAD)
def test_thin_tables_are_drawn_or_left_out_with_a_reason(
    options: dict[str, Any], missing: set[str]
) -> None:
    report = made(**({"scenarios": 2, "continuations": 2} | options))
    for name, make in FIGURES.items():
        one = make(report)
        assert isinstance(one, str) == (name in missing), (name, one)
        if isinstance(one, Picture):
            assert "NaN" not in one.svg and "undefined" not in one.svg
            assert not re.search(r"\bnan\b|None", one.caption)
        else:
            assert one and not one.endswith(".")


def test_a_table_of_three_columns_says_why_it_has_no_times_and_no_categories() -> None:
    rows = [
        {"agent": a, "scenario": f"s{s}", "verdict": "success" if s % 2 else "failure"}
        for a in "ab"
        for s in range(4)
    ]
    report = report_of(pd.DataFrame(rows))
    assert figure_8(report) == "2 successes have no step"
    assert figure_7(report) == "it needs two categories of scenarios"
    assert list(picture(figure_3(report)).data["panel"].unique()) == ["Overall"]
    fixed = report_of(pd.DataFrame(rows), target="fixed")
    assert "no interval is known" in picture(figure_3(fixed)).caption


def test_what_a_picture_shows_is_said_where_it_is_not_peoples_judgement() -> None:
    report = made(judged=0, automatic=True, references=0)
    assert "no person has judged" in picture(figure_3(report, columns=1)).caption
    assert "no person has judged" not in drawn("figure_3", 1).caption
