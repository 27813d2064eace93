"""`sts mine`: scenarios from the recorded trajectories into a draft."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from sts.cli.command import Command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scenarios.category import Category
    from scenarios.mining import Mined
    from scenarios.mining.filters import Filter
    from sts.storage.workspace import Workspace
    from sts.suites.drafts import Draft
    from sts.trajectories.types import Trajectory

STRATA = ("difficulty", "source", "recorder")


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    parser.add_argument("name", metavar="NAME", help="of the draft")
    parser.add_argument("--per-category", type=int, default=10, metavar="N", help="at most")
    parser.add_argument(
        "--category",
        action="append",
        metavar="C",
        help="only this one, a name or module:NAME; repeatable (default: all)",
    )
    parser.add_argument(
        "--partner",
        metavar="P",
        help="what the others do: no-op, replay or agent:NAME (default: as the category says)",
    )
    parser.add_argument(
        "--where",
        metavar="FILTER",
        help="only at steps of which this is true, such as 'good_seen_ago between 2 and 5' "
        "(default: all)",
    )
    parser.add_argument(
        "--miner",
        metavar="module:NAME",
        help="a function of yours that says where, for one --category (default: its own)",
    )
    parser.add_argument(
        "--split",
        choices=("test", "train"),
        default="test",
        help="train: moments that a learner can learn from to obey, for no suite (default: test)",
    )
    parser.add_argument(
        "--per-world",
        type=int,
        default=1,
        metavar="N",
        help="of a category, at most, each at least its own length apart (default: 1)",
    )
    parser.add_argument(
        "--stratum",
        action="append",
        choices=STRATA,
        help="of a world, one moment of each of this is offered; repeatable (default: all three)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the choice")
    parser.add_argument("--replace", action="store_true", help="begin the draft anew")


def run(args: argparse.Namespace) -> int:
    """Mines the workspace's trajectories and writes the draft."""
    from dataclasses import replace

    from scenarios import categories, mining
    from sts.cli.arguments import at_least, progress, say
    from sts.errors import StsError
    from sts.storage.workspace import Workspace
    from sts.suites import drafts
    from sts.trajectories import store as trajectories

    workspace = Workspace.open(args.workspace)
    draft = _draft(workspace, args.name, replace=args.replace)
    there = [] if draft is None or args.replace else draft.summaries()
    per_category = at_least(1, "--per-category", args.per_category)
    per_world = at_least(1, "--per-world", args.per_world)
    recorded = trajectories.load(workspace)
    chosen = [categories.named(name) for name in dict.fromkeys(args.category or ())]
    if not args.category:
        chosen = [*categories.installed(t.episode.domain for t in recorded).values()]
    if args.partner is not None:
        _check_partner(args.partner, {category.domain for category in chosen})
        chosen = [replace(category, partner=args.partner) for category in chosen]
    chosen, rule = _narrowed(args, chosen, recorded)

    def watched(show: Callable[[int, int], None]) -> Iterator[Trajectory]:
        for count, trajectory in enumerate(recorded, 1):
            yield trajectory
            show(count, len(recorded))

    with progress("mining", "trajectories") as show:
        mined = mining.mine(
            watched(show),
            chosen,
            per_category=per_category,
            seed=args.seed,
            last=drafts.last_numbers(workspace, args.name, (one.id for one in there)),
            there=there,
            per_world=per_world,
            strata=args.stratum or STRATA,
            side=args.split,
            rule=rule,
        )
    count = sum(t.split == args.split for t in recorded)
    _warn_of_what_is_left_out(mined)
    if there and not mined.scenarios and not mined.unfit:
        raise StsError(
            f"nothing new to mine: draft {args.name} has a candidate of every world that offers "
            "one; record more, or name other categories"
        )
    had = f"{len(recorded)} trajectories, {count} on the {args.split} side"
    _refuse_nothing(mined, workspace, chosen, had, narrowed=bool(rule))
    if draft is None or args.replace:
        draft = drafts.begin(
            workspace, args.name, mined.scenarios, replaces=draft.id if draft else None
        )
    else:
        draft = drafts.add(draft, mined.scenarios)
    path = workspace.path(draft.folder)
    value, text = _summary(mined, chosen, per_category)
    text += "\n\n" + _strata(mined)
    what = f"{len(mined.scenarios)} scenarios from {count} trajectories on the {args.split} side"
    text = f"{what}\n\n{text}"
    if there:
        text += f"\n\nadded to the {len(there)} candidates that draft {args.name} had"
    text += f"\n\n-> {path}\nnext: sts draft show {args.name}"
    say(args.json, {"draft": args.name, "file": str(path)} | value, text)
    return 0


def _narrowed(
    args: argparse.Namespace, chosen: list[Category], recorded: Sequence[Trajectory]
) -> tuple[list[Category], dict[str, Any]]:
    """Returns the categories that ask only where the flags say, and what provenance says of that.

    Raises:
      ArgumentError, StsError: a flag is none that can be used here.
    """
    from scenarios.mining import filters, miners, training
    from sts.agents.identity import code
    from sts.errors import ArgumentError

    rule: dict[str, Any] = {}
    if args.miner is not None:
        if len(args.category or ()) != 1:
            raise ArgumentError(
                "--miner says where one category asks: expected one --category, found "
                f"{len(args.category or ())}"
            )
        miner = miners.named(args.miner)
        chosen = [miners.asking(category, args.miner, miner) for category in chosen]
        rule |= {"miner": args.miner, "code": code(args.miner, ("scenarios",)).mark}
    if args.where is not None:
        where = filters.Filter(args.where)
        rule |= {"where": where.text, "columns": _columns(where, chosen, recorded)}
        chosen = [where.within(category) for category in chosen]
    if args.split == "train":
        chosen = [training.obeyed(category) for category in chosen]
    return chosen, rule


