"""An environment that keeps every claim of `sts domain check`, and many that break one each."""

from __future__ import annotations

import ctypes
import json
import os
import pickle
import random
import time
from typing import Any

import numpy as np

LENGTH = 6
SPENT = 14


class Lanterns:
    """Two keepers on a row of lanterns; the wind puts one out now and then. It never ends."""

    name, version = "lanterns", "1"
    action_names, noop = ("rest", "back", "on", "light"), 0
    players = ("keeper", "helper")
    reward_unit = 0.5

    def reset(self, seed, length=LENGTH):
        self.dice, self.clock = seed, 0
        self.lit = [self.roll(2) for _ in range(length)]
        self.at = [self.roll(length), self.roll(length)]

    def roll(self, sides):
        self.dice = (self.dice * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.dice >> 33) % sides

    def wind(self):
        return self.roll(len(self.lit))

    def step(self, actions):
        self.clock += 1
        rewards = [0, 0]
        for who, move in enumerate(actions):
            self.at[who] = (self.at[who] + (0, -1, 1, 0)[move]) % len(self.lit)
            if move == 3 and not self.lit[self.at[who]]:
                self.lit[self.at[who]], rewards[who] = 1, 1
        self.lit[self.wind()] = 0
        return rewards

    def state(self):
        return json.dumps([self.dice, self.clock, self.lit, self.at]).encode()

    def restore(self, state):
        self.dice, self.clock, self.lit, self.at = json.loads(state)

    def digest(self):
        return bytes([*self.lit, *self.at])

    def observe(self, player):
        return {"at": self.at[player], "lit": np.array(self.lit)}

    def instruction(self):
        return "Keep the lanterns alight."

    def render(self):
        frame = np.zeros((8, 8 * len(self.lit), 3), np.uint8)
        for i, lit in enumerate(self.lit):
            frame[2:6, 8 * i + 2 : 8 * i + 6] = 255 * lit
        for who, at in enumerate(self.at):
            frame[7 - who, 8 * at : 8 * at + 8, who] = 200
        return frame


class Mortal(Lanterns):
    """Ends after SPENT steps."""

    @property
    def ended(self):
        return self.clock >= SPENT

    def step(self, actions):
        return [0, 0] if self.ended else super().step(actions)


BROKEN: dict[str, str] = {}
"""The one claim that each broken world breaks, by the name of the world."""


def breaks(claim: str, name: str, **overrides: Any) -> None:
    """Define the world `name`: lanterns with `overrides`, which break only `claim`."""
    globals()[name] = type(name, (Lanterns,), {"__module__": __name__, **overrides})
    BROKEN[name] = claim


def broken(claim: str) -> Any:
    """Register a class as a world that breaks only `claim`."""

    def register(world: type) -> type:
        BROKEN[world.__name__] = claim
        return world

    return register


def fail(error: BaseException) -> Any:
    raise error


FELL = RuntimeError("a lantern fell")


def acting(action: Any) -> dict[str, Any]:
    """Return a step that first does something else."""
    return {"step": lambda self, actions: (action(self, actions), Lanterns.step(self, actions))[1]}


def paying(change: Any) -> dict[str, Any]:
    """Return a step that pays something else."""
    return {"step": lambda self, actions: change(Lanterns.step(self, actions))}


def seeded(change: Any) -> dict[str, Any]:
    """Return a reset with another seed."""
    return {"reset": lambda self, seed, length=LENGTH: Lanterns.reset(self, change(seed), length)}


def moving(method: str) -> dict[str, Any]:
    """Return an override of `method` that also moves the world."""

    def call(self, *given):
        found = getattr(Lanterns, method)(self, *given)
        self.roll(2)
        return found

    return {method: call}


def flat(rows: int) -> np.ndarray:
    return np.zeros((rows, 8, 3), np.uint8)


