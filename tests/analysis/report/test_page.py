"""The page: self-contained, escaped, loud about automatic labels; every number also as CSV."""

import base64
import dataclasses
import functools
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import altair as alt
import pandas as pd
import pytest

from sts import plotting
from sts.plotting import to_inline_svg
from sts_analysis.report.figures import FIGURES, figures
from sts_analysis.report.json_form import read
from sts_analysis.report.page import Link, render
from sts_analysis.report.schema import Report
from sts_analysis.report.write import write
from tests.analysis.reports import report_of, valid
from tests.analysis.worlds import ratings_table

EVIL = "<script>alert(1)</script>&\"'<img src=x onerror=alert(2)>"
BANNER = "Automatic labels, not an STS result"


class Page(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def scripts_of(text: str) -> list[dict[str, str | None]]:
    """The attributes of each script of a page."""
    return [attributes for tag, attributes in Page(text).tags if tag == "script"]


def content(**options: Any) -> Report:
    settings: dict[str, Any] = {
        "skills": {"a": 1.0, "b": 0.0, "oracle": 2.0},
        "categories": ["lift", "go", "stay", "count"],
        "seed": 2,
        "scenarios": 2,
        "continuations": 3,
        "references": 6,
        "baselines": ("oracle",),
    }
    return report_of(ratings_table(**(settings | options)))


def page(report: Report) -> str:
    return render(report, figures(report))


def plain(report: Report) -> str:
    """The page with nothing drawn on it, for what it says."""
    return render(report, dict.fromkeys(FIGURES, '<svg width="9" height="9"></svg>'))


@functools.cache
def drawn(automatic: bool = False) -> dict[str, str]:
    """The figures of the usual report, which are drawn once."""
    return figures(content(automatic=automatic))


@functools.cache
def usual(automatic: bool = False) -> str:
    """The page of the usual report."""
    return render(valid(content(automatic=automatic)), drawn(automatic))


def test_the_page_needs_nothing_but_itself() -> None:
    text = usual(automatic=True)
    assert not re.search(r"https?://|url\(|@import|//[a-z]+\.", text)
    found = Page(text)
    tags = {tag for tag, _ in found.tags}
    assert not tags & {"iframe", "object", "embed", "img", "audio", "video", "base"}
    for tag, attributes in found.tags:
        assert not [name for name in attributes if name.startswith("on")]
        link = attributes.get("href") or attributes.get("src") or attributes.get("xlink:href")
        assert link is None or link.startswith(("#", "data:")), (tag, link)


def test_the_page_runs_its_own_script_and_forbids_every_other() -> None:
    text = usual()
    policy = next(a["content"] for t, a in Page(text).tags if a.get("http-equiv")) or ""
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 1 and "</" not in scripts[0]
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; script-src 'sha256-{digest}'; style-src")
    data = re.findall(r"<script ([^>]*)>", text)
    assert data == ['type="application/json" id="scenario-rates"'], "which no browser runs"


def test_every_link_leads_to_something_that_the_page_names() -> None:
    report = content(automatic=True)
    found = Page(usual(automatic=True))
    ids = {attributes.get("id") for _, attributes in found.tags}
    links = [unquote(str(a["href"])[1:]) for tag, a in found.tags if tag == "a"]
    agents = {entry.agent for entry in report.agents}
    cells = [link for link in links if "&agent=" in link]
    plain = {link for link in links if not link.startswith("pair=") and link not in cells}
    assert len(links) >= 8 and plain <= ids
    for link in cells:
        group, _, agent = link.partition("&agent=")
        assert group in ids and agent in agents
    pairs = [link.removeprefix("pair=").split(",") for link in links if link.startswith("pair=")]
    assert pairs and all({*pair} <= agents for pair in pairs)


def test_a_page_without_clips_says_so_and_links_to_none() -> None:
    text = usual()
    assert "There are no clips to watch behind this page" in text and "data-evidence=" not in text
    report = content()
    linked = render(report, {}, Link("evidence/index.html", "Three <b>clips</b>."))
    assert "Three &lt;b&gt;clips&lt;/b&gt;." in linked
    every = [a["href"] for t, a in Page(linked).tags if a.get("class") == "play"]
    assert len(every) == report.counts.scenarios
    assert all(str(one).startswith("evidence/index.html#scenario=") for one in every)


def test_foreign_names_are_shown_and_never_run() -> None:
    skills = {EVIL: 1.0, "b": 0.0, "oracle": 2.0}
    people = {f"{EVIL}x": (0.9, 0.9)}
    text = page(content(skills=skills, categories=[EVIL, "go"], annotators=people))
    found = Page(text)
    assert "img" not in {tag for tag, _ in found.tags}
    assert [a for tag, a in found.tags if tag == "script"] == scripts_of(usual())
    assert "<script>alert(1)</script>" in "".join(found.words)


def test_automatic_labels_are_announced_loudly_and_human_ones_are_not() -> None:
    assert BANNER in plain(content(judged=0, automatic=True, references=0))
    both = usual(automatic=True)
    assert BANNER not in both and "side by side" in both
    assert "Human and automatic labels" in both
    assert "side by side" not in usual()


def without(agent: str, scenarios: tuple[str, ...], **options: Any) -> Report:
    """A report in which an agent has not continued some scenarios."""
    frame = ratings_table(
        skills={"a": 1.0, "b": 0.0}, categories=["go", "lift"], seed=2, continuations=3, **options
    )
    frame = frame[~(frame["agent"].eq(agent) & frame["scenario"].isin(scenarios))]
    return report_of(frame)


def test_what_an_agent_did_not_continue_is_in_its_row_and_at_the_top() -> None:
    text = plain(without("b", ("go-07",)))
    words = " ".join("".join(Page(text).words).split())
    top, _, rest = words.partition("How the interval was made")
    assert "b lacks 1 of 20." in top
    assert "19 of 20" in rest and "no continuation of 1 of 20 scenarios: go-07" in rest
    assert "lacks" not in plain(without("b", ()))


def test_every_row_counts_the_scenarios_of_the_suite() -> None:
    text = plain(without("b", tuple(f"go-{n:02}" for n in range(10))))
    table = text.partition('id="ranking"')[2].partition("</table>")[0]
    assert "<td>20 of 20</td>" in table and "<td>10 of 20</td>" in table
    assert "not ranked: 10 of 20 scenarios" in table and "10 of 10" not in table


def test_each_of_several_rankings_has_its_heading() -> None:
    halves = {"a": ["go"], "b": ["go"], "c": ["lift"], "d": ["lift"], "oracle": ["go", "lift"]}
    frame = ratings_table(
        skills=dict.fromkeys(halves, 0.0),
        categories=["go", "lift"],
        seed=2,
        scenarios=2,
        baselines=("oracle",),
    )
    own = [c in halves[a] for a, c in zip(frame["agent"], frame["category"], strict=True)]
    text = plain(report_of(frame[own]))
    assert [text.count(f"Ranking {n}: 2 of 4 scenarios") for n in (1, 2, 3)] == [1, 1, 0]
    assert ">Not ranked</th>" in text and "Ranking 1:" not in plain(without("b", ()))


def test_one_pair_is_no_plural() -> None:
    three = content(skills={"a": 1.0, "b": 0.0, "c": -1.0})
    assert "<summary>The one pair<" in usual() and "<summary>All 3 pairs<" in plain(three)


def test_one_category_is_no_plural() -> None:
    assert "2 in 1 category<" in plain(content(categories=["one"]))
    assert "8 in 4 categories<" in usual()


def test_unfinished_judging_is_announced() -> None:
    assert "continuations have been judged" in plain(content(judged=0.5))
    report = content()
    counts = dataclasses.replace(report.counts, judged=report.counts.continuations)
    assert "continuations have been judged" not in plain(dataclasses.replace(report, counts=counts))


@pytest.mark.parametrize(
    "options",
    [
        {"judged": 0, "references": 0},
        pytest.param({"skills": {"alone": 0.0}}, marks=pytest.mark.slow),
        {"skills": {f"agent {i:02d} with a name of some sixty letters, no more than {i}": i / 9
                    for i in range(12)}},
        {"categories": ["one"], "scenarios": 1, "continuations": 1},
    ],
)  # fmt: skip
def test_thin_and_crowded_reports_are_drawn(options: dict[str, Any]) -> None:
    text = page(content(**options))
    assert text.count("<section") == text.count("</section>") >= 7
    assert "nan" not in "".join(Page(text).words).lower().split()


def test_figures_follow_the_page_in_light_and_dark() -> None:
    made = drawn(automatic=True)
    assert {"ranking", "kinds", "comparisons", "time_to_success", "label_sets"} <= set(made)
    for svg in made.values():
        assert 'fill="currentColor"' in svg and 'fill="#000"' not in svg
        assert "xmlns" in svg and "xmlns" not in to_inline_svg(svg, "x")
    assert 'aria-label="a &amp; b"' in to_inline_svg(made["ranking"], "a & b")


def test_every_figure_is_a_chart_that_its_grammar_allows() -> None:
    report = content(automatic=True)
    charts = [chart for make in FIGURES.values() if (chart := make(report)) is not None]
    assert len(charts) >= 9
    for chart in charts:
        chart.to_dict(validate=True)


def test_a_figure_may_have_many_points() -> None:
    rows = pd.DataFrame({"x": range(6000), "y": 0.5})
    assert plotting.to_svg(alt.Chart(rows).mark_line().encode(x="x:Q", y="y:Q")).startswith("<svg")


@pytest.mark.usefixtures("one_figure")
def test_the_folder_holds_every_number_twice(tmp_path: Path) -> None:
    report = content(automatic=True)
    written = write(tmp_path / "out", report)
    assert written == tmp_path / "out" / "report.html"
    assert read(tmp_path / "out") == report
    agents = pd.read_csv(tmp_path / "out" / "tables" / "agents.csv")
    assert agents["pass_rate"].tolist() == pytest.approx([a.pass_rate for a in report.agents])
    assert agents["interval_low"].notna().all() and "rank_set_high" in agents.columns
    curve = pd.read_csv(tmp_path / "out" / "tables" / "time_to_success.csv")
    assert set(curve["agent"]) == {"a", "b", "oracle"}
    assert not [p for p in (tmp_path / "out").rglob("*") if p.suffix == ".part"]
    assert (tmp_path / "out" / "figures" / "ranking.svg").read_text().startswith("<svg")


def test_writing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path / name, content())
    for path in sorted((tmp_path / "one").rglob("*.*")):
        other = tmp_path / "two" / path.relative_to(tmp_path / "one")
        assert path.read_bytes() == other.read_bytes(), path.name
