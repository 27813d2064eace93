"""Ratings that a workspace gives to a report: rule labels and the queue for people."""

from pathlib import Path

from sts.agents import fingerprint, load
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.people import exclusions
from sts.cli.main import main
from sts.continuations.requests import record_request
from sts.continuations.run import run
from sts.storage.workspace import Workspace
from sts.suites import selections
from sts.suites import suite_store as suites
from sts_analysis.inputs.workspace import gather
from sts_annotator_app.queueing import fill_queue
from tests.annotations.examples import judge
from tests.annotator_app.serving import quiet
from tests.stores import add_person, change

SUITE = "few@1"


def test_unjudged_queue_adds_continuations_only_if_they_have_no_label(tmp_path: Path):
    workspace = Workspace.open(str(tmp_path)).create()
    kept = suites.load(workspace, "core@2").scenarios[:3]
    suites.freeze_scenarios(workspace, "few", kept)
    run(workspace, kept, ["random"], count=2, seed=0, workers=1, progress=quiet)
    assert main(["label", SUITE, "--workspace", str(tmp_path)]) == 0
    labelled = gather(workspace, SUITE)
    for count, continuations, sources in ((2, 6, {"automatic"}), (3, 9, {"automatic", "human"})):
        run(workspace, kept, ["random"], count=count, seed=0, workers=1, progress=quiet)
        with AnnotationStore.open(workspace) as store:
            fill_queue(workspace, store, selections.load_selection(workspace, SUITE))
        queued = gather(workspace, SUITE)
        assert queued.ratings["continuation"].nunique() == continuations
        assert {*queued.ratings["source"]} == sources
        assert queued.suite.annotations_hash is None
        assert queued.versions == {"random": ("random", fingerprint(load("random")))}
        rows = queued.ratings[queued.ratings["source"] == "automatic"]
        assert (rows["verdict"] != "").sum() == len(labelled.ratings) == 6


def test_continuations_that_a_run_was_asked_for_are_missing(tmp_path: Path):
    workspace = Workspace.open(str(tmp_path)).create()
    kept = suites.load(workspace, "core@2").scenarios[:2]
    suites.freeze_scenarios(workspace, "few", kept)
    run(workspace, kept, ["random"], count=2, seed=0, workers=1, progress=quiet)
    with AnnotationStore.open(workspace) as store:
        fill_queue(workspace, store, selections.load_selection(workspace, SUITE))
    complete = gather(workspace, SUITE)
    assert complete.missing == {} and complete.absent == ()
    version = "random", fingerprint(load("random"))
    record_request(workspace.store, *version, 0, {kept[0].hash: 5})
    record_request(workspace.store, "ghost", "0", 0, {kept[1].hash: 1})
    asked = gather(workspace, SUITE)
    assert asked.missing == {("random", kept[0].id): 3} and asked.absent == ("ghost",)


def test_exclusion_leaves_the_clips_of_a_person_planned_and_unjudged(tmp_path: Path):
    workspace = Workspace.open(str(tmp_path)).create()
    kept = suites.load(workspace, "core@2").scenarios[:3]
    suites.freeze_scenarios(workspace, "few", kept)
    run(workspace, kept, ["random"], count=2, seed=0, workers=1, progress=quiet)
    with AnnotationStore.open(workspace) as store:
        lead = add_person(store, "Lea", ("lead",))
        fill_queue(workspace, store, selections.load_selection(workspace, SUITE))
        judged = judge(store, add_person(store, "Ana").id, 4, SUITE)
        before = gather(workspace, SUITE)
        change(store, exclusions.set_excluded, "Ana", lead, "did not watch")
    after = gather(workspace, SUITE)
    assert (before.ratings["verdict"] != "").any() and before.excluded == (0, 0, ())
    assert after.excluded == (1, len(judged), ("did not watch",))
    assert (after.ratings["verdict"] == "").all() and len(after.ratings) == len(before.ratings)
    assert before.suite.plan and after.suite.plan
    assert before.suite.plan.judged_clips > after.suite.plan.judged_clips == 0
    assert after.suite.plan.planned_clips == before.suite.plan.planned_clips
