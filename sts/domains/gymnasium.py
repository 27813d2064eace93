"""Any Gymnasium environment as a world that can be restored.

Its actions are Discrete, or MultiDiscrete, MultiBinary or Box; those of the last three are recorded
as they are, with their dtype and shape.

By its id, `gymnasium:CartPole-v1` (`gymnasium:rooms:Rooms-v0` where a module registers it),
or by a class that says more:

    class CartPole(GymnasiumEnvironment):
        id, moves, noop = "CartPole-v1", ("left", "right"), 0

A state is the seed, the settings and the moves made so far, as JSON, with a digest after each step
of all that has come out so far: observation, reward, terminated, truncated. No pickle is ever read.
docs/worlds.md says what that costs, and what becomes of time limits and rewards. The `info` of a
step is lost. Needs the extra `gym`.
"""

from __future__ import annotations

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

from sts.domains.actions import ActionSpace, discrete
from sts.domains.rewards import LEAST, MOST, WrongRewards
from sts.errors import ArgumentError, DamagedState, MissingExtra
from sts.registry import look_here
from sts.storage.files import canonical_json

try:
    import gymnasium
except ImportError:
    raise MissingExtra(
        "a Gymnasium environment needs gymnasium, which is not installed: "
        "pip install 'standardised-test-suite[gym]'"
    ) from None

_MARK = 8
_CLOSE = 1e-6
_WHOLE = frozenset(range(LEAST, MOST + 1))
_ENDING = struct.Struct("<d??")
_SHAPELESS = (gymnasium.spaces.Sequence, gymnasium.spaces.Graph, gymnasium.spaces.OneOf)


