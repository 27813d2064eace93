"""What a rule settles waits for nobody, and what people say of it stands over the rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sts.annotations import imports, views
from sts.annotations.export import load_ratings, write_csv
from sts.annotations.history import verify
from sts.annotations.imports import read_csv
from sts.annotations.store import Store
from sts.annotations.types import Item
from sts.errors import DamagedData
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, Clock, a_submission, some_items, statuses
from tests.stores import add_person, ask, change, claim_items, enqueue, submit


def clips(settled: str) -> list[Item]:
    """Three clips, of which the first says that it is settled."""
    return [replace(one, settled=settled if n == 0 else "") for n, one in enumerate(some_items(3))]


def rows(workspace: Workspace) -> list[tuple[str, str, str, str]]:
    table = load_ratings(workspace, SUITE, names=True)
    columns = ["continuation", "source", "annotator", "verdict"]
    return [tuple(row) for row in table[columns].itertuples(index=False)]


SETTLED = ("c0", "settled", "", "not_done")


def test_a_settled_clip_waits_for_nobody_and_is_counted_apart(workspace: Workspace) -> None:
    with Store.open(workspace) as store:
        enqueue(store, clips("silence"), required=None)
        ana = add_person(store, "Ana").id
        claims = claim_items(store, ana, suite=SUITE, count=9)
        assert {claim.continuation for claim in claims} == {"c1", "c2"}
        progress = ask(store, views.progress, SUITE)
        assert (progress.items, progress.complete, progress.settled) == (3, 1, 1)
        assert progress.required == 2 and progress.judged == 0
        assert rows(workspace)[0] == SETTLED and verify(store.database).findings == ()


def test_a_setting_that_is_changed_settles_what_waits_and_takes_it_back(
    workspace: Workspace,
) -> None:
    with Store.open(workspace) as store:
        enqueue(store, clips(""), required=None)
        ana = add_person(store, "Ana").id
        [held] = [
            c for c in claim_items(store, ana, suite=SUITE, count=9) if c.continuation == "c0"
        ]
        enqueue(store, clips("silence"), required=None)
        assert "c0" not in {c.continuation for c in claim_items(store, ana, suite=SUITE, count=9)}
        assert rows(workspace)[0] == SETTLED
        enqueue(store, clips(""), required=None)
        assert "c0" in {c.continuation for c in claim_items(store, ana, suite=SUITE, count=9)}
        assert rows(workspace)[0] == ("c0", "human", "", "")
        enqueue(store, clips("silence"), required=None)
        assert statuses(submit(store, ana, [a_submission(held)])) == ["extra"]
        assert rows(workspace)[0] == ("c0", "human", "Ana", "success")
        assert (
            ask(store, views.progress, SUITE).settled == 0 and verify(store.database).findings == ()
        )


def test_an_import_passes_over_what_a_rule_has_settled(
    workspace: Workspace, tmp_path: pytest.TempPathFactory, clock: Clock
) -> None:
    with Store.open(workspace, clock=clock) as store:
        enqueue(store, clips("silence"), required=None)
        write_csv(workspace.path("all.csv"), load_ratings(workspace, SUITE))
        assert (
            change(store, imports.append, read_csv(workspace.path("all.csv")), required=1).added
            == 0
        )


def test_only_what_is_known_may_be_settled(sqlite_workspace: Workspace) -> None:
    sqlite_workspace.settings["annotation"]["settle"] = "noise"
    with pytest.raises(DamagedData, match="annotation.settle to be one of '', 'silence'"):
        Store.open(sqlite_workspace)
