"""Clips: continuations that look and sound the same are judged once, for all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sts.annotations.export import ratings, write_csv
from sts.annotations.imports import read_csv
from sts.annotations.store import Store
from sts.errors import DamagedData
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, a_submission, an_item, statuses

COPIES = [an_item(f"c{n}", clip="same", agent=f"agent-{n}") for n in range(3)]
OTHER = an_item("c9", clip="other", agent="agent-0")


def test_what_is_said_of_a_clip_is_said_of_each_continuation_that_it_covers(
    workspace: Workspace,
) -> None:
    with Store.open(workspace) as store:
        assert store.enqueue([*COPIES, OTHER]) == 4
        assert store.progress(SUITE)[:4] == (2, 0, 2, 0)
        assert store.progress(SUITE).continuations == 4
        ana = store.add_annotator("Ana").id
        claims = store.claim(ana, suite=SUITE, count=9)
        assert {claim.continuation for claim in claims} == {"c0", "c9"}
        steps = {"c0": 3, "c9": 5}
        sent = [a_submission(claim, step=steps[claim.continuation]) for claim in claims]
        assert statuses(store.submit(ana, sent)) == ["saved", "saved"]
        assert {one: v[0].step for one, v in store.verdicts(["c0", "c1", "c2", "c9"]).items()} == {
            "c0": 3, "c1": 3, "c2": 3, "c9": 5,
        }  # fmt: skip
        assert store.progress(SUITE).by_annotator == {"Ana": 2}
    table = ratings(workspace, SUITE)
    assert table[["agent", "continuation", "clip", "step"]].values.tolist() == [
        ["agent-0", "c0", "same", 3],
        ["agent-0", "c9", "other", 5],
        ["agent-1", "c1", "same", 3],
        ["agent-2", "c2", "same", 3],
    ]


def test_a_copy_that_comes_later_is_judged_already(workspace: Workspace) -> None:
    with Store.open(workspace) as store:
        store.enqueue(COPIES[:1])
        ana = store.add_annotator("Ana").id
        (claim,) = store.claim(ana, suite=SUITE)
        store.submit(ana, [a_submission(claim)])
        assert store.enqueue([*COPIES, *COPIES]) == 2
        assert store.enqueue(COPIES) == 0
        assert store.progress(SUITE)[:4] == (1, 1, 1, 1)
        assert store.claim(ana, suite=SUITE) == []
        assert len(store.verdicts(["c2"])["c2"]) == 1


def test_who_played_one_of_its_copies_does_not_judge_a_clip(workspace: Workspace) -> None:
    with Store.open(workspace) as store:
        bo = store.add_annotator("Bo").id
        store.enqueue([COPIES[0], an_item("c7", clip="same", agent="human", players=("Bo",))])
        assert store.claim(bo, suite=SUITE) == []
        assert len(store.claim(store.add_annotator("Ana").id, suite=SUITE)) == 1


def test_a_reference_is_one_for_all_its_copies(workspace: Workspace) -> None:
    with Store.open(
        workspace,
    ) as store:
        store.enqueue(COPIES)
        store.add_reference(COPIES[1], "success", 7)
        ana = store.add_annotator("Ana").id
        claims = store.claim(ana, suite=SUITE, count=5)
        assert len(claims) == 1
        store.submit(ana, [a_submission(claims[0], step=7)])
        assert [one.judged for one in store.references()] == [1]
    assert ratings(workspace, SUITE)["truth"].tolist() == ["success"] * 3


def test_a_clip_of_another_scenario_is_refused(workspace: Workspace) -> None:
    with Store.open(workspace) as store:
        store.enqueue(COPIES[:1])
        with pytest.raises(DamagedData, match="run it again"):
            store.enqueue([an_item("c5", clip="same", scenario_hash="cd" * 32)])


def test_an_export_of_clips_is_read_back_and_adds_nothing(
    workspace: Workspace, tmp_path: Path
) -> None:
    with Store.open(workspace) as store:
        store.enqueue([*COPIES, OTHER])
        ana = store.add_annotator("Ana").id
        store.submit(ana, [a_submission(one) for one in store.claim(ana, suite=SUITE)])
        write_csv(tmp_path / "all.csv", ratings(workspace, SUITE))
        imported = store.append(read_csv(tmp_path / "all.csv"))
        assert (imported.added, imported.known) == (0, 4)
