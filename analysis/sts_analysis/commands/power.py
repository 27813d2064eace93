"""`sts power`: what would separate two agents, from a pilot's judgements or from assumptions."""

import argparse
import math
from collections.abc import Mapping

from sts.cli.arguments import format_table
from sts.cli.command import Result
from sts.errors import ArgumentError, DamagedData
from sts_analysis.commands import piloted
from sts_analysis.commands.table import ASSUMED, SIZE
from sts_analysis.planning.noise import Size, assumed_noise
from sts_analysis.planning.pilot import Pilot
from sts_analysis.planning.power import Criterion
from sts_analysis.planning.prospect import Prospect, measured, neighbours, prospect

_UNKNOWN = {
    "continuations": "the pilot has one continuation of each scenario",
    "annotations": "nothing was judged by two people",
}
"""Why a pilot does not tell what another number of them does."""


def power(args: argparse.Namespace) -> Result:
    """Say what a study would see."""
    _check(args)
    if not piloted.given(args):
        one = _assumed(args)
        return Result({"pairs": [one.to_json()]}, _text("two agents, as assumed", one))
    pilot = piloted.load(args)
    pairs = [(args.pair[0], args.pair[1])] if args.pair else neighbours(pilot)
    prospects = {pair: _measured(args, pilot, *pair) for pair in pairs}
    known = [one for one in prospects.values() if not isinstance(one, str)]
    if not known:
        raise DamagedData("; ".join(f"{a} and {b}: {why}" for (a, b), why in prospects.items()))
    rows = [
        {"a": a, "b": b, **({"reason": one} if isinstance(one, str) else one.to_json())}
        for (a, b), one in prospects.items()
    ]
    source = "judged" if pilot.labels.source == "human" else "labelled"
    text = (
        _text(f"{args.pair[0]} and {args.pair[1]}, as {source}", *known)
        if args.pair
        else _neighbours(prospects, known[0])
    )
    return Result({"pairs": rows}, text)


def _check(args: argparse.Namespace) -> None:
    pilot = piloted.given(args)
    assumed = [name for name in ASSUMED if getattr(args, name) is not None]
    if assumed and pilot:
        raise ArgumentError(f"--{assumed[0]} is assumed without a pilot; a pilot shows it")
    for name in ("labels", "pair"):
        if getattr(args, name) and not pilot:
            raise ArgumentError(f"--{name} is for a pilot: {piloted.EITHER}")
    if not 0 < args.difference <= 100:
        raise ArgumentError(f"--difference: expected points in (0, 100], found {args.difference}")
    if not 0.05 < args.power < 1:
        raise ArgumentError(f"--power: expected a chance in (0.05, 1), found {args.power}")
    for name in assumed:
        value, ends = getattr(args, name), name in ("icc", "correlation")
        if not (0 <= value <= 1 if ends else 0 < value < 1):
            expected = "[0, 1]" if ends else "(0, 1)"
            raise ArgumentError(f"--{name}: expected a share in {expected}, found {value}")
    if sum(_chosen(args, ASSUMED)[name] for name in ("sensitivity", "specificity")) <= 1:
        raise ArgumentError("--sensitivity and --specificity: expected a sum above 1, as guesses")


def _chosen(args: argparse.Namespace, defaults: Mapping[str, float]) -> dict[str, float]:
    """What is given of some flags, else the default."""
    given = {name: getattr(args, name) for name in defaults}
    return {name: defaults[name] if value is None else value for name, value in given.items()}


def _assumed(args: argparse.Namespace) -> Prospect:
    criterion = Criterion(args.n_agents or 2, 1, args.power, args.target == "fixed")
    noise = assumed_noise(**_chosen(args, ASSUMED))
    return prospect(noise, Size(**_chosen(args, SIZE)), criterion, args.difference / 100)


def _measured(args: argparse.Namespace, pilot: Pilot, a: str, b: str) -> Prospect | str:
    seen = measured(pilot, a, b)
    if isinstance(seen, str):
        return seen
    noise, size = seen
    parts = {"continuations": noise.outcomes, "annotations": noise.judging}
    for name, part in parts.items():
        if getattr(args, name) is not None and math.isnan(part):
            raise ArgumentError(f"--{name}: not known what they do, for {_UNKNOWN[name]}")
    categories = len(pilot.labels.outcomes.categories)
    agents = args.n_agents or len(pilot.ranked)
    criterion = Criterion(agents, categories, args.power, args.target == "fixed")
    planned = Size(**_chosen(args, size._asdict()))
    return prospect(noise, planned, criterion, args.difference / 100)


def _neighbours(prospects: Mapping[tuple[str, str], Prospect | str], known: Prospect) -> str:
    rows, reasons = [], []
    for (a, b), one in prospects.items():
        if isinstance(one, str):
            reasons.append(f"{a} and {b}: {one}.")
        else:
            needs = (one.scenarios, one.continuations)
            rows.append([a, b, _points(one.smallest), *("–" if n is None else n for n in needs)])
    header = ["agent", "and the next", "seen from", "scenarios", "continuations"]
    lines = [
        _test(known),
        "",
        format_table(header, rows),
        "",
        "seen from: the smallest difference in points that the study sees as it is.",
        f"scenarios, continuations: how many see {_points(known.difference)} points, all else as "
        "it is; – where no number does, or none is known. --pair A B says more.",
    ]
    return "\n".join([*lines, *reasons])


def _text(what: str, one: Prospect) -> str:
    size = one.size
    smallest = (
        "It is too small to see any difference below 100 points."
        if one.smallest is None
        else f"The smallest difference that it sees: {_points(one.smallest)} points."
    )
    lines = [
        f"{what}: scenarios {size.scenarios:g}, continuations of each {size.continuations:.3g}, "
        f"annotations of each {size.annotations:.3g}.",
        _test(one),
        "",
        smallest,
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
            format_table(header, rows),
        ]
    return "\n".join(lines)


def _needs(one: Prospect) -> list[str]:
    """How many of each see the difference."""
    parts = {"continuations": one.noise.outcomes, "annotations": one.noise.judging}
    lines = []
    for name in SIZE:
        number = getattr(one, name)
        words = "no number of them is enough" if number is None else str(number)
        if math.isnan(parts.get(name, 0.0)):
            words = f"not known: {_UNKNOWN[name]}"
        lines.append(f"  {name:14}{words}")
    return lines


def _shares(one: Prospect) -> str:
    """Where the variance of a scenario's difference comes from."""
    noise, size = one.noise, one.size
    every = {
        "scenarios": noise.between,
        "continuations": noise.outcomes / size.continuations,
        "annotators": (noise.judging / size.continuations + noise.copies) / size.annotations,
    }
    if one.criterion.fixed:
        del every["scenarios"]
    parts = {name: part for name, part in every.items() if not math.isnan(part)}
    said = ", ".join(
        f"{part / sum(parts.values()):.0%} from {name}" for name, part in parts.items()
    )
    return f"What blurs it: {said}."


def _test(one: Prospect) -> str:
    agents = one.criterion.agents
    among = "alone" if agents == 2 else f"among all pairs of {agents} ranked agents"
    held = "these scenarios only" if one.criterion.fixed else "scenarios as a sample"
    chance = f"{one.criterion.power:g}"
    return f"A pair is compared {among}, {held}; “seen” is with a chance of {chance}."


def _points(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"
