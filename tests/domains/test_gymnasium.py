"""Any Gymnasium environment by its id: restored from its moves, refused if it does not replay."""

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

from sts.domains import load_domain, validate_episodes
from sts.domains.adapter import EnvironmentDomain
from sts.domains.conformance import check
from sts.domains.envelope import add_envelope, remove_envelope
from sts.domains.gymnasium import GymnasiumEnvironment, make_environment_class
from sts.domains.rewards import InvalidRewards
from sts.episodes import Episode
from sts.errors import ArgumentError, DamagedState, MissingExtra, StsError

ENDING = {"max_episode_steps": 15}


class Counter(gymnasium.Env):
    """Counts what is added to it; with a drift outside its seed, it does not replay."""

    metadata = {"render_modes": ["rgb_array", "human"]}  # noqa: RUF012
    observation_space = Dict(
        {"count": Box(0, 1000, (1,)), "two": Tuple((Discrete(9), Text(9))), "said": Text(9)}
    )
    action_space = Discrete(3, start=1)
    drift: float = 0.0
    pays: float = 1.0

    def __init__(self, render_mode=None, start=0):
        self.render_mode, self.start = render_mode, start

    def _observe(self):
        number = np.array([self.count], np.float32)
        return {"count": number, "two": (int(self.count) % 9, "a"), "said": "x" * int(self.start)}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = self.start + int(self.np_random.integers(5))
        return self._observe(), {}

    def step(self, action):
        assert self.action_space.contains(action)
        self.count += action + (Counter.drift if self.count > 12 else 0)
        return self._observe(), self.pays, self.count > 30, False, {}

    def render(self):
        return np.full((4, 4, 3), int(self.count), np.uint8)


KINDS: dict[str, dict[str, Any]] = {
    "Counter": {},
    "Blind": {"metadata": {"render_modes": ["human"]}},
    "Mixed": {"action_space": Tuple((Discrete(2), Discrete(2)))},
    "Shapeless": {"observation_space": Sequence(Discrete(2))},
    "Cents": {"pays": 0.25},
    "Uncounted": {"pays": float("nan")},
}
for name, attributes in KINDS.items():
    gymnasium.register(f"sts-tests/{name}-v0", cast(Any, type(name, (Counter,), attributes)))


def make(kind: str, **attributes: Any) -> GymnasiumEnvironment:
    return type(kind, (make_environment_class(f"sts-tests/{kind}-v0"),), attributes)()


STEPS = {"CartPole-v1": 30}  # until it falls


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        pytest.param("CartPole-v1", {}, marks=pytest.mark.landing),
        ("Pendulum-v1", ENDING),
        pytest.param("FrozenLake-v1", {"map_name": "4x4"}, marks=pytest.mark.landing),
        pytest.param("Taxi-v4", ENDING, marks=pytest.mark.slow),
        pytest.param("Blackjack-v1", {}, marks=pytest.mark.landing),
        pytest.param("minigrid:BabyAI-GoToLocal-v0", ENDING, marks=pytest.mark.slow),
        pytest.param("tests.domains.spaces:sts-tests/Crane-v0", ENDING, marks=pytest.mark.landing),
    ],
)
def test_environments_of_other_packages_keep_every_claim(name, settings):
    every = list(check(f"gymnasium:{name}", settings=settings, steps=STEPS.get(name, 8), seeds=2))
    assert {one.claim: one.how for one in every if not one.ok} == {}


def test_subclass_names_the_actions():
    class CartPole(GymnasiumEnvironment):
        id, action_names = "CartPole-v1", ("left", "right")

    one = CartPole()
    assert one.action_names == ("left", "right") and one.name == "CartPole-v1"
    assert load_domain("gymnasium:CartPole-v1").action_names == ("0", "1")
    with pytest.raises(ArgumentError, match="expected names for 2 actions, found 3"):
        type("Three", (CartPole,), {"action_names": ("a", "b", "c")})()
    with pytest.raises(StsError, match="has no `id`"):
        GymnasiumEnvironment()


