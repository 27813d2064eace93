"""The tables of what packaged suites of Λ* measure: their gates, dimensions and rank agreement.

    python -m tests.reproduction.suites.measured SUITE [SUITE ...] [--quality-checks] [--svg FILE]

By ten continuations of each agent of the list that was fixed before; not judged by people.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import altair as alt
import pandas as pd

from sts.errors import StsError
from sts.storage.workspace import Workspace
from sts.suites import suite_store as store
from sts.suites.suite import DIFFICULTIES, Suite
from sts_analysis.report.appendix.dimensions import MAX_SHOWN, Result
from sts_analysis.report.text import decimal, decimal_range, to_plain
from sts_lambda_star.categories import AGENTS, CURATION
from sts_scenarios.rules import categories, quality_checks
from sts_scenarios.rules.profiles import Profile, compute_profiles
from tests.reproduction.suites.dimensions import agreements, pass_rates, report_dimensions

_POOL = ("open loop", "local-search", "reward-with-memory", "shortcut", "solver")
_SUITE = ("scenarios of one answer", "passed by all or none", "pairs of one profile")


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def of_gates(suite: Suite, made: Mapping[str, Profile]) -> str:
    """Return the gates of each category of a suite; what is not within its limit has a star.

    Those of a pool are not held to it by ten scenarios, of which some constant answer passes two.
    """
    rules = categories.scenario_categories(suite.scenarios)
    levels = [f"mid-level agents, {one}" for one in DIFFICULTIES]
    header = ("category", "scenarios", *_POOL, *_SUITE, *(f"mid, {d}" for d in DIFFICULTIES))
    rows = []
    for name, count in sorted(Counter(s.category for s in suite.scenarios).items()):
        own = [one for one in suite.scenarios if one.category == name]
        each = quality_checks.check_category(rules[name], own)
        each += quality_checks.check_suite(own, rules, [made[one.hash] for one in own])
        figure = {
            row.name: f"{row.figure:.2f}".removesuffix(".00" if row.name in _SUITE[:2] else "")
            + ("" if row.is_passed or row.name in _POOL else "*")
            for row in each
        }
        cells = [figure.get(one, "") for one in (*_POOL, *_SUITE, *levels)]
        rows.append((f"`{name}`", str(count), *cells))
    return table(header, rows)


def of_dimensions(found: Result) -> str:
    """Return the eigenvalues that a report shows next to those of a single dimension."""
    rows = [
        (
            str(row.eigenvalue),
            decimal(row.observed),
            decimal(row.null_median),
            decimal_range(row.null_band),
        )
        for row in found.rows[:MAX_SHOWN]
    ]
    header = ("eigenvalue", "observed", "null median", "95% band")
    return f"{table(header, rows)}\n\n{to_plain(found.claim)}"


def draw_dimensions(found: Result) -> alt.LayerChart:
    """Draw these eigenvalues, and the bands of those of a single dimension."""
    rows = [(row.eigenvalue, row.observed, *row.null_band) for row in found.rows[:MAX_SHOWN]]
    shown = pd.DataFrame(rows, columns=["eigenvalue", "observed", "low", "high"])
    title = "Observed (dots), and 95% of the null (bars)"
    chart = alt.Chart(shown, title=title, width=420, height=200)
    across = alt.X("eigenvalue:O", title="eigenvalue, the largest first").axis(labelAngle=0)
    root = alt.Scale(type="sqrt")
    bars = chart.mark_bar(width=12, opacity=0.5).encode(
        across, alt.Y("low", scale=root, title=None), alt.Y2("high")
    )
    dots = chart.mark_point(filled=True, size=70, opacity=1).encode(
        across, alt.Y("observed", scale=root)
    )
    return bars + dots


def text(suite: Suite, made: Mapping[str, Profile], found: Result, *, with_gates: bool) -> str:
    """Return the tables of a suite."""
    tau, rates = agreements(suite.scenarios, made, CURATION), pass_rates(suite.scenarios, made)
    passed = [(f"`{c}`", *(f"{own[a]:.2f}" for a in AGENTS)) for c, own in sorted(rates.items())]
    parts = [f"## {suite.label}", table(("category", *AGENTS), passed), of_dimensions(found)]
    parts += [of_gates(suite, made)] if with_gates else []
    parts.append(
        f"Kendall's tau-b over scenarios, between agents with a say and those held out: "
        f"{tau.scenarios:.2f}. Between what was chosen by effect and the rest, over the agents "
        f"with a say: {tau.choosing:.2f}; over those held out: {tau.held_out:.2f}."
    )
    return "\n\n".join(parts)


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="measured", description=__doc__)
    parser.add_argument("suite", nargs="+", metavar="NAME@VERSION")
    parser.add_argument(
        "--quality-checks", action="store_true", help="with the gates of each category"
    )
    parser.add_argument("--svg", type=Path, help="draw the eigenvalues of the last suite")
    args = parser.parse_args(argv)
    try:
        for label in args.suite:
            suite = store.load(Workspace.open("workspace"), label)
            each = compute_profiles(suite.scenarios, AGENTS)
            made = {one.profile.scenario: one.profile for one in each}
            found = report_dimensions(suite, made)
            print(text(suite, made, found, with_gates=args.quality_checks), end="\n\n", flush=True)
    except StsError as error:
        print(f"measured: {error}", file=sys.stderr)
        return error.exit_code
    if args.svg:
        draw_dimensions(found).save(args.svg)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
