"""Candidate steps of files as columns of numbers, and those of them that may still be selected.

Only the first steps of each bucket are kept, of as many worlds as a selection can use, so that the
selection is the same as from all steps.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.suites.suite import DIFFICULTIES
from sts_scenarios.mining.choice import MAX_REJECTED, Offer, OfferedSteps, Position, Stratum
from sts_scenarios.mining.terms import MiningTerms
from sts_scenarios.rules.category import Category

CONFIRMED_PER_WANTED = 3
"""Number of steps of a stratum to confirm for each that a selection can reach."""
_NUMBERS = "part row step world_step player difficulty source recorder answer".split()
FIELDS = {"order": "u8", "world": "u8"} | dict.fromkeys(_NUMBERS, "i4")
_WORDS = ("source", "recorder", "answer")
_STRATUM = Stratum._fields
_BUCKET = ("answer", *_STRATUM)
Rows = dict[str, NDArray[Any]]
"""The columns of `FIELDS` by name, one value a step; `_WORDS` are indices into words."""


class FoundSteps(NamedTuple):
    """The candidate steps of one category in a part."""

    rows: Rows  # of the steps that may be selected
    words: dict[str, list[str]]  # for each of `_WORDS`, the texts that its numbers index
    counts: Counter[Stratum]  # number of steps of each stratum
    worlds: NDArray[np.uint64]  # uint64, their worlds
    screened: int = 0  # steps that an inexact prefilter found, not yet confirmed


class ScanLimits(NamedTuple):
    """The parameters of the scan of a part."""

    seed: int
    strata: tuple[str, ...]  # the fields of a stratum that distinguish steps of one world
    several: bool  # a world may yield several scenarios
    most: dict[str, int]  # of each category, how many worlds of a bucket a selection can use
    full: dict[str, frozenset[int]]  # of each category, the worlds that may yield no more
    from_failures: bool  # as in `MiningTerms`


def scan_limits(categories: Sequence[Category], terms: MiningTerms) -> ScanLimits:
    """Return the parameters of the scan of all parts.

    A selection takes the steps of a bucket in order and skips only those whose worlds are taken, by
    the category or others of the draft, or that `MiningTerms.pick_filter` rejects. That bounds how
    many it can reach.
    """
    total, taken = sum(terms.counts.values()), terms.taken
    per_wanted = 1 if terms.pick_filter is None else MAX_REJECTED + 1
    return ScanLimits(
        terms.seed,
        tuple(name for name in _STRATUM if name in terms.strata),
        terms.per_world > 1,
        {
            c.name: total + per_wanted * terms.counts[c.name] + len(taken[c.name]) + 2
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
        terms.from_failures,
    )


def needs_confirmation(category: Category) -> bool:
    """Return True if the steps that the category's prefilter finds have to be confirmed."""
    return category.prefilter is not None and not category.prefilter.exact


def empty_steps() -> FoundSteps:
    """Return a `FoundSteps` without steps."""
    rows = {name: np.empty(0, kind) for name, kind in FIELDS.items()}
    return FoundSteps(rows, {name: [] for name in _WORDS}, Counter(), np.empty(0, np.uint64))


def merge_steps(several: Sequence[FoundSteps]) -> FoundSteps:
    """Merge the steps of one category in several parts."""
    words: dict[str, dict[str, int]] = {name: {} for name in _WORDS}
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in FIELDS}
    for steps in several:
        for name in FIELDS:
            column = steps.rows[name]
            if name in words:
                index = words[name]
                codes = [index.setdefault(word, len(index)) for word in steps.words[name]]
                column = np.array(codes, column.dtype)[column] if codes else column
            columns[name].append(column)
    counts = sum((steps.counts for steps in several), Counter[Stratum]())
    worlds = np.unique(np.concatenate([steps.worlds for steps in several]))
    return FoundSteps(
        {name: np.concatenate(pieces) for name, pieces in columns.items()},
        {name: [*index] for name, index in words.items()},
        counts,
        worlds,
        sum(steps.screened for steps in several),
    )


