"""What a cook is asked beside a recorded person who must be waited for, followed or let by."""

import dataclasses
import importlib
import itertools

import pytest

from sts import agents
from sts.continuations.takeover import continue_all
from sts.suites.lint import lint_scenarios
from sts_overcooked.categories.deliver_after import DeliverAfter
from sts_overcooked.categories.deliver_or_lay import STEPS_LEFT_LYING, DeliverOrLay
from sts_overcooked.categories.kitchen_category import RequestContext
from sts_overcooked.categories.same_pot import SamePot
from sts_overcooked.categories.snapshots import CONTEXT, Snapshot
from sts_overcooked.categories.take_laid import TakeLaid
from sts_overcooked.categories.way_or_stay import WayOrStay
from sts_scenarios import mining
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Label
from sts_scenarios.rules.chance import compute_pass_rate
from sts_scenarios.rules.validity import find_fault

RULES = {c.name: c for c in categories.load_categories("overcooked") if c.controls}
PAIRS = ("deliver-or-lay", "fuller-or-emptier", "way-or-stay")
EACH = pytest.mark.parametrize("name", RULES)
GRID = ("XXPXX", "O  XO", "X1X2X", "XDXSX")


def first(name, trajectories):
    """Return the first scenario that a category offers, or the first pair."""
    module = importlib.import_module(f"sts_overcooked.categories.{name.replace('-', '_')}")
    rule, count = module.CATEGORY, 2 if name in PAIRS else 1
    for one in trajectories:
        own = list(itertools.islice(rule.candidates(one, rule.context, rule.horizon), count))
        texts = [rule.templates[0].format(**candidate.fields) for candidate in own]
        made = [
            mining.make_scenario(rule, mining.Pick(one, candidate), id=f"x-{n}", text=text, seed=0)
            for n, (candidate, text) in enumerate(zip(own, texts, strict=True))
        ]
        if made:
            pair = "p" if count == 2 else ""
            return [dataclasses.replace(half, pair=pair) for half in made]
    return []


@pytest.fixture(scope="module")
def proposed(recorded):
    return {name: first(name, recorded.values()) for name in RULES}


@EACH
def test_proposed_scenario_is_sound_and_fits(name, proposed):
    assert len(proposed[name]) == (2 if name in PAIRS else 1)
    assert lint_scenarios([dataclasses.replace(one, pair="") for one in proposed[name]]) == []
    for one in proposed[name]:
        assert find_fault(one, RULES) is None
        other = {key: "another" for key in one.parameters}
        assert RULES[name].why_invalid(dataclasses.replace(one, parameters=other)) is not None
        alone = RULES[name].why_invalid(dataclasses.replace(one, partner="no-op"))
        assert alone is not None and "recorded person" in alone


