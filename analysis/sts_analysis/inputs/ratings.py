"""The ratings table: one row per judgement of a continuation, validated and typed.

A row whose annotator and verdict are empty is a continuation without a judgement. A column
that is absent, or empty throughout, is not known: what needs it is null in a report.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sts.errors import DamagedData
from sts.names import quote, replace_unprintable
from sts.ratings import (
    ACCESS_LEVELS,
    MARKED_VERDICTS,
    MAX_HORIZON,
    REQUIRED_COLUMNS,
    SOURCES,
    TRUTH_SOURCES,
    TYPES,
    VERDICTS,
    fold_word,
)
from sts.spellings import UNSTATED, Spellings, suggest_flags
from sts_analysis.inputs import tables
from sts_analysis.inputs.cell_checks import (
    clean_cells,
    parse_numbers,
    refuse_rounded,
    refuse_rows,
    require_one_value,
    require_words,
)
from sts_analysis.inputs.mapping import (
    AS_WRITTEN,
    IGNORED,
    ColumnMapping,
    require_columns,
)
from sts_analysis.inputs.media import make_media_check
from sts_analysis.inputs.words import (
    is_coded,
    is_empty,
    make_categories,
    map_words,
    number_groups,
    replace_words,
)

KINDS = ("instruction", "question")
NAMES = ("agent", "scenario", "category", "trajectory", "continuation", "annotator")
CONTINUATION = ("agent", "scenario", "continuation")
"""What a continuation is known by; its own name may be an index from 0."""
SPELLED = ("agent", "scenario", "category", "annotator")
"""Names of which one may be written in several ways."""
_COUNTED = ("order", "round", "cell")
"""Numbers that are counted from 1."""
NUMBERS = ("step", "horizon", "truth_step", "seconds", "adjudicated_step", "place", *_COUNTED)
_FLAGS = {"extra": "0", "twice": "0", "rubric_shown": "1"}
_DEFAULTS = {"source": "human", "sees": "observation", **_FLAGS}


def check_ratings(
    table: tables.RawTable,
    mapping: ColumnMapping = AS_WRITTEN,
    spellings: Spellings = UNSTATED,
    missing_media: list[str] | None = None,
) -> pd.DataFrame:
    """Validate a ratings table and give every column its type.

    A continuation's rows agree on its horizon and media. A scenario has one category, kind and
    trajectory, an agent sees one thing. Without a column `continuation` every row is one of its
    own.

    Args:
      table: the text as found, in columns of the format.
      mapping: what its verdicts mean.
      spellings: which names that differ only in how they are written are one, and which are not.
      missing_media: gets a sentence if files of the column `media` do not exist.

    Returns:
      Every column of the format. continuation is int64, a number for each in the order of agent,
      scenario and name. step, truth_step, adjudicated_step, seconds, order, round, place and
      cell are float64, NaN where empty; horizon is int64, or float64 NaN throughout where the table
      has none; extra, twice and rubric_shown are bool. The others are texts, "" where empty: names,
      media and verdicts as categories in alphabetical order. media is an address, or a path
      relative to the table's folder. Reference episodes are the rows with a truth.

    Raises:
      DamagedData: names the file, the line and what was expected there.
    """
    require_columns(table.name, table.header, table.frame.columns, mapping)
    if table.frame.empty:
        raise DamagedData(f"{table.name}: expected at least one row, found only a header")
    frame = table.frame
    filled_columns = {c for c in TYPES if c in frame and not is_empty(frame[c]).all()}
    for column in TYPES:
        usual = _DEFAULTS.get(column, "")
        if column not in filled_columns:
            frame[column] = make_categories(np.zeros(len(frame), np.int8), [usual])
        elif usual or not (is_coded(frame[column]) or frame[column].dtype == np.float64):
            frame[column] = replace_words(frame[column], {"": usual})
    _check_words(table, mapping)
    _check_names(table, filled_columns, spellings)
    horizon = _horizon(table, filled_columns)
    step = _steps(table, "step", horizon)
    timeless = frame["verdict"].isin(("not_done", "cannot_judge", "")).to_numpy()
    bad = np.isfinite(step) & timeless
    refuse_rows(table, bad, "no step beside not_done and cannot_judge", "step")
    truth_step = _steps(table, "truth_step", horizon)
    decided_step = _steps(table, "adjudicated_step", horizon)
    unmarked = ~frame["adjudicated"].isin(MARKED_VERDICTS).to_numpy()
    expected = f"a step beside {' and '.join(MARKED_VERDICTS)} alone"
    refuse_rows(table, np.isfinite(decided_step) & unmarked, expected, "adjudicated_step")
    seconds = parse_numbers(table, "seconds", "at least 0 seconds", optional=True, least=0)
    expected = "a whole number, 1 or more"
    counted = {
        name: parse_numbers(table, name, expected, optional=True, integer=True, least=1)
        for name in _COUNTED
    }
    place = parse_numbers(table, "place", "a share of a round, 0 to 1", optional=True, least=0)
    refuse_rows(table, place > 1, "a share of a round, 0 to 1", "place")
    missing_media = [] if missing_media is None else missing_media
    missing_media += _check_media(table)
    number = _numbers(frame, filled_columns)
    _check_agreement(table, number)
    return frame.assign(
        continuation=number,
        step=step,
        horizon=horizon.astype(np.int64) if "horizon" in filled_columns else horizon,
        truth_step=truth_step,
        adjudicated_step=decided_step,
        seconds=seconds,
        extra=(frame["extra"] == "1").to_numpy(),
        twice=(frame["twice"] == "1").to_numpy(),
        **counted,
        place=place,
        rubric_shown=(frame["rubric_shown"] == "1").to_numpy(),
        notes=map_words(frame["notes"], replace_unprintable),
        excluded=map_words(frame["excluded"], replace_unprintable),
    )[list(TYPES)]


class Excluded(NamedTuple):
    """Judgements of annotators whom study leads excluded; the reasons are sorted."""

    people: int = 0
    judgements: int = 0
    reasons: tuple[str, ...] = ()


def split_excluded(ratings: pd.DataFrame) -> tuple[pd.DataFrame, Excluded]:
    """Return a checked table without the judgements of excluded people, and what these are."""
    out = (ratings["excluded"] != "").to_numpy()
    if not out.any():
        return ratings, Excluded()
    rows = deduplicate_judgements(ratings[out])
    reasons = tuple(sorted(rows["excluded"].unique()))
    left = ratings[~out].reset_index(drop=True)
    return left, Excluded(rows["annotator"].nunique(), len(rows), reasons)


def deduplicate_judgements(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a checked table in which each judgement stands once.

    A verdict on a clip has a row for each continuation that the clip covers. The row of the first
    continuation is returned.
    """
    known = ratings["clip"] != ""
    if not known.any():
        return ratings
    first = ratings.groupby("clip")["continuation"].transform("min")
    thing = ratings["continuation"].where(~known, first)
    rows = ratings.assign(continuation=thing)
    again = rows.duplicated(["source", "annotator", "continuation"]) & known
    return rows[~again]


