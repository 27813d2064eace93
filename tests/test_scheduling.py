"""Tests are handed to workers by file, and by folder where its fixtures are dear."""

import subprocess
import sys
from pathlib import Path

from tests.scheduling import TOGETHER, unit

ROOT = Path(__file__).parents[1]


def test_a_folder_of_dear_fixtures_goes_to_one_worker_and_else_a_file() -> None:
    assert unit("tests/annotations/test_clips.py::test_it[a::b]") == "tests/annotations/"
    assert unit("tests/jobs/test_pool.py::test_it[tests/annotations/]") == "tests/jobs/test_pool.py"
    for folder in TOGETHER:
        fixtures = (ROOT / folder / "conftest.py").read_text()
        assert 'scope="session"' in fixtures


def test_what_goes_to_one_worker_begins() -> None:
    files = ["tests/test_errors.py", f"{TOGETHER[0]}test_messages.py", "tests/test_names.py"]
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True)
    found = [line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line]
    assert list(dict.fromkeys(found)) == [files[1], files[0], files[2]]
