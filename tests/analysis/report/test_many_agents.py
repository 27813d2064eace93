"""A report of many agents: the page stays readable, and report.json and the tables complete."""

import json

import numpy as np
import pandas as pd
import pytest

from sts_analysis.inputs.subject import Subject
from sts_analysis.report import figures, json_form
from sts_analysis.report.page import render
from sts_analysis.report.schema import Report
from sts_analysis.report.tables import tables
from tests.analysis.reports import report_of

SCENARIOS = 14


def of_many(agents: int) -> Report:
    """A report of so many agents, each better than the next, judged by two people."""
    rng = np.random.default_rng(1)
    shape = (agents, SCENARIOS, 2)
    agent, scenario, index = (axis.ravel() for axis in np.indices(shape))
    success = rng.random(agent.size) < 0.95 - 0.9 * agent / agents
    frame = pd.DataFrame(
        {
            "agent": [f"agent-{a:02}" for a in agent],
            "scenario": [f"scenario-{s:02}" for s in scenario],
            "continuation": [str(i) for i in index],
            "annotator": np.where(rng.random(agent.size) < 0.5, "x", "y"),
            "verdict": np.where(success, "success", "failure"),
        }
    )
    return report_of(frame, suite=Subject("many"))


@pytest.fixture(scope="module")
def many() -> Report:
    return of_many(45)


def test_of_many_pairs_the_page_shows_neighbours_and_the_first(many: Report) -> None:
    page = render(many, {})
    section = page[page.index('<section id="pairs">') :].split("</section>")[0]
    order = many.rankings[0].agents
    shown = section.count('<td class="pair">')
    assert shown == 44 + 43  # neighbours, and the first with all others
    assert f"#pair={order[0]},{order[30]}" in section
    assert f"#pair={order[20]},{order[21]}" in section
    assert f"#pair={order[20]},{order[30]}" not in section
    assert f"{990 - shown} pairs more are in the table “comparisons”" in section


def test_report_json_and_the_tables_hold_every_pair(many: Report) -> None:
    content = json.loads(json_form.text(many))
    rows = tables(many)
    for name, pairs in (
        ("comparisons", content["comparisons"]),
        ("adjusted", content["judges"]["adjusted"]),
        ("other_annotators_pairs", content["judges"]["other_pairs"]),
        ("improvements", content["questions"]["improvements"]),
    ):
        assert len({(pair["a"], pair["b"]) for pair in pairs}) == 990
        assert len(rows[name]) == 990


def test_the_page_grows_with_agents_and_not_with_pairs(many: Report) -> None:
    fewer = of_many(30)
    assert len(render(many, {})) < 1.6 * len(render(fewer, {}))  # pairs are 2.3 times as many


def test_a_figure_with_a_cell_a_pair_shows_the_first_agents_and_says_so(many: Report) -> None:
    drawn = figures.comparisons(many)
    assert drawn is not None
    (cells,) = drawn.to_dict(validate=False)["datasets"].values()
    assert len(cells) == 40 * 39
    assert "Of 45 agents, the first 40." in render(many, {"comparisons": "<svg></svg>"})
