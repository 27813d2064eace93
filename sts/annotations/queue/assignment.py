"""Pure functions that choose how many judgements a clip gets and which clip comes next.

They touch no database: `claims` and `queue` read their inputs and store their results.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from sts.annotations.draws import unit_hash
from sts.annotations.records import Item
from sts.annotations.study import StudySettings

MAX_BATCH_SIZE = 20
"""Maximum number of clips assigned to a person at a time."""
MIN_BATCH_SIZE = 3
_RANDOM_SHARE = 1 / 3
"""Share of choices that ignore balance (Efron's biased coin), so that no agent can be guessed."""
_WINDOW = 24
"""Number of the next clips among which to choose. Few, as no clip behind one that still waits
counts; some, as otherwise an annotator might judge one agent more than the others do."""


def count_required(study: StudySettings, item: Item) -> int:
    """Return how many judgements a study requires of an item; a rule may need none."""
    if item.auto_resolve_rule:
        return 0
    required = study.annotations_for(item.suite, item.category)
    twice = unit_hash(study.seed, "twice", item.clip) < study.overlap
    return max(required, 2) if twice else required


def batch_size(open_clips: int) -> int:
    """Return how many clips to assign to a person at a time, given how many are open to all."""
    return max(MIN_BATCH_SIZE, min(MAX_BATCH_SIZE, open_clips // 10))


class Candidate(NamedTuple):
    """A clip that may be assigned to a person; it counts for each of its agents.

    It `is_begun` if another annotator has judged it, or held it without judging it. An anchor was
    reopened to compare the current annotators with the earlier ones.
    """

    item: str
    continuation: str
    scenario: str
    agents: tuple[str, ...]
    is_begun: bool = False
    is_anchor: bool = False
    category: str = ""


class Balance:
    """Clips of each agent assigned to a person, relative to the judgements that the agent needs."""

    def __init__(self, assigned: Mapping[str, int], required: Mapping[str, int]) -> None:
        self._required = {agent: number for agent, number in required.items() if number > 0}
        self._shares = {agent: assigned.get(agent, 0) / n for agent, n in self._required.items()}

    def add(self, agents: Iterable[str]) -> None:
        """Count one more clip of these agents."""
        for agent in agents:
            if agent in self._shares:
                self._shares[agent] += 1 / self._required[agent]

    def added_spread(self, agents: Iterable[str]) -> float:
        """Return how much one more clip of these agents would add to the spread of the shares.

        The spread is the sum over agents of (share - mean share) squared. If all clips have one
        agent, and all agents need equally many judgements, the smallest share adds least.
        """
        shares = self._shares
        if not shares:
            return 0.0
        mean = sum(shares.values()) / len(shares)
        steps = [(shares[agent], 1 / self._required[agent]) for agent in agents if agent in shares]
        moved = sum(step for _, step in steps)
        return sum(step * (2 * (at - mean) + step) for at, step in steps) - moved**2 / len(shares)


def choose_next(
    candidates: Sequence[Candidate], balance: Balance, recent: Collection[str], coin: float
) -> Candidate | None:
    """Choose the next clip of one turn; return None if all are of recently shown scenarios.

    Anchors are chosen as often as their share of the candidates. Among the next clips of the chosen
    kind, those come first that are begun: they lack a second judgement, or their cell holds up all
    behind it. Two times in three the clip that best equalises the person's shares of the agents
    wins, otherwise the first, which is as good as random (Efron 1971, Biometrika 58:403): always
    showing the least-seen agent would reveal which it is.

    `candidates` are the next open clips in the order of judging; `coin` is a number in [0, 1) that
    belongs to this position in the person's queue.
    """
    eligible = [candidate for candidate in candidates if candidate.scenario not in recent]
    if not eligible:
        return None
    next_ones = eligible[:_WINDOW]
    pool = [one for one in next_ones if one.is_anchor == eligible[0].is_anchor]
    pool = [one for one in pool if one.is_begun] or pool
    if coin < _RANDOM_SHARE:
        return pool[0]
    return min(pool, key=lambda one: balance.added_spread(one.agents))
