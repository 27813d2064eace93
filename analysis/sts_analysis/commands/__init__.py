"""The commands of the analysis; the module of one is imported when it is used."""

from sts.cli.command import Deferred

REPORT = Deferred(
    "sts_analysis.commands.report:report", "rank the agents: two pages, report.json, and tables"
)
POWER = Deferred(
    "sts_analysis.commands.power:power",
    "plan a study: scenarios, continuations and annotations needed to find a difference",
)
RACE = Deferred(
    "sts_analysis.commands.race:race",
    "decide which agents leave a race, confirm that, or keep an agent in it",
)
SELFCHECK = Deferred(
    "sts_analysis.commands.selfcheck:selfcheck",
    "simulate the coverage of confidence intervals in your study design",
)
SCORES = Deferred(
    "sts_analysis.commands.scores:SCORES",
    "import other metrics of agents, to correlate with their pass rates",
)
MEASURE = Deferred(
    "sts_analysis.commands.measure:measure",
    "compute other metrics of agents, to correlate with their pass rates",
)
LIVE = Deferred(
    "sts_analysis.commands.live:LIVE",
    "plan live evaluations, in which people set tasks for agents, and score them",
)
