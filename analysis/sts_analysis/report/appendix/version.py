"""How the pass rates changed from another version of the suite."""

import msgspec
import numpy as np
import pandas as pd
from markupsafe import Markup

from sts_analysis.inputs.subject import ComparedVersion, Subject
from sts_analysis.report.core import Interval, Report, Study, find_interval, html, interval, number
from sts_analysis.report.markup import render_records
from sts_analysis.report.text import list_names, point_range, points, to_html
from sts_analysis.statistics.means import Means
from sts_analysis.statistics.version_comparison import compare_versions

NAV = "Versions"


class Part(msgspec.Struct, frozen=True):
    """The pass rate over a part of both versions, not adjusted for who judged.

    Attributes:
      pass_rate: null if nothing is judged.
      interval: null below five units.
      scenarios: with something judged.
    """

    pass_rate: float | None
    interval: Interval | None
    scenarios: int


class Row(msgspec.Struct, frozen=True):
    """One agent.

    Attributes:
      agent: its name.
      old: over the other version.
      kept: over scenarios of both.
      added: over scenarios of this version alone.
      retired: over scenarios of the other alone.
      new: over this version.
      difference: new minus old.
      interval: of the difference; null if nothing judged was exchanged.
    """

    agent: str
    old: Part
    kept: Part
    added: Part
    retired: Part
    new: Part
    difference: float | None
    interval: Interval | None


class Result(msgspec.Struct, frozen=True):
    """Changes since another version.

    Attributes:
      suite: the other version.
      suite_hash: of the other version.
      kept: number of scenarios that both have.
      added: scenarios of this version alone.
      retired: scenarios of the other alone.
      best: agents that are best in this version; empty unless its report is final.
      best_before: the same of the other version.
      rows: agents in the order of the ranking.
    """

    suite: str
    suite_hash: str | None
    kept: int
    added: tuple[str, ...]
    retired: tuple[str, ...]
    best: tuple[str, ...]
    best_before: tuple[str, ...]
    rows: tuple[Row, ...]


def TITLE(report: Report) -> str:
    """Return the heading."""
    result: Result = report.version
    return f"Changes since {result.suite}"


def compute(study: Study) -> Result | None:
    """Compare the version with another; None unless one was asked for."""
    compared = study.gathered.compared
    if compared is None:
        return None
    subject = study.subject
    scenarios = subject.scenarios["scenario"].astype(str).tolist()
    names = _rename(compared, {*scenarios})
    joined = _join(study, compared, names)
    outcomes = joined.outcomes_of(study.source)
    new, old = (np.isin(outcomes.scenarios, each) for each in (scenarios, [*names.values()]))
    found = compare_versions(outcomes, old, new)
    place = {name: i for i, name in enumerate(outcomes.agents)}
    before = Study(
        study.gathered._replace(ratings=compared.ratings, suite=compared.subject, compared=None),
        study.options,
        study.provenance,
    )
    return Result(
        suite=compared.subject.name,
        suite_hash=compared.subject.hash,
        kept=int((old & new).sum()),
        added=tuple(np.array(outcomes.scenarios)[new & ~old].tolist()),
        retired=tuple(np.array(outcomes.scenarios)[old & ~new].tolist()),
        best=_list_best(study),
        best_before=_list_best(before),
        rows=tuple(
            Row(
                agent=name,
                **{part: _convert(means, place[name]) for part, means in found.rates.items()},
                difference=number(found.difference[place[name]]),
                interval=interval(found.interval[place[name]]),
            )
            for name in study.names
        ),
    )


def render(result: Result, report: Report) -> Markup:
    """Show rates over both versions and their parts."""
    table = render_records(
        result.rows,
        {
            "Agent": "agent",
            result.suite: "old.pass_rate",
            "this version": "new.pass_rate",
            "kept": "kept.pass_rate",
            "added": "added.pass_rate",
            "retired": "retired.pass_rate",
            "Difference": lambda row: points(row.difference),
            "95% interval": lambda row: point_range(row.interval),
        },
    )
    best = ""
    if result.best and result.best_before:
        best = html(
            " Best in this version: {}; in {}: {}.",
            to_html(list_names(result.best)),
            result.suite,
            to_html(list_names(result.best_before)),
        )
    return html(
        "{}<p class=cap>{:,} scenarios kept, {:,} added, {:,} retired. Rates are not adjusted for "
        "who judged. Scenarios that both versions have cancel in the difference.{}</p>",
        table,
        result.kept,
        len(result.added),
        len(result.retired),
        best,
    )


def _rename(compared: ComparedVersion, taken: set[str]) -> dict[str, str]:
    """Return the name here of each scenario of the other version, by its id there."""
    here = {there: name for name, there in compared.same.items()}
    return {
        name: here.get(name, f"{compared.subject.name}/{name}" if name in taken else name)
        for name in compared.subject.scenarios["scenario"].astype(str)
    }


def _join(study: Study, compared: ComparedVersion, names: dict[str, str]) -> Study:
    """Return a study of the scenarios of both versions, each once, as this version has them."""
    there, subject = compared.subject, study.subject
    retired = {name: new for name, new in names.items() if name not in compared.same.values()}
    ratings = compared.ratings[compared.ratings["truth"] == ""]
    ratings = ratings[ratings["scenario"].isin(retired) & ratings["agent"].isin(study.names)]
    ratings = ratings.assign(
        scenario=ratings["scenario"].astype(str).map(retired),
        continuation=ratings["continuation"] + study.ratings["continuation"].max() + 1,
    )
    alone = there.scenarios[there.scenarios["scenario"].isin(retired)]
    alone = alone.assign(scenario=alone["scenario"].astype(str).map(retired))
    groups = [*subject.together, *([names[name] for name in group] for group in there.together)]
    both = Subject(
        subject.name,
        pd.concat([subject.scenarios, alone], ignore_index=True),
        pairs={str(i): tuple(group) for i, group in enumerate(groups)},
        worlds={names.get(name, name): world for name, world in there.worlds.items()}
        | dict(subject.worlds),
    )
    table = pd.concat([study.ratings, ratings], ignore_index=True)
    return Study(study.gathered._replace(ratings=table, suite=both), study.options, {})


def _list_best(study: Study) -> tuple[str, ...]:
    claim = study.claim
    return tuple(study.outcomes.agents[a] for a in claim.best) if claim.state == "final" else ()


def _convert(means: Means, agent: int) -> Part:
    return Part(
        pass_rate=number(means.value[agent]),
        interval=find_interval(means, agent),
        scenarios=int(means.scenarios[agent]),
    )