breaks("described", "TwoMovesOfOneName", action_names=("rest", "back", "on", "on"))
breaks("versions", "Unversioned", version="")
breaks("instructs", "AsksNumbers", instruction=lambda self: 7)
breaks("instructs", "EndsItselfAsked", instruction=lambda self: os.abort())
breaks("digests", "AllTheSame", digest=lambda self: b"")
breaks("same-seed", "SeededByTheProcess", **seeded(lambda seed: seed + os.getpid()))
breaks("other-seeds", "OneWorld", **seeded(lambda seed: 0))
breaks("steps", "Falls", **acting(lambda self, _: self.clock == 5 and fail(FELL)))
breaks("steps", "Dies", **acting(lambda _, actions: actions[0] or os._exit(9)))
breaks("steps", "Leaves", **acting(lambda *_: fail(SystemExit(3))))
breaks("steps", "LeavesOddly", **acting(lambda *_: fail(BaseException("gone"))))
breaks("steps", "Forks", **acting(lambda self, _: self.clock == 5 and os.fork()))
breaks("rewards", "Halves", **paying(lambda rewards: [one / 2 for one in rewards]))
breaks("rewards", "RewardsNobody", **paying(lambda rewards: None))
breaks("rewards", "RewardsOne", **paying(lambda rewards: rewards[:1]))
breaks("rewards", "RewardsTooMuch", **paying(lambda rewards: [200 * one for one in rewards]))
breaks("looking", "SeenIsMoved", **moving("observe"))
breaks("looking", "RenderedIsMoved", **moving("render"))
breaks("looking", "ToldIsMoved", **moving("state"))
breaks("looking", "DigestedIsMoved", **moving("digest"))
breaks(
    *("looking", "MovesWhenSeen"),
    render_player_view=lambda self, player: (self.roll(2), self.render())[1],
)
breaks("pictured", "FloatFrames", render=lambda self: Lanterns.render(self) / 255)
breaks("pictured", "FramesOfManySizes", render=lambda self: flat(8 + sum(self.lit)))
breaks(
    *("pictured", "SightsOfManySizes"),
    render_player_view=lambda self, player: flat(8 + sum(self.lit)),
)
breaks("observes", "SeesMoreAndMore", observe=lambda self, player: {"past": np.zeros(self.clock)})
breaks("observes", "SeesObjects", observe=lambda self, player: {"myself": self})
breaks(
    *("observes", "SeesUnequally"),
    observe=lambda self, player: {"at": self.at[player]} | ({"map": np.zeros(3)} if player else {}),
)
breaks(
    *("observes", "SeesNowThisNowThat"),
    observe=lambda self, player: {"lit": np.array(self.lit, "f4" if self.clock % 2 else "i8")},
)
breaks("own-randomness", "GlobalWind", wind=lambda self: random.randrange(len(self.lit)))
breaks(
    *("own-randomness", "GlobalNumpyWind"),
    wind=lambda self: int(np.random.randint(len(self.lit))),  # noqa: NPY002
)
breaks(
    *("own-randomness", "GlobalWindAndLook"),
    wind=lambda self: random.randrange(len(self.lit)),
    render=lambda self: (random.random(), Lanterns.render(self))[1],
)
breaks("own-randomness", "DrawsForNothing", **acting(lambda *_: random.random()))


@broken("own-randomness")
class GlobalStart(Lanterns):
    def reset(self, seed, length=LENGTH):
        super().reset(seed, length)
        self.at[0] = random.randrange(length)


@broken("own-randomness")
class GlobalHope(Lanterns):
    """Is restored with a luck that is not in its state."""

    def reset(self, seed, length=LENGTH):
        self.hope = 0
        super().reset(seed, length)

    def restore(self, state):
        super().restore(state)
        self.hope = random.randrange(1, 2**20)

    def wind(self):
        return (self.roll(3) + self.hope) % len(self.lit)


class Extended(Lanterns):
    """Its state holds one more value."""

    extra: Any = False

    def state(self):
        return json.dumps([json.loads(super().state()), self.extra]).encode()

    def restore(self, state):
        own, self.extra = json.loads(state)
        super().restore(json.dumps(own))


@broken("restores")
class StateOfItsOwn(Extended):
    """Its state shows whether it has been stepped since it was restored."""

    def reset(self, seed, length=LENGTH):
        super().reset(seed, length)
        self.extra = False

    def step(self, actions):
        self.extra = True
        return super().step(actions)

    def restore(self, state):
        super().restore(state)
        self.extra = False


class OneWorldOfManyNames(Extended):
    """All its worlds are one, but each state names its seed."""

    def reset(self, seed, length=LENGTH):
        super().reset(0, length)
        self.extra = seed