@EACH
def test_solver_passes_and_the_shortcut_baseline_and_a_standing_cook_do_not(name, proposed):
    rule = RULES[name]
    assert rule.controls and rule.controls.solver and rule.controls.shortcut
    solver, shortcut = rule.controls.solver, rule.controls.shortcut
    stay = agents.load("overcooked-stay")
    for agent, rate in ((solver, 1), (shortcut, 0), (stay, 0)):
        assert compute_pass_rate(rule, proposed[name], agent, continuations=1) == rate
    for one in proposed[name]:
        assert one.context == CONTEXT
        (made,) = continue_all([one], solver, seed=0, indices=[0])
        (takeover,) = mining.states_at(made.episode, (one.context,))
        rest = made.episode.slice_steps(takeover, one.context, made.episode.steps)
        label = rule.label(made.episode, one.context, one.players, one.parameters)
        assert rule.label(rest, 0, one.players, one.parameters) == label, "it reads the context"
        if name not in PAIRS:
            assert label.step is not None
            assert one.difficulty == ("easy", "medium", "hard")[3 * (label.step - 1) // one.horizon]


def test_soup_baseline_does_not_pass_what_pays_less(proposed):
    (soup,) = categories.collect_names("overcooked", "BASELINES")
    for name in ("deliver-after", *PAIRS):
        assert (
            compute_pass_rate(RULES[name], proposed[name], agents.load(soup), continuations=1) == 0
        )


def moment(*events, cooks=((1, 1), (3, 2)), held=(None, None)):
    players = [[*at, 0, -1, it] for at, it in zip(cooks, held, strict=True)]
    return Snapshot(GRID, players, {}, events)


LAID, TOOK = moment((1, "onion_drop", (2, 2))), moment((0, "onion_pickup", (2, 2)))
STACK, CAME = moment((0, "onion_pickup", (0, 1))), moment((1, "dish_pickup", (1, 3)))
GAVE = moment((0, "soup_delivery", (3, 3)))
DOWN, UP = moment((0, "soup_drop", (2, 2))), moment((0, "soup_pickup", (2, 2)))
REST = [moment()] * STEPS_LEFT_LYING
NEAR, BY = moment(cooks=((1, 1), (2, 1))), moment(cooks=((1, 2), (1, 1)))
FAR = moment(cooks=((1, 2), (2, 1)))
ONION, DISH, EVENT = {"thing": "onion"}, {"thing": "dish"}, {"event": "dish_pickup"}
LAY, DELIVER = {"asked": "lay"}, {"asked": "deliver"}
WAY = {"asked": "way", "moves": [3, 3]}  # the other goes left, to where the cook stands
STAY = WAY | {"asked": "stay"}


@pytest.mark.parametrize(
    ("category", "line", "asked", "verdict", "step"),
    [
        (TakeLaid, [moment(), LAID, TOOK], ONION, "success", 2),
        (TakeLaid, [LAID, TOOK], ONION, "failure", 1),
        (TakeLaid, [moment(), LAID, STACK], ONION, "failure", 2),
        (TakeLaid, [moment(), LAID, TOOK], DISH, "failure", 2),
        (TakeLaid, [moment(), LAID], ONION, "not_done", None),
        (DeliverAfter, [moment(), CAME, GAVE], EVENT, "success", 2),
        (DeliverAfter, [moment(), GAVE, CAME], EVENT, "failure", 1),
        (DeliverAfter, [CAME, GAVE], EVENT, "failure", 1),
        (DeliverAfter, [moment(), CAME], EVENT, "not_done", None),
        (DeliverOrLay, [moment(), DOWN, *REST], LAY, "success", 9),
        (DeliverOrLay, [moment(), DOWN, UP, *REST], LAY, "failure", 2),
        (DeliverOrLay, [moment(), DOWN], LAY, "not_done", None),
        (DeliverOrLay, [moment(), GAVE], LAY, "failure", 1),
        (DeliverOrLay, [moment(), GAVE], DELIVER, "success", 1),
        (DeliverOrLay, [moment(), DOWN], DELIVER, "failure", 1),
        (WayOrStay, [NEAR, BY], WAY, "success", 1),
        (WayOrStay, [NEAR, NEAR, BY], WAY, "failure", 1),
        (WayOrStay, [NEAR, FAR], WAY | {"moves": [4, 4]}, "not_done", None),
        (WayOrStay, [NEAR, NEAR, FAR], STAY, "failure", 2),
        (WayOrStay, [NEAR] * 8, STAY, "not_done", None),
        (WayOrStay, [NEAR] * 9, STAY, "success", 8),
    ],
)
def test_label_is_as_the_page_says(category, line, asked, verdict, step):
    assert category().label(line, 0, asked) == Label(verdict, step)


def test_pot_that_was_emptied_is_not_proposed():
    grid = ("XPPXX", "O  XO", "X1X2X", "XDXSX")
    gave = (1, "potting_onion", (2, 0))
    begun = moment(gave)._replace(grid=grid, objects={(2, 0): ["soup", ["onion"], -1]})
    asked = RequestContext([moment(), begun], None, 1, 0, 30)
    ((only,),) = SamePot().propose(asked)
    assert only.parameters == {"pot": [2, 0]}
    emptied = asked._replace(snapshots=[moment(), begun._replace(objects={})])
    assert [*SamePot().propose(emptied)] == []
