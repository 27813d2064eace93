"""Dialogues of a packaged suite: find it, keep beside it, say where it is, in one recording."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sts.trajectories.types import Trajectory
from sts_scenarios import categories
from sts_scenarios.category import Category

TURNS = ("find-good-again", "keep-beside", "where-is-good")
RULE = (
    "of the recordings on the test side of whose worlds the suite has nothing yet, in order of "
    "their ids, the first of each recorder in which one participant can be asked for all turns, "
    "each after the end of the one before it"
)


class Turn(NamedTuple):
    """One turn: of which recording and category, at which step and whom it asks."""

    trajectory: str
    category: str
    takeover: int
    player: int


def dialogues(
    trajectories: Iterable[Trajectory], count: int, worlds: Collection[str]
) -> list[list[Turn]]:
    """Return up to `count` dialogues of `TURNS`, chosen as `RULE` says."""
    rules = [categories.load_category(name) for name in TURNS]
    recorders: set[str] = set()
    out: list[list[Turn]] = []
    for one in sorted(trajectories, key=lambda one: one.id):
        if len(out) == count:
            break
        who = one.players[0].name
        if one.split != "test" or one.world in worlds or who in recorders:
            continue
        if turns := next(_turns(one, rules), None):
            out.append(turns)
            recorders.add(who)
    return out


def _turns(trajectory: Trajectory, rules: Sequence[Category]) -> Iterator[list[Turn]]:
    """Yield the earliest turns of each player that can be asked for all of them."""
    asked: Mapping[str, list[tuple[int, int]]] = {}
    for rule in rules:
        moments = [(one.player, one.takeover) for one in rule.find_candidates(trajectory)]
        if not moments:
            return
        asked = {**asked, rule.name: moments}
    for player in range(trajectory.episode.n_players):
        end, turns = 0, []
        for rule in rules:
            later = [m for r, m in asked[rule.name] if r == player and m >= end]
            if not later:
                break
            end = min(later) + rule.horizon
            turns.append(Turn(trajectory.id, rule.name, min(later), player))
        else:
            yield turns
