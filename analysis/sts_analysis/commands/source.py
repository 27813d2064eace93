"""The suite or the ratings table that a command is given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sts.cli.arguments import warn
from sts.cli.command import argument, option, repeatable, switch
from sts.errors import ArgumentError
from sts.names import quote

if TYPE_CHECKING:
    from sts_analysis.inputs.gather import Gathered
    from sts_analysis.inputs.mapping import ColumnMapping
    from sts_analysis.planning.pilot import Pilot


EITHER = "give either a suite, NAME@VERSION, or --table FILE"
SEED = option("S", "seed of the random draws (default: 0)", 0, least=0)


class TableFlags(NamedTuple):
    """Options that say how a table of other people is read."""

    column: list[str] = repeatable(
        "NAME=COLUMN",
        "column of --table that holds NAME, such as agent=Agent; repeatable (default: its name)",
    )
    success: list[str] = repeatable(
        "WORD", 'verdict in --table that means success, or numbers: ">=4"; repeatable'
    )
    failure: list[str] = repeatable("WORD", "verdict in --table that means failure; repeatable")
    same: list[str] = repeatable(
        "NAME=SPELLING", "two spellings of one name, such as Ann=ann; repeatable"
    )
    distinct: list[str] = repeatable(
        "NAME|NAME", "similar names of two, such as Ann|ann; repeatable"
    )
    not_done: list[str] = repeatable(
        "WORD", "verdict in --table that means neither by the end; repeatable"
    )
    cannot_judge: list[str] = repeatable(
        "WORD", "verdict in --table of those who could not judge; repeatable"
    )
    ignore: list[str] = repeatable("WORD", "verdict in --table whose rows are left out; repeatable")
    annotator_columns: str | None = option(
        "A,B", "columns of --table, by name or number, with the verdicts of an annotator each"
    )
    model_annotator: list[str] = repeatable(
        "NAME", "annotator in --table that is a program; repeatable"
    )
    leave_out: list[str] = repeatable("COLUMN=VALUE", "rows of --table to leave out; repeatable")
    unused: list[str] = repeatable("COLUMN", "column of --table that plays no part; repeatable")
    keep_equal_rows: bool = switch("equal rows of --table are attempts of their own")
    format: str | None = option(
        "PROGRAM",
        "program that exported --table: label-studio, prolific, mturk, qualtrics, inspect, boris",
    )


class PilotSource(NamedTuple):
    """Arguments that name a pilot: its judgements, their source and its scenarios."""

    suite: str | None = argument("NAME@VERSION", "fully or partly annotated suite", nargs="?")
    table: str | None = option("FILE", "ratings table instead of a suite (default: none)")
    table_flags: TableFlags = TableFlags()
    target: Literal["sampled", "fixed"] = option(
        ("sampled", "fixed"),
        "whether the scenarios are a sample (default) or all that matter",
        "sampled",
    )
    labels: str | None = option(
        ("human", "automatic", "model"), "label source (default: the report's)"
    )


TABLE_FLAGS, PILOT = TableFlags(), PilotSource()


def has_source(source: PilotSource) -> bool:
    """Return whether there is a suite or a table; raise ArgumentError if there are both."""
    if source.suite is not None and source.table is not None:
        raise ArgumentError(EITHER)
    parse_mapping(source.table, source.table_flags)
    return source.suite is not None or source.table is not None


def parse_mapping(table: str | None, flags: TableFlags) -> ColumnMapping:
    """Return how the options of a command say that a table is read.

    Raises:
      ArgumentError: see `make_mapping`; or a `--column` has no `=`, two are of the same column, or
        there is no table.
    """
    from sts_analysis.inputs.mapping import TableOptions, make_mapping

    if table is None:
        for name in ("column", "success", "failure", *TableOptions.__annotations__):
            if getattr(flags, name):
                raise ArgumentError(f"--{name.replace('_', '-')} needs --table")
    columns: dict[str, str] = {}
    for pair in flags.column:
        name, separator, column = pair.partition("=")
        if not (separator and name and column):
            raise ArgumentError(
                f"--column: expected NAME=COLUMN, such as agent=Agent, found {quote(pair)}"
            )
        if name in columns:
            raise ArgumentError(
                f"--column: expected one column for {quote(name)}, found {quote(columns[name])} "
                f"and {quote(column)}"
            )
        columns[name] = column
    options: Any = {name: getattr(flags, name) for name in TableOptions.__annotations__}
    wide = flags.annotator_columns
    options |= {"annotator_columns": wide.split(",") if wide else (), "format": flags.format or ""}
    return make_mapping(columns, flags.success, flags.failure, of_command=True, **options)


def gather_source(
    suite: str | None,
    table: str | None,
    flags: TableFlags,
    workspace_path: str | None,
    against: str | None = None,
) -> Gathered:
    """Gather what has been annotated or labelled, beside suite `against` if one is named."""
    from sts.spellings import make_spellings
    from sts_analysis.inputs.gather import gather_table

    spellings = make_spellings(flags.same, flags.distinct)
    if table is not None:
        return gather_table(Path(table), parse_mapping(table, flags), spellings)
    # Only a suite needs a workspace, its annotations, and worlds to check it by.
    from sts.storage.workspace import Workspace
    from sts_analysis.inputs.workspace import gather

    assert suite is not None  # checked by the caller
    gathered = gather(Workspace.open(workspace_path), suite, against)
    return gathered._replace(spellings=spellings)


def check_spellings(table: str | None, flags: TableFlags, scores: str | None = None) -> None:
    """Raise ArgumentError if spellings are given without a table."""
    if (flags.same or flags.distinct) and table is None and not scores:
        raise ArgumentError("--same and --distinct need --table or --scores")


def load_pilot(source: PilotSource, workspace_path: str | None) -> Pilot:
    """Read the pilot of a study: a suite that is annotated in part, or a ratings table."""
    from sts_analysis.planning.pilot import read_pilot

    check_spellings(source.table, source.table_flags)
    gathered = gather_source(source.suite, source.table, source.table_flags, workspace_path)
    for question in gathered.reading.questions if gathered.reading else ():
        warn(question)
    return read_pilot(gathered.ratings, gathered.suite, target=source.target, source=source.labels)
