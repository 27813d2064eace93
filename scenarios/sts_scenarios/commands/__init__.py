"""The commands about suites; the module of one is imported when it is used."""

from sts.cli.command import Deferred

DEMONSTRATE = Deferred(
    "sts_scenarios.commands.demonstrate:demonstrate",
    "record a teacher that does what categories ask, on training worlds",
)
MINE = Deferred(
    "sts_scenarios.commands.mine:mine", "mine scenarios from recorded trajectories into a draft"
)
DRAFT = Deferred(
    "sts_scenarios.commands.draft:DRAFT", "inspect and decide candidates before they are frozen"
)
SUITE = Deferred(
    "sts_scenarios.commands.suite:SUITES", "list, show, compare, freeze and verify suites"
)
LABEL = Deferred(
    "sts_scenarios.commands.label:label",
    "label continuations with their categories' rules, without annotators",
)
