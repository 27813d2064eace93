"""`sts mine`: mine scenarios from recorded trajectories into a draft."""

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sts.cli.arguments import format_table, to_records
from sts.cli.command import Result
from sts.names import count_noun
from sts.storage.workspace import Workspace
from sts.suites.suite import DIFFICULTIES
from sts_scenarios import api
from sts_scenarios.commands.table import STRATA
from sts_scenarios.mining import Mined
from sts_scenarios.rules.category import Category


def mine(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Write the draft, and show what each category offered and what was chosen."""
    draft = api.mine(
        args.name,
        categories=args.category or (),
        per_category=args.per_category,
        seed=args.seed,
        partner=args.partner,
        where=args.where,
        miner=args.miner,
        split=args.split,
        max_per_environment=args.max_per_environment,
        stratify_by=args.stratify_by or STRATA,
        from_sessions=args.from_sessions,
        from_failures=args.from_failures,
        failure_share=args.failure_share,
        discriminating_share=args.discriminating_share,
        distinct_profiles=args.distinct_profiles,
        agents=args.agent or (),
        workers=args.workers,
        overwrite=args.overwrite,
        workspace=workspace,
    )
    outcome, mined = draft.outcome, draft.outcome.mined
    value, text = _summarise(mined, outcome.categories, args.per_category)
    recordings = f"{count_noun(outcome.in_split, 'trajectory')} of the {args.split} split"
    recordings += f" and {outcome.failed} failed continuations" if outcome.failed else ""
    lines = [
        f"{count_noun(len(mined.scenarios), 'scenario')} from {recordings}",
        text,
        _format_strata(mined),
        *_format_notes(mined, outcome.categories),
        f"-> {draft.path}\nnext: sts draft show {args.name}",
    ]
    if draft.earlier:
        lines.insert(3, f"added to the {draft.earlier} candidates that draft {args.name} had")
    return Result({"draft": args.name, "file": str(draft.path)} | value, "\n\n".join(lines))


def _summarise(
    mined: Mined, categories: Sequence[Category], per_category: int
) -> tuple[dict[str, Any], str]:
    """Return what each category offered and what was chosen, as JSON values and as a table."""
    header = ("category", "candidates", "worlds", "chosen", *DIFFICULTIES)
    rows: list[tuple[Any, ...]] = []
    for name in (category.name for category in categories):
        by_difficulty = Counter(s.difficulty for s in mined.scenarios if s.category == name)
        counts = (by_difficulty[difficulty] for difficulty in DIFFICULTIES)
        rows.append(
            (name, mined.candidates[name], mined.worlds[name], by_difficulty.total(), *counts)
        )
    strata = [
        {"category": name, **stratum._asdict(), "candidates": count, "chosen": n_chosen}
        for name, counts_by_stratum in mined.strata.items()
        for stratum, (count, n_chosen) in counts_by_stratum.items()
    ]
    value = {
        "categories": to_records(header, rows),
        "strata": strata,
        "short": [row[0] for row in rows if row[3] < per_category],
        "sampled": {n: {"asked": k, "of": of} for n, (k, of) in mined.sampled.items()},
        "plain": _categories_without_prefilter(categories),
        "absent": {name: count for name, (count, _) in mined.unavailable.items()},
    }
    return value, format_table(header, rows)


def _categories_without_prefilter(categories: Sequence[Category]) -> list[str]:
    """Return the names of the categories that were asked at every step."""
    return [category.name for category in categories if category.prefilter is None]


def _format_notes(mined: Mined, categories: Sequence[Category]) -> list[str]:
    """Return notes on sampled counts and on categories that take long."""
    lines = [
        f"{name} was asked at {sample} of the {of} steps that may fit, the first of each stratum; "
        "its candidates are those of them that do"
        for name, (sample, of) in mined.sampled.items()
    ]
    unscreened = _categories_without_prefilter(categories)
    if unscreened and len(unscreened) < len(categories):
        lines.append(f"without a prefilter, so every step was tried: {', '.join(unscreened)}")
    return ["\n".join(lines)] if lines else []


def _format_strata(mined: Mined) -> str:
    """Return a table of chosen and offered candidates by source, recorder and difficulty."""
    offered: Counter[tuple[str, str, str]] = Counter()
    chosen: Counter[tuple[str, str, str]] = Counter()
    for counts in mined.strata.values():
        for stratum, (count, n_chosen) in counts.items():
            offered[stratum] += count
            chosen[stratum] += n_chosen
    rows = [
        (*origin, *(f"{chosen[d, *origin]} of {offered[d, *origin]}" for d in DIFFICULTIES))
        for origin in sorted({(source, recorder) for _, source, recorder in offered})
    ]
    return format_table(("source", "recorder", *DIFFICULTIES), rows)
