import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
from overcooked_ai_py.mdp.overcooked_mdp import OvercookedGridworld
from overcooked_ai_py.static import LAYOUTS_DIR

from sts import agents
from sts.continuations.continuation import Continuation
from sts.domains import load_domain
from sts.domains.conformance import check
from sts.episodes import Episode
from sts.errors import StsError
from sts.formats import rlds
from sts_overcooked.constants import COOKED, INTERACT, MOVES, SIDES, STAY
from sts_overcooked.environment import EVENT_KINDS, LAYOUTS, THINGS, TILES, Overcooked
from sts_overcooked.kitchen import ACTIONS
from sts_overcooked.loader import read_table
from sts_overcooked.trials import installed_files
from tests.recording import record

UP, DOWN, RIGHT, LEFT = range(4)


def kitchen(layout="cramped_room", rules="2019", seed=0, **settings):
    world = Overcooked()
    world.reset(seed, layout=layout, rules=rules, **settings)
    return world


def step(world, *actions):
    """Let the cook with the blue hat make moves."""
    for move in actions:
        world.step((move, STAY))
    return world


def potted(world, onions):
    """Let the cook with the blue hat put onions into the pot of the cramped room."""
    return step(world, UP, LEFT, *[LEFT, INTERACT, RIGHT, UP, INTERACT, LEFT] * onions)


def soup(world):
    return next((it for _, _, it in world.visible_state().objects if isinstance(it, list)), None)


@pytest.mark.landing
def test_environment_passes_every_conformance_test():
    claims = check("overcooked", seeds=3, steps=12, settings={"length": 15})
    assert [c for c in claims if not c.ok] == []


def test_nothing_happens_any_more_when_the_time_is_up(tmp_path):
    world = potted(kitchen(length=18), 2)
    assert not world.ended and not world.truncated and soup(world) == ["soup", ["onion"] * 2, -1]
    step(world, RIGHT, UP, STAY, INTERACT)
    assert world.ended and world.truncated and json.loads(world.state())["step"] == 18
    before = world.state()
    assert world.step((UP, LEFT)) == (0, 0) and world.ended and world.events == ()
    assert world.state() == before
    stay, settings = agents.load("overcooked-stay"), {"length": 8}
    made = record(stay, domain="overcooked", count=1, steps=10, seed=0, settings=settings)
    rlds.write(tmp_path / "steps.parquet", made)
    rows = pq.read_table(tmp_path / "steps.parquet").to_pydict()
    assert rows["is_last"] == [False] * 10 + [True] and not any(rows["is_terminal"])
    assert rows["discount"] == [1.0] * 10 + [None]


def test_moves_and_length_are_those_of_the_package():
    assert ACTIONS == (*SIDES, (0, 0), "interact") and len(ACTIONS) == len(MOVES)
    assert (MOVES[STAY], MOVES[INTERACT]) == ("stay", "interact")
    assert json.loads(kitchen().state())["length"] == 400


def test_pot_starts_at_three_onions_by_itself_or_by_hand_in_the_package():
    world = step(potted(kitchen(), 2), RIGHT, UP, INTERACT, STAY, STAY)
    assert soup(world) == ["soup", ["onion"] * 2, -1]
    step(world, LEFT, LEFT, INTERACT, RIGHT, UP, INTERACT)
    assert soup(world) == ["soup", ["onion"] * 3, 1]
    step(world, *[STAY] * (COOKED + 3))
    assert soup(world) == ["soup", ["onion"] * 3, COOKED]
    world = potted(kitchen(rules="package"), 3)
    assert soup(world)[2] == -1
    assert soup(step(world, RIGHT, UP, INTERACT))[2] == 1


def test_events_name_the_cook_the_deed_and_the_place():
    world = step(kitchen(), UP, LEFT, INTERACT)
    assert world.events == ((0, "onion_pickup", (0, 1)),)
    assert world.events[0].kind in EVENT_KINDS
    assert step(world, STAY).events == ()


def test_push_is_drawn_after_its_step_only():
    world = kitchen()
    world.step((UP, LEFT))  # next to one another
    assert world.pushes == ()
    world.step((RIGHT, STAY))
    state, picture = world.state(), world.render()
    assert world.pushes == (0,)
    again = Overcooked()
    again.restore(state)  # the state is that of a cook who only looks at the other
    assert again.pushes == () and (again.render() != picture).any()
    world.step((RIGHT, LEFT))
    assert world.pushes == (0, 1)
    world.step((STAY, RIGHT))  # the other leaves
    assert world.pushes == ()


def test_continuations_that_differ_in_a_push_are_different_clips():
    def clip(domain, *actions):
        """Return the clip of a player that tries some actions and never changes the scene."""
        moves = np.array(actions, np.int8).reshape(-1, 1)
        silence, rewards = np.zeros_like(moves), np.zeros(moves.shape, np.int8)
        scene = np.zeros((len(moves) + 1, 1), np.uint16)
        episode = Episode(domain, b"", moves, silence, rewards, scene)
        return vars(Continuation)["clip"].func(SimpleNamespace(scenario_hash="s", episode=episode))

    assert clip("overcooked", STAY) != clip("overcooked", RIGHT)
    assert clip("lambda-star", STAY) == clip("lambda-star", RIGHT)  # which does not draw actions


def test_restored_state_continues_identically_and_is_json():
    rng = np.random.default_rng(5)
    for seed in range(len(LAYOUTS)):
        world, other = kitchen(layout=None, seed=seed), Overcooked()
        actions = rng.integers(0, 6, (400, 2)).tolist()
        for both in actions[:200]:
            world.step(both)
        other.restore(world.state())
        assert other.state() == world.state() and json.loads(world.state())["step"] == 200
        for both in actions[200:]:
            assert world.step(both) == other.step(both)
        assert world.state() == other.state()


