"""Export of judgements as the ratings table that analysis and other programs read."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from sts.annotations import digests, history, references, study_continuations
from sts.annotations.assignment import unit_hash
from sts.annotations.digests import Digests
from sts.annotations.history import ClipRecord, History, StandingVerdict
from sts.annotations.store import AnnotationStore
from sts.annotations.study import DEFAULT_STUDY, StudySettings
from sts.annotations.study_continuations import StudyContinuations
from sts.continuations.index import Entry
from sts.errors import DamagedData
from sts.ratings import column_types
from sts.storage.csv_tables import format_csv
from sts.storage.files import write_atomically
from sts.storage.workspace import Workspace

_TYPES = column_types(
    *("kind", "trajectory", "truth", "truth_step", "clip", "seconds", "source", "sees", "reason"),
    *("extra", "adjudicated", "adjudicated_step", "rubric", "order", "twice"),
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
    an auto-resolved one has the source `settled` and the verdict not_done. All rows of a clip carry
    its adjudication. Rows with a `truth` are references: they include every judgement of a
    reference, whichever suite its annotator was working on, because they measure the annotator.

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
    record, study = History(), DEFAULT_STUDY
    if store is not None:
        with store, store.database.read() as connection:
            history.set_snapshot_isolation(connection)
            record, study = history.read_history(connection), store.study
    _raise_findings(record.findings)
    clips = {clip.shown_hash for clip in record.clips.values()}
    continuations = study_continuations.read_continuations(
        workspace, suite, clips, auto_resolve=bool(study.auto_resolve)
    )
    _raise_findings([*_iter_altered_clips(record, continuations)])
    rows = _RatingsTable(record, continuations, study, suite, names=names).build_rows()
    table = pd.DataFrame(rows, columns=list(_TYPES)).astype(_TYPES)
    return RatingsExport(table, digests.compute_digests(suite, record, continuations))


def _raise_findings(findings: Sequence[str]) -> None:
    """Raise DamagedData if there are findings."""
    if findings:
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        raise DamagedData(f"annotation database: {findings[0]}{more}; {_REMEDY}")


def _iter_altered_clips(record: History, continuations: StudyContinuations) -> Iterator[str]:
    """Yield the clips that no continuation shows, or whose own continuation shows another clip."""
    clips = {entry.clip for entry in continuations.entries}
    of_id = {entry.id: entry.clip for entry in continuations.entries}
    for clip in record.clips.values():
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


class _RatingsTable:
    """Builder of the rows of a ratings table from events and continuations."""

    def __init__(
        self,
        record: History,
        continuations: StudyContinuations,
        study: StudySettings,
        suite: str | None,
        *,
        names: bool,
    ) -> None:
        self._record, self._continuations = record, continuations
        self._names = names
        self._latest: dict[str, dict[int, StandingVerdict]] = defaultdict(dict)
        for verdict in sorted(record.judgements):  # of several versions of a rubric, the last
            self._latest[record.clips[verdict.item].shown_hash][verdict.annotator] = verdict
        part = suite if suite is not None and "+" in suite else None
        self._is_part = part is not None
        self._queued = {
            record.clips[item].shown_hash: record.clips[item]
            for label, item in sorted(record.suites)
            if part in (None, label)
        }
        self._twice = {
            clip.clip
            for clip in record.clips.values()
            if unit_hash(study.seed, "twice", clip.clip) < study.overlap
        }
        self._pool = {
            record.clips[item].shown_hash: truth for item, truth in record.references.items()
        }

    def build_rows(self) -> list[tuple[object, ...]]:
        """Return all rows, in order of scenario, agent, continuation and annotator."""
        rows = [row for entry in self._continuations.entries for row in self._iter_rows(entry)]
        return sorted(rows, key=lambda row: (row[1], row[0], row[3], row[4]))

    def _iter_rows(self, entry: Entry) -> Iterator[tuple[object, ...]]:
        """Yield the rows of a continuation."""
        member = entry.id in self._continuations.members
        member = member and (not self._is_part or entry.clip in self._queued)
        if not member and entry.clip not in self._pool:
            return
        latest = self._latest.get(entry.clip, {})
        for verdict in latest.values():
            yield self._make_row(entry, self._record.clips[verdict.item], verdict)
        if member and not latest and entry.clip in self._queued:
            yield self._make_row(entry, self._queued[entry.clip], None)

    def _make_row(
        self, entry: Entry, clip: ClipRecord, verdict: StandingVerdict | None
    ) -> tuple[object, ...]:
        settled = verdict is None and entry.id in self._continuations.silent
        truth, truth_step = self._pool.get(entry.clip, ("", None))
        decided = self._record.adjudications.get(clip.item)
        unjudged = "not_done" if settled else ""
        standing = verdict or StandingVerdict(0, 0, "", unjudged, None, "", None, 0)
        twice = not settled and not truth and clip.clip in self._twice
        author = ""
        if verdict:
            person = self._record.authors[verdict.annotator]
            author = person.name if self._names else person.pseudonym
        return (
            entry.agent,
            entry.scenario_id,
            entry.category,
            entry.id,
            author,
            standing.verdict,
            standing.step,
            entry.horizon,
            entry.kind,
            self._continuations.trajectories.get(entry.scenario_hash, ""),
            truth,
            truth_step,
            clip.clip,
            standing.seconds,
            "settled" if settled else "human",
            entry.sees,
            standing.reason,
            standing.extra,
            decided.verdict if decided else "",
            decided.step if decided else None,
            clip.rubric,
            standing.position or None,
            int(twice),
        )
