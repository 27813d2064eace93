"""Wrapper that makes an `Environment` of any Gymnasium environment.

Actions may be Discrete, MultiDiscrete, MultiBinary or Box; all but the first are recorded with
their dtype and shape. Use the ID, `gymnasium:CartPole-v1` (`gymnasium:rooms:Rooms-v0` if the module
`rooms` registers it), or a subclass:

    class CartPole(GymnasiumEnvironment):
        id, action_names, noop = "CartPole-v1", ("left", "right"), 0

A state is the seed, the settings and all actions so far, as JSON, with a digest after each step of
all outputs so far: observation, reward, terminated, truncated. Restoring replays it; docs/worlds.md
describes what that costs, and how time limits and rewards are treated. After the first step, an
environment with `get_state()`, which returns bytes, and `set_state(bytes)` is restored from these
instead. The `info` of steps is dropped. Needs the extra `gym`.
"""

import hashlib
import json
import math
import os
import struct
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sts.domains.actions import ActionSpace, make_discrete_space
from sts.domains.rewards import MAX_REWARD, MIN_REWARD, InvalidRewards
from sts.errors import ArgumentError, DamagedState, MissingExtra
from sts.registry import add_current_folder
from sts.storage.files import canonical_json

try:
    import gymnasium
except ImportError:
    raise MissingExtra(
        "a Gymnasium environment needs gymnasium, which is not installed: "
        "pip install 'standardised-test-suite[gym]'"
    ) from None

_DIGEST_BYTES = 8
_ROUNDING_TOLERANCE = 1e-6
_ENDING = struct.Struct("<d??")
_SHAPELESS = (gymnasium.spaces.Sequence, gymnasium.spaces.Graph, gymnasium.spaces.OneOf)


