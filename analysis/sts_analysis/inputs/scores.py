"""The scores table: other metrics of agents, to correlate with the pass rate."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from sts.errors import DamagedData
from sts.names import quote
from sts.ratings import ACCESS_LEVELS
from sts.spellings import Spellings, fold_name, suggest_flags
from sts.storage.checks import CheckResult, Findings
from sts.storage.csv_tables import require_columns
from sts.storage.files import content_hash, parse_versioned_json
from sts.storage.scores import KEY, REQUIRED, SCHEMA, check_format, read_score_rows, write_scores
from sts.storage.workspace import Workspace
from sts_analysis.inputs import tables
from sts_analysis.inputs.cell_checks import (
    clean_cells,
    parse_numbers,
    refuse_rounded,
    refuse_rows,
    require_one_value,
    require_words,
)
from sts_analysis.inputs.files import read_table
from sts_analysis.inputs.words import replace_words

PASS_RATE = "pass_rate"
COLUMNS = tuple(SCHEMA)
Versions = Mapping[str, tuple[str, str]]
"""The name and the fingerprint of each agent, by its name in the ratings."""


def read_scores(path: Path) -> pd.DataFrame:
    """Read a scores table from a file of anyone's; see `check_scores`."""
    return check_scores(read_table(path, COLUMNS))


def read_saved(path: Path) -> pd.DataFrame:
    """Read a scores table of the workspace; see `check_scores`.

    Raises:
      DamagedData: it is damaged, or of an earlier version; says which.
      NewerFormat: a later version.
    """
    return check_scores(
        tables.from_frame(path.name, pd.DataFrame(read_score_rows(path), columns=COLUMNS))
    )


def check(workspace: Workspace) -> CheckResult:
    """Read every scores table of a workspace."""
    findings, rows = Findings(), 0
    paths = sorted(workspace.path("scores").glob("*.parquet"))
    for path in paths:
        with findings.collect(path):
            rows += len(read_saved(path))
    return CheckResult({"tables": len(paths), "rows": rows}, tuple(findings))


def check_scores(table: tables.RawTable) -> pd.DataFrame:
    """Validate a scores table and gives every column its type.

    Returns:
      Every column: value, standard_error, n and hours as float64 with NaN where empty, the others
      as text.
      `sees` is "observation" where it is empty; the others are "" then.

    Raises:
      DamagedData: names the file, the line and what was expected there.
    """
    check_format(table.name, table.mark)
    require_columns(table.name, table.frame.columns, REQUIRED)
    if table.frame.empty:
        raise DamagedData(f"{table.name}: expected at least one row, found only a header")
    frame = table.frame
    for column in COLUMNS:
        if column not in frame.columns:
            frame[column] = ""
    frame["sees"] = replace_words(frame["sees"], {"": ACCESS_LEVELS[0]})
    require_words(table, "sees", ACCESS_LEVELS)
    for column in ("agent", "metric", "family"):
        refuse_rounded(table, column)
        clean_cells(table, column)
    for column in ("agent", "metric"):
        refuse_rows(table, (frame[column] == "").to_numpy(), "a name", column)
    own = (frame["metric"] == PASS_RATE).to_numpy()
    refuse_rows(table, own, "another name than the suite's own metric has", "metric")
    value = parse_numbers(table, "value", "a finite number", optional=False)
    error = parse_numbers(table, "standard_error", "a number, at least 0", optional=True, least=0)
    count = parse_numbers(table, "n", "a count, at least 1", optional=True, integer=True, least=1)
    twice = frame.duplicated(list(KEY)).to_numpy()
    expected = "one value per agent and metric, or different fingerprints or parameters"
    refuse_rows(table, twice, expected, "metric")
    require_one_value(table, "agent", "family", np.ones(len(frame), dtype=bool))
    hours = parse_numbers(table, "hours", "a number, at least 0", optional=True, least=0)
    texts = frame[list(COLUMNS)].astype(object)
    return texts.assign(value=value, standard_error=error, n=count, hours=hours)


def empty_scores() -> pd.DataFrame:
    """Return a scores table without a row."""
    return pd.DataFrame({column: [] for column in COLUMNS}, dtype=object)


def merge_scores(named: Iterable[tuple[str, pd.DataFrame]]) -> pd.DataFrame:
    """Join scores tables; equal rows count once.

    Raises:
      DamagedData: two tables give one agent different values of one metric, measured in one way.
    """
    kept: dict[tuple[str, ...], tuple[str, pd.Series]] = {}
    for name, frame in named:
        for _, row in frame.iterrows():
            key = tuple(row[column] for column in KEY)
            other = kept.setdefault(key, (name, row))
            if any(other[1][column] != row[column] for column in ("value", "sees")):
                raise DamagedData(
                    f"{name} and {other[0]} give {row['agent']!r} different values of "
                    f"{row['metric']!r}; "
                    "remove one of the files"
                )
    rows = [row for _, row in kept.values()]
    return pd.DataFrame(rows).reset_index(drop=True) if rows else empty_scores()


