"""Any environment as a domain: B worlds of it, stepped one after the other.

Whatever an environment does wrong becomes one line that names it and the step; see
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

from sts.domains.actions import action_space, reward_values, silence
from sts.domains.envelope import unwrap, wrap
from sts.domains.environment import Environment
from sts.domains.protocol import DIGEST, Form, Picture, Worlds, framed
from sts.domains.rewards import MOST, checked
from sts.errors import ArgumentError, DamagedState
from sts.jobs.deadlines import guarded, progress
from sts.numerics.streams import stream
from sts.storage.files import content_hash

SEEDS = 2**31
KEPT = 2**14
"""Worlds whose shapes are remembered; the oldest is forgotten first."""
_MARK = 2 * DIGEST
_GLYPHS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Seen:
    """What R roles see in each of B worlds.

    Attributes:
      step: int64[B], how many steps have been taken since the worlds were restored.
      values: by name, what the environment shows; arrays [B, R, ...].
      last_move: [B, R, ...], the own action last executed. Before the first it is -1, or the no-op
        where actions are no choice of one move.
      last_said: [B, R], what was last said by oneself: int8, a token, or a text.
      last_reward: [B, R], the reward last received: int8 in reward units, else float64.
      heard: [B, R, P], what each participant said in the last step; None where nobody can say
        anything.
      environments: the worlds themselves, to be looked at and not touched; only for agents that see
        the `world`.
    """

    step: NDArray[np.int64]
    values: dict[str, NDArray[Any]]
    last_move: NDArray[Any]
    last_said: NDArray[Any]
    last_reward: NDArray[Any]
    heard: NDArray[Any] | None = None
    environments: tuple[Environment, ...] | None = None


class Stepped:
    """B worlds of one environment."""

    def __init__(self, domain: Adapted, environments: Sequence[Environment]) -> None:
        self._name, self._version = domain.name, domain.version
        self._worlds = tuple(environments)
        shape = (len(self._worlds), len(domain.participants))
        self._steps = 0
        self._named = bool(domain.moves)
        self._moves = action_space(domain).full(shape, -1 if self._named else domain.noop)
        self._says, self._talks = silence(domain, shape), len(domain.tokens) != 1
        self._rewards = np.zeros(shape, np.float64 if domain.reward_unit is None else np.int8)

    @property
    def rewards(self) -> NDArray[Any]:
        """[B, P], of the last step: int8 in reward units, or float64 where there is no unit."""
        return self._rewards

    @property
    def scene(self) -> NDArray[np.uint16]:
        """uint16[B, 4], each world's digest: its own where that is 8 bytes, else a hash of it."""
        out = bytearray()
        with self._guarded("tell its digest"):
            for world in self._worlds:
                mark = world.digest()
                out += mark if len(mark) == _MARK else _hashed(mark)
                progress()
        return np.frombuffer(bytes(out), "<u2").reshape(-1, DIGEST).astype(np.uint16, copy=False)

    @property
    def ended(self) -> NDArray[np.bool_]:
        """bool[B], which worlds have come to their end; none where the environment does not say."""
        with self._guarded("tell whether it has ended"):
            return np.array([bool(getattr(one, "ended", False)) for one in self._worlds])

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """bool[B], which have ended only because their time had run out."""
        with self._guarded("tell whether its time has run out"):
            return np.array([bool(getattr(one, "truncated", False)) for one in self._worlds])

    def observe(self, roles: Sequence[int], *, team: Sequence[int], world: bool) -> Seen:
        """Return what `roles` see now; draws nothing and changes nothing."""
        with self._guarded("observe"):
            seen = [self._shown(one, role) for one in self._worlds for role in roles]
            stacked = {key: self._stacked(key, [o[key] for o in seen]) for key in seen[0]}
            shape = (len(self._worlds), len(roles))
            values = {key: array.reshape(shape + array.shape[1:]) for key, array in stacked.items()}
        chosen = list(roles)
        return Seen(
            np.full(len(self._worlds), self._steps, np.int64),
            values,
            self._moves[:, chosen],
            self._says[:, chosen],
            self._rewards[:, chosen],
            np.stack([self._says] * len(chosen), 1) if self._talks else None,
            self._worlds if world else None,
        )

    def step(self, moves: NDArray[Any], says: NDArray[Any]) -> None:
        """Move every world on by one step."""
        given = []
        with self._guarded("step"):
            for world, chosen in zip(self._worlds, handed(moves, self._named), strict=True):
                given.append(world.step(chosen))
                progress()
        shape, whole = self._rewards.shape, self._rewards.dtype == np.int8
        at = f"domain {self._name!r} at step {self._steps}"
        rewards = checked(given, (shape[0], shape[1]), whole=whole, at=at)
        self._steps += 1
        self._moves, self._says, self._rewards = moves.copy(), says.copy(), rewards

    def states(self) -> list[bytes]:
        """Return each world serialised."""
        out = []
        with self._guarded("tell its state"):
            for world in self._worlds:
                out.append(wrap(self._name, self._version, world.state()))
                progress()
        return out

    def frames(self, role: int | None = None) -> list[NDArray[np.uint8]]:
        """Return each world, uint8[H, W, 3], as a judge or, by its `sight`, `role` sees it."""
        out = []
        with self._guarded("render"):
            for world in self._worlds:
                frame = np.asarray(_looks(world, role))
                if frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3:
                    found = f"{frame.dtype}{list(frame.shape)}"
                    raise ValueError(f"expected a frame of uint8[height, width, 3], found {found}")
                out.append(frame)
                progress()
        return out

    @staticmethod
    def _stacked(key: str, shown: Sequence[Any]) -> NDArray[Any]:
        """Return what is seen as `key` in all worlds and by all roles as one array."""
        arrays = [np.asarray(one) for one in shown]
        try:
            return np.stack(arrays)
        except ValueError:
            shapes = " and ".join(str(one) for one in dict.fromkeys(a.shape for a in arrays))
            raise ValueError(f"{key!r} is of shapes {shapes} in worlds of one batch") from None

    @staticmethod
    def _shown(world: Environment, role: int) -> Mapping[str, Any]:
        progress()
        return world.observe(role)

    def _guarded(self, doing: str) -> AbstractContextManager[None]:
        return guarded(f"domain {self._name!r} failed to {doing} at step {self._steps}")


