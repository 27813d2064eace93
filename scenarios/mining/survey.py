"""Mining of files: every part is looked through by itself, in this process or in others beside it.

A part gives a row for each moment and not the moment itself: where it stands, its order, world,
stratum and answer. Of these the first of each bucket are kept, as many as a choice can come to, so
that what is chosen is what would be chosen of all. A category's screen finds its moments in a whole
part at once. Where it finds others, too, the category itself is asked, a moment at a time and in
the order of the choice, until enough were asked; so that is the same whatever the parts are, and
all are asked where they are not very many.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenarios.category import Candidate, Category
from scenarios.mining import Gathered, Terms
from scenarios.mining.choice import (
    PATIENCE,
    Offer,
    Offered,
    Pick,
    Place,
    Stratum,
    orders,
    source,
    world_key,
)
from scenarios.mining.making import naming
from sts.domains import why_unavailable
from sts.errors import StsError
from sts.jobs.executors import Executor
from sts.registry import blaming
from sts.suites.types import DIFFICULTIES
from sts.trajectories import flat
from sts.trajectories.flat import Flat, Part
from sts.trajectories.types import Trajectory

ASKED = 4
"""How many moments that a screen finds are asked about, for each that a choice can come to."""
_FIELDS = {
    "order": "u8",
    "world": "u8",
    "part": "i4",
    "row": "i4",
    "moment": "i4",
    "step": "i4",
    "role": "i4",
    "difficulty": "i4",
    "source": "i4",
    "recorder": "i4",
    "answer": "i4",
}
_WORDS = ("source", "recorder", "answer")
_STRATUM = Stratum._fields
_BUCKET = ("answer", *_STRATUM)
Rows = dict[str, NDArray[Any]]
"""By name the columns of `_FIELDS`, a value a moment; `_WORDS` are indices of words."""
Make = Callable[[], Sequence[Category]]
Progress = Callable[[int, int], None]


class Found(NamedTuple):
    """What a part has of one category.

    Attributes:
      rows: of the moments that may be chosen.
      words: of each of `_WORDS` what its numbers stand for.
      counts: how many moments there are of each stratum.
      worlds: uint64, of these.
      screened: how many moments a screen found that is not exact, which are not yet asked about.
    """

    rows: Rows
    words: dict[str, list[str]]
    counts: Counter[Stratum]
    worlds: NDArray[np.uint64]
    screened: int = 0


class Bounds(NamedTuple):
    """What a part is looked through for.

    Attributes:
      seed: of the choice.
      strata: which fields of a stratum tell moments of one world apart.
      several: a world may give several scenarios.
      most: of each category how many worlds of a bucket a choice can come to.
      full: of each category the worlds that may give no more.
    """

    seed: int
    strata: tuple[str, ...]
    several: bool
    most: dict[str, int]
    full: dict[str, frozenset[int]]


def bounds(categories: Sequence[Category], terms: Terms) -> Bounds:
    """Returns what the parts are looked through for.

    A choice of a category takes a moment of a bucket only after those before it, but for such whose
    worlds others of the draft have, or it has itself, or that it passes over.
    """
    total, taken = sum(terms.counts.values()), terms.taken
    return Bounds(
        terms.seed,
        tuple(name for name in _STRATUM if name in terms.strata),
        terms.per_world > 1,
        {
            c.name: total + (PATIENCE + 1) * terms.counts[c.name] + len(taken[c.name]) + 2
            for c in categories
        },
        {
            c.name: frozenset(
                int(world, 16)
                for world, steps in taken[c.name].items()
                if len(steps) >= terms.per_world
            )
            for c in categories
        },
    )


def surveyed(
    parts: Sequence[Part],
    make: Make,
    terms: Terms,
    there: Executor,
    progress: Progress = lambda done, total: None,
) -> Gathered:
    """Returns the moments of parts of files, the same whatever the parts are and who looks.

    Args:
      parts: of the side that is mined.
      make: returns the categories, in any process.
      terms: of the choice.
      there: looks through them.
      progress: called with (trajectories looked through, in all).

    Raises:
      StsError: a category failed, or its screen says what it does not say itself.
    """
    categories = make()
    asked = bounds(categories, terms)
    found: dict[str, Found] = {c.name: _nothing() for c in categories}
    gone: dict[str, tuple[int, StsError]] = {}
    total, done = sum(part.rows for part in parts), 0
    for n, (own, left) in _each(
        there, [(look, make, one, n, asked) for n, one in enumerate(parts)]
    ):
        for category in categories:
            name = category.name
            found[name] = _kept(category, _joined([found[name], own[name]]), asked)
        for domain, (n_left, why) in left.items():
            count, first = gone.get(domain, (0, why))
            gone[domain] = count + n_left, first
        done += parts[n].rows
        progress(done, total)
    sampled = _ask(parts, make, categories, found, there)
    offered = {c.name: _offered(c, found[c.name], asked) for c in categories}

    def picks(offers: Sequence[tuple[Category, Offer]]) -> list[Pick]:
        return _picks(parts, make, terms.seed, offers, there)

    return Gathered(offered, picks, gone, sampled)


def _each(there: Executor, tasks: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
    """Yields the number of each task, a function and its arguments, with its result."""
    for number, (work, *given) in enumerate(tasks):
        there.submit(number, work, *given)
    for number, outcome in there.completed():
        if isinstance(outcome, StsError):
            raise outcome
        yield number, outcome


def look(
    make: Make, part: Part, number: int, asked: Bounds
) -> tuple[dict[str, Found], dict[str, tuple[int, StsError]]]:
    """Returns what a part has of each category, and what of it could not be had, by domain."""
    categories, every = make(), flat.flat(part)
    marks = np.array([int(world_key(one), 16) for one in every.texts["world"]], np.uint64)
    who = _Who(every)
    out: dict[str, list[Found]] = {c.name: [] for c in categories}
    for domain, places, abreast in every.abreast():
        for c in categories:
            if c.screen is None or c.domain != domain:
                continue
            with blaming(f"the screen of category {c.name!r} failed"):
                hits = c.screen.find(abreast, c.context, c.horizon)
            rows = _Raw(places[hits.episode], hits.role, hits.moment, hits.difficulty, hits.kind)
            out[c.name].append(_found(c, every, who, marks, number, rows, hits.kinds, asked))
    plain, gone = _plainly(categories, every)
    for c in categories:
        if c.name in plain:
            rows, kinds = plain[c.name]
            found = _found(c, every, who, marks, number, rows, kinds, asked)
            out[c.name].append(found)
    return {c.name: _kept(c, _joined([_nothing(), *out[c.name]]), asked) for c in categories}, gone


class _Raw(NamedTuple):
    """Moments as numbers; `place` is of a trajectory in a `Flat`, `kind` of what is asked."""

    place: NDArray[Any]
    role: NDArray[Any]
    moment: NDArray[Any]
    difficulty: NDArray[Any]
    kind: NDArray[Any]


Kinds = Sequence[tuple[str, dict[str, Any]]]


def _plainly(
    categories: Sequence[Category], every: Flat
) -> tuple[dict[str, tuple[_Raw, Kinds]], dict[str, tuple[int, StsError]]]:
    """Returns the moments of categories without a screen, and of worlds of an unknown size."""
    domains = np.array(every.texts["domain"])
    sized = (every.numbers["height"] > 0) & (every.numbers["width"] > 0)
    out: dict[str, tuple[list[tuple[int, ...]], list[tuple[str, dict[str, Any]]]]] = {}
    gone: dict[str, tuple[int, StsError]] = {}
    for domain in dict.fromkeys(c.domain for c in categories):
        own = [c for c in categories if c.domain == domain]
        of = domains == domain
        if all(c.screen for c in own):
            of &= ~sized
        places = np.flatnonzero(of).tolist()
        for place, trajectory in zip(places, every.whole(places) if places else (), strict=True):
            if (reason := why_unavailable(trajectory.episode)) is not None:
                count, first = gone.get(domain, (0, reason))
                gone[domain] = count + 1, first
                continue
            for c in own:
                if c.screen is not None and sized[place]:
                    continue
                rows, kinds = out.setdefault(c.name, ([], []))
                with naming(trajectory):
                    moments = c.moments(trajectory)
                for one in moments:
                    difficulty = DIFFICULTIES.index(one.difficulty)
                    rows.append((place, one.role, one.moment, difficulty, len(kinds)))
                    kinds.append((one.answer, one.parameters))
    raw: dict[str, tuple[_Raw, Kinds]] = {
        name: (_Raw(*np.array(rows, np.int64).reshape(-1, 5).T), kinds)
        for name, (rows, kinds) in out.items()
    }
    return raw, gone


class _Who:
    """What kind of source recorded a trajectory, and who its participants were, as numbers."""

    def __init__(self, every: Flat) -> None:
        self.sources: dict[str, int] = {}
        self.recorders: dict[str, int] = {}
        self.first = np.zeros(len(every.rows), np.int64)
        pairs: list[tuple[int, int]] = []
        made: dict[tuple[str, str], int] = {}
        for place, (text, by) in enumerate(
            zip(every.texts["people"], every.texts["source"], strict=True)
        ):
            key = text, " ".join(by.split(" ")[:2])
            if key not in made:
                made[key] = len(pairs)
                for kind, name in json.loads(text):
                    origin = source(f"{key[1]} ", kind)
                    pairs.append(
                        (
                            self.sources.setdefault(origin, len(self.sources)),
                            self.recorders.setdefault(name, len(self.recorders)),
                        )
                    )
            self.first[place] = made[key]
        self.pairs = np.array(pairs, np.int64).reshape(-1, 2)

    def of(self, place: NDArray[Any], role: NDArray[Any]) -> NDArray[np.int64]:
        """Returns int64[2, N], the sources and the recorders of participants."""
        out: NDArray[np.int64] = self.pairs[self.first[place] + role].T
        return out


def _found(
    category: Category,
    every: Flat,
    who: _Who,
    marks: NDArray[np.uint64],
    number: int,
    raw: _Raw,
    kinds: Kinds,
    asked: Bounds,
) -> Found:
    """Returns moments of a part with their order and strata, none of worlds that are full."""
    full = np.array(sorted(asked.full[category.name]), np.uint64)
    if len(full):
        free = ~np.isin(marks[raw.place], full)
        raw = _Raw(*(one[free] for one in raw))
    sources, recorders = who.of(raw.place, raw.role)
    answers = {answer: n for n, answer in enumerate(dict.fromkeys(answer for answer, _ in kinds))}
    of_kind = np.array([answers[answer] for answer, _ in kinds], np.int64)
    begins = np.array([_begins(text) for text in every.texts["provenance"]], np.int64)
    rows: Rows = {
        "order": _orders(category, every, raw, kinds, asked.seed),
        "world": marks[raw.place],
        "part": np.full(len(raw.place), number),
        "row": every.rows[raw.place],
        "moment": raw.moment,
        "step": raw.moment + begins[raw.place],
        "role": raw.role,
        "difficulty": raw.difficulty,
        "source": sources,
        "recorder": recorders,
        "answer": of_kind[raw.kind] if kinds else raw.kind,
    }
    words = {"source": [*who.sources], "recorder": [*who.recorders], "answer": [*answers]}
    rows = {name: one.astype(_FIELDS[name]) for name, one in rows.items()}
    if _is_open(category):
        return Found(rows, words, Counter(), np.empty(0, np.uint64), len(raw.place))
    return Found(rows, words, _counted(rows, words), np.unique(rows["world"]))


def _begins(provenance: str) -> int:
    """Returns the step at which a world began to be recorded, as its provenance says."""
    return int(json.loads(provenance).get("begins", 0)) if '"begins"' in provenance else 0


def _is_open(category: Category) -> bool:
    """Whether what is found of a category is yet to be asked about."""
    return category.screen is not None and not category.screen.exact


def _orders(
    category: Category, every: Flat, raw: _Raw, kinds: Kinds, seed: int
) -> NDArray[np.uint64]:
    people = int(every.numbers["participants"].max(initial=1))
    code = (raw.moment * people + raw.role) * max(len(kinds), 1) + raw.kind
    unique, rest = np.unique(code, return_inverse=True)
    several, kind = np.divmod(unique, max(len(kinds), 1))
    moments, roles = np.divmod(several, people)
    places, ids = np.unique(raw.place, return_inverse=True)
    told = zip(moments.tolist(), roles.tolist(), (kinds[k][1] for k in kind.tolist()), strict=True)
    pairs = zip(ids.tolist(), rest.tolist(), strict=True)
    own = (every.texts["id"][place] for place in places.tolist())
    return orders(seed, category.name, own, told, pairs)


def _nothing() -> Found:
    rows = {name: np.empty(0, kind) for name, kind in _FIELDS.items()}
    return Found(rows, {name: [] for name in _WORDS}, Counter(), np.empty(0, np.uint64))


def _joined(several: Sequence[Found]) -> Found:
    """Returns what several parts have of one category."""
    words: dict[str, dict[str, int]] = {name: {} for name in _WORDS}
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in _FIELDS}
    for one in several:
        for name in _FIELDS:
            own = one.rows[name]
            if name in words:
                index = words[name]
                codes = [index.setdefault(word, len(index)) for word in one.words[name]]
                own = np.array(codes, own.dtype)[own] if codes else own
            columns[name].append(own)
    counts = sum((one.counts for one in several), Counter[Stratum]())
    worlds = np.unique(np.concatenate([one.worlds for one in several]))
    return Found(
        {name: np.concatenate(own) for name, own in columns.items()},
        {name: [*index] for name, index in words.items()},
        counts,
        worlds,
        sum(one.screened for one in several),
    )


def _counted(rows: Rows, words: Mapping[str, Sequence[str]]) -> Counter[Stratum]:
    columns = [rows[name] for name in _STRATUM]
    keys, counts = np.unique(np.stack(columns, 1), axis=0, return_counts=True)
    return Counter(
        {
            Stratum(DIFFICULTIES[d], words["source"][s], words["recorder"][r]): n
            for (d, s, r), n in zip(keys.tolist(), counts.tolist(), strict=True)
        }
    )


def _kept(category: Category, found: Found, asked: Bounds) -> Found:
    """Returns what may still be chosen, or asked about, of what was found."""
    most = asked.most[category.name]
    if _is_open(category):
        return _taken(found, _first_moments(found.rows, ("difficulty",), ASKED * most))
    stretch = category.horizon if asked.several else None
    kept = _taken(found, _first_alike(found.rows, ("answer", *asked.strata), stretch))
    if asked.strata != _STRATUM:  # what is alike is of several buckets: all of it must be seen
        return kept
    return _taken(kept, _first_worlds(kept.rows, most))


def _taken(found: Found, chosen: NDArray[Any]) -> Found:
    return found._replace(rows={name: one[chosen] for name, one in found.rows.items()})


def _code(rows: Rows, names: Sequence[str]) -> NDArray[np.int64]:
    """Returns a number for each row, the same where these columns are."""
    code = np.zeros(len(rows["order"]), np.int64)
    for name in names:
        column = rows[name].astype(np.int64) + 1
        code = code * (column.max(initial=0) + 1) + column
    return code


def _ranks(code: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns how many of the same code stand before each."""
    order = np.argsort(code, kind="stable")
    ordered = code[order]
    begins = np.searchsorted(ordered, ordered)
    out = np.empty(len(code), np.int64)
    out[order] = np.arange(len(code)) - begins
    return out


