"""Parts of measures: scores are equal with any workers, and however often a test is stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sts.storage.workspace import Workspace
from sts_analysis.measures import anytime_scores, universal_scores

CASES: dict[str, tuple[Any, int, list[str], dict[str, Any]]] = {
    "anytime": (
        *(anytime_scores, 2, ["random", "local-search"]),
        {"class_": "lambda-star", "runs": 5, "environments": 3},
    ),
    "universal": (
        *(universal_scores, 2, ["random", "symbols-win-stay"]),
        {"class_": "automata", "runs": 5, "interactions": 20},
    ),
}


@pytest.mark.parametrize("measure", CASES)
def test_workers_and_an_interrupted_run_do_not_change_the_scores(
    measure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, size, names, settings = CASES[measure]
    monkeypatch.setattr(module, "RUNS_PER_SPAN", size)

    def score(folder: str, **more: Any) -> Any:
        workspace = Workspace.open(tmp_path / folder)
        given = {"suite": None, "seed": 3, "workspace": workspace}
        return module.measure(names, **given, **settings, **more)[:3]

    one = score("1")
    assert score("2", workers=2) == one
    spans = sorted((tmp_path / "2/measures").rglob("*.json"))
    assert len(spans) == 6
    for span in spans[::2]:
        span.unlink()
    assert score("2") == one