def test_both_cooks_observe_the_same_kitchen_from_their_side():
    world = kitchen("asymmetric_advantages")
    blue, green = world.observe(0), world.observe(1)
    np.testing.assert_array_equal(blue["me"], green["partner"])
    np.testing.assert_array_equal(blue["tiles"], green["tiles"])
    rows, columns = len(world.grid), len(world.grid[0])
    assert (blue["tiles"][:rows, :columns] >= 0).all() and (blue["tiles"] >= 0).sum() == 45
    row, column, *_ = blue["me"]
    assert TILES[blue["tiles"][row, column]] == " "


def test_held_lying_and_cooking_things_are_observed():
    seen = step(potted(kitchen(), 1), LEFT, INTERACT).observe(1)
    assert THINGS[seen["partner"][3]] == "onion"
    assert seen["filled"].sum() == 1 and (seen["cooking"] == -1).all()
    assert THINGS[seen["things"].max()] == "soup"


def test_pictures_have_one_size_and_distinguish_the_cooks():
    assert {kitchen(layout).render().shape for layout in LAYOUTS} == {(300, 540, 3)}
    world, turned = step(kitchen(), LEFT), kitchen()
    turned.step((STAY, LEFT))
    assert (world.render() != turned.render()).any()
    assert Overcooked.players == ("blue hat", "green hat")
    assert np.array_equal(world.render_player_view(1), world.render())
    assert load_domain("overcooked").sees == "observation"


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
def test_invalid_settings_are_refused(settings, said):
    with pytest.raises(StsError, match=said):
        load_domain("overcooked").generate(1, seed=0, **settings)


def test_layout_of_the_package_is_played_as_it_is_or_refused():
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
def test_layout_with_unsupported_values_is_refused(layout, lost, rules):
    with pytest.raises(ValueError, match=f"layout '{layout}' sets .*{lost}.*, which is not supp"):
        kitchen(layout, rules)


@pytest.mark.parametrize("rules", ["2019", "package"])
def test_kitchens_of_the_trials_start_by_name_and_by_their_rows(rules):
    recorded = read_table(installed_files()[1]).drop_duplicates("layout_name")["layout"]
    assert len(recorded) == len(LAYOUTS)
    for layout in (*LAYOUTS, *map(ast.literal_eval, recorded)):
        world = kitchen(layout, rules)
        world.step((LEFT, RIGHT))
        Overcooked().restore(world.state())


def blue(*cook):
    """Return players of whom the first is changed."""
    return {"players": [[*cook], [3, 1, 0, -1, None]]}


@pytest.mark.parametrize(
    "change",
    [
        {"players": [[1, 1, 0, -1, None]]},
        {"players": [[1, 1, 0, -1, None], [1, 1, 0, -1, None]]},
        *(blue(1, 1, 0, -1, "pan"), blue(0, 0, 0, -1, None), blue(1, 1, 1, 1, None)),
        *(blue(99, 1, 0, 1, None), blue(1, 1, 0, -1, ["soup", ["onion"] * 3, 5])),
        *(blue(1.0, 1, 0, -1, None), blue(True, 1, 0, -1, None), blue(1, 1, False, -1, None)),
        {"objects": [[1, 1, "onion"]]},
        {"objects": [[2, 0, "onion"]]},
        {"objects": [[2, 0, ["soup", ["onion"] * 3, 21]]]},
        {"objects": [[2, 0, ["soup", ["onion"] * 4, 1]]]},
        {"objects": [[0, 0, ["soup", ["onion"] * 3, 5]]]},
        {"objects": [[0, 2, "onion"], [0, 2, "dish"]]},
        {"objects": [[4, 2, "onion"], [0, 2, "dish"]]},
        {"objects": [[2, 0, ["soup", {"onion": 1}, -1]]]},
        *({"step": 2.9}, {"step": "3"}, {"step": 401}, {"step": -7}, {"step": True}),
        *(
            {"episode": 7},
            {"more": 7},
            {"length": 0},
            {"objects": 7},
            {"rules": "2018"},
            {"grid": 7},
        ),
    ],
)
def test_invalid_state_is_refused(change):
    own = json.loads(kitchen().state())
    Overcooked().restore(json.dumps(own).encode())
    own |= change
    with pytest.raises(ValueError):
        Overcooked().restore(json.dumps(own).encode())


def test_missing_package_names_the_extra_to_install():
    without = "import sys; sys.modules['overcooked_ai_py'] = None"
    code = f"{without}; import sts_overcooked.environment"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert "pip install 'standardised-test-suite[overcooked]'" in last
    assert last.startswith("sts.errors.MissingExtra")


@pytest.mark.parametrize("layout", ["cramped_room", "counter_circuit_o_1order"])
def test_position_is_where_the_picture_shows_the_cook(layout):
    world = kitchen(layout)
    for move in range(4):
        before, left = world.render(), world.position(0)
        world.step((move, STAY))
        after, entered = world.render(), world.position(0)
        if left != entered:
            break
    rows, columns, _ = np.nonzero(before != after)
    seen = np.array([columns.min(), rows.min()]), np.array([columns.max(), rows.max()]) + 1
    assert np.allclose(np.add(*seen) / 2, np.add(left, entered) / 2, atol=12)
    assert np.abs(np.subtract(left, entered)).max() > 20
