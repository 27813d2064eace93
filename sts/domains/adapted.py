"""Any environment as a domain: B worlds of it, stepped one after the other.

Whatever an environment does wrong becomes one line that names it and the step, and what it prints
is not mixed with what `sts` prints.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.domains.envelope import unwrap, wrap
from sts.domains.environment import Environment
from sts.domains.protocol import DIGEST, Picture, Worlds
from sts.draws import stream
from sts.errors import ArgumentError, DamagedState, StsError
from sts.files import content_hash

SEEDS = 2**31
_GLYPHS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Seen:
    """What R roles see in each of B worlds.

    Attributes:
      step: int64[B], how many steps have been taken since the worlds were restored.
      values: by name, what the environment shows; arrays [B, R, ...].
      last_move: int8[B, R], the own move last executed; -1 before the first.
      last_said: int8[B, R], the own token last said.
      last_reward: int8[B, R], the reward last received, in reward units.
      environments: the worlds themselves, to be looked at and not touched; only for agents that see
        the `world`.
    """

    step: NDArray[np.int64]
    values: dict[str, NDArray[Any]]
    last_move: NDArray[np.int8]
    last_said: NDArray[np.int8]
    last_reward: NDArray[np.int8]
    environments: tuple[Environment, ...] | None = None


class Stepped:
    """B worlds of one environment."""

    def __init__(self, name: str, environments: Sequence[Environment], version: str) -> None:
        self._name, self._version = name, version
        self._worlds = tuple(environments)
        shape = (len(self._worlds), len(self._worlds[0].participants))
        self._steps = 0
        self._moves, self._says = np.full(shape, -1, np.int8), np.zeros(shape, np.int8)
        self._rewards = np.zeros(shape, np.int8)

    @property
    def rewards(self) -> NDArray[np.int8]:
        """int8[B, P], of the last step, in reward units."""
        return self._rewards

    @property
    def scene(self) -> NDArray[np.uint16]:
        """uint16[B, 4], the digest of each world."""
        out = np.empty((len(self._worlds), DIGEST), np.uint16)
        with self._guarded("tell its digest"):
            for b, world in enumerate(self._worlds):
                mark = hashlib.blake2b(world.digest(), digest_size=2 * DIGEST).digest()
                out[b] = np.frombuffer(mark, "<u2")
        return out

    def observe(self, roles: Sequence[int], *, team: Sequence[int], world: bool) -> Seen:
        """Returns what `roles` see now; draws nothing and changes nothing."""
        with self._guarded("observe"):
            seen = [[one.observe(role) for role in roles] for one in self._worlds]
            values = {
                key: np.stack([np.stack([np.asarray(o[key]) for o in row]) for row in seen])
                for key in seen[0][0]
            }
        chosen = list(roles)
        return Seen(
            np.full(len(self._worlds), self._steps, np.int64),
            values,
            self._moves[:, chosen],
            self._says[:, chosen],
            self._rewards[:, chosen],
            self._worlds if world else None,
        )

    def step(self, moves: NDArray[np.int8], says: NDArray[np.int8]) -> None:
        """Moves every world on by one step."""
        rewards = np.empty_like(self._rewards)
        with self._guarded("step"):
            for b, (world, chosen) in enumerate(zip(self._worlds, moves.tolist(), strict=True)):
                rewards[b] = world.step(chosen)
        self._steps += 1
        self._moves, self._says, self._rewards = moves.copy(), says.copy(), rewards

    def states(self) -> list[bytes]:
        """Returns each world serialised."""
        with self._guarded("tell its state"):
            return [wrap(self._name, self._version, world.state()) for world in self._worlds]

    def frames(self) -> list[NDArray[np.uint8]]:
        """Returns each world as it looks, uint8[H, W, 3]."""
        with self._guarded("render"):
            return [np.asarray(world.render(), np.uint8) for world in self._worlds]

    def _guarded(self, doing: str) -> contextlib.AbstractContextManager[None]:
        return guarded(f"domain {self._name!r} failed to {doing} at step {self._steps}")


@contextlib.contextmanager
def guarded(what: str) -> Iterator[None]:
    """Turns an error of somebody's environment into one line, and its prints to standard error."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except StsError:
        raise
    except Exception as error:
        raise StsError(f"{what}: {type(error).__name__}: {error}") from error


