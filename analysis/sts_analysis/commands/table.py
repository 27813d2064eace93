"""The arguments of the commands of the analysis; the modules are imported on use."""

import argparse
from pathlib import Path

from sts import registry
from sts.cli.command import (
    AGENTS,
    AddArgument,
    Command,
    action,
    argument,
    defer_import,
    defer_in_workspace,
    group,
    option,
    repeatable,
    switch,
)
from sts.cli.settings import add_settings

ASSUMED = {
    "rate": 0.5,
    "icc": 0.4,
    "correlation": 0.5,
    "trajectory_share": 0.5,
    "sensitivity": 0.95,
    "specificity": 0.95,
}
"""Assumptions of `sts power` about a study without a pilot."""
_MEANT = {
    "scenarios": "planned number of scenarios",
    "continuations": "planned continuations of each scenario by each agent",
    "annotations": "planned annotations of each continuation",
    "unit_size": "planned scenarios of one unit, such as a trajectory",
    "rate": "without a pilot: pass rate of both agents",
    "icc": "without a pilot: intraclass correlation of an agent's verdicts within scenarios",
    "correlation": "without a pilot: correlation of the agents' pass rates over scenarios",
    "trajectory_share": "without a pilot: share of the variance between scenarios that belongs to "
    "the unit",
    "sensitivity": "without a pilot: annotators' sensitivity",
    "specificity": "without a pilot: annotators' specificity",
}
SIZE = {"scenarios": 160, "continuations": 3, "annotations": 1, "unit_size": 1}
"""The size of a study that `sts power` assumes without a pilot."""
_SEED = option("--seed S", "seed of the random draws (default: 0)", 0, least=0)


_FOREIGN = (
    repeatable(
        "--column NAME=COLUMN",
        "column of --table that holds NAME, such as agent=Agent; repeatable (default: its name)",
    ),
    repeatable(
        "--success WORD", 'verdict in --table that means success, or numbers: ">=4"; repeatable'
    ),
    repeatable("--failure WORD", "verdict in --table that means failure; repeatable"),
    repeatable("--same NAME=SPELLING", "two spellings of one name, such as Ann=ann; repeatable"),
    repeatable("--distinct NAME|NAME", "similar names of two, such as Ann|ann; repeatable"),
    repeatable("--not-done WORD", "verdict in --table that means neither by the end; repeatable"),
    repeatable(
        "--cannot-judge WORD", "verdict in --table of those who could not judge; repeatable"
    ),
    repeatable("--ignore WORD", "verdict in --table whose rows are left out; repeatable"),
    option(
        "--annotator-columns A,B",
        "columns of --table, by name or number, with the verdicts of an annotator each",
    ),
    repeatable("--model-annotator NAME", "annotator in --table that is a program; repeatable"),
    repeatable("--leave-out COLUMN=VALUE", "rows of --table to leave out; repeatable"),
    repeatable("--unused COLUMN", "column of --table that plays no part; repeatable"),
    switch("--keep-equal-rows", "equal rows of --table are attempts of their own"),
    option(
        "--format PROGRAM",
        "program that exported --table: label-studio, prolific, mturk, qualtrics, inspect, boris",
    ),
)
"""Options that say how a table of other people is read."""


def _target(help: str) -> AddArgument:
    return option("--target", help, "sampled", choices=("sampled", "fixed"))


_PILOT = (
    argument("suite", "NAME@VERSION", "fully or partly annotated suite", nargs="?"),
    option("--table FILE", "ratings table instead of a suite (default: none)"),
    *_FOREIGN,
    _target("whether the scenarios are a sample (default) or all that matter"),
    option(
        "--labels",
        "label source (default: the report's)",
        choices=("human", "automatic", "model"),
    ),
)
"""Arguments that name a pilot: its judgements, their source and its scenarios."""


def _add_metric(parser: argparse.ArgumentParser) -> None:
    installed = ", ".join(registry.list_entry_points("sts.metrics"))
    argument("metric", "METRIC", f"{installed}, or module:function")(parser)


