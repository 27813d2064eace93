"""Mining of files: every part is scanned on its own, in this process or in others.

A scan returns columns of numbers, no objects. A category's prefilter finds its candidate steps in a
whole part at once. If it is inexact, the category then confirms steps one at a time, in the order
of the seed, until there are enough (or all, if there are few). The result is therefore independent
of how files are split into parts.
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
    pool: Executor,
    progress: Progress = lambda done, total: None,
) -> Gathered:
    """Gather the candidate steps of parts of files, however they are split and distributed.

    `make` returns the categories, in any process; `pool` runs the scans.
    """
    categories = make()
    asked = bounds(categories, terms)
    found: dict[str, Found] = {c.name: nothing() for c in categories}
    unavailable: dict[str, tuple[int, StsError]] = {}
    total, done = sum(part.rows for part in parts), 0
    tasks = [(look, make, part, n, asked) for n, part in enumerate(parts)]
    for n, (part_found, missing) in each(pool, tasks):
        for category in categories:
            name = category.name
            found[name] = kept(category, joined([found[name], part_found[name]]), asked)
        for domain, (n_left, why) in missing.items():
            count, first = unavailable.get(domain, (0, why))
            unavailable[domain] = count + n_left, first
        done += parts[n].rows
        progress(done, total)
    sampled = asked_at(parts, make, categories, found, pool)
    offered_by_name = {c.name: offered(c, found[c.name], asked) for c in categories}

    def picks(offers: Sequence[tuple[Category, Offer]]) -> list[Pick]:
        items = [(offer.at.part, (category.name, offer, terms.seed)) for category, offer in offers]
        return spread(parts, make, pool, pick, items)

    return Gathered(offered_by_name, picks, unavailable, sampled)


def look(
    make: Make, part: Batch, number: int, asked: Bounds
) -> tuple[dict[str, Found], dict[str, tuple[int, StsError]]]:
    """Return a part's candidate steps by category, and its unavailable trajectories by domain."""
    categories, columns = make(), flat.flat(part)
    marks = np.array([int(world_key(hash), 16) for hash in columns.texts["world"]], np.uint64)
    recorders = _Who(columns)
    out: dict[str, list[Found]] = {c.name: [] for c in categories}
    for domain, places, abreast in columns.abreast():
        for c in categories:
            if c.screen is None or c.domain != domain:
                continue
            with blaming(f"the prefilter of category {c.name!r} failed"):
                hits = c.screen.find(abreast, c.context, c.horizon)
            hits = hits._replace(episode=places[hits.episode])
            out[c.name].append(_found(c, columns, recorders, marks, number, hits, asked))
    unscreened, unavailable = _plainly(categories, columns)
    for c in categories:
        if c.name in unscreened:
            out[c.name].append(
                _found(c, columns, recorders, marks, number, unscreened[c.name], asked)
            )
    found = {c.name: kept(c, joined([nothing(), *out[c.name]]), asked) for c in categories}
    return found, unavailable


def _plainly(
    categories: Sequence[Category], columns: Flat
) -> tuple[dict[str, Hits], dict[str, tuple[int, StsError]]]:
    """Return the steps of categories without a prefilter, or in worlds of unknown size."""
    domains = np.array(columns.texts["domain"])
    sized = (columns.numbers["height"] > 0) & (columns.numbers["width"] > 0)
    found: dict[str, tuple[list[tuple[int, ...]], list[tuple[str, dict[str, Any]]]]] = {}
    unavailable: dict[str, tuple[int, StsError]] = {}
    for domain in dict.fromkeys(c.domain for c in categories):
        members = [c for c in categories if c.domain == domain]
        mask = domains == domain
        if all(c.screen for c in members):
            mask &= ~sized
        places = np.flatnonzero(mask).tolist()
        for place, trajectory in zip(places, columns.whole(places) if places else (), strict=True):
            if (reason := why_unavailable(trajectory.episode)) is not None:
                count, first = unavailable.get(domain, (0, reason))
                unavailable[domain] = count + 1, first
                continue
            for c in members:
                if c.screen is not None and sized[place]:
                    continue
                rows, kinds = found.setdefault(c.name, ([], []))
                with naming(trajectory):
                    moments = c.moments(trajectory)
                for candidate in moments:
                    difficulty = DIFFICULTIES.index(candidate.difficulty)
                    rows.append((place, candidate.role, candidate.moment, difficulty, len(kinds)))
                    kinds.append((candidate.answer, candidate.parameters))
    hits = {
        name: _joined(np.array(rows, np.int64).reshape(-1, 5).T, kinds)
        for name, (rows, kinds) in found.items()
    }
    return hits, unavailable


