"""The clips behind a report in a browser, from a disk and without a network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sts.annotations.records import ShownVerdict
from sts.continuations.continuation_store import iter_entries
from sts.storage.workspace import Workspace
from sts.suites import selections
from sts_analysis.evidence import files
from sts_analysis.evidence.dossiers import Clip, Dossier, Share
from sts_analysis.evidence.files import write_clips
from sts_analysis.evidence.gather import CLIP_PAGE
from tests.analysis.evidence.conftest import AGENTS, SUITE, few, write_evidence
from tests.waiting import PATIENCE

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
    """A report's folder with the clips of the small suite, moved to one with an odd name."""
    out = tmp_path_factory.mktemp("made") / "report"
    write_evidence(few, out)
    (out / "report.html").write_text("<title>report</title>")
    return Path(shutil.move(out, tmp_path_factory.mktemp("some where") / "of #1?"))


def address(file: Path, fragment: str = "") -> str:
    return file.resolve().as_uri() + fragment


def list_choices(page: Any) -> list[str]:
    """Return the scenario and both agents that are chosen."""
    return [select.input_value() for select in page.locator("select").all()]


def test_address_opens_a_scenario_with_two_agents_whose_clips_play_together(
    page: Any, folder: Path
) -> None:
    page.goto(address(folder / CLIP_PAGE))
    page.locator(".host .stage:not([hidden])").first.wait_for()
    scenario = page.locator("#scenario option").nth(4).inner_text()
    pair = ",".join(AGENTS)
    page.goto(address(folder / CLIP_PAGE, f"#scenario={scenario}&pair={pair}"))
    page.wait_for_function("document.querySelectorAll('main.two .pane').length === 2")
    assert page.inner_text("h1") == scenario and list_choices(page) == [scenario, *AGENTS]
    panes = page.locator(".pane:has(.stage:not([hidden]))")
    panes.nth(1).wait_for()
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
    page.wait_for_url("**/report.html#clips")


def test_choices_are_kept_in_the_address(page: Any, folder: Path) -> None:
    page.goto(address(folder / CLIP_PAGE))
    first, second = page.locator("#scenario option").all_inner_texts()[:2]
    page.locator("h1", has_text=first).wait_for()
    page.select_option("select[aria-label=Agent]", AGENTS[1])
    page.select_option("select[aria-label='Compare with']", AGENTS[1])
    page.select_option("#scenario", second)
    page.locator("h1", has_text=second).wait_for()
    assert list_choices(page) == [second, AGENTS[1], AGENTS[1]], "an agent beside itself"
    assert page.url.endswith(f"#scenario={second}&pair={AGENTS[1]},{AGENTS[1]}")
    page.reload()
    page.wait_for_function("document.querySelectorAll('main.two .pane').length === 2")
    assert list_choices(page) == [second, AGENTS[1], AGENTS[1]]
    for fragment in ("#scenario=there%20is%20none", "#scenario=%E0%A4%A"):
        page.goto(address(folder / CLIP_PAGE, fragment))
        page.locator("#status", has_text="There is no scenario").wait_for()


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
    write_clips(folder, workspace, scenarios, every, {"x": one.id}, title=EVIL, agents=(EVIL, LONG))
    page.set_viewport_size({"width": 420, "height": 800})
    page.goto(address(folder / files.PAGE))
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
    page.goto(address(copy / CLIP_PAGE))
    page.locator("#status", has_text="is missing: keep the folder").wait_for()
    context.close()
