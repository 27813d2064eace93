"""The report and its evidence in a browser, from a disk and without a network."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sts.annotations.types import ShownVerdict
from sts.cli.main import main
from sts.continuations.store import iter_entries
from sts.storage.workspace import Workspace
from sts.suites import selections
from sts_analysis.evidence import files
from sts_analysis.evidence.dossiers import Clip, Dossier, Share
from sts_analysis.evidence.files import make
from tests.analysis.evidence.conftest import SUITE, few
from tests.annotator_app.serving import PATIENCE

pytestmark = pytest.mark.browser

__all__ = ["few"]  # a fixture

EVIL = "</script><img src=x onerror=window.ran=1>&amp;\"'"
LONG = "long-" * 40
BACKWARDS = "\u202e\u05d0\u05d1\u05d2 agent"


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page that requests nothing from a network and logs nothing on its console."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(1000 * PATIENCE)
    made = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    made.on("request", lambda one: asked.append(one.url))
    made.on("console", lambda one: said.append(one.text))
    made.on("pageerror", lambda error: said.append(str(error)))
    yield made
    context.close()
    assert not said
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked), asked


@pytest.fixture(scope="module")
def folder(few: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the small suite, moved to a folder with an odd name."""
    out = tmp_path_factory.mktemp("made") / "report"
    assert main(["report", SUITE, "--workspace", str(few), "--out", str(out)]) == 0
    return Path(shutil.move(out, tmp_path_factory.mktemp("some where") / "of #1?"))


def address(file: Path, fragment: str = "") -> str:
    return file.resolve().as_uri() + fragment


def list_visible_scenarios(page: Any) -> list[str]:
    """Return the scenarios in sight, in the order of the table."""
    rows = page.locator("#scenario-table tbody tr:not(.left-out):not(.detail)")
    return [one.split("\n")[0] for one in rows.locator("th > a:first-child").all_inner_texts()]


def test_number_leads_to_its_category_a_scenario_and_two_clips_that_play(
    page: Any, folder: Path
) -> None:
    page.goto(address(folder / "report.html"))
    number = page.locator("#kinds td.heat a[href^='#category=']").first
    category = re.search(r"category=([^&]*)", number.get_attribute("href"))
    number.click()
    assert category and page.input_value("select[name=category]") == category[1]
    assert "3 of 6 scenarios" in page.inner_text("#chosen")
    first = list_visible_scenarios(page)[0]
    page.locator("#scenario-table th > a").get_by_text(first, exact=True).click()
    rates = page.locator("tr.detail li").all_inner_texts()
    assert len(rates) == 2 and all("%" in one for one in rates)
    page.locator("tr.detail li a").first.click()
    page.locator(".host .stage:not([hidden])").first.wait_for()
    assert page.inner_text("h1") == first
    page.select_option("select[aria-label=Beside]", index=1)
    panes = page.locator(".pane:has(.stage:not([hidden]))")
    page.wait_for_function("document.querySelectorAll('main.two .pane').length === 2")
    frames = panes.locator(".viewer")
    before = [int(frames.nth(n).get_attribute("data-frame")) for n in (0, 1)]
    assert before[0] == before[1], "both begin at the takeover"
    panes.nth(0).locator("button.forward").click()
    page.keyboard.press("ArrowRight")
    after = [int(frames.nth(n).get_attribute("data-frame")) for n in (0, 1)]
    assert after == [before[0] + 2] * 2, "both clips move together"
    panes.nth(1).locator("button.play").click()
    end = int(panes.nth(0).locator(".scrub").get_attribute("max"))
    panes.nth(0).locator(f".viewer[data-frame='{end}']").wait_for()
    marks = panes.nth(0).locator(".marks").inner_text()
    assert "annotator-" in marks and "a rule" in marks and "Secret" not in marks
    page.click("#back")
    page.locator("tr.detail").wait_for()
    assert first in page.inner_text("tr.detail + tr, tr:has(+ tr.detail)")


