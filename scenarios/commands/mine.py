"""`sts mine`: scenarios from the recorded trajectories into a draft."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from sts.cli.command import Command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sts.trajectories.types import Trajectory


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    parser.add_argument("name", metavar="NAME", help="of the draft")
    parser.add_argument("--per-category", type=int, default=10, metavar="N")
    parser.add_argument(
        "--category",
        action="append",
        metavar="C",
        help="only this one, a name or module:NAME; repeatable",
    )
    parser.add_argument(
        "--partner",
        metavar="P",
        help="what the others do: no-op, replay or agent:NAME (default: as the category says)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--replace", action="store_true", help="an older draft of that name")


def run(args: argparse.Namespace) -> int:
    """Mines the workspace's trajectories and writes the draft."""
    import sys
    from collections import Counter
    from dataclasses import replace

    from scenarios import categories, mining
    from sts.cli.arguments import at_least, progress, say, table
    from sts.errors import ArgumentError, StsError
    from sts.storage.workspace import Workspace
    from sts.suites import store as suites
    from sts.suites.types import DIFFICULTIES
    from sts.trajectories import store as trajectories

    workspace = Workspace.open(args.workspace)
    path = suites.draft_path(workspace, args.name)
    per_category = at_least(1, "--per-category", args.per_category)
    chosen = [categories.named(name) for name in dict.fromkeys(args.category or ())]
    if path.exists() and not args.replace:
        raise ArgumentError(f"there is a draft {args.name} already: name another, or --replace it")
    recorded = trajectories.load(workspace)
    if not args.category:
        chosen = [*categories.installed(t.episode.domain for t in recorded).values()]
    if args.partner is not None:
        chosen = [replace(category, partner=args.partner) for category in chosen]
        _check_partner(args.partner, {category.domain for category in chosen})
    test = sum(t.split == "test" for t in recorded)

    def watched(show: Callable[[int, int], None]) -> Iterator[Trajectory]:
        for done, trajectory in enumerate(recorded, 1):
            yield trajectory
            show(done, len(recorded))

    with progress("mining", "trajectories") as show:
        found = mining.mine(watched(show), chosen, per_category=per_category, seed=args.seed)
    for name, (count, reason) in found.absent.items():
        if not found.scenarios:
            raise reason.about(f"{count} trajectories of {name} cannot be mined")
        left = f"{count} trajectories of {name} are left out"
        print(f"sts: warning: {left}: {reason}", file=sys.stderr)
    if not found.scenarios and found.unfit:
        raise StsError("; ".join(f"{name}: {why}" for name, why in found.unfit.items()))
    if not found.scenarios:
        worlds = ", ".join(sorted({c.domain for c in chosen}))
        raise StsError(
            f"nothing to mine in {workspace.root}: {len(recorded)} trajectories, {test} on the "
            f"test side, none of {worlds or 'a category here'} that fits; expected some from "
            "sts record or sts trajectories import"
        )
    workspace.ensure()
    suites.write_scenarios(path, found.scenarios)
    header = ("category", "candidates", "worlds", "chosen", *DIFFICULTIES)
    rows: list[tuple[Any, ...]] = []
    for name in (c.name for c in chosen):
        own = Counter(s.difficulty for s in found.scenarios if s.category == name)
        rows.append(
            (
                name,
                found.candidates[name],
                found.worlds[name],
                own.total(),
                *(own[difficulty] for difficulty in DIFFICULTIES),
            )
        )
    short = [row[0] for row in rows if row[3] < per_category]
    for name in short:
        why = f"has fewer than {per_category} worlds to offer"
        if name in found.unfit:
            why = f"leaves scenarios out: {found.unfit[name]}"
        print(f"sts: warning: {name} {why}", file=sys.stderr)
    text = "\n".join(
        (
            f"{len(found.scenarios)} scenarios from {test} trajectories on the test side",
            "",
            table(header, rows),
            "",
            f"-> {path}",
            f"next: sts suite freeze {args.name}",
        )
    )
    value = {
        "draft": args.name,
        "file": str(path),
        "categories": [dict(zip(header, row, strict=True)) for row in rows],
        "short": short,
        "absent": {name: count for name, (count, _) in found.absent.items()},
    }
    say(args.json, value, text)
    return 0


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
