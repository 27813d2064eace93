"""What a cook is asked beside a recorded person who must be waited for, followed or let by."""

import dataclasses
import importlib

import pytest

from sts import agents
from sts.continuations.takeover import continue_all
from sts.suites.lint import lint
from sts_scenarios import categories, mining
from sts_scenarios.categories.overcooked import (
    asking,
    deliver_after,
    deliver_or_lay,
    same_pot,
    take_laid,
    way_or_stay,
)
from sts_scenarios.categories.overcooked.moments import CONTEXT, Snapshot
from sts_scenarios.category import Label
from sts_scenarios.fitting import fault
from sts_scenarios.mining.chance import pass_rate

RULES = {c.name: c for c in categories.of("overcooked") if c.controls}
PAIRS = ("deliver-or-lay", "fuller-or-emptier", "way-or-stay")
EACH = pytest.mark.parametrize("name", RULES)
GRID = ("XXPXX", "O  XO", "X1X2X", "XDXSX")
NOT_DONE = Label("not_done", None)


def first(name, trajectories):
    """Return the first scenario that a category offers, or the first pair."""
    module = importlib.import_module(
        f"sts_scenarios.categories.overcooked.{name.replace('-', '_')}"
    )
    rule, count = module.CATEGORY, 2 if name in PAIRS else 1
    for one in trajectories:
        every = rule.candidates(one, rule.context, rule.horizon)
        own = [candidate for _, candidate in zip(range(count), every, strict=False)]
        made = [
            mining.make_scenario(
                rule,
                mining.Pick(one, candidate),
                id=f"x-{n}",
                text=rule.wordings[0].format(**candidate.words),
                seed=0,
            )
            for n, candidate in enumerate(own)
        ]
        if made:
            pair = "p" if count == 2 else ""
            return [dataclasses.replace(half, pair=pair) for half in made]
    return []


@pytest.fixture(scope="module")
def proposed(recorded):
    return {name: first(name, recorded.values()) for name in RULES}


@EACH
def test_what_is_asked_is_sound_and_fits(name, proposed):
    assert len(proposed[name]) == (2 if name in PAIRS else 1)
    assert lint([dataclasses.replace(one, pair="") for one in proposed[name]]) == []
    for one in proposed[name]:
        assert fault(one, RULES) is None
        other = {key: "another" for key in one.parameters}
        assert RULES[name].fits(dataclasses.replace(one, parameters=other)) is not None
        alone = RULES[name].fits(dataclasses.replace(one, partner="no-op"))
        assert alone is not None and "recorded person" in alone


def controls(name: str) -> tuple[agents.Agent, agents.Agent]:
    """Return the probe and the shortcut of a category."""
    own = RULES[name].controls
    assert own and own.probe and own.shortcut
    return own.probe, own.shortcut


@EACH
def test_its_probe_does_it_by_what_it_sees_and_its_shortcut_and_who_stays_do_not(name, proposed):
    rule, (probe, shortcut) = RULES[name], controls(name)
    assert pass_rate(rule, proposed[name], probe, continuations=1) == 1
    assert pass_rate(rule, proposed[name], shortcut, continuations=1) == 0
    assert pass_rate(rule, proposed[name], agents.load("overcooked-stay"), continuations=1) == 0


