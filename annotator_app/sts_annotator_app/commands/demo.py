"""`sts demo`: the whole pipeline on a suite, one public command after the other."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
from typing import TYPE_CHECKING

from sts import registry
from sts.cli import demo
from sts.cli.arguments import count_cores
from sts.cli.command import declare, option, switch
from sts.cli.demo import Demo, agent_arguments
from sts.errors import ArgumentError

if TYPE_CHECKING:
    from sts.storage.workspace import Workspace


def list_commands(
    workspace: Workspace, domain_demo: Demo, *, continuations: int, workers: int, port: int | None
) -> list[list[str]]:
    """Return the commands of a demo, in order, without the common flags; no port, no app."""
    from sts.suites.folders import list_versions

    amount = ["--continuations", str(continuations), "--workers", str(workers)]
    scenario, *pair = domain_demo.example
    name, _, version = domain_demo.suite.partition("@")
    is_frozen = int(version) in list_versions(workspace).get(name, {})
    commands = [] if is_frozen else [list(words) for words in domain_demo.setup]
    commands += [
        ["suite", "verify", domain_demo.suite],
        ["run", domain_demo.suite, *agent_arguments(domain_demo.agents), *amount],
        ["show", f"{domain_demo.suite}/{scenario}", *agent_arguments(pair)],
        ["label", domain_demo.suite],
        *(list(words) for words in domain_demo.measurements),
        ["report", domain_demo.suite],
    ]
    if port is not None:
        commands.append(["annotate", domain_demo.suite, "--user", "you", "--port", str(port)])
    return commands


def _list_demos() -> str:
    return ", ".join(registry.list_entry_points(demo.GROUP)) or "none, as there is no demo"


def _select_demo(domain: str | None) -> Demo:
    """Return the demo of a domain, or the first."""
    domain_demo = demo.load_demo(domain) if domain is not None else demo.find_first_demo()
    if domain_demo is None:
        raise ArgumentError(f"expected --domain D, one of {_list_demos()}")
    return domain_demo


@declare("demo --no-app")
def run_demo(
    as_json: bool,
    debug: bool,
    workspace_path: str | None,
    *,
    domain: str | None = option("D", f"environment: {_list_demos()} (default: the first)"),
    no_app: bool = switch("stop after the report"),
    continuations: int = option("N", "continuations per scenario and agent", 10),
    workers: int = option("W", "processes (default: one per processor)", count_cores()),
    port: int = option("P", "port of the annotator app", 8501),
) -> int:
    """Run the whole pipeline on a packaged suite, then open the annotator app.

    With --json each command's JSON is gathered and printed at the end, as one list.
    """
    from sts.cli.main import main
    from sts.storage.workspace import Workspace

    if as_json and not no_app:
        raise ArgumentError("--json needs --no-app: the annotator prints for people")
    common = ["--workspace", workspace_path] if workspace_path else []
    common += ["--debug"] if debug else []
    gathered = []
    chosen, workspace = _select_demo(domain), Workspace.open(workspace_path)
    commands = list_commands(
        workspace,
        chosen,
        continuations=continuations,
        workers=workers,
        port=None if no_app else port,
    )
    if not as_json:
        takes = chosen.requirements
        print(
            f"{len(commands)} commands with {workers} processes, in {workspace.root}"
            f"{f': {takes}' if takes else ''}. If it is interrupted, run it again to continue.",
            flush=True,
        )
    for words in commands:
        if as_json:
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
    if as_json:
        print(json.dumps(gathered, indent=1, ensure_ascii=False))
    return 0