def test_version_names_gymnasium_and_the_package_of_the_environment():
    import minigrid

    version = f"gymnasium {gymnasium.__version__}"
    assert make_environment_class("CartPole-v1")().version == version
    found = make_environment_class("minigrid:MiniGrid-Empty-5x5-v0")().version
    assert found == f"{version}, minigrid {minigrid.__version__}"


def test_observations_are_flattened_by_name():
    one = make("Counter")
    one.reset(3, start=2)
    seen = one.observe(0)
    assert list(seen) == ["count", "said", "two.0", "two.1"]
    assert seen["count"].dtype == np.float32 and seen["said"] == "xx"
    cart = make_environment_class("CartPole-v1")()
    cart.reset(3)
    assert cart.observe(0)["observation"].shape == (4,)


def test_state_holds_seed_settings_and_moves_and_restores_the_environment():
    one, other = make("Counter"), make("Counter")
    one.reset(3, start=2)
    for move in (0, 2, 1):
        assert one.step([move]) == (1,)
    state = json.loads(one.state())
    assert (state["seed"], state["settings"], state["moves"]) == (3, {"start": 2}, [0, 2, 1])
    assert len(state["marks"]) == 4
    other.restore(one.state())
    assert other.state() == one.state() and other.digest() == one.digest()


def test_environment_that_does_not_replay_is_refused_with_the_step(monkeypatch):
    found = cast(EnvironmentDomain, load_domain("gymnasium:sts-tests/Counter-v0"))
    (start,) = found.generate(1, seed=0, start=7)
    batch = found.restore([start])
    for _ in range(6):
        batch.step(np.array([[1]], np.int8), np.array([[0]], np.int8))
    (state,) = batch.states()
    found.restore([state])
    monkeypatch.setattr(Counter, "drift", 1)
    with pytest.raises(DamagedState, match=r"does not replay identically: after step \d"):
        found.restore([state])
    own = json.loads(remove_envelope(found.name, found.version, state))
    own["seed"] += 1
    foreign = add_envelope(found.name, found.version, json.dumps(own).encode())
    with pytest.raises(DamagedState, match="at the start|after step"):
        found.restore([foreign])


@pytest.mark.parametrize(
    "change", [{"moves": [0, 9]}, {"marks": []}, {"seed": None}, {"settings": 3}, {"moves": "x"}]
)
def test_invalid_state_is_refused(change):
    one = make("Counter")
    one.reset(3)
    with pytest.raises(DamagedState, match="expected a state of sts-tests/Counter-v0"):
        one.restore(json.dumps(json.loads(one.state()) | change).encode())


def test_ended_world_no_longer_changes():
    one = make("Counter")
    one.reset(3, start=28)
    while not one.ended:
        one.step([2])
    before = one.state()
    assert one.step([0]) == (0,) and one.state() == before


def test_rewards_must_be_whole_units():
    def first(**attributes: Any) -> float:
        one = make("Cents", **attributes)
        one.reset(0)
        return one.step([0])[0]

    with pytest.raises(InvalidRewards, match=r"0\.25 is not a whole number of units of 1; declare"):
        first()
    assert first(reward_unit=0.25) == 1
    assert first(reward_unit=0.1, rounded=True) == 2
    with pytest.raises(InvalidRewards, match="not within -128 to 127 units of 0.001"):
        first(reward_unit=0.001)
    name = f"gymnasium:{__name__}:sts-tests/Uncounted-v0"
    (bad,) = [one for one in check(name, seeds=2, steps=4) if one.ok is False]
    assert bad.claim == "rewards" and "expected a finite reward, found nan" in bad.how


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
def test_unsupported_environment_is_refused(name, line):
    with pytest.raises(ArgumentError, match=line) as caught:
        load_domain(f"gymnasium:{name}")
    assert "\n" not in str(caught.value)


