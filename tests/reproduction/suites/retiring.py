"""Which scenarios of a packaged suite the next version does without, and what takes their place.

Both by rules that are stated; no person has looked at them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from sts.suites.types import DIFFICULTIES, Scenario
from sts_scenarios.categories.lambda_star.tracks import (
    FIRST_PLAYER,
    SIGHT,
    distances,
    make_track,
    read_grid,
)
from sts_scenarios.profiles import Profile

SHARE, FEW, CROWD = 0.2, 3, 3
"""Of a category, at most; how many of a difficulty are not few; and how many on a cell are many."""
RULE = (
    "of each category at most a fifth, halves of a pair together and no turn of a dialogue, in "
    "this order: what all agents that have a say pass always, or none ever; what a judge cannot "
    "tell from the page, which is whether Good was seen first in the first frame that is shown, "
    f"and how many there are where {CROWD} or more to be counted share a cell; the last of the "
    f"commonest difficulty where there are fewer than {FEW} of another; and what they pass exactly "
    "as often as another of the category and difficulty"
)
REPLACING = (
    "of several times as many that were mined, the one whose answer is that of what was retired, "
    "else the rarest; then whose difficulty is, or is the one of which there are few; then the "
    "first by its id"
)


class Retired(NamedTuple):
    """Why a scenario is retired, and how difficult what takes its place is to be."""

    reason: str
    difficulty: str


def retirements(
    scenarios: Sequence[Scenario], profiles: Mapping[str, Profile]
) -> dict[str, Retired]:
    """Return by id which scenarios are retired, as `RULE` says."""
    by_category: dict[str, list[Scenario]] = defaultdict(list)
    for one in scenarios:
        if not one.dialogue:
            by_category[one.category].append(one)
    out: dict[str, Retired] = {}
    for every in by_category.values():
        most = int(SHARE * len(every) + 1e-9)
        for one, why in _reasons(every, profiles):
            halves = [o for o in every if o is one or (one.pair and o.pair == one.pair)]
            if one.id not in out and len(halves) <= most:
                most -= len(halves)
                other = why._replace(reason=f"half of a pair: {why.reason}")
                out |= {o.id: why if o is one else other for o in halves}
    return out


def _reasons(
    every: Sequence[Scenario], profiles: Mapping[str, Profile]
) -> Iterator[tuple[Scenario, Retired]]:
    """Yield scenarios of one category with what speaks against them, the strongest first."""
    for one in every:
        if flat := profiles[one.hash].why_equal:
            yield one, Retired(f"tells no agents apart: {flat}", one.difficulty)
    for one in every:
        if text := unclear(one):
            yield one, Retired(text, one.difficulty)
    counts = Counter(one.difficulty for one in every)
    rare = min(DIFFICULTIES, key=lambda name: counts[name])
    common = max(DIFFICULTIES, key=lambda name: counts[name])
    if counts[rare] < FEW < counts[common]:
        last = [one for one in every if one.difficulty == common][-1]
        yield last, Retired(f"{counts[common]} are {common} and {counts[rare]} {rare}", rare)
    seen: dict[tuple[str, str, str], str] = {}
    for one in every:
        alike = one.difficulty, _get_half(one), str(profiles[one.hash])
        if alike in seen:
            text = f"passed exactly as often by each agent as {seen[alike]}"
            yield one, Retired(text, one.difficulty)
        seen.setdefault(alike, one.id)


def unclear(one: Scenario) -> str:
    """Return what a judge cannot tell from the page; "" for nothing."""
    if one.category == "return-to-first":
        if make_track(one.recording, one.players[0]).to_good[0] <= SIGHT:
            return "the page does not show whether Good was seen before its first frame"
    if one.category == "count-others":
        people = one.recording.scene[one.takeover, FIRST_PLAYER:].astype(np.int64)
        me = int(people[one.players[0]])
        near = people[distances(people, me, read_grid(one.recording.state)) <= SIGHT]
        if max(Counter(near.tolist()).values()) >= CROWD:
            return f"{CROWD} or more of those to be counted share a cell"
    return ""


def places(
    every: Sequence[Scenario], mined: Sequence[Scenario], wanted: Mapping[str, str]
) -> dict[str, str]:
    """Return which of those that were mined takes the place of which that is gone, as `REPLACING`.

    Halves of a pair are replaced together. Fewer where a category has too few.
    """
    gone = [one for one in every if one.id in wanted]
    answers = Counter(_answer(one) for one in every if one.id not in wanted)
    free = {one.id: one for one in mined}
    out: dict[str, str] = {}
    for one in gone:
        if one.id in out.values():
            continue
        halves = [o for o in gone if o is one or (one.pair and o.pair == one.pair)]
        same = [o for o in free.values() if o.category == one.category]
        alike = [o for o in same if _get_half(o) == _get_half(one)]
        if not alike:
            continue
        best = min(alike, key=partial(_rank_replacement, one, wanted[one.id], answers))
        answers[_answer(best)] += 1
        others = [o for o in free.values() if o is best or (best.pair and o.pair == best.pair)]
        for new, old in zip(
            sorted(others, key=_get_half), sorted(halves, key=_get_half), strict=True
        ):
            out[new.id] = old.id
            del free[new.id]
    return out


def _get_half(one: Scenario) -> str:
    """Return which half of a pair it is; "" elsewhere."""
    return str(one.parameters.get("asked", ""))


def _answer(one: Scenario) -> tuple[str, str]:
    return one.category, str(one.parameters.get("answer", ""))


def _rank_replacement(
    old: Scenario, wanted: str, answers: Mapping[tuple[str, str], int], new: Scenario
) -> tuple[bool, int, bool, str]:
    """Return what is the lower the better one takes the place of the other."""
    own = _answer(new)
    return own != _answer(old), answers[own], new.difficulty != wanted, new.id
