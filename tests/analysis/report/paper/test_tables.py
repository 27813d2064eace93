"""Tables of a paper: the report's numbers, as LaTeX and Markdown in which names are only text."""

import re
from typing import Any

import pandas as pd
import pytest

from sts.annotations.error_analysis import ErrorAnalysis, ErrorRow, SampleCounts
from sts.errors import UnknownName
from sts_analysis.inputs.scores import check_scores
from sts_analysis.inputs.subject import Subject
from sts_analysis.inputs.tables import from_frame
from sts_analysis.report.paper import latex, markdown
from sts_analysis.report.paper.table import Table
from sts_analysis.report.paper.tables import MAKERS, table, tables
from tests.analysis.report.paper.tables import made, usual
from tests.analysis.reports import report_of
from tests.analysis.worlds import ratings_table

NASTY = r"a_b%c&d#e~f^g\h{i}$j|k`l*m<n>o[p]"


def test_the_ranking_has_rates_intervals_and_rank_sets() -> None:
    report = usual()
    one = table(report, "ranking")
    for row, entry in zip(one.rows, report.agents, strict=True):
        assert row[0].removesuffix("\N{DOUBLE DAGGER}") == entry.agent
        assert row[2] == f"{100 * (entry.pass_rate or 0):.1f}"
        assert row[-1] == str(entry.judged)
    assert "bound, outside the ranking" in one.caption and one.rows[-1][1] == "\N{EN DASH}"
    assert "for fresh scenarios" in one.caption


def test_categories_stand_down_and_agents_across() -> None:
    report = usual()
    one = table(report, "categories")
    assert [row[0] for row in one.rows] == [
        "All", "All instructions", "All questions", "arrange", "count", "lift", "yes/no",
    ]  # fmt: skip
    low, high = report.agents[0].categories["lift"].interval or (0, 0)
    assert one.rows[5][1].endswith(f"({100 * low:.0f}\N{EN DASH}{100 * high:.0f})")


def test_table_1_has_the_papers_columns() -> None:
    over = {"people": SampleCounts(120, 100, 2, 0), "agents": SampleCounts(9, 9, 0, 0)}
    rows = (
        ErrorRow("player", "imprecise", 1, 0, "missed"),
        ErrorRow("player", "out_of_time", 0, 0, "late"),
        ErrorRow("annotator", "rigidity", 1, 0, "strict"),
    )
    reviews = ErrorAnalysis(rows, over)
    frame = ratings_table(skills={"a": 0.0}, categories=["c"], seed=1, scenarios=2)
    report = report_of(frame, suite=Subject("t@1", reviews=reviews))
    one = table(report, "table_1")
    assert one.header == ("Error source", "Error type", "Number of episodes", "Description")
    assert one.rows == (
        ("Human players", "imprecise", "1", "missed"),
        ("", "out of time", "0", "late"),
        ("Human annotators", "rigidity", "1", "strict"),
    )
    assert "2 reviewed of 100 drawn at random from 120 people's episodes" in one.caption
    assert "table_1" not in tables(usual())


def test_a_table_that_there_is_not_is_named() -> None:
    expected = "unknown table 'errors'; known: annotators, categories, comparisons, ranking"
    with pytest.raises(UnknownName, match=expected):
        table(usual(), "errors")


def test_no_name_is_a_command_in_latex() -> None:
    text = latex.escape(NASTY + "-- ,, '' \N{MINUS SIGN}1 \N{LATIN SMALL LETTER O WITH DIAERESIS}")
    bare = re.sub(r"\\[a-z]+\{\}|\\[{}$&#_%]|\{\[\}|\{\]\}|\{\*\}|[-,']\{\}|\$-\$", "", text)
    assert not set(bare) & set(r"\{}$&#_%~^`|<>[]*"), bare
    assert latex.escape("a-b, it's") == "a-b, it's"
    assert not latex.foreign(text) and latex.foreign("\N{CJK UNIFIED IDEOGRAPH-65E5}")


def test_a_row_of_latex_has_as_many_cells_as_its_header_whatever_the_names() -> None:
    rows = ((f"[{NASTY}", "1"), ("*", "2"))
    text = Table("t", "50% of_it", ("A&B", "x"), "lr", rows).latex()
    body = text.split("\\toprule")[1].split("\\bottomrule")[0]
    for line in filter(lambda line: line.endswith(r"\\"), body.splitlines()):
        assert len(re.findall(r"(?<!\\)&", line)) == 1
        assert not line.startswith(("[", "*"))
    assert r"\caption{50\% of\_it}" in text and r"\usepackage{booktabs}" in text


def test_a_pipe_in_a_name_ends_no_cell_of_markdown() -> None:
    text = Table("t", "c", ("A", "x"), "lr", ((NASTY, "1"),)).markdown()
    header, rule, row = text.splitlines()[:3]
    cells = re.split(r"(?<!\\)\|", row)
    assert len(cells) == len(header.split("|")) == len(rule.split("|")) == 4
    assert r"a\_b%c&amp;d\#e" in row and "&lt;n&gt;" in row


def test_a_long_table_breaks_over_pages_and_a_wide_one_is_cut() -> None:
    names = tuple(f"agent {i}" for i in range(12))
    rows = tuple((f"c{i}", *names) for i in range(50))
    text = Table("t", "C.", ("x", *names), "l" + "r" * 12, rows).latex()
    assert text.count(r"\begin{longtable}{lrrrr}") == 3 and "C. Part 3 of 3." in text
    assert all(name in text for name in names) and r"\usepackage{longtable}" in text


@pytest.mark.parametrize(
    "options",
    [{"skills": {"alone": 0.0}}, {"judged": 0, "references": 0}, {"scenarios": 1}],
)
def test_thin_tables_hold_no_number_that_is_none(options: dict[str, Any]) -> None:
    made_of = tables(made(**({"baselines": ()} | options)))
    assert "ranking" in made_of and set(made_of) <= set(MAKERS)
    for one in made_of.values():
        text = one.latex() + markdown.table(one)
        assert "None" not in text and not re.search(r"\bnan\b", text)
        assert all(len(row) == len(one.header) == len(one.align) for row in one.rows)


def test_a_table_of_scores_has_its_correlations() -> None:
    skills = {f"a{i}": i - 2.0 for i in range(5)}
    frame = ratings_table(skills=skills, categories=["c"], seed=1, scenarios=4)
    scores = pd.DataFrame({"agent": [f"a{i}" for i in range(5)], "metric": "m", "value": range(5)})
    report = report_of(frame, check_scores(from_frame("s", scores)))
    assert [row[:3] for row in table(report, "correlations").rows] == [("pass rate", "m", "5")]
