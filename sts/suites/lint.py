"""The validity rules of scenarios, checked before they are frozen and after."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence

from sts.domains import observation_shapes, why_unavailable
from sts.engine.replay import Mismatch, iterate_replay
from sts.errors import StsError
from sts.names import MAX_NAME_CHARS, is_one_line, quote
from sts.storage.files import content_hash
from sts.suites.suite import DIFFICULTIES, KINDS, Scenario, group_dialogues, group_pairs
from sts.trajectories.trajectory import get_split

MAX_STEPS = 10**6
"""Maximum length of a context or a continuation, far more than an annotator watches."""
MAX_INSTRUCTION_CHARS = 2000
"""Maximum length of an instruction, in characters."""


def lint_scenarios(scenarios: Sequence[Scenario]) -> list[str]:
    """Return the faults of scenarios, one line each; an empty list if there are none.

    Ids and hashes have to be unique, worlds on the test split, roles, steps, instructions and
    partners valid, and pairs and dialogues complete. Recordings have to replay step by step and
    reach the stated state at takeover.
    """
    uses = Counter(s.id for s in scenarios)
    faults = [f"the id {id} is used {n} times" for id, n in uses.items() if n > 1]
    links = [find_pair_fault(halves) for halves in group_pairs(scenarios).values()]
    dialogues = (turns for turns in group_dialogues(scenarios).values() if turns[0].turn > 0)
    links += [find_dialogue_fault(turns) for turns in dialogues]  # turn 0 is reported below
    faults += [fault for fault in links if fault is not None]
    ids_by_hash = defaultdict(list)
    for s in scenarios:
        ids_by_hash[s.hash].append(s.id)
    faults += [f"{ids} are the same scenario" for ids in ids_by_hash.values() if len(ids) > 1]
    if not scenarios:
        faults.append("it has no scenarios")
    replayable = []
    for s in scenarios:
        own_faults = find_field_faults(s)
        try:
            reason = why_unavailable(s.recording)
        except StsError as error:  # a damaged state
            reason = error
        own_faults += [] if reason is None else [str(reason)]
        faults += [f"{s.id}: {fault}" for fault in own_faults]
        replayable += [] if own_faults else [s]
    return faults + [f"{id}: {fault}" for id, fault in _find_replay_faults(replayable)]


def find_pair_fault(halves: Sequence[Scenario]) -> str | None:
    """Return why scenarios do not form a pair, with their ids; None if they do.

    A pair is two instructions to the same players at one takeover of one world.
    """
    ids, name = ", ".join(half.id for half in halves), quote(halves[0].pair)
    if len(halves) == 1:
        return (
            f"{ids}: the other half of its pair {name} is missing; add that, or remove this one "
            "from the pair"
        )
    if len(halves) > 2:
        return f"{ids}: a pair has two halves, and {name} has {len(halves)}"
    first, second = halves
    alike = (
        ("world", first.world == second.world),
        ("state at takeover", first.takeover_hash == second.takeover_hash),
        ("players", first.players == second.players),
    )
    for shared, is_same in alike:
        if not is_same:
            return f"{ids}: the halves of a pair must have the same {shared}, and these differ"
    if first.instruction.text == second.instruction.text:
        return f"{ids}: the halves of a pair must ask for different things, and these ask the same"
    return None


def find_dialogue_fault(turns: Sequence[Scenario]) -> str | None:
    """Return why scenarios, sorted by turn, do not form a dialogue, with their ids, or None.

    A dialogue has turns 1 to n, one after the other in one recording.
    """
    ids, numbers = ", ".join(turn.id for turn in turns), [turn.turn for turn in turns]
    if numbers != list(range(1, len(turns) + 1)):
        return (
            f"{ids}: the turns of dialogue {quote(turns[0].dialogue)} are "
            f"{', '.join(map(str, numbers))}, expected 1 to {len(turns)}"
        )
    if len({turn.trajectory for turn in turns}) > 1:
        return f"{ids}: the turns of a dialogue must be of one recording, and these are of several"
    steps = [turn.step for turn in turns]
    if any(late <= early for early, late in itertools.pairwise(steps)):
        return (
            f"{ids}: each turn of a dialogue must start after the one before it, and these start "
            f"at steps {', '.join(map(str, steps))}"
        )
    return None


def find_field_faults(s: Scenario) -> list[str]:
    """Return the faults of a scenario's fields, without replaying it."""
    has_steps = s.context >= 0 and s.horizon >= 1
    is_short = s.context <= MAX_STEPS and s.horizon <= MAX_STEPS
    is_listed_once = bool(s.players) and len(set(s.players)) == len(s.players)
    is_recorded = all(0 <= player < s.recording.n_players for player in s.players)
    has_source = all(i.source in ("setter", "curator") for i in s.instructions)
    is_last = all(0 <= i.given_at <= s.instruction.given_at for i in s.earlier_instructions)
    is_plain = all(i.player is None and not i.mark for i in s.instructions)
    has_turn = bool(s.dialogue) == (s.turn >= 1) and 0 <= s.turn <= MAX_STEPS
    turn = f"turn {s.turn} of dialogue {quote(s.dialogue)}"
    min_steps = s.context + (s.horizon if s.partner == "replay" else 0)
    unreadable = [t for t in _collect_names(s) if not is_one_line(t, MAX_NAME_CHARS)]
    long = [i.text for i in s.instructions if not is_one_line(i.text, MAX_INSTRUCTION_CHARS)]
    rubric = [t for t in (s.criterion, s.edge_cases) if not is_one_line(t, MAX_INSTRUCTION_CHARS)]
    partner = s.partner in ("no-op", "replay") or s.partner.startswith("agent:")
    checks = (
        (get_split(s.world, s.provenance) == "test", "its world is of the train split"),
        (s.kind in KINDS, f"kind must be one of {', '.join(KINDS)}"),
        (s.difficulty in DIFFICULTIES, f"difficulty must be one of {', '.join(DIFFICULTIES)}"),
        (has_steps, "needs a context of 0 or more steps and a continuation of 1 or more"),
        (is_short, f"its context or continuation has more than {MAX_STEPS} steps"),
        (0 <= s.context_start < 2**31, "its context starts at no step of a trajectory"),
        (s.recording.steps >= min_steps, f"its recording has fewer than {min_steps} steps"),
        (is_listed_once, "needs at least one evaluated player, each listed once"),
        (is_recorded, "evaluates a player that its recording does not have"),
        (partner, f"partner {s.partner!r} is not no-op, replay or agent:NAME"),
        (all(i.text.strip() for i in s.instructions), "its instruction is empty"),
        (
            not long,
            f"its instruction is not one line of at most {MAX_INSTRUCTION_CHARS} printable "
            f"characters: {', '.join(map(quote, long[:1]))}",
        ),
        (
            not rubric,
            f"its criterion or edge cases are not one line of at most {MAX_INSTRUCTION_CHARS} "
            "printable characters",
        ),
        (
            not unreadable,
            f"expected names of at most {MAX_NAME_CHARS} printable characters, found "
            f"{', '.join(map(quote, unreadable[:1]))}",
        ),
        (0 <= s.instruction.given_at <= s.context, "its instruction is given after takeover"),
        (has_source, "its instruction has no source"),
        (is_plain, "an instruction of it names a player or has a mark"),
        (is_last, "another instruction is given after the one that is judged"),
        (has_turn, f"{turn}: a dialogue's turns count from 1"),
        (s.replaces != s.id, "it replaces itself"),
    )
    return [text for good, text in checks if not good]


