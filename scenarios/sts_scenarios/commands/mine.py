"""`sts mine`: scenarios from the recorded trajectories into a draft."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sts.cli.arguments import progress, records, table, warn
from sts.cli.command import Result
from sts.errors import StsError
from sts.storage.workspace import Workspace
from sts.suites import drafts
from sts.suites.drafts import Draft
from sts.suites.folders import versions
from sts.suites.types import DIFFICULTIES, Summary
from sts_scenarios.category import Category
from sts_scenarios.commands.table import STRATA
from sts_scenarios.mining import Mined
from sts_scenarios.mining.order import Carried, Order, carried_out


def mine(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Mine the workspace's trajectories and write the draft."""
    order = Order(
        categories=tuple(args.category or ()),
        per_category=args.per_category,
        seed=args.seed,
        partner=args.partner,
        where=args.where,
        miner=args.miner,
        side=args.split,
        per_world=args.per_world,
        strata=tuple(args.stratum or STRATA),
        failures=args.from_failures,
        share=args.share,
        effect=args.by_effect,
        unlike=args.unlike,
        agents=tuple(args.agent or ()),
        workers=args.workers,
    )
    draft = _draft(workspace, args.name, replace=args.replace)
    there: Sequence[Summary] = ()
    if draft is not None and not args.replace:
        ids = dict.fromkeys(draft.ids(), "")
        there = draft.scenarios(ids) if order.unlike else draft.summaries()
    last = drafts.last_numbers(workspace, args.name, (one.id for one in there))
    with progress("mining", "trajectories") as show:
        made = carried_out(order, workspace, there=there, last=last, progress=show)
    mined = made.mined
    _warn_of_what_is_left_out(mined)
    _refuse_nothing(made, order, workspace, args.name if there else "")
    if draft is None or args.replace:
        draft = drafts.begin(
            workspace, args.name, mined.scenarios, replaces=draft.id if draft else None
        )
    else:
        draft = drafts.add(draft, mined.scenarios)
    path = workspace.path(draft.folder)
    value, text = _summary(mined, made.categories, order.per_category)
    of = f"{made.on_side} trajectories on the {order.side} side"
    of += f" and {made.failed} failed continuations" if made.failed else ""
    lines = [
        f"{len(mined.scenarios)} scenarios from {of}",
        text,
        _strata(mined),
        *_how(mined, made.categories),
        f"-> {path}\nnext: sts draft show {args.name}",
    ]
    if there:
        lines.insert(3, f"added to the {len(there)} candidates that draft {args.name} had")
    return Result({"draft": args.name, "file": str(path)} | value, "\n\n".join(lines))


def _draft(workspace: Workspace, name: str, *, replace: bool) -> Draft | None:
    """Return the draft that is mined into or replaced; None where one is to be begun."""
    draft, newest = drafts.find(workspace, name), max(versions(workspace).get(name, {}), default=0)
    if newest and (draft is None or replace or drafts.frozen_as(draft)):
        raise StsError(
            f"{name}@{newest} is frozen: begin the next version with sts draft from "
            f"{name}@{newest}, and mine into that"
        )
    return draft


def _warn_of_what_is_left_out(mined: Mined) -> None:
    for name, (count, reason) in mined.unavailable.items():
        if not mined.scenarios:
            raise reason.about(f"{count} trajectories of {name} cannot be mined")
        warn(f"{count} trajectories of {name} are left out: {reason}")


def _refuse_nothing(made: Carried, order: Order, workspace: Workspace, added_to: str) -> None:
    """Raise StsError where nothing was mined; say why as far as that is known.

    `added_to` is the draft that has candidates already; "" for none.
    """
    mined = made.mined
    if mined.scenarios:
        return
    if mined.unfit:
        raise StsError("; ".join(f"{name}: {why}" for name, why in mined.unfit.items()))
    passed_over = sum(mined.passed_over.values())
    if passed_over:
        raise StsError(
            f"nothing to mine: of {passed_over} candidates that were tried none is kept; expected "
            "other agents or categories"
        )
    if added_to:
        raise StsError(
            f"nothing new to mine: draft {added_to} has a candidate of every world that offers "
            "one; record more, name other categories, or take more of a world by --per-world"
        )
    worlds = ", ".join(sorted({c.domain for c in made.categories})) or "a category here"
    expected = "some from sts record or sts trajectories import"
    if order.side == "train":
        expected = "recordings that do what is asked"
    if order.where or order.miner:
        expected = "a filter or a miner that leaves some moments"
    raise StsError(
        f"nothing to mine in {workspace.root}: {made.recorded} trajectories, {made.on_side} on the "
        f"{order.side} side, none of {worlds} that fits; expected {expected}"
    )


def _summary(
    mined: Mined, chosen: Sequence[Category], per_category: int
) -> tuple[dict[str, Any], str]:
    """Return what each category had and gave, for a program and as a table; warns of few."""
    header = ("category", "candidates", "worlds", "chosen", *DIFFICULTIES)
    rows: list[tuple[Any, ...]] = []
    for name in (c.name for c in chosen):
        own = Counter(s.difficulty for s in mined.scenarios if s.category == name)
        counts = (own[difficulty] for difficulty in DIFFICULTIES)
        rows.append((name, mined.candidates[name], mined.worlds[name], own.total(), *counts))
    short = [row[0] for row in rows if row[3] < per_category]
    for name in short:
        why = f"has fewer than {per_category} worlds to offer"
        if mined.passed_over[name]:
            why = f"has few to keep: {mined.passed_over[name]} were tried and passed over"
        if name in mined.unfit:
            why = f"leaves scenarios out: {mined.unfit[name]}"
        warn(f"{name} {why}")
    strata = [
        {"category": name, **one._asdict(), "candidates": count, "chosen": taken}
        for name, own in mined.strata.items()
        for one, (count, taken) in own.items()
    ]
    value = {
        "categories": records(header, rows),
        "strata": strata,
        "short": short,
        "sampled": {n: {"asked": k, "of": of} for n, (k, of) in mined.sampled.items()},
        "plain": _plain(chosen),
        "absent": {name: count for name, (count, _) in mined.unavailable.items()},
    }
    return value, table(header, rows)


def _plain(chosen: Sequence[Category]) -> list[str]:
    """Return the names of the categories that were asked at every moment."""
    return [category.name for category in chosen if category.screen is None]


def _how(mined: Mined, chosen: Sequence[Category]) -> list[str]:
    """Return what is to be known of counts, and what takes long, if anything."""
    lines = [
        f"{name} was asked at {asked} of the {of} moments that may fit, the first of each stratum; "
        "its candidates are those of them that do"
        for name, (asked, of) in mined.sampled.items()
    ]
    plain = _plain(chosen)
    if plain and len(plain) < len(chosen):
        lines.append(f"without a screen, and so asked at every moment: {', '.join(plain)}")
    return ["\n".join(lines)] if lines else []


def _strata(mined: Mined) -> str:
    """Return of each stratum, over all categories, how many were chosen of how many."""
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
