import json
import subprocess
import sys

import numpy as np
import pytest

from sts.domains import domain
from sts.domains.conformance import check
from sts.errors import DamagedState, StsError
from sts.overcooked.environment import DEEDS, LAYOUTS, THINGS, TILES, Overcooked
from sts.overcooked.kitchen import COOKED

UP, DOWN, RIGHT, LEFT, STAY, INTERACT = range(6)


def kitchen(layout="cramped_room", rules="2019", seed=0, **settings):
    world = Overcooked()
    world.reset(seed, layout=layout, rules=rules, **settings)
    return world


def potted(world, onions):
    """Lets the cook with the blue hat put onions into the pot of the cramped room."""
    for move in (UP, LEFT):
        world.step((move, STAY))
    for _ in range(onions):
        for move in (LEFT, INTERACT, RIGHT, UP, INTERACT, LEFT):
            world.step((move, STAY))
    return world


def soup(world):
    return next((it for _, _, it in world.facts().objects if isinstance(it, list)), None)


def test_every_claim_of_a_domain_holds():
    claims = check("overcooked", seeds=3, steps=12, settings={"length": 15})
    assert [c for c in claims if not c.ok] == []


def test_when_the_time_is_up_nothing_happens_any_more():
    world = kitchen(length=18)
    potted(world, 2)
    assert not world.ended and soup(world) == ["soup", ["onion"] * 2, -1]
    for moves in ((RIGHT, STAY), (UP, DOWN), (STAY, STAY), (INTERACT, STAY)):
        world.step(moves)
    assert world.ended and json.loads(world.state())["step"] == 18
    before, other = world.state(), Overcooked()
    other.restore(before)
    for one in (world, other):
        assert one.step((UP, LEFT)) == (0, 0) and one.ended and one.events == ()
        assert one.state() == before


def test_an_episode_is_as_long_as_in_the_package_unless_it_is_said():
    assert json.loads(kitchen().state())["length"] == 400


def test_a_pot_of_2019_starts_by_itself_at_three_onions_and_never_earlier():
    world = potted(kitchen(), 2)
    for move in (RIGHT, UP, INTERACT, STAY, STAY):
        world.step((move, STAY))
    assert soup(world) == ["soup", ["onion"] * 2, -1]
    world.step((LEFT, STAY))
    for move in (LEFT, INTERACT, RIGHT, UP, INTERACT):
        world.step((move, STAY))
    assert soup(world) == ["soup", ["onion"] * 3, 1]
    for _ in range(COOKED + 3):
        world.step((STAY, STAY))
    assert soup(world) == ["soup", ["onion"] * 3, COOKED]


def test_by_the_rules_of_the_package_a_pot_is_started_by_hand():
    world = potted(kitchen(rules="package"), 3)
    assert soup(world)[2] == -1
    for move in (RIGHT, UP, INTERACT):
        world.step((move, STAY))
    assert soup(world)[2] == 1


def test_events_say_who_did_what_to_which_place():
    world = kitchen()
    world.step((UP, STAY))
    world.step((LEFT, STAY))
    world.step((INTERACT, STAY))
    assert world.events == ((0, "onion_pickup", (0, 1)),)
    assert world.events[0].deed in DEEDS
    world.step((STAY, STAY))
    assert world.events == ()


def test_a_state_goes_on_identically_and_is_json():
    rng = np.random.default_rng(5)
    for seed in range(len(LAYOUTS)):
        world, other = kitchen(layout=None, seed=seed), Overcooked()
        moves = rng.integers(0, 6, (400, 2)).tolist()
        for both in moves[:200]:
            world.step(both)
        other.restore(world.state())
        assert other.state() == world.state() and json.loads(world.state())["step"] == 200
        for both in moves[200:]:
            assert world.step(both) == other.step(both)
        assert world.state() == other.state()


def test_doing_nothing_moves_only_the_clock():
    world = kitchen()
    before = world.digest()
    world.step((STAY, STAY))
    assert world.digest() == before and json.loads(world.state())["step"] == 1


