import dataclasses
import importlib
import re
import subprocess
import sys
from typing import cast

import numpy as np
import pytest

from sts import agents
from sts.continuations.takeover import continue_all, group_by_shape
from sts.episodes import Episode
from sts.suites.lint import find_field_faults, lint_scenarios
from sts_overcooked.agents.greedy import classify_task
from sts_overcooked.categories import fill_pot, hand_over, make_way, plate_soup
from sts_overcooked.categories.snapshots import (
    CONTEXT,
    Snapshot,
    grade_difficulty,
    reachable_places,
    replay_snapshots,
)
from sts_scenarios.draft.freezing import find_category_faults
from sts_scenarios.mining import Pick, make_scenario
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Label
from sts_scenarios.rules.validity import is_checked
from tests.mined import mine

SKILLS = {
    "deliver-soup": "deliver",
    "fetch-dish": "dish",
    "fill-pot": "pot",
    "hand-over": "hand-over",
    "make-way": "way",
    "plate-soup": "plate",
    "pot-onion": "pot",
}
NAMES = (*SKILLS,)
MODULES = "sts_overcooked.categories"
LATER = (
    *("deliver-after", "deliver-or-lay", "fuller-or-emptier", "same-pot", "take-laid"),
    "way-or-stay",
)
GRID = ("XXPXX", "O  XO", "X1X2X", "XDXSX")


def load_kitchen_categories():
    return [categories.load_category(name) for name in NAMES]


def moment(**changes):
    players = [[1, 1, 0, -1, None], [3, 2, 0, -1, None]]
    return Snapshot(GRID, players, {}, ())._replace(**changes)


@pytest.fixture(scope="module")
def moments(recorded):
    """Where each category asks for something, with the trajectory."""
    return {
        name: [
            (t, list(categories.load_category(name).find_candidates(t))) for t in recorded.values()
        ]
        for name in NAMES
    }


@pytest.fixture(scope="module")
def mined(recorded):
    return mine(recorded.values(), load_kitchen_categories(), per_category=3, seed=0)


