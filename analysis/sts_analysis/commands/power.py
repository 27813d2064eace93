"""`sts power`: the difference between agents that a study detects, and what a smaller one takes."""

import argparse
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sts.cli.arguments import format_table
from sts.cli.command import Result
from sts.errors import ArgumentError, DamagedData, UnknownName
from sts_analysis.commands.source import EITHER, has_source, load_pilot
from sts_analysis.commands.table import ASSUMED, SIZE
from sts_analysis.planning.chances import Accuracy
from sts_analysis.planning.pilot import Pilot, measure, measure_pair, widen_count
from sts_analysis.planning.power import Assumptions, Design, find_difference, plan_study
from sts_analysis.planning.race_hours import RaceShare, simulate_race, spread_agents

Row = dict[str, Any]
Race = Callable[[Design, tuple[int, ...]], dict[int, RaceShare]]
CONTINUATIONS = (1, 2, 3, 5, 10)
"""Numbers of continuations of which the hours are listed."""
_HOURS = "hours", "hours_racing"
_ONE_CONTINUATION = "not known: the pilot has one continuation of each scenario"


def power(args: argparse.Namespace) -> Result:
    """Show what a study detects."""
    has_pilot = has_source(args)
    _check(args, has_pilot)
    if not has_pilot:
        given = {name: _get(args, name, value) for name, value in ASSUMED.items()}
        accuracy = Accuracy(given.pop("sensitivity"), given.pop("specificity"))
        assumptions = Assumptions(
            np.array([given.pop("rate")]), np.ones(1), accuracy=accuracy, **given
        )
        design = Design(**SIZE, fixed=args.target == "fixed")
        agents = args.n_agents or 2
        model = spread_agents(assumptions, args.difference / 100, agents)
        race: Race = functools.partial(simulate_race, model, assumptions.share, accuracy, args.goal)
        known = {"a": "", "b": "", "rates": model.rate[:, 0].tolist()}
        rows = [known | _plan(args, assumptions, design, agents, race)]
        return Result({"pairs": rows}, _describe(rows))
    pilot = load_pilot(args)
    names = [pilot.outcomes.agents[agent] for agent in pilot.ranked]
    for name in args.pair or ():
        if name not in names:
            raise UnknownName("ranked agent", name, names)
    pairs = [args.pair] if args.pair else list(zip(names, names[1:], strict=False))
    moments = measure(pilot.outcomes, pilot.ranked)
    chances = moments.fit_chances(pilot.accuracy), moments.share, pilot.accuracy
    # Pairs of a complete pilot have the same design.
    race = functools.cache(functools.partial(simulate_race, *chances, args.goal))
    rows = [{"a": a, "b": b} | _measure(args, pilot, race, a, b) for a, b in pairs]
    if all("reason" in row for row in rows):
        raise DamagedData("; ".join(f"{_name(row)}: {row['reason']}" for row in rows))
    return Result({"pairs": rows}, _describe(rows))


def _check(args: argparse.Namespace, has_pilot: bool) -> None:
    shares = {name: value for name in ASSUMED if (value := getattr(args, name)) is not None}
    for name, value in shares.items():
        flag = "--" + name.replace("_", "-")
        if has_pilot:
            raise ArgumentError(f"{flag} is for a study without a pilot; a pilot shows it")
        closed = name != "rate"
        if not (0 <= value <= 1 if closed else 0 < value < 1):
            expected = "[0, 1]" if closed else "(0, 1)"
            raise ArgumentError(f"{flag}: expected a share in {expected}, found {value}")
    for name in ("labels", "pair"):
        if getattr(args, name) and not has_pilot:
            raise ArgumentError(f"--{name} needs a pilot: {EITHER}")
    if not 0 < args.difference <= 100:
        raise ArgumentError(f"--difference: expected points in (0, 100], found {args.difference}")
    if not args.seconds > 0:
        raise ArgumentError(f"--seconds: expected more than 0, found {args.seconds}")
    if not 0.05 < args.power < 1:
        raise ArgumentError(f"--power: expected a probability in (0.05, 1), found {args.power}")
    if sum((ASSUMED | shares)[name] for name in ("sensitivity", "specificity")) <= 1:
        raise ArgumentError("--sensitivity and --specificity: expected a sum above 1, as guesses")


def _get(args: argparse.Namespace, name: str, default: float) -> Any:
    value = getattr(args, name)
    return default if value is None else value


def _measure(args: argparse.Namespace, pilot: Pilot, race: Race, a: str, b: str) -> Row:
    measured = measure_pair(pilot, *(pilot.outcomes.agents.index(name) for name in (a, b)))
    if isinstance(measured, str):
        return {"reason": measured}
    assumptions, design = measured
    if args.continuations is not None and math.isnan(assumptions.icc):
        raise ArgumentError(f"--continuations: what another number does is {_ONE_CONTINUATION}")
    agents = args.n_agents or len(pilot.ranked)
    row = _plan(args, assumptions, design, agents, race) | {"answers": pilot.answers}
    df = design.degrees_of_freedom(len(assumptions.rate))
    number = row["needed"]["scenarios"]
    return row | {"scenarios_range": None if number is None else widen_count(number, df)}


