"""The decisions of a race, in the names that agents have in a report."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from sts.annotations.races import OPEN, Look, PairLook, Race, find_points
from sts_analysis.inputs.scores import Versions
from sts_analysis.report.claim import Resolved
from sts_analysis.statistics.race import ModelAt, look_at, read_sign
from sts_analysis.statistics.tabulation import RaceBounds


class RaceRecord(NamedTuple):
    """The looks that have taken effect."""

    looks: tuple[Look, ...]  # in order
    resolved: Resolved  # pairs that they resolved
    out: dict[str, float]  # agents that have left, with the point of the look

    @property
    def bounds(self) -> RaceBounds:
        """The bounds of the continuations that count."""
        return RaceBounds(find_points(self.looks), self.out)

    def find_changes(self, model_at: ModelAt) -> Iterator[PairLook]:
        """Yield the resolved pairs about which a look would decide otherwise by now.

        Args:
          model_at: returns the rates from what is judged by now within the bounds of a look.
        """
        resolved: dict[tuple[str, str], float] = {}
        for number, look in enumerate(self.looks, start=1):
            seen = find_points(self.looks[:number])
            decided = {(p.first, p.second): p for p in look.pairs if p.outcome != OPEN}
            if decided:
                model = model_at(RaceBounds(seen, seen))
                found = look_at(model, resolved, look.goal, look.agents).pairs
                now = {(pair.first, pair.second): pair for pair in found}
                for names, before in decided.items():
                    again = now.get(names)
                    if again is None or (again.outcome, read_sign(again)) != (
                        before.outcome,
                        read_sign(before),
                    ):
                        yield before
            resolved |= {names: read_sign(pair) for names, pair in decided.items()}


def read_race(race: Race, versions: Versions) -> RaceRecord:
    """Read a race; agents of which a report shows several versions are left out.

    Args:
      race: of agents as they are called in the queue.
      versions: the names and fingerprints of agents, by their names in the report.
    """
    called = {agent: name for name, (agent, _) in versions.items()}
    several = {agent for agent, n in Counter(a for a, _ in versions.values()).items() if n > 1}

    def rename(agent: str) -> str:
        return called.get(agent, agent)

    def rename_pair(pair: PairLook) -> PairLook:
        first, second = rename(pair.first), rename(pair.second)
        if first < second:
            return pair._replace(first=first, second=second)
        turned = None if pair.difference is None else -pair.difference
        return pair._replace(first=second, second=first, difference=turned)

    looks = tuple(
        look._replace(
            agents=tuple(rename(agent) for agent in look.agents if agent not in several),
            pairs=tuple(
                rename_pair(pair)
                for pair in look.pairs
                if several.isdisjoint((pair.first, pair.second))
            ),
        )
        for look in race.effective
    )
    resolved = {
        (pair.first, pair.second): (look, pair)
        for look in looks
        for pair in look.pairs
        if pair.outcome != OPEN
    }
    out = {rename(agent): point for agent, point in race.out.items() if agent not in several}
    return RaceRecord(looks, resolved, out)
