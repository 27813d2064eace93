"""What the sixteen categories propose: it fits, and is done by its probe and by no shortcut."""

from __future__ import annotations

import dataclasses
import itertools
from functools import partial
from typing import Any

import numpy as np
import pytest

from sts import agents
from sts.continuations.takeover import continue_all
from sts.episodes import Episode
from sts.errors import ArgumentError
from sts.suites.types import Scenario, pairs
from sts.trajectories.types import Trajectory
from sts.worlds.lambda_star.state import TOKENS
from sts_scenarios import categories, gates, mining
from sts_scenarios.categories.lambda_star import clean_take, evade_evil, playing
from sts_scenarios.categories.lambda_star.tracks import label_no_miss, make_track
from sts_scenarios.category import CONTEXT, Candidate, Category, Controls, Label
from sts_scenarios.fitting import fault
from sts_scenarios.mining.chance import pass_rate
from sts_scenarios.profiles import Profile
from tests.examples import on_test_side, recorded
from tests.reproduction.suites import pools
from tests.scenarios.scripted import episode
from tests.scenarios.test_moments import cut

RULES = {c.name: c for c in categories.of("lambda-star")}
NAMES = [
    name for name, c in RULES.items() if not c.superseded and not c.partner.startswith("agent:")
]
PAIRS = ["beside-or-leave", "evade-or-shadow"]
EACH = pytest.mark.parametrize("name", NAMES)
FEW, MANY = 3, 4


@pytest.fixture(scope="module")
def trajectories() -> list[Trajectory]:
    size = {"steps": 40, "height": 10, "width": 10}
    return on_test_side(
        [
            *recorded("random", count=250, team=2, seed=1, **size),
            *recorded("stigmergy", count=60, team=4, seed=2, **size),
            *recorded("local-search", count=20, team=6, seed=3, **size),
        ]
    )


@pytest.fixture(scope="module")
def proposed(trajectories: list[Trajectory]) -> dict[str, list[Scenario]]:
    """Return up to MANY scenarios of each category, the first that it proposes, of several."""
    out: dict[str, list[Scenario]] = {}
    for name in NAMES:
        rule = RULES[name]
        spread = (mining.Pick(t, c) for t in trajectories for c in _spread(rule.moments(t)))
        some = [*itertools.islice(spread, MANY)]
        text = [mining.making.fill_template(rule, one, n) for n, one in enumerate(some)]
        out[name] = [
            mining.make_scenario(rule, one, id=f"{name}-{n}", text=text[n], seed=0)
            for n, one in enumerate(some)
        ]
    return out