def count_strata(rows: Rows, words: Mapping[str, Sequence[str]]) -> Counter[Stratum]:
    """Return the number of steps of each stratum."""
    n_sources, n_recorders = len(words["source"]), len(words["recorder"])
    code = rows["difficulty"].astype(np.int64) * n_sources + rows["source"]
    counts = np.bincount(code * n_recorders + rows["recorder"])
    return Counter(
        {
            Stratum(
                DIFFICULTIES[n // (n_sources * n_recorders)],
                words["source"][n // n_recorders % n_sources],
                words["recorder"][n % n_recorders],
            ): count
            for n, count in zip(
                np.flatnonzero(counts).tolist(), counts[counts > 0].tolist(), strict=True
            )
        }
    )


def prune_steps(category: Category, steps: FoundSteps, limits: ScanLimits) -> FoundSteps:
    """Return the steps that may still be selected, or confirmed."""
    limit = limits.most[category.name]
    if needs_confirmation(category) and not limits.from_failures:  # these are confirmed already
        return take_rows(
            steps, _select_first_steps(steps.rows, _STRATUM, CONFIRMED_PER_WANTED * limit)
        )
    steps = take_rows(steps, _select_first_of_equal(category, steps.rows, limits))
    if limits.strata != _STRATUM:  # alike steps may be in several buckets
        return steps
    return take_rows(steps, _select_first_worlds(steps.rows, limit))


def take_rows(steps: FoundSteps, indices: NDArray[Any]) -> FoundSteps:
    """Return some of the steps; totals stay as they are."""
    return steps._replace(rows={name: column[indices] for name, column in steps.rows.items()})


def _row_codes(rows: Rows, names: Sequence[str]) -> NDArray[np.int64]:
    """Return a number for each row that is equal if these columns are."""
    code = np.zeros(len(rows["order"]), np.int64)
    for name in names:
        column = rows[name].astype(np.int64) + 1
        code = code * (column.max(initial=0) + 1) + column
    return code


def _rank_rows(code: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for each element, how many equal codes come before it."""
    order = np.argsort(code, kind="stable")
    ordered = code[order]
    begins = np.searchsorted(ordered, ordered)
    out = np.empty(len(code), np.int64)
    out[order] = np.arange(len(code)) - begins
    return out


def _select_first_steps(rows: Rows, names: Sequence[str], count: int) -> NDArray[np.int64]:
    """Return the first `count` rows of each group with equal columns `names`."""
    order = np.argsort(rows["order"])
    indices: NDArray[np.int64] = order[_rank_rows(_row_codes(rows, names)[order]) < count]
    return indices


def _select_first_of_equal(category: Category, rows: Rows, limits: ScanLimits) -> NDArray[np.int64]:
    """Return the first row of each world, answer and asked stratum, and of each horizon in it."""
    order = np.argsort(rows["order"])
    _, world = np.unique(rows["world"], return_inverse=True)
    key = _row_codes(rows, ("answer", *limits.strata)) * (world.max(initial=0) + 1) + world
    if limits.several:
        along = rows["world_step"].astype(np.int64) // category.horizon
        key = key * (along.max(initial=0) + 1) + along
    _, first = np.unique(key[order], return_index=True)
    indices: NDArray[np.int64] = order[np.sort(first)]
    return indices


def _select_first_worlds(rows: Rows, count: int) -> NDArray[np.int64]:
    """Return the rows of the first `count` worlds of each bucket."""
    order = np.argsort(rows["order"])
    bucket = _row_codes(rows, _BUCKET)[order]
    _, world = np.unique(rows["world"][order], return_inverse=True)
    key = bucket * (world.max(initial=0) + 1) + world
    _, first, of = np.unique(key, return_index=True, return_inverse=True)
    by_order = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[by_order] = _rank_rows(bucket[first[by_order]])
    indices: NDArray[np.int64] = order[rank[of.reshape(-1)] < count]
    return indices


def make_offers(category: Category, steps: FoundSteps, limits: ScanLimits) -> OfferedSteps:
    """Return a category's offers among all steps found, sorted by `Offer.order`."""
    steps = take_rows(steps, _select_first_of_equal(category, steps.rows, limits))
    steps = take_rows(steps, _select_first_worlds(steps.rows, limits.most[category.name]))
    columns = (steps.rows[name].tolist() for name in FIELDS)
    offers = []
    for order, world, part, row, step, world_step, player, *coded in zip(*columns, strict=True):
        difficulty, *numbers = coded
        origin, recorder, answer = (
            steps.words[name][n] for name, n in zip(_WORDS, numbers, strict=True)
        )
        stratum = Stratum(DIFFICULTIES[difficulty], origin, recorder)
        position = Position(part, row, step, player)
        offers.append(Offer(order, f"{world:016x}", answer, world_step, stratum, position))
    return OfferedSteps(offers, steps.counts, steps.worlds)
