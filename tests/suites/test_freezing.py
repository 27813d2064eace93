"""Freezing next to other processes: at most one succeeds, and what is written is whole."""

import contextlib
import itertools
import shutil
import threading
from functools import partial

import pytest

from sts.errors import ArgumentError, StsError
from sts.suites import folders
from sts.suites import suite_store as store
from sts.suites.lint import lint_scenarios
from sts.suites.suite import Scenario, Suite
from tests.examples import scenarios
from tests.suites.races import Killed, killed_after, run_together


@pytest.fixture
def side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no freeze write before another has found its draft sound."""
    barrier = threading.Barrier(2, timeout=60)

    def waiting(found: tuple[Scenario, ...]) -> list[str]:
        faults = lint_scenarios(found)
        barrier.wait()
        return faults

    monkeypatch.setattr(store, "lint_scenarios", waiting)


@pytest.mark.usefixtures("side_by_side")
@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (("mine", "mine"), "mine@1 is already frozen; the next version is 2"),
        (("mine@1", "mine@1"), "mine@1 is already frozen; the next version is 2"),
        (("mine@2", "mine@3"), "holds the same scenarios|would be older than mine@3"),
    ],
)
def test_two_simultaneous_freezes_leave_one_suite(workspace, labels, why):
    freeze = partial(store.freeze_scenarios, workspace)
    outcomes = run_together(*(partial(freeze, label, scenarios(2)) for label in labels))
    (suite,) = (one for one in outcomes if isinstance(one, Suite))
    with pytest.raises(ArgumentError, match=why):
        raise next(one for one in outcomes if isinstance(one, StsError))
    assert list(folders.list_versions(workspace)["mine"]) == [suite.version]
    assert store.load(workspace, suite.label).hash == suite.hash


@pytest.mark.usefixtures("side_by_side")
def test_two_simultaneous_versions_do_not_share_a_parent(workspace):
    every = scenarios(3)
    store.write(workspace.path("suites", "mine", "1"), Suite("mine", 1, None, "", (every[2],), {}))
    outcomes = run_together(
        *(partial(store.freeze_scenarios, workspace, f"mine@{n}", every[:1]) for n in (2, 3))
    )
    assert sum(isinstance(one, Suite) for one in outcomes) == 1
    assert len(folders.list_versions(workspace)["mine"]) == 2


def test_draft_that_changes_while_it_is_frozen_is_not_frozen(workspace):
    with pytest.raises(StsError, match="changed while it was being frozen; nothing was frozen"):
        store.freeze_scenarios(workspace, "mine", scenarios(2), is_unchanged=lambda: False)
    assert "mine" not in folders.list_versions(workspace)


def test_version_is_never_frozen_twice_or_below_the_newest(workspace):
    assert store.freeze_scenarios(workspace, "mine@3", scenarios(2)).label == "mine@3"
    for label, why in (
        ("mine@3", "mine@3 is already frozen; the next version is 4"),
        ("mine@2", "mine@2 would be older than mine@3, .* the next version is 4"),
    ):
        with pytest.raises(ArgumentError, match=why):
            store.freeze_scenarios(workspace, label, scenarios(1))
    assert store.freeze_scenarios(workspace, "mine", scenarios(1)).label == "mine@4"


def test_same_scenarios_are_not_frozen_again_in_any_order(workspace):
    store.freeze_scenarios(workspace, "mine", scenarios(2))
    first, second = scenarios(2)
    store.freeze_scenarios(workspace, "mine", scenarios(1))
    for again in ([first, second], [second, first]):
        with pytest.raises(ArgumentError, match="mine@1 holds the same scenarios"):
            store.freeze_scenarios(workspace, "mine", again)
    assert sorted(folders.list_versions(workspace)["mine"]) == [1, 2]


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"version_of_format": 1, "scenarios": [1]}', '{"scenarios": {}}']
)
def test_broken_version_does_not_hinder_the_next(workspace, text):
    store.freeze_scenarios(workspace, "mine", scenarios(2))
    workspace.path("suites", "mine", "1", "suite.json").write_text(text)
    assert store.freeze_scenarios(workspace, "mine", scenarios(2)).version > 1


def test_freeze_killed_at_any_write_leaves_nothing_or_the_whole_version(workspace, monkeypatch):
    whole = 0
    for moment in itertools.count():
        with monkeypatch.context() as patch:
            left = killed_after(moment, patch)
            with contextlib.suppress(Killed):
                store.freeze_scenarios(workspace, "mine", scenarios(2))
        if workspace.path("suites", "mine", "1").exists():
            assert len(store.load(workspace, "mine@1").scenarios) == 2
            whole += 1
        else:
            assert "mine" not in folders.list_versions(workspace)
        if left():
            break
        shutil.rmtree(workspace.path("suites", "mine", "1"), ignore_errors=True)
    assert moment > 5 and whole >= 1
    assert [p.name for p in workspace.path("suites", "mine").iterdir()] == ["1"]
