"""Which scenarios of a packaged suite the next version does without, and what takes their place.

Both by rules that are stated; nobody has looked at them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from scenarios.categories.lambda_star.tracks import SIGHT, Track
from scenarios.profiles import Profile
from sts.suites.types import DIFFICULTIES, Scenario

SHARE, FEW = 0.2, 3
"""Of a category, at most; and fewer than so many of a difficulty are few."""
RULE = (
    "of each category at most a fifth, halves of a pair together and no turn of a dialogue, in "
    "this order: what all agents that have a say pass always, or none ever; what some of them that "
    "reads nothing passes as often as each that reads; what a judge cannot tell from the page, "
    "which is whether Good was seen first in the first frame that is shown; what they pass exactly "
    "as often as another of the category and difficulty; and the last of the commonest difficulty "
    f"where there are fewer than {FEW} of another"
)
REPLACING = (
    "of several times as many that were mined, the one whose answer, then whose difficulty is that "
    "of what was retired, or the difficulty of which there are few, then the first by its id"
)


class Retired(NamedTuple):
    """Why a scenario is retired, and how difficult what takes its place is to be."""

    reason: str
    difficulty: str


def retirements(
    scenarios: Sequence[Scenario], profiles: Mapping[str, Profile], readers: Collection[str]
) -> dict[str, Retired]:
    """Returns by id which scenarios are retired, as `RULE` says.

    Args:
      scenarios: of a suite.
      profiles: by the hash of each, of the agents that have a say.
      readers: which agents read.
    """
    by_category: dict[str, list[Scenario]] = defaultdict(list)
    for one in scenarios:
        if not one.series:
            by_category[one.category].append(one)
    out: dict[str, Retired] = {}
    for every in by_category.values():
        most = int(SHARE * len(every) + 1e-9)
        for one, why in _reasons(every, profiles, readers):
            halves = [o for o in every if o is one or (one.pair and o.pair == one.pair)]
            if one.id not in out and len(halves) <= most:
                most -= len(halves)
                other = why._replace(reason=f"half of a pair: {why.reason}")
                out |= {o.id: why if o is one else other for o in halves}
    return out


def _reasons(
    every: Sequence[Scenario], profiles: Mapping[str, Profile], readers: Collection[str]
) -> Iterator[tuple[Scenario, Retired]]:
    """Yields scenarios of one category with what speaks against them, the strongest first."""
    for one in every:
        if flat := profiles[one.hash].flat:
            yield one, Retired(f"tells no agents apart: {flat}", one.difficulty)
    for one in every:
        if name := _unread(profiles[one.hash], readers):
            text = f"{name}, which reads nothing, passes it as often as any that reads"
            yield one, Retired(text, one.difficulty)
    for one in every:
        if one.category == "return-to-first" and _in_first_frame(one):
            text = "the page does not show whether Good was seen before its first frame"
            yield one, Retired(text, one.difficulty)
    seen: dict[tuple[str, str, str], str] = {}
    for one in every:
        alike = one.difficulty, _asked(one), str(profiles[one.hash])
        if alike in seen:
            text = f"passed exactly as often by each agent as {seen[alike]}"
            yield one, Retired(text, one.difficulty)
        seen.setdefault(alike, one.id)
    counts = Counter(one.difficulty for one in every)
    rare = min(DIFFICULTIES, key=lambda name: counts[name])
    common = max(DIFFICULTIES, key=lambda name: counts[name])
    if counts[rare] < FEW < counts[common]:
        last = [one for one in every if one.difficulty == common][-1]
        yield last, Retired(f"{counts[common]} are {common} and {counts[rare]} {rare}", rare)


def _unread(profile: Profile, readers: Collection[str]) -> str:
    """Returns who reads nothing and passes as often as any that reads; "" where nobody does."""
    rate = {name: passed.successes / passed.of for name, passed in profile.passed.items()}
    best = max((rate[name] for name in rate if name in readers), default=1.0)
    return next((name for name in rate if name not in readers and rate[name] >= best), "")


def _in_first_frame(one: Scenario) -> bool:
    return bool(Track(one.recording, one.roles[0]).to_good[0] <= SIGHT)


def places(
    gone: Sequence[Scenario], mined: Sequence[Scenario], wanted: Mapping[str, str]
) -> dict[str, str]:
    """Returns which of those that were mined takes the place of which that is gone, as `REPLACING`.

    Halves of a pair are replaced together. Fewer where a category has too few.

    Args:
      gone: scenarios of the suite.
      mined: candidates.
      wanted: of what is gone by id, the difficulty of what is to take its place.
    """
    free = {one.id: one for one in mined}
    out: dict[str, str] = {}
    for one in gone:
        if one.id in out.values():
            continue
        halves = [o for o in gone if o is one or (one.pair and o.pair == one.pair)]
        alike = [
            o for o in free.values() if o.category == one.category and _asked(o) == _asked(one)
        ]
        if not alike:
            continue
        best = min(alike, key=partial(_unlike, old=one, wanted=wanted[one.id]))
        others = [o for o in free.values() if o is best or (best.pair and o.pair == best.pair)]
        for new, old in zip(sorted(others, key=_asked), sorted(halves, key=_asked), strict=True):
            out[new.id] = old.id
            del free[new.id]
    return out


def _asked(one: Scenario) -> str:
    """Returns which half of a pair it is; "" elsewhere."""
    return str(one.parameters.get("asked", ""))


def _unlike(new: Scenario, old: Scenario, wanted: str) -> tuple[bool, bool, str]:
    """Returns what is the lower the better one takes the place of the other."""
    answers = new.parameters.get("answer"), old.parameters.get("answer")
    return answers[0] != answers[1], new.difficulty != wanted, new.id