def test_categories_are_listed_without_the_package():
    own = [c for c in categories.installed_categories().values() if c.domain == "overcooked"]
    assert [c.name for c in own] == sorted((*NAMES, *LATER))
    assert {c.name for c in own if c.superseded} == {*NAMES} - {"hand-over", "make-way"}
    code = (
        "import sys; sys.modules['overcooked_ai_py'] = None\n"
        "from sts_scenarios.rules import categories\n"
        "every = categories.installed_categories().values()\n"
        "print(*(c.name for c in every if c.domain == 'overcooked'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == sorted((*NAMES, *LATER))


@pytest.mark.parametrize("name", NAMES)
def test_proposed_candidate_was_done_in_the_recording_within_the_horizon(name, moments):
    category, checked = categories.load_category(name), 0
    for trajectory, candidates in moments[name]:
        for n, candidate in enumerate(candidates):
            assert CONTEXT <= candidate.step <= trajectory.episode.steps - category.horizon
            if category.superseded:
                lead = importlib.import_module(f"{MODULES}.{name.replace('-', '_')}").MAX_LEAD
                player = (candidate.player,)
                took = category.label(trajectory.episode, candidate.step, player, {}).step
                assert took is not None and candidate.difficulty == grade_difficulty(took, lead)
            if n < 2:
                made = make_scenario(
                    category, Pick(trajectory, candidate), id="x", text="x", seed=0
                )
                done = category.label(made.recording, CONTEXT, made.players, made.parameters)
                assert done.verdict == "success" and done.step is not None
                assert 1 <= done.step <= category.horizon
                assert category.why_invalid(made) is None
                checked += 1
    assert checked


def test_mined_scenarios_are_sound_and_keep_the_notes_of_their_source(mined):
    assert len(mined.scenarios) > 2 * len(NAMES) and lint_scenarios(mined.scenarios) == []
    assert {s.partner for s in mined.scenarios} == {"replay"}
    assert {s.provenance["split"] for s in mined.scenarios} == {"test"}
    assert all("16 of the 17" in s.provenance["notes"][0] for s in mined.scenarios)


def test_rule_is_used_for_the_right_thing_and_hat_only(mined):
    assert find_category_faults(mined.scenarios) == []
    rules = {rule.name: rule for rule in load_kitchen_categories()}
    for s in mined.scenarios:
        assert is_checked(s, rules)
        other = "green" if s.players == (0,) else "blue"
        said = s.instruction.text
        wrong = {other: "blue" if other == "green" else "green", "onion": "dish", "dish": "onion"}
        for word in wrong.keys() & set(re.findall(r"\w+", said)):
            text = re.sub(rf"\b{word}\b", wrong[word], said)
            changed = dataclasses.replace(s.instruction, text=text)
            assert not is_checked(dataclasses.replace(s, instruction=changed), rules), text


def test_every_scenario_has_a_filled_success_criterion(mined):
    told: dict[str, set[str]] = {}
    for one in mined.scenarios:
        found = categories.scenario_criterion(one)
        assert found is not None
        assert found.success_criterion.endswith(".") and found.edge_cases.endswith("."), (
            one.category
        )
        assert "{" not in found.success_criterion + found.edge_cases
        told.setdefault(one.category, set()).add(found.success_criterion)
    assert {*told} == {*NAMES}
    assert all(" a dish " in one or " an onion " in one for one in told["hand-over"])


def test_train_side_recordings_are_never_mined_nor_sound(recorded, mined):
    def on_train_side(one):
        return dataclasses.replace(one, provenance=one.provenance | {"split": "train"})

    turned = list(map(on_train_side, recorded.values()))
    assert mine(turned, load_kitchen_categories(), per_category=3, seed=0).scenarios == ()
    assert find_field_faults(on_train_side(mined.scenarios[0])) == [
        "its world is of the train split"
    ]


def test_standing_cook_passes_nothing_and_a_planner_most(mined):
    rates = {}
    for name in ("overcooked-stay", "overcooked-greedy"):
        verdicts = []
        for group in group_by_shape(mined.scenarios):
            for one in continue_all(group, agents.load(name), seed=0, indices=[0]):
                s = next(s for s in group if s.id == one.scenario_id)
                rule = categories.load_category(s.category).label
                verdicts.append(rule(one.episode, s.context, s.players, s.parameters).verdict)
        rates[name] = np.mean([v == "success" for v in verdicts])
    assert rates["overcooked-stay"] == 0 and rates["overcooked-greedy"] > 0.7


@pytest.mark.parametrize("name", NAMES)
def test_planner_understands_every_instruction_template(name):
    for text in categories.load_category(name).templates:
        words = {"a": "an onion", "other": "green", "you": "blue"}
        assert classify_task(text.format(**words)) == SKILLS[name], text


def test_soup_is_filled_or_plated_by_the_cook_whose_event_it_is():
    pot = (2, 0)
    events = ((0, "potting_onion", pot), (1, "potting_onion", pot))
    after = moment(objects={pot: ["soup", ["onion"] * 3, 1]}, events=events)
    begun = after._replace(objects={pot: ["soup", ["onion"] * 2, -1]})
    filled = [fill_pot.is_done(line, cook) for line in (after, begun) for cook in (0, 1)]
    assert filled == [False, True, False, False], "of two onions in one step the later one counts"
    lines = [moment(events=((0, "soup_pickup", place),)) for place in (pot, (0, 0))]
    plated = [plate_soup.is_done(line, cook) for line in lines for cook in (0, 1)]
    assert plated == [True, False, False, False], "a soup from a counter is not one from a pot"


ONION, DROP = {"thing": "onion"}, (0, "onion_drop", (2, 2))


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ([DROP], Label("success", 1)),
        ([DROP, (0, "onion_pickup", (2, 2))], Label("not_done", None)),
        ([DROP, (1, "onion_pickup", (2, 2))], Label("success", 1)),
        ([DROP, (0, "onion_pickup", (2, 2)), DROP], Label("success", 3)),
        ([DROP, (0, "onion_drop", (4, 2)), (1, "onion_pickup", (4, 2))], Label("success", 1)),
        ([(0, "onion_drop", (0, 2))], Label("not_done", None)),
        ([(1, "onion_drop", (2, 2))], Label("not_done", None)),
        ([(0, "dish_drop", (2, 2))], Label("not_done", None)),
    ],
)
def test_handed_over_means_laid_within_reach_and_not_taken_back(monkeypatch, events, found):
    line = (moment(), *(moment(events=(event,)) for event in events))
    monkeypatch.setattr(hand_over, "replay_snapshots", lambda episode: line)
    assert hand_over.label_hand_over(cast(Episode, None), 0, (0,), ONION) == found


def test_way_is_asked_for_a_recorded_partner_only(mined):
    one = next(s for s in mined.scenarios if s.category == "make-way")
    why_invalid = categories.load_category("make-way").why_invalid
    assert why_invalid(one) is None
    for partner in ("no-op", "agent:overcooked-greedy"):
        assert "recorded person" in (why_invalid(dataclasses.replace(one, partner=partner)) or "")


def test_cook_reaches_only_the_borders_of_their_part_of_the_kitchen():
    left, right = reachable_places(moment(), 0), reachable_places(moment(), 1)
    assert (0, 1) in left - right and (4, 2) in right - left and (2, 2) in left & right


def test_timeline_starts_without_events_and_holds_every_delivery(recorded):
    episode = recorded["cramped_room"].episode
    line = replay_snapshots(episode)
    assert len(line) == episode.steps + 1 and line[0].events == ()
    assert replay_snapshots(episode) is line, "it was replayed again"
    delivered = [who for m in line for who, deed, _ in m.events if deed == "soup_delivery"]
    assert len(delivered) * 20 == episode.rewards.sum()


def test_way_is_made_once_the_other_comes_by():
    here, there = [1, 1, 0, -1, None], [2, 1, -1, 0, None]
    blocked, free = moment(players=[here, there]), moment(players=[[1, 2, 0, 1, None], here])
    assert make_way._steps_until_passed((blocked, blocked), 0) is None
    assert make_way._steps_until_passed((blocked, blocked, free), 0) == 2