def _first_moments(rows: Rows, names: Sequence[str], most: int) -> NDArray[np.int64]:
    """Returns the rows that are among the first `most` of what is the same in some columns."""
    order = np.argsort(rows["order"])
    kept: NDArray[np.int64] = order[_ranks(_code(rows, names)[order]) < most]
    return kept


def _first_alike(rows: Rows, names: Sequence[str], stretch: int | None) -> NDArray[np.int64]:
    """Returns the first of each world's rows, and stretch, that are the same in some columns."""
    order = np.argsort(rows["order"])
    _, world = np.unique(rows["world"], return_inverse=True)
    key = _code(rows, names) * (world.max(initial=0) + 1) + world
    if stretch is not None:
        along = rows["step"].astype(np.int64) // stretch
        key = key * (along.max(initial=0) + 1) + along
    _, first = np.unique(key[order], return_index=True)
    kept: NDArray[np.int64] = order[np.sort(first)]
    return kept


def _first_worlds(rows: Rows, most: int) -> NDArray[np.int64]:
    """Returns the rows of the first `most` worlds of each bucket."""
    order = np.argsort(rows["order"])
    bucket = _code(rows, _BUCKET)[order]
    _, world = np.unique(rows["world"][order], return_inverse=True)
    key = bucket * (world.max(initial=0) + 1) + world
    _, first, of = np.unique(key, return_index=True, return_inverse=True)
    by_order = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[by_order] = _ranks(bucket[first[by_order]])
    kept: NDArray[np.int64] = order[rank[of.reshape(-1)] < most]
    return kept


