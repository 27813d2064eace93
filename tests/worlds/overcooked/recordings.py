"""The recordings of people of Overcooked, cut to what tests of whole pipelines can play."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

from sts.cli.main import main
from tests.programs import require_package

CUT_TRIALS, CUT_STEPS = 12, 300


def cut_recordings(patch: pytest.MonkeyPatch) -> None:
    """Have both files of Overcooked's recordings end with their first trials' first steps."""
    require_package("overcooked_ai_py")
    from sts_overcooked import loader, trials

    @functools.cache
    def read(path: Path) -> Any:
        table = loader.read_table(path)
        grouped = table.groupby(["run", "workerid_num", "round_num"], sort=False)
        return table[(grouped.ngroup() < CUT_TRIALS) & (grouped.cumcount() < CUT_STEPS)]

    patch.setattr(trials, "read_table", read)


def import_cut_recordings(root: Path) -> None:
    """Import what `cut_recordings` leaves into a workspace."""
    with pytest.MonkeyPatch.context() as patch:
        cut_recordings(patch)
        words = ["trajectories", "import", "--format", "overcooked-2019"]
        assert main([*words, "--workspace", str(root)]) == 0
