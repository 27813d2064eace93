"""`sts selfcheck`: what the report's intervals cover in the user's own design, by simulation."""

from __future__ import annotations

import argparse
import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sts.cli.command import Command
from sts.errors import ArgumentError

if TYPE_CHECKING:
    from analysis.planning.selfcheck import Checked


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "suite", nargs="?", metavar="NAME@VERSION", help="a suite that is judged, if only in part"
    )
    parser.add_argument("--table", metavar="FILE", help="or a ratings table (default: none)")
    parser.add_argument(
        "--target",
        choices=("sampled", "fixed"),
        default="sampled",
        help="of comparisons and ranks: scenarios as a sample (default), or these only",
    )
    parser.add_argument(
        "--labels",
        choices=("human", "automatic", "model"),
        help="whose (default: those that the report rests on)",
    )
    parser.add_argument(
        "--studies", type=int, default=200, metavar="N", help="simulated a case (default: 200)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="of every random draw (default: 0)"
    )


def _run(args: argparse.Namespace) -> int:
    if (args.suite is None) == (args.table is None):
        raise ArgumentError("give either a suite, NAME@VERSION, or --table FILE")
    from sts.cli.arguments import at_least, progress, say

    at_least(0, "--seed", args.seed)
    at_least(20, "--studies", args.studies)
    from analysis.inputs.either import gather_either
    from analysis.planning.prospect import pilot
    from analysis.planning.selfcheck import cases, check, smallest_difference
    from analysis.planning.world import design_of

    gathered = gather_either(args.suite, args.table and Path(args.table), args.workspace)
    piloted = pilot(gathered.ratings, gathered.suite, target=args.target, source=args.labels)
    design = design_of(piloted.labels, piloted.ratings)
    smallest = smallest_difference(design, target=args.target, seed=args.seed)
    every = list(cases(design, target=args.target, difference=smallest))
    found = []
    with progress("simulating", "studies") as show:
        for i, (case, changed) in enumerate(every):
            before, whole = i * args.studies, len(every) * args.studies
            tell = functools.partial(_add, show, before, whole)
            found.append(
                check(
                    case,
                    changed,
                    target=args.target,
                    studies=args.studies,
                    seed=args.seed,
                    show=tell,
                )
            )
    size: dict[str, Any] = {
        "agents": len(design.agents),
        "scenarios": len(design.category),
        "judgements": len(design.cell),
        "annotators": len(design.sensitivity),
    }
    value = {
        "design": size,
        "target": args.target,
        "smallest_difference": smallest,
        "cases": [{key: _known(part) for key, part in one._asdict().items()} for one in found],
    }
    say(args.json, value, _told(gathered.suite.name, size, found, args.target, smallest))
    return 0


def _add(show: Callable[[int, int], None], before: int, whole: int, over: int) -> None:
    show(before + over, whole)


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _told(
    name: str, size: dict[str, Any], found: list[Checked], target: str, smallest: float | None
) -> str:
    from sts.cli.arguments import table

    header = ["case", "sampled", "fixed", "faultless", "difference", "rank sets", "false", "seen"]
    rows = [
        [
            one.case,
            *(_share(one.rates[key]) for key in ("sampled", "fixed")),
            _share(one.true_rates),
            _share(one.differences),
            _share(one.rank_sets),
            _share(one.separated),
            _share(one.seen),
        ]
        for one in found
    ]
    said = ", ".join(f"{part} {number}" for part, number in size.items())
    off = 1.96 * math.sqrt(0.95 * 0.05 / found[0].studies)
    smallest_words = (
        "No difference below 100 points is seen four times in five."
        if smallest is None
        else f"The smallest difference seen four times in five is {100 * smallest:.1f} points by "
        "formula, for agents of the mean rate; “seen” is how often it was."
    )
    return "\n".join(
        [
            f"{name}: {said}; {found[0].studies} studies of this design simulated a case.",
            f"95% is promised; by chance a share of these studies lies within {off:.3f} of it.",
            "",
            table(header, rows),
            "",
            "sampled, fixed: how often a pass rate's interval held for that target, as these "
            "annotators judge.",
            f"faultless: how often the {target} one held what faultless annotators would say.",
            f"difference, rank sets ({target}): of a pair alone; of all agents at once.",
            "false: how often any two agents that are alike were called different; 0.05 is meant.",
            smallest_words,
        ]
    )


def _share(share: float | None) -> str:
    return "–" if share is None or math.isnan(share) else f"{share:.3f}"


COMMAND = Command(
    summary="what intervals cover in your own design, by simulating it",
    example="sts selfcheck {suite} --labels automatic --studies 100",
    configure=_configure,
    run=_run,
)
