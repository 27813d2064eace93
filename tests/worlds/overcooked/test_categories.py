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
from sts.suites.lint import field_faults, lint
from sts.worlds.overcooked.agents.greedy import classify_task
from sts_scenarios import categories
from sts_scenarios.categories.overcooked import hand_over
from sts_scenarios.categories.overcooked.moments import (
    CONTEXT,
    Snapshot,
    grade_difficulty,
    reachable_places,
    replay_snapshots,
)
from sts_scenarios.category import Label
from sts_scenarios.fitting import fault
from sts_scenarios.freezing import category_faults
from sts_scenarios.mining import Pick, make_scenario, mine

NAMES = (
    *("deliver-soup", "fetch-dish", "fill-pot", "hand-over", "make-way"),
    *("plate-soup", "pot-onion"),
)
LATER = (
    *(
        "deliver-after",
        "deliver-or-lay",
        "fuller-or-emptier",
        "same-pot",
        "take-laid",
        "way-or-stay",
    ),
)
SKILLS = {
    "deliver-soup": "deliver",
    "fetch-dish": "dish",
    "fill-pot": "pot",
    "hand-over": "hand-over",
    "make-way": "way",
    "plate-soup": "plate",
    "pot-onion": "pot",
}
LEADS = {
    name: importlib.import_module(
        f"sts_scenarios.categories.overcooked.{name.replace('-', '_')}"
    ).MAX_LEAD
    for name in NAMES
    if name not in ("hand-over", "make-way")
}
GRID = ("XXPXX", "O  XO", "X1X2X", "XDXSX")


def own():
    return [categories.named(name) for name in NAMES]


def moment(**changes):
    players = [[1, 1, 0, -1, None], [3, 2, 0, -1, None]]
    return Snapshot(GRID, players, {}, ())._replace(**changes)


@pytest.fixture(scope="module")
def moments(recorded):
    """Where each category asks for something, with the trajectory."""
    return {
        name: [(t, list(categories.named(name).moments(t))) for t in recorded.values()]
        for name in NAMES
    }


@pytest.fixture(scope="module")
def mined(recorded):
    return mine(recorded.values(), own(), per_category=3, seed=0)


def test_there_are_categories_for_the_kitchen_alone():
    own = [c for c in categories.installed().values() if c.domain == "overcooked"]
    assert [c.name for c in own] == sorted((*NAMES, *LATER))
    assert {c.name for c in own if c.superseded} == {*NAMES} - {"hand-over", "make-way"}


def test_they_are_known_without_the_package():
    code = (
        "import sys; sys.modules['overcooked_ai_py'] = None; from sts_scenarios import categories; "
    )
    code += "print(*(c.name for c in categories.installed().values() if c.domain == 'overcooked'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == sorted((*NAMES, *LATER))


@pytest.mark.parametrize("name", NAMES)
def test_before_a_deed_is_asked_for_there_is_context_and_after_it_the_horizon(name, moments):
    category = categories.named(name)
    found = [(t, c) for t, candidates in moments[name] for c in candidates]
    assert found
    for trajectory, candidate in found:
        assert CONTEXT <= candidate.moment <= trajectory.episode.steps - category.horizon


@pytest.mark.parametrize("name", NAMES)
def test_the_person_who_was_recorded_did_what_is_asked_and_it_fits(name, moments):
    category = categories.named(name)
    checked = 0
    for trajectory, candidates in moments[name]:
        for candidate in candidates[:2]:
            made = make_scenario(category, Pick(trajectory, candidate), id="x", text="x", seed=0)
            done = category.label(made.recording, CONTEXT, made.roles, made.parameters)
            assert done.verdict == "success" and done.step is not None
            assert 1 <= done.step <= category.horizon
            assert category.fits(made) is None
            checked += 1
    assert checked


def test_mined_scenarios_are_sound_and_keep_what_must_be_said(mined):
    assert len(mined.scenarios) > 2 * len(NAMES) and lint(mined.scenarios) == []
    assert {s.partner for s in mined.scenarios} == {"replay"}
    assert {s.provenance["split"] for s in mined.scenarios} == {"test"}
    assert all("16 of the 17" in s.provenance["notes"][0] for s in mined.scenarios)


def test_a_text_names_the_thing_and_the_hat_that_are_meant(mined):
    assert category_faults(mined.scenarios) == []
    rules = {rule.name: rule for rule in own()}
    for s in mined.scenarios:
        other = "green" if s.roles == (0,) else "blue"
        said = s.instruction.text
        wrong = {other: "blue" if other == "green" else "green", "onion": "dish", "dish": "onion"}
        for word in wrong.keys() & set(re.findall(r"\w+", said)):
            if word in ("onion", "dish") and s.category != "hand-over":
                continue  # of these a category speaks that has no other
            text = re.sub(rf"\b{word}\b", wrong[word], said)
            changed = dataclasses.replace(s.instruction, text=text)
            found = fault(dataclasses.replace(s, instruction=changed), rules)
            assert found is not None and f"{word}'" in found, text


def test_judges_are_told_of_every_scenario_when_it_is_done(mined):
    told: dict[str, set[str]] = {}
    for one in mined.scenarios:
        found = categories.criterion(one)
        assert found is not None
        assert found.done.endswith(".") and found.guideline.endswith("."), one.category
        assert "{" not in found.done + found.guideline
        told.setdefault(one.category, set()).add(found.done)
    assert {*told} == {*NAMES}
    assert all(" a dish " in one or " an onion " in one for one in told["hand-over"])


