"""Lints over every scenario of the packaged suite, one by one."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from scenarios import categories, mining
from scenarios.suites import build_starter
from sts import agents
from sts.continuations.takeover import by_shape, continue_all
from sts.episodes import Episode
from sts.storage.workspace import Workspace
from sts.suites import store
from sts.suites.lint import lint
from sts.suites.types import DIFFICULTIES, Scenario
from sts.worlds.lambda_star.agents.instructions import read
from sts.worlds.lambda_star.state import MOVES, TOKENS
from tests.scenarios.solving import STAY, continued, solution

SUITE = store.load(Workspace.open("no-workspace-here"), "starter@1")
EACH = pytest.mark.parametrize("scenario", SUITE.scenarios, ids=lambda s: s.id)
NAMES = sorted(build_starter.CATEGORIES)


def of(category: str) -> list[Scenario]:
    return [s for s in SUITE.scenarios if s.category == category]


def passes(scenario: Scenario, episode: Episode) -> bool:
    label = categories.named(scenario.category).label
    found = label(episode, scenario.takeover, scenario.roles, scenario.parameters)
    return found.verdict == "success"


def pass_rates(agent: str, count: int) -> dict[str, float]:
    made = agents.load(agent)
    hits: dict[str, list[bool]] = {name: [] for name in NAMES}
    by_hash = {s.hash: s for s in SUITE.scenarios}
    for group in by_shape(SUITE.scenarios):
        for one in continue_all(group, made, seed=0, indices=range(count)):
            hits[one.category].append(passes(by_hash[one.scenario_hash], one.episode))
    return {name: float(np.mean(found)) for name, found in hits.items()}


def test_it_holds_ten_scenarios_of_each_of_the_eight_categories() -> None:
    assert Counter(s.category for s in SUITE.scenarios) == dict.fromkeys(NAMES, 10)
    assert Counter(s.kind for s in SUITE.scenarios) == {"instruction": 60, "question": 20}
    assert SUITE.description


def test_it_is_unique_replayable_and_on_the_test_side() -> None:
    assert lint(SUITE.scenarios) == []


def test_no_category_takes_a_world_twice_and_few_worlds_serve_two() -> None:
    for name in NAMES:
        assert len({s.world for s in of(name)}) == 10
    assert len({s.world for s in SUITE.scenarios}) >= 70


@EACH
def test_the_instruction_fits_the_moment(scenario: Scenario) -> None:
    assert categories.named(scenario.category).fits(scenario) is None


@EACH
def test_the_wording_is_the_category_s_and_says_what_the_label_asks(scenario: Scenario) -> None:
    told, asked = read(scenario.instruction.text), scenario.parameters
    assert told.task == scenario.category == scenario.instruction.category
    if "steps" in asked or "cells" in asked:
        assert told.number == asked.get("steps", asked.get("cells"))
    if "direction" in asked:
        assert MOVES[told.move] == asked["direction"]
    if "answer" in asked:
        assert asked["answer"] in TOKENS


@EACH
def test_it_is_asked_in_hindsight_at_takeover_of_one_participant(scenario: Scenario) -> None:
    category = categories.named(scenario.category)
    assert scenario.instruction.given_at == scenario.takeover == 10
    assert scenario.instruction.source == "curator"
    assert (scenario.horizon, scenario.kind) == (category.horizon, category.kind)
    assert scenario.recording.steps == scenario.takeover + scenario.horizon
    assert len(scenario.roles) == 1
    assert scenario.partner == "no-op"
    assert scenario.provenance["source"]


@EACH
def test_it_can_be_done(scenario: Scenario) -> None:
    assert passes(scenario, solution(scenario))


@EACH
def test_doing_nothing_succeeds_at_standing_still_alone(scenario: Scenario) -> None:
    idle = continued(scenario, [STAY] * scenario.horizon, [0] * scenario.horizon)
    assert passes(scenario, idle) == (scenario.category == "stand-still")


@EACH
def test_its_label_reads_nothing_before_takeover(scenario: Scenario) -> None:
    label = categories.named(scenario.category).label
    whole = solution(scenario)
    (takeover,) = mining.states_at(whole, (scenario.takeover,))
    rest = whole.part(takeover, scenario.takeover, whole.steps)
    assert label(rest, 0, scenario.roles, scenario.parameters) == label(
        whole, scenario.takeover, scenario.roles, scenario.parameters
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_category_runs_from_easy_to_hard(name: str) -> None:
    found = Counter(s.difficulty for s in of(name))
    assert all(found[difficulty] >= 3 for difficulty in DIFFICULTIES)


@pytest.mark.parametrize("name", NAMES)
def test_a_category_uses_all_its_wordings(name: str) -> None:
    wordings = categories.named(name).wordings
    forms = [re.sub(r"\\{\w+\\}", r"[\\w -]+", re.escape(wording)) for wording in wordings]
    used = [[form for form in forms if re.fullmatch(form, s.instruction.text)] for s in of(name)]
    assert len(wordings) >= 3
    assert all(len(found) == 1 for found in used)
    assert {found[0] for found in used} == set(forms)


def test_answers_are_balanced() -> None:
    assert Counter(s.parameters["answer"] for s in of("evil-in-sight")) == {"yes": 5, "no": 5}
    directions = Counter(s.parameters["answer"] for s in of("where-is-good"))
    assert set(directions) == set(MOVES)
    assert max(directions.values()) == 2
    ways = Counter(s.parameters["direction"] for s in of("walk"))
    assert len(ways) == 8
    assert max(ways.values()) == 2


def test_sources_and_team_sizes_are_mixed() -> None:
    origins = Counter(s.provenance["source"].partition(" ")[0] for s in SUITE.scenarios)
    assert origins["lambdastar-2016"] >= 10
    assert origins["sts"] >= 40
    assert len({s.recording.participants for s in SUITE.scenarios}) >= 4


def test_moving_at_random_fails_most_of_every_category() -> None:
    rates = pass_rates("random", 10)
    assert max(rates.values()) < 0.4
    assert np.mean(list(rates.values())) < 0.15


def test_following_the_instruction_beats_ignoring_it() -> None:
    told, untold = pass_rates("rule", 4), pass_rates("local-search", 4)
    assert np.mean(list(told.values())) > np.mean(list(untold.values())) + 0.3
    assert min(told.values()) > 0.3
