"""What a report is made from, gathered: ratings, scores and what they are about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
import pyarrow as pa

from sts.errors import DamagedData
from sts.names import is_pseudonym
from sts.ratings import TYPES
from sts.spellings import UNSTATED, Spellings
from sts_analysis.inputs.arrangement import arrange_rows, count_words
from sts_analysis.inputs.files import read_table
from sts_analysis.inputs.mapping import AS_WRITTEN, ColumnMapping, require_columns
from sts_analysis.inputs.ratings import NUMBERS, Excluded, check_ratings, split_excluded
from sts_analysis.inputs.reading import Reading
from sts_analysis.inputs.row_questions import ask_about_rows, refuse_equal_rows
from sts_analysis.inputs.scores import (
    COLUMNS,
    Versions,
    check_scores,
    empty_scores,
    match_agents,
    override_scores,
)
from sts_analysis.inputs.subject import ComparedVersion, Subject
from sts_analysis.inputs.tables import InputFile
from sts_analysis.inputs.words import find_codes, sort_words

if TYPE_CHECKING:  # a report on a file needs no worlds
    from sts.continuations.continuation import Continuation
    from sts.suites.suite import Scenario


class Gathered(NamedTuple):
    """The input of `build`, and the folder of the report."""

    ratings: pd.DataFrame  # a checked ratings table, without the judgements of excluded people
    scores: pd.DataFrame  # a checked scores table
    suite: Subject  # what the report is about
    folder: Path  # where it goes unless it is told otherwise
    # the version that it is compared with, if one was asked for
    compared: ComparedVersion | None = None
    # of a workspace the id of each continuation, by its number in the ratings table
    ids: pd.Series | None = None
    # how the columns, verdicts and rows of a foreign table were read, without the names of people
    mapping: ColumnMapping = AS_WRITTEN
    # what identifies each file or data frame that was read; none for a suite
    inputs: tuple[InputFile, ...] = ()
    scenarios: tuple[Scenario, ...] = ()  # of the suite; none for a table
    # loads stored continuations by their ids; None of a table
    load: Callable[[Collection[str]], Iterable[Continuation]] | None = None
    # what the paths in the column `media` are relative to; None without paths
    media_folder: Path | None = None
    # the name and fingerprint of each agent by its name in the ratings; {} of a table
    versions: Versions = MappingProxyType({})
    excluded: Excluded = Excluded()  # what was left out because its annotators were excluded
    # what is known of names that differ only in how they are written
    spellings: Spellings = UNSTATED
    unmatched: tuple[str, ...] = ()  # agents of an added scores table that are not in the ratings
    # planned continuations that agents lack, by agent and scenario; None of a table, where they
    # follow from the ratings
    missing: Mapping[tuple[str, str], int] | None = None
    # agents that `sts run` was asked for, none of whose continuations are in the ratings
    absent: tuple[str, ...] = ()
    refused: str = ""  # why one of them may be an agent of the ratings after all; "" if none may
    # of a table, continuations that only excluded people judged, by agent and scenario
    unjudged: Mapping[tuple[str, str], int] = MappingProxyType({})
    reading: Reading | None = None  # what was understood of a foreign table; None of a suite


def gather_table(
    path_or_frame: Path | pd.DataFrame,
    mapping: ColumnMapping = AS_WRITTEN,
    spellings: Spellings = UNSTATED,
) -> Gathered:
    """Gather everything for the report of a ratings table, a file or in memory.

    Raises:
      StsError: see `read_table` and `check_ratings`.
    """
    table = read_table(path_or_frame, tuple(TYPES), mapping, NUMBERS, with_others=True)
    name, header, found = table.name, table.header, table.columns
    require_columns(name, header, found, mapping)
    refuse_equal_rows(table, mapping)
    rows = len(table.lines)
    table, left_out = arrange_rows(table, mapping)
    if rows and table.frame.empty:
        reasons = ", ".join(f"{count} by {reason}" for reason, count in left_out.items())
        raise DamagedData(f"{name}: expected at least one row, found all left out: {reasons}")
    verdicts, questions = count_words(table, mapping), ask_about_rows(table, mapping)
    missing_media: list[str] = []
    checked = check_ratings(table, mapping, spellings, missing_media)
    ratings, excluded = split_excluded(checked)
    lost = checked[~checked["continuation"].isin(ratings["continuation"])]
    lost = lost.drop_duplicates("continuation")
    reading = Reading(
        name,
        table.form,
        len(ratings),
        {ours: theirs for ours, theirs in found.items() if ours in TYPES},
        tuple(column for column in header if column not in found.values()),
        verdicts,
        left_out,
        (*questions, *missing_media),
    )
    return Gathered(
        ratings,
        empty_scores(),
        Subject(name),
        Path("sts-report"),
        mapping=mapping.hide_people(header, found),
        inputs=table.inputs,
        media_folder=table.folder,
        excluded=excluded,
        spellings=spellings,
        unjudged=Counter(zip(lost["agent"], lost["scenario"], strict=True)),
        reading=reading,
    )


def use_pseudonyms(gathered: Gathered) -> Gathered:
    """Replace the names of people in a foreign table, other than pseudonyms of this project."""
    ratings = gathered.ratings
    is_person = (ratings["source"] == "human") & (ratings["annotator"] != "")
    names = sorted({*ratings["annotator"][is_person]})
    hidden = [name for name in names if not is_pseudonym(name)]
    digits = len(str(len(hidden)))
    pseudonyms = {name: f"annotator-{n:0{digits}}" for n, name in enumerate(hidden, 1)}
    codes, words = find_codes(ratings["annotator"])
    texts = pa.array([*words, *(pseudonyms.get(word, word) for word in words)], pa.large_string())
    shown = sort_words(codes + len(words) * is_person.to_numpy(), texts)
    return gathered._replace(
        ratings=ratings.assign(annotator=shown),
        spellings=gathered.spellings.mask(hidden),
    )


def add_scores(gathered: Gathered, scores: Path | pd.DataFrame) -> Gathered:
    """Add a scores table, a file or in memory; where both have an agent's metric, it counts.

    Scores of agents that are not in the ratings count for nothing; see `Gathered.refused`.
    """
    table = read_table(scores, COLUMNS, name="scores")
    known = {*gathered.ratings["agent"].unique(), *(name for name, _ in gathered.versions.values())}
    matched, refused = match_agents(table.name, check_scores(table), known, gathered.spellings)
    return gathered._replace(
        scores=override_scores(gathered.scores, matched),
        inputs=gathered.inputs + table.inputs,
        unmatched=tuple(sorted({*matched["agent"]} - known)),
        refused=refused,
    )
