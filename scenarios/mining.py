"""Mining: from recorded trajectories to a draft, the same for the same seed.

Only the test side is mined. A category takes at most one moment a world. Each next choice evens
out, in this order: answers within a difficulty, answers, difficulties, worlds of the whole draft,
origins of the recordings, and who recorded; of what is left the easier comes first, then by hash.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import sts
from scenarios.category import Candidate, Category
from sts.domains import why_unavailable
from sts.engine.replay import along
from sts.episodes import Episode, Instruction
from sts.errors import ReplayMismatch, StsError
from sts.numerics.streams import stream
from sts.storage.files import canonical_json, content_hash
from sts.suites.types import DIFFICULTIES, Scenario
from sts.trajectories.types import Trajectory

CARRIED = ("split", "notes")
"""Of a trajectory's provenance, what its scenarios keep: its source's side, and what to report."""


class Pick(NamedTuple):
    """A candidate of a category, and the trajectory that it stands in."""

    trajectory: Trajectory
    candidate: Candidate

    @property
    def origin(self) -> str:
        """What kind of source recorded it: the first word of the trajectory's source."""
        return self.trajectory.source.partition(" ")[0]

    @property
    def recorded_by(self) -> str:
        """Who the participant was."""
        return self.trajectory.participants[self.candidate.role].name


class Mined(NamedTuple):
    """A draft.

    Attributes:
      scenarios: of it.
      candidates: how many each category had.
      worlds: in how many worlds.
      unfit: of each category that refuses one of its scenarios with this partner, why.
      unavailable: of each domain, how many trajectories were left out as their worlds cannot be had
        here, and why the first of them cannot.
    """

    scenarios: tuple[Scenario, ...]
    candidates: dict[str, int]
    worlds: dict[str, int]
    unfit: dict[str, str]
    unavailable: dict[str, tuple[int, StsError]]


def mine(
    trajectories: Iterable[Trajectory],
    categories: Sequence[Category],
    *,
    per_category: int,
    seed: int,
    last: Mapping[str, int] | None = None,
    taken: Collection[tuple[str, str]] = (),
) -> Mined:
    """Returns up to `per_category` scenarios of each category, at most one a world.

    What a category itself does not find fitting, as its partner may make it, is left out, and so
    are trajectories whose worlds cannot be had here.

    Args:
      trajectories: to mine.
      categories: to find scenarios of.
      per_category: how many, at most.
      seed: of the choice.
      last: the highest number of an id of each category so far.
      taken: (category, world) of each candidate that is there already.

    Raises:
      ReplayMismatch: a trajectory that was chosen from does not replay.
    """
    firsts: dict[str, dict[tuple[str, ...], tuple[int, Pick]]] = {c.name: {} for c in categories}
    counts: Counter[str] = Counter()
    gone: dict[str, tuple[int, StsError]] = {}
    for trajectory in trajectories:
        name = trajectory.episode.domain
        concerned = [category for category in categories if category.domain == name]
        if trajectory.split != "test" or not concerned:
            continue
        if (reason := why_unavailable(trajectory.episode)) is not None:
            count, first = gone.get(name, (0, reason))
            gone[name] = count + 1, first
            continue
        for category in concerned:
            if (category.name, trajectory.world) in taken:
                continue
            with _naming(trajectory):
                candidates = category.moments(trajectory)
            for candidate in candidates:
                counts[category.name] += 1
                kind = (trajectory.world, candidate.answer, candidate.difficulty)
                order = _order(seed, category, trajectory, candidate)
                best = firsts[category.name].get(kind)
                if best is None or order < best[0]:
                    firsts[category.name][kind] = order, Pick(trajectory, candidate)
    kept = {
        name: [f for _, f in sorted(kinds.values(), key=_first)] for name, kinds in firsts.items()
    }
    chosen = _choose(kept, per_category)
    begin = {c.name: (last or {}).get(c.name, 0) for c in categories}
    made = [
        (s, c.fits(s))
        for c in categories
        for s in _scenarios(c, chosen[c.name], seed, begin[c.name])
    ]
    return Mined(
        tuple(s for s, fault in made if fault is None),
        {c.name: counts[c.name] for c in categories},
        {name: len({f.trajectory.world for f in fs}) for name, fs in kept.items()},
        {s.category: fault for s, fault in made if fault is not None},
        gone,
    )