class GymnasiumEnvironment:
    """One world of the environment `id`, with one participant.

    Attributes:
      id: as `gymnasium.make` takes it.
      kwargs: what `gymnasium.make` is to be given besides; a recording's own settings come on top.
      name: what recordings call it; the id unless it is said.
      version: gymnasium's and that of the package that the environment is from, unless it is said.
      moves: names of Discrete actions; their numbers unless they are said.
      actions: what they are where they are not Discrete; else None.
      noop: the move that does nothing, or as little as any; 0, or what is nearest to it, unless it
        is said.
      reward_unit: what a reward of 1 is worth; a reward must be a whole number of units, -128 to
        127, and is refused otherwise. None keeps rewards as float64. Unless it is said it is 1
        where actions are Discrete, and None elsewhere.
      rounded: True takes the nearest unit instead, which loses up to half a unit at each step.
      live: Gymnasium's own environment, for a category to look at.
    """

    id: ClassVar[str] = ""
    kwargs: ClassVar[Mapping[str, Any]] = {}
    name: str = ""
    version: str = ""
    moves: tuple[str, ...] = ()
    noop: Any = None
    participants: ClassVar[tuple[str, ...]] = ("agent",)
    reward_unit: float | None
    rounded: ClassVar[bool] = False
    _space: ActionSpace
    _first: int | None
    _settings: dict[str, Any]

    def __init__(self) -> None:
        """Make the environment, and no world yet: `reset` or `restore` does.

        Raises:
          ArgumentError: Gymnasium knows none of that id, its actions are of no such space, it does
            not render pixels, or what it shows has no fixed shape.
        """
        self._begin({})
        self.name = self.name or self.id
        self.version = self.version or _version(self.live)
        self.actions = self._space if self._first is None else None
        count = int(self._space.high) + 1 if self.actions is None else 0
        if self.moves and len(self.moves) != count:
            found = f"{count} actions" if count else f"actions {self._space.text()}"
            raise ArgumentError(f"{self.id} has {found}, and {len(self.moves)} are named")
        self.moves = self.moves or tuple(str(i) for i in range(count))
        if not hasattr(self, "reward_unit"):
            self.reward_unit = 1.0 if self.moves else None
        if self.noop is None:
            self.noop = np.clip(0, self._space.low, self._space.high) if self.actions else 0

    def reset(self, seed: int, **settings: Any) -> None:
        """Begins the world of `seed`; `settings` are passed to `gymnasium.make`."""
        if settings != self._settings:
            self._begin(settings)
        self._seed, self._made, self._marks = int(seed), list[Any](), list[bytes]()
        self._last, _ = self.live.reset(seed=self._seed)
        self.ended = self.truncated = False
        self._mark = b""
        self._note(0.0, False, False)

    def step(self, moves: Sequence[Any]) -> Sequence[float]:
        """Make the one participant's move and return its reward, in units; nothing once ended.

        Raises:
          WrongRewards: the reward is no whole number of units, or out of range.
        """
        if self.ended:
            return (0,)
        (move,) = moves
        if self._first is None:
            move = np.array(move, self._space.dtype)  # its own: an environment may write to it
            self._made.append(move.tolist())
            outcome = self.live.step(move)
        else:
            self._made.append(int(move))
            outcome = self.live.step(self._first + move)
        self._last, given, terminated, truncated, _ = outcome
        self.ended = bool(terminated or truncated)
        self.truncated = bool(truncated and not terminated)
        reward = float(given)
        self._note(reward, terminated, truncated)
        if self.reward_unit is None:
            return (reward,)
        units = reward / self.reward_unit
        if units in _WHOLE:
            return (int(units),)
        return (self._rounded(reward, units),)

    def state(self) -> bytes:
        """Return the seed, the settings, the moves, and a digest before and after each of them."""
        return canonical_json(
            {
                "seed": self._seed,
                "settings": self._settings,
                "moves": self._made,
                "marks": [mark.hex() for mark in self._marks],
            }
        )

    def restore(self, state: bytes) -> None:
        """Make the moves of `state` again, and holds each against its digest.

        Raises:
          DamagedState: it is no state, or the environment does not replay it; names the step.
        """
        try:
            told = json.loads(state)
            seed, settings = int(told["seed"]), dict(told["settings"])
            moves, marks = told["moves"], [bytes.fromhex(m) for m in told["marks"]]
            made = np.array(moves, np.float64).reshape(len(moves), *self._space.shape)
        except (ValueError, TypeError, LookupError) as error:
            raise DamagedState(f"expected a state of {self.id}, found {state!r:.60}") from error
        if len(marks) != len(moves) + 1 or not self._space.within(made):
            raise DamagedState(f"expected a state of {self.id}, found moves that cannot be made")
        moves = list(made.astype(self._space.dtype))
        self.reset(seed, **settings)
        for step, mark in enumerate(marks):
            if step:
                self.step(moves[step - 1 : step])
            if len(self._marks) != step + 1 or self._marks[step] != mark:
                when = f"after step {step - 1}" if step else "as it begins"
                raise DamagedState(
                    f"{self.id} does not replay identically: {when} it is not as it was when the "
                    "state was taken"
                )

    def digest(self) -> bytes:
        """Return the digest of all that has come out of it so far."""
        return self._mark

    def observe(self, role: int) -> dict[str, Any]:
        """Return the last observation: an array is called "observation"; dicts are flattened."""
        return {key: np.array(value) for key, value in flat("", self._last)}

    def render(self) -> NDArray[np.uint8]:
        """Return its pixels.

        Raises:
          MissingExtra: it needs a library to draw that is not installed.
        """
        try:
            return np.asarray(self.live.render())
        except gymnasium.error.DependencyNotInstalled as error:
            raise MissingExtra(f"{self.id}: {error}") from error

    def _begin(self, settings: Mapping[str, Any]) -> None:
        if not self.id:
            raise ArgumentError(f"{type(self).__name__} names no environment: expected an `id`")
        wanted: dict[str, Any] = {"render_mode": "rgb_array", "disable_env_checker": True}
        endless = {"max_episode_steps": -1}
        look_here()
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # pixels need no screen
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a render mode that it has not; see below
                self.live: gymnasium.Env[Any, Any] = gymnasium.make(
                    self.id, **wanted, **{**endless, **self.kwargs, **settings}
                )
        except gymnasium.error.DependencyNotInstalled as error:
            raise MissingExtra(f"{self.id}: {error}") from error
        except (gymnasium.error.Error, ImportError, TypeError, ValueError) as error:
            raise ArgumentError(f"Gymnasium does not make {self.id!r}: {error}") from error
        space = self.live.action_space
        try:
            taken = actions_of(space)
        except ArgumentError as error:
            raise error.about(self.id) from None
        if not taken.same(getattr(self, "_space", taken)):
            raise ArgumentError(
                f"{self.id}: these settings change its actions from {self._space.text()} to "
                f"{taken.text()}; name them in a class of your own, as `kwargs`"
            )
        self._space = taken
        self._first = int(space.start) if isinstance(space, gymnasium.spaces.Discrete) else None
        if "rgb_array" not in self.live.metadata.get("render_modes", ()):
            raise ArgumentError(
                f"{self.id} does not render as rgb_array, and a judge must see something"
            )
        if any(isinstance(one, _SHAPELESS) for _, one in flat("", self.live.observation_space)):
            raise ArgumentError(f"{self.id}: what it shows has no fixed shape")
        self._settings = dict(settings)

    def _note(self, reward: float, terminated: bool, truncated: bool) -> None:
        """Add what has just come out to the digest of all that came before."""
        last = self._last
        if type(last) is np.ndarray:
            seen = last.tobytes()
        else:
            seen = b"".join(_bytes(key, value) for key, value in flat("", last))
        told = self._mark + _ENDING.pack(reward, terminated, truncated) + seen
        self._mark = hashlib.blake2b(told, digest_size=_MARK).digest()
        self._marks.append(self._mark)

    def _rounded(self, reward: float, units: float) -> int:
        """Return the nearest whole number of units, where that is allowed."""
        if not math.isfinite(units):
            raise WrongRewards(f"{self.id}: a reward of {reward:g} is no number of units")
        whole = round(units)
        if not LEAST <= whole <= MOST:
            raise WrongRewards(
                f"{self.id}: a reward of {reward:g} is not within {LEAST} to {MOST} units of "
                f"{self.reward_unit:g}; declare another reward_unit"
            )
        if not self.rounded and abs(units - whole) > _CLOSE:
            raise WrongRewards(
                f"{self.id}: a reward of {reward:g} is no whole number of units of "
                f"{self.reward_unit:g}; declare a reward_unit that divides it, None for rewards "
                "that have no unit, or rounded = True"
            )
        return whole


