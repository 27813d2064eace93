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
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from sts.domains.actions import MAX_MOVES, action_space, reward_values, silence
from sts.domains.envelope import unwrap, wrap
from sts.domains.environment import Environment
from sts.domains.protocol import DIGEST_NUMBERS, Form, Picture, Worlds, frame_scene_format
from sts.domains.rewards import validate_rewards
from sts.errors import ArgumentError, DamagedState
from sts.jobs.deadlines import guarded, report_progress
from sts.numerics.streams import stream
from sts.storage.files import content_hash

MAX_SEED = 2**31
MAX_CACHED_SHAPES = 2**14
"""Initial states whose observation shapes are cached; the oldest is dropped first."""
_DIGEST_BYTES = 2 * DIGEST_NUMBERS
_GLYPHS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Seen:
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
    """

    step: NDArray[np.int64]
    values: dict[str, NDArray[Any]]
    last_move: NDArray[Any]
    last_said: NDArray[Any]
    last_reward: NDArray[Any]
    heard: NDArray[Any] | None = None
    environments: tuple[Environment, ...] | None = None


class EnvironmentWorlds:
    """A batch of B environments of one domain."""

    def __init__(self, domain: Adapted, environments: Sequence[Environment]) -> None:
        self._name, self._version = domain.name, domain.version
        self._worlds = tuple(environments)
        shape = (len(self._worlds), len(domain.participants))
        self._steps = 0
        self._has_names = bool(domain.moves)
        self._moves = action_space(domain).full(shape, -1 if self._has_names else domain.noop)
        self._says, self._talks = silence(domain, shape), len(domain.tokens) != 1
        self._rewards = np.zeros(shape, np.float64 if domain.reward_unit is None else np.int8)

    @property
    def rewards(self) -> NDArray[Any]:
        """The rewards of the last step, [B, P]: int8 in reward units, or float64 without a unit."""
        return self._rewards

    @property
    def scene(self) -> NDArray[np.uint16]:
        """uint16[B, 4], each environment's digest; digests of other than 8 bytes are hashed."""
        out = bytearray()
        with self._guarded("compute its digest"):
            for world in self._worlds:
                digest = world.digest()
                out += digest if len(digest) == _DIGEST_BYTES else _shorten_digest(digest)
                report_progress()
        return (
            np.frombuffer(bytes(out), "<u2")
            .reshape(-1, DIGEST_NUMBERS)
            .astype(np.uint16, copy=False)
        )

    @property
    def ended(self) -> NDArray[np.bool_]:
        """bool[B], True for worlds that have ended; False if the environment has no `ended`."""
        with self._guarded("report whether it has ended"):
            return np.array([bool(getattr(world, "ended", False)) for world in self._worlds])

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """bool[B], True for worlds that ended only because of a time limit."""
        with self._guarded("report whether it was truncated"):
            return np.array([bool(getattr(world, "truncated", False)) for world in self._worlds])

    def observe(self, roles: Sequence[int], *, team: Sequence[int], world: bool) -> Seen:
        """Return the observations of `roles`, without side effects."""
        with self._guarded("observe"):
            seen = [self._observe_one(world, role) for world in self._worlds for role in roles]
            stacked = {key: self._stack(key, [o[key] for o in seen]) for key in seen[0]}
            shape = (len(self._worlds), len(roles))
            values = {key: array.reshape(shape + array.shape[1:]) for key, array in stacked.items()}
        columns = list(roles)
        return Seen(
            np.full(len(self._worlds), self._steps, np.int64),
            values,
            self._moves[:, columns],
            self._says[:, columns],
            self._rewards[:, columns],
            np.stack([self._says] * len(columns), 1) if self._talks else None,
            self._worlds if world else None,
        )

    def step(self, moves: NDArray[Any], says: NDArray[Any]) -> None:
        """Advance every world by one step."""
        given = []
        with self._guarded("step"):
            actions = actions_per_world(moves, self._has_names)
            for world, own_actions in zip(self._worlds, actions, strict=True):
                given.append(world.step(own_actions))
                report_progress()
        shape, whole = self._rewards.shape, self._rewards.dtype == np.int8
        at = f"domain {self._name!r} at step {self._steps}"
        rewards = validate_rewards(given, (shape[0], shape[1]), whole=whole, at=at)
        self._steps += 1
        self._moves, self._says, self._rewards = moves.copy(), says.copy(), rewards

    def states(self) -> list[bytes]:
        """Serialise each world."""
        out = []
        with self._guarded("serialise its state"):
            for world in self._worlds:
                out.append(wrap(self._name, self._version, world.state()))
                report_progress()
        return out

    def frames(self, role: int | None = None) -> list[NDArray[np.uint8]]:
        """Render each world as uint8[H, W, 3], for annotators or, with its `sight`, for `role`."""
        out = []
        with self._guarded("render"):
            for world in self._worlds:
                frame = np.asarray(_render(world, role))
                if frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3:
                    found = f"{frame.dtype}{list(frame.shape)}"
                    raise ValueError(f"expected a frame of uint8[height, width, 3], found {found}")
                out.append(frame)
                report_progress()
        return out

    @staticmethod
    def _stack(key: str, shown: Sequence[Any]) -> NDArray[Any]:
        """Stack the observations `key` of all worlds and players."""
        arrays = [np.asarray(value) for value in shown]
        try:
            return np.stack(arrays)
        except ValueError:
            shapes = " and ".join(str(shape) for shape in dict.fromkeys(a.shape for a in arrays))
            raise ValueError(
                f"expected {key!r} of one shape in all worlds of a batch, found {shapes}"
            ) from None

    @staticmethod
    def _observe_one(world: Environment, role: int) -> Mapping[str, Any]:
        report_progress()
        return world.observe(role)

    def _guarded(self, doing: str) -> AbstractContextManager[None]:
        return guarded(f"domain {self._name!r} failed to {doing} at step {self._steps}")


