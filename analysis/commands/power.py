"""`sts power`: what would separate two agents, from a pilot's judgements or from assumptions."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from sts.cli.command import Command
from sts.errors import ArgumentError, DamagedData

if TYPE_CHECKING:
    from analysis.planning.prospect import Pilot, Prospect

_ASSUMED = {"rate": 0.5, "icc": 0.4, "correlation": 0.5, "sensitivity": 0.95, "specificity": 0.95}
_SIZE = {"scenarios": 160, "continuations": 3, "annotations": 1}


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "suite", nargs="?", metavar="NAME@VERSION", help="a suite judged in part, as the pilot"
    )
    parser.add_argument("--table", metavar="FILE", help="a pilot's ratings table (default: none)")
    parser.add_argument(
        "--pair", nargs=2, metavar=("A", "B"), help="of a pilot (default: neighbours in rank)"
    )
    parser.add_argument(
        "--difference", type=float, default=5.0, metavar="POINTS", help="to be seen (default: 5)"
    )
    parser.add_argument(
        "--power", type=float, default=0.8, metavar="P", help="chance to see it (default: 0.8)"
    )
    parser.add_argument(
        "--target",
        choices=("sampled", "fixed"),
        default="sampled",
        help="whether the scenarios are a sample (default) or all that matter",
    )
    parser.add_argument(
        "--labels",
        choices=("human", "automatic", "model"),
        help="whose, of a pilot (default: those that its report rests on)",
    )
    parser.add_argument(
        "--agents", type=int, metavar="J", help="compared, all pairs (default: the pilot's, or 2)"
    )
    for name, value in _SIZE.items():
        default = f"(default: the pilot's, or {value})"
        parser.add_argument(f"--{name}", type=int, metavar="N", help=f"planned {default}")
    says = {
        "rate": "without a pilot: pass rate of both",
        "icc": "likewise: intraclass correlation of each, how much the scenario decides",
        "correlation": "likewise: of the two agents' rates across scenarios",
        "sensitivity": "likewise: share of successes that annotators see",
        "specificity": "likewise: share of the others that they see",
    }
    for name, text in says.items():
        default = f"(default: {_ASSUMED[name]})"
        parser.add_argument(f"--{name}", type=float, metavar="P", help=f"{text} {default}")


def _run(args: argparse.Namespace) -> int:
    _check(args)
    from sts.cli.arguments import say

    if args.suite is None and args.table is None:
        prospect = _assumed(args)
        say(args.json, {"pairs": [prospect.to_json()]}, _told("two agents, as assumed", prospect))
        return 0
    piloted = _pilot(args)
    pairs = [tuple(args.pair)] if args.pair else list(pairwise(piloted.ranked))
    prospects = {pair: _piloted(args, piloted, *pair) for pair in pairs}
    seen = {pair: one for pair, one in prospects.items() if one is not None}
    if not seen:
        raise DamagedData("expected two agents with two scenarios judged for both, found none yet")
    rows = [{"a": a, "b": b, **(one.to_json() if one else {})} for (a, b), one in prospects.items()]
    if args.pair:
        source = "judged" if piloted.labels.source == "human" else "labelled"
        text = _told(f"{args.pair[0]} and {args.pair[1]}, as {source}", *seen.values())
    else:
        text = _neighbours(prospects, next(iter(seen.values())))
    say(args.json, {"pairs": rows}, text)
    return 0


def _check(args: argparse.Namespace) -> None:
    from sts.cli.arguments import at_least

    if args.suite is not None and args.table is not None:
        raise ArgumentError("give a suite, NAME@VERSION, or --table FILE, or neither")
    assumed = [name for name in _ASSUMED if getattr(args, name) is not None]
    if assumed and (args.suite or args.table):
        raise ArgumentError(f"--{assumed[0]} is assumed without a pilot; a pilot shows it")
    if args.labels and not (args.suite or args.table):
        raise ArgumentError("--labels is for a pilot: give a suite, NAME@VERSION, or --table FILE")
    if args.pair and not (args.suite or args.table):
        raise ArgumentError("--pair is for a pilot: give a suite, NAME@VERSION, or --table FILE")
    if not 0 < args.difference <= 100:
        raise ArgumentError(f"--difference: expected points in (0, 100], found {args.difference}")
    if not 0.05 < args.power < 1:
        raise ArgumentError(f"--power: expected a chance in (0.05, 1), found {args.power}")
    if args.agents is not None:
        at_least(2, "--agents", args.agents)
    for name in _SIZE:
        if getattr(args, name) is not None:
            at_least(1, f"--{name}", getattr(args, name))
    for name in _ASSUMED:
        value = getattr(args, name)
        inside = name in ("icc", "correlation")
        if value is not None and not (0 <= value <= 1 if inside else 0 < value < 1):
            ends = "[0, 1]" if inside else "(0, 1)"
            raise ArgumentError(f"--{name}: expected a share in {ends}, found {value}")
    if sum(getattr(args, name) or _ASSUMED[name] for name in ("sensitivity", "specificity")) <= 1:
        raise ArgumentError("--sensitivity and --specificity: expected a sum above 1, as guesses")


def _assumed(args: argparse.Namespace) -> Prospect:
    from analysis.planning.noise import Size, assumed_noise
    from analysis.planning.power import Criterion
    from analysis.planning.prospect import prospect

    chosen = {
        name: value if (value := getattr(args, name)) is not None else default
        for name, default in _ASSUMED.items()
    }
    size = Size(*(getattr(args, name) or default for name, default in _SIZE.items()))
    criterion = Criterion(args.agents or 2, 1, args.power, args.target == "fixed")
    return prospect(assumed_noise(**chosen), size, criterion, args.difference / 100)


def _pilot(args: argparse.Namespace) -> Pilot:
    from analysis.inputs.either import gather_either
    from analysis.planning.prospect import pilot

    gathered = gather_either(args.suite, args.table and Path(args.table), args.workspace)
    return pilot(gathered.ratings, gathered.suite, target=args.target, source=args.labels)


def _piloted(args: argparse.Namespace, piloted: Pilot, a: str, b: str) -> Prospect | None:
    from analysis.planning.power import Criterion
    from analysis.planning.prospect import measured, prospect

    found = measured(piloted, a, b)
    if found is None:
        return None
    noise, size = found
    chosen = {name: getattr(args, name) for name in _SIZE if getattr(args, name) is not None}
    categories = len(piloted.labels.outcomes.categories)
    agents = args.agents or len(piloted.ranked)
    criterion = Criterion(agents, categories, args.power, args.target == "fixed")
    return prospect(noise, size._replace(**chosen), criterion, args.difference / 100)


def _neighbours(prospects: Mapping[tuple[str, ...], Prospect | None], first: Prospect) -> str:
    from sts.cli.arguments import table

    rows = [
        [*pair, "too few are judged", "", ""]
        if one is None
        else [*pair, _points(one.smallest), _many(one.scenarios), _many(one.continuations)]
        for pair, one in prospects.items()
    ]
    points = _points(first.difference)
    header = ["agent", "and the next", "seen from", "scenarios", "continuations"]
    return (
        f"{_test(first)}\n\n{table(header, rows)}\n\n"
        "seen from: the smallest difference in points that the study sees as it is.\n"
        f"scenarios, continuations: how many see {points} points, all else as it is; – where no "
        "number does. --pair A B says more."
    )


def _told(what: str, one: Prospect) -> str:
    from sts.cli.arguments import table

    size = one.size
    lines = [
        f"{what}: scenarios {size.scenarios:g}, continuations of each {size.continuations:.3g}, "
        f"annotations of each {size.annotations:.3g}.",
        _test(one),
        "",
        f"The smallest difference that it sees: {_points(one.smallest)} points.",
        _shares(one),
        "",
        f"To see {_points(one.difference)} points, all else the same:",
        *_needs(one),
    ]
    if one.anchors is not None:
        lines += [
            "",
            f"Where different people judge the two: {one.anchors} clips judged by both groups "
            "(anchors) leave the adjusted interval at most a tenth wider.",
        ]
    if one.splits:
        rows = [[way.scenarios, way.continuations, _points(way.difference)] for way in one.splits]
        header = ["scenarios", "continuations", "seen from"]
        lines += [
            "",
            f"{size.judgements:.0f} judgements of the two, one annotation each, spent otherwise:",
            table(header, rows),
        ]
    return "\n".join(lines)


def _needs(one: Prospect) -> list[str]:
    least = {
        "scenarios": one.scenarios,
        "continuations": one.continuations,
        "annotations": one.annotations,
    }
    noise = {
        "scenarios": 0.0,
        "continuations": one.noise.outcomes,
        "annotations": one.noise.judging,
    }
    missing = {
        "continuations": "not known: the pilot has one continuation of each scenario",
        "annotations": "not known: nothing was judged by two people",
    }
    return [
        f"  {name:14}"
        + (
            missing[name]
            if math.isnan(noise[name])
            else "no number of them is enough"
            if value is None
            else str(value)
        )
        for name, value in least.items()
    ]


def _shares(one: Prospect) -> str:
    """Where the variance of a scenario's difference comes from."""
    noise, size = one.noise, one.size
    every = {
        "scenarios": 0.0 if one.criterion.fixed else noise.between,
        "continuations": noise.outcomes / size.continuations,
        "annotators": noise.judging / (size.continuations * size.annotations),
    }
    parts = {name: part for name, part in every.items() if not math.isnan(part)}
    total = sum(parts.values())
    if not total:
        return "Nothing blurs it: no spread is seen."
    said = ", ".join(f"{part / total:.0%} from {name}" for name, part in parts.items())
    return f"What blurs it: {said}."


def _test(one: Prospect) -> str:
    among = (
        "alone"
        if one.criterion.agents == 2
        else f"among all pairs of {one.criterion.agents} ranked agents"
    )
    held = "these scenarios only" if one.criterion.fixed else "scenarios as a sample"
    return (
        f"A pair is compared {among}, {held}; “seen” is with a chance of {one.criterion.power:g}."
    )


def _points(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def _many(number: int | None) -> str | int:
    return "–" if number is None else number


COMMAND = Command(
    summary="what would separate agents: scenarios, continuations, annotations",
    example="sts power --scenarios 320 --continuations 5 --agents 6",
    configure=_configure,
    run=_run,
)
