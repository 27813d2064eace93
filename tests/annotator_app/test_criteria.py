"""The success criterion on a page: the category's sentence and marks, filled in for a scenario."""

from __future__ import annotations

import json
import logging
from dataclasses import replace

import pytest

from sts.errors import StsError
from sts.suites.suite import Scenario
from sts.viewer.criteria import find_criterion
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Overlay, Rubric, name_in_errors
from tests.examples import on_test_side, recorded
from tests.mined import mine

QUESTION = "where-is-good"


@pytest.fixture(scope="module")
def scenarios() -> dict[str, Scenario]:
    """One scenario of each of three categories."""
    trajectories = on_test_side(recorded("random", count=60, team=2, seed=7))
    rules = categories.installed_categories(["lambda-star"])
    own = [rules[name] for name in ("return-to-first", "shadow-evil", QUESTION)]
    mined = mine(trajectories, own, per_category=1, seed=0)
    return {one.category: one for one in mined.scenarios}


def test_criterion_fills_in_the_sentence_and_marks_the_cells(
    scenarios: dict[str, Scenario],
) -> None:
    back = find_criterion(scenarios["return-to-first"])
    assert back and json.loads(json.dumps(back)) == back
    assert back["cells"] == [scenarios["return-to-first"].parameters["cell"]]
    assert back["language"] == "en"
    assert back["sight"] is False and "marked cell" in back["done"] and back["guideline"]
    shadow = find_criterion(scenarios["shadow-evil"])
    assert shadow and f"{scenarios['shadow-evil'].parameters['steps']} steps" in shadow["done"]


def test_criterion_is_missing_without_a_rubric_or_an_installed_category(
    scenarios: dict[str, Scenario], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_criterion(replace(scenarios[QUESTION], category="unknown")) is None
    mute = replace(categories.load_category(QUESTION), rubric=None)
    monkeypatch.setattr(categories, "scenario_categories", lambda scenarios: {mute.name: mute})
    assert find_criterion(scenarios[QUESTION]) is None


def _failing(scenario: Scenario) -> Overlay:
    raise ValueError("no such cell")


@pytest.mark.parametrize(
    ("rubric", "why"),
    [
        (Rubric("Done is {nothing}."), "failed to fill in the rubric of"),
        (Rubric("Done.", overlay=_failing), "failed to make the overlay"),
    ],
)
def test_failing_rubric_blames_its_category_and_leaves_the_episode_visible(
    scenarios: dict[str, Scenario],
    rubric: Rubric,
    why: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken = name_in_errors(
        replace(categories.installed_categories(["lambda-star"])[QUESTION], rubric=rubric)
    )
    with pytest.raises(StsError, match=f"category '{QUESTION}' {why}"):
        broken.criterion(scenarios[QUESTION])
    monkeypatch.setattr(categories, "scenario_categories", lambda scenarios: {QUESTION: broken})
    with caplog.at_level(logging.ERROR):
        assert find_criterion(scenarios[QUESTION]) is None
    assert why in caplog.text