MEASURE_SETTINGS = (
    *("class_", "runs", "environments", "interactions", "team", "memory", "seconds"),
    *("seconds_per_action", "theta", "bumps", "width", "drift", "workers"),
)
"""Settings of metrics; each metric has some of them."""
MEASURE = Command(
    "compute other metrics of agents, to correlate with their pass rates",
    "sts measure log_prob --suite {suite} --agent {agent} --agent {other}",
    defer_in_workspace("sts_analysis.commands.measure:measure"),
    (
        _add_metric,
        repeatable("--agent A", "name or module:Class; repeatable; a check needs none"),
        option("--suite NAME@VERSION", "suite, if the metric needs one (default: none)"),
        _SEED,
        option("--class C", "class of environments, or module:Name (default: none)", dest="class_"),
        option("--runs N", "runs, episodes or curricula (default: the metric's)", least=1),
        option("--environments M", "to play, draw or train in (default: the metric's)", least=0),
        option("--interactions N", "universal: steps in each (default: 100)", least=1),
        option("--team P", "players that an agent plays (default: 1)", least=1),
        option(
            "--memory",
            "anytime: whether memory passes to the next environment (default: kept)",
            choices=("kept", "fresh"),
        ),
        option("--seconds S", "anytime: count the time of a run instead", type=float),
        option(
            "--seconds-per-action S",
            "anytime: declared time of an action (default: measured)",
            type=float,
        ),
        option("--theta S", "skill: sufficient skill, 0 to 1 (default: 0.15)", type=float),
        option("--bumps J", "landscape: number of bumps (default: 10)", least=1),
        option("--width W", "landscape: cells from a bump to its foot (default: 3)", least=1),
        option("--drift T", "landscape: steps per cell of drift (default: 0, none)", least=0),
        option("--workers W", "processes (default: 1)", least=1),
        option("--figure FILE.svg", "draw the curves of anytime, universal or skill"),
    ),
)

SCORES = group(
    "import other metrics of agents, to correlate with their pass rates",
    "sts scores import scores.csv",
    "sts_analysis.commands.scores",
    action(
        "import scores.csv",
        "import a scores table (agent, metric, value)",
        argument("file", "FILE", "scores table: .csv, .tsv, .parquet, .xlsx"),
    ),
)

LIVE = group(
    "plan live evaluations, in which people set tasks for agents, and score them",
    "sts live new pilot --agent {agent} --agent {other} --people 4",
    "sts_analysis.commands.live",
    action(
        "new pilot --agent {agent} --agent {other} --people 4 --minutes 5",
        "plan a study: which agents each person meets, in which order, under which names",
        argument("name", "NAME", "name of the study"),
        AGENTS,
        option("--people P", "people who set tasks", 4, least=1),
        option("--minutes M", "length of a session", 5.0),
        option(
            "--sessions-per-person K",
            "sessions of each person, next to practice (default: all agents, at most 8)",
            least=1,
        ),
        option("--domain D", "environment (default: the agents')"),
        option("--tick S", "seconds from step to step (default: the environment's)", type=float),
        option(
            "--practice-agent A", "agent of the practice session, which is not scored", "random"
        ),
        option("--prompts FILE", "prompts in TOML (default: the packaged ones)", type=Path),
        switch("--rehearsal", "a trial run by scripts, which journals and scores name as scripts"),
        option(
            "--split",
            "of the worlds: scenarios are made from test worlds, training episodes from train",
            "any",
            choices=("train", "test", "any"),
        ),
        _SEED,
        add_settings,
        at="sts.commands.live:new",
    ),
    action("ls", "list the studies and how many sessions they have", at="sts.commands.live:ls"),
    action(
        "show pilot",
        "show the sessions of a study by person",
        argument("name", "NAME", "name of the study"),
        at="sts.commands.live:show",
    ),
    action(
        "score pilot",
        "score the agents of a study by success per instruction",
        argument("name", "NAME", "name of the study"),
        option("--csv FILE", "also write the interactions as CSV (default: none)", type=Path),
    ),
)

