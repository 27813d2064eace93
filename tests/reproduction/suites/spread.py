"""How far packaged suites of Λ* spread the agents of a list that was fixed before.

    python -m tests.reproduction.suites.spread SUITE [SUITE ...] [--also AGENT] [--svg FILE]

By the automatic labels of ten continuations of each agent; not judged by people. Agents of `--also`
are shown, and do not count.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import altair as alt
import pandas as pd

from sts import agents
from sts.errors import ArgumentError, StsError
from sts.storage.workspace import Workspace
from sts.suites import suite_store as store
from sts.suites.suite import Suite
from sts_lambda_star.categories import SPREAD
from sts_scenarios.rules.profiles import compute_profiles
from tests.reproduction.suites.measured import table

LOW, HIGH, HALF = 0.1, 0.9, 0.5
"""The range of pass rates in which agents should lie close together, and what passing means."""


class Spread(NamedTuple):
    """How far a suite spreads agents."""

    rates: dict[str, float]  # by agent, the lowest first
    passed_by: list[int]  # of each scenario, the agents of the list that pass it
    alone: dict[str, int]  # by agent, the scenarios that it alone passes
    gaps: list[float]  # between neighbours, from LOW to HIGH
    middle: dict[str, list[str]]  # by category, the agents of the list from LOW to HIGH

    @property
    def lonely_share(self) -> float:
        """Share of the scenarios that one agent alone passes."""
        return self.passed_by.count(1) / len(self.passed_by)


def measure_spread(
    passed: Mapping[str, Sequence[float]], asked: Sequence[str], listed: Sequence[str] = SPREAD
) -> Spread:
    """Return the spread of agents by their pass rates on each scenario, of the categories `asked`.

    Raises:
      ArgumentError: no agent of the list lies between LOW and HIGH.
    """
    rates = {name: sum(row) / len(row) for name, row in passed.items()}
    rates = dict(sorted(rates.items(), key=lambda item: item[1]))
    every = zip(*(passed[name] for name in listed), strict=True)
    by = [[n for n, rate in zip(listed, row, strict=True) if rate >= HALF] for row in every]
    alone = {name: by.count([name]) for name in listed}
    inner = [LOW, *(r for n, r in rates.items() if n in listed and LOW < r < HIGH), HIGH]
    if len(inner) == 2:
        raise ArgumentError(
            f"no agent of the list passes between {LOW:.0%} and {HIGH:.0%}: the list spans nothing"
        )
    gaps = [b - a for a, b in itertools.pairwise(inner)]
    middle = {}
    for category in sorted({*asked}):
        rows = [n for n, name in enumerate(asked) if name == category]
        means = {name: sum(passed[name][n] for n in rows) / len(rows) for name in listed}
        middle[category] = [name for name in listed if LOW <= means[name] <= HIGH]
    return Spread(rates, [len(names) for names in by], alone, gaps, middle)


def load_spread(suite: Suite, also: Sequence[str] = ()) -> Spread:
    """Return the spread of the listed agents, and of others, over a suite."""
    made = [one.profile for one in compute_profiles(suite.scenarios, (*SPREAD, *also))]
    passed = {
        name: [one.passed[name].successes / one.passed[name].of for one in made]
        for name in (*SPREAD, *(agents.load(name).name for name in also))
    }
    return measure_spread(passed, [scenario.category for scenario in suite.scenarios])


def text(suites: Mapping[str, Spread]) -> str:
    """Return the tables of agents by pass rate and of scenarios by how many agents pass them."""
    last = [*suites.values()][-1]
    rows = [(f"`{n}`", *(f"{own.rates[n]:.2f}" for own in suites.values())) for n in last.rates]
    names = ("none", "one", *map(str, range(2, len(SPREAD) + 1)))
    counts = [
        (name, *(str(own.passed_by.count(number)) for own in suites.values()))
        for number, name in enumerate(names)
    ]
    parts = [table(("agent", *suites), rows), table(("passed by", *suites), counts)]
    for label, own in suites.items():
        alone = ", ".join(f"{n} {count}" for n, count in own.alone.items() if count)
        parts.append(
            f"{label}: {len(own.passed_by)} scenarios; largest gap {max(own.gaps):.3f}; passed by "
            f"one agent alone {own.lonely_share:.0%} ({alone})."
        )
    middle = [(f"`{n}`", str(len(own)) if own else "none") for n, own in last.middle.items()]
    parts.append(table(("category", f"agents from {LOW:.0%} to {HIGH:.0%}"), middle))
    return "\n\n".join(parts)


def draw(suites: Mapping[str, Spread]) -> alt.HConcatChart:
    """Draw agents by pass rate, and scenarios by how many agents pass them."""
    rates = pd.DataFrame(
        [
            {"suite": label, "pass rate": rate, "agents": "listed" if name in SPREAD else "trained"}
            for label, own in suites.items()
            for name, rate in own.rates.items()
        ]
    )
    counts = pd.DataFrame(
        [
            {"suite": label, "agents": n, "share": own.passed_by.count(n) / len(own.passed_by)}
            for label, own in suites.items()
            for n in range(len(SPREAD) + 1)
        ]
    )
    by_rate = (
        alt.Chart(rates, title="Agents by pass rate", width=330, height=110)
        .mark_point(filled=True, size=60, opacity=0.7)
        .encode(
            alt.X("pass rate", scale=alt.Scale(domain=[0, 1])).axis(format="%"),
            alt.Y("suite", title=None),
            alt.Shape("agents", title=None).legend(orient="bottom"),
        )
    )
    scenarios = (
        alt.Chart(counts, title="Scenarios by how many agents pass them", width=330, height=110)
        .mark_bar(opacity=0.7)
        .encode(
            alt.X("agents:O", title="agents that pass at least half of their continuations"),
            alt.Y("share", title="share of scenarios").axis(format="%"),
            alt.XOffset("suite"),
            alt.Color("suite", title=None).legend(orient="bottom"),
        )
    )
    return by_rate | scenarios


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="spread", description=__doc__)
    parser.add_argument("suite", nargs="+", metavar="NAME@VERSION")
    parser.add_argument("--also", action="append", default=[], metavar="AGENT")
    parser.add_argument("--svg", type=Path)
    args = parser.parse_args(argv)
    try:
        suites = {
            label: load_spread(store.load(Workspace.open("workspace"), label), args.also)
            for label in args.suite
        }
    except StsError as error:
        print(f"spread: {error}", file=sys.stderr)
        return error.exit_code
    print(text(suites))
    if args.svg:
        draw(suites).save(args.svg)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
