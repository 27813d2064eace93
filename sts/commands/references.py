"""`sts references`: continuations of known verdict, served silently to measure annotators."""

import argparse
import re
from pathlib import Path
from typing import NamedTuple

from sts.annotations import queue
from sts.annotations.references import check_truth, list_references
from sts.annotations.store import AnnotationStore
from sts.annotations.types import Item
from sts.cli.arguments import format_table
from sts.cli.command import Result
from sts.commands.rows import check_single, locate_errors, parse_rows, read_rows
from sts.commands.study import read_study
from sts.errors import ArgumentError
from sts.names import count_noun, quote
from sts.ratings import normalise_verdict
from sts.storage.workspace import Workspace


class _NewReference(NamedTuple):
    item: Item
    verdict: str
    step: int | None
    note: str


def add(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Put continuations of known verdict into the pool; all of a CSV file, or none."""
    check_single(args.continuation, args.csv, "CONTINUATION")
    if args.csv is not None:
        if args.verdict or args.step is not None or args.note:
            raise ArgumentError("--csv cannot be combined with --verdict, --step or --note")
        return _add_rows(args.csv, workspace)
    if args.verdict is None:
        raise ArgumentError("expected --verdict, the known verdict of the continuation")
    item, *_ = _check(workspace, args.continuation, args.verdict, args.step, args.note)
    with AnnotationStore.open(workspace) as store, store.write(alone=True) as connection:
        queue.add_reference(connection, item, args.verdict, args.step, args.note, now=store.now())
    done = {"continuation": item.continuation, "verdict": args.verdict, "step": args.step}
    text = (
        f"{item.continuation} is a reference now, with the verdict {args.verdict}; it measures "
        f"annotators, and no longer counts for {item.agent}"
    )
    return Result(done, text)


def _add_rows(path: Path, workspace: Workspace) -> Result:
    rows = read_rows(path, ("continuation", "verdict"), ("step", "note"))
    new = parse_rows(
        rows,
        lambda cells: _check(
            workspace,
            cells["continuation"],
            normalise_verdict(cells["verdict"]),
            _parse_step(cells["step"]) if cells["step"] else None,
            cells["note"],
        ),
    )
    with AnnotationStore.open(workspace) as store, store.write(alone=True) as connection:
        for row, reference in zip(rows, new, strict=True):
            with locate_errors(row):
                queue.add_reference(connection, *reference, now=store.now())
    value = [{"continuation": item.continuation, "verdict": v, "step": s} for item, v, s, _ in new]
    text = f"{count_noun(len(new), 'continuation')} of {path} are references now"
    return Result({"references": value}, text)


def _parse_step(cell: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}(\.0)?", cell):  # pandas writes whole numbers as 7.0
        raise ArgumentError(f"expected a step as a whole number, found {quote(cell)}")
    return int(cell.removesuffix(".0"))


def _check(
    workspace: Workspace, continuation: str, verdict: str, step: int | None, note: str
) -> _NewReference:
    """Return a reference to be added; raise StsError if it is unknown, or its truth invalid."""
    from sts.annotations.items import make_item
    from sts.continuations.store import find_continuation

    item = make_item(find_continuation(workspace, continuation), suite="")
    check_truth(verdict, step, item.horizon)
    return _NewReference(item, verdict, step, note)


def ls(args: argparse.Namespace, workspace: Workspace) -> Result:
    """List the pool."""
    pool = read_study(workspace, list_references) or []
    rows = [
        (
            reference.continuation,
            reference.verdict,
            reference.step or "",
            reference.judged,
            reference.note,
        )
        for reference in pool
    ]
    text = "no references yet; `sts references add CONTINUATION --verdict VERDICT` adds one"
    if rows:
        text = format_table(("continuation", "verdict", "step", "judged", "note"), rows)
    return Result({"references": [reference._asdict() for reference in pool]}, text)