class Adapted:
    """The domain that an `Environment` is."""

    tokens: tuple[str, ...] = ("silence",)

    def __init__(self, make: Callable[[], Environment], name: str | None = None) -> None:
        """Takes what makes one environment, and what recordings are to call it.

        Raises:
          ArgumentError: it cannot be made without arguments, or has more than 127 moves.
        """
        self._make = make
        try:
            with guarded("an environment could not be made"):
                one = make()
        except StsError as error:
            raise ArgumentError(f"domain {name!r}: {error}") from error
        if not 1 <= len(one.moves) <= 127 or not 0 <= one.noop < len(one.moves):
            raise ArgumentError(f"domain {one.name!r}: expected 1 to 127 moves, one of them no-op")
        self.name = name or one.name
        self.version = one.version
        self.moves, self.noop = tuple(one.moves), one.noop
        self.participants = tuple(one.participants)
        self.reward_unit = float(getattr(one, "reward_unit", 1.0))

    def restore(self, states: Sequence[bytes]) -> Stepped:
        """Returns the worlds in `states`, ready to step."""
        worlds = []
        for raw in states:
            own = unwrap(self.name, self.version, raw)
            world = self._make()
            try:
                with guarded(f"domain {self.name!r}: a state cannot be restored"):
                    world.restore(own)
            except StsError as error:
                raise DamagedState(str(error)) from error
            worlds.append(world)
        return Stepped(self.name, worlds, self.version)

    def generate(self, count: int, *, seed: int, **settings: Any) -> list[bytes]:
        """Returns `count` new worlds; `settings` are the environment's own.

        Raises:
          ArgumentError: a setting that the environment does not take.
        """
        out, world = [], self._make()
        for index in range(count):
            own = int(stream("domain", self.name, int(seed), index)) % SEEDS
            try:
                with guarded(f"domain {self.name!r} cannot begin"):
                    world.reset(own, **settings)
                    out.append(wrap(self.name, self.version, world.state()))
            except StsError as error:
                raise ArgumentError(str(error)) from error
        return out

    def world(self, state: bytes) -> str:
        """Returns the hash of the state that an episode began in."""
        return content_hash(state)

    def view(self, state: bytes) -> dict[str, Any]:
        """Returns what there is to read of a state."""
        own = unwrap(self.name, self.version, state)
        return {"domain": self.name, "version": self.version, "bytes": len(own)}

    def instruction(self, state: bytes) -> str:
        """Returns what the world in `state` itself asks for; "" for nothing."""
        world = self._make()
        with guarded(f"domain {self.name!r} failed to tell its instruction"):
            world.restore(unwrap(self.name, self.version, state))
            return world.instruction() if hasattr(world, "instruction") else ""

    def picture(self, state: bytes) -> Picture:
        """Returns frames of the environment's size."""
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

    def sight(self, worlds: Worlds, role: int) -> dict[str, Any]:
        """Returns what a person is told beside the frame: their last move and reward."""
        seen = worlds.observe((role,), team=(role,), world=False)
        last = int(seen.last_move[0, 0])
        return {
            "kind": "frames",
            "last_move": self.moves[last] if last >= 0 else None,
            "last_reward": float(seen.last_reward[0, 0]) * self.reward_unit,
        }

    def draw(self, picture: Picture, scene: NDArray[np.uint16], judged: Sequence[int]) -> list[str]:
        """Returns the digest as text: a terminal shows no frames."""
        return ["".join(f"{number:04x}" for number in scene)]
