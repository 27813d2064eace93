"""Entry points of Overcooked by group: a name, and `module:Name` or a module."""

ENTRY_POINTS = {
    "sts.commands": {
        "overcooked": "sts_overcooked.command:COMMAND",
    },
    "sts.domains": {
        "overcooked": "sts_overcooked.environment:Overcooked",
    },
    "sts.categories": {
        "overcooked": "sts_overcooked.categories",
    },
    "sts.demos": {
        "overcooked": "sts_overcooked.demo:DEMO",
    },
    "sts.importers": {
        "overcooked-2019": "sts_overcooked.importer:read",
    },
    "sts.agents": {
        "overcooked-stay": "sts_overcooked.agents.stay:Stay",
        "overcooked-greedy": "sts_overcooked.agents.greedy:Greedy",
        "overcooked-cloned": "sts_overcooked.agents.cloned:Cloned",
    },
    "sts.recipes": {
        "kitchen": "sts_overcooked.recipes",
    },
}
