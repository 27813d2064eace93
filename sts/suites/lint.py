"""What every scenario must satisfy before it is frozen, and after."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence

from sts.domains import domain, shapes, why_unavailable
from sts.engine.replay import Mismatch, replayed
from sts.errors import StsError
from sts.names import LIMIT, one_line, shown
from sts.storage.files import content_hash
from sts.suites.types import DIFFICULTIES, KINDS, Scenario, pairs, series
from sts.trajectories.types import split

STEPS = 10**6
"""Steps of a context or a continuation: far more than anybody watches."""
WORDS = 2000
"""Letters of an instruction."""


def lint(scenarios: Sequence[Scenario]) -> list[str]:
    """Return what is wrong, one line each; an empty list for sound scenarios.

    Ids and hashes are unique; the world is on the test side; the recording replays step by step and
    reaches the stated state at takeover; roles, steps, instruction and partner make sense; what
    belongs together does.
    """
    faults = [f"the id {i} stands {n} times" for i, n in _repeated(s.id for s in scenarios)]
    faults += _unlinked(scenarios)
    alike = defaultdict(list)
    for s in scenarios:
        alike[s.hash].append(s.id)
    faults += [f"{ids} are the same scenario" for ids in alike.values() if len(ids) > 1]
    if not scenarios:
        faults.append("it has no scenarios")
    sound = []
    for s in scenarios:
        found = misfits(s)
        try:
            reason = why_unavailable(s.recording)
        except StsError as error:  # a damaged state
            reason = error
        found += [] if reason is None else [str(reason)]
        faults += [f"{s.id}: {fault}" for fault in found]
        sound += [] if found else [s]
    return faults + [f"{id}: {fault}" for id, fault in _replays(sound)]


def _unlinked(scenarios: Sequence[Scenario]) -> list[str]:
    """Return which pairs and dialogues are none."""
    found = [misfit_pair(halves) for halves in pairs(scenarios).values()]
    dialogues = (turns for turns in series(scenarios).values() if turns[0].turn > 0)
    found += [misfit_series(turns) for turns in dialogues]  # turn 0 is said of the scenario alone
    return [fault for fault in found if fault is not None]


def misfit_pair(halves: Sequence[Scenario]) -> str | None:
    """Return why scenarios are no pair, with their ids; None for a pair.

    A pair is two instructions to the same participants at one takeover of one world.
    """
    ids, name = ", ".join(one.id for one in halves), shown(halves[0].pair)
    if len(halves) == 1:
        return (
            f"{ids}: the other half of its pair {name} is missing: take that in, or this one out "
            "of the pair"
        )
    if len(halves) > 2:
        return f"{ids}: a pair has two halves, and {name} has {len(halves)}"
    one, other = halves
    alike = (
        ("world", one.world == other.world),
        ("state at takeover", one.takeover_hash == other.takeover_hash),
        ("participants", one.roles == other.roles),
    )
    for what, same in alike:
        if not same:
            return f"{ids}: the halves of a pair have the same {what}, and these have not"
    if one.instruction.text == other.instruction.text:
        return f"{ids}: the halves of a pair ask for two things, and both of these ask the same"
    return None


def misfit_series(turns: Sequence[Scenario]) -> str | None:
    """Return why scenarios in the order of their turns are no dialogue, with their ids, or None.

    A dialogue has turns 1 to n, one after the other in one recording.
    """
    ids, numbers = ", ".join(one.id for one in turns), [one.turn for one in turns]
    if numbers != list(range(1, len(turns) + 1)):
        return (
            f"{ids}: the turns of dialogue {shown(turns[0].series)} are "
            f"{', '.join(map(str, numbers))}, expected 1 to {len(turns)}"
        )
    if len({one.trajectory for one in turns}) > 1:
        return f"{ids}: the turns of a dialogue are of one recording, and these are not"
    moments = [one.context_start + one.takeover for one in turns]
    if any(late <= early for early, late in itertools.pairwise(moments)):
        return (
            f"{ids}: each turn of a dialogue begins after the one before it, and these begin at "
            f"steps {', '.join(map(str, moments))}"
        )
    return None


def _repeated(values: Iterable[str]) -> list[tuple[str, int]]:
    return [(v, n) for v, n in Counter(values).items() if n > 1]


def misfits(s: Scenario) -> list[str]:
    """Return which of a scenario's fields make no sense, without replaying it."""
    people = s.recording.participants
    needed = s.takeover + (s.horizon if s.partner == "replay" else 0)
    unreadable = [t for t in _names(s) if not one_line(t, LIMIT)]
    long = [one.text for one in s.instructions if not one_line(one.text, WORDS)]
    partner = s.partner in ("no-op", "replay") or s.partner.startswith("agent:")
    checks = (
        (split(s.world, s.provenance) == "test", "its world is on the training side"),
        (s.kind in KINDS, f"kind must be one of {', '.join(KINDS)}"),
        (s.difficulty in DIFFICULTIES, f"difficulty must be one of {', '.join(DIFFICULTIES)}"),
        (
            s.takeover >= 0 and s.horizon >= 1,
            "needs a context of 0 and a continuation of 1 or more",
        ),
        (s.takeover <= STEPS and s.horizon <= STEPS, f"has more than {STEPS} steps in a part"),
        (0 <= s.context_start < 2**31, "its context begins at no step of a trajectory"),
        (s.recording.steps >= needed, f"its recording has fewer than {needed} steps"),
        (bool(s.roles) and len(set(s.roles)) == len(s.roles), "evaluates nobody, or one twice"),
        (all(0 <= r < people for r in s.roles), "evaluates a participant that is not there"),
        (partner, f"partner {s.partner!r} is not no-op, replay or agent:NAME"),
        (all(one.text.strip() for one in s.instructions), "its instruction is empty"),
        (
            not long,
            f"its instruction is not one line of at most {WORDS} letters that print: "
            f"{', '.join(map(shown, long[:1]))}",
        ),
        (
            not unreadable,
            f"expected names of at most {LIMIT} letters that print, found "
            f"{', '.join(map(shown, unreadable[:1]))}",
        ),
        (0 <= s.instruction.given_at <= s.takeover, "its instruction is given after takeover"),
        (
            all(one.source in ("setter", "curator") for one in s.instructions),
            "its instruction has no source",
        ),
        (
            all(0 <= one.given_at <= s.instruction.given_at for one in s.heard),
            "something else is said to it after the instruction that is judged",
        ),
        (
            bool(s.series) == (s.turn >= 1) and 0 <= s.turn <= STEPS,
            f"turn {s.turn} of series {shown(s.series)}: a dialogue's turns count from 1",
        ),
        (s.replaces != s.id, "it replaces itself"),
    )
    return [text for good, text in checks if not good]


