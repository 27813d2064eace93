"""`sts power`: the difference between agents that a study detects, and what a smaller one takes."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from sts.cli.command import Result, declare, option
from sts.errors import ArgumentError, DamagedData, UnknownName
from sts_analysis.commands.power_text import (
    ONE_CONTINUATION,
    SIZE,
    Row,
    describe_plans,
    name_pair,
)
from sts_analysis.commands.source import EITHER, PILOT, PilotSource, has_source, load_pilot

if TYPE_CHECKING:
    from sts_analysis.planning.pilot import Pilot
    from sts_analysis.planning.power import Assumptions, Design
    from sts_analysis.planning.race_hours import RaceShare

    Race = Callable[[Design, tuple[int, ...]], dict[int, RaceShare]]
CONTINUATIONS = (1, 2, 3, 5, 10)
"""Numbers of continuations of which the hours are listed."""


class Aim(NamedTuple):
    """The aim of a study, and the time that judging takes."""

    difference: float = option("POINTS", "difference in pass rate to detect (default: 5)", 5.0)
    power: float = option("P", "probability of detecting it (default: 0.8)", 0.8)
    seconds: float = option("S", "seconds that judging a clip takes (default: 30)", 30.0)
    goal: str = option(
        ("rank", "best", "all"),
        "why agents leave the race: all are ranked (default) or the best is found; all: none "
        "leaves",
        "rank",
    )
    n_agents: int | None = option(
        "J", "number of agents, all pairs compared (default: the pilot's, or 2)", least=2
    )


ASSUMED = {
    "rate": 0.5,
    "icc": 0.4,
    "correlation": 0.5,
    "trajectory_share": 0.5,
    "sensitivity": 0.95,
    "specificity": 0.95,
}
"""Assumptions about a study without a pilot."""
STRICTNESS, FAVOURITISM, MAX_DEVIATION = 1.2, 0.4, 5.0
"""Of the raters of translations of the WMT evaluation, in log odds; and the largest that is
planned for."""


def _size_option(name: str, meaning: str) -> Any:
    return option("N", f"{meaning} (default: the pilot's, or {SIZE[name]})", least=1)


def _assumption(name: str, meaning: str) -> Any:
    return option("P", f"without a pilot: {meaning} (default: {ASSUMED[name]})", type=float)


class Size(NamedTuple):
    """The planned size of a study, if it is not that of the pilot or `SIZE`."""

    scenarios: int | None = _size_option("scenarios", "planned number of scenarios")
    continuations: int | None = _size_option(
        "continuations", "planned continuations of each scenario by each agent"
    )
    annotations: int | None = _size_option(
        "annotations", "planned annotations of each continuation"
    )
    unit_size: int | None = _size_option(
        "unit_size", "planned scenarios of one unit, such as a trajectory"
    )


class Assumed(NamedTuple):
    """Assumptions of a study without a pilot, if they are not those of `ASSUMED`."""

    rate: float | None = _assumption("rate", "pass rate of both agents")
    icc: float | None = _assumption(
        "icc", "intraclass correlation of an agent's verdicts within scenarios"
    )
    correlation: float | None = _assumption(
        "correlation", "correlation of the agents' pass rates over scenarios"
    )
    trajectory_share: float | None = _assumption(
        "trajectory_share", "share of the variance between scenarios that belongs to the unit"
    )
    sensitivity: float | None = _assumption("sensitivity", "annotators' sensitivity")
    specificity: float | None = _assumption("specificity", "annotators' specificity")


class Judges(NamedTuple):
    """Annotators, if what other annotators than those of the study would find is planned too."""

    annotators: int | None = option(
        "K", "plan differences that hold for others too, if so many judge (default: no)", least=3
    )
    strictness: float | None = option(
        "SD",
        "how far annotators differ, in log odds of a success (default: the pilot's, or "
        f"{STRICTNESS})",
        type=float,
    )
    favouritism: float | None = option(
        "SD",
        f"how far one differs on an agent beyond that (default: the pilot's, or {FAVOURITISM})",
        type=float,
    )


_AIM, _SIZE, _ASSUMED, _JUDGES = Aim(), Size(), Assumed(), Judges()


@declare("power --scenarios 320 --continuations 5 --n-agents 6")
def power(
    workspace_path: str | None,
    *,
    source: PilotSource = PILOT,
    pair: list[str] | None = option(
        "A B", "two agents of the pilot (default: neighbours in rank)", nargs=2
    ),
    aim: Aim = _AIM,
    size: Size = _SIZE,
    assumed: Assumed = _ASSUMED,
    judges: Judges = _JUDGES,
) -> Result:
    """Plan a study: scenarios, continuations and annotations needed to find a difference."""
    import numpy as np

    from sts_analysis.planning.chances import Accuracy
    from sts_analysis.planning.pilot import find_deviations, measure
    from sts_analysis.planning.power import Assumptions, Design
    from sts_analysis.planning.race_hours import simulate_race, spread_agents

    has_pilot = has_source(source)
    stated = _list_stated(assumed)
    _check_shares(stated, has_pilot)
    for flag, value in {"--labels": source.labels, "--pair": pair}.items():
        if value and not has_pilot:
            raise ArgumentError(f"{flag} needs a pilot: {EITHER}")
    _check_aim(aim)
    _check_judges(judges, fixed=source.target == "fixed")
    given: dict[str, Any] = ASSUMED | stated
    if given["sensitivity"] + given["specificity"] <= 1:
        raise ArgumentError("--sensitivity and --specificity: expected a sum above 1, as guesses")
    if not has_pilot:
        accuracy = Accuracy(given.pop("sensitivity"), given.pop("specificity"))
        assumptions = Assumptions(
            np.array([given.pop("rate")]), np.ones(1), accuracy=accuracy, **given
        )
        design = Design(**SIZE, fixed=source.target == "fixed")
        agents = aim.n_agents or 2
        model = spread_agents(assumptions, aim.difference / 100, agents)
        race: Race = functools.partial(simulate_race, model, assumptions.share, accuracy, aim.goal)
        known = {"a": "", "b": "", "rates": model.rate[:, 0].tolist()}
        judges = _read_judges(judges, None)
        rows = [known | _plan(aim, size, assumptions, design, agents, race, judges)]
        return Result({"pairs": rows}, describe_plans(rows))
    pilot = load_pilot(source, workspace_path)
    if judges.annotators and pilot.outcomes.source != "human":
        raise ArgumentError("--annotators needs a pilot that people have judged, not its labels")
    names = [pilot.outcomes.agents[agent] for agent in pilot.ranked]
    for name in pair or ():
        if name not in names:
            raise UnknownName("ranked agent", name, names)
    pairs = [pair] if pair else list(zip(names, names[1:], strict=False))
    moments = measure(pilot.outcomes, pilot.ranked)
    chances = moments.fit_chances(pilot.accuracy), moments.share, pilot.accuracy
    # Pairs of a complete pilot have the same design.
    race = functools.cache(functools.partial(simulate_race, *chances, aim.goal))
    judges = _read_judges(judges, find_deviations(pilot, float(chances[0].rate.mean())))
    rows = [{"a": a, "b": b} | _measure(aim, size, pilot, race, judges, a, b) for a, b in pairs]
    if all("reason" in row for row in rows):
        raise DamagedData("; ".join(f"{name_pair(row)}: {row['reason']}" for row in rows))
    return Result({"pairs": rows}, describe_plans(rows))


def _list_stated(group: Size | Assumed) -> dict[str, Any]:
    return {name: value for name, value in group._asdict().items() if value is not None}


def _check_shares(stated: dict[str, float], has_pilot: bool) -> None:
    for name, value in stated.items():
        flag = "--" + name.replace("_", "-")
        if has_pilot:
            raise ArgumentError(f"{flag} is for a study without a pilot; a pilot shows it")
        closed = name != "rate"
        if not (0 <= value <= 1 if closed else 0 < value < 1):
            expected = "[0, 1]" if closed else "(0, 1)"
            raise ArgumentError(f"{flag}: expected a share in {expected}, found {value}")


def _check_aim(aim: Aim) -> None:
    if not 0 < aim.difference <= 100:
        raise ArgumentError(f"--difference: expected points in (0, 100], found {aim.difference}")
    if not aim.seconds > 0:
        raise ArgumentError(f"--seconds: expected more than 0, found {aim.seconds}")
    if not 0.05 < aim.power < 1:
        raise ArgumentError(f"--power: expected a probability in (0.05, 1), found {aim.power}")


def _check_judges(judges: Judges, *, fixed: bool) -> None:
    for name in ("strictness", "favouritism"):
        value = getattr(judges, name)
        if value is not None and judges.annotators is None:
            raise ArgumentError(f"--{name} needs --annotators")
        if value is not None and not 0 <= value <= MAX_DEVIATION:
            raise ArgumentError(f"--{name}: expected 0 to {MAX_DEVIATION:g}, found {value}")
    if judges.annotators is not None and fixed:
        raise ArgumentError("--annotators is for other scenarios; leave out --target fixed")


def _read_judges(judges: Judges, found: tuple[float, float] | None) -> Judges:
    """Return annotators who differ as those of a pilot, where nothing else is stated."""
    strictness, favouritism = found or (STRICTNESS, FAVOURITISM)
    return judges._replace(
        strictness=strictness if judges.strictness is None else judges.strictness,
        favouritism=favouritism if judges.favouritism is None else judges.favouritism,
    )


def _measure(aim: Aim, size: Size, pilot: Pilot, race: Race, judges: Judges, a: str, b: str) -> Row:
    from sts_analysis.planning.pilot import measure_pair, widen_count

    measured = measure_pair(pilot, *(pilot.outcomes.agents.index(name) for name in (a, b)))
    if isinstance(measured, str):
        return {"reason": measured}
    assumptions, design = measured
    if size.continuations is not None and math.isnan(assumptions.icc):
        raise ArgumentError(f"--continuations: what another number does is {ONE_CONTINUATION}")
    agents = aim.n_agents or len(pilot.ranked)
    row = _plan(aim, size, assumptions, design, agents, race, judges)
    row |= {"answers": pilot.answers}
    df = design.degrees_of_freedom(len(assumptions.rate))
    number = row["needed"]["scenarios"]
    return row | {"scenarios_range": None if number is None else widen_count(number, df)}


def _plan(
    aim: Aim,
    size: Size,
    assumptions: Assumptions,
    design: Design,
    agents: int,
    race: Race,
    judges: Judges,
) -> Row:
    from sts_analysis.planning.annotator_power import Pool, plan_for_others
    from sts_analysis.planning.power import plan_study

    pairs = agents * (agents - 1) // 2
    design = design._replace(**_list_stated(size), pairs=pairs, power=aim.power)
    known = assumptions._asdict() | assumptions.accuracy._asdict()
    known["rate"] = float(assumptions.share @ assumptions.rate)
    others = None
    if judges.annotators:
        assert judges.strictness is not None and judges.favouritism is not None
        pool = Pool(judges.annotators, agents, judges.strictness, judges.favouritism)
        plan = plan_for_others(assumptions, design, pool, aim.difference / 100)
        others = plan._asdict() | {"pool": pool._asdict()}
    return {
        "assumptions": {n: None if math.isnan(known[n]) else known[n] for n in ASSUMED},
        "design": design._asdict(),
        "target": aim.difference / 100,
        **plan_study(assumptions, design, aim.difference / 100)._asdict(),
        "others": others,
        "goal": aim.goal,
        "hours": _list_hours(assumptions, design, agents * aim.seconds / 3600, race),
    }


def _list_hours(assumptions: Assumptions, design: Design, each: float, race: Race) -> list[Row]:
    """List what numbers of continuations detect, and how many hours all agents take.

    `each` is the hours of one clip of each agent.
    """
    from sts_analysis.planning.power import find_difference

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