@pytest.mark.landing
def test_addresses_sorting_and_filters_choose_the_scenarios(page: Any, folder: Path) -> None:
    page.goto(address(folder / "report.html", "#pair=random,rule"))
    heads = page.locator("#scenario-table thead th").all_inner_texts()
    assert [one.strip() for one in heads[1:4]] == ["random", "rule", "Difference"]
    assert "random passes less often than rule in" in page.inner_text("#chosen")
    link = page.locator("#scenario-table a.play").first.get_attribute("href")
    assert link.startswith("evidence/index.html#scenario=") and link.endswith("&pair=random,rule")
    page.goto(address(folder / "report.html", "#scenario=there%20is%20none"))
    page.wait_for_function("document.querySelector('#chosen').textContent.includes('no scenario')")
    page.goto(address(folder / "report.html", "#category=%E0%A4%A"))
    assert len(list_visible_scenarios(page)) == 6, "an invalid address changes nothing"

    page.goto(address(folder / "report.html"))
    table = page.locator("#ranking table")
    head = table.locator("th").nth(3)
    for way in ("descending", "ascending"):
        head.locator(".sort").click()
        assert head.get_attribute("aria-sort") == way
        cells = table.locator("tbody tr:not(.remark) td:nth-child(4)").all_inner_texts()
        rates = [float(one.strip("%<>")) for one in cells]
        assert rates == sorted(rates, reverse=way == "descending")
    page.select_option("select[name=a]", "rule")
    page.select_option("select[name=show]", "above")
    some = list_visible_scenarios(page)
    assert page.url.endswith("#agent=rule&show=above")
    page.select_option("select[name=show]", "below")
    assert sorted([*some, *list_visible_scenarios(page)]) == sorted(
        {*some, *list_visible_scenarios(page)}
    )

    page.set_viewport_size({"width": 420, "height": 800})  # captions stay in sight on a phone
    page.goto(address(folder / "report.html"))
    ends = "all => all.map(one => one.getBoundingClientRect().right).filter(right => right)"
    every = page.eval_on_selector_all("caption", ends)
    assert every and max(every) <= 420
    assert page.evaluate("document.documentElement.scrollWidth") == 420


@pytest.mark.landing
def test_foreign_names_are_shown_as_text(page: Any, few: Path, tmp_path: Path) -> None:
    workspace = Workspace.open(str(few))
    scenarios = selections.load_selection(workspace, SUITE).scenarios
    one = next(iter(iter_entries(workspace, {scenarios[0].hash})))
    said = (
        ShownVerdict(EVIL, "verdict", "success", 1, EVIL),
        ShownVerdict("P", "verdict", "failure", 1, ""),
    )
    agents = dict.fromkeys((EVIL, LONG, BACKWARDS), (Share("x", 2, 0.5),))
    every = [Dossier(EVIL, {"x": Clip("x", one.id, said)}, agents)]
    (folder := tmp_path / "evidence").mkdir()
    make(folder, workspace, scenarios, every, {"x": one.id}, title=EVIL, agents=(EVIL, LONG))
    page.set_viewport_size({"width": 420, "height": 800})
    page.goto(address(folder / files.PAGE))
    page.locator("#status", has_text="No scenario is chosen").wait_for()
    page.evaluate("(id) => { location.hash = '#scenario=' + encodeURIComponent(id); }", EVIL)
    page.locator(".host .stage:not([hidden])").first.wait_for()
    assert page.inner_text("h1") == EVIL and EVIL in page.inner_text("#back")
    options = page.locator("select[aria-label=Agent] option").all_inner_texts()
    assert options == [EVIL, LONG, BACKWARDS]
    page.select_option("select[aria-label=Agent]", LONG)
    assert EVIL in page.locator(".marks").first.inner_text()
    assert page.evaluate("window.ran") is None
    assert page.evaluate("document.documentElement.scrollWidth") == 420


@pytest.mark.landing
def test_missing_evidence_file_is_reported(chromium: Any, folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    for file in (copy / "evidence" / "scenarios").iterdir():
        file.unlink()
    context = chromium.new_context()
    context.set_default_timeout(1000 * PATIENCE)
    page = context.new_page()
    page.goto(address(copy / "report.html"))
    page.locator("#scenario-table a.play").first.click()
    page.locator("#status", has_text="is not there: keep the folder").wait_for()
    context.close()
