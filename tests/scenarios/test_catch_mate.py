"""catch-mate: what the partner does depends on what whoever is asked does."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from sts import agents
from sts.continuations.takeover import continue_all, is_deterministic
from sts.domains import domain
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts_scenarios import categories, gates
from sts_scenarios.categories.lambda_star import playing
from sts_scenarios.categories.lambda_star.tracks import FIRST_PLAYER, distances, read_grid
from sts_scenarios.category import CONTEXT
from sts_scenarios.fitting import fault
from sts_scenarios.mining.chance import OpenLoopAgent, pass_rate
from tests.examples import on_test_side, recorded
from tests.reproduction.suites import pools
from tests.scenarios.scripted import episode
from tests.scenarios.test_moments import cut

RULE = categories.named("catch-mate")


@pytest.fixture(scope="module")
def pool() -> tuple[Scenario, ...]:
    size = {"team": 2, "steps": 40, "height": 10, "width": 10}
    played = [*recorded("random", count=80, seed=1, **size)]
    return pools.pool(RULE, on_test_side(played), 24)


def continued(scenario: Scenario, agent: agents.Agent, index: int = 0) -> Episode:
    return continue_all([scenario], agent, seed=0, indices=[index])[0].episode


def apart(what: Episode, takeover: int) -> np.ndarray:
    scene = what.scene[takeover:].astype(int)
    return distances(scene[:, FIRST_PLAYER], scene[:, FIRST_PLAYER + 1], read_grid(what.state))


def test_what_is_proposed_fits_and_runs_from_easy_to_hard(pool: tuple[Scenario, ...]) -> None:
    assert [fault(one, {RULE.name: RULE}) for one in pool] == [None] * len(pool)
    assert len({one.difficulty for one in pool}) == 3
    assert len({one.instruction.text for one in pool}) >= 3
    for one in pool:
        away = apart(one.recording, one.takeover)[0]
        assert (away == 1, away == 2, away in (3, 4)).index(True) == (
            "easy",
            "medium",
            "hard",
        ).index(one.difficulty)


def test_it_passes_the_gates(pool: tuple[Scenario, ...]) -> None:
    assert [one for one in gates.of_pool(RULE, pool, continuations=4) if not one.held] == []


def test_the_team_mate_stands_until_it_sees_somebody_and_then_flees(
    pool: tuple[Scenario, ...],
) -> None:
    assert RULE.controls and RULE.controls.probe
    for one in pool:
        mate = FIRST_PLAYER + one.parameters["target"]
        idle = continued(one, playing.PolicyAgent())
        near = apart(idle, one.takeover)[:-1] <= 1
        moves = np.diff(idle.scene[one.takeover :, mate].astype(int)) != 0
        assert not moves[~near].any()
        assert moves.any() == (one.difficulty == "easy")
        caught = continued(one, RULE.controls.probe)
        step = RULE.label(caught, one.takeover, one.roles, one.parameters).step
        assert step is not None and (np.diff(caught.scene[one.takeover :, mate]) != 0).sum() >= 2


def test_whoever_comes_from_another_side_meets_another_flight(pool: tuple[Scenario, ...]) -> None:
    one = next(one for one in pool if one.difficulty == "easy")
    mate = FIRST_PLAYER + one.parameters["target"]
    walkers = [OpenLoopAgent(domain("lambda-star"), [way], [0]) for way in range(9)]
    paths = {tuple(continued(one, walker).scene[one.takeover :, mate]) for walker in walkers}
    assert len(paths) > 3


def test_its_partner_draws_so_nobody_always_ends_alike(pool: tuple[Scenario, ...]) -> None:
    assert not is_deterministic(playing.PolicyAgent(), RULE.partner)
    one = next(one for one in pool if one.difficulty == "easy")
    ends = {tuple(continued(one, playing.PolicyAgent(), n).scene[-1]) for n in range(6)}
    assert len(ends) > 1
    again = continued(one, playing.PolicyAgent(), 3)
    assert (again.scene == continued(one, playing.PolicyAgent(), 3).scene).all()


def test_a_reader_catches_it_and_the_shortcut_does_not(pool: tuple[Scenario, ...]) -> None:
    assert RULE.controls and RULE.controls.shortcut
    reader, floor = agents.load("reader"), agents.load("local-search")
    rates = [
        pass_rate(RULE, pool, agent, continuations=4)
        for agent in (reader, floor, RULE.controls.shortcut)
    ]
    assert rates[0] > 0.4 > 0.15 > max(rates[1:])


AWAY = episode("right " * CONTEXT, start=(0, 0), others=[((3, 3), "")])
LOST = episode("stay " * CONTEXT, start=(0, 0), others=[((0, 1), "stay " * 8 + "right " * 2)])
THREE = episode("stay " * CONTEXT, start=(0, 0), others=[((0, 1), ""), ((4, 4), "")])


@pytest.mark.parametrize(
    ("what", "partner", "expected"),
    [
        (THREE, "no-op", "not played by an agent that runs away"),
        (AWAY, RULE.partner, "not in sight in the last 3 steps"),
        (LOST, RULE.partner, "not near where it was"),
        (THREE, RULE.partner, "more than one teammate"),
    ],
)
def test_what_does_not_fit_says_why(what: Episode, partner: str, expected: str) -> None:
    scenario = dataclasses.replace(cut(what, RULE.name, target=1), partner=partner)
    said = RULE.fits(scenario)
    assert said is not None and expected in said


def test_it_is_mined_with_its_partner(pool: tuple[Scenario, ...]) -> None:
    assert {one.partner for one in pool} == {"agent:fugitive"}
    assert {one.recording.participants for one in pool} == {2}