def _names(s: Scenario) -> tuple[str, ...]:
    own = (s.id, s.category, s.instruction.category, s.partner, s.trajectory, s.world)
    asked = [one.category for one in s.heard]
    return (*own, *asked, *s.tags, *filter(None, (s.pair, s.series, s.replaces)))


def _replays(scenarios: Sequence[Scenario]) -> list[tuple[str, str]]:
    """Return (id, fault) for recordings that do not replay or miss the state at takeover."""
    groups: dict[tuple[Hashable, ...], list[Scenario]] = defaultdict(list)
    for s in scenarios:
        one = s.recording
        size = one.steps, one.participants, one.scene.shape[1]
        groups[one.domain, s.takeover, size, shapes(one)].append(s)
    out: list[tuple[str, str]] = []
    for members in groups.values():
        states: list[bytes] = []
        off: dict[int, Mismatch] = {}
        try:
            world = domain(members[0].recording.domain)
            for t, moment in enumerate(replayed(world, [s.recording for s in members])):
                off = {**moment.mismatches, **off}
                if t == members[0].takeover:
                    states = moment.worlds.states()
        except StsError as error:
            out.append((", ".join(s.id for s in members), str(error)))
            continue
        for b, s in enumerate(members):
            if b in off:
                out.append((s.id, f"does not replay: {off[b].what}"))
            elif content_hash(states[b]) != s.takeover_hash:
                out.append((s.id, "the state at takeover is not the one its hash names"))
    return out