def handed(moves: NDArray[Any], named: bool) -> list[list[Any]]:
    """Return [N, P, ...] actions as N lists that worlds are given: numbers of moves, or arrays."""
    everyone: list[list[Any]] = moves.tolist() if named else [list(row) for row in moves.copy()]
    return everyone


def _hashed(mark: bytes) -> bytes:
    return hashlib.blake2b(mark, digest_size=_MARK).digest()


def _looks(world: Environment, role: int | None) -> NDArray[np.uint8]:
    sight = None if role is None else getattr(world, "sight", None)
    return world.render() if sight is None else cast(NDArray[np.uint8], sight(role))


class Adapted:
    """The domain that an `Environment` is."""

    def __init__(self, make: Callable[[], Environment], name: str | None = None) -> None:
        """Take what makes one environment, and what recordings are to call it.

        Raises:
          ArgumentError: it cannot be made without arguments, has more than 127 moves, or its no-op
            is none of its actions.
        """
        self._create = make
        self._shapes: dict[str, Hashable] = {}
        self.name = name or "unnamed"
        one = self.new()
        self.actions = getattr(one, "actions", None)
        self.moves = tuple(one.moves)
        self.noop = one.noop if self.actions is None else np.asarray(one.noop, self.actions.dtype)
        self._check_actions(name)
        self.tokens = tuple(getattr(one, "tokens", ("silence",)))
        if not one.participants:
            raise ArgumentError(f"domain {name!r}: expected 1 participant or more")
        self.name = name or one.name
        self.version = one.version
        self.participants = tuple(one.participants)
        unit = getattr(one, "reward_unit", 1.0)
        self.reward_unit = None if unit is None else float(unit)
        self.guide = str(getattr(one, "guide", ""))
        self.sees: Literal["observation", "world"] = (
            "observation" if hasattr(one, "sight") else "world"
        )
        for own in ("step_columns", "step_columns_version"):
            if hasattr(one, own):
                setattr(self, own, getattr(one, own))

    def _check_actions(self, name: str | None) -> None:
        if self.actions is None:
            if not 1 <= len(self.moves) <= MOST or not 0 <= self.noop < len(self.moves):
                found = f"{len(self.moves)} and no-op {self.noop}"
                raise ArgumentError(
                    f"domain {name!r}: expected 1 to {MOST} moves, one of them no-op; found {found}"
                )
            return
        alike = self.noop.shape == self.actions.shape and self.actions.holds(self.noop)
        if self.moves or not alike:
            raise ArgumentError(
                f"domain {name!r}: expected no names of moves beside its actions, "
                f"{self.actions.text()}, and a no-op among these; found {self.noop.tolist()}"
            )

    def environment(self, state: bytes) -> Environment:
        """Return the world in `state` itself.

        Raises:
          DamagedState: it is no state of this domain and version.
        """
        own = unwrap(self.name, self.version, state)
        world = self.new()
        with guarded(f"domain {self.name!r}: a state cannot be restored", DamagedState):
            world.restore(own)
        return world

    def restore(self, states: Sequence[bytes]) -> Stepped:
        """Return the worlds in `states`, ready to step."""
        return Stepped(self, [self.environment(one) for one in states])

    def generate(self, count: int, *, seed: int, **settings: Any) -> list[bytes]:
        """Return `count` new worlds; `settings` are the environment's own, others are refused."""
        out, world = [], self.new()
        taken = inspect.signature(world.reset).parameters.values()
        known = [one.name for one in taken][1:]  # after the seed
        if all(one.kind is not one.VAR_KEYWORD for one in taken):
            for name in sorted(settings.keys() - known):
                raise ArgumentError(
                    f"domain {self.name!r} has no setting {name!r}; it has "
                    f"{', '.join(known) or 'none'}"
                )
        for index in range(count):
            own = int(stream("domain", self.name, int(seed), index)) % SEEDS
            with guarded(f"domain {self.name!r} cannot begin", ArgumentError):
                world.reset(own, **settings)
                out.append(wrap(self.name, self.version, world.state()))
        return out

    def world(self, state: bytes) -> str:
        """Return the hash of the state that an episode began in."""
        return content_hash(state)

    def view(self, state: bytes) -> dict[str, Any]:
        """Return what there is to read of a state."""
        own = unwrap(self.name, self.version, state)
        return {"domain": self.name, "version": self.version, "bytes": len(own)}

    def instruction(self, state: bytes) -> str:
        """Return what the world in `state` itself asks for; "" for nothing."""
        world = self.environment(state)
        with guarded(f"domain {self.name!r} failed to tell its instruction"):
            return world.instruction() if hasattr(world, "instruction") else ""

    def form(self, state: bytes) -> Form:
        """Return that its scenes are drawn as frames."""
        unwrap(self.name, self.version, state)
        return framed(len(self.participants))

    def picture(self, state: bytes) -> Picture:
        """Return frames of the environment's size."""
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
        """Return the name, shape and type of all that each participant sees in this world."""
        key = content_hash(state)
        if key not in self._shapes:
            world = self.restore([state])
            if len(self._shapes) >= KEPT:
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
        """Return what a person is told beside the frame: their last move and reward."""
        seen = worlds.observe((role,), team=(role,), world=False)
        last = seen.last_move[0, 0]
        named = self.moves[int(last)] if self.moves and last >= 0 else None
        return {
            "kind": "frames",
            "last_move": named if self.moves else last.tolist(),
            "last_reward": float(reward_values(self, seen.last_reward[0, 0])),
        }

    def draw(self, picture: Picture, scene: NDArray[np.uint16], judged: Sequence[int]) -> list[str]:
        """Return the digest as text: a terminal shows no frames."""
        return ["".join(f"{number:04x}" for number in scene)]

    def new(self) -> Environment:
        """Return an environment in which no world has begun."""
        with guarded(f"domain {self.name!r}: an environment could not be made", ArgumentError):
            return self._create()
