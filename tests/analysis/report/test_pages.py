"""The report's pages in a chromium: their size, accessibility and print, in every state."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from sts_analysis.report.document import compute_report
from sts_analysis.report.write import write_report
from tests.analysis.variants import VARIANTS, make_study

MAX_WORDS = 900
MAX_HEIGHT = 2700
pytestmark = pytest.mark.landing


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("reports")
    pages = {}
    for name in VARIANTS:
        study = make_study(name)
        pages[name] = write_report(root / name.replace(" ", "-"), compute_report(study), study)
    study = make_study("interim", closed="the funding ends")
    pages["closed"] = write_report(root / "closed", compute_report(study), study)
    return pages


def open_page(chromium: Any, path: Path, width: int, scheme: str = "light") -> Any:
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(path.as_uri())
    return page


@pytest.mark.parametrize("name", [*VARIANTS, "closed"])
def test_main_page_keeps_its_budget_and_is_accessible(chromium, folders, name) -> None:
    text = folders[name].read_text()
    assert "<script" not in text and str(Path.cwd()) not in text
    for width in (360, 420, 1280):
        page = open_page(chromium, folders[name], width)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate("document.querySelectorAll('h1').length") == 1
        if width == 1280:
            words = page.evaluate("document.body.innerText.split(/\\s+/).length")
            height = page.evaluate("document.documentElement.scrollHeight")
            assert words <= MAX_WORDS and height <= MAX_HEIGHT
        page.context.close()
    for width, scheme in ((1280, "light"), (1280, "dark"), (420, "light")):
        page = open_page(chromium, folders[name], width, scheme)
        found = Axe().run(page).response["violations"]
        assert [(v["id"], v["nodes"][0]["html"]) for v in found] == []
        page.context.close()


@pytest.mark.parametrize("name", ["rule", "tied", "hundred agents"])
def test_main_page_prints_on_two_pages(chromium, folders, name) -> None:
    page = open_page(chromium, folders[name], 1280)
    pdf = page.pdf(format="A4", prefer_css_page_size=True)
    assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") <= 2
    page.context.close()


@pytest.mark.parametrize("name", ["rule", "tied", "hundred agents", "one agent"])
def test_appendix_is_accessible_and_fits_a_phone(chromium, folders, name) -> None:
    appendix = folders[name].with_name("appendix.html")
    for width in (420, 1280):
        page = open_page(chromium, appendix, width)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        found = Axe().run(page).response["violations"]
        assert [(v["id"], v["nodes"][0]["html"]) for v in found] == []
        page.context.close()


def test_every_link_between_the_pages_leads_somewhere(chromium, folders) -> None:
    for file in ("report.html", "appendix.html"):
        page = open_page(chromium, folders["tied"].with_name(file), 1280)
        links = page.evaluate("[...document.links].map(a => a.getAttribute('href'))")
        for link in links:
            target, _, fragment = link.partition("#")
            path = folders["tied"].parent / (target or file)
            assert path.exists(), link
            if fragment:
                assert re.search(rf'id="?{fragment}[" >]', path.read_text()), link
        page.context.close()
