"""The arguments of the commands that open the browser application."""

import argparse

from sts import registry
from sts.cli import demo
from sts.cli.arguments import count_cores
from sts.cli.command import (
    Command,
    argument,
    defer_import,
    defer_in_workspace,
    option,
    repeatable,
    switch,
)


def _add_demos(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(registry.list_entry_points(demo.GROUP)) or "none, as there is no demo"
    option("--domain D", f"environment: {names} (default: the first)")(parser)


ANNOTATE = Command(
    "annotate continuations in a browser",
    "sts annotate {suite} --user ann",
    defer_in_workspace("sts_annotator_app.commands.annotate:annotate"),
    (
        argument(
            "suite",
            "NAME@VERSION",
            "or a part of it, NAME@VERSION+tag:T, or NAME, a draft without versions (default: "
            "the latest, if there is one name)",
            nargs="?",
        ),
        option(
            "--port P", "port; 0: any free port (default: %(default)s)", 8501, least=0, most=65535
        ),
        option(
            "--user NAME",
            "annotate yourself on this machine: print and open your sign-in link (default: none)",
            dest="owner",
        ),
        option(
            "--host HOST",
            "address to listen on (default: 127.0.0.1, this machine only)",
            "127.0.0.1",
        ),
        option(
            "--base-path /PATH",
            "path under which a proxy serves everything",
            "",
        ),
        repeatable(
            "--proxy ADDRESS",
            "address or network of a proxy whose forwarded headers are trusted; repeatable "
            "(default: none)",
        ),
        option(
            "--connections N",
            "maximum number of connections from one address, except proxies",
            512,
            least=1,
        ),
        switch("--no-browser", "print the link without opening a browser"),
    ),
)

DEMO = Command(
    "run the whole pipeline on a packaged suite, then open the annotator app",
    "sts demo --no-app",
    defer_import("sts_annotator_app.commands.demo:run_demo"),
    (
        _add_demos,
        switch("--no-app", "stop after the report"),
        option("--continuations N", "continuations per scenario and agent", 10),
        option("--workers W", "processes (default: one per processor)", count_cores()),
        option("--port P", "port of the annotator app", 8501),
    ),
)