def override_scores(scores: pd.DataFrame, newer: pd.DataFrame) -> pd.DataFrame:
    """Join two scores tables; where both have an agent's metric, `newer` counts."""
    given = set(zip(newer["agent"], newer["metric"], strict=True))
    pairs = zip(scores["agent"], scores["metric"], strict=True)
    kept = scores[[pair not in given for pair in pairs]]
    return pd.concat([newer, kept], ignore_index=True) if len(kept) else newer


def match_agents(
    name: str, scores: pd.DataFrame, judged: Collection[str], spellings: Spellings
) -> tuple[pd.DataFrame, str]:
    """Return scores in which each agent has the spelling of the ratings, and what is refused.

    That is an agent that is not judged, if its name differs from that of a judged one only in how
    it is written: an error names both, or is "" without such an agent.

    Args:
      name: of the scores table, for errors.
      scores: a checked scores table.
      judged: names of agents in the ratings.
      spellings: which names that differ only in how they are written are one.
    """
    by_name = {spellings.same.get(agent, agent): agent for agent in judged}
    names = {
        agent: agent if agent in judged else by_name.get(spellings.same.get(agent, agent), agent)
        for agent in scores["agent"]
    }
    by_fold = {fold_name(agent): agent for agent in judged}
    matched = scores.assign(agent=scores["agent"].map(names))
    for agent in sorted({*names.values()}.difference(judged)):
        near = by_fold.get(fold_name(agent))
        if near and spellings.find_pairs([near, agent]):
            return matched, (
                f"{name}: agent {quote(agent)} is not in the ratings, which have {quote(near)}; "
                f"the names differ only in how they are written: add {suggest_flags(near, agent)}"
            )
    return matched, ""


def match_scores(scores: pd.DataFrame, versions: Versions) -> pd.DataFrame:
    """Return scores under the names of judged agents, one for each agent and metric.

    A score with a fingerprint belongs to the judged version of the agent alone. If an agent has
    several scores of a metric, each is a metric of its own, named by the parameters that differ.

    Args:
      scores: a checked scores table.
      versions: the name and fingerprint of each agent by its name in the ratings; {} if unknown.

    Returns:
      The table, with a bool column `outdated` for scores of other versions of a judged agent.

    Raises:
      DamagedData: an agent has several scores of a metric, and no parameter distinguishes them.
    """
    names = {version: name for name, version in versions.items()}
    own = list(zip(scores["agent"], scores["fingerprint"], strict=True))
    outdated = [bool(v[1]) and v[0] in versions and v not in names for v in own]
    matched = scores.assign(agent=[names.get(v, v[0]) for v in own], outdated=outdated)
    current = matched[~matched["outdated"].astype(bool)]
    for metric, rows in current.groupby("metric"):
        if rows["agent"].duplicated().any():
            matched.loc[rows.index, "metric"] = _name_by_parameters(str(metric), rows)
    return matched


def _name_by_parameters(metric: str, rows: pd.DataFrame) -> list[str]:
    """Return the name of each score of a metric: the metric's, with the parameters that differ."""
    settings = [_parse_parameters(text) for text in rows["parameters"]]
    keys = sorted({key for each in settings for key in each})
    differ = [key for key in keys if len({str(each.get(key)) for each in settings}) > 1]
    names = [
        " ".join([metric, *(f"{key}={each[key]}" for key in differ if key in each)])
        for each in settings
    ]
    twice = pd.DataFrame({"agent": rows["agent"].to_numpy(), "name": names}).duplicated(keep=False)
    if twice.any():
        agent = rows["agent"].to_numpy()[twice][0]
        same = rows[twice.to_numpy() & (rows["agent"] == agent).to_numpy()]
        both = " and ".join(
            f"{value:g} ({text or 'no parameters'})"
            for value, text in zip(same["value"], same["parameters"], strict=True)
        )
        raise DamagedData(
            f"scores: {agent!r} has several values of {metric!r}: {both}; remove all but one, or "
            "state in the column parameters what differs"
        )
    return names


def _parse_parameters(text: str) -> dict[str, object]:
    """Return the parameters of a score; {} if they are not a JSON object."""
    try:
        return dict(parse_versioned_json(text, dict))
    except ValueError:
        return {}


def import_scores(workspace: Workspace, scores: pd.DataFrame) -> Path:
    """Write a checked scores table into the workspace and returns its path.

    The file is named by its content, so importing it twice leaves one file.

    Raises:
      DamagedData: the workspace already has other values of the same metrics and agents.
    """
    ordered = scores.sort_values(["metric", "agent"]).reset_index(drop=True)
    name = content_hash(ordered.to_csv(index=False).encode())[:16]
    path = workspace.path("scores", f"{name}.parquet")
    others = [other for other in sorted(path.parent.glob("*.parquet")) if other != path]
    named = [(other.name, read_saved(other)) for other in others]
    merge_scores([*named, ("this table", scores)])
    workspace.create()
    rows = [{column: row[column] for column in COLUMNS} for _, row in ordered.iterrows()]
    write_scores(path, rows)
    return path