def _collect_names(s: Scenario) -> tuple[str, ...]:
    names = (s.id, s.category, s.instruction.category, s.partner, s.trajectory, s.world)
    earlier = [i.category for i in s.earlier_instructions]
    return (*names, *earlier, *s.tags, *filter(None, (s.pair, s.dialogue, s.replaces)))


def _find_replay_faults(scenarios: Sequence[Scenario]) -> list[tuple[str, str]]:
    """Return (id, fault) for recordings that do not replay or miss the state at takeover."""
    groups: dict[tuple[Hashable, ...], list[Scenario]] = defaultdict(list)
    for s in scenarios:
        recording = s.recording
        size = recording.steps, recording.n_players, recording.scene.shape[1]
        groups[recording.domain, s.context, size, observation_shapes(recording)].append(s)
    faults: list[tuple[str, str]] = []
    for members in groups.values():
        states: list[bytes] = []
        mismatches: dict[int, Mismatch] = {}
        try:
            replay = iterate_replay([s.recording for s in members])
            for t, (worlds, differences) in enumerate(replay):
                mismatches = {**differences, **mismatches}
                if t == members[0].context:
                    states = worlds.states()
        except StsError as error:
            faults.append((", ".join(s.id for s in members), str(error)))
            continue
        for b, s in enumerate(members):
            if b in mismatches:
                faults.append((s.id, f"does not replay: {mismatches[b].description}"))
            elif content_hash(states[b]) != s.takeover_hash:
                faults.append((s.id, "the state at takeover does not match its hash"))
    return faults
