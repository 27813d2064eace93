"""The tables of what packaged suites of Λ* measure: their gates, dimensions and rank agreement.

    python -m tests.reproduction.suites.measured SUITE [SUITE ...] [--gates]

By ten continuations of each agent of the list that was fixed before; judged by nobody.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from sts.errors import StsError
from sts.storage.workspace import Workspace
from sts.suites import store
from sts.suites.types import DIFFICULTIES, Suite
from sts_scenarios import categories, gates
from sts_scenarios.categories.lambda_star import AGENTS, CURATION, FAMILIES, LANDED
from sts_scenarios.profiles import Profile, compute_profiles
from tests.reproduction.suites.dimensions import agreements, competence, dimensions, pass_rates

_FIRST = (1, 2, 3, 4, 5)
_POOL = ("open loop", "local-search", "reward-with-memory", "shortcut", "probe")
_SUITE = ("scenarios of one answer", "passed by all or none", "pairs of one profile")


def table(header: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def of_gates(suite: Suite, made: Mapping[str, Profile]) -> str:
    """Return the gates of each category of a suite; what is not within its limit has a star.

    Those of a pool are not held to it by ten scenarios, of which some constant answer passes two.
    """
    rules = categories.ruling(suite.scenarios)
    levels = [f"mid-level agents, {one}" for one in DIFFICULTIES]
    header = ("category", "scenarios", *_POOL, *_SUITE, *(f"mid, {d}" for d in DIFFICULTIES))

    def rows() -> Iterator[Sequence[str]]:
        for name, count in sorted(Counter(s.category for s in suite.scenarios).items()):
            own = [one for one in suite.scenarios if one.category == name]
            each = gates.of_pool(rules[name], own)
            each += gates.of_suite(own, rules, [made[one.hash] for one in own])
            figure = {
                row.name: f"{row.figure:.2f}".removesuffix(".00" if row.name in _SUITE[:2] else "")
                + ("" if row.held or row.name in _POOL else "*")
                for row in each
            }
            cells = [figure.get(one, "") for one in (*_POOL, *_SUITE, *levels)]
            yield (f"`{name}`", str(count), *cells)

    return table(header, rows())


def of_dimensions(suite: Suite, made: Mapping[str, Profile]) -> str:
    """Return the shares of the first dimensions over several lists of agents."""
    rates = pass_rates(suite.scenarios, made)
    lists = {"all": AGENTS, "the eight that read none of the sixteen": LANDED} | {
        f"without {name}": tuple(one for one in AGENTS if one not in family)
        for name, family in FAMILIES.items()
    }
    header = ("agents", "how many", "categories", *(f"first {n}" for n in _FIRST))
    alike, beside = competence(rates, AGENTS)

    def rows() -> Iterator[Sequence[str]]:
        every = {name: dimensions(rates, own) for name, own in lists.items()}
        every["all, without what is linear in their mean"] = beside
        for name, one in every.items():
            shares = (f"{100 * one.first(n):.0f}%" for n in _FIRST)
            yield (name, str(one.agents), str(one.categories), *shares)

    said = f"Correlation of the first dimension with what agents pass on average: {alike:.2f}."
    return f"{table(header, rows())}\n\n{said}"


def of_rates(suite: Suite, made: Mapping[str, Profile]) -> str:
    """Return what each agent passes of each category."""
    rates = pass_rates(suite.scenarios, made)
    rows = ((f"`{c}`", *(f"{own[a]:.2f}" for a in AGENTS)) for c, own in sorted(rates.items()))
    return table(("category", *AGENTS), rows)


def text(suite: Suite, *, with_gates: bool) -> str:
    """Return the tables of a suite."""
    made = {one.profile.scenario: one.profile for one in compute_profiles(suite.scenarios, AGENTS)}
    tau = agreements(suite.scenarios, made, CURATION)
    parts = [f"## {suite.label}", of_rates(suite, made), of_dimensions(suite, made)]
    parts += [of_gates(suite, made)] if with_gates else []
    parts.append(
        f"Kendall's tau-b over scenarios, between agents with a say and those held out: "
        f"{tau.scenarios:.2f}. Between what was chosen by effect and the rest, over the agents "
        f"with a say: {tau.choosing:.2f}; over those held out: {tau.held_out:.2f}."
    )
    return "\n\n".join(parts)


def main(argv: Sequence[str]) -> int:
    """Print the tables of the suites on the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="measured", description=__doc__)
    parser.add_argument("suite", nargs="+", metavar="NAME@VERSION")
    parser.add_argument("--gates", action="store_true", help="with the gates of each category")
    parser.add_argument("--workspace", default="workspace", metavar="DIR")
    args = parser.parse_args(argv)
    try:
        for label in args.suite:
            suite = store.load(Workspace.open(args.workspace), label)
            print(text(suite, with_gates=args.gates), end="\n\n", flush=True)
    except StsError as error:
        print(f"measured: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
