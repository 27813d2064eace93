"""`sts demo`: the whole pipeline on a suite, one public command after the other."""

import argparse
import contextlib
import io
import json
import shlex

from sts import registry
from sts.cli import demo
from sts.cli.demo import Demo, agent_arguments
from sts.cli.main import main
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from sts.suites.folders import list_versions


def list_commands(args: argparse.Namespace) -> list[list[str]]:
    """Return the commands of the demo, in order, without the common flags."""
    domain_demo = _select_demos(args.domain)
    amount = ["--continuations", str(args.continuations), "--workers", str(args.workers)]
    scenario, *pair = domain_demo.example
    name, _, version = domain_demo.suite.partition("@")
    is_frozen = int(version) in list_versions(Workspace.open(args.workspace)).get(name, {})
    commands = [] if is_frozen else [list(words) for words in domain_demo.setup]
    commands += [
        ["suite", "verify", domain_demo.suite],
        ["run", domain_demo.suite, *agent_arguments(domain_demo.agents), *amount],
        ["show", f"{domain_demo.suite}/{scenario}", *agent_arguments(pair)],
        ["label", domain_demo.suite],
        *(list(words) for words in domain_demo.measurements),
        ["report", domain_demo.suite],
    ]
    if not args.no_app:
        commands.append(["annotate", domain_demo.suite, "--user", "you", "--port", str(args.port)])
    return commands


def _select_demos(domain: str | None) -> Demo:
    """Return the demo of a domain, or the first."""
    domain_demo = demo.load_demo(domain) if domain is not None else demo.find_first_demo()
    if domain_demo is None:
        names = ", ".join(registry.list_entry_points(demo.GROUP)) or "none, as there is no demo"
        raise ArgumentError(f"expected --domain D, one of {names}")
    return domain_demo


def run_demo(args: argparse.Namespace) -> int:
    """Run the commands, each shown before it starts; stops at the first that fails.

    With --json each command's JSON is gathered and printed at the end, as one list.
    """
    if args.json and not args.no_app:
        raise ArgumentError("--json needs --no-app: the annotator prints for people")
    common = ["--workspace", args.workspace] if args.workspace else []
    common += ["--debug"] if args.debug else []
    gathered = []
    commands = list_commands(args)
    if not args.json:
        takes = _select_demos(args.domain).requirements
        root = Workspace.open(args.workspace).root
        print(
            f"{len(commands)} commands with {args.workers} processes, in {root}"
            f"{f': {takes}' if takes else ''}. If it is interrupted, run it again to continue.",
            flush=True,
        )
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
