"""The commands of the analysis, with all that they take; they are imported when they run."""

from __future__ import annotations

import argparse

from sts import registry
from sts.cli.command import (
    Command,
    Row,
    action,
    argument,
    deferred,
    group,
    in_workspace,
    option,
    switch,
)

ASSUMED = {"rate": 0.5, "icc": 0.4, "correlation": 0.5, "sensitivity": 0.95, "specificity": 0.95}
"""Assumptions of `sts power` about a study without a pilot."""
_MEANT = {
    "rate": "without a pilot: pass rate of both",
    "icc": "likewise: intraclass correlation of each, how much the scenario decides",
    "correlation": "likewise: of the two agents' rates across scenarios",
    "sensitivity": "likewise: share of successes that annotators see",
    "specificity": "likewise: share of the others that they see",
}
SIZE = {"scenarios": 160, "continuations": 3, "annotations": 1}
"""The size of a study that `sts power` assumes without a pilot."""
_SEED = option("--seed S", "of every random draw (default: 0)", 0, least=0)


def _target(help: str) -> Row:
    return option("--target", help, "sampled", choices=("sampled", "fixed"))


_PILOT = (
    argument("suite", "NAME@VERSION", "a suite that is judged, if only in part", nargs="?"),
    option("--table FILE", "or a ratings table (default: none)"),
    _target("whether the scenarios are a sample (default) or all that matter"),
    option(
        "--labels",
        "whose (default: those that the report rests on)",
        choices=("human", "automatic", "model"),
    ),
)
"""Arguments that name a pilot: its judgements, their source and its scenarios."""


def _add_metric(parser: argparse.ArgumentParser) -> None:
    installed = ", ".join(registry.named("sts.metrics"))
    argument("metric", "METRIC", f"{installed}, or your module:function")(parser)


MEASURE = Command(
    "measure agents otherwise, to correlate with their pass rates",
    "sts measure log_prob --suite {suite} --agent {agent} --agent {other}",
    in_workspace("sts_analysis.commands.measure:measure"),
    (
        _add_metric,
        option("--agent A", "a name or module:Class", action="append", required=True),
        option("--suite NAME@VERSION", "for a metric that asks for one (default: none)"),
        _SEED,
    ),
)

INTERACTIVE = group(
    "import other metrics of agents, to correlate with their pass rates",
    "sts interactive import scores.csv",
    "sts_analysis.commands.interactive",
    action(
        "import scores.csv",
        "take a scores table (agent, metric, value) in",
        argument("file", "FILE", "a scores table, .csv or .parquet"),
    ),
)

POWER = Command(
    "what would separate agents: scenarios, continuations, annotations",
    "sts power --scenarios 320 --continuations 5 --agents 6",
    deferred("sts_analysis.commands.power:power"),
    (
        *_PILOT,
        option("--pair", "of a pilot (default: neighbours in rank)", nargs=2, metavar=("A", "B")),
        option("--difference POINTS", "to be seen (default: 5)", 5.0),
        option("--power P", "chance to see it (default: 0.8)", 0.8),
        option("--agents J", "compared, all pairs (default: the pilot's, or 2)", least=2),
        *(
            option(f"--{name} N", f"planned (default: the pilot's, or {number})", least=1)
            for name, number in SIZE.items()
        ),
        *(
            option(f"--{name} P", f"{_MEANT[name]} (default: {value})", type=float)
            for name, value in ASSUMED.items()
        ),
    ),
)

SELFCHECK = Command(
    "what intervals cover in your own design, by simulating it",
    "sts selfcheck {suite} --labels automatic --studies 100",
    deferred("sts_analysis.commands.selfcheck:selfcheck"),
    (
        *_PILOT,
        option("--studies N", "simulated a case (default: 200)", 200, least=2),
        _SEED,
        option("--workers W", "processes (default: as many as processors)", least=1),
    ),
)

REPORT = Command(
    "rank the agents: one page, report.json, tables and figures",
    "sts report {suite} --target sampled",
    deferred("sts_analysis.commands.report:report"),
    (
        argument("suite", "NAME@VERSION", "a suite of the workspace", nargs="?"),
        option("--table FILE", "a ratings table, .csv or .parquet (default: none)"),
        option("--scores FILE", "other metrics of the agents (default: the workspace's)"),
        option(
            "--against NAME@VERSION",
            "another version: what the change did to each agent's score (default: none)",
        ),
        _target("what intervals speak of: all scenarios of these kinds (default), or just these"),
        option(
            "--contrast",
            "two agents whose comparison was planned beforehand; may be repeated",
            [],
            nargs=2,
            action="append",
            metavar=("A", "B"),
        ),
        option("--out DIR", "where to write it (default: the workspace's reports)"),
        switch("--names", "call people by name, for who leads (default: by pseudonym)"),
        option("--blind AGENT", "the agent that guesses; guessing then scores 0 (default: none)"),
        option(
            "--margin POINTS",
            "who is worse than the first by less than so many points? (default: not asked)",
            type=float,
        ),
        option("--reference AGENT", "whom --margin holds the others against (default: the first)"),
        switch(
            "--paper",
            "also write paper/: the figures and tables of a paper, its methods, how to repeat it",
        ),
        option("--title TEXT", "above the figures of --paper (default: none)", ""),
        option(
            "--wandb PROJECT",
            "also log numbers and page to Weights & Biases (default: not; needs the extra wandb)",
        ),
        option(
            "--evidence CLIPS",
            "clips to take along, those that tell most first: a number, all, none, or app for "
            "those that the app shows (default: 3000; of a table none)",
        ),
        option("--bundle FILE", "write the report as one file to send, .zip, too (default: not)"),
        _SEED,
    ),
)