def _joined(columns: Iterable[Any], kinds: Sequence[tuple[str, dict[str, Any]]]) -> Hits:
    episode, role, moment, difficulty, kind = columns
    return Hits(episode, role, moment, difficulty, kind, kinds)


class _Who:
    """The kinds of source and the participants of trajectories, as numbers."""

    def __init__(self, columns: Flat) -> None:
        self.sources: dict[str, int] = {}
        self.recorders: dict[str, int] = {}
        self.first = np.zeros(len(columns.rows), np.int64)
        pairs: list[tuple[int, int]] = []
        known: dict[tuple[str, str], int] = {}
        for place, (text, made_by) in enumerate(
            zip(columns.texts["people"], columns.texts["source"], strict=True)
        ):
            key = text, " ".join(made_by.split(" ")[:2])
            if key not in known:
                known[key] = len(pairs)
                for kind, name in json.loads(text):
                    origin = source(f"{key[1]} ", kind)
                    pairs.append(
                        (
                            self.sources.setdefault(origin, len(self.sources)),
                            self.recorders.setdefault(name, len(self.recorders)),
                        )
                    )
            self.first[place] = known[key]
        self.pairs = np.array(pairs, np.int64).reshape(-1, 2)

    def of(self, place: NDArray[Any], role: NDArray[Any]) -> NDArray[np.int64]:
        """Return int64[2, N], the sources and the recorders of participants."""
        out: NDArray[np.int64] = self.pairs[self.first[place] + role].T
        return out


def _found(
    category: Category,
    columns: Flat,
    people: _Who,
    marks: NDArray[np.uint64],
    number: int,
    hits: Hits,
    asked: Bounds,
) -> Found:
    """Return steps of a part with their order and strata, except those of full worlds."""
    full = np.array(sorted(asked.full[category.name]), np.uint64)
    if len(full):
        free = ~np.isin(marks[hits.episode], full)
        hits = _joined((values[free] for values in hits[:5]), hits.kinds)
    place, kinds = hits.episode, hits.kinds
    sources, recorders = people.of(place, hits.role)
    answers = {answer: n for n, answer in enumerate(dict.fromkeys(answer for answer, _ in kinds))}
    of_kind = np.array([answers[answer] for answer, _ in kinds], np.int64)
    begins = np.array([_begins(text) for text in columns.texts["provenance"]], np.int64)
    rows: Rows = {
        "order": _orders(category, columns, hits, asked.seed),
        "world": marks[place],
        "part": np.full(len(place), number),
        "row": columns.rows[place],
        "moment": hits.moment,
        "step": hits.moment + begins[place],
        "role": hits.role,
        "difficulty": hits.difficulty,
        "source": sources,
        "recorder": recorders,
        "answer": of_kind[hits.kind] if kinds else hits.kind,
    }
    words = {
        "source": [*people.sources],
        "recorder": [*people.recorders],
        "answer": [*answers],
    }
    rows = {name: values.astype(FIELDS[name]) for name, values in rows.items()}
    if is_open(category):
        return Found(rows, words, Counter(), np.empty(0, np.uint64), len(place))
    return Found(rows, words, counted(rows, words), np.unique(rows["world"]))


def _begins(provenance: str) -> int:
    """Return the step, in its provenance, at which the recording of a world began."""
    return int(json.loads(provenance).get("begins", 0)) if '"begins"' in provenance else 0


def _orders(category: Category, columns: Flat, hits: Hits, seed: int) -> NDArray[np.uint64]:
    n_roles, n_kinds = int(columns.numbers["participants"].max(initial=1)), max(len(hits.kinds), 1)
    code, rest = _numbered((hits.moment * n_roles + hits.role) * n_kinds + hits.kind)
    at, kind = np.divmod(code, n_kinds)
    moments, roles = np.divmod(at, n_roles)
    places, ids = _numbered(hits.episode)
    texts = [canonical_json(parameters) for _, parameters in hits.kinds]
    each = zip(moments.tolist(), roles.tolist(), (texts[k] for k in kind.tolist()), strict=True)
    pairs = zip(ids.tolist(), rest.tolist(), strict=True)
    trajectory_ids = (columns.texts["id"][place] for place in places.tolist())
    return orders(seed, category.name, trajectory_ids, each, pairs)


def _numbered(code: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return `np.unique` with its inverse, for numbers that are not large."""
    present = np.zeros(int(code.max(initial=0)) + 1, np.bool_)
    present[code] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[code]