class GymnasiumEnvironment:
    """An instance of the Gymnasium environment `id`, with one player.

    Attributes:
      id: for `gymnasium.make`.
      kwargs: further arguments of `gymnasium.make`; a recording's settings override them.
      name: in recordings; by default the ID.
      version: by default, the versions of gymnasium and of the environment's package.
      action_names: names of Discrete actions; by default their numbers.
      action_space: the action space if it is not Discrete; else None.
      noop: the action that does nothing, or least; by default 0, or the nearest within bounds.
      reward_unit: the value of a reward of 1; rewards must be -128 to 127 whole units. None keeps
        rewards as float64. By default 1 if actions are Discrete, else None.
      rounded: if True, round rewards to whole units, which loses up to half a unit per step.
      live: the wrapped Gymnasium environment.
    """

    id: ClassVar[str] = ""
    kwargs: ClassVar[Mapping[str, Any]] = {}
    name: str = ""
    version: str = ""
    action_names: tuple[str, ...] = ()
    noop: Any = None
    players: ClassVar[tuple[str, ...]] = ("agent",)
    reward_unit: float | None
    rounded: ClassVar[bool] = False
    _space: ActionSpace
    _first_action: int | None
    _settings: dict[str, Any]

    def __init__(self) -> None:
        """Construct the environment, which has yet to be reset or restored.

        Raises:
          ArgumentError: the ID is unknown, the action space is not supported, the environment does
            not render pixels, or its observations have no fixed shape.
        """
        self._make_env({})
        self.name = self.name or self.id
        self._has_snapshots = self._find_snapshots()
        snapshots = ", get_state" if self._has_snapshots else ""
        self.version = self.version or _describe_versions(self.live) + snapshots
        self.action_space = self._space if self._first_action is None else None
        count = int(self._space.high) + 1 if self.action_space is None else 0
        if self.action_names and len(self.action_names) != count:
            description = f"{count} actions" if count else f"actions {self._space.describe()}"
            raise ArgumentError(
                f"{self.id}: expected names for {description}, found {len(self.action_names)}"
            )
        self.action_names = self.action_names or tuple(str(i) for i in range(count))
        if not hasattr(self, "reward_unit"):
            self.reward_unit = 1.0 if self.action_names else None
        if self.noop is None:
            self.noop = np.clip(0, self._space.low, self._space.high) if self.action_space else 0

    def reset(self, seed: int, **settings: Any) -> None:
        """Generate the instance of `seed`; `settings` are passed to `gymnasium.make`."""
        if settings != self._settings:
            self._make_env(settings)
        self._seed, self._moves, self._marks = int(seed), list[Any](), list[bytes]()
        self._last, _ = self.live.reset(seed=self._seed)
        self.ended = self.truncated = False
        self._mark = b""
        self._has_stepped = False
        self._update_digest(0.0, False, False)

    def step(self, actions: Sequence[Any]) -> Sequence[float]:
        """Take the one player's action and return its reward in units, 0 after the end.

        Raises:
          InvalidRewards: the reward is not a whole number of units, or out of range.
        """
        if self.ended:
            return (0,)
        (move,) = actions
        self._has_stepped = True
        if self._first_action is None:
            move = np.array(move, self._space.dtype)  # a copy, which the environment may modify
            self._moves.append(move.tolist())
            outcome = self._step_live(move)
        else:
            self._moves.append(int(move))
            outcome = self._step_live(self._first_action + move)
        self._last, raw_reward, terminated, truncated, _ = outcome
        self.ended = bool(terminated or truncated)
        self.truncated = bool(truncated and not terminated)
        reward = float(raw_reward)
        self._update_digest(reward, terminated, truncated)
        if self.reward_unit is None:
            return (reward,)
        units = reward / self.reward_unit
        if units.is_integer() and MIN_REWARD <= units <= MAX_REWARD:
            return (int(units),)
        return (self._round_reward(reward, units),)

    def state(self) -> bytes:
        """Return seed, settings and actions as JSON, with a digest before and after each step.

        After a step, an environment with `get_state` returns its own state instead of the actions.
        """
        if self._uses_snapshot():
            leaves = {key: np.asarray(value) for key, value in flatten_observation("", self._last)}
            return canonical_json(
                {
                    "seed": self._seed,
                    "settings": self._settings,
                    "snapshot": self._bare.get_state().hex(),
                    "mark": self._mark.hex(),
                    "end": [self.ended, self.truncated],
                    "seen": {
                        key: [leaf.dtype.str, leaf.shape, leaf.tobytes().hex()]
                        for key, leaf in leaves.items()
                    },
                }
            )
        return canonical_json(
            {
                "seed": self._seed,
                "settings": self._settings,
                "moves": self._moves,
                "marks": [mark.hex() for mark in self._marks],
            }
        )

    def restore(self, state: bytes) -> None:
        """Replay the actions of `state`, and verify the digest after each; or set its snapshot.

        Raises:
          DamagedState: it is not a state, or does not replay identically; names the step.
        """
        try:
            content = json.loads(state)
            seed, settings = int(content["seed"]), dict(content["settings"])
            if self._has_snapshots and "snapshot" in content:
                self._restore_snapshot(seed, settings, content)
                return
            actions, marks = content["moves"], [bytes.fromhex(m) for m in content["marks"]]
            action_array = np.array(actions, np.float64).reshape(len(actions), *self._space.shape)
        except (ValueError, TypeError, LookupError) as error:
            raise DamagedState(f"expected a state of {self.id}, found {state!r:.60}") from error
        if len(marks) != len(actions) + 1 or not self._space.is_within_bounds(action_array):
            raise DamagedState(f"expected a state of {self.id}, found one with invalid actions")
        actions = list(action_array.astype(self._space.dtype))
        self.reset(seed, **settings)
        for step, mark in enumerate(marks):
            if step:
                self.step(actions[step - 1 : step])
            if len(self._marks) != step + 1 or self._marks[step] != mark:
                when = f"after step {step - 1}" if step else "at the start"
                raise DamagedState(
                    f"{self.id} does not replay identically: {when} it differs from when the state "
                    "was serialised"
                )

    def _restore_snapshot(self, seed: int, settings: dict[str, Any], content: Any) -> None:
        """Continue from `get_state`; raise DamagedState if it is not what was set."""
        self.reset(seed, **settings)
        snapshot, self._mark = bytes.fromhex(content["snapshot"]), bytes.fromhex(content["mark"])
        self._bare.set_state(snapshot)
        if self._bare.get_state() != snapshot:
            raise DamagedState(f"{self.id}: get_state differs from what set_state was given")
        self._last = {
            key: np.frombuffer(bytes.fromhex(raw), np.dtype(kind)).reshape(shape)
            for key, (kind, shape, raw) in content["seen"].items()
        }
        self.ended, self.truncated = map(bool, content["end"])
        self._has_stepped = True

    def _find_snapshots(self) -> bool:
        """Return True if the environment has `set_state`, and `get_state` that returns bytes."""
        if not (hasattr(self._bare, "get_state") and hasattr(self._bare, "set_state")):
            return False
        self._bare.reset(seed=0)
        try:
            return isinstance(self._bare.get_state(), bytes)
        except TypeError:  # it needs arguments
            return False

    def _uses_snapshot(self) -> bool:
        """Return True if the present state is a snapshot: not at the start, which a seed describes.

        Wrappers, such as a time limit, may have a state of their own, so they prevent it.
        """
        is_bare = self._bare in (self.live, getattr(self.live, "env", None))
        return self._has_snapshots and self._has_stepped and is_bare

    @property
    def _bare(self) -> Any:
        """The environment without Gymnasium's wrappers."""
        return self.live.unwrapped

    def digest(self) -> bytes:
        """Return the digest of all outputs of the environment so far."""
        return self._mark

    def observe(self, player: int) -> dict[str, Any]:
        """Return the last observation: an array as "observation", a dict flattened."""
        return {key: np.array(value) for key, value in flatten_observation("", self._last)}

    def render(self) -> NDArray[np.uint8]:
        """Render pixels.

        Raises:
          MissingExtra: rendering needs a library that is not installed.
        """
        try:
            return np.asarray(self.live.render())
        except gymnasium.error.DependencyNotInstalled as error:
            raise MissingExtra(f"{self.id}: {error}") from error

    def _make_env(self, settings: Mapping[str, Any]) -> None:
        if not self.id:
            raise ArgumentError(f"{type(self).__name__} has no `id`; set it to a Gymnasium ID")
        options: dict[str, Any] = {"render_mode": "rgb_array", "disable_env_checker": True}
        endless = {"max_episode_steps": -1}
        add_current_folder()
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # render without a screen
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # render modes are checked below
                self.live: gymnasium.Env[Any, Any] = gymnasium.make(
                    self.id, **options, **{**endless, **self.kwargs, **settings}
                )
        except gymnasium.error.DependencyNotInstalled as error:
            raise MissingExtra(f"{self.id}: {error}") from error
        except (gymnasium.error.Error, ImportError, TypeError, ValueError) as error:
            raise ArgumentError(f"cannot make {self.id!r} with Gymnasium: {error}") from error
        # A reset always precedes a step here, so the wrapper that ensures this is left out.
        live: Any = self.live
        is_ordered = isinstance(live, gymnasium.wrappers.OrderEnforcing)
        self._step_live = live.env.step if is_ordered else live.step
        space = self.live.action_space
        try:
            declared = convert_action_space(space)
        except ArgumentError as error:
            raise error.with_prefix(self.id) from None
        if not declared.is_equal(getattr(self, "_space", declared)):
            raise ArgumentError(
                f"{self.id}: these settings change its actions from {self._space.describe()} to "
                f"{declared.describe()}; put them into the `kwargs` of a subclass"
            )
        self._space = declared
        self._first_action = (
            int(space.start) if isinstance(space, gymnasium.spaces.Discrete) else None
        )
        if "rgb_array" not in self.live.metadata.get("render_modes", ()):
            raise ArgumentError(
                f"{self.id}: expected render mode rgb_array, which annotators need; found "
                f"{', '.join(self.live.metadata.get('render_modes', ())) or 'none'}"
            )
        if any(
            isinstance(leaf, _SHAPELESS)
            for _, leaf in flatten_observation("", self.live.observation_space)
        ):
            raise ArgumentError(f"{self.id}: its observations have no fixed shape")
        self._settings = dict(settings)

    def _update_digest(self, reward: float, terminated: bool, truncated: bool) -> None:
        """Add the outputs of the last step to the digest."""
        last = self._last
        if type(last) is np.ndarray:
            observation_bytes = last.tobytes()
        else:
            observation_bytes = b"".join(
                _encode_leaf(key, value) for key, value in flatten_observation("", last)
            )
        outputs = self._mark + _ENDING.pack(reward, terminated, truncated) + observation_bytes
        self._mark = hashlib.blake2b(outputs, digest_size=_DIGEST_BYTES).digest()
        self._marks.append(self._mark)

    def _round_reward(self, reward: float, units: float) -> int:
        """Round to a whole number of units; raise InvalidRewards if the error is too large."""
        if not math.isfinite(units):
            raise InvalidRewards(f"{self.id}: expected a finite reward, found {reward:g}")
        nearest = round(units)
        if not MIN_REWARD <= nearest <= MAX_REWARD:
            raise InvalidRewards(
                f"{self.id}: a reward of {reward:g} is not within {MIN_REWARD} to {MAX_REWARD} "
                f"units of {self.reward_unit:g}; declare another reward_unit"
            )
        if not self.rounded and abs(units - nearest) > _ROUNDING_TOLERANCE:
            raise InvalidRewards(
                f"{self.id}: a reward of {reward:g} is not a whole number of units of "
                f"{self.reward_unit:g}; declare a reward_unit that divides it, None for real "
                "rewards, or rounded = True"
            )
        return nearest


