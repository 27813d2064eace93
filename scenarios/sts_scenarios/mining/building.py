"""Construction of a scenario from a selected candidate step."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sts
from sts.engine.replay import replay_worlds
from sts.episodes import Episode, Instruction
from sts.errors import ReplayMismatch
from sts.storage.files import content_hash
from sts.suites.suite import DIFFICULTIES, DONE_TAG, Scenario
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.mining.choice import FAILURE, Pick, Stratum
from sts_scenarios.rules.category import Category
from sts_scenarios.rules.linking import link_scenarios

COPIED_PROVENANCE = ("split", "notes", "continuation", "session", "setters")
"""Provenance that scenarios take over from a trajectory: the split and the notes of its source, the
id of a failed continuation, and the live session with the kinds of those who asked."""
FAILURE_TAG = "from-failure"
"""Tag of scenarios that were mined from failed continuations."""


@contextlib.contextmanager
def name_trajectory(trajectory: Trajectory) -> Iterator[None]:
    """Name the trajectory in replay errors."""
    try:
        yield
    except ReplayMismatch as error:
        raise error.with_prefix(f"trajectory {trajectory.id}") from None


def make_scenarios(
    category: Category, chosen: Sequence[Pick], seed: int, last: int, rule: Mapping[str, Any]
) -> Iterator[tuple[Scenario, Stratum]]:
    """Yield scenarios of the selected steps with their strata, easier first, from `last` + 1 on.

    Half of a pair is followed by the other half, if both are valid.
    """
    ranked = sorted(chosen, key=lambda pick: DIFFICULTIES.index(pick.candidate.difficulty))
    number = last
    for place, first in enumerate(ranked):
        members: list[Scenario] = []
        for pick in (first, *_other_half(category, first)):
            text = fill_template(category, pick, place)
            id = f"{category.name}-{number + len(members) + 1:02d}"
            members.append(make_scenario(category, pick, id=id, text=text, seed=seed, rule=rule))
        if len(members) == 2:
            both = all(category.why_invalid(half) is None for half in members)
            members = link_scenarios(members, "pair") if both else members[:1]
        number += len(members)
        yield from ((half, first.stratum) for half in members)


def _other_half(category: Category, pick: Pick) -> list[Pick]:
    """Return the other half of a pair; nothing if there is none or more than one."""
    trajectory, half = pick
    if not half.pair:
        return []
    key = (half.step, half.player, half.pair)
    matching = [
        candidate
        for candidate in category.find_candidates(trajectory)
        if (candidate.step, candidate.player, candidate.pair) == key and candidate != half
    ]
    return [Pick(trajectory, candidate) for candidate in matching] if len(matching) == 1 else []


def fill_template(category: Category, pick: Pick, number: int) -> str:
    """Return the instruction by the category's template of this number, modulo their count."""
    return category.templates[number % len(category.templates)].format(**pick.candidate.fields)


def make_scenario(
    category: Category,
    pick: Pick,
    *,
    id: str,
    text: str,
    seed: int,
    rule: Mapping[str, Any] | None = None,
    states: Callable[[Episode, Sequence[int]], list[bytes]] | None = None,
) -> Scenario:
    """Make the scenario of a candidate, with the instruction `text` and one role judged.

    `states`, if given, replaces `states_at`.
    """
    trajectory, candidate = pick
    start, stop = candidate.step - category.context, candidate.step + category.horizon
    with name_trajectory(trajectory):
        before, takeover = (states or states_at)(trajectory.episode, (start, candidate.step))
    recording = trajectory.episode.slice_steps(before, start, stop)
    label = category.label(recording, category.context, (candidate.player,), candidate.parameters)
    at, source = (0, "setter") if candidate.said_at_start else (category.context, "curator")
    instruction = Instruction(text, category.name, given_at=at, source=source)
    tags = {DONE_TAG: label.verdict == "success", FAILURE_TAG: pick.stratum.source == FAILURE}
    carried = {k: v for k, v in trajectory.provenance.items() if k in COPIED_PROVENANCE}
    if people := sorted({p.name for p in trajectory.players if p.kind == "human"}):
        carried["people"] = people
    if trajectory.split == "train":  # needed to export it as a training episode
        carried["kinds"] = [p.kind for p in trajectory.players]
    return Scenario(
        id=id,
        category=category.name,
        kind=category.kind,
        instruction=instruction,
        earlier_instructions=_earlier_instructions(pick, start, instruction)
        if candidate.hears
        else (),
        parameters=candidate.parameters,
        trajectory=trajectory.id,
        world=trajectory.world,
        context_start=start,
        context=category.context,
        horizon=category.horizon,
        players=(candidate.player,),
        partner=category.partner,
        difficulty=candidate.difficulty,
        tags=tuple(tag for tag, is_given in tags.items() if is_given),
        takeover_hash=content_hash(takeover),
        recording=recording,
        provenance={
            "made_by": "sts mine",
            "sts": sts.__version__,
            "seed": seed,
            "source": trajectory.source,
            "recorded_by": [p.name for p in trajectory.players],
            "fingerprint": trajectory.provenance.get("fingerprint"),
        }
        | carried
        | ({"chosen_by": dict(rule)} if rule else {}),
    )


def _earlier_instructions(
    pick: Pick, start: int, instruction: Instruction
) -> tuple[Instruction, ...]:
    """Return the player's other instructions up to `instruction`, by steps of a context.

    The context is from step `start`. They are without the setter's marks.
    """
    since = [
        replace(i, given_at=max(0, i.given_at - start), player=None, mark="", marked_at=None)
        for i in pick.trajectory.instructions
        if i.is_heard_by(pick.candidate.player)
    ]
    before = [i for i in since if i.given_at <= instruction.given_at and i.text != instruction.text]
    return tuple(sorted(before, key=lambda i: i.given_at))


def states_at(episode: Episode, steps: Sequence[int]) -> list[bytes]:
    """Return the serialised state before each of `steps`, by one replay of the episode."""
    replay = replay_worlds([episode], [f"domain {episode.domain!r}"])
    before = zip(range(max(steps) + 1), replay, strict=False)
    states = {t: worlds.states()[0] for t, worlds in before if t in steps}
    return [states[t] for t in steps]
