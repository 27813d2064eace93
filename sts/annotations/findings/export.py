"""Export of judgements as the ratings table that analysis and other programs read."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.draws import unit_hash
from sts.annotations.queue import references
from sts.annotations.queue.controls import list_pauses
from sts.annotations.queue.rounds import PLACES_PER_ROUND
from sts.annotations.study import DEFAULT_STUDY, StudySettings, base_suite
from sts.annotations.vault import digests, history, study_continuations
from sts.annotations.vault.digests import Digests
from sts.annotations.vault.history import History, StandingVerdict, Truth
from sts.annotations.vault.study_continuations import StudyContinuations
from sts.errors import DamagedData
from sts.ratings import PEOPLE, column_types
from sts.storage.csv_tables import format_csv
from sts.storage.files import write_atomically
from sts.storage.workspace import Workspace
from sts.suites.folders import list_erased

_TYPES = column_types(
    *("kind", "trajectory", "truth", "truth_step", "clip", "seconds", "source", "sees", "reason"),
    *("extra", "adjudicated", "adjudicated_step", "rubric", "order", "twice", "rubric_shown"),
    *("truth_source", "excluded", "round", "place", "cell"),
)
_REMEDY = "restore a backup of the workspace; `sts workspace check` lists all findings"


class RatingsExport(NamedTuple):
    """A ratings table, and the digests of its inputs."""

    table: pd.DataFrame
    digests: Digests


def export_ratings(
    workspace: Workspace, suite: str | None = None, *, names: bool = False
) -> RatingsExport:
    """Export the current judgements of a suite's continuations, with corrections applied.

    Each judgement of a clip gives one row for every continuation that shows the clip. A
    continuation that is queued and has no judgement has one row with empty annotator and verdict;
    an auto-resolved one has the source `settled` and the verdict not_done. Judgements of excluded
    people have the reason in `excluded`; without these rows, the table is as if they had not
    judged. All rows of a clip carry its adjudication. Rows with a `truth` are references: they
    include every judgement of a reference, whichever suite its annotator was working on, because
    they measure the annotator. If the truth comes from people, judgements that made it are left
    out. `cell` numbers the cells of a suite's rounds in the order in which they are judged, and
    `place` is the share of its round before a cell; see `rounds`. A category with a higher priority
    comes before all others, and a paused one after them.

    Every author's chain is verified. Agents and scenarios are read from the continuations.

    Args:
      workspace: not changed; no store is created.
      suite: `NAME@VERSION`, or None for everything in the store.
      names: if True, show people by name, otherwise by pseudonym.

    Returns:
      The columns of the ratings format; missing texts are "" and missing numbers NA. `trajectory`
      is "" if no suite that was read has the scenario, as for references of other suites. There are
      no rows without a store, or for a suite that is not enqueued.

    Raises:
      UnknownName: no such suite.
      StoreError: the store exists and cannot be read.
      DamagedData: an event was altered, or a judged continuation is missing.
    """
    store = AnnotationStore.find(workspace)
    record, study, paused = History(), DEFAULT_STUDY, list[str]()
    if store is not None:
        with store, store.database.read() as connection:
            history.set_snapshot_isolation(connection)
            record, study = history.read_history(connection), store.study
            paused = [control.scope for control in list_pauses(connection) if control.scope]
    _raise_findings(record.findings)
    clips = {clip.shown_hash for clip in record.clips.values()}
    continuations = study_continuations.read_continuations(workspace, suite, clips, study)
    erased = {*list_erased(workspace).values()}
    _raise_findings([*_iter_altered_clips(record, continuations, erased)])
    levels = _list_levels(study, paused, suite)
    table = _build_table(record, continuations, study, suite, levels, names=names)
    return RatingsExport(table, digests.compute_digests(suite, record, continuations))


def _raise_findings(findings: Sequence[str]) -> None:
    """Raise DamagedData if there are findings."""
    if findings:
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        raise DamagedData(f"annotation database: {findings[0]}{more}; {_REMEDY}")


def _iter_altered_clips(
    record: History, continuations: StudyContinuations, erased: Collection[str] = ()
) -> Iterator[str]:
    """Yield the clips that no continuation shows, or whose own continuation shows another clip.

    Clips of `erased` scenarios, by hash, are left out.
    """
    table = continuations.table[["id", "clip"]]
    clips = {*table["clip"].unique()}
    own = table[table["id"].isin([clip.continuation for clip in record.clips.values()])]
    of_id = dict(own.itertuples(index=False, name=None))
    for clip in record.clips.values():
        if clip.scenario in erased:
            continue
        if clip.shown_hash not in clips:
            yield f"continuation {clip.continuation}: its clip is missing from this workspace"
        elif not clip.is_superseded and of_id.get(clip.continuation) != clip.shown_hash:
            yield f"continuation {clip.continuation}: its clip was altered"


def load_reference_ids(workspace: Workspace) -> set[str]:
    """Load the ids of the continuations that are references, judged or not."""
    with AnnotationStore.read_existing(workspace) as connection:
        pool_ = references.list_references(connection) if connection else []
    return {reference.continuation for reference in pool_}


def write_csv(path: Path, table: pd.DataFrame) -> None:
    """Write a ratings table as CSV, UTF-8 with one header line; the file is complete or absent."""
    cells = table.astype(object).where(table.notna(), None)
    write_atomically(path, format_csv(table.columns, cells.itertuples(index=False, name=None)))


def _build_table(
    record: History,
    continuations: StudyContinuations,
    study: StudySettings,
    suite: str | None,
    levels: Sequence[tuple[str, float]],
    *,
    names: bool,
) -> pd.DataFrame:
    """Build a ratings table, in order of scenario, agent, continuation and annotator."""
    part = suite if suite is not None and "+" in suite else None
    judgements = _list_judgements(record, study, part, names=names)
    shown = continuations.table.rename(columns={"clip": "shown"})
    table = shown.merge(judgements, on="shown")
    is_judged = table["verdict"] != ""
    is_inside = table["member"] & (table["queued"] | (part is None))
    table = table[
        (is_inside & (is_judged | table["queued"])) | (is_judged & table["reference"])
    ].copy()
    table["cell"] = _number_cells(table, record, levels)
    in_rounds = table["place"].where(table["place"] >= 0)
    table["round"] = 1 + in_rounds // PLACES_PER_ROUND
    table["place"] = in_rounds % PLACES_PER_ROUND / PLACES_PER_ROUND
    settled = table["silent"] & (table["verdict"] == "")
    table["verdict"] = table["verdict"].mask(settled, "not_done")
    table["twice"] = table["twice"].mask(settled, 0)
    table["source"] = np.where(settled, "settled", "human")
    trajectories = continuations.trajectories
    table["trajectory"] = table["scenario"].map(lambda hash: trajectories.get(hash, ""))
    table = table.drop(columns="scenario")
    table = table.rename(columns={"id": "continuation", "scenario_id": "scenario"})
    for name in ("scenario", "agent"):  # categories are sorted by their order
        words = table[name].cat
        table[name] = words.set_categories(sorted(words.categories))
    table = table.sort_values(["scenario", "agent", "continuation", "annotator"])
    ordered: pd.DataFrame = table[list(_TYPES)]
    return ordered.astype(_TYPES).reset_index(drop=True)


def _list_levels(
    study: StudySettings, paused: Iterable[str], suite: str | None
) -> list[tuple[str, float]]:
    """List scopes of a suite with their levels: of those that apply to a clip, the last counts.

    Clips of a higher level are judged earlier.
    """
    priorities = sorted(study.priority.items(), key=lambda priority: priority[1])
    levels = [*priorities, *((scope, -np.inf) for scope in paused)]
    base = base_suite(suite or "")
    return [
        (scope, level) for scope, level in levels if base_suite(scope.partition("/")[0]) == base
    ]


def _number_cells(
    table: pd.DataFrame, record: History, levels: Iterable[tuple[str, float]]
) -> pd.Series:
    """Return the number of each cell in the order of judging, from 1; NA for one not queued."""
    level = np.zeros(len(table))
    for scope, value in levels:
        label, _, category = scope.partition("/")
        items = (item for name, item in record.suites if name == label)
        inside = table["shown"].isin({record.clips[item].shown_hash for item in items})
        level[inside & ((category == "") | (table["category"] == category))] = value
    queued = table["member"] & table["queued"] & (table["place"] >= 0)
    keys = pd.DataFrame({"level": -level, "place": table["place"]})[queued]
    return (keys.groupby(["level", "place"]).ngroup() + 1).reindex(table.index)


class _Judgement(NamedTuple):
    """A judgement of a clip, or the data of a clip without a judgement.

    Fields that are not described here are columns of the ratings format.
    """

    shown: str  # the hash of the clip's appearance
    queued: bool  # True if it is in the queue
    reference: bool
    truth: str
    truth_step: int | None
    truth_source: str
    clip: str  # the hash with the version of its rubric
    rubric: str
    twice: int
    adjudicated: str
    adjudicated_step: int | None
    annotator: str
    verdict: str
    step: int | None
    seconds: float | None
    reason: str
    extra: int
    order: int | None
    rubric_shown: int | None
    excluded: str


def _list_judgements(
    record: History, study: StudySettings, part: str | None, *, names: bool
) -> pd.DataFrame:
    """Return a `_Judgement` a row; one that is queued is so for `part`, or for any suite."""
    latest: dict[str, dict[int, StandingVerdict]] = defaultdict(dict)
    for verdict in sorted(record.judgements):  # of several versions of a rubric, the last
        latest[record.clips[verdict.item].shown_hash][verdict.annotator] = verdict
    queued = {
        record.clips[item].shown_hash: item
        for label, item in sorted(record.suites)
        if part in (None, label)
    }
    pool = {record.clips[item].shown_hash: truth for item, truth in record.references.items()}
    people = {n: who.name if names else who.pseudonym for n, who in record.authors.items()}
    rows = []
    for shown in [*latest, *(queued.keys() - latest)]:
        blank = StandingVerdict(0, 0, queued.get(shown, ""), "", None, "", None, 0, None)
        truth, truth_step, truth_source, added = pool.get(shown, Truth("", None, "", 0.0))
        verdicts = [*latest[shown].values()] if shown in latest else []
        if shown in queued and all(v.annotator in record.excluded for v in verdicts):
            verdicts.append(blank)
        for verdict in verdicts:
            if truth_source == PEOPLE and verdict.first_judged <= added:
                continue
            clip, decided = record.clips[verdict.item], record.adjudications.get(verdict.item)
            twice = not truth and unit_hash(study.seed, "twice", clip.clip) < study.overlap
            rows.append(
                _Judgement(
                    shown,
                    shown in queued,
                    shown in pool,
                    truth,
                    truth_step,
                    truth_source,
                    clip.clip,
                    clip.rubric,
                    int(twice),
                    decided.verdict if decided else "",
                    decided.step if decided else None,
                    people.get(verdict.annotator, ""),
                    verdict.verdict,
                    verdict.step,
                    verdict.seconds,
                    verdict.reason,
                    verdict.extra,
                    verdict.position or None,
                    verdict.rubric_shown,
                    record.excluded.get(verdict.annotator, ""),
                )
            )
    types = {name: kind for name, kind in _TYPES.items() if name in _Judgement._fields}
    types |= {"shown": "str", "queued": "bool", "reference": "bool"}
    return pd.DataFrame(rows, columns=_Judgement._fields).astype(types)
