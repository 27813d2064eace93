"""The core commands; the module of one is imported when it is used."""

from sts.cli.command import Deferred

RECORD = Deferred("sts.commands.pipeline:record", "record agents on new worlds")
TRAJECTORIES = Deferred(
    "sts.commands.trajectories:TRAJECTORIES",
    "import, list, show, verify and export recorded episodes",
)
RUN = Deferred("sts.commands.pipeline:run", "run agents on a suite's scenarios; resumable")
SHOW = Deferred(
    "sts.commands.show:show", "show scenarios and continuations as filmstrips, agents side by side"
)
DOMAIN = Deferred("sts.commands.domain:DOMAIN", "list environments and run their conformance tests")
ANNOTATORS = Deferred(
    "sts.commands.annotators:ANNOTATORS",
    "add, invite, list and deactivate the members of a study, and set their roles",
)
REFERENCES = Deferred(
    "sts.commands.references:REFERENCES", "manage reference clips, whose verdict is known"
)
ANNOTATIONS = Deferred(
    "sts.commands.annotations:ANNOTATIONS", "import, export and check judgements"
)
WORKSPACE = Deferred(
    "sts.commands.workspace:WORKSPACE",
    "back up, restore and check a workspace, and move its database",
)
