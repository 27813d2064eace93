"""What a workspace holds for a report: judgements, automatic labels and scores."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import pandas as pd

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings import export
from sts.annotations.findings.plan import load_plan
from sts.annotations.people.people import list_people
from sts.annotations.vault import digests
from sts.continuations import label_table, requests
from sts.continuations.continuation import HUMAN
from sts.continuations.continuation_store import load_by_ids, use_index
from sts.continuations.index import Index
from sts.errors import ArgumentError, DamagedData
from sts.ratings import TYPES, WRITTEN_COLUMNS
from sts.storage.csv_tables import require_columns
from sts.storage.files import content_hash
from sts.storage.workspace import Workspace
from sts.suites import selections
from sts.suites.folders import list_versions
from sts.suites.selections import Selection
from sts.suites.statement import read_words
from sts.suites.suite import Scenario, describe_unreviewed, group_dialogues, group_pairs
from sts_analysis.inputs.files import read_table
from sts_analysis.inputs.gather import Gathered
from sts_analysis.inputs.ratings import check_ratings, split_excluded
from sts_analysis.inputs.scores import Versions, merge_scores, read_saved
from sts_analysis.inputs.subject import SCENARIO, ComparedVersion, Part, Subject
from sts_analysis.inputs.tables import from_frame, from_texts
from sts_analysis.inputs.words import replace_words

if TYPE_CHECKING:
    from sts.annotations.findings.error_analysis import ErrorAnalysis

_CURRENT = ["agent", "scenario", "category", "kind", "trajectory", "sees"]
"""Columns in which the automatic labels of a continuation are more recent than its judgements."""
_PLAIN = re.compile(r"[a-z0-9+,:-]{0,80}")
"""Terms that are a good name for a folder."""


class NothingJudged(DamagedData):
    """Neither a label nor a judgement of a suite exists."""


def gather(workspace: Workspace, label: str, against: str | None = None) -> Gathered:
    """Gather everything for the report of suite `label`, beside suite `against` if one is named.

    Both are `NAME@VERSION`, or a part of it. People have pseudonyms; see `called_by_name`.

    Raises:
      UnknownName: no such suite or version.
      ArgumentError: both are one.
      NothingJudged: there is neither a label nor a judgement of one.
    """
    chosen = selections.load_selection(workspace, label)
    hashes = {scenario.hash for scenario in chosen.scenarios}
    # The plan comes first, so that it counts no judgement that the table lacks.
    plan = load_plan(workspace, chosen.suite.label, hashes)
    judged, made_of = export.export_ratings(workspace, chosen.suite.label)
    ratings, ids = _ratings(workspace, chosen, judged)
    ratings, excluded = split_excluded(ratings)
    versions = _versions(workspace, ratings, ids)
    missing, absent = _count_missing(workspace, chosen, versions)
    answers = judged[judged["verdict"] != ""]
    mark = None if answers.empty else content_hash(answers.to_csv(index=False).encode())[:16]
    return Gathered(
        ratings,
        workspace_scores(workspace),
        describe_subject(workspace, chosen)._replace(
            annotations_hash=mark,
            digests=digests.with_files(workspace, made_of),
            reviews=_reviews(workspace, chosen, judged),
            plan=plan,
        ),
        workspace.path("reports", _folder(chosen)),
        None if against is None else _load_compared(workspace, chosen, against),
        ids,
        scenarios=chosen.scenarios,
        load=lambda ids: chain.from_iterable(load_by_ids(workspace, ids)),
        versions=versions,
        excluded=excluded,
        missing=missing,
        absent=absent,
    )


def _versions(workspace: Workspace, ratings: pd.DataFrame, ids: pd.Series) -> Versions:
    """Return the name and fingerprint of each agent, as of its first continuation in the ratings.

    People, who have a fingerprint each, are left out.
    """
    rows = ratings[(ratings["truth"] == "").to_numpy()].drop_duplicates("agent")
    first = dict(zip(rows["agent"], ids[rows["continuation"]], strict=True))

    def find(index: Index) -> dict[str, tuple[str, str]]:
        return {
            str(agent): (entry.agent, entry.fingerprint)
            for agent, id in first.items()
            for entry in index.iter_entries(index.rows_with_prefix(id))
            if entry.agent != HUMAN
        }

    return use_index(workspace, find)


def _count_missing(
    workspace: Workspace, chosen: Selection, versions: Versions
) -> tuple[dict[tuple[str, str], int], tuple[str, ...]]:
    """Return how many continuations that `sts run` was asked for are not stored.

    The second value names agents of which it was asked for some, and none are in the ratings.
    """
    ids = {scenario.hash: scenario.id for scenario in chosen.scenarios}
    found = use_index(
        workspace, lambda index: requests.count_missing(workspace.store, index, ids.keys())
    )
    asked = {agent for (agent, _), counts in found.items() if counts.total()}
    return {
        (name, ids[scenario]): count
        for name, version in versions.items()
        for scenario, count in found.get(version, {}).items()
        if count
    }, tuple(sorted(asked - {agent for agent, _ in versions.values()}))


def _reviews(workspace: Workspace, chosen: Selection, judged: pd.DataFrame) -> ErrorAnalysis | None:
    """Return what reviewers found in failures of a whole suite; of a part nothing was sampled."""
    if chosen.terms or judged.empty:
        return None
    from sts.annotations.findings.review_queues import (
        load_error_analysis,  # rules, and so continuations, come with it
    )

    return load_error_analysis(workspace, chosen.suite.label)


def _load_compared(workspace: Workspace, chosen: Selection, label: str) -> ComparedVersion:
    compared = selections.load_selection(workspace, label)
    if chosen.label == compared.label:
        raise ArgumentError(f"--compare-to: expected another suite than {label}")
    ids = {s.hash: s.id for s in compared.scenarios}
    judged = export.export_ratings(workspace, compared.suite.label).table
    ratings, _ = _ratings(workspace, compared, judged)
    return ComparedVersion(
        describe_subject(workspace, compared),
        split_excluded(ratings)[0],
        {s.id: ids[s.hash] for s in chosen.scenarios if s.hash in ids},
    )


def _ratings(
    workspace: Workspace, chosen: Selection, judged: pd.DataFrame
) -> tuple[pd.DataFrame, pd.Series]:
    """Return the ratings of what was chosen, and the id of each continuation by its number there.

    Reference episodes are everybody's.

    Raises:
      NothingJudged: there is none.
    """
    label = chosen.suite.label
    every, ids = _with_labels(workspace, label, judged)
    if not chosen.terms:
        return every, ids
    inside = every["scenario"].isin([one.id for one in chosen.scenarios])
    if not (inside & (every["truth"] == "")).any():
        raise NothingJudged(
            f"{chosen.label}: expected labels or judgements in {workspace.root}, found none of "
            f"these scenarios; run `sts label {label}` first"
        )
    return every[inside | (every["truth"] != "")].reset_index(drop=True), ids


def _folder(chosen: Selection) -> str:
    """Return what the folder of a report is called."""
    suite = f"{chosen.suite.name}-{chosen.suite.version}"
    if _PLAIN.fullmatch(chosen.terms):
        return suite + chosen.terms.replace(":", "=")  # a saved selection may be called tag-wrap
    return f"{suite}+{chosen.queue.rpartition('+')[2]}"


def called_by_name(workspace: Workspace, ratings: pd.DataFrame) -> pd.DataFrame:
    """Return a ratings table in which people have their names in place of their pseudonyms."""
    with AnnotationStore.read_existing(workspace) as connection:
        names = {one.pseudonym: one.name for one in list_people(connection)} if connection else {}
    return ratings.assign(annotator=replace_words(ratings["annotator"], names))


def workspace_scores(workspace: Workspace) -> pd.DataFrame:
    """Every scores table in the workspace, as one."""
    paths = sorted(workspace.path("scores").glob("*.parquet"))
    return merge_scores((path.name, read_saved(path)) for path in paths)


def describe_subject(workspace: Workspace, chosen: Selection) -> Subject:
    """Return what a report on a suite or a part of it is about, without anything judged."""
    rows = [(s.id, s.category, s.kind) for s in chosen.scenarios]
    notes = (s.provenance.get("notes") for s in chosen.scenarios)
    every = {str(note) for own in notes if isinstance(own, list) for note in own}
    whole = chosen.suite
    every |= {describe_unreviewed(whole, "")} - {""}
    return Subject(
        chosen.label,
        pd.DataFrame(rows, columns=SCENARIO),
        hash=whole.hash,
        notes=tuple(sorted(every)),
        subset=Part(whole.label, chosen.meaning, len(rows), len(whole.scenarios), chosen.joined)
        if chosen.terms
        else None,
        tags=selections.load_ids_by_tag(workspace, chosen.part),
        pairs=_ids(group_pairs(chosen.scenarios)),
        series=_ids(group_dialogues(chosen.scenarios)),
        instructions={s.id: s.instruction.text for s in chosen.scenarios},
        worlds={s.id: s.world for s in chosen.scenarios},
        people={s.id: s.people for s in chosen.scenarios if s.people},
        parent=whole.parent,
        statement=read_words(list_versions(workspace)[whole.name][whole.version]),
    )


def _ids(groups: Mapping[str, Sequence[Scenario]]) -> dict[str, tuple[str, ...]]:
    """Return the ids of whole groups; one that lacks a member is none."""
    return {name: tuple(s.id for s in own) for name, own in groups.items() if len(own) > 1}


def _with_labels(
    workspace: Workspace, suite: str, judged: pd.DataFrame
) -> tuple[pd.DataFrame, pd.Series]:
    """Return the judgements and automatic labels of continuations, as `_ratings` does.

    The automatic labels have a row per continuation, so they also list what is not judged,
    and what its agent is called now: a second agent of one name renames both. A continuation that
    serves as a reference measures annotators, and is none of its agent's any more.

    Raises:
      NothingJudged: there is neither a label nor a judgement of this suite.
    """
    labels = _labels(workspace, suite)
    frames = [] if labels is None else [labels]
    if labels is not None and (judged["verdict"] == "").all():
        # The queue states nothing more of a labelled continuation. Objects: pandas' `isin` takes
        # 5 s for a million Arrow texts.
        judged = judged[~judged["continuation"].astype(object).isin(labels["continuation"])]
    if not judged.empty:
        human = from_frame("annotations", judged).frame.astype(object)
        if labels is None:
            frames = [human]
        else:
            labels = labels.astype(object)
            frames = [_update(human, labels), labels]
    if not frames:
        raise NothingJudged(
            f"{suite}: expected labels or judgements in {workspace.root}, found none; "
            f"run `sts label {suite}` first"
        )
    every = list(dict.fromkeys(column for frame in frames for column in frame.columns))
    filled = [frame.reindex(columns=every, fill_value="") for frame in frames]
    joined = pd.concat(filled, ignore_index=True)
    del judged, labels, frames, filled  # of a million rows, one table is much
    texts = from_texts(suite, joined)
    checked = check_ratings(texts)
    ids = pd.Series(texts.frame["continuation"].to_numpy(), checked["continuation"])
    return checked, ids[~ids.index.duplicated()]


def _update(human: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """Return judgements with what is more recent in the labels of their continuations."""
    own = labels[labels["continuation"].isin(human["continuation"])]
    current = own.drop_duplicates("continuation").set_index("continuation")
    changes = {}
    for column in current.columns.intersection(_CURRENT):
        named = human["continuation"].map(current[column])
        changes[column] = named.where(named.notna(), human[column])
    return human.assign(**changes)


def _labels(workspace: Workspace, suite: str) -> pd.DataFrame | None:
    """Return the automatic labels, without those of references; None without a table of them."""
    path = workspace.path(label_table.table_name(suite))
    if not path.exists():
        return None
    table = read_table(path, tuple(TYPES))
    label_table.check_format(table.name, table.mark)
    require_columns(table.name, table.frame.columns, (*WRITTEN_COLUMNS, "kind", "sees"))
    referred = table.frame["continuation"].isin(export.load_reference_ids(workspace))
    return table.frame[~referred.to_numpy()]
