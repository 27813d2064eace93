"""Which scenarios of a packaged suite the next version does without, and what takes their place.

Both by rules that are stated; nobody has looked at them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from scenarios.categories.lambda_star.tracks import SIGHT, Track
from scenarios.profiles import Profile
from sts.suites.types import Scenario

SHARE = 0.2
"""Of a category, at most."""
RULE = (
    "of each category at most a fifth, halves of a pair together and no turn of a dialogue, in "
    "this order: what all agents that have a say pass always, or none ever; what a judge cannot "
    "tell from the page, which is whether Good was seen first in the first frame that is shown; "
    "and what they pass exactly as often as another of the category and difficulty"
)
REPLACING = (
    "of several times as many that were mined, the one whose answer, then whose difficulty is that "
    "of what was retired, then the first by its id"
)


def retirements(scenarios: Sequence[Scenario], profiles: Mapping[str, Profile]) -> dict[str, str]:
    """Returns by id why scenarios are retired, as `RULE` says.

    Args:
      scenarios: of a suite.
      profiles: by the hash of each, of the agents that have a say.
    """
    by_category: dict[str, list[Scenario]] = defaultdict(list)
    for one in scenarios:
        if not one.series:
            by_category[one.category].append(one)
    out: dict[str, str] = {}
    for every in by_category.values():
        most = int(SHARE * len(every) + 1e-9)
        for one, reason in _reasons(every, profiles):
            halves = [o for o in every if o is one or (one.pair and o.pair == one.pair)]
            if one.id not in out and len(halves) <= most:
                most -= len(halves)
                out |= {o.id: reason if o is one else f"half of a pair: {reason}" for o in halves}
    return out


def _reasons(
    every: Sequence[Scenario], profiles: Mapping[str, Profile]
) -> Iterator[tuple[Scenario, str]]:
    """Yields scenarios of one category with what speaks against them, the strongest first."""
    for one in every:
        if flat := profiles[one.hash].flat:
            yield one, f"tells no agents apart: {flat}"
    for one in every:
        if one.category == "return-to-first" and _in_first_frame(one):
            yield one, "the page does not show whether Good was seen before its first frame"
    seen: dict[tuple[str, str, str], str] = {}
    for one in every:
        alike = one.difficulty, str(one.parameters.get("asked")), str(profiles[one.hash])
        if alike in seen:
            yield one, f"passed exactly as often by each agent as {seen[alike]}"
        seen.setdefault(alike, one.id)


def _in_first_frame(one: Scenario) -> bool:
    return bool(Track(one.recording, one.roles[0]).to_good[0] <= SIGHT)


def places(gone: Sequence[Scenario], mined: Sequence[Scenario]) -> dict[str, str]:
    """Returns which of those that were mined takes the place of which that is gone, as `REPLACING`.

    Halves of a pair are replaced together. Fewer where a category has too few.
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
        best = min(alike, key=lambda o: _unlike(o, one))
        others = [o for o in free.values() if o is best or (best.pair and o.pair == best.pair)]
        for new, old in zip(sorted(others, key=_asked), sorted(halves, key=_asked), strict=True):
            out[new.id] = old.id
            del free[new.id]
    return out


def _asked(one: Scenario) -> str:
    """Returns which half of a pair it is; "" elsewhere."""
    return str(one.parameters.get("asked", ""))


def _unlike(new: Scenario, old: Scenario) -> tuple[bool, bool, str]:
    """Returns what is the lower the better one takes the place of the other."""
    answers = new.parameters.get("answer"), old.parameters.get("answer")
    return answers[0] != answers[1], new.difficulty != old.difficulty, new.id
