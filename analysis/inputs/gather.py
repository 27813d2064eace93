"""Collects what a report needs: judgements, automatic labels and scores."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analysis.inputs.ratings import check_ratings, read_ratings
from analysis.inputs.scores import empty_scores, merge_scores, read_saved
from analysis.inputs.subject import Subject
from analysis.inputs.tables import from_frame, read_table, require_columns
from sts.errors import DamagedData
from sts.ratings import TYPES, WRITTEN
from sts.storage.files import content_hash
from sts.storage.workspace import Workspace
from sts.suites import store
from sts.suites.types import Suite


class Gathered(NamedTuple):
    """What `build` asks for, of one suite in one workspace, and where its report goes."""

    ratings: pd.DataFrame
    scores: pd.DataFrame
    suite: Subject
    folder: Path


def gather_table(path: Path) -> Gathered:
    """Collects everything for the report of a ratings table in a file; see `read_ratings`."""
    return Gathered(read_ratings(path), empty_scores(), Subject(path.name), Path("sts-report"))


def gather(workspace: Workspace, label: str) -> Gathered:
    """Collects everything for the report of suite `label`, and says where the report goes.

    Raises:
      UnknownName: no such suite or version.
      DamagedData: there is neither a label nor a judgement of it.
    """
    suite = store.load(workspace, label)
    return Gathered(
        suite_ratings(workspace, suite.label),
        workspace_scores(workspace),
        Subject(
            suite.label,
            suite_scenarios(suite),
            hash=suite.hash,
            annotations_hash=annotations_hash(workspace, suite.label),
            notes=suite_notes(suite),
        ),
        workspace.path("reports", f"{suite.name}-{suite.version}"),
    )


def suite_scenarios(suite: Suite) -> pd.DataFrame:
    """A suite's scenarios, category and kind of each, as `Subject` holds them."""
    rows = [(s.id, s.category, s.kind) for s in suite.scenarios]
    return pd.DataFrame(rows, columns=["scenario", "category", "kind"])


def suite_notes(suite: Suite) -> tuple[str, ...]:
    """What the sources of a suite's scenarios ask every report on it to say."""
    notes = (s.provenance.get("notes") for s in suite.scenarios)
    return tuple(sorted({str(note) for own in notes if isinstance(own, list) for note in own}))


def annotations_hash(workspace: Workspace, suite: str) -> str:
    """Hash of what people have judged of a suite by now: a report with another one is outdated."""
    from sts.annotations.export import ratings

    return content_hash(ratings(workspace, suite).to_csv(index=False).encode())[:16]


def suite_ratings(workspace: Workspace, suite: str) -> pd.DataFrame:
    """The judgements of a suite's continuations, human and automatic, as one checked table.

    The automatic labels have a row per continuation, so they also say what nobody has judged,
    and what its agent is called now: a second agent of one name renames both. A continuation that
    serves as a reference measures annotators, and is none of its agent's any more.

    Args:
      workspace: where `sts label` and the annotator have written.
      suite: NAME@VERSION.

    Raises:
      DamagedData: there is neither a label nor a judgement of this suite.
    """
    from sts.annotations.export import pool, ratings

    path = workspace.path("labels", f"{suite.replace('@', '-')}.parquet")
    human = from_frame("annotations", ratings(workspace, suite)).frame
    references = pool(workspace)
    frames = [human] if len(human) else []
    if path.exists():
        table = read_table(path, tuple(TYPES))
        require_columns(table, (*WRITTEN, "kind", "sees"))
        labels = table.frame[~table.frame["continuation"].isin(references)]
        frames.append(labels)
        known = labels.drop_duplicates("continuation").set_index("continuation")
        for column in ("agent", "scenario", "category", "kind", "sees"):
            named = human["continuation"].map(known[column])
            human[column] = named.where(named.notna(), human[column])
    if not frames:
        raise DamagedData(
            f"{suite}: expected labels or judgements in {workspace.root}, found none; "
            f"run `sts label {suite}` first"
        )
    joined = pd.concat(frames, ignore_index=True).fillna("")
    return check_ratings(from_frame(suite, joined))


def workspace_scores(workspace: Workspace) -> pd.DataFrame:
    """Every scores table in the workspace, as one."""
    paths = sorted(workspace.path("scores").glob("*.parquet"))
    return merge_scores((path.name, read_saved(path)) for path in paths)
