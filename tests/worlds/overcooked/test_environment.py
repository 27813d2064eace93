import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from overcooked_ai_py.mdp.overcooked_mdp import OvercookedGridworld
from overcooked_ai_py.static import LAYOUTS_DIR

from sts import agents
from sts.domains import domain
from sts.domains.conformance import check
from sts.errors import DamagedState, StsError
from sts.formats import rlds
from sts.trajectories.record import record
from sts.worlds.overcooked.basics import COOKED, INTERACT, MOVES, SIDES, STAY
from sts.worlds.overcooked.environment import EVENT_KINDS, LAYOUTS, THINGS, TILES, Overcooked
from sts.worlds.overcooked.kitchen import ACTIONS
from sts.worlds.overcooked.loader import read_table
from sts.worlds.overcooked.trials import installed_files

UP, DOWN, RIGHT, LEFT = range(4)


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


@pytest.mark.landing
def test_every_claim_of_a_domain_holds():
    claims = check("overcooked", seeds=3, steps=12, settings={"length": 15})
    assert [c for c in claims if not c.ok] == []


def test_when_the_time_is_up_nothing_happens_any_more():
    world = kitchen(length=18)
    potted(world, 2)
    assert not world.ended and not world.truncated and soup(world) == ["soup", ["onion"] * 2, -1]
    for moves in ((RIGHT, STAY), (UP, DOWN), (STAY, STAY), (INTERACT, STAY)):
        world.step(moves)
    assert world.ended and world.truncated and json.loads(world.state())["step"] == 18
    before, other = world.state(), Overcooked()
    other.restore(before)
    for one in (world, other):
        assert one.step((UP, LEFT)) == (0, 0) and one.ended and one.events == ()
        assert one.state() == before


def test_running_out_of_time_is_exported_as_an_end_that_is_not_terminal(tmp_path):
    made = record(
        agents.load("overcooked-stay"),
        domain="overcooked",
        count=1,
        steps=10,
        seed=0,
        settings={"length": 8},
    )
    rlds.write(tmp_path / "steps.parquet", made)
    rows = pq.read_table(tmp_path / "steps.parquet").to_pydict()
    assert rows["is_last"] == [False] * 10 + [True] and not any(rows["is_terminal"])
    assert rows["discount"] == [1.0] * 10 + [None]


def test_moves_go_as_in_the_package():
    assert ACTIONS == (*SIDES, (0, 0), "interact") and len(ACTIONS) == len(MOVES)
    assert (MOVES[STAY], MOVES[INTERACT]) == ("stay", "interact")


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
    assert world.events[0].kind in EVENT_KINDS
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
    assert Overcooked.participants == ("blue hat", "green hat")
    assert np.array_equal(world.sight(1), world.render())
    assert domain("overcooked").sees == "observation"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"layout": "nowhere"}, "unknown layout 'nowhere'"),
        ({"layout": "../layouts/cramped_room"}, "unknown layout"),
        ({"rules": "2018"}, "expected rules 2019 or package"),
        ({"length": 0}, "expected a length of 1 step or more, found 0"),
        ({"length": "long"}, "expected a length of 1 step or more, found 'long'"),
        ({"layout": ["XXX", "X1X", "XXX"]}, "invalid kitchen"),
        ({"layout": ["XPXX", "O1 D", "XSXX"]}, "a kitchen for two"),
    ],
)
def test_settings_that_cannot_be_met_are_refused(settings, said):
    with pytest.raises(StsError, match=said):
        domain("overcooked").generate(1, seed=0, **settings)


def test_a_kitchen_of_the_package_is_played_as_it_is_there_or_refused_in_one_line():
    taken, said = set(), r"layout .* sets .*, which is not supported|expected a kitchen for two .*"
    for file in Path(LAYOUTS_DIR).glob("*.layout"):
        try:
            kitchen(file.stem, "package")
        except ValueError as error:
            assert re.fullmatch(said, str(error))
        else:
            own = OvercookedGridworld.from_layout_name(file.stem)
            assert own.recipe_config.keys() == {"num_items_for_soup", "all_orders"}
            assert own.start_state is None and own.start_bonus_orders == []
            taken.add(file.stem)
    assert set(LAYOUTS) < taken and len(taken) == 22


@pytest.mark.parametrize("rules", ["2019", "package"])
@pytest.mark.parametrize(
    ("layout", "lost"),
    [
        ("long_cook_time", "recipe_values, recipe_times"),
        ("soup_coordination", "start_bonus_orders, onion_value"),
        ("tutorial_1", "start_state"),
        ("tutorial_3", "order_bonus"),
    ],
)
def test_values_of_a_layouts_own_are_not_dropped_in_silence(layout, lost, rules):
    with pytest.raises(
        ValueError, match=f"layout '{layout}' sets .*{lost}.*, which is not supported"
    ):
        kitchen(layout, rules)


@pytest.mark.parametrize("rules", ["2019", "package"])
def test_the_kitchens_of_the_trials_can_be_begun_by_name_and_by_their_rows(rules):
    recorded = read_table(installed_files()[1]).drop_duplicates("layout_name")["layout"]
    assert len(recorded) == len(LAYOUTS)
    for layout in (*LAYOUTS, *map(ast.literal_eval, recorded)):
        world = kitchen(layout, rules)
        world.step((LEFT, RIGHT))
        Overcooked().restore(world.state())


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
        {"players": [[1.0, 1, 0, -1, None], [3, 1, 0, -1, None]]},
        {"players": [[True, 1, 0, -1, None], [3, 1, 0, -1, None]]},
        {"players": [[1, 1, False, -1, None], [3, 1, 0, -1, None]]},
        {"objects": [[0, 2, "onion"], [0, 2, "dish"]]},
        {"objects": [[4, 2, "onion"], [0, 2, "dish"]]},
        {"objects": [[2, 0, ["soup", {"onion": 1}, -1]]]},
        {"step": 2.9},
        {"step": "3"},
        {"step": 401},
        {"step": -7},
        {"step": True},
        {"episode": 7},
        {"more": 7},
        {"length": 0},
        {"objects": 7},
        {"rules": "2018"},
        {"grid": 7},
    ],
)
def test_states_of_no_kitchen_are_refused(change):
    own = json.loads(kitchen().state())
    Overcooked().restore(json.dumps(own).encode())
    own |= change
    with pytest.raises(ValueError):
        Overcooked().restore(json.dumps(own).encode())


def test_a_damaged_state_is_refused_by_the_domain():
    world = domain("overcooked")
    (state,) = world.generate(1, seed=0)
    with pytest.raises(DamagedState):
        world.restore([state[:-9] + b"x" + state[-8:]])


def test_without_the_package_one_line_says_what_to_install():
    without = "import sys; sys.modules['overcooked_ai_py'] = None"
    code = f"{without}; import sts.worlds.overcooked.environment"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert "pip install 'standardised-test-suite[overcooked]'" in last
    assert last.startswith("sts.errors.MissingExtra")
