"""Tags, parts, pairs and dialogues in a report: beside the ranking, and counted once."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pandas as pd
import pytest

from sts_analysis.inputs import tables
from sts_analysis.inputs.ratings import check_ratings
from sts_analysis.inputs.subject import Other, Part, Subject
from sts_analysis.report.figures import figures
from sts_analysis.report.json_form import text
from sts_analysis.report.page import render
from sts_analysis.report.schema import Report
from sts_analysis.report.terminal import table
from sts_analysis.report.write import write
from tests.analysis.report.test_page import EVIL, Page
from tests.analysis.reports import report_of, sure, valid
from tests.analysis.worlds import ratings_table

NAMES = [f"{category}-{n:02d}" for category in ("go", "lift") for n in range(6)]
PAIRS = {f"p{n}": (f"go-{n:02d}", f"lift-{n:02d}") for n in range(4)}
SERIES = {"talk": ("go-04", "lift-05")}
TAGS = {"corner": tuple(NAMES[:5]), "wrap": tuple(NAMES[3:9])}


@functools.cache
def frame() -> pd.DataFrame:
    return ratings_table(
        skills={"a": 1.5, "b": -0.5}, categories=["go", "lift"], seed=4, scenarios=6,
        continuations=4,
    )  # fmt: skip


def subject(**more: Any) -> Subject:
    rows = [(name, name.partition("-")[0], "instruction") for name in NAMES]
    known = pd.DataFrame(rows, columns=["scenario", "category", "kind"])
    return Subject("own@2", known)._replace(**more)


@functools.cache
def whole() -> Report:
    return valid(report_of(frame(), suite=subject(tags=TAGS, pairs=PAIRS, series=SERIES)))


@functools.cache
def plain() -> Report:
    return report_of(frame(), suite=subject())


def test_rates_ranks_categories_and_counts_are_those_without_groups() -> None:
    for name in ("rankings", "counts"):
        assert getattr(whole(), name) == getattr(plain(), name)
    assert tuple(replace(one, tags=()) for one in whole().scenarios) == plain().scenarios
    for one, other in zip(whole().agents, plain().agents, strict=True):
        assert (one.agent, one.pass_rate, one.rank) == (other.agent, other.pass_rate, other.rank)
        assert one.intervals["fixed"] == other.intervals["fixed"]
        assert one.intervals["sampled"] != other.intervals["sampled"], "a pair is one of a sample"
        for name, group in one.categories.items():
            assert group == other.categories[name], "of each pair a category has one half"
    for pair, apart in zip(whole().comparisons, plain().comparisons, strict=True):
        assert (pair.a, pair.b, pair.difference) == (apart.a, apart.b, apart.difference)
    content = json.loads(text(plain()))
    assert not {"tags", "pairs", "series", "selection", "against"} & content.keys()


def test_a_credit_is_the_product_of_the_rates_and_a_group_is_the_unit() -> None:
    rates = {one.scenario: one.pass_rates for one in whole().scenarios}
    for groups, every in ((PAIRS, whole().pairs), (SERIES, whole().series)):
        assert sure(every).scenarios == groups
        for entry in sure(every).agents:
            products = []
            for name, ids in groups.items():
                product = 1.0
                for id in ids:
                    product *= sure(rates[id][entry.agent])
                assert sure(every).credits[name][entry.agent] == pytest.approx(product)
                products.append(product)
            assert entry.credit == pytest.approx(sum(products) / len(products))
            assert entry.groups == len(groups)
            assert set(entry.intervals) == {"sampled", "fixed"}
    one = sure(whole().series).agents[0]
    assert "scenario" not in one.method


def test_what_belongs_together_counts_together_for_the_time_to_success() -> None:
    changed = [
        one.time_to_success.interval != other.time_to_success.interval
        for one, other in zip(whole().agents, plain().agents, strict=True)
    ]
    assert any(changed)


def test_a_tag_is_treated_as_a_category_is() -> None:
    found = {(one.agent, one.tag): one for one in whole().tags}
    rates = {one.scenario: one.pass_rates for one in whole().scenarios}
    for agent in ("a", "b"):
        for tag, ids in TAGS.items():
            mean = sum(sure(rates[id][agent]) for id in ids) / len(ids)
            assert found[agent, tag].pass_rate == pytest.approx(mean)
            assert found[agent, tag].scenarios == len(ids)
    whole_category = subject(tags={"all-of-it": tuple(NAMES[:6])})
    (one, *_) = report_of(frame(), suite=whole_category).tags
    entry = next(entry for entry in plain().agents if entry.agent == one.agent)
    category = entry.categories["go"]
    assert (one.interval, one.method) == (category.interval, category.method)


@pytest.mark.usefixtures("one_figure")
def test_the_page_the_terminal_and_the_tables_have_them(tmp_path: Path) -> None:
    part = Part("own@2", "+tag:wrap", 12, 40, ("go-01",))
    made = report_of(frame(), suite=subject(tags=TAGS, pairs=PAIRS, series=SERIES, part=part))
    page = (write(tmp_path / "r", made)).read_text()
    said = "a part of own@2, +tag:wrap: 12 of its 40 scenarios, 1 of them as they belong with"
    assert said in page and said in table(made)
    found = Page(page)
    ids = {values.get("id") for _, values in found.tags}
    links = {values["href"] for tag, values in found.tags if tag == "a"}
    assert {"#tags", "#pairs-together", "#dialogues-together"} <= links
    names = {unquote(str(link).removeprefix("#")) for link in links}
    assert {name for name in names if "&" not in name and not name.startswith("pair=")} <= ids
    for name, rows in (("tags", 4), ("pairs", 2 + 8), ("series", 2 + 2)):
        assert len(pd.read_csv(tmp_path / "r" / "tables" / f"{name}.csv")) == rows
    write(tmp_path / "r", plain())
    assert not (tmp_path / "r" / "tables" / "pairs.csv").exists()


def test_every_name_is_escaped() -> None:
    known = subject().scenarios
    ratings = check_ratings(tables.from_frame("t", frame()))
    other = Other(Subject(EVIL, known.assign(scenario=known["scenario"] + EVIL)), ratings, {})
    evil = subject(
        tags={EVIL: tuple(NAMES[:3])},
        pairs={EVIL: PAIRS["p0"]},
        series={EVIL: SERIES["talk"]},
        part=Part(EVIL, EVIL, 1, 2, ()),
    )
    made = report_of(frame(), suite=evil, other=other)
    page = render(made, figures(made))
    before, _, rest = page.partition('<script type="application/json" id="scenario-rates">')
    data, _, after = rest.partition("</script>")
    assert "<" not in data, "what a browser takes for data cannot end there"
    assert EVIL in json.loads(data)["scenarios"][0][3]
    assert "<script>alert" not in before + after and "onerror=alert(2)>" not in before + after
    assert "&lt;script&gt;alert(1)" in page
