"""The queue of a workspace that holds more than people judge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from sts.annotations import views
from sts.annotations.export import load_ratings
from sts.annotations.schema import items
from sts.annotations.store import Store
from sts.continuations.run import run
from sts.continuations.silence import is_silent
from sts.continuations.store import stream
from sts.errors import UnknownName
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.selections import select as select_part
from sts.suites.types import Suite
from sts_annotator_app import queueing
from tests.annotations.examples import a_submission
from tests.examples import accepted, scenarios
from tests.stores import add_person, ask, claim_items, submit


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.delenv("STS_DATABASE_URL", raising=False)
    return Workspace.open(str(tmp_path / "w")).ensure()


def queued(store: Store) -> set[str]:
    with store.database.read() as connection:
        return set(connection.scalars(select(items.c.continuation)))


def test_of_more_than_wait_at_a_time_some_are_drawn_by_lot_and_others_follow(
    workspace: Workspace,
) -> None:
    suite = Suite("mine", 1, None, "", tuple(scenarios(2)), {})
    options: dict[str, Any] = {
        "count": 10,
        "seed": 0,
        "workers": 1,
        "progress": lambda done, total: None,
    }
    run(workspace, suite.scenarios, ["random"], **options)
    whole = select_part(workspace, suite, [])
    few = Workspace(workspace.root, {"annotation": {"required": 1, "queue": 5, "twice": 0}})
    with Store.open(few) as store:
        assert [queueing.fill(few, store, whole) for _ in range(2)] == [20, 20]
        first = queued(store)
        assert len(first) == 5
        person = add_person(store, "Ana")
        claims = claim_items(store, person.id, suite=suite.label, count=3)
        for claim in claims:
            submit(store, person.id, [a_submission(claim)])
        assert ask(store, views.progress, suite.label).complete == 3
        queueing.fill(few, store, whole)
        assert len(queued(store)) == 8 and first < queued(store)
    with Store.open(workspace) as store:
        assert queueing.fill(workspace, store, whole) == 20
        assert len(queued(store)) == 20


def test_of_a_draft_that_is_the_first_of_its_name_nothing_is_judged(workspace: Workspace) -> None:
    with pytest.raises(UnknownName):
        queueing.chosen(workspace, "mine")
    accepted(workspace, "mine", scenarios(2))
    assert queueing.chosen(workspace, "mine") is None
    suites.freeze(workspace, "mine", scenarios(2))
    with pytest.raises(UnknownName, match="mine@1"):
        queueing.chosen(workspace, "mine")
    one = queueing.chosen(workspace, "mine@1")
    assert one is not None and one.label == "mine@1"


def test_silence_where_an_answer_is_asked_waits_for_nobody_if_the_study_says_so(
    workspace: Workspace,
) -> None:
    asked = scenarios(3, kind="question", text="Do you see Good right now?")
    told = [replace(one, id=f"told-{one.id}", kind="instruction") for one in asked]
    suite = Suite("mine", 1, None, "", (*asked, *told), {})
    options: dict[str, Any] = {"workers": 1, "progress": lambda done, total: None, "seed": 0}
    run(
        workspace,
        suite.scenarios,
        ["random", "local-search", "oracle", "reader-without-memory"],
        count=2,
        **options,
    )
    every = [
        one for batch in stream(workspace, {one.hash for one in suite.scenarios}) for one in batch
    ]
    quiet = {one.id for one in every if one.kind == "question" and is_silent(one)}
    assert 0 < len(quiet) < len([one for one in every if one.kind == "question"])
    whole = select_part(workspace, suite, [])
    settling = Workspace(workspace.root, {"annotation": {"settle": "silence"}})
    with Store.open(settling) as store:
        queueing.fill(settling, store, whole)
        progress = ask(store, views.progress, suite.label)
    suites.write(workspace.path("suites", "mine", "1"), suite)
    table = load_ratings(settling, suite.label)
    assert set(table[table["source"] == "settled"]["continuation"]) == quiet
    assert set(table[table["source"] == "human"]["continuation"]) == {o.id for o in every} - quiet
    assert progress.settled == table[table["source"] == "settled"]["clip"].nunique()
    assert progress.judged == 0 and progress.complete == progress.settled
    with Store.open(workspace) as store:
        queueing.fill(workspace, store, whole)
        assert (
            ask(store, views.progress, suite.label).settled
            == 0
            == ask(store, views.progress, suite.label).complete
        )
