"""The moments of files as rows of numbers, and which of them may still be chosen.

Of the moments of each bucket the first are kept, of as many worlds as a choice can come to, so that
what is chosen of these is what would be chosen of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.suites.types import DIFFICULTIES
from sts_scenarios.category import Category
from sts_scenarios.mining.choice import PATIENCE, Offer, Offered, Place, Stratum
from sts_scenarios.mining.terms import Terms

ASKED = 3
"""How many moments of a stratum are asked about, for each that a choice can come to."""
FIELDS = {
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
"""By name the columns of `FIELDS`, a value a moment; `_WORDS` are indices of words."""


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
    """Return what the parts are looked through for.

    A choice of a category takes a moment of a bucket only after those before it, but for such whose
    worlds others of the draft have, or it has itself, or that it passes over.
    """
    total, taken = sum(terms.counts.values()), terms.taken
    tried = 1 if terms.keep is None else PATIENCE + 1
    return Bounds(
        terms.seed,
        tuple(name for name in _STRATUM if name in terms.strata),
        terms.per_world > 1,
        {c.name: total + tried * terms.counts[c.name] + len(taken[c.name]) + 2 for c in categories},
        {
            c.name: frozenset(
                int(world, 16)
                for world, steps in taken[c.name].items()
                if len(steps) >= terms.per_world
            )
            for c in categories
        },
    )


def is_open(category: Category) -> bool:
    """Whether what is found of a category is yet to be asked about."""
    return category.screen is not None and not category.screen.exact


def nothing() -> Found:
    """Return what a part has of a category that never asks in it."""
    rows = {name: np.empty(0, kind) for name, kind in FIELDS.items()}
    return Found(rows, {name: [] for name in _WORDS}, Counter(), np.empty(0, np.uint64))


def joined(several: Sequence[Found]) -> Found:
    """Return what several parts have of one category."""
    words: dict[str, dict[str, int]] = {name: {} for name in _WORDS}
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in FIELDS}
    for one in several:
        for name in FIELDS:
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


def counted(rows: Rows, words: Mapping[str, Sequence[str]]) -> Counter[Stratum]:
    """Return how many moments there are of each stratum."""
    columns = [rows[name] for name in _STRATUM]
    keys, counts = np.unique(np.stack(columns, 1), axis=0, return_counts=True)
    return Counter(
        {
            Stratum(DIFFICULTIES[d], words["source"][s], words["recorder"][r]): n
            for (d, s, r), n in zip(keys.tolist(), counts.tolist(), strict=True)
        }
    )


def kept(category: Category, found: Found, asked: Bounds) -> Found:
    """Return what may still be chosen, or asked about, of what was found."""
    most = asked.most[category.name]
    if is_open(category):
        return chosen_of(found, _first_moments(found.rows, _STRATUM, ASKED * most))
    stretch = category.horizon if asked.several else None
    kept = chosen_of(found, _first_alike(found.rows, ("answer", *asked.strata), stretch))
    if asked.strata != _STRATUM:  # what is alike is of several buckets: all of it must be seen
        return kept
    return chosen_of(kept, _first_worlds(kept.rows, most))


def chosen_of(found: Found, chosen: NDArray[Any]) -> Found:
    """Return some of the moments; what is said of all of them stays."""
    return found._replace(rows={name: one[chosen] for name, one in found.rows.items()})


def _code(rows: Rows, names: Sequence[str]) -> NDArray[np.int64]:
    """Return a number for each row, the same where these columns are."""
    code = np.zeros(len(rows["order"]), np.int64)
    for name in names:
        column = rows[name].astype(np.int64) + 1
        code = code * (column.max(initial=0) + 1) + column
    return code


def _ranks(code: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many of the same code stand before each."""
    order = np.argsort(code, kind="stable")
    ordered = code[order]
    begins = np.searchsorted(ordered, ordered)
    out = np.empty(len(code), np.int64)
    out[order] = np.arange(len(code)) - begins
    return out


def _first_moments(rows: Rows, names: Sequence[str], most: int) -> NDArray[np.int64]:
    """Return the rows that are among the first `most` of what is the same in some columns."""
    order = np.argsort(rows["order"])
    kept: NDArray[np.int64] = order[_ranks(_code(rows, names)[order]) < most]
    return kept


def _first_alike(rows: Rows, names: Sequence[str], stretch: int | None) -> NDArray[np.int64]:
    """Return the first of each world's rows, and stretch, that are the same in some columns."""
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
    """Return the rows of the first `most` worlds of each bucket."""
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


def offered(category: Category, found: Found, asked: Bounds) -> Offered:
    """Return what a category offers of all that was found, in the order of the seed."""
    stretch = category.horizon if asked.several else None
    kept = chosen_of(found, _first_alike(found.rows, ("answer", *asked.strata), stretch))
    kept = chosen_of(kept, _first_worlds(kept.rows, asked.most[category.name]))
    columns = (kept.rows[name].tolist() for name in FIELDS)
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