def _offered(category: Category, found: Found, asked: Bounds) -> Offered:
    stretch = category.horizon if asked.several else None
    kept = _taken(found, _first_alike(found.rows, ("answer", *asked.strata), stretch))
    kept = _taken(kept, _first_worlds(kept.rows, asked.most[category.name]))
    columns = (kept.rows[name].tolist() for name in _FIELDS)
    offers = []
    for order, world, part, row, moment, step, role, *coded in zip(*columns, strict=True):
        difficulty, *numbers = coded
        origin, recorder, answer = (
            kept.words[name][n] for name, n in zip(_WORDS, numbers, strict=True)
        )
        stratum = Stratum(DIFFICULTIES[difficulty], origin, recorder)
        place = Place(part, row, moment, role)
        offers.append(Offer(order, f"{world:016x}", answer, step, stratum, place))
    return Offered(offers, found.counts, found.worlds)


def _ask(
    parts: Sequence[Part],
    make: Make,
    categories: Sequence[Category],
    found: dict[str, Found],
    there: Executor,
) -> dict[str, tuple[int, int]]:
    """Asks categories whose screens are not exact at what these found; returns where not at all."""
    still = [c.name for c in categories if _is_open(c)]
    tasks: dict[int, dict[str, NDArray[np.int64]]] = defaultdict(dict)
    for name in still:
        own = found[name].rows["part"]
        for part in np.unique(own).tolist():
            tasks[part][name] = np.flatnonzero(own == part)
    difficulty = {name: np.full(len(found[name].rows["part"]), -1, "i4") for name in still}
    every = sorted(tasks)
    calls = [
        (ask, make, parts[n], {name: _places(found[name], at) for name, at in tasks[n].items()})
        for n in every
    ]
    for number, told in _each(there, calls):
        for name, at in tasks[every[number]].items():
            difficulty[name][at] = told[name]
    sampled = {}
    for name in still:
        one = found[name]
        if len(difficulty[name]) < one.screened:
            sampled[name] = len(difficulty[name]), one.screened
        one = one._replace(rows=one.rows | {"difficulty": difficulty[name]})
        one = _taken(one, np.flatnonzero(difficulty[name] >= 0))
        found[name] = one._replace(
            counts=_counted(one.rows, one.words), worlds=np.unique(one.rows["world"])
        )
    return sampled


