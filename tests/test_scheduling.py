"""Tests are handed to workers by file, and by folder where its fixtures are dear."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tests import conftest
from tests.scheduling import TOGETHER, shares, unit

ROOT = Path(__file__).parents[1]


def test_a_folder_of_dear_fixtures_goes_to_one_worker_and_else_a_file() -> None:
    assert unit("tests/annotations/test_clips.py::test_it[a::b]") == "tests/annotations/"
    assert unit("tests/jobs/test_pool.py::test_it[tests/annotations/]") == "tests/jobs/test_pool.py"
    for folder in TOGETHER:
        fixtures = (ROOT / folder / "conftest.py").read_text()
        assert 'scope="session"' in fixtures


def test_each_worker_imports_every_file_and_begins_with_others_than_the_rest() -> None:
    files = [Path(f"test_{number}.py") for number in range(11)]
    orders = [shares(files, worker, 3) for worker in range(3)]
    assert all(sorted(order) == sorted(files) for order in orders)
    assert len({file for order in orders for file in order[:3]}) == 9


def test_what_goes_to_one_worker_begins() -> None:
    files = ["tests/test_errors.py", f"{TOGETHER[0]}test_messages.py", "tests/test_names.py"]
    items = [SimpleNamespace(nodeid=f"{file}::test_{n}") for file in files for n in range(2)]
    conftest.pytest_collection_modifyitems(cast(list[pytest.Item], items))
    found = [item.nodeid for item in items]
    assert found == [f"{files[i]}::test_{n}" for i in (1, 0, 2) for n in range(2)]
