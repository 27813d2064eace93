"""The annotation queue: random samples of large suites, drafts and silent answers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import select

from sts.annotations.answers import progress
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.schema import items
from sts.annotations.findings.export import export_ratings
from sts.annotations.findings.plan import close_suite
from sts.continuations.continuation_store import stream
from sts.continuations.run import run
from sts.continuations.silence import is_silent
from sts.errors import UnknownName
from sts.storage.workspace import Workspace
from sts.suites import drafts
from sts.suites import suite_store as suites
from sts.suites.selections import Selection
from sts.suites.suite import Suite
from sts_annotator_app import queueing
from tests.annotations.examples import a_submission
from tests.annotator_app.serving import quiet
from tests.examples import accepted, scenarios
from tests.stores import add_person, ask, change, claim_items, submit


def queued(store: AnnotationStore) -> set[str]:
    with store.database.read() as connection:
        return set(connection.scalars(select(items.c.continuation)))


def test_large_suite_is_queued_in_random_samples(workspace: Workspace) -> None:
    suite = Suite("mine", 1, None, "", tuple(scenarios(2)), {})
    run(workspace, suite.scenarios, ["random"], count=10, seed=0, workers=1, progress=quiet)
    whole = Selection(suite, suite.scenarios)
    few = Workspace(
        workspace.root, {"annotation": {"annotations_per_clip": 1, "queue": 5, "overlap": 0}}
    )
    with AnnotationStore.open(few) as store:
        assert [queueing.fill_queue(few, store, whole) for _ in range(2)] == [20, 20]
        first = queued(store)
        assert len(first) == 5
        person = add_person(store, "Ana")
        for claim in claim_items(store, person.id, suite=suite.label, count=3):
            submit(store, person.id, [a_submission(claim)])
        assert ask(store, progress.load_progress, suite.label).complete == 3
        queueing.fill_queue(few, store, whole)
        assert len(queued(store)) == 8 and first < queued(store)
    with AnnotationStore.open(workspace) as store:
        assert queueing.fill_queue(workspace, store, whole) == 20
        assert len(queued(store)) == 20


def test_nothing_is_queued_in_a_closed_study(workspace: Workspace) -> None:
    suite = Suite("mine", 1, None, "", tuple(scenarios(2)), {})
    run(workspace, suite.scenarios, ["random"], count=1, seed=0, workers=1, progress=quiet)
    whole = Selection(suite, suite.scenarios)
    with AnnotationStore.open(workspace) as store:
        queueing.fill_queue(workspace, store, whole)
        person, lead = add_person(store, "Ana"), add_person(store, "Lea", ["lead"])
        (claim,) = claim_items(store, person.id, suite=suite.label, count=1)
        submit(store, person.id, [a_submission(claim)])
        hashes = {scenario.hash for scenario in suite.scenarios}
        for reopen, queued_rows in ((False, 2), (True, 4)):
            change(store, close_suite, suite.label, hashes, lead, "no funds", reopen=reopen)
            run(workspace, suite.scenarios, ["random"], count=2, seed=0, workers=1, progress=quiet)
            assert queueing.fill_queue(workspace, store, whole) == 4
            assert len(queued(store)) == queued_rows


def test_draft_has_no_queue_until_it_is_frozen(workspace: Workspace) -> None:
    with pytest.raises(UnknownName):
        queueing.select_suite(workspace, "mine")
    draft = accepted(workspace, "mine", scenarios(2))
    assert queueing.select_suite(workspace, "mine") is None
    suites.freeze_scenarios(workspace, "mine", scenarios(2), made_by={"draft": draft.id})
    with pytest.raises(UnknownName, match="mine@1"):
        queueing.select_suite(workspace, "mine")
    one = queueing.select_suite(workspace, "mine@1")
    assert one is not None and one.label == "mine@1"


def test_name_alone_finds_the_draft_of_a_next_version_or_suggests_the_newest(
    workspace: Workspace,
) -> None:
    with pytest.raises(UnknownName, match="did you mean core@3"):
        queueing.select_suite(workspace, "core")
    drafts.create_draft(workspace, "core", scenarios(2), parent="core@2")
    assert queueing.select_suite(workspace, "core") is None


def test_silent_answers_are_auto_resolved_only_if_the_study_says_so(workspace: Workspace) -> None:
    asked = scenarios(3, kind="question", text="Do you see Good right now?")
    others = [replace(one, id=f"do-{one.id}", kind="instruction") for one in asked]
    suite = Suite("mine", 1, None, "", (*asked, *others), {})
    agents = ["random", "local-search", "oracle", "reader-without-memory"]
    run(workspace, suite.scenarios, agents, count=2, seed=0, workers=1, progress=quiet)
    batches = stream(workspace, {one.hash for one in suite.scenarios})
    every = [one for batch in batches for one in batch]
    silent = {one.id for one in every if one.kind == "question" and is_silent(one)}
    assert 0 < len(silent) < len([one for one in every if one.kind == "question"])
    whole = Selection(suite, suite.scenarios)
    settling = Workspace(workspace.root, {"annotation": {"auto_resolve": "silence"}})
    with AnnotationStore.open(settling) as store:
        queueing.fill_queue(settling, store, whole)
        counts = ask(store, progress.load_progress, suite.label)
    suites.write(workspace.path("suites", "mine", "1"), suite)
    table = export_ratings(settling, suite.label).table
    resolved, human = (table[table["source"] == source] for source in ("settled", "human"))
    assert set(resolved["continuation"]) == silent
    assert set(human["continuation"]) == {one.id for one in every} - silent
    assert counts.auto_resolved == counts.complete == resolved["clip"].nunique()
    assert counts.judged == 0
    with AnnotationStore.open(workspace) as store:
        queueing.fill_queue(workspace, store, whole)
        counts = ask(store, progress.load_progress, suite.label)
    assert counts.auto_resolved == counts.complete == 0
