"""A tiny environment that keeps every promise, and many that break exactly one each."""

from __future__ import annotations

import ctypes
import json
import os
import pickle
import random
import time

import numpy as np

LENGTH = 6
SPENT = 14


class Lanterns:
    """Two keepers on a row of lanterns; the wind puts one out now and then. It never ends."""

    name, version = "lanterns", "1"
    moves, noop = ("rest", "back", "on", "light"), 0
    participants = ("keeper", "helper")
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

    def step(self, moves):
        self.clock += 1
        rewards = [0, 0]
        for who, move in enumerate(moves):
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

    def observe(self, role):
        return {"at": self.at[role], "lit": np.array(self.lit)}

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
    """Ends after a while, and says so."""

    @property
    def ended(self):
        return self.clock >= SPENT

    def step(self, moves):
        return [0, 0] if self.ended else super().step(moves)


class TwoMovesOfOneName(Lanterns):
    moves = ("rest", "back", "on", "on")


class Falls(Lanterns):
    def step(self, moves):
        if self.clock == 5:
            raise RuntimeError("a lantern fell")
        return super().step(moves)


class Leaves(Lanterns):
    def step(self, moves):
        raise SystemExit(3)


class Halves(Lanterns):
    def step(self, moves):
        return [reward / 2 for reward in super().step(moves)]


class RewardsNobody(Lanterns):
    def step(self, moves):
        super().step(moves)


class RewardsOne(Lanterns):
    def step(self, moves):
        return super().step(moves)[:1]


class RewardsTooMuch(Lanterns):
    def step(self, moves):
        return [200 * reward for reward in super().step(moves)]


class StateOfItsOwn(Lanterns):
    """Its state says whether it has been stepped since it was restored."""

    def reset(self, seed, length=LENGTH):
        super().reset(seed, length)
        self.stepped = False

    def step(self, moves):
        self.stepped = True
        return super().step(moves)

    def state(self):
        return json.dumps([json.loads(super().state()), self.stepped]).encode()

    def restore(self, state):
        own, _ = json.loads(state)
        super().restore(json.dumps(own))
        self.stepped = False


