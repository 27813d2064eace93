"""What a workspace holds for a report: judgements, automatic labels and scores."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from analysis.inputs.gather import Gathered
from analysis.inputs.ratings import check_ratings
from analysis.inputs.scores import merge_scores, read_saved
from analysis.inputs.subject import SCENARIO, Other, Subject
from analysis.inputs.tables import from_frame, of_texts, read_table, require_columns
from sts.annotations import export
from sts.errors import ArgumentError, DamagedData
from sts.ratings import TYPES, WRITTEN
from sts.storage.files import content_hash
from sts.storage.workspace import Workspace
from sts.suites import frozen
from sts.suites.types import Suite


def gather(workspace: Workspace, label: str, against: str | None = None) -> Gathered:
    """Gathers everything for the report of suite `label`, beside suite `against` if one is named.

    Raises:
      UnknownName: no such suite or version.
      ArgumentError: both are one.
      DamagedData: there is neither a label nor a judgement of one.
    """
    suite = frozen.load(workspace, label)
    other = None if against is None else _other(workspace, suite, against)
    references = export.pool(workspace)
    judged = export.ratings(workspace, suite.label)
    return Gathered(
        _with_labels(workspace, suite.label, judged, references),
        workspace_scores(workspace),
        _subject(suite)._replace(annotations_hash=_hash(judged)),
        workspace.path("reports", f"{suite.name}-{suite.version}"),
        other,
    )


def _other(workspace: Workspace, suite: Suite, label: str) -> Other:
    if label == suite.label:
        raise ArgumentError(f"--against: expected another suite than {label}")
    other = frozen.load(workspace, label)
    judged, references = export.ratings(workspace, label), export.pool(workspace)
    there = {one.hash: one.id for one in other.scenarios}
    return Other(
        _subject(other),
        _with_labels(workspace, label, judged, references),
        {one.id: there[one.hash] for one in suite.scenarios if one.hash in there},
    )


def annotations_hash(workspace: Workspace, suite: str) -> str:
    """Hash of what people have judged of a suite by now: a report with another one is outdated."""
    return _hash(export.ratings(workspace, suite))


def workspace_scores(workspace: Workspace) -> pd.DataFrame:
    """Every scores table in the workspace, as one."""
    paths = sorted(workspace.path("scores").glob("*.parquet"))
    return merge_scores((path.name, read_saved(path)) for path in paths)


def _hash(judged: pd.DataFrame) -> str:
    return content_hash(judged.to_csv(index=False).encode())[:16]


def _subject(suite: Suite) -> Subject:
    rows = [(s.id, s.category, s.kind) for s in suite.scenarios]
    notes = (s.provenance.get("notes") for s in suite.scenarios)
    every = {str(note) for own in notes if isinstance(own, list) for note in own}
    return Subject(
        suite.label,
        pd.DataFrame(rows, columns=SCENARIO),
        hash=suite.hash,
        notes=tuple(sorted(every)),
    )


def _with_labels(
    workspace: Workspace, suite: str, judged: pd.DataFrame, references: set[str]
) -> pd.DataFrame:
    """The judgements and the automatic labels of a suite's continuations, as one checked table.

    The automatic labels have a row per continuation, so they also say what nobody has judged,
    and what its agent is called now: a second agent of one name renames both. A continuation that
    serves as a reference measures annotators, and is none of its agent's any more.

    Raises:
      DamagedData: there is neither a label nor a judgement of this suite.
    """
    human = from_frame("annotations", judged).frame
    frames = [human] if len(human) else []
    labels = _labels(workspace.path("labels", f"{suite.replace('@', '-')}.parquet"), references)
    if labels is not None:
        frames.append(labels)
        own = labels[labels["continuation"].isin(human["continuation"])]
        current = own.drop_duplicates("continuation").set_index("continuation")
        for column in ("agent", "scenario", "category", "kind", "sees"):
            named = human["continuation"].map(current[column])
            human[column] = named.where(named.notna(), human[column])
    if not frames:
        raise DamagedData(
            f"{suite}: expected labels or judgements in {workspace.root}, found none; "
            f"run `sts label {suite}` first"
        )
    every = list(dict.fromkeys(column for frame in frames for column in frame.columns))
    filled = [frame.reindex(columns=every, fill_value="") for frame in frames]
    joined = pd.concat(filled, ignore_index=True)
    del human, labels, frames, filled  # of a million rows, one table is much
    return check_ratings(of_texts(suite, joined))


def _labels(path: Path, references: set[str]) -> pd.DataFrame | None:
    """The automatic labels in a file, without those of references; None where there is none."""
    if not path.exists():
        return None
    table = read_table(path, tuple(TYPES))
    require_columns(table, (*WRITTEN, "kind", "sees"))
    referred = table.frame["continuation"].isin(references)
    return table.frame[~referred] if referred.any() else table.frame
