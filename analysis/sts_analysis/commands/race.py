"""`sts race`: looks at a suite that is judged in rounds, and a lead's decisions about them."""

import argparse
import getpass
from typing import Any

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings.plan import validate_reason
from sts.annotations.log.looks import load_race
from sts.annotations.people import people
from sts.annotations.queue.leaving import confirm_look, keep_agent
from sts.annotations.races import Look
from sts.annotations.study import base_suite
from sts.cli.command import Result
from sts.commands.study import resolve_study
from sts.errors import ArgumentError
from sts.names import count_noun, isolate
from sts.storage.workspace import Workspace
from sts_analysis.planning.looks import make_due_look
from sts_analysis.report.text import write_point


def race(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Make the look that is due, confirm one, or keep an agent."""
    suite = base_suite(resolve_study(workspace, args.suite))
    if args.confirm and args.keep:
        raise ArgumentError("--confirm and --keep are two decisions; give one at a time")
    if args.reason and not args.keep:
        raise ArgumentError("--reason says why an agent is kept; name it with --keep AGENT")
    with AnnotationStore.open(workspace) as store:
        if args.keep:
            return _keep(args, store, suite)
        if args.confirm:
            return _confirm(args, store, suite)
        look = make_due_look(store, workspace, suite)
        if look is not None:
            return Result(look._asdict(), describe_look(look))
        with store.read() as connection:
            pending = load_race(connection, suite).pending
        if pending is not None:
            return Result(pending._asdict(), describe_look(pending))
    return Result(
        None, f"no look at {suite} is due; sts annotations rounds {suite} shows the state"
    )


def _confirm(args: argparse.Namespace, store: AnnotationStore, suite: str) -> Result:
    with store.write(exclusive=True) as connection:
        lead = people.get_lead(connection, args.author or getpass.getuser())
        look = confirm_look(connection, suite, lead, now=store.now())
    names = ", ".join(map(isolate, look.leaving))
    return Result(look._asdict(), f"confirmed by {isolate(lead.name)}: {names} left the race")


def _keep(args: argparse.Namespace, store: AnnotationStore, suite: str) -> Result:
    reason = validate_reason(args.reason)
    with store.write(exclusive=True) as connection:
        lead = people.get_lead(connection, args.author or getpass.getuser())
        keep_agent(connection, suite, args.keep, lead, reason, now=store.now())
    value: dict[str, Any] = {"agent": args.keep, "by": lead.name, "reason": reason}
    return Result(value, f"{isolate(args.keep)} stays in the race, as {isolate(lead.name)} decided")


def describe_look(look: Look) -> str:
    """Say in a few lines what a look decided."""
    outcomes = [pair.outcome for pair in look.pairs]
    counts = [f"{count_noun(outcomes.count(one), 'pair')} {one}" for one in dict.fromkeys(outcomes)]
    names = ", ".join(map(isolate, look.leaving)) or "no agent"
    verb = "will leave the race once a lead confirms it" if look.needs_confirmation else "left"
    return (
        f"look {look.number}, after {write_point(look.point)}: {', '.join(counts)}\n{names} {verb}"
    )