Asked = list[tuple[int, int, int, str]]
"""Of moments the row, the takeover, the role and the answer."""


def _places(found: Found, at: NDArray[np.int64]) -> Asked:
    names = ("row", "moment", "role", "answer")
    columns = (found.rows[name][at].tolist() for name in names)
    words = found.words["answer"]
    return [(r, m, p, words[a]) for r, m, p, a in zip(*columns, strict=True)]


def ask(make: Make, part: Part, moments: Mapping[str, Asked]) -> dict[str, list[int]]:
    """Returns of each category and moment its difficulty, as an index; -1 where it is not asked."""
    rows = sorted({row for own in moments.values() for row, *_ in own})
    every = dict(zip(rows, flat.trajectories(part, rows), strict=True))
    by_name = {c.name: c for c in make()}
    return {
        name: [_difficulty(by_name[name], every[row], t, role, a) for row, t, role, a in own]
        for name, own in moments.items()
    }


def _difficulty(
    category: Category, trajectory: Trajectory, moment: int, role: int, answer: str
) -> int:
    """Returns how difficult a moment is, of which alone its category is told; -1 if it is none."""
    one, context, horizon = trajectory.episode, category.context, category.horizon
    alone = replace(trajectory, episode=one.part(one.state, moment - context, moment + horizon))
    with naming(trajectory):
        for found in category.candidates(alone, context, horizon):
            if (found.role, found.answer) == (role, answer):
                return DIFFICULTIES.index(found.difficulty)
    return -1


