"""Rules for the sources of tests, such as that one file starts the browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import LANDING, LONGEST

TESTS = Path(__file__).parent
STARTS_A_BROWSER = re.compile(r"\b(sync_playwright|async_playwright)\(|executable_path|--headless")
WAITS_FOR_A_TIME = re.compile(r"\b(wait_for_timeout|sleep)\(")
OF_PAGES = re.compile(r"\b(chromium|open_page|start_chromium|Server|Host|uvicorn)\b")
"""Words of a file that uses a browser or a server."""
TIMED = {
    "waiting.py": "looks again after a moment",
    "faults/judging/pages.py": "people pause for times that the trial's seed draws",
    "faults/judgements.py": "faults last for times that the trial's seed draws",
    "test_sources.py": "names them",
}


def read_tests() -> dict[str, str]:
    """Return the text of each file but those of benchmarks, which measure times."""
    files = {str(path.relative_to(TESTS)): path for path in TESTS.rglob("*.py")}
    return {n: p.read_text() for n, p in files.items() if not n.startswith("benchmarks/")}


def test_files_that_the_tiers_name_exist() -> None:
    assert [name for name in (*LANDING, *LONGEST) if not (TESTS / name).exists()] == []


def test_only_one_file_starts_a_browser() -> None:
    found = [name for name, text in read_tests().items() if STARTS_A_BROWSER.search(text)]
    assert sorted(found) == ["browser.py", "test_sources.py"]


def test_tests_of_pages_and_servers_wait_for_conditions() -> None:
    found = {name: text for name, text in read_tests().items() if OF_PAGES.search(text)}
    found |= {n: text for n, text in read_tests().items() if n.startswith("annotator_app/")}
    assert len(found) > 60
    waiting = [name for name, text in found.items() if WAITS_FOR_A_TIME.search(text)]
    assert sorted({*waiting} - {*TIMED}) == []


@pytest.mark.parametrize("call", ["page.wait_for_timeout(30)", "time.sleep(1)", "sleep(TURN)"])
def test_wait_for_a_time_is_found(call: str) -> None:
    assert WAITS_FOR_A_TIME.search(call) and not WAITS_FOR_A_TIME.search("wait_until(look)")
