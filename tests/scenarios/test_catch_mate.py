"""Category catch-mate, whose partner reacts to the evaluated player."""

import dataclasses

import numpy as np
import pytest

from sts import agents
from sts.continuations.takeover import continue_all, is_deterministic
from sts.domains import load_domain
from sts.episodes import Episode
from sts.suites.suite import Scenario
from sts_lambda_star.categories import policies
from sts_lambda_star.categories.tracks import FIRST_PLAYER, distances, read_grid
from sts_scenarios.rules import categories, quality_checks
from sts_scenarios.rules.category import CONTEXT
from sts_scenarios.rules.chance import OpenLoopAgent, compute_pass_rate
from sts_scenarios.rules.validity import find_fault
from tests.examples import on_test_side, recorded
from tests.reproduction.suites import pools
from tests.scenarios.scripted import cut, episode

RULE = categories.load_category("catch-mate")
Pool = tuple[Scenario, ...]


@pytest.fixture(scope="module")
def pool() -> Pool:
    played = recorded("random", count=80, seed=1, team=2, steps=40, height=10, width=10)
    return pools.pool(RULE, on_test_side(played), 24)


@pytest.fixture(scope="module")
def easy(pool: Pool) -> Scenario:
    return next(one for one in pool if one.difficulty == "easy")


def play(scenario: Scenario, agent: agents.Agent, index: int = 0) -> Episode:
    return continue_all([scenario], agent, seed=0, indices=[index])[0].episode


def measure_distances(what: Episode, takeover: int) -> np.ndarray:
    scene = what.scene[takeover:].astype(int)
    return distances(scene[:, FIRST_PLAYER], scene[:, FIRST_PLAYER + 1], read_grid(what.state))


def test_proposed_scenarios_fit_from_easy_to_hard_and_hold_the_gates(pool):
    assert {one.partner for one in pool} == {"agent:fugitive"}
    assert {one.recording.n_players for one in pool} == {2}
    assert len({one.difficulty for one in pool}) == 3
    assert len({one.instruction.text for one in pool}) >= 3
    for one in pool:
        assert find_fault(one, {RULE.name: RULE}) is None
        away = int(measure_distances(one.recording, one.context)[0])
        assert {1: "easy", 2: "medium", 3: "hard", 4: "hard"}[away] == one.difficulty
    assert [
        one
        for one in quality_checks.check_category(RULE, pool, continuations=4)
        if not one.is_passed
    ] == []


def test_teammate_stands_until_it_sees_the_player_and_then_flees(pool):
    assert RULE.controls and RULE.controls.solver
    for one in pool:
        mate = FIRST_PLAYER + one.parameters["target"]
        idle = play(one, policies.PolicyAgent())
        near = measure_distances(idle, one.context)[:-1] <= 1
        actions = np.diff(idle.scene[one.context :, mate].astype(int)) != 0
        assert not actions[~near].any()
        assert actions.any() == (one.difficulty == "easy")
        caught = play(one, RULE.controls.solver)
        step = RULE.label(caught, one.context, one.players, one.parameters).step
        assert step is not None and (np.diff(caught.scene[one.context :, mate]) != 0).sum() >= 2


def test_flight_depends_on_the_side_from_which_the_player_comes(easy):
    mate = FIRST_PLAYER + easy.parameters["target"]
    walkers = [OpenLoopAgent(load_domain("lambda-star"), [way], [0]) for way in range(9)]
    paths = {tuple(play(easy, walker).scene[easy.context :, mate]) for walker in walkers}
    assert len(paths) > 3


def test_random_partner_makes_continuations_differ_by_index(easy):
    idle = policies.PolicyAgent()
    assert not is_deterministic(idle, RULE.partner)
    assert len({tuple(play(easy, idle, n).scene[-1]) for n in range(6)}) > 1
    assert (play(easy, idle, 3).scene == play(easy, idle, 3).scene).all()


@pytest.mark.landing
def test_reader_passes_where_reward_seeker_and_shortcut_do_not(pool):
    assert RULE.controls and RULE.controls.shortcut
    players = (agents.load("reader"), agents.load("local-search"), RULE.controls.shortcut)
    rates = [compute_pass_rate(RULE, pool, agent, continuations=4) for agent in players]
    assert rates[0] > 0.4 > 0.15 > max(rates[1:])


AWAY = episode("right " * CONTEXT, others=[((3, 3), "")])
LOST = episode("stay " * CONTEXT, others=[((0, 1), "stay " * 8 + "right " * 2)])
THREE = episode("stay " * CONTEXT, others=[((0, 1), ""), ((4, 4), "")])


@pytest.mark.parametrize(
    ("what", "partner", "expected"),
    [
        (THREE, "no-op", "not played by an agent that runs away"),
        (AWAY, RULE.partner, "not in sight in the last 3 steps"),
        (LOST, RULE.partner, "not near where it was"),
        (THREE, RULE.partner, "more than one teammate"),
    ],
)
def test_unfit_catch_mate_scenario_is_rejected_with_its_reason(what, partner, expected):
    reason = RULE.why_invalid(dataclasses.replace(cut(what, RULE.name, target=1), partner=partner))
    assert reason is not None and expected in reason