def _picks(
    parts: Sequence[Part],
    make: Make,
    seed: int,
    offers: Sequence[tuple[Category, Offer]],
    there: Executor,
) -> list[Pick]:
    """Returns what is offered, made by the categories themselves."""
    tasks: dict[int, list[int]] = defaultdict(list)
    for n, (_, offer) in enumerate(offers):
        assert isinstance(offer.at, Place)
        tasks[offer.at.part].append(n)
    every = sorted(tasks)
    calls = [
        (pick, make, parts[n], seed, [(offers[i][0].name, offers[i][1]) for i in tasks[n]])
        for n in every
    ]
    out: dict[int, Pick] = {}
    for number, made in _each(there, calls):
        out.update(zip(tasks[every[number]], made, strict=True))
    return [out[n] for n in range(len(offers))]


def pick(make: Make, part: Part, seed: int, offers: Sequence[tuple[str, Offer]]) -> list[Pick]:
    """Returns what is offered in a part.

    Raises:
      StsError: a category does not ask where its screen says.
    """
    by_name = {c.name: c for c in make()}
    places = [offer.at for _, offer in offers if isinstance(offer.at, Place)]
    rows = sorted({place.row for place in places})
    every = dict(zip(rows, flat.trajectories(part, rows), strict=True))
    out = []
    for (name, offer), place in zip(offers, places, strict=True):
        trajectory = every[place.row]
        candidate = _candidate(by_name[name], trajectory, place, offer.order, seed)
        if candidate is None:
            raise StsError(
                f"category {name!r} does not ask at step {place.moment} of trajectory "
                f"{trajectory.id}, where its screen says so"
            )
        out.append(Pick(trajectory, candidate))
    return out


def _candidate(
    category: Category, trajectory: Trajectory, place: Place, order: int, seed: int
) -> Candidate | None:
    with naming(trajectory):
        every = category.moments(trajectory)
    own = [c for c in every if (c.moment, c.role) == (place.moment, place.role)]
    told = ((c.moment, c.role, c.parameters) for c in own)
    ranks = orders(seed, category.name, [trajectory.id], told, ((0, n) for n in range(len(own))))
    return next((c for c, rank in zip(own, ranks.tolist(), strict=True) if rank == order), None)
