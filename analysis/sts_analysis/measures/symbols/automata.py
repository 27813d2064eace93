"""All automata of up to three states, as a class of environments with exact code lengths.

Axes: E automata, S = 3 states (those that an automaton lacks are 0), A = 2 actions.

Source: Hernández-Orallo and Dowe 2010, section 6.2, Definitions 5 to 7.
"""

import functools
from collections.abc import Iterator
from itertools import product

import numpy as np

from sts_analysis.measures.symbols.domain import Batch, Field, Floats, Ints, ListedClass

STATES, ACTIONS, SYMBOLS = 3, 2, 2


class Automata(Batch):
    """Automata, whose states have a symbol, a reward on entering, and a next state per action."""

    kind, action_names, n_symbols = "automaton", ("a", "b"), SYMBOLS
    fields = {
        "size": Field(1, STATES),  # the number of states
        "moves": Field(0, STATES - 1, (STATES, ACTIONS)),
        "reward": Field(-1, 1, (STATES,)),
        "symbol": Field(0, SYMBOLS - 1, (STATES,)),
        "state": Field(0, STATES - 1),
    }

    def _advance(self, moves: Ints) -> None:
        self.values["state"] = self.values["moves"].ravel().take(self._places() * ACTIONS + moves)

    def _rewards(self) -> Floats:
        return self.values["reward"].ravel().take(self._places()).astype(float)

    def _symbols(self) -> Ints:
        return self.values["symbol"].ravel().take(self._places())

    def _places(self) -> Ints:
        """Return int64[B], the indices of the present states among those of all automata."""
        state = self.values["state"]
        return np.arange(len(state)) * STATES + state

    def sum_best_rewards(self, steps: int) -> Ints:
        """Return int64[E, S], the highest sum of rewards in `steps` steps from each state."""
        moves, reward = self.values["moves"], self.values["reward"]
        value = np.zeros_like(reward)
        for _ in range(steps):
            value = (reward + value)[np.arange(len(value))[:, None, None], moves].max(-1)
        return value


class AutomataClass(ListedClass):
    """All 1,816 automata, with their `code_lengths`; the complexity is that of `successor`."""

    name = "automata"

    def __init__(self) -> None:
        automata = enumerate_automata()
        self.code_lengths = measure_codes(automata)
        super().__init__(automata, self.code_lengths["successor"])

    def best_values(self, steps: int) -> Floats:
        """Return float64[E], the highest mean reward in `steps` steps from the start."""
        return enumerate_automata().sum_best_rewards(steps)[:, 0] / steps


@functools.cache
def enumerate_automata() -> Automata:
    """Return the automata of the class, those with fewer states first; do not step them.

    The first state has symbol 0, and states are numbered breadth first from it, so that no two
    automata differ only in the names of their states. From each state every other one can be
    reached, a random walk has a mean reward of 0 (balance), and two sequences of actions have
    different rewards (sensitivity, Definition 7).
    """
    rows = []
    for size in range(1, STATES + 1):
        rest, rewards = [0] * (STATES - size), [*product((-1, 0, 1), repeat=size)]
        for moves, share in _list_moves(size):
            padded = [*moves.tolist(), *[[0] * ACTIONS for _ in rest]]
            for reward in rewards:
                if abs(share @ reward) < 1e-9:
                    for symbol in product(range(SYMBOLS), repeat=size - 1):
                        rows.append((size, padded, (*reward, *rest), (0, *symbol, *rest), 0))
    found = Automata(dict(zip(Automata.fields, zip(*rows, strict=True), strict=True)))
    worst = Automata(found.values | {"reward": -found.values["reward"]})
    sensitive = np.arange(STATES) >= found.values["size"][:, None]
    for steps in range(1, 2 * STATES + 3):
        sensitive |= found.sum_best_rewards(steps) != -worst.sum_best_rewards(steps)
    return found.select(np.flatnonzero(sensitive.all(1)))


def _list_moves(size: int) -> Iterator[tuple[Ints, Floats]]:
    """Yield the moves, int64[size, A], of automata that reach all states, and how often they do."""
    one = np.eye(size)
    for flat in product(range(size), repeat=size * ACTIONS):
        last = np.maximum.accumulate((0, *flat))  # the last state found before each move
        if (last[1:] <= last[:-1] + 1).all() and (last[::ACTIONS][:size] >= range(size)).all():
            moves = np.array(flat).reshape(size, ACTIONS)
            walk = one[moves].mean(1)
            if np.linalg.matrix_power(walk + one, size).all():
                yield moves, np.linalg.solve(walk.T - one + 1, np.ones(size))


def measure_codes(automata: Automata) -> dict[str, Floats]:
    """Return float64[E], the length in bits of each automaton's code for each reference machine.

    A code has the number of states (Elias gamma), two bits for each reward, a bit for each symbol
    but the first, and the moves:

    - `table`: each is the number of the next state, in as many bits as the highest one needs.
    - `successor`: one to the next state, or from the last to the first, is a bit; any other is a
      bit and the number.
    - `return`: the same, but one to the first state is a bit.
    """
    size, moves, states = automata.values["size"], automata.values["moves"], np.arange(STATES)
    number = np.ceil(np.log2(size))
    fixed = 2.0 * np.floor(np.log2(size)) + 1 + 2 * size + (size - 1)
    lengths = {"table": fixed + ACTIONS * size * number}
    successor = ((states + 1) % size[:, None])[:, :, None]
    for machine, target in (("successor", successor), ("return", np.int64(0))):
        bits = np.where(moves == target, 1, 1 + number[:, None, None]).sum(2)
        lengths[machine] = fixed + (bits * (states < size[:, None])).sum(1)
    return lengths
