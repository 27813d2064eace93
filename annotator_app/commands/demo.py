"""`sts demo`: the whole pipeline on a suite, one public command after the other."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING

from sts import registry
from sts.cli.command import Command

if TYPE_CHECKING:
    from sts.cli.demo import Demo


GROUP = "sts.demos"


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    names = ", ".join(registry.named(GROUP))
    parser.add_argument("--domain", metavar="D", help=f"whose worlds: {names}")
    parser.add_argument("--no-app", action="store_true", help="stop after the report")
    parser.add_argument("--continuations", type=int, default=10, metavar="N", help="a scenario")
    parser.add_argument("--workers", type=int, default=1, metavar="W", help="processes")
    parser.add_argument("--port", type=int, default=8501, metavar="P", help="of the annotator")


def steps(args: argparse.Namespace) -> list[list[str]]:
    """Returns the commands of the demo, in order, without the common flags."""
    from sts.cli.demo import players
    from sts.storage.workspace import Workspace
    from sts.suites.store import versions

    demo = _demo(args.domain)
    count, workers = str(args.continuations), str(args.workers)
    scenario, *pair = demo.shown
    name, _, version = demo.suite.partition("@")
    made = int(version) in versions(Workspace.open(args.workspace)).get(name, {})
    commands = [] if made else [list(words) for words in demo.making]
    commands += [
        ["suite", "verify", demo.suite],
        ["run", demo.suite, *players(demo.agents), "--continuations", count, "--workers", workers],
        ["show", f"{demo.suite}/{scenario}", *players(pair)],
        ["label", demo.suite],
        *(list(words) for words in demo.measuring),
        ["report", demo.suite],
    ]
    if not args.no_app:
        commands.append(["annotate", demo.suite, "--as", "you", "--port", str(args.port)])
    return commands


def _demo(domain: str | None) -> Demo:
    """Returns the demo of a domain; where none is named, the one that says that it is the first.

    Raises:
      UnknownName: the domain has none.
      ArgumentError: no domain is named, and no demo says so.
      StsError: it cannot be loaded, or is none.
    """
    import contextlib

    from sts.errors import ArgumentError, StsError

    if domain is not None:
        return _load(domain)
    for name in registry.named(GROUP):
        with contextlib.suppress(StsError):  # of a demo that nobody asked for
            if (demo := _load(name)).first:
                return demo
    raise ArgumentError(f"expected --domain D; demos: {', '.join(registry.named(GROUP)) or 'none'}")


def _load(domain: str) -> Demo:
    from sts.cli.demo import Demo
    from sts.errors import StsError

    demo = registry.load(GROUP, "demo", domain)
    if not isinstance(demo, Demo):
        raise StsError(f"entry point {GROUP}:{domain} is not a Demo")
    return demo


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
    for words in steps(args):
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
