"""What a report is made from, gathered: ratings, scores and what they are about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from sts.ratings import TYPES
from sts.spellings import UNSTATED, Spellings
from sts_analysis.inputs import tables
from sts_analysis.inputs.mapping import AS_WRITTEN, ColumnMapping
from sts_analysis.inputs.ratings import NUMBERS, Excluded, check_ratings, split_excluded
from sts_analysis.inputs.scores import (
    COLUMNS,
    Versions,
    check_scores,
    empty_scores,
    match_agents,
    override_scores,
)
from sts_analysis.inputs.subject import Other, Subject
from sts_analysis.inputs.tables import InputFile, describe_frame

if TYPE_CHECKING:  # a report on a file needs no worlds
    from sts.continuations.types import Continuation
    from sts.suites.types import Scenario


class Gathered(NamedTuple):
    """What `build` asks for, and where the report goes.

    Attributes:
      ratings: a checked ratings table, without the judgements of excluded people.
      scores: a checked scores table.
      suite: what the report is about.
      folder: where it goes unless it is told otherwise.
      other: the other version, where one is asked.
      ids: of a workspace the id of each continuation, by its number in the ratings table.
      mapping: how the columns and verdicts of a foreign table were read.
      inputs: what identifies each file or data frame that was read; none for a suite.
      media_folder: what the paths in the column `media` are relative to; None without paths.
      excluded: what was left out because its annotators were excluded.
      versions: the name and fingerprint of each agent by its name in the ratings; {} of a table.
      spellings: what is known of names that differ only in how they are written.
      unmatched: agents of an added scores table that are not in the ratings.
      unjudged: of a table, continuations that only excluded people judged, by agent and scenario.
      missing: planned continuations that agents lack, by agent and scenario; None of a table, where
        they follow from the ratings.
      absent: agents that `sts run` was asked for, none of whose continuations are in the ratings.
      refused: why one of them may be an agent of the ratings after all; "" if none may.
      scenarios: of the suite; none for a table.
      load: loads stored continuations by their ids; None of a table.
    """

    ratings: pd.DataFrame
    scores: pd.DataFrame
    suite: Subject
    folder: Path
    other: Other | None = None
    ids: pd.Series | None = None
    mapping: ColumnMapping = AS_WRITTEN
    inputs: tuple[InputFile, ...] = ()
    scenarios: tuple[Scenario, ...] = ()
    load: Callable[[Collection[str]], Iterable[Continuation]] | None = None
    media_folder: Path | None = None
    versions: Versions = MappingProxyType({})
    excluded: Excluded = Excluded()
    spellings: Spellings = UNSTATED
    unmatched: tuple[str, ...] = ()
    missing: Mapping[tuple[str, str], int] | None = None
    absent: tuple[str, ...] = ()
    refused: str = ""
    unjudged: Mapping[tuple[str, str], int] = MappingProxyType({})


def gather_table(
    path: Path, mapping: ColumnMapping = AS_WRITTEN, spellings: Spellings = UNSTATED
) -> Gathered:
    """Gather everything for the report of a ratings table in a file; see `check_ratings`."""
    table = tables.read_table(path, tuple(TYPES), mapping.columns, NUMBERS)
    return _gather(table, mapping, spellings)


def gather_frame(
    frame: pd.DataFrame, mapping: ColumnMapping = AS_WRITTEN, spellings: Spellings = UNSTATED
) -> Gathered:
    """Gather everything for the report of a ratings table in memory; see `check_ratings`."""
    table = tables.from_frame("table", frame, tuple(TYPES), mapping.columns, NUMBERS)
    table = table._replace(inputs=(describe_frame("table", frame),))
    return _gather(table, mapping, spellings)


def add_scores(gathered: Gathered, scores: Path | pd.DataFrame) -> Gathered:
    """Add a scores table, a file or in memory; where both have an agent's metric, it counts.

    Scores of agents that are not in the ratings count for nothing; see `Gathered.refused`.
    """
    if isinstance(scores, pd.DataFrame):
        table = tables.from_frame("scores", scores)
        table = table._replace(inputs=(describe_frame("scores", scores),))
    else:
        table = tables.read_table(scores, COLUMNS)
    known = {*gathered.ratings["agent"].unique(), *(name for name, _ in gathered.versions.values())}
    given, refused = match_agents(table.name, check_scores(table), known, gathered.spellings)
    return gathered._replace(
        scores=override_scores(gathered.scores, given),
        inputs=gathered.inputs + table.inputs,
        unmatched=tuple(sorted({*given["agent"]} - known)),
        refused=refused,
    )


def _gather(table: tables.RawTable, mapping: ColumnMapping, spellings: Spellings) -> Gathered:
    checked = check_ratings(table, mapping, spellings)
    ratings, excluded = split_excluded(checked)
    lost = checked[:0]
    if excluded.people:
        lost = checked[~checked["continuation"].isin(ratings["continuation"])]
        lost = lost.drop_duplicates("continuation")
    return Gathered(
        ratings,
        empty_scores(),
        Subject(table.name),
        Path("sts-report"),
        mapping=mapping,
        inputs=table.inputs,
        media_folder=table.folder,
        excluded=excluded,
        spellings=spellings,
        unjudged=Counter(zip(lost["agent"], lost["scenario"], strict=True)),
    )