def actions_of(space: gymnasium.Space[Any]) -> ActionSpace:
    """Return what a Gymnasium space of actions is here; of Discrete ones, their numbers from 0.

    Raises:
      ArgumentError: it is a space of others.
    """
    if isinstance(space, gymnasium.spaces.Discrete):
        return discrete(int(space.n))
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


def named(id: str) -> type[GymnasiumEnvironment]:
    """Return the class of the environment that Gymnasium calls `id`."""
    return type("Gymnasium", (GymnasiumEnvironment,), {"id": id})


def flat(name: str, value: Any) -> list[tuple[str, Any]]:
    """Return the leaves of an observation, or of its space, by name: "image", "position.x", "0"."""
    if isinstance(value, Mapping):
        pairs = [(str(key), value[key]) for key in sorted(value)]
    elif isinstance(value, tuple | gymnasium.spaces.Tuple):
        pairs = [(str(i), one) for i, one in enumerate(value)]
    else:
        return [(name or "observation", value)]
    dot = f"{name}." if name else ""
    return [leaf for key, one in pairs for leaf in flat(f"{dot}{key}", one)]


def _bytes(key: str, value: Any) -> bytes:
    own = value.encode() if isinstance(value, str) else np.asarray(value).tobytes()
    return key.encode() + own


def _version(env: gymnasium.Env[Any, Any]) -> str:
    """Return the versions of gymnasium and of the package that the environment is from."""
    package = type(env.unwrapped).__module__.partition(".")[0]
    parts = [f"gymnasium {gymnasium.__version__}"]
    if package != "gymnasium":
        try:
            parts.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            own = getattr(import_module(package), "__version__", None)
            parts += [f"{package} {own}"] if own else []
    return ", ".join(parts)