@broken("replays")
class Forgets(Lanterns):
    """Leaves out of its state what the wind depends on."""

    gusts = 0

    def reset(self, seed, length=LENGTH):
        self.gusts = 0
        super().reset(seed, length)

    def wind(self):
        self.gusts += 1
        return (self.roll(3) + self.gusts // 5) % len(self.lit)


@broken("fresh")
class ProcessBound(Lanterns):
    """Restores only states that were taken in its own process."""

    known: dict[bytes, int] = {}  # noqa: RUF012

    def state(self):
        state = super().state()
        self.known[state] = self.dice
        return state

    def restore(self, state):
        super().restore(state)
        if state not in self.known:
            self.dice = 0


@broken("fresh")
class OrderedByHash(Lanterns):
    """The wind reads a set of words in the order of this process."""

    def wind(self):
        words = {f"lantern {i}" for i in range(64)}
        return [int(word.split()[1]) for word in words][self.roll(64)] % len(self.lit)


@broken("no-op")
class NoRest(Lanterns):
    """Fails after six idle steps in a row."""

    idle = 0

    def step(self, actions):
        self.idle = 0 if any(actions) else self.idle + 1
        if self.idle > 5:
            raise RuntimeError("somebody must do something")
        return super().step(actions)


@broken("no-op")
class EndsItselfIdle(NoRest):
    """Ends its process where NoRest only fails."""

    def step(self, actions):
        try:
            return super().step(actions)
        except RuntimeError:
            os.abort()


@broken("side-by-side")
class SharedWind(Lanterns):
    """All worlds of a process have one wind."""

    shared = [0]  # noqa: RUF012

    def wind(self):
        self.shared[0] = (self.shared[0] * 5 + 3) % 64
        return self.shared[0] % len(self.lit)

    def state(self):
        return json.dumps([json.loads(super().state()), self.shared[0]]).encode()

    def reset(self, seed, length=LENGTH):
        super().reset(seed, length)
        self.shared[0] = seed % 64

    def restore(self, state):
        own, self.shared[0] = json.loads(state)
        super().restore(json.dumps(own))


@broken("pictured")
class SightsThatFlicker(Lanterns):
    looked = 0

    def render_player_view(self, player):
        self.looked += 1
        return np.full((8, 8, 3), self.looked % 7, np.uint8)


@broken("garbage")
class TakesAnything(Lanterns):
    def restore(self, state):
        try:
            super().restore(state)
        except ValueError:
            self.reset(0)


@broken("no-pickle")
class Pickled(Lanterns):
    protocol = pickle.DEFAULT_PROTOCOL

    def state(self):
        return pickle.dumps([self.dice, self.clock, self.lit, self.at], protocol=self.protocol)

    def restore(self, state):
        self.dice, self.clock, self.lit, self.at = pickle.loads(state)


@broken("no-pickle")
class PickledAsText(Pickled):
    protocol = 0


@broken("reset-restarts")
class NeverForgets(Lanterns):
    """Starts with the clock of the last world."""

    def reset(self, seed, length=LENGTH):
        clock = getattr(self, "clock", 0)
        super().reset(seed, length)
        self.clock = clock


@broken("reset-restarts")
class KeepsItsRecord(Lanterns):
    """What was reached in one world counts in the next."""

    most = 0

    def step(self, actions):
        self.most = max(self.most, self.at[0])
        rewards = super().step(actions)
        self.at[1] = self.most
        return rewards

    def restore(self, state):
        super().restore(state)
        self.most = self.at[1]


@broken("settings")
class TakesAnySetting(Lanterns):
    def reset(self, seed, length=3, **settings):
        super().reset(seed)


@broken("ends")
class GoesOn(Mortal):
    """Reports its end and continues."""

    def step(self, actions):
        return Lanterns.step(self, actions)


@broken("ends")
class ForgetsItsEnd(Mortal):
    """After it is restored, it has not ended."""

    over = False

    @property
    def ended(self):
        return self.over

    def step(self, actions):
        if self.over:
            return [0, 0]
        rewards = Lanterns.step(self, actions)
        self.over = self.clock >= SPENT
        return rewards

    def reset(self, seed, length=LENGTH):
        super().reset(seed, length)
        self.over = False


class Stuck(Lanterns):
    """Waits in compiled code that holds the interpreter, where no signal is delivered."""

    def instruction(self):
        system, mutex = ctypes.PyDLL(None), ctypes.create_string_buffer(128)
        system.pthread_mutex_init(mutex, None)
        while True:  # the second call never returns
            system.pthread_mutex_lock(mutex)


class Restarts(Lanterns):
    """Tries again after whatever interrupts it."""

    def instruction(self):
        while True:
            try:  # noqa: SIM105 - it is to hang in this file and nowhere else
                time.sleep(0.01)
            except BaseException:
                pass


class RendersForEver(Lanterns):
    """Leaves a mark in the file LOOKS whenever it is looked at, and hangs."""

    def render(self):
        with open(os.environ["LOOKS"], "a") as looks:
            looks.write(".")
        while True:
            time.sleep(0.01)


class Unmade(Lanterns):
    def __init__(self):
        os.abort()


class SeesNothingAtTimes(Lanterns):
    """Keeps every claim: what is not seen is NaN, and zero has a sign."""

    def observe(self, player):
        return {"at": np.array([np.nan if self.lit[0] else -0.0])}


class CountsInEveryWay(Lanterns):
    """Keeps every claim: a number is Python's or NumPy's, of more bits or fewer."""

    def observe(self, player):
        kinds = (int, np.int32, np.int64)
        return {"at": kinds[self.clock % 3](self.at[player]), "said": "dark" * sum(self.lit)}


class BeginsShortly(Lanterns):
    """Keeps every claim: its first states are so short that they are pickles by chance."""

    names = "012N]})("

    def reset(self, seed):  # type: ignore[override]
        self.which = seed % len(self.names)
        super().reset(self.which)

    def state(self):
        return super().state() if self.clock else f"{self.names[self.which]}.".encode()

    def restore(self, state):
        if len(state) == 2:
            self.reset(self.names.index(state[:1].decode()))
        else:
            super().restore(state)


class Chatters(Lanterns):
    """Prints, from Python and from a process that it starts."""

    def step(self, actions):
        print("python chatter")
        os.system("echo shell chatter")
        return super().step(actions)