class Forgets(Lanterns):
    """Leaves out of its state what the wind depends on."""

    gusts = 0

    def reset(self, seed, length=LENGTH):
        self.gusts = 0
        super().reset(seed, length)

    def wind(self):
        self.gusts += 1
        return (self.roll(3) + self.gusts // 5) % len(self.lit)


class ProcessBound(Lanterns):
    """Knows its states only in the process that they were taken in."""

    known: dict[bytes, int] = {}  # noqa: RUF012

    def state(self):
        state = super().state()
        self.known[state] = self.dice
        return state

    def restore(self, state):
        super().restore(state)
        if state not in self.known:
            self.dice = 0


class SeededByTheProcess(Lanterns):
    def reset(self, seed, length=LENGTH):
        super().reset(seed + os.getpid(), length)


class OneWorld(Lanterns):
    def reset(self, seed, length=LENGTH):
        super().reset(0, length)


class SeenIsMoved(Lanterns):
    def observe(self, role):
        self.roll(2)
        return super().observe(role)


class RenderedIsMoved(Lanterns):
    def render(self):
        self.roll(2)
        return super().render()


class ToldIsMoved(Lanterns):
    def state(self):
        state = super().state()
        self.roll(2)
        return state


class DigestedIsMoved(Lanterns):
    def digest(self):
        self.roll(2)
        return super().digest()


class NoRest(Lanterns):
    """Cannot stand six idle steps in a row."""

    idle = 0

    def step(self, moves):
        self.idle = 0 if any(moves) else self.idle + 1
        if self.idle > 5:
            raise RuntimeError("somebody must do something")
        return super().step(moves)


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


class GlobalWind(Lanterns):
    def wind(self):
        return random.randrange(len(self.lit))


class GlobalNumpyWind(Lanterns):
    def wind(self):
        return int(np.random.randint(len(self.lit)))  # noqa: NPY002


class GlobalWindAndLook(GlobalWind):
    """Draws from the same generator when it is looked at."""

    def render(self):
        random.random()
        return super().render()


class GlobalStart(Lanterns):
    """Begins where a global generator says."""

    def reset(self, seed, length=LENGTH):
        super().reset(seed, length)
        self.at[0] = random.randrange(length)


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


class DrawsForNothing(Lanterns):
    """Goes on as it would anyway, and leaves a global generator otherwise than it was."""

    def step(self, moves):
        random.random()
        return super().step(moves)


class FloatFrames(Lanterns):
    def render(self):
        return super().render() / 255


class FramesOfManySizes(Lanterns):
    def render(self):
        return np.zeros((8 + sum(self.lit), 8, 3), np.uint8)


class SightsOfManySizes(Lanterns):
    def sight(self, role):
        return np.zeros((8 + sum(self.lit), 8, 3), np.uint8)


class SightsThatFlicker(Lanterns):
    looked = 0

    def sight(self, role):
        self.looked += 1
        return np.full((8, 8, 3), self.looked % 7, np.uint8)


class MovesWhenSeen(Lanterns):
    def sight(self, role):
        self.roll(2)
        return self.render()


class Unversioned(Lanterns):
    version = ""


class TakesAnything(Lanterns):
    def restore(self, state):
        try:
            super().restore(state)
        except ValueError:
            self.reset(0)


class Pickled(Lanterns):
    def state(self):
        return pickle.dumps([self.dice, self.clock, self.lit, self.at])

    def restore(self, state):
        self.dice, self.clock, self.lit, self.at = pickle.loads(state)


class PickledAsText(Pickled):
    def state(self):
        return pickle.dumps([self.dice, self.clock, self.lit, self.at], protocol=0)


class NeverForgets(Lanterns):
    """Begins with the clock where the last world left it."""

    def reset(self, seed, length=LENGTH):
        clock = getattr(self, "clock", 0)
        super().reset(seed, length)
        self.clock = clock


class TakesAnySetting(Lanterns):
    def reset(self, seed, length=3, **settings):
        super().reset(seed)


class SeesMoreAndMore(Lanterns):
    def observe(self, role):
        return {"past": np.zeros(self.clock)}


class SeesUnequally(Lanterns):
    def observe(self, role):
        return super().observe(role) | ({"map": np.zeros(3)} if role else {})


class SeesNowThisNowThat(Lanterns):
    """Shows whole numbers, and every other step the same as fractions."""

    def observe(self, role):
        return {"lit": np.array(self.lit, np.float32 if self.clock % 2 else np.int64)}


class SeesObjects(Lanterns):
    def observe(self, role):
        return {"myself": self}


class AsksNumbers(Lanterns):
    def instruction(self):
        return 7


class AllTheSame(Lanterns):
    def digest(self):
        return b""


class GoesOn(Mortal):
    """Says that it has ended, and goes on."""

    def step(self, moves):
        return Lanterns.step(self, moves)


class Dies(Lanterns):
    """Ends its process when the keeper rests."""

    def step(self, moves):
        if moves[0] == 0:
            os._exit(9)
        return super().step(moves)


class EndsItselfIdle(NoRest):
    """Ends its process where NoRest only fails."""

    def step(self, moves):
        try:
            return super().step(moves)
        except RuntimeError:
            os.abort()


class EndsItselfAsked(Lanterns):
    def instruction(self):
        os.abort()


class Stuck(Lanterns):
    """Waits for ever in compiled code that holds the interpreter, where no signal is heard."""

    def instruction(self):
        system, mutex = ctypes.PyDLL(None), ctypes.create_string_buffer(128)
        system.pthread_mutex_init(mutex, None)
        while True:  # the second time for ever
            system.pthread_mutex_lock(mutex)


class Restarts(Lanterns):
    """Tries again for ever, whatever comes to stop it."""

    def instruction(self):
        while True:
            try:  # noqa: SIM105 - it is to hang in this file and nowhere else
                time.sleep(0.01)
            except BaseException:
                pass


class Forks(Lanterns):
    """Goes on in two processes from its fifth step on."""

    def step(self, moves):
        if self.clock == 5:
            os.fork()
        return super().step(moves)


class LeavesOddly(Lanterns):
    def step(self, moves):
        raise BaseException("gone")


class OrderedByHash(Lanterns):
    """The wind goes through a set of words, in the order of this process."""

    def wind(self):
        words = {f"lantern {i}" for i in range(64)}
        return [int(word.split()[1]) for word in words][self.roll(64)] % len(self.lit)


class ForgetsItsEnd(Mortal):
    """Restored, it does not know that it had ended."""

    over = False

    @property
    def ended(self):
        return self.over

    def step(self, moves):
        if self.over:
            return [0, 0]
        rewards = Lanterns.step(self, moves)
        self.over = self.clock >= SPENT
        return rewards

    def reset(self, seed, length=LENGTH):
        super().reset(seed, length)
        self.over = False


class KeepsItsRecord(Lanterns):
    """What was reached in one world counts in the next."""

    most = 0

    def step(self, moves):
        self.most = max(self.most, self.at[0])
        rewards = super().step(moves)
        self.at[1] = self.most
        return rewards

    def restore(self, state):
        super().restore(state)
        self.most = self.at[1]


class RendersForEver(Lanterns):
    """Leaves a mark in the file LOOKS whenever it is looked at."""

    def render(self):
        with open(os.environ["LOOKS"], "a") as looks:
            looks.write(".")
        while True:
            time.sleep(0.01)


class Unmade(Lanterns):
    def __init__(self):
        os.abort()


class SeesNothingAtTimes(Lanterns):
    """Keeps every promise: what is not seen is NaN, and zero has a sign."""

    def observe(self, role):
        return {"at": np.array([np.nan if self.lit[0] else -0.0])}


class CountsInEveryWay(Lanterns):
    """Keeps every promise: a number is Python's or NumPy's, of more bits or fewer."""

    def observe(self, role):
        kinds = (int, np.int32, np.int64)
        return {"at": kinds[self.clock % 3](self.at[role]), "said": "dark" * sum(self.lit)}


class BeginsShortly(Lanterns):
    """Keeps every promise: its first states are so short that they are pickles by chance."""

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


class OneWorldOfManyNames(Lanterns):
    """All its worlds are one, but each state says of which seed it is."""

    def reset(self, seed, length=LENGTH):
        super().reset(0, length)
        self.seed = seed

    def state(self):
        return json.dumps([json.loads(super().state()), self.seed]).encode()

    def restore(self, state):
        own, self.seed = json.loads(state)
        super().restore(json.dumps(own))


BROKEN = {
    TwoMovesOfOneName: "described",
    Falls: "steps",
    Dies: "steps",
    Leaves: "steps",
    LeavesOddly: "steps",
    Forks: "steps",
    Halves: "rewards",
    RewardsNobody: "rewards",
    RewardsOne: "rewards",
    RewardsTooMuch: "rewards",
    StateOfItsOwn: "restores",
    Forgets: "replays",
    ProcessBound: "fresh",
    OrderedByHash: "fresh",
    SeededByTheProcess: "same-seed",
    OneWorld: "other-seeds",
    SeenIsMoved: "looking",
    RenderedIsMoved: "looking",
    ToldIsMoved: "looking",
    DigestedIsMoved: "looking",
    NoRest: "no-op",
    EndsItselfIdle: "no-op",
    SharedWind: "side-by-side",
    GlobalWind: "own-randomness",
    GlobalNumpyWind: "own-randomness",
    GlobalWindAndLook: "own-randomness",
    GlobalStart: "own-randomness",
    GlobalHope: "own-randomness",
    DrawsForNothing: "own-randomness",
    FloatFrames: "pictured",
    FramesOfManySizes: "pictured",
    SightsOfManySizes: "pictured",
    SightsThatFlicker: "pictured",
    MovesWhenSeen: "looking",
    Unversioned: "versions",
    TakesAnything: "garbage",
    Pickled: "no-pickle",
    PickledAsText: "no-pickle",
    NeverForgets: "begins-anew",
    KeepsItsRecord: "begins-anew",
    TakesAnySetting: "settings",
    SeesMoreAndMore: "observes",
    SeesUnequally: "observes",
    SeesNowThisNowThat: "observes",
    SeesObjects: "observes",
    AsksNumbers: "instructs",
    EndsItselfAsked: "instructs",
    AllTheSame: "digests",
    GoesOn: "ends",
    ForgetsItsEnd: "ends",
}
"""The one claim that each of them breaks."""


class Chatters(Lanterns):
    """Prints, from Python and past it."""

    def step(self, moves):
        print("python chatter")
        os.system("echo shell chatter")
        return super().step(moves)


class Hangs(Lanterns):
    def step(self, moves):
        while True:
            try:
                time.sleep(0.01)
            except Exception:  # whatever comes to wake it
                pass


class Slow(Lanterns):
    def step(self, moves):
        time.sleep(0.02)
        return super().step(moves)
