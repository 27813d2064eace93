"""`sts record` and `sts run`: let agents play, and continue a suite's scenarios."""

import argparse
import functools

from sts import api
from sts.agents.identity import describe_fingerprint
from sts.cli.arguments import format_table
from sts.cli.command import Result
from sts.cli.settings import read_settings
from sts.names import count_noun
from sts.storage.workspace import Workspace


def record(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Record, save, and count the trajectories."""
    recorded = api.record(
        args.agent,
        episodes=args.episodes,
        steps=args.steps,
        seed=args.seed,
        domain=args.domain,
        options=functools.partial(read_settings, args),
        workers=args.workers,
        workspace=workspace,
    )
    test, path = int((recorded["split"] == "test").sum()), recorded.attrs["file"]
    return Result(
        {"file": path, "trajectories": recorded["trajectory"].tolist(), "test": test},
        f"{count_noun(len(recorded), 'trajectory')} of {args.steps} steps, {test} in the test "
        f"split -> {path}",
    )


def run(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Run what is missing, and count the continuations of each agent."""
    selection = api.load_suite(args.suite, workspace=workspace)
    agents = api.run_selection(
        workspace,
        selection,
        args.agent,
        count=args.continuations,
        seed=args.seed,
        workers=args.workers,
        executor=args.executor,
        replay=not args.no_replay,
    )
    header = ("agent", "new", "reused", "fingerprint")
    rows = [
        (*(agent[key] for key in header[:3]), describe_fingerprint(agent[header[3]]))
        for agent in agents
    ]
    next_step = f"next: sts label {selection.label}, then sts report {selection.label}"
    return Result(agents, f"{format_table(header, rows)}\n\n{next_step}")