def test_both_see_the_same_kitchen_each_from_their_side():
    world = kitchen("asymmetric_advantages")
    blue, green = world.observe(0), world.observe(1)
    np.testing.assert_array_equal(blue["me"], green["partner"])
    np.testing.assert_array_equal(blue["tiles"], green["tiles"])
    rows, columns = len(world.grid), len(world.grid[0])
    assert (blue["tiles"][:rows, :columns] >= 0).all() and (blue["tiles"] >= 0).sum() == 45
    row, column, *_ = blue["me"]
    assert TILES[blue["tiles"][row, column]] == " "


def test_what_is_held_and_what_lies_and_cooks_is_seen():
    world = potted(kitchen(), 1)
    for move in (LEFT, INTERACT):
        world.step((move, STAY))
    seen = world.observe(1)
    assert THINGS[seen["partner"][3]] == "onion"
    assert seen["filled"].sum() == 1 and (seen["cooking"] == -1).all()
    assert THINGS[seen["things"].max()] == "soup"


def test_pictures_have_one_size_and_tell_the_cooks_apart():
    frames = [kitchen(layout).render() for layout in LAYOUTS]
    assert {frame.shape for frame in frames} == {(300, 540, 3)}
    world, turned = kitchen(), kitchen()
    world.step((LEFT, STAY))
    turned.step((STAY, LEFT))
    assert (world.render() != turned.render()).any()
    assert domain("overcooked").participants == ("blue hat", "green hat")
    assert np.array_equal(world.sight(1), world.render())
    assert domain("overcooked").sees == "observation"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"layout": "nowhere"}, "no layout 'nowhere'"),
        ({"layout": "../layouts/cramped_room"}, "no layout"),
        ({"rules": "2018"}, "expected rules 2019 or package"),
        ({"length": 0}, "expected a length of 1 step or more, found 0"),
        ({"length": "long"}, "expected a length of 1 step or more, found 'long'"),
        ({"layout": ["XXX", "X1X", "XXX"]}, "no kitchen"),
        ({"layout": ["XPXX", "O1 D", "XSXX"]}, "a kitchen for two"),
    ],
)
def test_settings_that_cannot_be_met_are_refused(settings, said):
    with pytest.raises(StsError, match=said):
        domain("overcooked").generate(1, seed=0, **settings)


@pytest.mark.parametrize(
    "change",
    [
        {"players": [[1, 1, 0, -1, None]]},
        {"players": [[1, 1, 0, -1, None], [1, 1, 0, -1, None]]},
        {"players": [[1, 1, 0, -1, "pan"], [3, 1, 0, -1, None]]},
        {"players": [[0, 0, 0, -1, None], [3, 1, 0, -1, None]]},
        {"players": [[1, 1, 1, 1, None], [3, 1, 0, -1, None]]},
        {"players": [[99, 1, 0, 1, None], [3, 1, 0, -1, None]]},
        {"objects": [[1, 1, "onion"]]},
        {"objects": [[2, 0, "onion"]]},
        {"objects": [[2, 0, ["soup", ["onion"] * 3, 21]]]},
        {"objects": [[2, 0, ["soup", ["onion"] * 4, 1]]]},
        {"objects": [[0, 0, ["soup", ["onion"] * 3, 5]]]},
        {"players": [[1, 1, 0, -1, ["soup", ["onion"] * 3, 5]], [3, 1, 0, -1, None]]},
        {"length": 0},
        {"objects": 7},
        {"rules": "2018"},
        {"grid": 7},
    ],
)
def test_states_of_no_kitchen_are_refused(change):
    own = json.loads(kitchen().state()) | change
    with pytest.raises(ValueError):
        Overcooked().restore(json.dumps(own).encode())


def test_a_damaged_state_is_refused_by_the_domain():
    world = domain("overcooked")
    (state,) = world.generate(1, seed=0)
    with pytest.raises(DamagedState):
        world.restore([state[:-9] + b"x" + state[-8:]])


def test_without_the_package_one_line_says_what_to_install():
    code = "import sys; sys.modules['overcooked_ai_py'] = None; import sts.overcooked.environment"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert "pip install 'standardised-test-suite[overcooked]'" in last
    assert last.startswith("sts.errors.MissingExtra")