@contextlib.contextmanager
def _naming(trajectory: Trajectory) -> Iterator[None]:
    """Says of which trajectory an error is."""
    try:
        yield
    except ReplayMismatch as error:
        raise error.about(f"trajectory {trajectory.id}") from None


def _order(seed: int, category: Category, trajectory: Trajectory, candidate: Candidate) -> int:
    asked = canonical_json(candidate.parameters)
    return int(
        stream("mine", seed, category.name, trajectory.id, candidate.moment, candidate.role, asked)
    )


def _first(pair: tuple[int, Pick]) -> int:
    return pair[0]


def _choose(picks: dict[str, list[Pick]], per_category: int) -> dict[str, list[Pick]]:
    """Returns what each category takes; they take turns, so that none uses up the worlds."""
    chosen: dict[str, list[Pick]] = {name: [] for name in picks}
    used: Counter[str] = Counter()
    for _ in range(min(per_category, max(map(len, picks.values()), default=0))):
        for name, left in picks.items():
            own = chosen[name]
            taken = {f.trajectory.world for f in own}
            free = [f for f in left if f.trajectory.world not in taken]
            if free:
                following = min(free, key=_balance(own, used))
                own.append(following)
                used[following.trajectory.world] += 1
    return chosen


def _balance(own: list[Pick], used: Counter[str]) -> Any:
    both = Counter((f.candidate.answer, f.candidate.difficulty) for f in own)
    answers = Counter(f.candidate.answer for f in own)
    difficulties = Counter(f.candidate.difficulty for f in own)
    origins = Counter(f.origin for f in own)
    recorders = Counter(f.recorded_by for f in own)

    def cost(f: Pick) -> tuple[int, ...]:
        return (
            both[f.candidate.answer, f.candidate.difficulty],
            answers[f.candidate.answer],
            difficulties[f.candidate.difficulty],
            used[f.trajectory.world],
            origins[f.origin],
            recorders[f.recorded_by],
            DIFFICULTIES.index(f.candidate.difficulty),
        )

    return cost


def _scenarios(category: Category, chosen: list[Pick], seed: int, last: int) -> Iterator[Scenario]:
    ranked = sorted(chosen, key=lambda f: DIFFICULTIES.index(f.candidate.difficulty))
    for number, pick in enumerate(ranked):
        wording = category.wordings[number % len(category.wordings)]
        text = wording.format(**pick.candidate.words)
        id = f"{category.name}-{last + number + 1:02d}"
        yield scenario(category, pick, id=id, text=text, seed=seed)


def scenario(
    category: Category,
    pick: Pick,
    *,
    id: str,
    text: str,
    seed: int,
    states: Callable[[Episode, Sequence[int]], list[bytes]] | None = None,
) -> Scenario:
    """Returns the scenario that asks a candidate, in the words `text`, with one role judged.

    Its states are those of `states_at`, or of what is given in its place.
    """
    trajectory, candidate = pick
    start, stop = candidate.moment - category.context, candidate.moment + category.horizon
    with _naming(trajectory):
        before, takeover = (states or states_at)(trajectory.episode, (start, candidate.moment))
    recording = trajectory.episode.part(before, start, stop)
    label = category.label(recording, category.context, (candidate.role,), candidate.parameters)
    at, source = (0, "setter") if candidate.said_at_start else (category.context, "curator")
    asked = Instruction(text, category.name, given_at=at, source=source)
    carried = {k: v for k, v in trajectory.provenance.items() if k in CARRIED}
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
        tags=("done-in-recording",) if label.verdict == "success" else (),
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
        | carried,
    )


def _heard(trajectory: Trajectory, start: int, asked: Instruction) -> tuple[Instruction, ...]:
    """Returns what else had been said when `asked` came, by steps of a context from `start` on."""
    since = [replace(i, given_at=max(0, i.given_at - start)) for i in trajectory.instructions]
    before = [i for i in since if i.given_at <= asked.given_at and i.text != asked.text]
    return tuple(sorted(before, key=lambda one: one.given_at))


def states_at(episode: Episode, steps: Sequence[int]) -> list[bytes]:
    """Returns the serialised state before each of `steps`, by one replay of the episode.

    Raises:
      ReplayMismatch: the replay leaves the recording on the way there.
    """
    replay = along([episode], [f"domain {episode.domain!r}"])
    before = zip(range(max(steps) + 1), replay, strict=False)
    states = {t: worlds.states()[0] for t, worlds in before if t in steps}
    return [states[t] for t in steps]
