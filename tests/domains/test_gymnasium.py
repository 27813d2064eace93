"""Any Gymnasium environment: by its id, restored by its moves, refused where it does not replay."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, Sequence, Text, Tuple

from sts.domains import checked, domain
from sts.domains.adapted import Adapted
from sts.domains.conformance import check
from sts.domains.envelope import unwrap, wrap
from sts.domains.gymnasium import GymnasiumEnvironment, named
from sts.domains.rewards import WrongRewards
from sts.episodes import Episode
from sts.errors import ArgumentError, DamagedState, MissingExtra, StsError

ENDING = {"max_episode_steps": 15}


class Counter(gymnasium.Env):
    """Counts what is added to it; with a drift from outside its seed, it does not replay."""

    metadata = {"render_modes": ["rgb_array", "human"]}  # noqa: RUF012
    observation_space = Dict(
        {"count": Box(0, 1000, (1,)), "two": Tuple((Discrete(9), Text(9))), "said": Text(9)}
    )
    action_space = Discrete(3, start=1)
    drift: float = 0.0
    pays: float = 1.0

    def __init__(self, render_mode=None, start=0):
        self.render_mode, self.start = render_mode, start

    def _seen(self):
        number = np.array([self.count], np.float32)
        return {"count": number, "two": (int(self.count) % 9, "a"), "said": "x" * int(self.start)}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = self.start + int(self.np_random.integers(5))
        return self._seen(), {}

    def step(self, action):
        assert self.action_space.contains(action)
        self.count += action + (Counter.drift if self.count > 12 else 0)
        return self._seen(), self.pays, self.count > 30, False, {}

    def render(self):
        return np.full((4, 4, 3), int(self.count), np.uint8)


class Blind(Counter):
    metadata = {"render_modes": ["human"]}  # noqa: RUF012


class Mixed(Counter):
    action_space: Any = Tuple((Discrete(2), Discrete(2)))


class Shapeless(Counter):
    observation_space: Any = Sequence(Discrete(2))


class Cents(Counter):
    pays = 0.25


class Uncounted(Counter):
    pays = float("nan")


for kind in (Counter, Blind, Mixed, Shapeless, Cents, Uncounted):
    gymnasium.register(f"sts-tests/{kind.__name__}-v0", cast(Any, kind))


def made(kind: str, **attributes) -> GymnasiumEnvironment:
    return type(kind, (named(f"sts-tests/{kind}-v0"),), attributes)()


STEPS = {"CartPole-v1": 30}  # until it falls


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("CartPole-v1", {}),
        ("Pendulum-v1", ENDING),
        pytest.param("FrozenLake-v1", {"map_name": "4x4"}, marks=pytest.mark.landing),
        pytest.param("Taxi-v4", ENDING, marks=pytest.mark.landing),
        pytest.param("Blackjack-v1", {}, marks=pytest.mark.landing),
        pytest.param("minigrid:BabyAI-GoToLocal-v0", ENDING, marks=pytest.mark.landing),
        pytest.param("tests.domains.spaces:sts-tests/Crane-v0", ENDING, marks=pytest.mark.landing),
    ],
)
def test_environments_of_others_keep_every_claim(name, settings) -> None:
    every = list(check(f"gymnasium:{name}", settings=settings, steps=STEPS.get(name, 8), seeds=2))
    assert {one.claim: one.how for one in every if not one.ok} == {}


def test_a_subclass_names_what_gymnasium_does_not() -> None:
    class CartPole(GymnasiumEnvironment):
        id, moves = "CartPole-v1", ("left", "right")

    one = CartPole()
    assert one.moves == ("left", "right") and one.name == "CartPole-v1"
    assert one.version == f"gymnasium {gymnasium.__version__}"
    assert domain("gymnasium:CartPole-v1").moves == ("0", "1")
    with pytest.raises(ArgumentError, match="expected names for 2 actions, found 3"):
        type("Three", (CartPole,), {"moves": ("a", "b", "c")})()


def test_the_package_of_an_environment_is_in_its_version() -> None:
    import minigrid

    found = named("minigrid:MiniGrid-Empty-5x5-v0")().version
    assert found == f"gymnasium {gymnasium.__version__}, minigrid {minigrid.__version__}"


def test_observations_pass_through_flat_and_by_name() -> None:
    one = made("Counter")
    one.reset(3, start=2)
    seen = one.observe(0)
    assert list(seen) == ["count", "said", "two.0", "two.1"]
    assert seen["count"].dtype == np.float32 and seen["said"] == "xx"
    cart = named("CartPole-v1")()
    cart.reset(3)
    assert cart.observe(0)["observation"].shape == (4,)


def test_a_state_is_readable_and_holds_the_seed_the_settings_and_the_moves() -> None:
    one = made("Counter")
    one.reset(3, start=2)
    for move in (0, 2, 1):
        assert one.step([move]) == (1,)
    told = json.loads(one.state())
    assert told["seed"] == 3 and told["settings"] == {"start": 2} and told["moves"] == [0, 2, 1]
    assert len(told["marks"]) == 4
    other = made("Counter")
    other.restore(one.state())
    assert other.state() == one.state() and other.digest() == one.digest()


def test_an_environment_that_does_not_replay_is_refused_and_the_step_named(monkeypatch) -> None:
    found = cast(Adapted, domain("gymnasium:sts-tests/Counter-v0"))
    (start,) = found.generate(1, seed=0, start=7)
    batch = found.restore([start])
    for _ in range(6):
        batch.step(np.array([[1]], np.int8), np.array([[0]], np.int8))
    (state,) = batch.states()
    found.restore([state])
    monkeypatch.setattr(Counter, "drift", 1)
    with pytest.raises(DamagedState, match=r"does not replay identically: after step \d"):
        found.restore([state])
    own = json.loads(unwrap(found.name, found.version, state))
    own["seed"] += 1
    foreign = wrap(found.name, found.version, json.dumps(own).encode())
    with pytest.raises(DamagedState, match="at the start|after step"):
        found.restore([foreign])


@pytest.mark.parametrize(
    "change", [{"moves": [0, 9]}, {"marks": []}, {"seed": None}, {"settings": 3}, {"moves": "x"}]
)
def test_what_is_no_state_is_refused(change) -> None:
    one = made("Counter")
    one.reset(3)
    with pytest.raises(DamagedState, match="expected a state of sts-tests/Counter-v0"):
        one.restore(json.dumps(json.loads(one.state()) | change).encode())


def test_a_world_that_has_ended_stays_as_it_is() -> None:
    one = made("Counter")
    one.reset(3, start=28)
    while not one.ended:
        one.step([2])
    before = one.state()
    assert one.step([0]) == (0,) and one.state() == before


def test_rewards_are_whole_units_or_refused() -> None:
    def first(**attributes) -> float:
        one = made("Cents", **attributes)
        one.reset(0)
        return one.step([0])[0]

    with pytest.raises(WrongRewards, match=r"0\.25 is not a whole number of units of 1; declare"):
        first()
    assert first(reward_unit=0.25) == 1
    assert first(reward_unit=0.1, rounded=True) == 2
    with pytest.raises(WrongRewards, match="not within -128 to 127 units of 0.001"):
        first(reward_unit=0.001)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("sts-tests/Blind-v0", "expected render mode rgb_array"),
        ("sts-tests/Mixed-v0", "Discrete, MultiDiscrete, MultiBinary or Box, found Tuple"),
        ("sts-tests/Shapeless-v0", "its observations have no fixed shape"),
        ("sts-tests/Nowhere-v0", "cannot make 'sts-tests/Nowhere-v0' with Gymnasium"),
        ("nopackage:Nowhere-v0", "cannot make 'nopackage:Nowhere-v0' with Gymnasium"),
    ],
)
def test_what_cannot_be_judged_is_one_line(name, line) -> None:
    with pytest.raises(ArgumentError, match=line) as caught:
        domain(f"gymnasium:{name}")
    assert "\n" not in str(caught.value)


def test_an_environment_without_its_own_extra_is_one_line(monkeypatch) -> None:
    def make(*_, **__):
        raise gymnasium.error.DependencyNotInstalled("box2D is not installed: pip install it")

    monkeypatch.setattr(gymnasium, "make", make)
    with pytest.raises(MissingExtra, match="LunarLander-v3: box2D is not installed"):
        named("LunarLander-v3")()


def test_the_time_limit_of_an_id_is_lifted_unless_one_is_asked_for() -> None:
    def steps(**settings) -> int:
        one = named("FrozenLake-v1")()
        one.reset(3, is_slippery=False, **settings)
        for step in range(150):
            one.step([0])  # against the wall
            if one.ended:
                return step + 1
        return 0

    assert gymnasium.spec("FrozenLake-v1").max_episode_steps == 100
    assert steps() == 0 and steps(max_episode_steps=7) == 7


def test_a_reward_that_is_no_number_fails_the_claim_on_rewards() -> None:
    name = f"gymnasium:{__name__}:sts-tests/Uncounted-v0"
    (bad,) = [one for one in check(name, seeds=2, steps=4) if one.ok is False]
    assert bad.claim == "rewards"
    assert "expected a finite reward, found nan" in bad.how


def test_a_module_in_the_current_folder_registers_its_environment(tmp_path: Path) -> None:
    (tmp_path / "rooms.py").write_text(
        "import gymnasium\n"
        "gymnasium.register('Rooms-v0', entry_point='tests.domains.test_gymnasium:Counter')\n"
    )
    done = subprocess.run(
        [Path(sys.executable).with_name("sts"), "domain", "check", "gymnasium:rooms:Rooms-v0"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_an_id_there_is_no_environment() -> None:
    with pytest.raises(StsError, match="has no `id`"):
        GymnasiumEnvironment()


def test_a_recording_is_read_where_what_draws_its_world_is_not_installed(monkeypatch):
    def missing(self):
        raise gymnasium.error.DependencyNotInstalled("pygame is not installed")

    name = "gymnasium:sts-tests/Counter-v0"
    (state,) = domain(name).generate(1, seed=0)
    nothing = np.zeros((0, 1), np.int8)
    walk = Episode(name, state, nothing, nothing, nothing, domain(name).restore([state]).scene)
    monkeypatch.setattr(Counter, "render", missing)
    assert checked([walk], ["it"]) == [walk]
    with pytest.raises(MissingExtra, match="pygame"):
        domain(name).picture(state)
