"""The commands that open the browser application, each imported when it is used."""

from sts.cli.command import Deferred

ANNOTATE = Deferred(
    "sts_annotator_app.commands.annotate:annotate", "annotate continuations in a browser"
)
DEMO = Deferred(
    "sts_annotator_app.commands.demo:run_demo",
    "run the whole pipeline on a packaged suite, then open the annotator app",
)
