"""Which agents can be ranked among each other: those that continued nearly the same scenarios.

A rank says "better on the same scenarios". Rates over different ones compare scenarios as much as
agents, so an agent that met few of them, or others, is shown and not ranked.
"""

from typing import NamedTuple

import numpy as np

COVERAGE = 0.9
"""Share of a ranking's scenarios that each of its agents has continued."""
_APART = "too few scenarios in common with others"


class Rankings(NamedTuple):
    """Where each of A agents is ranked.

    Attributes:
      number: int64[A], 1 for the ranking with the most agents; 0 outside every ranking.
      reason: A of words, why an agent that could be ranked is not; "" for all others.
    """

    number: np.ndarray
    reason: tuple[str, ...]


def find_rankings(continued: np.ndarray, possible: np.ndarray) -> Rankings:
    """Groups agents by what they continued.

    The agent with the most scenarios opens a ranking. Who has nearly all of these joins it, who
    has some is not ranked, and who has none, as in another world, opens the next. Of several
    rankings those of one agent are dropped.

    Args:
      continued: bool[A, S].
      possible: bool[A], agents that may be ranked at all.
    """
    count = continued.sum(axis=1)
    opened: list[int] = []
    members: list[list[int]] = []
    reason = [""] * len(count)
    for row in sorted(np.flatnonzero(possible).tolist(), key=lambda row: -count[row]):
        shared = [int((continued[row] & continued[first]).sum()) for first in opened]
        best = int(np.argmax(shared)) if any(shared) else None
        if best is None:
            opened.append(row)
            members.append([row])
        elif shared[best] >= COVERAGE * count[opened[best]]:
            members[best].append(row)
        elif count[row] < COVERAGE * count[opened[best]]:
            reason[row] = f"{count[row]} of {continued.shape[1]} scenarios"
        else:
            reason[row] = _APART
    if len(members) > 1:
        for lone in (group[0] for group in members if len(group) == 1):
            reason[lone] = _APART
        members = [group for group in members if len(group) > 1]
    number = np.zeros(len(count), dtype=np.int64)
    for place, group in enumerate(sorted(members, key=lambda group: -len(group)), 1):
        number[group] = place
    return Rankings(number, tuple(reason))
