"""`sts references`: continuations of known verdict, served silently to measure annotators."""

import argparse

from sts.annotations import queue
from sts.annotations.references import check_truth, list_references
from sts.annotations.store import AnnotationStore
from sts.cli.arguments import format_table
from sts.cli.command import Result
from sts.commands.study import read_study
from sts.storage.workspace import Workspace


def add(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Put a continuation of known verdict into the pool."""
    from sts.annotations.items import make_item
    from sts.continuations.store import find_continuation

    item = make_item(find_continuation(workspace, args.continuation), suite="")
    check_truth(args.verdict, args.step, item.horizon)
    with AnnotationStore.open(workspace) as store, store.write(alone=True) as connection:
        truth = args.verdict, args.step, args.note
        queue.add_reference(connection, item, *truth, study=store.study, now=store.now())
    done = {"continuation": item.continuation, "verdict": args.verdict, "step": args.step}
    text = (
        f"{item.continuation} is a reference now, with the verdict {args.verdict}; it measures "
        f"annotators, and no longer counts for {item.agent}"
    )
    return Result(done, text)


def ls(args: argparse.Namespace, workspace: Workspace) -> Result:
    """List the pool."""
    pool = read_study(workspace, list_references) or []
    rows = [
        (
            reference.continuation,
            reference.verdict,
            reference.step or "",
            reference.source,
            reference.judged,
            reference.note,
        )
        for reference in pool
    ]
    text = "no references yet; `sts references add CONTINUATION --verdict VERDICT` adds one"
    if rows:
        text = format_table(
            ("continuation", "verdict", "step", "truth from", "judged", "note"), rows
        )
    return Result({"references": [reference._asdict() for reference in pool]}, text)
