"""The report's pages in a browser: their size, accessibility and print, in every state."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from sts_analysis.report.document import compute_report
from sts_analysis.report.write import write_report
from tests.analysis.variants import VARIANTS, make_study, mark_slow_but

MAX_WORDS = 900
MAX_HEIGHT = 2700
ALL = [*VARIANTS, "closed"]
KEPT = "rule, tied, interim, table only, long names"
PRINTED = ["rule", "tied", "hundred agents"]
pytestmark = pytest.mark.landing


@pytest.fixture(scope="module")
def write_page(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that writes the report of a variant once, and returns its main page."""
    root = tmp_path_factory.mktemp("reports")

    @cache
    def write(name: str) -> Path:
        closed = {"closed": "the funding ends"} if name == "closed" else {}
        study = make_study("interim" if closed else name, **closed)
        return write_report(root / name.replace(" ", "-"), compute_report(study), study)

    return write


@pytest.fixture(scope="module")
def page(chromium: Any) -> Any:
    """The one page of this file, since each new one costs a second."""
    return chromium.new_page()


def show(page: Any, path: Path, width: int, scheme: str = "light") -> None:
    """Open a file in a window of this width, unless it is open, and check that it fits."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    if page.url != path.as_uri():
        page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == width


def check_accessible(page: Any) -> None:
    found = Axe().run(page).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"]) for v in found] == []


@pytest.mark.parametrize("name", mark_slow_but(KEPT, ALL))
def test_main_page_keeps_its_budget_and_is_accessible(page, write_page, name) -> None:
    text = write_page(name).read_text()
    assert "<script" not in text and str(Path.cwd()) not in text
    for width in (360, 420, 1280):
        show(page, write_page(name), width)
    assert page.evaluate("document.querySelectorAll('h1').length") == 1
    words = page.evaluate("document.body.innerText.split(/\\s+/).length")
    height = page.evaluate("document.documentElement.scrollHeight")
    assert words <= MAX_WORDS and height <= MAX_HEIGHT
    check_accessible(page)


@pytest.mark.parametrize("name", mark_slow_but("rule", ALL))
def test_main_page_is_accessible_in_the_dark_and_on_a_phone(page, write_page, name) -> None:
    for width, scheme in ((1280, "dark"), (420, "light")):
        show(page, write_page(name), width, scheme)
        check_accessible(page)


@pytest.mark.parametrize("name", mark_slow_but("rule, tied", PRINTED))
def test_main_page_prints_on_two_pages(page, write_page, name) -> None:
    show(page, write_page(name), 1280)
    pdf = page.pdf(format="A4", prefer_css_page_size=True)
    assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") <= 2


@pytest.mark.parametrize("name", mark_slow_but("tied", [*PRINTED, "one agent"]))
def test_appendix_is_accessible_and_fits_a_phone(page, write_page, name) -> None:
    for width in (1280, 420):
        show(page, write_page(name).with_name("appendix.html"), width)
        check_accessible(page)


@pytest.mark.slow  # the longest page of all
def test_appendix_of_a_hundred_agents_fits_a_phone(page, write_page) -> None:
    for width in (1280, 420):
        show(page, write_page("hundred agents").with_name("appendix.html"), width)


def test_every_link_between_the_pages_leads_somewhere(page, write_page) -> None:
    for file in ("report.html", "appendix.html"):
        show(page, write_page("tied").with_name(file), 1280)
        for link in page.evaluate("[...document.links].map(a => a.getAttribute('href'))"):
            target, _, fragment = link.partition("#")
            path = write_page("tied").parent / (target or file)
            assert path.exists(), link
            if fragment:
                assert re.search(rf'id="?{fragment}[" >]', path.read_text()), link