def convert_action_space(space: gymnasium.Space[Any]) -> ActionSpace:
    """Convert a Gymnasium action space; Discrete actions are numbered from 0.

    Raises:
      ArgumentError: the kind of space is not supported.
    """
    if isinstance(space, gymnasium.spaces.Discrete):
        return make_discrete_space(int(space.n))
    if isinstance(space, gymnasium.spaces.MultiDiscrete):
        low, high = space.start, space.start + space.nvec - 1
    elif isinstance(space, gymnasium.spaces.MultiBinary):
        low, high = np.zeros(space.shape), np.ones(space.shape)
    elif isinstance(space, gymnasium.spaces.Box):
        low, high = space.low, space.high
    else:
        raise ArgumentError(
            "expected actions that are Discrete, MultiDiscrete, MultiBinary or Box, found "
            f"{type(space).__name__}"
        )
    return ActionSpace(np.dtype(space.dtype), low, high)


def make_environment_class(id: str) -> type[GymnasiumEnvironment]:
    """Return a class for the Gymnasium environment `id`."""
    return type("Gymnasium", (GymnasiumEnvironment,), {"id": id})


def flatten_observation(name: str, value: Any) -> list[tuple[str, Any]]:
    """Flatten an observation, or its space, to named leaves: "image", "position.x", "0"."""
    if isinstance(value, Mapping):
        pairs = [(str(key), value[key]) for key in sorted(value)]
    elif isinstance(value, tuple | gymnasium.spaces.Tuple):
        pairs = [(str(i), part) for i, part in enumerate(value)]
    else:
        return [(name or "observation", value)]
    prefix = f"{name}." if name else ""
    return [leaf for key, part in pairs for leaf in flatten_observation(f"{prefix}{key}", part)]


def _encode_leaf(key: str, value: Any) -> bytes:
    raw = value.encode() if isinstance(value, str) else np.asarray(value).tobytes()
    return key.encode() + raw


def _describe_versions(env: gymnasium.Env[Any, Any]) -> str:
    """Return the versions of gymnasium and of the environment's package."""
    package = type(env.unwrapped).__module__.partition(".")[0]
    parts = [f"gymnasium {gymnasium.__version__}"]
    if package != "gymnasium":
        try:
            parts.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            declared = getattr(import_module(package), "__version__", None)
            parts += [f"{package} {declared}"] if declared else []
    return ", ".join(parts)
