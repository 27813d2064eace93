"""What the episodes of a batch were told, as arrays."""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Instructions
from sts.worlds.lambda_star.agents.readers.grammar import ACTS, THINGS, Act, parse
from sts.worlds.lambda_star.kernels import Ints


class Told(NamedTuple):
    """What each of B episodes was told last, as `Intent` has it; `text` is a number for the text.

    All int64[B]; `act` indexes `ACTS`, and `thing`, `shun` and `anchor` index `THINGS`.
    """

    text: Ints
    act: Ints
    thing: Ints
    low: Ints
    high: Ints
    shun: Ints
    alone: Ints
    number: Ints
    move: Ints
    anchor: Ints

    def asks(self, *acts: Act) -> NDArray[np.bool_]:
        """Return bool[B, 1]: whether an episode's act is one of `acts`."""
        asked = self.act[:, None] == np.array([ACTS.index(act) for act in acts])
        out: NDArray[np.bool_] = asked.any(axis=1, keepdims=True)
        return out

    def of(self, values: NDArray[Any], thing: Ints | None = None) -> NDArray[Any]:
        """Return of values [B, R, 3 or more, ...] those of each episode's thing, [B, R, ...].

        Things are counted from Good on; whoever was told of no thing gets Good's.
        """
        which = np.maximum((self.thing if thing is None else thing) - 1, 0)
        which = np.minimum(which, values.shape[2] - 1)
        out: NDArray[Any] = values[np.arange(len(which)), :, which]
        return out


def told(instructions: Instructions, qualified: bool) -> Told:
    """Return what each episode was told, read with the qualifying words or without."""
    rows = []
    for text in instructions.texts:
        i = parse(text, qualified)
        things = [THINGS.index(thing) for thing in (i.thing, i.shun, i.anchor)]
        number = zlib.crc32(text.encode())
        bounds = (i.low, i.high, things[1], int(i.alone), i.number, i.move, things[2])
        rows.append((number, ACTS.index(i.act), things[0], *bounds))
    return Told(*np.array(rows, np.int64)[instructions.ids].T.copy())
