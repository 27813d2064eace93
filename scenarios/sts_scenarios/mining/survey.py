"""Mining of files: every part is looked through by itself, in this process or in others beside it.

A part gives rows of numbers and no objects. A category's screen finds its moments in a whole part
at once. Where it finds others, too, the category itself is asked, a moment at a time and in the
order of the choice, until enough were asked; so that is the same whatever the parts are, and all
are asked where they are not very many.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.domains import why_unavailable
from sts.errors import StsError
from sts.jobs.executors import Executor
from sts.registry import blaming
from sts.storage.files import canonical_json
from sts.suites.types import DIFFICULTIES
from sts.trajectories import flat
from sts.trajectories.flat import Batch, Flat
from sts_scenarios.category import Category, Hits
from sts_scenarios.mining.asking import Make, asked_at, each, pick, spread
from sts_scenarios.mining.choice import Offer, Pick, orders, source, world_key
from sts_scenarios.mining.making import naming
from sts_scenarios.mining.rows import (
    FIELDS,
    Bounds,
    Found,
    Rows,
    bounds,
    counted,
    is_open,
    joined,
    kept,
    nothing,
    offered,
)
from sts_scenarios.mining.terms import Gathered, Terms

Progress = Callable[[int, int], None]


def surveyed(
    parts: Sequence[Batch],
    make: Make,
    terms: Terms,
    there: Executor,
    progress: Progress = lambda done, total: None,
) -> Gathered:
    """Return the moments of parts of files, the same whatever the parts are and who looks.

    `make` returns the categories, in any process; `there` looks through the parts.
    """
    categories = make()
    asked = bounds(categories, terms)
    found: dict[str, Found] = {c.name: nothing() for c in categories}
    gone: dict[str, tuple[int, StsError]] = {}
    total, done = sum(part.rows for part in parts), 0
    for n, (own, left) in each(there, [(look, make, one, n, asked) for n, one in enumerate(parts)]):
        for category in categories:
            name = category.name
            found[name] = kept(category, joined([found[name], own[name]]), asked)
        for domain, (n_left, why) in left.items():
            count, first = gone.get(domain, (0, why))
            gone[domain] = count + n_left, first
        done += parts[n].rows
        progress(done, total)
    sampled = asked_at(parts, make, categories, found, there)
    every = {c.name: offered(c, found[c.name], asked) for c in categories}

    def picks(offers: Sequence[tuple[Category, Offer]]) -> list[Pick]:
        items = [(one.at.part, (category.name, one, terms.seed)) for category, one in offers]
        return spread(parts, make, there, pick, items)

    return Gathered(every, picks, gone, sampled)


def look(
    make: Make, part: Batch, number: int, asked: Bounds
) -> tuple[dict[str, Found], dict[str, tuple[int, StsError]]]:
    """Return what a part has of each category, and what of it could not be had, by domain."""
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
            hits = hits._replace(episode=places[hits.episode])
            out[c.name].append(_found(c, every, who, marks, number, hits, asked))
    plain, gone = _plainly(categories, every)
    for c in categories:
        if c.name in plain:
            out[c.name].append(_found(c, every, who, marks, number, plain[c.name], asked))
    return {c.name: kept(c, joined([nothing(), *out[c.name]]), asked) for c in categories}, gone


def _plainly(
    categories: Sequence[Category], every: Flat
) -> tuple[dict[str, Hits], dict[str, tuple[int, StsError]]]:
    """Return the moments of categories without a screen, and of worlds of an unknown size."""
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
    hits = {
        name: _joined(np.array(rows, np.int64).reshape(-1, 5).T, kinds)
        for name, (rows, kinds) in out.items()
    }
    return hits, gone


def _joined(columns: Iterable[Any], kinds: Sequence[tuple[str, dict[str, Any]]]) -> Hits:
    episode, role, moment, difficulty, kind = columns
    return Hits(episode, role, moment, difficulty, kind, kinds)


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
        """Return int64[2, N], the sources and the recorders of participants."""
        out: NDArray[np.int64] = self.pairs[self.first[place] + role].T
        return out


def _found(
    category: Category,
    every: Flat,
    who: _Who,
    marks: NDArray[np.uint64],
    number: int,
    hits: Hits,
    asked: Bounds,
) -> Found:
    """Return moments of a part with their order and strata, none of worlds that are full."""
    full = np.array(sorted(asked.full[category.name]), np.uint64)
    if len(full):
        free = ~np.isin(marks[hits.episode], full)
        hits = _joined((column[free] for column in hits[:5]), hits.kinds)
    place, kinds = hits.episode, hits.kinds
    sources, recorders = who.of(place, hits.role)
    answers = {answer: n for n, answer in enumerate(dict.fromkeys(answer for answer, _ in kinds))}
    of_kind = np.array([answers[answer] for answer, _ in kinds], np.int64)
    begins = np.array([_begins(text) for text in every.texts["provenance"]], np.int64)
    rows: Rows = {
        "order": _orders(category, every, hits, asked.seed),
        "world": marks[place],
        "part": np.full(len(place), number),
        "row": every.rows[place],
        "moment": hits.moment,
        "step": hits.moment + begins[place],
        "role": hits.role,
        "difficulty": hits.difficulty,
        "source": sources,
        "recorder": recorders,
        "answer": of_kind[hits.kind] if kinds else hits.kind,
    }
    words = {"source": [*who.sources], "recorder": [*who.recorders], "answer": [*answers]}
    rows = {name: one.astype(FIELDS[name]) for name, one in rows.items()}
    if is_open(category):
        return Found(rows, words, Counter(), np.empty(0, np.uint64), len(place))
    return Found(rows, words, counted(rows, words), np.unique(rows["world"]))


def _begins(provenance: str) -> int:
    """Return the step at which a world began to be recorded, as its provenance says."""
    return int(json.loads(provenance).get("begins", 0)) if '"begins"' in provenance else 0


def _orders(category: Category, every: Flat, hits: Hits, seed: int) -> NDArray[np.uint64]:
    people, asked = int(every.numbers["participants"].max(initial=1)), max(len(hits.kinds), 1)
    code, rest = _numbered((hits.moment * people + hits.role) * asked + hits.kind)
    several, kind = np.divmod(code, asked)
    moments, roles = np.divmod(several, people)
    places, ids = _numbered(hits.episode)
    told = [canonical_json(parameters) for _, parameters in hits.kinds]
    each = zip(moments.tolist(), roles.tolist(), (told[k] for k in kind.tolist()), strict=True)
    pairs = zip(ids.tolist(), rest.tolist(), strict=True)
    own = (every.texts["id"][place] for place in places.tolist())
    return orders(seed, category.name, own, each, pairs)


def _numbered(code: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what `np.unique` does with its inverse, of numbers that are not large."""
    there = np.zeros(int(code.max(initial=0)) + 1, np.bool_)
    there[code] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[code]