@EACH
def test_what_is_attempted_is_what_is_played_and_nothing_before_takeover_is_read(name, proposed):
    rule, (probe, _) = RULES[name], controls(name)
    for one in proposed[name]:
        (made,) = continue_all([one], probe, seed=0, indices=[0])
        (takeover,) = mining.states_at(made.episode, (one.takeover,))
        rest = made.episode.part(takeover, one.takeover, made.episode.steps)
        label = rule.label(made.episode, one.takeover, one.roles, one.parameters)
        assert rule.label(rest, 0, one.roles, one.parameters) == label
        if name not in PAIRS:
            assert label.step is not None
            assert one.difficulty == ("easy", "medium", "hard")[3 * (label.step - 1) // one.horizon]


def test_who_makes_soup_and_hears_nothing_does_not_do_what_pays_less(proposed):
    (soup,) = categories.baselines("overcooked")
    for name in ("deliver-after", *PAIRS):
        assert pass_rate(RULES[name], proposed[name], agents.load(soup), continuations=1) == 0


def moment(*events, cooks=((1, 1), (3, 2)), held=(None, None)):
    players = [[*at, 0, -1, it] for at, it in zip(cooks, held, strict=True)]
    return Snapshot(GRID, players, {}, events)


def test_what_the_other_lays_must_be_waited_for_and_taken_first():
    laid, took = moment((1, "onion_drop", (2, 2))), moment((0, "onion_pickup", (2, 2)))
    asked = {"thing": "onion"}
    assert take_laid.label_snapshots([moment(), laid, took], 0, asked) == Label("success", 2)
    assert take_laid.label_snapshots([laid, took], 0, asked) == Label("failure", 1)
    stack = moment((0, "onion_pickup", (0, 1)))
    assert take_laid.label_snapshots([moment(), laid, stack], 0, asked) == Label("failure", 2)
    assert take_laid.label_snapshots([moment(), laid, took], 0, {"thing": "dish"}) == Label(
        "failure", 2
    )
    assert take_laid.label_snapshots([moment(), laid], 0, asked) == NOT_DONE


def test_a_delivery_before_the_other_did_it_is_too_early():
    came, gave = moment((1, "dish_pickup", (1, 3))), moment((0, "soup_delivery", (3, 3)))
    asked = {"event": "dish_pickup"}
    assert deliver_after.label_snapshots([moment(), came, gave], 0, asked) == Label("success", 2)
    assert deliver_after.label_snapshots([moment(), gave, came], 0, asked) == Label("failure", 1)
    assert deliver_after.label_snapshots([came, gave], 0, asked) == Label("failure", 1)
    assert deliver_after.label_snapshots([moment(), came], 0, asked) == NOT_DONE


def test_a_soup_laid_down_must_be_left_there():
    down, up = moment((0, "soup_drop", (2, 2))), moment((0, "soup_pickup", (2, 2)))
    gave, lay = moment((0, "soup_delivery", (3, 3))), {"asked": "lay"}
    rest = [moment()] * deliver_or_lay.STEPS_LEFT_LYING
    assert deliver_or_lay.label_snapshots([moment(), down, *rest], 0, lay) == Label("success", 9)
    assert deliver_or_lay.label_snapshots([moment(), down, up, *rest], 0, lay) == Label(
        "failure", 2
    )
    assert deliver_or_lay.label_snapshots([moment(), down], 0, lay) == NOT_DONE
    assert deliver_or_lay.label_snapshots([moment(), gave], 0, lay) == Label("failure", 1)
    assert deliver_or_lay.label_snapshots([moment(), gave], 0, {"asked": "deliver"}) == Label(
        "success", 1
    )
    assert deliver_or_lay.label_snapshots([moment(), down], 0, {"asked": "deliver"}) == Label(
        "failure", 1
    )


def test_whoever_is_pushed_against_has_not_cleared_the_way():
    left = {"asked": "way", "moves": [3, 3]}  # the other goes left, to where the cook stands
    near, by = moment(cooks=((1, 1), (2, 1))), moment(cooks=((1, 2), (1, 1)))
    assert way_or_stay.label_snapshots([near, by], 0, left) == Label("success", 1)
    assert way_or_stay.label_snapshots([near, near, by], 0, left) == Label("failure", 1)
    far, waiting = moment(cooks=((1, 2), (2, 1))), left | {"moves": [4, 4]}
    assert way_or_stay.label_snapshots([near, far], 0, waiting) == NOT_DONE
    stay = left | {"asked": "stay"}
    assert way_or_stay.label_snapshots([near, near, far], 0, stay) == Label("failure", 2)
    assert way_or_stay.label_snapshots([near] * 8, 0, stay) == NOT_DONE
    assert way_or_stay.label_snapshots([near] * 9, 0, stay) == Label("success", 8)


def test_before_what_is_asked_there_is_the_context(proposed):
    assert {one.takeover for own in proposed.values() for one in own} == {CONTEXT}


def test_a_pot_that_was_emptied_since_is_not_gone_on_with():
    grid = ("XPPXX", "O  XO", "X1X2X", "XDXSX")
    gave = (1, "potting_onion", (2, 0))
    begun = moment(gave)._replace(grid=grid, objects={(2, 0): ["soup", ["onion"], -1]})
    asked = asking.Request([moment(), begun], None, 1, 0, 30)
    ((only,),) = same_pot.propose(asked)
    assert only.parameters == {"pot": [2, 0]}
    emptied = asked._replace(snapshots=[moment(), begun._replace(objects={})])
    assert [*same_pot.propose(emptied)] == []
