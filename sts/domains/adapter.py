"""Adapter that makes a domain of any `Environment`, by stepping B instances in turn.

An exception in an environment becomes a one-line error with the domain and the step; see
`sts.jobs.deadlines`.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sts.domains.actions import MAX_MOVES, action_space, reward_values, silent_utterances
from sts.domains.envelope import add_envelope, remove_envelope
from sts.domains.environment import Environment
from sts.domains.protocol import (
    DIGEST_LENGTH,
    LiveControls,
    SceneFormat,
    SceneLayout,
    Worlds,
    frame_scene_format,
    index_players,
)
from sts.domains.rewards import validate_rewards
from sts.errors import ArgumentError, DamagedState
from sts.jobs.deadlines import guard_call, report_progress
from sts.numerics.streams import stream
from sts.storage.files import content_hash

MAX_SEED = 2**31
MAX_CACHED_SHAPES = 2**14
"""Initial states whose observation shapes are cached; the oldest is dropped first."""
_DIGEST_BYTES = 2 * DIGEST_LENGTH
_GLYPHS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Observation:
    """Observations of R players in each of B worlds.

    Attributes:
      step: int64[B], the number of steps since the worlds were restored.
      values: the environment's observations by name, arrays [B, R, ...].
      last_move: [B, R, ...], the player's last executed action; before the first step -1, or the
        no-op if the domain has no named moves.
      last_said: [B, R], the player's last utterance: int8, a token, or a text.
      last_reward: [B, R], the last reward: int8 in reward units, else float64.
      heard: [B, R, P], every player's utterance in the last step; None if there is nothing to say.
      environments: the environments themselves, read-only; None unless the agent sees the `world`.
      frame: uint8[B, R, H, W, 3], the players' pictures; None unless the agent `sees_frame`.
    """

    step: NDArray[np.int64]
    values: dict[str, NDArray[Any]]
    last_move: NDArray[Any]
    last_said: NDArray[Any]
    last_reward: NDArray[Any]
    heard: NDArray[Any] | None = None
    environments: tuple[Environment, ...] | None = None
    frame: NDArray[np.uint8] | None = None


class EnvironmentWorlds:
    """A batch of B environments of one domain."""

    def __init__(self, domain: EnvironmentDomain, environments: Sequence[Environment]) -> None:
        self._domain, self._name, self._version = domain, domain.name, domain.version
        self._worlds = tuple(environments)
        shape = (len(self._worlds), len(domain.players))
        self._steps = 0
        self._scene: NDArray[np.uint16] | None = None
        self._has_names = bool(domain.action_names)
        self._moves = action_space(domain).fill(shape, -1 if self._has_names else domain.noop)
        self._says, self._talks = silent_utterances(domain, shape), len(domain.tokens) != 1
        self._rewards = np.zeros(shape, np.float64 if domain.reward_unit is None else np.int8)

    @property
    def rewards(self) -> NDArray[Any]:
        """The rewards of the last step, [B, P]: int8 in reward units, or float64 without a unit."""
        return self._rewards

    @property
    def scene(self) -> NDArray[np.uint16]:
        """uint16[B, 4], each environment's digest; digests of other than 8 bytes are hashed."""
        if self._scene is None:
            digests = b"".join(self._map("compute its digest", _digest))
            numbers = np.frombuffer(digests, "<u2").reshape(-1, DIGEST_LENGTH)
            self._scene = numbers.astype(np.uint16, copy=False)
        return self._scene

    @property
    def ended(self) -> NDArray[np.bool_]:
        """bool[B], True for worlds that have ended; False if the environment has no `ended`."""
        doing = "report whether it has ended"
        return np.array(self._map(doing, lambda world: bool(getattr(world, "ended", False))))

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """bool[B], True for worlds that ended only because of a time limit."""
        doing = "report whether it was truncated"
        return np.array(self._map(doing, lambda world: bool(getattr(world, "truncated", False))))

    def observe(self, players: ArrayLike, *, team: ArrayLike, world: bool) -> Observation:
        """Return the observations of `players`, without side effects."""
        columns = index_players(players, len(self._worlds))
        with self._guarded("observe"):
            observations = []
            for environment, own in zip(self._worlds, columns.tolist(), strict=True):
                observations += [environment.observe(player) for player in own]
                report_progress()
            stacked = {
                key: self._stack(key, [o[key] for o in observations]) for key in observations[0]
            }
            shape = columns.shape
            values = {key: array.reshape(shape + array.shape[1:]) for key, array in stacked.items()}
        own = np.arange(len(self._worlds))[:, None], columns
        return Observation(
            np.full(len(self._worlds), self._steps, np.int64),
            values,
            self._moves[own],
            self._says[own],
            self._rewards[own],
            np.stack([self._says] * shape[1], 1) if self._talks else None,
            self._worlds if world else None,
        )

    def step(self, actions: NDArray[Any], utterances: NDArray[Any]) -> None:
        """Advance every world by one step."""
        world_rewards: list[Any] = []
        self._scene = None
        with self._guarded("step"):
            per_world = actions_per_world(actions, self._has_names)
            for world, own_actions in zip(self._worlds, per_world, strict=True):
                world_rewards.append(world.step(own_actions))
                report_progress()
        shape, is_whole = self._rewards.shape, self._rewards.dtype == np.int8
        at = f"domain {self._name!r} at step {self._steps}"
        rewards = validate_rewards(world_rewards, (shape[0], shape[1]), whole=is_whole, at=at)
        self._steps += 1
        self._moves, self._says, self._rewards = actions.copy(), utterances.copy(), rewards

    def states(self) -> list[bytes]:
        """Serialise each world."""
        name, version = self._name, self._version
        return self._map(
            "serialise its state", lambda world: add_envelope(name, version, world.state())
        )

    def select(self, rows: NDArray[np.intp]) -> EnvironmentWorlds:
        """Return the worlds of these `rows` as a batch."""
        chosen = EnvironmentWorlds(self._domain, [self._worlds[row] for row in rows])
        chosen._steps, chosen._rewards = self._steps, self._rewards[rows]
        chosen._scene = None if self._scene is None else self._scene[rows]
        chosen._moves, chosen._says = self._moves[rows], self._says[rows]
        return chosen

    def frames(self, player: int | None = None) -> list[NDArray[np.uint8]]:
        """Render each world as uint8[H, W, 3], for annotators or for `player`."""
        return self._map("render", lambda world: _render(world, player))

    def positions(self, player: int) -> list[tuple[float, float]]:
        """Return where a player is in each frame, (x, y) in pixels; [] if it is not reported."""
        if not hasattr(self._worlds[0], "position"):
            return []
        return self._map("report a position", lambda world: _locate(world, player))

    @staticmethod
    def _stack(key: str, values: Sequence[Any]) -> NDArray[Any]:
        """Stack the observations `key` of all worlds and players."""
        arrays = [np.asarray(value) for value in values]
        try:
            return np.stack(arrays)
        except ValueError:
            shapes = " and ".join(str(shape) for shape in dict.fromkeys(a.shape for a in arrays))
            raise ValueError(
                f"expected {key!r} of one shape in all worlds of a batch, found {shapes}"
            ) from None

    def _map(self, doing: str, call: Callable[[Environment], _Result]) -> list[_Result]:
        """Call a function with each world in turn."""
        out = []
        with self._guarded(doing):
            for world in self._worlds:
                out.append(call(world))
                report_progress()
        return out

    def _guarded(self, doing: str) -> AbstractContextManager[None]:
        return guard_call(f"domain {self._name!r} failed to {doing} at step {self._steps}")


