"""The category that the curator's tutorial writes works by being there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from sts.errors import StsError
from sts.suites.types import Scenario
from sts.worlds.lambda_star.state import TOKENS
from sts_scenarios import categories, mining
from sts_scenarios.categories import lambda_star
from sts_scenarios.category import Label
from tests.examples import recorded
from tests.scenarios.scripted import episode
from tests.scenarios.solving import STAY, continued

PAGE = Path(__file__).resolve().parents[2] / "docs" / "curator.md"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    block = re.search(r"^```python title=(count_\S+)\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    assert block
    (tmp_path / block[1]).write_text(block[2])
    monkeypatch.setattr(lambda_star, "__path__", [*lambda_star.__path__, str(tmp_path)])
    categories.of.cache_clear()
    yield "count-teammates"
    categories.of.cache_clear()


def test_a_file_beside_the_others_is_mined_and_labelled(own: str) -> None:
    assert own in categories.installed()
    category = categories.named(own)
    found = mining.mine(
        recorded("random", count=40, team=4, steps=30), [category], per_category=3, seed=0
    )
    assert len(found.scenarios) == 3
    for scenario in found.scenarios:
        assert category.fits(scenario) is None
        for word, verdict in ((scenario.parameters["answer"], "success"), ("8", "failure")):
            says = [0, TOKENS.index(word), 0, 0, 0]
            done = continued(scenario, [STAY] * 5, says)
            label = category.label(done, scenario.takeover, scenario.roles, scenario.parameters)
            assert label == Label(verdict, 2)


def test_its_label_is_worked_by_hand(own: str) -> None:
    what = episode("stay stay", others=[((0, 1), ""), ((5, 6), "")], says=["silence", "2"])
    assert categories.named(own).label(what, 0, (0,), {"answer": "2"}) == Label("success", 2)


FALLS = """
from sts_scenarios.category import Category

def falls(*given):
    raise RuntimeError("out of order")

FALLS = Category("falls", "instruction", "lambda-star", 5, ("Fall.",), falls, falls, falls)
"""


def test_an_installed_category_that_fails_is_one_line(own: str, tmp_path: Path) -> None:
    (tmp_path / "falls.py").write_text(FALLS)
    category = categories.named("falls")
    (trajectory,) = recorded("random", count=1, team=1, steps=20)
    what = episode("stay")
    with pytest.raises(
        StsError, match="'falls' failed to find candidates in .*: RuntimeError: out"
    ):
        category.moments(trajectory)
    with pytest.raises(StsError, match="'falls' failed to label an episode.*: RuntimeError: out"):
        category.label(what, 0, (0,), {})
    with pytest.raises(StsError, match="'falls' failed to check whether .* is valid: RuntimeError"):
        category.fits(cast(Scenario, SimpleNamespace(id="falls-01")))
