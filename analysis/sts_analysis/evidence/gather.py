"""The clips behind a report of a workspace, in a folder that is moved into the report's."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sts.annotations.answers import clips
from sts.annotations.database.annotation_store import AnnotationStore
from sts.cli.arguments import show_progress
from sts.continuations.index import open_index
from sts.storage.files import open_part_folder
from sts.storage.workspace import Workspace
from sts_analysis.evidence import files
from sts_analysis.evidence.dossiers import choose_clips, list_dossiers
from sts_analysis.inputs.gather import Gathered
from sts_analysis.report.core import Study
from sts_analysis.report.picks import pick_clips

FOLDER = "evidence"
CLIP_PAGE = f"{FOLDER}/{files.PAGE}"
"""Address of the page with all clips, from the report's folder."""


@contextlib.contextmanager
def open_evidence(
    workspace: Workspace,
    gathered: Gathered,
    study: Study,
    folder: Path,
    *,
    most: int | None,
    linked: bool,
) -> Iterator[tuple[Path, str]]:
    """Open a context that yields the clips behind a report, next to where the report goes.

    It yields their folder, to be moved into the report's as `FOLDER`, and how many clips can be
    watched, in a sentence.

    Args:
      workspace: where continuations are stored.
      gathered: from the workspace, with people's pseudonyms.
      study: made of it.
      folder: the report's.
      most: clips to take along at most; None for all.
      linked: take none along, and link each to the application.

    Raises:
      DamagedData: a part of the continuations is damaged.
      Unavailable: another program is making the same report.
      OSError: the disk is full or read-only.
    """
    assert gathered.ids is not None, "a table has no continuations"
    ids, outcomes = gathered.ids, study.outcomes
    index = open_index(workspace.store)
    rows = index.find_rows({scenario.hash for scenario in gathered.scenarios})
    clip_of = dict(zip(index.hex_digits("id", rows), index.hex_digits("clip", rows), strict=True))
    dossiers = list_dossiers(gathered.ratings, outcomes, ids, clip_of)
    shown = {ids[clip.number] for choice in pick_clips(study) for clip in choice.clips}
    spread = np.nan_to_num(np.fmax.reduce(outcomes.value) - np.fmin.reduce(outcomes.value))
    taken = choose_clips(
        dossiers,
        {clip_of.get(id, id) for id in shown},
        dict(zip(outcomes.scenarios, spread.tolist(), strict=True)),
        most,
        clip_of.keys(),
    )
    folder = folder.resolve()
    with (
        open_part_folder(folder.with_name(f"{FOLDER}-{folder.name}")) as beside,
        show_progress(FOLDER, "clips") as progress,
    ):
        (made := beside / FOLDER).mkdir(0o755)
        summary = files.write_clips(
            made,
            workspace,
            gathered.scenarios,
            dossiers,
            {} if linked else taken,
            title=study.subject.name,
            agents=study.names,
            items=_load_items(workspace) if linked else None,
            progress=progress,
        )
        yield made, summary


def _load_items(workspace: Workspace) -> dict[str, str]:
    """Return how the application calls each clip, by its hash."""
    with AnnotationStore.read_existing(workspace) as connection:
        return clips.load_items_by_clip(connection) if connection else {}
