"""Freezing and mining beside others: at most one succeeds, and what is there is whole."""

import itertools
import os
import shutil
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from sts.errors import ArgumentError, StsError
from sts.storage.workspace import Workspace
from sts.suites import folders, store
from sts.suites.lint import lint
from sts.suites.types import Scenario, Suite
from tests.examples import scenarios


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.open(str(tmp_path / "w")).ensure()


def together(*calls: Callable[[], object]) -> list[object]:
    """Return what each call returns, or the error of ours that it raises."""
    outcomes: list[object] = [None] * len(calls)

    def run(i: int) -> None:
        try:
            outcomes[i] = calls[i]()
        except StsError as error:
            outcomes[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


@pytest.fixture
def side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets no freeze write before another has found nothing wrong with its draft."""
    barrier = threading.Barrier(2, timeout=60)

    def waiting(found: tuple[Scenario, ...]) -> list[str]:
        faults = lint(found)
        barrier.wait()
        return faults

    monkeypatch.setattr(store, "lint", waiting)


@pytest.mark.usefixtures("side_by_side")
@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (("mine", "mine"), "mine@1 is already frozen; the next version is 2"),
        (("mine@1", "mine@1"), "mine@1 is already frozen; the next version is 2"),
        (("mine@2", "mine@3"), "holds the same scenarios|would be older than mine@3"),
    ],
)
def test_two_freezes_at_once_leave_one_suite(
    workspace: Workspace, labels: tuple[str, str], why: str
) -> None:
    outcomes = together(
        *(partial(store.freeze, workspace, label, scenarios(2)) for label in labels)
    )
    (suite,) = (one for one in outcomes if isinstance(one, Suite))
    with pytest.raises(ArgumentError, match=why):
        raise next(one for one in outcomes if isinstance(one, StsError))
    assert list(folders.versions(workspace)["mine"]) == [suite.version]
    assert store.load(workspace, suite.label).hash == suite.hash


@pytest.mark.usefixtures("side_by_side")
def test_two_versions_frozen_at_once_do_not_both_grow_from_one_parent(
    workspace: Workspace,
) -> None:
    every = scenarios(3)
    store.write(workspace.path("suites", "mine", "1"), Suite("mine", 1, None, "", (every[2],), {}))
    outcomes = together(*(partial(store.freeze, workspace, f"mine@{n}", every[:1]) for n in (2, 3)))
    assert sum(isinstance(one, Suite) for one in outcomes) == 1
    assert len(folders.versions(workspace)["mine"]) == 2


def test_what_changed_while_it_was_frozen_is_not_frozen(workspace: Workspace) -> None:
    with pytest.raises(StsError, match="changed while it was being frozen; nothing was frozen"):
        store.freeze(workspace, "mine", scenarios(2), unchanged=lambda: False)
    assert "mine" not in folders.versions(workspace)


def test_a_version_below_the_newest_is_refused(workspace: Workspace) -> None:
    assert store.freeze(workspace, "mine@3", scenarios(2)).label == "mine@3"
    with pytest.raises(
        ArgumentError, match="mine@2 would be older than mine@3, .* the next version is 4"
    ):
        store.freeze(workspace, "mine@2", scenarios(1))
    assert store.freeze(workspace, "mine", scenarios(1)).label == "mine@4"


def test_the_same_scenarios_are_not_frozen_again_in_any_order_or_under_other_ids(
    workspace: Workspace,
) -> None:
    store.freeze(workspace, "mine", scenarios(2))
    first, second = scenarios(2)
    store.freeze(workspace, "mine", scenarios(1))
    for again in ([first, second], [second, first]):
        with pytest.raises(ArgumentError, match="mine@1 holds the same scenarios"):
            store.freeze(workspace, "mine", again)
    assert sorted(folders.versions(workspace)["mine"]) == [1, 2]


def test_a_broken_version_hinders_no_other(workspace: Workspace) -> None:
    store.freeze(workspace, "mine", scenarios(2))
    file = workspace.path("suites", "mine", "1", "suite.json")
    for text in ("{", "[]", '{"version_of_format": 1, "scenarios": [1]}', '{"scenarios": {}}'):
        file.write_text(text)
        assert store.freeze(workspace, "mine", scenarios(2)).version > 1
        shutil.rmtree(workspace.path("suites", "mine", "2"))


class Killed(BaseException):
    """The process ended here."""


def test_killed_at_any_moment_a_freeze_leaves_nothing_or_the_whole_version(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = 0
    for moment in itertools.count():
        with monkeypatch.context() as patch:
            left = killed_after(moment, patch)
            try:
                store.freeze(workspace, "mine", scenarios(2))
            except Killed:
                pass
        if workspace.path("suites", "mine", "1").exists():
            assert len(store.load(workspace, "mine@1").scenarios) == 2
            whole += 1
        else:
            assert "mine" not in folders.versions(workspace)
        if left():
            break
        shutil.rmtree(workspace.path("suites", "mine", "1"), ignore_errors=True)
    assert moment > 5 and whole >= 1
    assert [p.name for p in workspace.path("suites", "mine").iterdir()] == ["1"]


def killed_after(moment: int, patch: pytest.MonkeyPatch) -> Callable[[], bool]:
    """End the process, as far as files see, at that call which changes one, before it is made.

    Returns whether there were fewer calls than that.
    """
    calls = itertools.count()
    dead: list[bool] = []

    def watched(real: Callable[..., object]) -> Callable[..., object]:
        def call(*given: object, **named: object) -> object:
            if dead or next(calls) == moment:
                dead.append(True)
                raise Killed
            return real(*given, **named)

        return call

    for name in ("fsync", "rename", "replace", "link", "mkdir", "rmdir", "unlink"):
        patch.setattr(os, name, watched(getattr(os, name)))
    real = shutil.rmtree
    patch.setattr(shutil, "rmtree", lambda *given, **named: None if dead else real(*given, **named))
    return lambda: not dead
