"""The category of the curator's tutorial is installed by adding its file."""

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from sts.errors import StsError
from sts.suites.suite import Scenario
from sts_lambda_star import categories as lambda_star
from sts_lambda_star.state import TOKENS
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Label
from tests.examples import recorded
from tests.mined import mine
from tests.scenarios.scripted import STAY, continued, episode

PAGE = Path(__file__).resolve().parents[2] / "docs" / "curator.md"


@pytest.fixture
def custom_category(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    block = re.search(r"^```python title=(count_\S+)\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    assert block
    (tmp_path / block[1]).write_text(block[2])
    monkeypatch.setattr(lambda_star, "__path__", [*lambda_star.__path__, str(tmp_path)])
    categories.load_categories.cache_clear()
    yield "count-teammates"
    categories.load_categories.cache_clear()


def test_file_next_to_the_other_categories_is_mined_and_labelled(custom_category):
    assert custom_category in categories.installed_categories()
    category = categories.load_category(custom_category)
    made = recorded("random", count=40, team=4, steps=30)
    found = mine(made, [category], per_category=3, seed=0)
    assert len(found.scenarios) == 3
    for one in found.scenarios:
        assert category.why_invalid(one) is None
        for word, verdict in ((one.parameters["answer"], "success"), ("8", "failure")):
            done = continued(one, [STAY] * 5, [0, TOKENS.index(word), 0, 0, 0])
            label = category.label(done, one.context, one.players, one.parameters)
            assert label == Label(verdict, 2)
    what = episode("stay stay", others=[((0, 1), ""), ((5, 6), "")], utterances=["silence", "2"])
    assert category.label(what, 0, (0,), {"answer": "2"}) == Label("success", 2)


FALLS = """
from sts_scenarios.rules.category import Category

def falls(*given):
    raise RuntimeError("out of order")

FALLS = Category("falls", "instruction", "lambda-star", 5, ("Fall.",), falls, falls, falls)
"""


def test_error_of_an_installed_category_names_it(custom_category, tmp_path):
    (tmp_path / "falls.py").write_text(FALLS)
    category = categories.load_category("falls")
    (trajectory,) = recorded("random", count=1, team=1, steps=20)
    scenario = cast(Scenario, SimpleNamespace(id="falls-01"))
    for call, what in (
        (lambda: category.find_candidates(trajectory), "to find candidates in .*"),
        (lambda: category.label(episode("stay"), 0, (0,), {}), "to label an episode.*"),
        (lambda: category.why_invalid(scenario), "to check whether .* is valid"),
    ):
        with pytest.raises(StsError, match=f"'falls' failed {what}: RuntimeError: out"):
            call()
