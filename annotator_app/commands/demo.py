"""`sts demo`: the whole pipeline on the packaged suite, one public command after the other."""

from __future__ import annotations

import argparse
import shlex

from sts.command import Command

SUITE = "starter@1"
AGENTS = ("random", "blind", "local-search", "stigmergy", "rule", "oracle")
SHOWN = f"{SUITE}/reach-good-01"


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    parser.add_argument("--no-app", action="store_true", help="stop after the report")
    parser.add_argument("--continuations", type=int, default=10, metavar="N", help="a scenario")
    parser.add_argument("--workers", type=int, default=1, metavar="W", help="processes")
    parser.add_argument("--port", type=int, default=8501, metavar="P", help="of the annotator")


def steps(args: argparse.Namespace) -> list[list[str]]:
    """Returns the commands of the demo, in order, without the common flags."""
    players = [word for name in AGENTS for word in ("--agent", name)]
    count, workers = str(args.continuations), str(args.workers)
    commands = [
        ["suite", "verify", SUITE],
        ["run", SUITE, *players, "--continuations", count, "--workers", workers],
        ["show", SHOWN, "--agent", "rule", "--agent", "random"],
        ["label", SUITE],
        ["lambda-star", "score", *players, "--team", "3", "--episodes", "1000", "--save"],
        ["report", SUITE],
    ]
    if not args.no_app:
        commands.append(["annotate", SUITE, "--as", "you", "--port", str(args.port)])
    return commands


def run(args: argparse.Namespace) -> int:
    """Runs the commands, each shown before it starts; stops at the first that fails.

    With --json each command's JSON is gathered and printed at the end, as one list.
    """
    import contextlib
    import io
    import json

    from sts import cli
    from sts.errors import ArgumentError

    if args.json and not args.no_app:
        raise ArgumentError("--json needs --no-app: the annotator prints for people")
    common = ["--workspace", args.workspace] if args.workspace else []
    common += ["--debug"] if args.debug else []
    gathered = []
    for words in steps(args):
        if args.json:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                code = cli.main([*words, *common, "--json"])
            if code == 0:
                gathered.append({"command": words, "result": json.loads(printed.getvalue())})
        else:
            print(f"\n$ sts {shlex.join(words)}\n", flush=True)
            code = cli.main([*words, *common])
        if code != 0:
            return code
    if args.json:
        print(json.dumps(gathered, indent=1, ensure_ascii=False))
    return 0


COMMAND = Command(
    summary="the whole pipeline on the packaged suite, then the annotator",
    example="sts demo --no-app",
    configure=configure,
    run=run,
)
