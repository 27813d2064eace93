"""Mining of files: every part is scanned on its own, in this process or in others.

A scan returns columns of numbers, no objects. A category's prefilter finds its candidate steps in a
whole part at once. If it is inexact, the category then confirms steps one at a time, in the order
of the seed, until there are enough (or all, if there are few). The result is therefore independent
of how files are split into parts.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.domains import why_unavailable
from sts.errors import StsError
from sts.jobs.executors import Executor
from sts.jobs.pool import create_pool
from sts.registry import translate_errors
from sts.storage.files import canonical_json
from sts.suites.suite import DIFFICULTIES
from sts.trajectories import batches
from sts.trajectories.batches import Part, TrajectoryColumns
from sts_scenarios.mining.building import name_trajectory
from sts_scenarios.mining.choice import Offer, Pick, draw_step_ranks, source_kind, world_key
from sts_scenarios.mining.confirming import (
    MakeCategories,
    confirm_steps,
    make_picks,
    run_by_part,
    run_in_pool,
)
from sts_scenarios.mining.rows import (
    FIELDS,
    FoundSteps,
    Rows,
    ScanLimits,
    count_strata,
    empty_steps,
    make_offers,
    merge_steps,
    needs_confirmation,
    prune_steps,
    scan_limits,
)
from sts_scenarios.mining.terms import GatheredSteps, MiningTerms
from sts_scenarios.rules.category import CandidateColumns, Category

MERGED = 8
"""Number of parts whose steps are merged at once."""
Progress = Callable[[int, int], None]


def gather_candidates(
    parts: Sequence[Part],
    make_categories: MakeCategories,
    terms: MiningTerms,
    pool: Executor,
    progress: Progress = lambda done, total: None,
) -> GatheredSteps:
    """Gather the candidate steps of parts of files, however they are split and distributed.

    `pool` runs the scans.
    """
    categories = make_categories()
    limits = scan_limits(categories, terms)
    found: dict[str, list[FoundSteps]] = {c.name: [empty_steps()] for c in categories}
    unavailable: dict[str, tuple[int, StsError]] = {}
    total, done = sum(part.rows for part in parts), 0
    tasks = [(scan_part, make_categories, part, n, limits) for n, part in enumerate(parts)]
    for n, (part_found, missing) in run_in_pool(pool, tasks):
        for c in categories:
            several = found[c.name]
            several.append(part_found[c.name])
            if len(several) == MERGED:
                found[c.name] = [prune_steps(c, merge_steps(several), limits)]
        for domain, (n_left, why) in missing.items():
            count, first = unavailable.get(domain, (0, why))
            unavailable[domain] = count + n_left, first
        done += parts[n].rows
        progress(done, total)
    steps_by_name = {c.name: prune_steps(c, merge_steps(found[c.name]), limits) for c in categories}
    sampled = {}
    if not terms.from_failures:
        sampled = confirm_steps(parts, make_categories, categories, steps_by_name, pool)
    offered_by_name = {c.name: make_offers(c, steps_by_name[c.name], limits) for c in categories}

    def picks(offers: Sequence[tuple[Category, Offer]]) -> list[Pick]:
        items = [
            (offer.position.part, (category.name, offer, terms.seed)) for category, offer in offers
        ]
        return run_by_part(parts, make_categories, pool, make_picks, items)

    return GatheredSteps(offered_by_name, picks, unavailable, sampled)


def scan_part(
    make_categories: MakeCategories, part: Part, number: int, limits: ScanLimits
) -> tuple[dict[str, FoundSteps], dict[str, tuple[int, StsError]]]:
    """Return a part's candidate steps by category, and its unavailable trajectories by domain.

    Of failures, every step is confirmed here: they are few, next to recordings.
    """
    categories, columns = make_categories(), batches.read_columns(part)
    world_keys = np.array([int(world_key(hash), 16) for hash in columns.texts["world"]], np.uint64)
    origins = _Origins(columns)
    out: dict[str, list[FoundSteps]] = {c.name: [empty_steps()] for c in categories}

    def add(c: Category, hits: CandidateColumns) -> None:
        steps = _encode_hits(c, columns, origins, world_keys, number, hits, limits)
        out[c.name].append(steps if limits.from_failures else prune_steps(c, steps, limits))

    for domain, positions, abreast in columns.batches():
        for c in categories:
            if c.prefilter is None or c.domain != domain:
                continue
            with translate_errors(f"the prefilter of category {c.name!r} failed"):
                hits = c.prefilter.find(abreast, c.context, c.horizon)
            add(c, hits._replace(episode=positions[hits.episode]))
    unscreened, unavailable = _query_categories(categories, columns)
    for c in categories:
        if c.name in unscreened:
            add(c, unscreened[c.name])
    steps_by_name = {c.name: merge_steps(out[c.name]) for c in categories}
    if limits.from_failures:
        with create_pool(1, 1) as here:
            confirm_steps({number: part}, make_categories, categories, steps_by_name, here)
    return {c.name: prune_steps(c, steps_by_name[c.name], limits) for c in categories}, unavailable


def _query_categories(
    categories: Sequence[Category], columns: TrajectoryColumns
) -> tuple[dict[str, CandidateColumns], dict[str, tuple[int, StsError]]]:
    """Return the steps of categories without a prefilter, or in worlds of unknown size."""
    domains = np.array(columns.texts["domain"])
    sized = (columns.numbers["height"] > 0) & (columns.numbers["width"] > 0)
    rows_by_name: dict[str, tuple[list[tuple[int, ...]], list[tuple[str, dict[str, Any]]]]] = {}
    unavailable: dict[str, tuple[int, StsError]] = {}
    for domain in dict.fromkeys(c.domain for c in categories):
        members = [c for c in categories if c.domain == domain]
        mask = domains == domain
        if all(c.prefilter for c in members):
            mask &= ~sized
        positions = np.flatnonzero(mask).tolist()
        for position, trajectory in zip(
            positions, columns.load(positions) if positions else (), strict=True
        ):
            if (reason := why_unavailable(trajectory.episode)) is not None:
                count, first = unavailable.get(domain, (0, reason))
                unavailable[domain] = count + 1, first
                continue
            for c in members:
                if c.prefilter is not None and sized[position]:
                    continue
                rows, kinds = rows_by_name.setdefault(c.name, ([], []))
                with name_trajectory(trajectory):
                    candidates = c.find_candidates(trajectory)
                for candidate in candidates:
                    difficulty = DIFFICULTIES.index(candidate.difficulty)
                    rows.append(
                        (position, candidate.player, candidate.step, difficulty, len(kinds))
                    )
                    kinds.append((candidate.answer, candidate.parameters))
    hits = {
        name: CandidateColumns._make((*np.array(rows, np.int64).reshape(-1, 5).T, kinds))
        for name, (rows, kinds) in rows_by_name.items()
    }
    return hits, unavailable


class _Origins:
    """The kinds of source and the players of trajectories, as numbers, and their provenance."""

    def __init__(self, columns: TrajectoryColumns) -> None:
        self.sources: dict[str, int] = {}
        self.recorders: dict[str, int] = {}
        self.first = np.zeros(len(columns.rows), np.int64)
        pairs: list[tuple[int, int]] = []
        first_pairs: dict[tuple[str, str], int] = {}
        for position, (text, made_by) in enumerate(
            zip(columns.texts["people"], columns.texts["source"], strict=True)
        ):
            key = text, " ".join(made_by.split(" ")[:2])
            if key not in first_pairs:
                first_pairs[key] = len(pairs)
                for kind, name in json.loads(text):
                    origin = source_kind(f"{key[1]} ", kind)
                    source = self.sources.setdefault(origin, len(self.sources))
                    recorder = self.recorders.setdefault(name, len(self.recorders))
                    pairs.append((source, recorder))
            self.first[position] = first_pairs[key]
        self.pairs = np.array(pairs, np.int64).reshape(-1, 2)
        self.continued = [
            json.loads(text) if '"begins"' in text else {} for text in columns.texts["provenance"]
        ]
        self.begins = np.array([c.get("begins", 0) for c in self.continued], np.int64)
        self.n_players = int(columns.numbers["participants"].max(initial=1))

    def codes(self, position: NDArray[Any], player: NDArray[Any]) -> NDArray[np.int64]:
        """Return int64[2, N], the sources and the recorders of players."""
        out: NDArray[np.int64] = self.pairs[self.first[position] + player].T
        return out

    def is_reached(self, category: Category, hits: CandidateColumns) -> NDArray[np.bool_]:
        """Return bool[N], True for steps that a failed agent reached by itself.

        These follow its takeover. If partners repeat the recording, the horizon, too, has to end
        before the extension.
        """
        takeover, until = (
            np.array([c[name] for c in self.continued], np.int64) for name in ("takeover", "until")
        )
        last = until - (category.horizon if category.partner == "replay" else 0)
        own = [n * self.n_players + p for n, c in enumerate(self.continued) for p in c["roles"]]
        position, step = hits.episode, hits.step
        reached: NDArray[np.bool_] = np.isin(position * self.n_players + hits.player, own)
        reached &= (takeover[position] < step) & (step <= last[position])
        return reached


def _encode_hits(
    category: Category,
    columns: TrajectoryColumns,
    origins: _Origins,
    world_keys: NDArray[np.uint64],
    number: int,
    hits: CandidateColumns,
    limits: ScanLimits,
) -> FoundSteps:
    """Return the steps of a part that may be asked, with their order and strata."""
    full = np.array(sorted(limits.full[category.name]), np.uint64)
    free = ~np.isin(world_keys[hits.episode], full)
    if limits.from_failures:
        free &= origins.is_reached(category, hits)
    if not free.all():
        hits = CandidateColumns._make((*(values[free] for values in hits[:5]), hits.kinds))
    position, kinds = hits.episode, hits.kinds
    sources, recorders = origins.codes(position, hits.player)
    answers = {answer: n for n, answer in enumerate(dict.fromkeys(answer for answer, _ in kinds))}
    of_kind = np.array([answers[answer] for answer, _ in kinds], np.int64)
    rows: Rows = {
        "order": _hit_orders(category, columns, hits, limits.seed),
        "world": world_keys[position],
        "part": np.full(len(position), number),
        "row": columns.rows[position],
        "step": hits.step,
        "world_step": hits.step + origins.begins[position],
        "player": hits.player,
        "difficulty": hits.difficulty,
        "source": sources,
        "recorder": recorders,
        "answer": of_kind[hits.kind] if kinds else hits.kind,
    }
    words = {"source": [*origins.sources], "recorder": [*origins.recorders], "answer": [*answers]}
    rows = {name: values.astype(FIELDS[name]) for name, values in rows.items()}
    if needs_confirmation(category):
        return FoundSteps(rows, words, Counter(), np.empty(0, np.uint64), len(position))
    return FoundSteps(rows, words, count_strata(rows, words), np.unique(rows["world"]))


def _hit_orders(
    category: Category, columns: TrajectoryColumns, hits: CandidateColumns, seed: int
) -> NDArray[np.uint64]:
    n_players = int(columns.numbers["participants"].max(initial=1))
    n_kinds = max(len(hits.kinds), 1)
    code, rest = _find_unique((hits.step * n_players + hits.player) * n_kinds + hits.kind)
    at, kind = np.divmod(code, n_kinds)
    steps, players = np.divmod(at, n_players)
    positions, ids = _find_unique(hits.episode)
    texts = [canonical_json(parameters) for _, parameters in hits.kinds]
    triples = zip(steps.tolist(), players.tolist(), (texts[k] for k in kind.tolist()), strict=True)
    pairs = zip(ids.tolist(), rest.tolist(), strict=True)
    trajectory_ids = (columns.texts["id"][position] for position in positions.tolist())
    return draw_step_ranks(seed, category.name, trajectory_ids, triples, pairs)


def _find_unique(code: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return `np.unique` with its inverse, for numbers that are not large."""
    present = np.zeros(int(code.max(initial=0)) + 1, np.bool_)
    present[code] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[code]
