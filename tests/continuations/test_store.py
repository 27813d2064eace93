"""Continuation files: nothing edited passes, nothing is counted twice, two runs lose nothing."""

import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sts import agents
from sts.continuations import store
from sts.continuations.takeover import continue_all
from sts.continuations.types import Continuation
from sts.errors import DamagedData
from sts.storage import parquet
from sts.storage.workspace import Workspace
from sts.suites.types import Scenario
from tests.examples import scenarios


@pytest.fixture(scope="module")
def one() -> Scenario:
    return scenarios(1)[0]


def made(one: Scenario, indices: Sequence[int]) -> list[Continuation]:
    return continue_all([one], agents.load("random"), seed=0, indices=indices)


def only_file(workspace: Workspace) -> Path:
    (path,) = workspace.path("continuations").glob("*/*.parquet")
    return path


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("sees", "world"),
        ("deterministic", True),
        ("roles", [1]),
        ("category", "walk"),
        ("kind", "question"),
        ("takeover", 5),
    ],
)
def test_what_a_report_rests_on_cannot_be_edited(
    tmp_path: Path, one: Scenario, column: str, value: Any
) -> None:
    workspace = Workspace.open(str(tmp_path))
    store.save(workspace, made(one, [0]))
    path = only_file(workspace)
    table = parquet.read(path, store.FORMAT, store.VERSION, store.SCHEMA)
    rows = {name: table.column(name).to_pylist() for name in store.SCHEMA}
    parquet.write(path, store.FORMAT, store.VERSION, store.SCHEMA, rows)
    store.read(path)
    rows[column] = [value]
    parquet.write(path, store.FORMAT, store.VERSION, store.SCHEMA, rows)
    with pytest.raises(DamagedData, match="was altered"):
        store.load(workspace, {one.hash})


def test_two_runs_that_add_to_one_file_lose_nothing(
    tmp_path: Path, one: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace.open(str(tmp_path))
    real, other = store.write, threading.Thread(target=store.save, args=(workspace, made(one, [1])))

    def write(path: Path, continuations: Sequence[Continuation]) -> None:
        if not other.ident:  # the first run has read the file, and now the second comes
            other.start()
            other.join(0.5)
        real(path, continuations)

    monkeypatch.setattr(store, "write", write)
    store.save(workspace, made(one, [0]))
    other.join()
    assert [c.identity.index for c in store.load(workspace, {one.hash})] == [0, 1]


def test_a_copied_folder_counts_nothing_twice(tmp_path: Path, one: Scenario) -> None:
    workspace = Workspace.open(str(tmp_path))
    store.save(workspace, made(one, [0, 1]))
    folder = only_file(workspace).parent
    shutil.copytree(folder, folder.with_name("a copy"))
    assert len(store.load(workspace, {one.hash})) == 2


def test_a_continuation_that_two_files_tell_differently_is_refused(
    tmp_path: Path, one: Scenario
) -> None:
    workspace = Workspace.open(str(tmp_path))
    first, second = made(one, [0, 1])
    store.save(workspace, [first])
    path = only_file(workspace)
    rows = vars(second) | {"identity": first.identity}
    store.write(path.with_name(path.name.replace(".parquet", "-b.parquet")), [Continuation(**rows)])
    with pytest.raises(DamagedData, match=f"continuation {first.id} is another one elsewhere"):
        store.load(workspace, {one.hash})


def test_steps_and_roles_that_do_not_fit_the_episode_are_refused(
    tmp_path: Path, one: Scenario
) -> None:
    (kept,) = made(one, [0])
    for change in ({"horizon": kept.horizon + 1}, {"takeover": -1}, {"roles": (7,)}):
        path = tmp_path / "c.parquet"
        store.write(path, [Continuation(**(vars(kept) | change))])
        with pytest.raises(DamagedData, match="its steps or roles do not agree"):
            store.read(path)
