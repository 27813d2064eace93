"""Parsed instructions of a batch of episodes, as arrays."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Instructions
from sts_lambda_star.agents.readers.grammar import ACTS, THINGS, Act, parse_intent
from sts_lambda_star.kernels import Ints


class Intents(NamedTuple):
    """Current intents of B episodes; see `Intent`. All int64[B].

    `id` is the instruction's, `act` indexes `ACTS`, and `thing`, `shun` and `anchor` index
    `THINGS`.
    """

    id: Ints
    act: Ints
    thing: Ints
    low: Ints
    high: Ints
    avoided: Ints
    alone: Ints
    number: Ints
    move: Ints
    anchor: Ints

    def is_act(self, *acts: Act) -> NDArray[np.bool_]:
        """Return bool[B, 1], True if an episode's act is one of `acts`."""
        is_match = self.act[:, None] == np.array([ACTS.index(act) for act in acts])
        out: NDArray[np.bool_] = is_match.any(axis=1, keepdims=True)
        return out

    def select(self, values: NDArray[Any], thing: Ints | None = None) -> NDArray[Any]:
        """Select each episode's thing, [B, R, ...], from values [B, R, 3 or more, ...].

        The third axis starts with Good, which is also selected if the intent has no thing.
        """
        index = np.maximum((self.thing if thing is None else thing) - 1, 0)
        index = np.minimum(index, values.shape[2] - 1)
        out: NDArray[Any] = values[np.arange(len(index)), :, index]
        return out


def parse_instructions(instructions: Instructions, ignored: frozenset[str]) -> Intents:
    """Parse each episode's current instruction, without the concepts that are ignored."""
    rows = []
    for text in instructions.texts:
        i = parse_intent(text, ignored)
        thing, shun, anchor = (THINGS.index(name) for name in (i.thing, i.avoided, i.anchor))
        goal = (ACTS.index(i.act), thing, i.low, i.high, shun, int(i.alone))
        rows.append((*goal, i.number, i.move, anchor))
    columns = np.array(rows, np.int64)[instructions.ids].T.copy()
    return Intents(instructions.ids.astype(np.int64), *columns)
