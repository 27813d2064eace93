"""The commands that open the browser application, with all that they take."""

from __future__ import annotations

import argparse

from sts import registry
from sts.cli import demo
from sts.cli.arguments import cores
from sts.cli.command import Command, argument, deferred, in_workspace, option, repeatable, switch


def _add_demos(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(registry.named(demo.GROUP)) or "none, as there is no demo"
    option("--domain D", f"whose worlds: {names} (default: the first)")(parser)


ANNOTATE = Command(
    "judge continuations in a browser",
    "sts annotate {suite} --as ann",
    in_workspace("sts_annotator_app.commands.annotate:annotate"),
    (
        argument(
            "suite",
            "NAME@VERSION",
            "or a part of it, NAME@VERSION+tag:T, or NAME, a draft without versions (default: "
            "the latest, if there is one name)",
            nargs="?",
        ),
        option("--port P", "0: any (default: %(default)s)", 8501, least=0, most=65535),
        option(
            "--as NAME",
            "judge yourself, on this machine: prints and opens your link (default: nobody)",
            dest="owner",
        ),
        option("--host HOST", "default 127.0.0.1: this machine only", "127.0.0.1"),
        option(
            "--base-path /PATH",
            "serve everything under this path, which a proxy passes on as it came",
            "",
        ),
        repeatable(
            "--proxy ADDRESS",
            "believe the proxy at this address or network who asks and by which scheme; "
            "repeatable (default: nobody)",
        ),
        option(
            "--connections N", "connections that one address may hold, proxies aside", 512, least=1
        ),
        switch("--no-browser", "print the link, open nothing"),
    ),
)

DEMO = Command(
    "the whole pipeline on a suite, then the annotator",
    "sts demo --no-app",
    deferred("sts_annotator_app.commands.demo:run"),
    (
        _add_demos,
        switch("--no-app", "stop after the report"),
        option("--continuations N", "a scenario", 10),
        option("--workers W", "processes (default: one a processor)", cores()),
        option("--port P", "of the annotator", 8501),
    ),
)