def _columns(
    where: Filter, chosen: Sequence[Category], recorded: Sequence[Trajectory]
) -> dict[str, int]:
    """Returns the versions of the columns that a filter is held to, one world after the other.

    Raises:
      ArgumentError: it does not fit the columns of a world that a category here is about.
    """
    from sts.domains import why_unavailable

    versions: dict[str, int] = {}
    for domain in sorted({category.domain for category in chosen}):
        own = (t for t in recorded if t.episode.domain == domain)
        first = next((t for t in own if why_unavailable(t.episode) is None), None)
        if first is not None:
            versions |= where.check(first)
    return versions


def _draft(workspace: Workspace, name: str, *, replace: bool) -> Draft | None:
    """Returns the draft that is mined into or replaced; None where one is to be begun.

    Raises:
      StsError: the suite has versions, of which the next one is to begin.
    """
    from sts.errors import StsError
    from sts.suites import drafts
    from sts.suites.folders import versions

    draft, newest = drafts.find(workspace, name), max(versions(workspace).get(name, {}), default=0)
    if newest and (draft is None or replace or drafts.frozen_as(draft)):
        raise StsError(
            f"{name}@{newest} is frozen: begin the next version with sts draft from "
            f"{name}@{newest}, and mine into that"
        )
    return draft


def _warn_of_what_is_left_out(mined: Mined) -> None:
    from sts.cli.arguments import warn

    for name, (count, reason) in mined.unavailable.items():
        if not mined.scenarios:
            raise reason.about(f"{count} trajectories of {name} cannot be mined")
        warn(f"{count} trajectories of {name} are left out: {reason}")


def _refuse_nothing(
    mined: Mined, workspace: Workspace, chosen: Sequence[Category], recorded: str, *, narrowed: bool
) -> None:
    """Raises StsError where nothing was mined; says why as far as that is known.

    Args:
      mined: what was.
      workspace: that was mined.
      chosen: the categories.
      recorded: what there is to mine, in words.
      narrowed: fewer moments were asked for than the categories have.
    """
    from sts.errors import StsError

    if mined.scenarios:
        return
    if mined.unfit:
        raise StsError("; ".join(f"{name}: {why}" for name, why in mined.unfit.items()))
    worlds = ", ".join(sorted({c.domain for c in chosen}))
    expected = "some from sts record or sts trajectories import"
    if narrowed:
        expected = "a filter or a miner that leaves some moments"
    raise StsError(
        f"nothing to mine in {workspace.root}: {recorded}, none of "
        f"{worlds or 'a category here'} that fits; expected {expected}"
    )


def _summary(
    mined: Mined, chosen: Sequence[Category], per_category: int
) -> tuple[dict[str, Any], str]:
    """Returns what each category had and gave, for a program and as a table; warns of few."""
    from collections import Counter

    from sts.cli.arguments import table, warn
    from sts.suites.types import DIFFICULTIES

    header = ("category", "candidates", "worlds", "chosen", *DIFFICULTIES)
    rows: list[tuple[Any, ...]] = []
    for name in (c.name for c in chosen):
        own = Counter(s.difficulty for s in mined.scenarios if s.category == name)
        counts = (own[difficulty] for difficulty in DIFFICULTIES)
        rows.append((name, mined.candidates[name], mined.worlds[name], own.total(), *counts))
    short = [row[0] for row in rows if row[3] < per_category]
    for name in short:
        why = f"has fewer than {per_category} worlds to offer"
        if name in mined.unfit:
            why = f"leaves scenarios out: {mined.unfit[name]}"
        warn(f"{name} {why}")
    strata = [
        {"category": name, **one._asdict(), "candidates": count, "chosen": taken}
        for name, own in mined.strata.items()
        for one, (count, taken) in own.items()
    ]
    value = {
        "categories": [dict(zip(header, row, strict=True)) for row in rows],
        "strata": strata,
        "short": short,
        "absent": {name: count for name, (count, _) in mined.unavailable.items()},
    }
    return value, table(header, rows)


def _strata(mined: Mined) -> str:
    """Returns of each stratum, over all categories, how many were chosen of how many."""
    from collections import Counter

    from sts.cli.arguments import table
    from sts.suites.types import DIFFICULTIES

    there: Counter[tuple[str, str, str]] = Counter()
    chosen: Counter[tuple[str, str, str]] = Counter()
    for own in mined.strata.values():
        for one, (count, taken) in own.items():
            there[one] += count
            chosen[one] += taken
    rows = [
        (*who, *(f"{chosen[d, *who]} of {there[d, *who]}" for d in DIFFICULTIES))
        for who in sorted({(source, recorder) for _, source, recorder in there})
    ]
    return table(("source", "recorder", *DIFFICULTIES), rows)


def _check_partner(partner: str, domains: set[str]) -> None:
    """Refuses what can play nobody in the worlds of these domains."""
    from sts import agents
    from sts.errors import ArgumentError

    kind, _, name = partner.partition(":")
    if kind == "agent" and name:
        own = agents.load(name).domain
        if own and own not in domains:
            raise ArgumentError(
                f"--partner {partner} plays the worlds of {own}, and the scenarios are of "
                f"{', '.join(sorted(domains))}"
            )
    elif partner not in ("no-op", "replay"):
        raise ArgumentError(f"expected --partner no-op, replay or agent:NAME, found {partner!r}")


COMMAND = Command(
    summary="mine scenarios from recorded trajectories into a draft",
    example="sts mine mysuite --per-category 10 --seed 1",
    configure=configure,
    run=run,
)