def apply_adjudication(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a checked table with the verdicts that continuations are worth.

    A reviewer's decision replaces the verdicts of the annotators that it decides between.
    Auto-resolved rows are left out if an annotator has judged the continuation. Agreement and
    accuracy use the verdicts themselves, so the table as it was.
    """
    settled = ratings["source"] == "settled"
    if settled.any():
        human = (ratings["source"] == "human") & (ratings["verdict"] != "")
        judged = ratings["continuation"].isin(ratings.loc[human, "continuation"])
        ratings = ratings[~(settled & judged)]
    decided = (ratings["adjudicated"] != "") & (ratings["source"] == "human")
    if not decided.any():
        return ratings
    return ratings.assign(
        verdict=np.where(decided, ratings["adjudicated"], ratings["verdict"]),
        step=ratings["step"].where(~decided, ratings["adjudicated_step"]),
    )


def find_measuring(ratings: pd.DataFrame) -> pd.Series:
    """Return bool[rows], answers of people to references by which their accuracy is measured.

    Those by the instruction alone count only if the truth comes from people, too.
    """
    fair = ratings["rubric_shown"] | (ratings["truth_source"] == "people")
    return (ratings["truth"] != "") & (ratings["source"] == "human") & fair


def _check_media(table: tables.RawTable) -> list[str]:
    """Check the column `media`, empty the cells of missing files, and return a sentence on them."""
    missing: dict[str, None] = {}
    check = make_media_check(table.folder, missing.setdefault)
    cells = table.frame["media"]
    clean_cells(table, "media", check)
    if not missing:
        return []
    first = next(iter(missing))
    row = int(np.argmax((cells == first).to_numpy()))
    more = f", nor do {len(missing) - 1} other files" if len(missing) > 1 else ""
    return [f"{table.name_row(row)}: media: {quote(first)} does not exist{more}: not shown."]


def _numbers(frame: pd.DataFrame, filled_columns: set[str]) -> pd.Series:
    """Return int64[rows], which continuation each is of, counted in the order of their names."""
    number = number_groups(frame, CONTINUATION)
    if "continuation" not in filled_columns:  # a row is one
        number = np.argsort(np.argsort(number, kind="stable"))
    return pd.Series(number, frame.index)


def _check_words(table: tables.RawTable, mapping: ColumnMapping) -> None:
    """Check the columns that hold one of a few words."""
    frame = table.frame

    for column in ("verdict", "truth", "adjudicated"):
        frame[column] = map_words(frame[column], mapping.interpret)
    require_words(table, "source", SOURCES)
    require_words(table, "sees", ACCESS_LEVELS)
    require_words(table, "kind", (*KINDS, ""))
    require_words(table, "truth", ("success", "failure", "not_done", ""))
    require_words(table, "adjudicated", (*VERDICTS, ""))
    require_words(table, "truth_source", (*TRUTH_SOURCES, ""))
    for column in _FLAGS:  # which pandas writes as 1.0 if some are missing
        frame[column] = map_words(frame[column], fold_word)
        require_words(table, column, ("0", "1"))
    other = _settled(frame) & (frame["verdict"] != "not_done").to_numpy()
    refuse_rows(table, other, "not_done where a rule has settled it", "verdict")
    options = map(mapping.name_option, VERDICTS)
    refuse_rows(
        table,
        ~frame["verdict"].isin(VERDICTS).to_numpy() & ~_unjudged(frame),
        f"a verdict, one of {', '.join(mapping.understood)}",
        "verdict",
        f"; name other words with {', '.join(options)} and {mapping.name_option(IGNORED)}",
    )


def _check_names(table: tables.RawTable, filled_columns: set[str], spellings: Spellings) -> None:
    """Check names, and whether each row is a continuation where the table names none."""
    frame = table.frame
    for column in (*NAMES, "clip"):
        refuse_rounded(table, column)
    for column in NAMES:
        clean_cells(table, column)
    _join_spellings(table, spellings)
    empty = {column: (frame[column] == "").to_numpy() for column in NAMES}
    reference = (frame["truth"] != "").to_numpy()
    for column in ("agent", "scenario", "category", "trajectory"):
        if column in (*REQUIRED_COLUMNS, *filled_columns):
            refuse_rows(table, empty[column] & ~reference, "a name", column)
    if "annotator" in filled_columns:
        is_unjudged = _unjudged(frame) | _settled(frame)
        refuse_rows(table, empty["annotator"] & ~is_unjudged, "a name", "annotator")
    if "continuation" in filled_columns:
        refuse_rows(table, empty["continuation"], "a name", "continuation")
    else:
        _check_alone(table)


def _join_spellings(table: tables.RawTable, spellings: Spellings) -> None:
    """Replace the spellings of one name, and reject two of an annotator that may be one person."""
    frame = table.frame
    for column in SPELLED:
        if names := spellings.resolve(frame[column].cat.categories):
            frame[column] = replace_words(frame[column], names)
    for first, second, others in spellings.find_pairs(frame["annotator"].cat.categories):
        row = int(np.argmax((frame["annotator"] == second).to_numpy()))
        more = f" (and {others} more spellings)" if others else ""
        raise DamagedData(
            f"{table.name_row(row)}: annotators {quote(first)} and {quote(second)}{more} differ "
            f"only in how they are written; add {suggest_flags(first, second)}"
        )


def _check_alone(table: tables.RawTable) -> None:
    """Reject a table in which two rows may be of one continuation, and nothing says so."""
    frame = table.frame
    cell = number_groups(frame, ("agent", "scenario"))
    judge = number_groups(frame, ("source", "annotator"))
    pairs = pd.DataFrame({"cell": cell, "judge": judge})[~_unjudged(frame)].drop_duplicates()
    several = pairs["cell"][pairs["cell"].duplicated()]
    expected = "a column continuation, because several have judged this agent in this scenario"
    refuse_rows(table, np.isin(cell, several), f"{expected}: one continuation, or one each?")


def _horizon(table: tables.RawTable, filled_columns: set[str]) -> np.ndarray:
    optional = "horizon" not in filled_columns
    horizon = parse_numbers(table, "horizon", "a number of steps", optional=optional, integer=True)
    expected = f"1 to {MAX_HORIZON} steps"
    refuse_rows(table, (horizon < 1) | (horizon > MAX_HORIZON), expected, "horizon")
    return horizon


def _steps(table: tables.RawTable, column: str, horizon: np.ndarray) -> np.ndarray:
    step = parse_numbers(table, column, "a whole step", optional=True, integer=True)
    last = np.where(np.isfinite(horizon), horizon, MAX_HORIZON)
    outside = np.isfinite(step) & ((step < 1) | (step > last))
    refuse_rows(table, outside, "a step of the continuation, 1 to its horizon", column)
    return step


def _check_agreement(table: tables.RawTable, number: pd.Series) -> None:
    """Check that rows which speak of one thing say the same; `number` is a continuation's."""
    frame = table.frame
    reference = (frame["truth"] != "").to_numpy()
    every = np.ones(len(frame), dtype=bool)
    require_one_value(table, "continuation", "horizon", every, number)
    require_one_value(table, "continuation", "media", every, number)
    require_one_value(table, "continuation", "truth", reference, number)
    if (frame["adjudicated"] != "").any():
        human = (frame["source"] == "human").to_numpy()
        clip = frame.groupby([number, frame["clip"]]).ngroup()
        require_one_value(table, "continuation", "adjudicated", human, clip)
    for column in ("category", "kind", "trajectory"):
        require_one_value(table, "scenario", column, ~reference)
    require_one_value(table, "agent", "sees", ~reference)
    judge = number_groups(frame, ("source", "annotator"))
    twice = (number * (judge.max() + 1) + judge).duplicated().to_numpy()
    expected = "one row per continuation and annotator"
    refuse_rows(table, twice & ~_unjudged(frame), expected, "annotator")


def _settled(frame: pd.DataFrame) -> np.ndarray:
    return np.asarray(frame["source"] == "settled")


def _unjudged(frame: pd.DataFrame) -> np.ndarray:
    return np.asarray((frame["annotator"] == "") & (frame["verdict"] == ""))