def missing(*_: Any, **__: Any) -> None:
    raise gymnasium.error.DependencyNotInstalled("pygame is not installed: pip install it")


def test_missing_dependency_of_an_environment_is_named(monkeypatch):
    monkeypatch.setattr(gymnasium, "make", missing)
    with pytest.raises(MissingExtra, match="LunarLander-v3: pygame is not installed"):
        make_environment_class("LunarLander-v3")()


def test_recording_is_read_without_what_draws_its_world(monkeypatch):
    name = "gymnasium:sts-tests/Counter-v0"
    (state,) = load_domain(name).generate(1, seed=0)
    nothing = np.zeros((0, 1), np.int8)
    walk = Episode(name, state, nothing, nothing, nothing, load_domain(name).restore([state]).scene)
    monkeypatch.setattr(Counter, "render", missing)
    assert validate_episodes([walk], ["it"]) == [walk]
    with pytest.raises(MissingExtra, match="pygame"):
        load_domain(name).scene_layout(state)


def test_time_limit_of_an_environment_applies_only_when_set():
    def count_steps(**settings: Any) -> int:
        one = make_environment_class("FrozenLake-v1")()
        one.reset(3, is_slippery=False, **settings)
        for step in range(150):
            one.step([0])  # against the wall
            if one.ended:
                return step + 1
        return 0

    assert gymnasium.spec("FrozenLake-v1").max_episode_steps == 100
    assert count_steps() == 0 and count_steps(max_episode_steps=7) == 7


def test_module_in_the_current_folder_registers_its_environment(tmp_path):
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


class Saved(Counter):
    """A counter with its own state, which counts the steps that are made."""

    made = 0

    def step(self, action):
        Saved.made += 1
        return super().step(action)

    def get_state(self):
        return json.dumps([int(self.count), self.np_random.bit_generator.state]).encode()

    def set_state(self, state):
        self.count, self.np_random.bit_generator.state = json.loads(state)


SAVED = "gymnasium:tests.domains.test_gymnasium:sts-tests/Saved-v0"


class Forgetful(Saved):
    def set_state(self, state):
        super().set_state(state)
        self.count += 1


for kind in (Saved, Forgetful):
    gymnasium.register(f"sts-tests/{kind.__name__}-v0", entry_point=cast(Any, kind))


def test_environment_with_a_state_of_its_own_is_restored_without_its_steps(monkeypatch):
    one, other = (make_environment_class("sts-tests/Saved-v0")() for _ in range(2))
    assert one.version.endswith(", get_state")
    one.reset(3, start=2)
    assert json.loads(one.state())["moves"] == []
    for move in (0, 2, 1):
        one.step([move])
    state, made = one.state(), Saved.made
    other.restore(state)
    assert Saved.made == made and "moves" not in json.loads(state)
    assert other.state() == state and other.digest() == one.digest()
    seen, again = one.observe(0), other.observe(0)
    assert {key: value.tolist() for key, value in seen.items()} == {
        key: value.tolist() for key, value in again.items()
    }
    assert one.step([1]) == other.step([1]) and other.state() == one.state()


def test_environment_with_a_state_of_its_own_and_a_time_limit_replays_its_steps():
    one, other = (make_environment_class("sts-tests/Saved-v0")() for _ in range(2))
    one.reset(3, max_episode_steps=3)
    one.step([0])
    assert json.loads(one.state())["moves"] == [0]
    other.restore(one.state())
    for world in (one, other):
        world.step([0])
        world.step([0])
        assert world.truncated


def test_state_that_set_state_does_not_restore_is_refused():
    one = make_environment_class("sts-tests/Forgetful-v0")()
    one.reset(3)
    one.step([0])
    with pytest.raises(DamagedState, match="get_state differs from what set_state was given"):
        one.restore(one.state())


def test_environment_with_a_state_of_its_own_keeps_every_claim():
    every = list(check(SAVED, steps=8, seeds=2))
    assert {one.claim: one.how for one in every if not one.ok} == {}
