"""`sts mine`: mine scenarios from recorded trajectories into a draft."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sts.cli.arguments import format_table, to_records
from sts.cli.command import WORKERS, Result, argument, declare, option, repeatable, switch
from sts.names import count_noun

if TYPE_CHECKING:
    from sts.storage.workspace import Workspace
    from sts_scenarios.mining import Mined
    from sts_scenarios.rules.category import Category


_STRATA = ("difficulty", "source", "recorder")


class Options(NamedTuple):
    """Options of `sts mine`, called as the arguments of `sts.mine`."""

    per_category: int = option("N", "maximum number of scenarios per category", 10)
    categories: list[str] = repeatable(
        "C", "only this one, a name or module:NAME; repeatable (default: all)", flag="--category"
    )
    partner: str | None = option(
        "P", "behaviour of the other players: no-op, replay or agent:NAME (default: the category's)"
    )
    where: str | None = option(
        "FILTER", "only at steps that satisfy a condition, such as 'last_reward < 0' (default: all)"
    )
    miner: str | None = option(
        "module:NAME",
        "your function that yields candidates, for one --category (default: the category's)",
    )
    split: str = option(
        ("test", "train"),
        "train: training episodes for instruction-following agents instead of scenarios",
        "test",
    )
    from_sessions: str | None = option(
        "SOURCE",
        "what people asked in live sessions: requests, or failures of agents only",
        choices=("requests", "failures"),
    )
    from_failures: str | None = option(
        "NAME@VERSION",
        "take a share from continuations of this suite whose automatic label is failure",
    )
    failure_share: float | None = option(
        "S", "fraction of a category's scenarios from --from-failures (default: 0.3)", type=float
    )
    distinct_profiles: bool = switch("no two scenarios of a category with equal response profiles")
    discriminating_share: float | None = option(
        "S",
        "fraction of each category, 0 to 0.5, chosen because agents differ on it and at least "
        "one instruction-following agent passes",
        type=float,
    )
    agents: list[str] = repeatable(
        "A",
        "agent for response profiles and --from-failures; repeatable (default: the agents "
        "named by the environment's categories)",
        flag="--agent",
    )
    max_per_environment: int | None = option(
        "N",
        "maximum number of scenarios of a category from one world, at least a horizon apart "
        "(default: 1; with --from-sessions, all)",
        type=int,
    )
    stratify_by: list[str] = repeatable(
        _STRATA,
        "offer one candidate step of a world for each value; repeatable (default: all three)",
    )
    seed: int = option("S", "seed of the selection", 0)
    workers: int = WORKERS
    overwrite: bool = switch("replace an existing draft")


_OPTIONS = Options()


@declare("mine mysuite --per-category 10 --seed 1")
def mine(
    workspace: Workspace,
    *,
    name: str = argument("NAME", "name of the draft"),
    options: Options = _OPTIONS,
) -> Result:
    """Mine scenarios from recorded trajectories into a draft."""
    from sts_scenarios import api

    options = options._replace(stratify_by=options.stratify_by or [*_STRATA])
    draft = api.mine(name, **options._asdict(), workspace=workspace)
    outcome, mined = draft.outcome, draft.outcome.mined
    value, text = _summarise(mined, outcome.categories, options.per_category)
    recordings = f"{count_noun(outcome.in_split, 'trajectory')} of the {options.split} split"
    recordings += f" and {outcome.failed} failed continuations" if outcome.failed else ""
    lines = [
        f"{count_noun(len(mined.scenarios), 'scenario')} from {recordings}",
        text,
        _format_strata(mined),
        *_format_notes(mined, outcome.categories),
        f"-> {draft.path}\nnext: sts draft show {name}",
    ]
    if draft.earlier:
        lines.insert(3, f"added to the {draft.earlier} candidates that draft {name} had")
    return Result({"draft": name, "file": str(draft.path)} | value, "\n\n".join(lines))


def _summarise(
    mined: Mined, categories: Sequence[Category], per_category: int
) -> tuple[dict[str, Any], str]:
    """Return what each category offered and what was chosen, as JSON values and as a table."""
    from sts.suites.suite import DIFFICULTIES

    header = ("category", "candidates", "worlds", "chosen", *DIFFICULTIES)
    rows: list[tuple[Any, ...]] = []
    short: list[str] = []
    for name in (category.name for category in categories):
        by_difficulty = Counter(s.difficulty for s in mined.scenarios if s.category == name)
        counts = (by_difficulty[difficulty] for difficulty in DIFFICULTIES)
        chosen = by_difficulty.total()
        rows.append((name, mined.candidates[name], mined.worlds[name], chosen, *counts))
        short += [name] if chosen < per_category else []
    strata = [
        {"category": name, **stratum._asdict(), "candidates": count, "chosen": n_chosen}
        for name, counts_by_stratum in mined.strata.items()
        for stratum, (count, n_chosen) in counts_by_stratum.items()
    ]
    value = {
        "categories": to_records(header, rows),
        "strata": strata,
        "short": short,
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
    from sts.suites.suite import DIFFICULTIES

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