def _spread(candidates: list[Candidate]) -> list[Candidate]:
    """Return three of the candidates of one trajectory at most."""
    return candidates[:: max(1, len(candidates) // 2)]


def verdict(scenario: Scenario, what: Episode) -> str:
    rule = RULES[scenario.category]
    return rule.label(what, scenario.takeover, scenario.roles, scenario.parameters).verdict


def played(scenario: Scenario, agent: agents.Agent) -> Episode:
    return continue_all([scenario], agent, seed=0, indices=[0])[0].episode


def test_there_are_sixteen_of_them_and_each_says_how_it_is_judged_and_tested() -> None:
    assert len({*NAMES} - {*PAIRS}) == 16 and {*PAIRS} < {*NAMES}
    for name in NAMES:
        rule = RULES[name]
        assert len(rule.wordings) >= 3
        assert rule.rubric and rule.rubric.done.endswith(".") and rule.rubric.guideline
        assert rule.controls and rule.controls.probe and rule.controls.shortcut
        assert (rule.kind == "question") == bool(rule.controls.answers)
        assert set(rule.controls.answers) <= set(TOKENS)


@EACH
def test_what_is_proposed_fits(name: str, proposed: dict[str, list[Scenario]]) -> None:
    assert FEW <= len(proposed[name]) <= MANY
    assert {fault(one, RULES) for one in proposed[name]} == {None}


@EACH
def test_its_rubric_and_overlay_are_filled_for_every_scenario(
    name: str, proposed: dict[str, list[Scenario]]
) -> None:
    rule = RULES[name]
    assert rule.rubric
    for one in proposed[name]:
        words = rule.words(one) if rule.words else {}
        said = rule.rubric.done.format(**{field: word.text for field, word in words.items()})
        assert "{" not in said
        if rule.rubric.overlay:
            overlay = rule.rubric.overlay(one)
            size = make_track(one.recording, 0).size
            assert overlay.sight or overlay.cells
            assert all(0 <= cell < size.height * size.width for cell in overlay.cells)


@EACH
def test_the_probe_does_it_and_waiting_in_silence_does_not(
    name: str, proposed: dict[str, list[Scenario]]
) -> None:
    rule = RULES[name]
    assert rule.controls and rule.controls.probe
    probe, idle = rule.controls.probe, playing.PolicyAgent()
    assert {verdict(one, played(one, probe)) for one in proposed[name]} == {"success"}
    assert "success" not in [verdict(one, played(one, idle)) for one in proposed[name]]


def test_clean_take_is_not_had_by_going_wherever_reward_is_expected(
    proposed: dict[str, list[Scenario]],
) -> None:
    greedy = playing.make_mover(clean_take._maximise_reward)
    assert "success" not in {verdict(one, played(one, greedy)) for one in proposed["clean-take"]}


WATCHED = [(2, 5), (3, 5), (2, 4), (4, 4), (2, 5), (3, 4), (3, 5), (3, 4), (3, 4), (3, 3), (3, 3)]
"""Where Good was seen from (3, 4): at last it stays and goes left, twice."""
AS_FORESEEN = [(3, 2), (3, 2), (3, 1), (3, 1), (3, 0), (3, 0), (3, 6)]
LUCKY = [(2, 2), (1, 1), (0, 0), (1, 6), (2, 6), (3, 6), (3, 6)]
"""Comes to the cell that was foreseen, too, but another way."""


@pytest.mark.parametrize(("way", "count"), [(AS_FORESEEN, 1), (LUCKY, 0)])
def test_an_ambush_is_asked_for_where_good_goes_on_as_was_foreseen(
    way: list[tuple[int, int]], count: int
) -> None:
    path = [*WATCHED, *way, *[(0, 0)] * 8]
    what = episode("stay " * (len(path) - 1), start=(3, 4), good=path, evil=[(0, 3)])
    one = dataclasses.replace(recorded("random", count=1)[0], episode=what)
    assert len(RULES["ambush"].moments(one)) == count


@EACH
def test_its_rule_reads_nothing_before_takeover(
    name: str, proposed: dict[str, list[Scenario]]
) -> None:
    rule = RULES[name]
    assert rule.controls and rule.controls.probe
    for one in proposed[name]:
        for agent in (rule.controls.probe, agents.load("random")):
            whole = played(one, agent)
            (takeover,) = mining.states_at(whole, (one.takeover,))
            rest = whole.part(takeover, one.takeover, whole.steps)
            assert rule.label(rest, 0, one.roles, one.parameters) == rule.label(
                whole, one.takeover, one.roles, one.parameters
            )


@EACH
def test_what_is_imagined_is_what_is_played(name: str, proposed: dict[str, list[Scenario]]) -> None:
    rule = RULES[name]
    assert rule.controls and isinstance(rule.controls.probe, playing.PolicyAgent)
    policy = rule.controls.probe.move
    if policy is None:
        return
    for one in proposed[name]:
        own = make_track(one.recording, one.roles[0])
        lengths = (one.takeover, one.takeover, one.horizon)
        text = one.instruction.text
        told = partial(lambda text, seen: policy(seen._replace(instruction=text)), text)
        thought = playing.simulate(own, *lengths, told, one.partner)
        done = played(one, rule.controls.probe)
        assert (thought.scene == done.scene[one.takeover :]).all()


@EACH
def test_a_probe_looks_at_nothing_but_what_was_in_sight(
    name: str, proposed: dict[str, list[Scenario]]
) -> None:
    """Good and Evil are moved about where nobody sees them, and it decides as before."""
    rule = RULES[name]
    assert rule.controls and isinstance(rule.controls.probe, playing.PolicyAgent)
    probe = rule.controls.probe
    decide: Any = probe.move or probe.say
    for one in proposed[name]:
        own = make_track(one.recording, one.roles[0])
        scene = one.recording.scene.copy()
        far = (own.me + 5 * own.size.width) % (own.size.width * own.size.height)
        for which, away in enumerate((own.to_good, own.to_evil)):
            scene[:, which] = np.where(away <= 1, scene[:, which], far)
        other = dataclasses.replace(one.recording, scene=scene)
        seen = [
            playing.history_at(make_track(what, one.roles[0]), one.takeover, one.takeover)
            for what in (one.recording, other)
        ]
        assert seen[0] == seen[1]
        told = [past._replace(instruction=one.instruction.text) for past in seen]
        assert decide(told[0]) == decide(told[1])


ALONE = episode("right " * CONTEXT, start=(0, 0), good=[(3, 3)], evil=[(3, 6)])
ON = episode("stay " * CONTEXT, start=(3, 3), good=[(3, 3)], evil=[(2, 3), (3, 2)])


@pytest.mark.parametrize(
    ("what", "category", "parameters", "expected"),
    [
        (ALONE, "evade-evil", {}, "not 2 cells away"),
        (ALONE, "shadow-evil", {"steps": 4}, "not in sight"),
        (ON, "shadow-evil", {"steps": 9}, "a horizon of at least 9 steps"),
        (ON, "keep-beside", {}, "not next to Good"),
        (ALONE, "clean-take", {}, "Good was not in sight"),
        (ON, "clean-take", {}, "already on Good"),
        (ON, "hold-until-evil", {"steps": 4}, "already in sight"),
        (ALONE, "return-to-first", {"cell": 0}, "not first in sight 4"),
        (ON, "return-to-first", {"cell": 0}, "not 2 to 5 cells away"),
        (ON, "find-good-again", {}, "not lost 2 to 5"),
        (ALONE, "ambush", {"steps": 3}, "not in sight"),
        (ON, "ambush", {"steps": 3}, "already on Good"),
        (ALONE, "follow-mate", {"target": 1, "steps": 4}, "this teammate does not exist"),
        (ALONE, "good-apart", {"steps": 4}, "Good is not in sight"),
        (ON, "good-apart", {"steps": 4}, "no other player"),
        (ALONE, "next-move", {"answer": "up"}, "not been seen to repeat"),
        (ON, "last-move", {"answer": "up"}, "the answer is stay"),
        (ALONE, "last-move", {"answer": "up"}, "not in sight"),
        (ON, "evil-from-good", {"answer": "down"}, "the answer is up"),
        (ALONE, "when-evil", {"answer": "3"}, "never in sight"),
        (ON, "when-evil", {"answer": "3"}, "the answer is 0"),
        (ON, "where-was-evil", {"answer": "up"}, "not last in sight 2 to 8"),
        (ALONE, "count-others", {"answer": "3"}, "the answer is 0"),
    ],
)
def test_what_does_not_fit_says_why(
    what: Episode, category: str, parameters: dict[str, object], expected: str
) -> None:
    said = RULES[category].fits(cut(what, category, **parameters))
    assert said is not None and expected in said


def test_superseded_categories_are_mined_by_name_alone() -> None:
    from sts_scenarios.mining.order import Order, load_categories

    assert {c.name for c in load_categories(Order(), ("lambda-star",))} == {*NAMES, "catch-mate"}
    assert [c.name for c in load_categories(Order(("where-is-good",)), ("lambda-star",))] == [
        "where-is-good"
    ]


@pytest.mark.parametrize("name", PAIRS)
def test_both_halves_of_a_pair_are_mined_and_done_is_who_does_both(
    name: str, trajectories: list[Trajectory]
) -> None:
    rule = RULES[name]
    assert rule.controls and isinstance(rule.controls.probe, playing.PolicyAgent)
    scenarios = mining.mine(trajectories, [rule], per_category=3, seed=0).scenarios
    assert len(scenarios) == 6
    asked = sorted({one.parameters["asked"] for one in scenarios})
    for halves in pairs(scenarios).values():
        assert sorted(one.parameters["asked"] for one in halves) == asked
        assert len({one.takeover_hash for one in halves}) == 1
    own, half = rule.controls.probe, playing.PolicyAgent(move=evade_evil.flee)
    both = {n: pass_rate(rule, scenarios, a, continuations=1) for n, a in (("p", own), ("h", half))}
    alone = [dataclasses.replace(one, pair="") for one in scenarios]
    assert both == {"p": 1.0, "h": 0.0}
    if name == "evade-or-shadow":
        assert pass_rate(rule, alone, half, continuations=1) == 0.5


# gates


def with_controls(name: str, **controls: Any) -> Category:
    return dataclasses.replace(RULES[name], controls=Controls(**controls))


def row(rows: list[gates.Gate], name: str) -> gates.Gate:
    (one,) = (one for one in rows if one.name == name)
    return one


def standing_still(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    me = make_track(episode, roles[0]).me
    return label_no_miss(me[takeover + 1 :] != me[takeover])


def test_what_is_done_with_closed_eyes_does_not_pass_the_gates(
    trajectories: list[Trajectory],
) -> None:
    still = dataclasses.replace(
        with_controls("keep-beside", shortcut=playing.PolicyAgent(), against_reward=True),
        name="stand-still",
        label=standing_still,
    )
    pool = pools.pool(still, trajectories, 20)
    rows = gates.of_pool(still, pool, continuations=2)
    assert row(rows, "open loop") == ("stand-still", "open loop", 1.0, gates.MAX_OPEN_LOOP, False)
    assert not row(rows, "open loop").held
    assert row(rows, "local-search").limit == gates.REWARD
    assert "probe" not in {one.name for one in rows}
    assert gates.of_pool(RULES["where-is-good"], pool) == []


def test_a_probe_is_held_to_the_least_and_answers_to_their_share(
    trajectories: list[Trajectory],
) -> None:
    rule = RULES["when-evil"]
    pool = pools.pool(rule, trajectories[:40], 40)
    rows = gates.of_pool(rule, pool, continuations=1)
    assert all(one.held for one in rows)
    assert row(rows, "probe") == ("when-evil", "probe", 1.0, 0.9, True)
    assert row(rows, "open loop").limit == pytest.approx(1.3 / 9)
    (balance,) = gates.of_suite(pool, RULES)
    assert balance.held and balance.limit == 5
    assert not row(gates.of_suite(pool[:3] * 2, RULES), "scenarios of one answer").held
    assert not gates.Gate("c", "probe", 0.89, 0.9, least=True).held


def test_scenarios_that_tell_nobody_apart_do_not_pass_the_gates(
    proposed: dict[str, list[Scenario]],
) -> None:
    def profile(one: Scenario, *passed: int) -> Profile:
        done, not_done = ("success", 1), ("not_done", None)
        labels = {
            f"agent-{n}": tuple(Label(*w) for w in [done] * k + [not_done] * (4 - k))
            for n, k in enumerate(passed)
        }
        return Profile(one.hash, labels)

    difficulties = ("easy", "easy", "hard", "hard")
    four = [
        dataclasses.replace(one, difficulty=d)
        for one, d in zip(proposed["evade-evil"], difficulties, strict=False)
    ]
    apart = [profile(one, k, 2) for one, k in zip(four, (4, 3, 1, 0), strict=True)]
    rows = gates.of_suite(four, RULES, apart)
    assert [one.held for one in rows] == [True] * len(rows)
    assert row(rows, "easiest less hardest").figure == pytest.approx(0.375)
    same = [profile(one, k, k) for one, k in zip(four, (4, 0, 4, 4), strict=True)]
    rows = gates.of_suite(four, RULES, same)
    assert row(rows, "passed by all or none").figure == 4
    assert row(rows, "pairs of one profile").figure == pytest.approx(0.5)
    assert not row(rows, "easiest less hardest").held


def test_a_limit_is_not_loosened_without_a_reason() -> None:
    with pytest.raises(ArgumentError, match="set why"):
        Controls(open_loop=0.9)
    with pytest.raises(ArgumentError, match="set why"):
        Controls(probe_least=0.1)