def _plan(
    args: argparse.Namespace, assumptions: Assumptions, design: Design, agents: int, race: Race
) -> Row:
    size = {name: _get(args, name, getattr(design, name)) for name in SIZE}
    design = design._replace(**size, pairs=agents * (agents - 1) // 2, power=args.power)
    known = assumptions._asdict() | assumptions.accuracy._asdict()
    known["rate"] = float(assumptions.share @ assumptions.rate)
    return {
        "assumptions": {n: None if math.isnan(known[n]) else known[n] for n in ASSUMED},
        "design": design._asdict(),
        "target": args.difference / 100,
        **plan_study(assumptions, design, args.difference / 100)._asdict(),
        "goal": args.goal,
        "hours": _list_hours(assumptions, design, agents * args.seconds / 3600, race),
    }


def _list_hours(assumptions: Assumptions, design: Design, each: float, race: Race) -> list[Row]:
    """List what numbers of continuations detect, and how many hours all agents take.

    `each` is the hours of one clip of each agent.
    """
    if math.isnan(assumptions.icc):
        return []
    shares = race(design._replace(continuations=1), CONTINUATIONS)
    rows = []
    for number in CONTINUATIONS:
        one, share = design._replace(continuations=number), shares.get(number)
        hours = one.verdicts * each
        row = {"continuations": number, "difference": find_difference(assumptions, one)}
        racing = None if share is None else share.judged * hours
        rows.append(row | {"hours": hours, "hours_racing": racing})
    return rows


def _describe(rows: list[Row]) -> str:
    known = [row for row in rows if "reason" not in row]
    first, points = known[0], f"{100 * known[0]['target']:g} points"
    design = first["design"]
    pairs = "one comparison" if design["pairs"] == 1 else f"{design['pairs']} comparisons, Holm"
    target = "these scenarios only" if design["fixed"] else "other scenarios like these"
    header = ["agents", *SIZE, "detectable difference", "power", f"scenarios for {points}"]
    header = [word.replace("_", " ") for word in header]
    lines = [
        f"Test at 5% ({pairs}) for {target}, with power {design['power']:.0%}.",
        "",
        format_table(header, [_list_cells(row) for row in known]),
        "",
        "Detectable difference: the minimum, in points. Power: simulated at that difference, with "
        "its standard error.",
        *(f"{_name(row)}: {row['reason']}." for row in rows if "reason" in row),
    ]
    if len(rows) > 1:
        return "\n".join([*lines, "--pair A B shows more of one pair."])
    shown = {name: value for name, value in first["assumptions"].items() if value is not None}
    texts = ", ".join(f"{name.replace('_', ' ')} {value:.2f}" for name, value in shown.items())
    source = f"From the pilot and {first.get('answers')} answers to references"
    shares = ", ".join(f"{share:.0%} between {name}" for name, share in first["shares"].items())
    lines += [
        f"{source if 'answers' in first else 'Assumed'}: {texts}.",
        f"Variance of the difference: {shares}.",
    ]
    if rows_of_hours := first["hours"]:
        cells = [
            (
                row["continuations"],
                "none" if row["difference"] is None else f"{100 * row['difference']:.1f}",
                *(f"{row[name]:.0f}" for name in _HOURS if row[name] is not None),
            )
            for row in rows_of_hours
        ]
        columns = ("continuations", "detectable difference", "hours", "hours with racing")
        lines += ["", format_table(columns[: len(cells[0])], cells), ""]
        lines.append(
            "Hours: of judging all agents, if no two continuations look alike; see --seconds."
        )
        if rows_of_hours[0]["hours_racing"] is not None:
            lines.append(_describe_race(first))
        elif first["goal"] != "all":
            lines.append("Racing: not simulated, as the study is too large.")
    for name in ("continuations", "annotations"):
        text = str(first["needed"][name] or "no number suffices")
        if name == "continuations" and "icc" not in shown:
            text = _ONE_CONTINUATION
        lines.append(f"{name.capitalize()} for {points}, all else the same: {text}.")
    return "\n".join(lines)


def _describe_race(row: Row) -> str:
    rates = "those of the pilot"
    if "rates" in row:
        low, high = row["rates"][-1], row["rates"][0]
        points = f"{100 * row['target']:g} points"
        rates = f"{low:.2f} to {high:.2f}, neighbours {points} apart within 0.02 to 0.98"
    what = "all pairs of agents" if row["goal"] == "rank" else "which agent is best"
    return f"Racing: the mean of simulated studies, to resolve {what}. True rates: {rates}."


def _list_cells(row: Row) -> list[Any]:
    difference, number = row["difference"], row["needed"]["scenarios"]
    ends = row.get("scenarios_range") or [number or "none suffices"]
    return [
        _name(row),
        *(str(round(row["design"][name], 2)) for name in SIZE),
        "none" if difference is None else f"{100 * difference:.1f}",
        "–" if row["power"] is None else f"{row['power']:.2f} ± {row['power_error']:.2f}",
        " to ".join(str(end) for end in ends),
    ]


def _name(row: Row) -> str:
    return f"{row['a']}, {row['b']}" if row["a"] else "two, as assumed"