def test_the_side_of_the_source_decides_what_is_mined_and_what_is_sound(recorded, mined):
    turned = [
        dataclasses.replace(t, provenance=t.provenance | {"split": "train"})
        for t in recorded.values()
    ]
    assert mine(turned, own(), per_category=3, seed=0).scenarios == ()
    one = mined.scenarios[0]
    one = dataclasses.replace(one, provenance=one.provenance | {"split": "train"})
    assert field_faults(one) == ["its world is of the train split"]


def test_a_cook_who_stays_does_nothing_of_it_and_a_planner_most(mined):
    rates = {}
    for name in ("overcooked-stay", "overcooked-greedy"):
        verdicts = []
        for group in group_by_shape(mined.scenarios):
            made = continue_all(group, agents.load(name), seed=0, indices=[0])
            for one, s in zip(made, group, strict=True):
                rule = categories.named(s.category).label
                verdicts.append(rule(one.episode, s.takeover, s.roles, s.parameters).verdict)
        rates[name] = np.mean([v == "success" for v in verdicts])
    assert rates["overcooked-stay"] == 0 and rates["overcooked-greedy"] > 0.7


@pytest.mark.parametrize("name", NAMES)
def test_the_planner_knows_what_every_wording_asks_for(name):
    for text in categories.named(name).wordings:
        words = {"a": "an onion", "other": "green", "you": "blue"}
        assert classify_task(text.format(**words)) == SKILLS[name], text


def test_of_two_onions_in_one_step_the_later_cook_fills_the_pot():
    pot = (2, 0)
    events = ((0, "potting_onion", pot), (1, "potting_onion", pot))
    after = moment(objects={pot: ["soup", ["onion"] * 3, 1]}, events=events)
    from sts_scenarios.categories.overcooked.fill_pot import is_done

    assert not is_done(moment(), after, 0) and is_done(moment(), after, 1)
    begun = after._replace(objects={pot: ["soup", ["onion"] * 2, -1]})
    assert not is_done(moment(), begun, 0) and not is_done(moment(), begun, 1)


def test_a_soup_from_a_counter_is_not_one_from_a_pot():
    from sts_scenarios.categories.overcooked.plate_soup import is_done

    assert is_done(moment(), moment(events=((0, "soup_pickup", (2, 0)),)), 0)
    assert not is_done(moment(), moment(events=((0, "soup_pickup", (0, 0)),)), 0)
    assert not is_done(moment(), moment(events=((0, "soup_pickup", (2, 0)),)), 1)


ONION = {"thing": "onion"}


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ([(0, "onion_drop", (2, 2))], Label("success", 1)),
        ([(0, "onion_drop", (2, 2)), (0, "onion_pickup", (2, 2))], Label("not_done", None)),
        ([(0, "onion_drop", (2, 2)), (1, "onion_pickup", (2, 2))], Label("success", 1)),
        (
            [(0, "onion_drop", (2, 2)), (0, "onion_pickup", (2, 2)), (0, "onion_drop", (2, 2))],
            Label("success", 3),
        ),
        (
            [(0, "onion_drop", (2, 2)), (0, "onion_drop", (4, 2)), (1, "onion_pickup", (4, 2))],
            Label("success", 1),
        ),
        ([(0, "onion_drop", (0, 2))], Label("not_done", None)),
        ([(1, "onion_drop", (2, 2))], Label("not_done", None)),
        ([(0, "dish_drop", (2, 2))], Label("not_done", None)),
    ],
)
def test_handed_over_is_what_is_laid_within_reach_and_not_taken_back(monkeypatch, events, found):
    line = (moment(), *(moment(events=(event,)) for event in events))
    monkeypatch.setattr(hand_over, "replay_snapshots", lambda episode: line)
    assert hand_over.label_hand_over(cast(Episode, None), 0, (0,), ONION) == found


@pytest.mark.parametrize(("name", "lead"), LEADS.items())
def test_how_hard_it_is_goes_by_when_the_person_first_did_it(name, lead, moments):
    category = categories.named(name)
    for trajectory, candidates in moments[name]:
        for candidate in candidates:
            took = category.label(trajectory.episode, candidate.moment, (candidate.role,), {}).step
            assert took is not None and candidate.difficulty == grade_difficulty(took, lead)


@pytest.mark.parametrize("partner", ["no-op", "agent:overcooked-greedy"])
def test_nobody_is_asked_to_make_way_for_a_partner_who_may_not_want_to_come_by(mined, partner):
    one = next(s for s in mined.scenarios if s.category == "make-way")
    fits = categories.named("make-way").fits
    assert fits(one) is None
    assert "recorded person" in (fits(dataclasses.replace(one, partner=partner)) or "")


def test_each_cook_reaches_only_what_borders_their_part_of_the_kitchen():
    left, right = reachable_places(moment(), 0), reachable_places(moment(), 1)
    assert (0, 1) in left - right and (4, 2) in right - left and (2, 2) in left & right


def test_a_timeline_begins_without_events_and_says_what_was_done(recorded):
    episode = recorded["cramped_room"].episode
    line = replay_snapshots(episode)
    assert len(line) == episode.steps + 1 and line[0].events == ()
    assert replay_snapshots(episode) is line, "it was replayed again"
    delivered = [who for m in line for who, deed, _ in m.events if deed == "soup_delivery"]
    assert len(delivered) * 20 == episode.rewards.sum()


def test_to_make_way_the_other_must_come_by():
    from sts_scenarios.categories.overcooked.make_way import _steps_until_passed

    here, there = [1, 1, 0, -1, None], [2, 1, -1, 0, None]
    blocked, free = moment(players=[here, there]), moment(players=[[1, 2, 0, 1, None], here])
    assert _steps_until_passed((blocked, blocked), 0) is None
    assert _steps_until_passed((blocked, blocked, free), 0) == 2