def actions_per_world(moves: NDArray[Any], named: bool) -> list[list[Any]]:
    """Split actions [N, P, ...] into N lists with each player's action: an index or an array."""
    actions: list[list[Any]] = moves.tolist() if named else [list(row) for row in moves.copy()]
    return actions


def _shorten_digest(mark: bytes) -> bytes:
    return hashlib.blake2b(mark, digest_size=_DIGEST_BYTES).digest()


def _render(world: Environment, role: int | None) -> NDArray[np.uint8]:
    sight = None if role is None else getattr(world, "sight", None)
    return world.render() if sight is None else cast(NDArray[np.uint8], sight(role))


class Adapted:
    """A domain made of an `Environment`."""

    def __init__(self, make: Callable[[], Environment], name: str | None = None) -> None:
        """Wrap an environment class; `name` overrides the environment's own.

        Raises:
          ArgumentError: it cannot be constructed without arguments, has more than 127 moves, or an
            invalid no-op.
        """
        self._create = make
        self._shapes: dict[str, Hashable] = {}
        self.name = name or "unnamed"
        env = self.new()
        self.actions = getattr(env, "actions", None)
        self.moves = tuple(env.moves)
        self.noop = env.noop if self.actions is None else np.asarray(env.noop, self.actions.dtype)
        self._check_actions(name)
        self.tokens = tuple(getattr(env, "tokens", ("silence",)))
        if not env.participants:
            raise ArgumentError(f"domain {name!r}: expected 1 participant or more")
        self.name = name or env.name
        self.version = env.version
        self.participants = tuple(env.participants)
        unit = getattr(env, "reward_unit", 1.0)
        self.reward_unit = None if unit is None else float(unit)
        self.guide = str(getattr(env, "guide", ""))
        self.sees: Literal["observation", "world"] = (
            "observation" if hasattr(env, "sight") else "world"
        )
        for attribute in ("step_columns", "step_columns_version"):
            if hasattr(env, attribute):
                setattr(self, attribute, getattr(env, attribute))

    def _check_actions(self, name: str | None) -> None:
        if self.actions is None:
            if not 1 <= len(self.moves) <= MAX_MOVES or not 0 <= self.noop < len(self.moves):
                raise ArgumentError(
                    f"domain {name!r}: expected 1 to {MAX_MOVES} moves, one of them the no-op; "
                    f"found {len(self.moves)} and no-op {self.noop}"
                )
            return
        if self.moves:
            raise ArgumentError(f"domain {name!r}: declare either actions or names of moves")
        if self.noop.shape != self.actions.shape or not self.actions.contains(self.noop):
            raise ArgumentError(
                f"domain {name!r}: expected a no-op among its actions, {self.actions.text()}; "
                f"found {self.noop.tolist()}"
            )

    def environment(self, state: bytes) -> Environment:
        """Restore one environment from `state`.

        Raises:
          DamagedState: it is not a state of this domain and version.
        """
        raw = unwrap(self.name, self.version, state)
        world = self.new()
        with guarded(f"domain {self.name!r}: a state cannot be restored", DamagedState):
            world.restore(raw)
        return world

    def restore(self, states: Sequence[bytes]) -> EnvironmentWorlds:
        """Restore a batch of worlds from `states`."""
        return EnvironmentWorlds(self, [self.environment(state) for state in states])

    def generate(self, count: int, *, seed: int, **settings: Any) -> list[bytes]:
        """Generate the states of `count` new worlds; `settings` are passed to `reset`.

        Raises:
          ArgumentError: the environment does not take a setting, or fails to reset.
        """
        out, world = [], self.new()
        parameters = inspect.signature(world.reset).parameters.values()
        known = [parameter.name for parameter in parameters][1:]  # after the seed
        if all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters):
            for name in sorted(settings.keys() - known):
                raise ArgumentError(
                    f"domain {self.name!r} has no setting {name!r}; it has "
                    f"{', '.join(known) or 'none'}"
                )
        for index in range(count):
            world_seed = int(stream("domain", self.name, int(seed), index)) % MAX_SEED
            with guarded(f"domain {self.name!r} failed to reset", ArgumentError):
                world.reset(world_seed, **settings)
                out.append(wrap(self.name, self.version, world.state()))
        return out

    def world(self, state: bytes) -> str:
        """Return the hash of an initial state, which identifies the world."""
        return content_hash(state)

    def view(self, state: bytes) -> dict[str, Any]:
        """Return a summary of a state: its domain, version and size."""
        raw = unwrap(self.name, self.version, state)
        return {"domain": self.name, "version": self.version, "bytes": len(raw)}

    def instruction(self, state: bytes) -> str:
        """Return the environment's own instruction in `state`; "" for none."""
        world = self.environment(state)
        with guarded(f"domain {self.name!r} failed to return its instruction"):
            return world.instruction() if hasattr(world, "instruction") else ""

    def form(self, state: bytes) -> Form:
        """Return the format of scenes that are digests of frames."""
        unwrap(self.name, self.version, state)
        return frame_scene_format(len(self.participants))

    def picture(self, state: bytes) -> Picture:
        """Return the size of rendered frames and the names of the players."""
        height, width, _ = self.restore([state]).frames()[0].shape
        count = len(self.participants)
        return Picture(
            kind="frames",
            height=height,
            width=width,
            names=self.participants,
            glyphs=tuple(_GLYPHS[i % len(_GLYPHS)] for i in range(count)),
            participants=tuple(range(count)),
        )

    def shapes(self, state: bytes) -> Hashable:
        """Return the name, shape and type of every player's observations in this world."""
        key = content_hash(state)
        if key not in self._shapes:
            world = self.restore([state])
            if len(self._shapes) >= MAX_CACHED_SHAPES:
                del self._shapes[next(iter(self._shapes))]
            self._shapes[key] = tuple(
                (role, name, array.shape, array.dtype.type)
                for role in range(len(self.participants))
                for name, array in sorted(
                    world.observe((role,), team=(role,), world=False).values.items()
                )
            )
        return self._shapes[key]

    def sight(self, worlds: Worlds, role: int) -> dict[str, Any]:
        """Return what a human player is shown next to the frame: their last move and reward."""
        seen = worlds.observe((role,), team=(role,), world=False)
        last = seen.last_move[0, 0]
        name = self.moves[int(last)] if self.moves and last >= 0 else None
        return {
            "kind": "frames",
            "last_move": name if self.moves else last.tolist(),
            "last_reward": float(reward_values(self, seen.last_reward[0, 0])),
        }

    def draw(self, picture: Picture, scene: NDArray[np.uint16], judged: Sequence[int]) -> list[str]:
        """Return the digest as text, since a terminal cannot show frames."""
        return ["".join(f"{number:04x}" for number in scene)]

    def new(self) -> Environment:
        """Construct an environment, which has yet to be reset or restored."""
        with guarded(f"domain {self.name!r}: cannot construct an environment", ArgumentError):
            return self._create()
