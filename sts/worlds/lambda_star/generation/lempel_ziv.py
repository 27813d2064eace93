"""Lempel-Ziv complexity (LZ76): the number of components in a sequence's exhaustive history.

Read from left to right, a component ends with the first symbol that makes it differ from every
earlier subsequence; an earlier occurrence may overlap it.

Source: Lempel and Ziv 1976, "On the complexity of finite sequences", section II.
"""

from __future__ import annotations

import numpy as np

from sts.numerics.compiled import compiled
from sts.worlds.lambda_star.kernels import Ints


@compiled
def lz76(text: Ints) -> int:
    """Return the number of components of `text`, non-negative integers; 0 if it is empty.

    The counts equal those of the scan of Kaspar and Schuster 1987, which the published program
    uses, but that scan does not handle a text of one symbol, which has 1 component.
    """
    if text.size == 0:
        return 0
    last, before = np.full(text.max() + 1, -1, np.int64), np.empty(text.size, np.int64)
    for i in range(text.size):
        before[i] = last[text[i]]
        last[text[i]] = i
    return int(count_components(text, before, text.size))


@compiled
def count_components(text: Ints, before: Ints, most: int) -> int:
    """Return the number of components of `text`, or `most` + 1 if there are more.

    Only earlier occurrences of a component's first symbol are compared, the latest first: `before`
    holds the last earlier index of each symbol, -1 without one.
    """
    count, done = 0, 0
    while done < text.size and count <= most:
        longest, start = 0, before[done]
        while start >= 0:
            if longest == 0 or text[start + longest] == text[done + longest]:
                run = 1
                while done + run < text.size and text[start + run] == text[done + run]:
                    run += 1
                if done + run == text.size:
                    return count + 1
                longest = run if run > longest else longest
            start = before[start]
        done += longest + 1
        count += 1
    return count