def actions_per_world(actions: NDArray[Any], named: bool) -> list[list[Any]]:
    """Split actions [N, P, ...] into N lists with each player's action: an index or an array."""
    per_world: list[list[Any]] = (
        actions.tolist() if named else [list(row) for row in actions.copy()]
    )
    return per_world


def _digest(world: Environment) -> bytes:
    """Return a world's digest as 8 bytes."""
    digest = world.digest()
    if type(digest) is bytes and len(digest) == _DIGEST_BYTES:
        return digest
    raw, size = memoryview(digest).tobytes(), _DIGEST_BYTES
    return raw if len(raw) == size else hashlib.blake2b(raw, digest_size=size).digest()


def _locate(world: Any, player: int) -> tuple[float, float]:
    x, y = map(float, world.position(player))
    if not np.isfinite((x, y)).all():
        raise ValueError(f"expected a position of finite numbers, found {(x, y)}")
    return x, y


def _render(world: Environment, player: int | None) -> NDArray[np.uint8]:
    render_player_view = None if player is None else getattr(world, "render_player_view", None)
    frame = np.asarray(world.render() if render_player_view is None else render_player_view(player))
    if frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3:
        description = f"{frame.dtype}{list(frame.shape)}"
        raise ValueError(f"expected a frame of uint8[height, width, 3], found {description}")
    return frame


