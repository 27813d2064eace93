"""From a moment that was chosen to the scenario that asks it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import sts
from sts.engine.replay import along
from sts.episodes import Episode, Instruction
from sts.errors import ReplayMismatch
from sts.storage.files import content_hash
from sts.suites.types import DIFFICULTIES, DONE, Scenario
from sts.trajectories.types import Trajectory
from sts_scenarios.category import Category
from sts_scenarios.linking import linked
from sts_scenarios.mining.choice import FAILURE, Pick, Stratum

CARRIED = ("split", "notes", "continuation")
"""Of a trajectory's provenance, what its scenarios keep: its source's side, what to report, and the
continuation that it is."""
FAILED = "from-failure"
"""The tag of what was mined from a continuation in which what was asked was not done."""


class Made(NamedTuple):
    """A scenario, and the stratum that it was chosen from."""

    scenario: Scenario
    stratum: Stratum


@contextlib.contextmanager
def naming(trajectory: Trajectory) -> Iterator[None]:
    """Says of which trajectory an error is."""
    try:
        yield
    except ReplayMismatch as error:
        raise error.about(f"trajectory {trajectory.id}") from None


def scenarios(
    category: Category, chosen: Sequence[Pick], seed: int, last: int, rule: Mapping[str, Any]
) -> Iterator[Made]:
    """Yield scenarios of what was chosen, the easier first; their ids go on from `last`.

    One that is half of a pair has the other half behind it, where both fit.
    """
    ranked = sorted(chosen, key=lambda one: DIFFICULTIES.index(one.candidate.difficulty))
    number = last
    for place, one in enumerate(ranked):
        made: list[Scenario] = []
        for pick in (one, *_other_half(category, one)):
            text, id = (
                worded(category, pick, place),
                f"{category.name}-{number + len(made) + 1:02d}",
            )
            made.append(scenario(category, pick, id=id, text=text, seed=seed, rule=rule))
        if len(made) == 2:
            both = all(category.fits(half) is None for half in made)
            made = linked(made, "pair") if both else made[:1]
        number += len(made)
        yield from (Made(half, one.stratum) for half in made)


def _other_half(category: Category, pick: Pick) -> list[Pick]:
    """Return the other half of a pair; nothing where there is none, or more than one."""
    trajectory, mine = pick
    if not mine.pair:
        return []
    key = (mine.moment, mine.role, mine.pair)
    found = [
        one
        for one in category.moments(trajectory)
        if (one.moment, one.role, one.pair) == key and one != mine
    ]
    return [Pick(trajectory, one) for one in found] if len(found) == 1 else []


def worded(category: Category, pick: Pick, number: int) -> str:
    """Return the instruction in the category's wording of this number; they take turns."""
    return category.wordings[number % len(category.wordings)].format(**pick.candidate.words)


def scenario(
    category: Category,
    pick: Pick,
    *,
    id: str,
    text: str,
    seed: int,
    rule: Mapping[str, Any] | None = None,
    states: Callable[[Episode, Sequence[int]], list[bytes]] | None = None,
) -> Scenario:
    """Return the scenario that asks a candidate, in the words `text`, with one role judged.

    `states`, if given, returns its states in place of `states_at`.
    """
    trajectory, candidate = pick
    start, stop = candidate.moment - category.context, candidate.moment + category.horizon
    with naming(trajectory):
        before, takeover = (states or states_at)(trajectory.episode, (start, candidate.moment))
    recording = trajectory.episode.part(before, start, stop)
    label = category.label(recording, category.context, (candidate.role,), candidate.parameters)
    at, source = (0, "setter") if candidate.said_at_start else (category.context, "curator")
    asked = Instruction(text, category.name, given_at=at, source=source)
    tags = {DONE: label.verdict == "success", FAILED: pick.stratum.source == FAILURE}
    carried = {k: v for k, v in trajectory.provenance.items() if k in CARRIED}
    if trajectory.split == "train":  # from which it becomes a trajectory again
        carried["kinds"] = [p.kind for p in trajectory.participants]
    return Scenario(
        id=id,
        category=category.name,
        kind=category.kind,
        instruction=asked,
        heard=_heard(trajectory, start, asked) if candidate.hears else (),
        parameters=candidate.parameters,
        trajectory=trajectory.id,
        world=trajectory.world,
        context_start=start,
        takeover=category.context,
        horizon=category.horizon,
        roles=(candidate.role,),
        partner=category.partner,
        difficulty=candidate.difficulty,
        tags=tuple(tag for tag, own in tags.items() if own),
        takeover_hash=content_hash(takeover),
        recording=recording,
        provenance={
            "made_by": "sts mine",
            "sts": sts.__version__,
            "seed": seed,
            "source": trajectory.source,
            "recorded_by": [p.name for p in trajectory.participants],
            "fingerprint": trajectory.provenance.get("fingerprint"),
        }
        | carried
        | ({"chosen_by": dict(rule)} if rule else {}),
    )


def _heard(trajectory: Trajectory, start: int, asked: Instruction) -> tuple[Instruction, ...]:
    """Return what else had been said when `asked` came, by steps of a context from `start` on."""
    since = [replace(i, given_at=max(0, i.given_at - start)) for i in trajectory.instructions]
    before = [i for i in since if i.given_at <= asked.given_at and i.text != asked.text]
    return tuple(sorted(before, key=lambda one: one.given_at))


def states_at(episode: Episode, steps: Sequence[int]) -> list[bytes]:
    """Return the serialised state before each of `steps`, by one replay of the episode."""
    replay = along([episode], [f"domain {episode.domain!r}"])
    before = zip(range(max(steps) + 1), replay, strict=False)
    states = {t: worlds.states()[0] for t, worlds in before if t in steps}
    return [states[t] for t in steps]
