"""Makes the evidence of a report from a workspace, beside the report's folder."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from sts.annotations import clips
from sts.annotations.store import AnnotationStore
from sts.continuations.store import iter_entries
from sts.storage.workspace import Workspace
from sts.suites import selections
from sts_analysis.evidence import files
from sts_analysis.evidence.choice import chosen
from sts_analysis.evidence.dossiers import dossiers
from sts_analysis.inputs.gather import Gathered
from sts_analysis.report.page import Link
from sts_analysis.report.schema import Report
from sts_analysis.report.write import EVIDENCE, Evidence

Shower = Callable[[str, str], AbstractContextManager[Callable[[int, int], None]]]
_SUFFIX = ".evidence"


@contextlib.contextmanager
def evidence(
    workspace: Workspace,
    label: str,
    gathered: Gathered,
    report: Report,
    folder: Path,
    *,
    most: int | None,
    linked: bool,
    show: Shower,
) -> Iterator[Evidence]:
    """Yields the clips behind a report, in a folder beside where the report goes.

    Args:
      workspace: where continuations are kept.
      label: of the suite or the part that the report is about.
      gathered: from the workspace, people by pseudonym.
      report: made of it.
      folder: the report's.
      most: clips to take along at most; None for all.
      linked: takes none along; says of each where the app shows it.
      show: draws how far it is, from a label and a unit.

    Raises:
      DamagedData: a part of the continuations is damaged.
      OSError: the disk is full, or read-only.
    """
    own = selections.load_selection(workspace, label).scenarios
    assert gathered.ids is not None, "a table is no workspace"
    named = gathered.ratings["continuation"].map(gathered.ids)
    ratings = gathered.ratings.assign(continuation=named)
    clip_of = {one.id: one.clip for one in iter_entries(workspace, {one.hash for one in own})}
    every = list(dossiers(ratings, report.labels_used, clip_of))
    spread = {one.scenario: one.spread for one in report.scenarios}
    taken = {} if linked else chosen(every, spread, most, clip_of.keys())
    with _beside(folder) as made, show("evidence", "clips") as progress:
        written = files.make(
            made,
            workspace,
            own,
            every,
            taken,
            title=report.suite,
            agents=[one.agent for one in report.agents],
            items=_items(workspace) if linked else None,
            progress=progress,
        )
        yield Evidence(made, Link(f"{EVIDENCE}/{files.PAGE}", _sentence(written, linked)))


def _items(workspace: Workspace) -> Mapping[str, str]:
    """As what the app shows each clip, by its hash."""
    with AnnotationStore.read_existing(workspace) as connection:
        return clips.load_items_by_clip(connection) if connection else {}


def _sentence(made: files.Made, linked: bool) -> str:
    if linked:
        return f"The {made.of} clips behind these numbers open in the app."
    count, why = made.refused
    size = f"{made.size / 1e6:.1f} MB"
    text = f"{made.clips} of {made.of} clips can be watched, in the folder evidence ({size})"
    if made.clips + count < made.of:
        text += "; the others are counted there and not shown"
    if count:
        text += f"; {count} cannot be shown here, the first as {why}"
    return f"{text}."


@contextlib.contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """Yields an empty folder beside another, which is gone afterwards unless it was moved.

    What killed programs have left is removed.
    """
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{folder.name}."
    for path in folder.parent.glob(f"{prefix}*{_SUFFIX}"):
        with contextlib.suppress(OSError), _locked(path):
            shutil.rmtree(path)
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=prefix, suffix=_SUFFIX))
    made.chmod(0o755)
    try:
        with _locked(made):
            yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Holds a folder; raises OSError where another program does."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)