class EnvironmentDomain:
    """A domain made of an `Environment`."""

    def __init__(self, make: Callable[[], Environment], name: str) -> None:
        """Wrap an environment class under the name with which it is loaded.

        Raises:
          ArgumentError: it cannot be constructed without arguments, has more than 127 moves, or an
            invalid no-op.
        """
        self._create = make
        self._shapes: dict[str, Hashable] = {}
        self.name = name
        env = self.create_environment()
        self.action_space = getattr(env, "action_space", None)
        self.action_names = tuple(env.action_names)
        self.noop = (
            env.noop if self.action_space is None else np.asarray(env.noop, self.action_space.dtype)
        )
        self._check_actions()
        self.tokens = tuple(getattr(env, "tokens", ("silence",)))
        if not env.players:
            raise ArgumentError(f"domain {name!r}: expected 1 player or more")
        self.version = env.version
        self.players = tuple(env.players)
        unit = getattr(env, "reward_unit", 1.0)
        self.reward_unit = None if unit is None else float(unit)
        self.guide = str(getattr(env, "guide", ""))
        self.draws_actions = bool(getattr(env, "draws_actions", False))
        self.live_controls = getattr(env, "live_controls", LiveControls())
        if unknown := {*self.live_controls.keys.values()} - {*self.action_names}:
            raise ArgumentError(f"domain {name!r}: no action {min(unknown)!r}, which has a key")
        has_sight = hasattr(env, "render_player_view")
        self.sees: Literal["observation", "world"] = "observation" if has_sight else "world"
        self.step_columns = getattr(env, "step_columns", None)
        self.step_columns_version = getattr(env, "step_columns_version", 0)

    def _check_actions(self) -> None:
        if self.action_space is None:
            count = len(self.action_names)
            if not 1 <= count <= MAX_MOVES or not 0 <= self.noop < count:
                raise ArgumentError(
                    f"domain {self.name!r}: expected 1 to {MAX_MOVES} moves, one of them the "
                    f"no-op; found {count} and no-op {self.noop}"
                )
            return
        if self.action_names:
            raise ArgumentError(
                f"domain {self.name!r}: declare either action_space or action_names"
            )
        if self.noop.shape != self.action_space.shape or not self.action_space.contains(self.noop):
            raise ArgumentError(
                f"domain {self.name!r}: expected a no-op among its actions, "
                f"{self.action_space.describe()}; found {self.noop.tolist()}"
            )

    def restore_environment(self, state: bytes) -> Environment:
        """Restore one environment from `state`.

        Raises:
          DamagedState: it is not a state of this domain and version.
        """
        raw = remove_envelope(self.name, self.version, state)
        world = self.create_environment()
        with guard_call(f"domain {self.name!r}: a state cannot be restored", DamagedState):
            world.restore(raw)
        return world

    def restore(self, states: Sequence[bytes]) -> EnvironmentWorlds:
        """Restore a batch of worlds from `states`."""
        return EnvironmentWorlds(self, [self.restore_environment(state) for state in states])

    def generate(self, count: int, *, seed: int, **settings: Any) -> list[bytes]:
        """Generate the states of `count` new worlds; `settings` are passed to `reset`.

        Raises:
          ArgumentError: the environment does not take a setting, or fails to reset.
        """
        world = self.create_environment()
        self._check_settings(world, settings)
        seeds = [int(stream("domain", self.name, int(seed), i)) % MAX_SEED for i in range(count)]
        return [self._reset(world, seed, settings) for seed in seeds]

    def reset_state(self, seed: int, settings: Mapping[str, Any]) -> bytes:
        """Return the state after `reset(seed, **settings)`; errors as of `generate`."""
        world = self.create_environment()
        self._check_settings(world, settings)
        return self._reset(world, seed, settings)

    def _check_settings(self, world: Environment, settings: Mapping[str, Any]) -> None:
        parameters = inspect.signature(world.reset).parameters.values()
        setting_names = [parameter.name for parameter in parameters][1:]  # after the seed
        if all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters):
            for name in sorted(settings.keys() - setting_names):
                raise ArgumentError(
                    f"domain {self.name!r} has no setting {name!r}; it has "
                    f"{', '.join(setting_names) or 'none'}"
                )

    def _reset(self, world: Environment, seed: int, settings: Mapping[str, Any]) -> bytes:
        with guard_call(f"domain {self.name!r} failed to reset", ArgumentError):
            world.reset(seed, **settings)
            return add_envelope(self.name, self.version, world.state())

    def world_id(self, state: bytes) -> str:
        """Return the hash of an initial state, which identifies the world."""
        return content_hash(state)

    def describe_state(self, state: bytes) -> dict[str, Any]:
        """Return a summary of a state: its domain, version and size."""
        raw = remove_envelope(self.name, self.version, state)
        return {"domain": self.name, "version": self.version, "bytes": len(raw)}

    def instruction(self, state: bytes) -> str:
        """Return the environment's own instruction in `state`; "" for none."""
        world = self.restore_environment(state)
        with guard_call(f"domain {self.name!r} failed to return its instruction"):
            return world.instruction() if hasattr(world, "instruction") else ""

    def scene_format(self, state: bytes) -> SceneFormat:
        """Return the format of scenes that are digests of frames."""
        remove_envelope(self.name, self.version, state)
        return frame_scene_format(len(self.players))

    def scene_layout(self, state: bytes) -> SceneLayout:
        """Return the size of rendered frames and the names of the players."""
        height, width, _ = self.restore([state]).frames()[0].shape
        count = len(self.players)
        return SceneLayout(
            kind="frames",
            height=height,
            width=width,
            names=self.players,
            glyphs=tuple(_GLYPHS[i % len(_GLYPHS)] for i in range(count)),
            players=tuple(range(count)),
        )

    def observation_shapes(self, state: bytes) -> Hashable:
        """Return the name, shape and type of every player's observations in this world."""
        key = content_hash(state)
        if key not in self._shapes:
            world = self.restore([state])
            if len(self._shapes) >= MAX_CACHED_SHAPES:
                del self._shapes[next(iter(self._shapes))]
            players = range(len(self.players))
            observations = [
                world.observe((player,), team=(player,), world=False).values for player in players
            ]
            self._shapes[key] = tuple(
                (player, name, array.shape, array.dtype.type)
                for player, values in enumerate(observations)
                for name, array in sorted(values.items())
            )
        return self._shapes[key]

    def player_view(self, worlds: Worlds, player: int) -> dict[str, Any]:
        """Return what a human player is shown next to the frame: their last move and reward."""
        observation = worlds.observe((player,), team=(player,), world=False)
        last = observation.last_move[0, 0]
        name = self.action_names[int(last)] if self.action_names and last >= 0 else None
        return {
            "kind": "frames",
            "last_move": name if self.action_names else last.tolist(),
            "last_reward": float(reward_values(self, observation.last_reward[0, 0])),
        }

    def draw_text(
        self, picture: SceneLayout, scene: NDArray[np.uint16], judged: Sequence[int]
    ) -> list[str]:
        """Return the digest as text, since a terminal cannot show frames."""
        return ["".join(f"{number:04x}" for number in scene)]

    def create_environment(self) -> Environment:
        """Construct an environment, which has yet to be reset or restored."""
        with guard_call(f"domain {self.name!r}: cannot construct an environment", ArgumentError):
            return self._create()
