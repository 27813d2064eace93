"""By what a continuation is judged: its category's sentence and marks, filled in for a page."""

from __future__ import annotations

import json
import logging
from dataclasses import replace

import pytest

from sts.errors import StsError
from sts.suites.types import Scenario
from sts.viewer.criteria import criterion
from sts_scenarios import categories, mining
from sts_scenarios.category import Category, Overlay, Rubric, spoken_for
from tests.examples import on_test_side, recorded


@pytest.fixture(scope="module")
def scenarios() -> dict[str, Scenario]:
    """One scenario of each of three categories."""
    trajectories = on_test_side(recorded("random", count=60, team=2, seed=7))
    rules = categories.installed(["lambda-star"])
    own = [rules[name] for name in ("return-to-first", "shadow-evil", "where-is-good")]
    mined = mining.mine(trajectories, own, per_category=1, seed=0)
    return {one.category: one for one in mined.scenarios}


def test_a_page_is_told_the_sentence_filled_in_and_what_is_marked(
    scenarios: dict[str, Scenario],
) -> None:
    back = criterion(scenarios["return-to-first"])
    assert back and json.loads(json.dumps(back)) == back
    assert back["cells"] == [scenarios["return-to-first"].parameters["cell"]]
    assert back["sight"] is False and "marked cell" in back["done"] and back["guideline"]
    shadow = criterion(scenarios["shadow-evil"])
    assert shadow and f"{scenarios['shadow-evil'].parameters['steps']} steps" in shadow["done"]


def test_a_category_without_a_rubric_and_one_that_is_not_here_say_nothing(
    scenarios: dict[str, Scenario], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = scenarios["where-is-good"]
    assert criterion(replace(one, category="nobody-knows")) is None
    mute = replace(categories.named("where-is-good"), rubric=None)
    monkeypatch.setattr(categories, "ruling", lambda scenarios: {mute.name: mute})
    assert criterion(one) is None


def _failing(scenario: Scenario) -> Overlay:
    raise ValueError("no such cell")


@pytest.mark.parametrize(
    ("rubric", "why"),
    [
        (Rubric("Done is {nothing}."), "failed to fill in the rubric of"),
        (Rubric("Done.", overlay=_failing), "failed to make the overlay"),
    ],
)
def test_a_rubric_that_fails_blames_its_category_and_the_episode_is_shown_without(
    scenarios: dict[str, Scenario],
    rubric: Rubric,
    why: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    one = scenarios["where-is-good"]
    rule = categories.installed(["lambda-star"])["where-is-good"]
    broken = spoken_for(replace(rule, rubric=rubric))
    with pytest.raises(StsError, match=f"category 'where-is-good' {why}"):
        broken.criterion(one)

    def ruling(scenarios: object) -> dict[str, Category]:
        return {"where-is-good": broken}

    monkeypatch.setattr(categories, "ruling", ruling)
    with caplog.at_level(logging.ERROR):
        assert criterion(one) is None
    assert why in caplog.text