POWER = Command(
    "plan a study: scenarios, continuations and annotations needed to find a difference",
    "sts power --scenarios 320 --continuations 5 --n-agents 6",
    defer_import("sts_analysis.commands.power:power"),
    (
        *_PILOT,
        option(
            "--pair",
            "two agents of the pilot (default: neighbours in rank)",
            nargs=2,
            metavar=("A", "B"),
        ),
        option("--difference POINTS", "difference in pass rate to detect (default: 5)", 5.0),
        option("--power P", "probability of detecting it (default: 0.8)", 0.8),
        option("--seconds S", "seconds that judging a clip takes (default: 30)", 30.0),
        option(
            "--goal",
            "why agents leave the race: all are ranked (default) or the best is found; all: none "
            "leaves",
            "rank",
            choices=("rank", "best", "all"),
        ),
        option(
            "--n-agents J",
            "number of agents, all pairs compared (default: the pilot's, or 2)",
            least=2,
        ),
        *(
            option(
                f"--{name} N".replace("_", "-"),
                f"{_MEANT[name]} (default: the pilot's, or {number})",
                least=1,
            )
            for name, number in SIZE.items()
        ),
        *(
            option(
                f"--{name} P".replace("_", "-"), f"{_MEANT[name]} (default: {value})", type=float
            )
            for name, value in ASSUMED.items()
        ),
    ),
)

RACE = Command(
    "decide which agents leave a race, confirm that, or keep an agent in it",
    "sts race {suite}",
    defer_in_workspace("sts_analysis.commands.race:race"),
    (
        argument("suite", "NAME@VERSION", "annotated suite"),
        switch("--confirm", "let the decision take effect that waits for it"),
        option("--keep AGENT", "agent to keep in the race, or to bring back (default: none)"),
        option("--reason TEXT", "why the agent is kept; every report gives it", ""),
        option("--user LEAD", "study lead who decides (default: your login)", dest="author"),
    ),
)

SELFCHECK = Command(
    "simulate the coverage of confidence intervals in your study design",
    "sts selfcheck {suite} --labels automatic --simulations 100",
    defer_import("sts_analysis.commands.selfcheck:selfcheck"),
    (
        *_PILOT,
        option("--simulations N", "simulated studies per case (default: 200)", 200, least=2),
        _SEED,
        option("--workers W", "processes (default: one per processor)", least=1),
    ),
)

REPORT = Command(
    "rank the agents: two pages, report.json, and tables",
    "sts report {suite} --target sampled",
    defer_import("sts_analysis.commands.report:report"),
    (
        argument("suite", "NAME@VERSION", "suite of the workspace", nargs="?"),
        option(
            "--table FILE",
            "ratings table instead of a suite: .csv, .tsv, .parquet, .xlsx (default: none)",
        ),
        *_FOREIGN,
        option("--scores FILE", "table of other metrics of the agents (default: the workspace's)"),
        option(
            "--compare-to NAME@VERSION",
            "version whose pass rates are compared with this one (default: none)",
        ),
        _target("target of the intervals: other scenarios like these (default) or only these"),
        option(
            "--unit",
            "what was drawn independently: trajectory (default), or people to join all scenarios "
            "that the same people recorded",
            "trajectory",
            choices=("trajectory", "people"),
        ),
        option("--closed REASON", "why the study of --table ended before all was judged", ""),
        option(
            "--goal GOAL",
            "repeat the race of agents of --table, judged in rounds: rank, or best (default: none)",
            "",
            choices=("rank", "best"),
        ),
        option(
            "--planned N",
            "planned continuations of each agent in each scenario of --table (default: the most "
            "that the agent has in one)",
            least=1,
        ),
        repeatable(
            "--contrast",
            "two agents whose comparison was planned; repeatable",
            nargs=2,
            metavar=("A", "B"),
        ),
        option("--out DIR", "folder of the report (default: in the workspace)"),
        switch(
            "--real-names", "show real names of people, for the study lead (default: pseudonyms)"
        ),
        option(
            "--guessing-baseline AGENT", "agent that guesses; its score becomes 0 (default: none)"
        ),
        option(
            "--non-inferiority-margin POINTS",
            "margin of the non-inferiority tests, in points (default: no tests)",
            type=float,
        ),
        option(
            "--reference-agent AGENT",
            "agent that --non-inferiority-margin compares the others with (default: the first)",
        ),
        switch(
            "--prediction-powered", "also estimate rates with labels where people have not judged"
        ),
        switch(
            "--paper",
            "also write paper/ for a publication: figures, tables, methods, and how to repeat it",
        ),
        option("--title TEXT", "title above the figures of --paper (default: none)", ""),
        option(
            "--clips CLIPS",
            "supporting clips in the report, the most informative first: a number, all, none, or "
            "app to link to the app (default: 3000; none for a table)",
        ),
        option("--zip FILE", "also write the report as one .zip file (default: none)"),
        _SEED,
    ),
)
