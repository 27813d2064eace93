"""`sts references`: continuations of known verdict, served silently to measure annotators."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sts.cli.arguments import format_table
from sts.cli.command import Result, argument, declare, group, option, switch
from sts.commands.study import ANY_SUITE, read_study, resolve_study
from sts.errors import ArgumentError
from sts.names import count_noun, quote

if TYPE_CHECKING:
    from sts.annotations.records import Item
    from sts.storage.workspace import Workspace


@declare("add CONTINUATION --verdict success --step 7")
def add(
    workspace: Workspace,
    *,
    continuation: str | None = argument("CONTINUATION", "id or its first digits", nargs="?"),
    csv: Path | None = option(
        "FILE", "clips to add: columns continuation, verdict, step, note", type=Path
    ),
    verdict: str | None = option("VERDICT", "success, failure or not_done"),
    step: int | None = option(
        "STEP", "step of the marker, 1 to the horizon, from the takeover", type=int
    ),
    note: str = option("NOTE", "reason for the verdict", ""),
) -> Result:
    """Add a continuation whose verdict is known, or those in a CSV file."""
    from sts.annotations.database.annotation_store import AnnotationStore
    from sts.annotations.queue import queue
    from sts.annotations.queue.items import make_item
    from sts.annotations.queue.references import check_truth
    from sts.continuations.continuation_store import find_continuation
    from sts.ratings import normalise_verdict
    from sts.storage.lines import map_lines, read_rows

    given = continuation, verdict, csv and "csv"
    if [bool(value) for value in given] not in ([True, True, False], [False, False, True]):
        raise ArgumentError("expected either CONTINUATION and --verdict, or --csv FILE")

    def parse(cells: Mapping[str, str]) -> tuple[Item, str, int | None, str]:
        item = make_item(find_continuation(workspace, cells["continuation"]), suite="")
        truth, marked = normalise_verdict(cells["verdict"]), _parse_step(cells["step"])
        check_truth(truth, marked, item.horizon)
        return item, truth, marked, cells["note"]

    cell = "" if step is None else str(step)
    cells = {"continuation": continuation or "", "verdict": verdict or "", "step": cell}
    rows = {1: cells | {"note": note}}
    if csv:
        rows = read_rows(csv, ("continuation", "verdict"), ("step", "note"))
    new = map_lines(csv, rows, parse)
    with AnnotationStore.open(workspace) as store, store.write(exclusive=True) as connection:
        study, now = store.study, store.now()
        map_lines(csv, new, lambda row: queue.add_reference(connection, *row, study=study, now=now))
    done = [
        {"continuation": item.continuation, "verdict": truth, "step": marked}
        for item, truth, marked, _ in new.values()
    ]
    if csv:
        text = f"{count_noun(len(done), 'continuation')} of {csv} are references now"
        return Result({"references": done}, text)
    item = new[1][0]
    text = (
        f"{item.continuation} is a reference now, with the verdict {verdict}; it measures "
        f"annotators, and no longer counts for {item.agent}"
    )
    return Result(done[0], text)


def _parse_step(cell: str) -> int | None:
    if not cell:
        return None
    if not re.fullmatch(r"-?[0-9]{1,9}(\.0)?", cell):  # pandas writes whole numbers as 7.0
        raise ArgumentError(f"expected a step as a whole number, found {quote(cell)}")
    return int(cell.removesuffix(".0"))


@declare("propose {suite}")
def propose(
    workspace: Workspace,
    *,
    suite: str | None = ANY_SUITE,
    add: bool = switch("add them as references (default: only list them)"),
) -> Result:
    """List clips on which three annotators agree, some of them by the instruction alone."""
    from sts.annotations.database.annotation_store import AnnotationStore
    from sts.annotations.findings.conditions import MIN_ANNOTATORS, propose_references
    from sts.annotations.queue import queue
    from sts.annotations.queue.items import make_item
    from sts.continuations.continuation_store import find_continuation
    from sts.ratings import PEOPLE

    suite = resolve_study(workspace, suite)
    store = AnnotationStore.find(workspace)
    if store is None:
        raise ArgumentError(f"no study has started in {workspace.root}; nothing is judged")
    with store, store.write(exclusive=True) as connection:
        proposals = propose_references(connection, suite, store.study.marker_tolerance)
        for proposed in proposals.references if add else ():
            item = make_item(find_continuation(workspace, proposed.continuation), suite="")
            truth, study, now = (proposed.verdict, proposed.step), store.study, store.now()
            queue.add_reference(connection, item, *truth, source=PEOPLE, study=study, now=now)
    rows = proposals.references
    value = {"references": [row._asdict() for row in rows], "added": add}
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
    if add:
        end = f"{count_noun(len(rows), 'reference')} added; they no longer count for their agents"
    return Result(value, f"{table}\n{end}")


@declare("ls")
def ls(workspace: Workspace) -> Result:
    """List the reference clips."""
    from sts.annotations.queue.references import list_references

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


REFERENCES = group("references add CONTINUATION --verdict success --step 7", add, ls, propose)
