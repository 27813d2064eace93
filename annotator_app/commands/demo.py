"""`sts demo`: the whole pipeline on a suite, one public command after the other."""

from __future__ import annotations

import argparse
import shlex

from sts import registry
from sts.cli import demo
from sts.cli.arguments import cores
from sts.cli.command import Command
from sts.cli.demo import Demo, players


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    parser.add_argument(
        "--domain", metavar="D", help=f"whose worlds: {_names()} (default: the first)"
    )
    parser.add_argument("--no-app", action="store_true", help="stop after the report")
    parser.add_argument("--continuations", type=int, default=10, metavar="N", help="a scenario")
    parser.add_argument(
        "--workers",
        type=int,
        default=cores(),
        metavar="W",
        help="processes (default: one a processor)",
    )
    parser.add_argument("--port", type=int, default=8501, metavar="P", help="of the annotator")


def steps(args: argparse.Namespace) -> list[list[str]]:
    """Returns the commands of the demo, in order, without the common flags."""
    from sts.storage.workspace import Workspace
    from sts.suites.folders import versions

    one = _chosen(args.domain)
    amount = ["--continuations", str(args.continuations), "--workers", str(args.workers)]
    scenario, *pair = one.shown
    name, _, version = one.suite.partition("@")
    made = int(version) in versions(Workspace.open(args.workspace)).get(name, {})
    commands = [] if made else [list(words) for words in one.making]
    commands += [
        ["suite", "verify", one.suite],
        ["run", one.suite, *players(one.agents), *amount],
        ["show", f"{one.suite}/{scenario}", *players(pair)],
        ["label", one.suite],
        *(list(words) for words in one.measuring),
        ["report", one.suite],
    ]
    if not args.no_app:
        commands.append(["annotate", one.suite, "--as", "you", "--port", str(args.port)])
    return commands


def _chosen(domain: str | None) -> Demo:
    """Returns the demo of a domain, or the first.

    Raises:
      UnknownName: the domain has none.
      ArgumentError: no domain is named, and no demo is the first.
    """
    from sts.errors import ArgumentError

    chosen = demo.of(domain) if domain is not None else demo.first()
    if chosen is None:
        raise ArgumentError(f"expected --domain D, one of {_names()}")
    return chosen


def _beforehand(args: argparse.Namespace, count: int) -> str:
    """Returns what is about to happen, what it takes, and where it goes."""
    from sts.storage.workspace import Workspace

    takes = _chosen(args.domain).takes
    return (
        f"{count} commands with {args.workers} processes, in {Workspace.open(args.workspace).root}"
        f"{f': {takes}' if takes else ''}. What is interrupted goes on when it is run again."
    )


def _names() -> str:
    return ", ".join(registry.named(demo.GROUP)) or "none, as there is no demo"


def run(args: argparse.Namespace) -> int:
    """Runs the commands, each shown before it starts; stops at the first that fails.

    With --json each command's JSON is gathered and printed at the end, as one list.
    """
    import contextlib
    import io
    import json

    from sts.cli.main import main
    from sts.errors import ArgumentError

    if args.json and not args.no_app:
        raise ArgumentError("--json needs --no-app: the annotator prints for people")
    common = ["--workspace", args.workspace] if args.workspace else []
    common += ["--debug"] if args.debug else []
    gathered = []
    commands = steps(args)
    if not args.json:
        print(_beforehand(args, len(commands)), flush=True)
    for words in commands:
        if args.json:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                code = main([*words, *common, "--json"])
            if code == 0:
                gathered.append({"command": words, "result": json.loads(printed.getvalue())})
        else:
            print(f"\n$ sts {shlex.join(words)}\n", flush=True)
            code = main([*words, *common])
        if code != 0:
            return code
    if args.json:
        print(json.dumps(gathered, indent=1, ensure_ascii=False))
    return 0


COMMAND = Command(
    summary="the whole pipeline on a suite, then the annotator",
    example="sts demo --no-app",
    configure=configure,
    run=run,
)
