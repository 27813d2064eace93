"""`sts references`: continuations of known verdict, served silently to measure annotators."""

import argparse
import re
from collections.abc import Mapping

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.queue import queue
from sts.annotations.queue.references import check_truth, list_references
from sts.annotations.records import Item
from sts.cli.arguments import format_table
from sts.cli.command import Result
from sts.commands.study import read_study, resolve_study
from sts.errors import ArgumentError
from sts.names import count_noun, quote
from sts.ratings import PEOPLE, normalise_verdict
from sts.storage.lines import map_lines, read_rows
from sts.storage.workspace import Workspace


def add(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Put continuations of known verdict into the pool: one, or all of a CSV file."""
    from sts.annotations.queue.items import make_item
    from sts.continuations.continuation_store import find_continuation

    given = args.continuation, args.verdict, args.csv and "csv"
    if [bool(value) for value in given] not in ([True, True, False], [False, False, True]):
        raise ArgumentError("expected either CONTINUATION and --verdict, or --csv FILE")

    def parse(cells: Mapping[str, str]) -> tuple[Item, str, int | None, str]:
        item = make_item(find_continuation(workspace, cells["continuation"]), suite="")
        verdict, step = normalise_verdict(cells["verdict"]), _parse_step(cells["step"])
        check_truth(verdict, step, item.horizon)
        return item, verdict, step, cells["note"]

    step = "" if args.step is None else str(args.step)
    cells = {"continuation": args.continuation, "verdict": args.verdict, "step": step}
    rows = {1: cells | {"note": args.note}}
    if args.csv:
        rows = read_rows(args.csv, ("continuation", "verdict"), ("step", "note"))
    new = map_lines(args.csv, rows, parse)
    with AnnotationStore.open(workspace) as store, store.write(exclusive=True) as connection:
        study, now = store.study, store.now()
        map_lines(
            args.csv,
            new,
            lambda row: queue.add_reference(connection, *row, study=study, now=now),
        )
    done = [
        {"continuation": item.continuation, "verdict": verdict, "step": step}
        for item, verdict, step, _ in new.values()
    ]
    if args.csv:
        text = f"{count_noun(len(done), 'continuation')} of {args.csv} are references now"
        return Result({"references": done}, text)
    item = new[1][0]
    text = (
        f"{item.continuation} is a reference now, with the verdict {args.verdict}; it measures "
        f"annotators, and no longer counts for {item.agent}"
    )
    return Result(done[0], text)


def _parse_step(cell: str) -> int | None:
    if not cell:
        return None
    if not re.fullmatch(r"-?[0-9]{1,9}(\.0)?", cell):  # pandas writes whole numbers as 7.0
        raise ArgumentError(f"expected a step as a whole number, found {quote(cell)}")
    return int(cell.removesuffix(".0"))


def propose(args: argparse.Namespace, workspace: Workspace) -> Result:
    """List, or add, clips on which annotators agree under both conditions."""
    from sts.annotations.findings.conditions import MIN_ANNOTATORS, propose_references
    from sts.annotations.queue.items import make_item
    from sts.continuations.continuation_store import find_continuation

    suite = resolve_study(workspace, args.suite)
    store = AnnotationStore.find(workspace)
    if store is None:
        raise ArgumentError(f"no study has started in {workspace.root}; nothing is judged")
    with store, store.write(exclusive=True) as connection:
        proposals = propose_references(connection, suite, store.study.marker_tolerance)
        for proposed in proposals.references if args.add else ():
            item = make_item(find_continuation(workspace, proposed.continuation), suite="")
            truth, study, now = (proposed.verdict, proposed.step), store.study, store.now()
            queue.add_reference(connection, item, *truth, source=PEOPLE, study=study, now=now)
    rows = proposals.references
    value = {"references": [row._asdict() for row in rows], "added": args.add}
    value["missing"] = 0 if rows else proposals.missing
    if not rows:
        text = (
            f"no clip has {MIN_ANNOTATORS} annotators who all agree, some of them by the "
            f"instruction alone; the nearest lacks {count_noun(proposals.missing, 'judgement')}: "
            f"set annotations_per_clip to {MIN_ANNOTATORS} or more"
        )
        return Result(value, text)
    header = ("continuation", "scenario", "category", "verdict", "step", "annotators")
    table = format_table(header, [(*row[:4], row.step or "", row.annotators) for row in rows])
    end = f"{count_noun(len(rows), 'clip')}; add them with --add, then they count for no agent"
    if args.add:
        end = f"{count_noun(len(rows), 'reference')} added; they no longer count for their agents"
    return Result(value, f"{table}\n{end}")


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
