"""Parts and their index: nothing edited passes, nothing counts twice, no index is believed."""

import dataclasses
import json
import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sts import agents
from sts.continuations import index as indices
from sts.continuations import parts, store
from sts.continuations.takeover import continue_all
from sts.continuations.types import Continuation
from sts.errors import DamagedData, NewerFormat, UnknownName
from sts.storage import parquet
from sts.storage.store import Store
from sts.storage.workspace import Workspace
from sts.suites.types import Scenario
from tests.examples import scenarios


@pytest.fixture(scope="module")
def one() -> Scenario:
    return scenarios(1)[0]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.open(str(tmp_path))


def made(one: Scenario, indices: Sequence[int]) -> list[Continuation]:
    return continue_all([one], agents.load("random"), seed=0, indices=indices)


def only_file(workspace: Workspace) -> Path:
    (path,) = workspace.path("continuations").glob("*/*.parquet")
    return path


def hashes(continuations: Sequence[Continuation]) -> dict[str, str]:
    return {one.id: one.content_hash for one in continuations}


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
    workspace: Workspace, one: Scenario, column: str, value: Any
) -> None:
    store.save(workspace, made(one, [0]))
    path = only_file(workspace)
    table = parquet.read(path, parts.FORMAT, parts.VERSION, parts.SCHEMA)
    rows = {name: table.column(name).to_pylist() for name in parts.SCHEMA}
    parquet.write(path, parts.FORMAT, parts.VERSION, parts.SCHEMA, rows)
    assert len(store.load(workspace, {one.hash})) == 1
    rows[column] = [value]
    parquet.write(path, parts.FORMAT, parts.VERSION, parts.SCHEMA, rows)
    with pytest.raises(DamagedData, match="has been modified"):
        store.load(workspace, {one.hash})


def test_a_part_is_read_as_it_was_kept(workspace: Workspace, one: Scenario) -> None:
    kept = made(one, range(3))
    store.save(workspace, kept)
    for before, after in zip(kept, store.load(workspace, {one.hash}), strict=True):
        assert after.content_hash == before.content_hash and after.id == before.id
        np.testing.assert_array_equal(after.log_probs, before.log_probs)
        for field in (
            "identity",
            "instruction",
            "provenance",
            "seconds",
            "scenario_id",
            "together",
        ):
            assert getattr(after, field) == getattr(before, field)


def test_a_part_of_many_rows_is_read_by_the_group_that_is_needed(
    workspace: Workspace, one: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "ROWS_PER_GROUP", 2)
    kept = made(one, range(5))
    store.save(workspace, kept)
    read: list[Any] = []
    real = parquet.unpacked

    def unpacked(*given: Any, **more: Any) -> pa.Table:
        read.append(more.get("groups"))
        return real(*given, **more)

    store.opened(workspace)
    monkeypatch.setattr(parquet, "unpacked", unpacked)
    assert store.find(workspace, kept[4].id[:8]).content_hash == kept[4].content_hash
    assert read[-1] == [2]
    monkeypatch.setattr(parquet, "unpacked", real)
    assert hashes(store.load(workspace, {one.hash})) == hashes(kept)


def test_of_two_writers_of_one_part_one_succeeds_and_the_same_is_no_fault(
    workspace: Workspace, one: Scenario
) -> None:
    kept = made(one, [0, 1])
    slower = [dataclasses.replace(c, seconds=9.0, provenance={"python": "3"}) for c in kept]
    name = parts.part_name("plan", "0")
    space = workspace.ensure().store
    both = [
        threading.Thread(target=parts.write_part, args=(space, name, c)) for c in (kept, slower)
    ]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    (first, *_) = parts.decode_part(name, space.get(name))
    assert first.seconds in (kept[0].seconds, 9.0)
    parts.write_part(space, name, slower)
    with pytest.raises(DamagedData, match=r"plan/0.parquet already exists with other content"):
        parts.write_part(space, name, kept[:1])
    assert len(store.load(workspace, {one.hash})) == 2


def test_a_copied_folder_counts_nothing_twice(workspace: Workspace, one: Scenario) -> None:
    store.save(workspace, made(one, [0, 1]))
    folder = only_file(workspace).parent
    shutil.copytree(folder, folder.with_name("a copy"))
    assert len(store.load(workspace, {one.hash})) == 2
    shutil.rmtree(folder)
    assert len(store.load(workspace, {one.hash})) == 2


def test_a_continuation_that_two_parts_tell_differently_is_refused(
    workspace: Workspace, one: Scenario
) -> None:
    first, second = made(one, [0, 1])
    store.save(workspace, [first])
    store.opened(workspace)
    other = dataclasses.replace(second, identity=first.identity)
    parts.write_part(workspace.store, parts.part_name("other", "0"), [other])
    for _ in range(2):  # it is not forgotten once it was said
        with pytest.raises(
            DamagedData, match=f"continuation {first.id} differs from the one in"
        ) as error:
            store.load(workspace, {one.hash})
        assert "\n" not in str(error.value) and "other/0.parquet" in str(error.value)


def test_of_a_batch_sensitive_one_the_row_that_was_made_with_the_most_counts(
    workspace: Workspace, one: Scenario
) -> None:
    first, second = made(one, [0, 1])
    four = dataclasses.replace(first, together=4)
    ten = dataclasses.replace(second, identity=first.identity, together=10)
    for plan, row in (("a", ten), ("b", four)):
        parts.write_part(workspace.ensure().store, parts.part_name(plan, "0"), [row])
    assert hashes(store.load(workspace, {one.hash})) == hashes([ten])
    parts.write_part(
        workspace.store, parts.part_name("c", "0"), [dataclasses.replace(four, together=10)]
    )
    with pytest.raises(DamagedData, match="differs from the one in"):
        store.load(workspace, {one.hash})


def test_steps_and_roles_that_do_not_fit_the_episode_are_refused(one: Scenario) -> None:
    (kept,) = made(one, [0])
    for change in ({"horizon": kept.horizon + 1}, {"takeover": -1}, {"roles": (7,)}):
        raw = parts.encode_part("part", [dataclasses.replace(kept, **change)])
        with pytest.raises(
            DamagedData, match="its numbers of steps or its roles contradict each other"
        ):
            parts.decode_part("part", raw)


Change = Callable[[pa.Table], pa.Table]


def _without_last(table: pa.Table) -> pa.Table:
    return table.slice(0, len(table) - 1)


def _in_other_groups(table: pa.Table) -> pa.Table:
    return _set(table, "group", pa.array([7] * len(table), pa.int32()))


def _other_ids(table: pa.Table) -> pa.Table:
    ids = [bytes(12), *table.column("id").to_pylist()[1:]]
    return _set(table, "id", pa.array(ids, pa.binary(12)))


def _other_hashes(table: pa.Table) -> pa.Table:
    return _set(table, "content_hash", pa.array([bytes(32)] * len(table), pa.binary(32)))


def _other_part(table: pa.Table) -> pa.Table:
    part = pa.array(["continuations/none/0.parquet"] * len(table)).dictionary_encode()
    return _set(table, "part", part)


def _set(table: pa.Table, column: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.column_names.index(column), column, values)


@pytest.mark.parametrize(
    "change", [_without_last, _in_other_groups, _other_ids, _other_hashes, _other_part]
)
def test_an_index_that_lies_is_made_anew(
    workspace: Workspace, one: Scenario, change: Change
) -> None:
    kept = made(one, range(3))
    store.save(workspace, kept)
    index = store.opened(workspace)
    raw = indices.encode_index(index)
    lie = indices.encode_index(indices.Index(index.sizes, change(index.table)))
    if change is _without_last:  # what the parts hold is stated beside the rows
        told = {"sts.parts": json.dumps(index.sizes), "sts.rows": json.dumps({only(index): 3})}
        columns = {name: change(index.table).column(name) for name in indices.SCHEMA}
        lie = parquet.packed("i", "index", 1, indices.SCHEMA, columns, metadata=told)
    workspace.store.swap(indices.NAME, lie)
    assert hashes(store.load(workspace, {one.hash})) == hashes(kept)
    assert workspace.store.get(indices.NAME) == raw


def only(index: indices.Index) -> str:
    (name,) = index.sizes
    return name


@pytest.mark.parametrize("damage", [b"", b"PAR1", None, -40, "later"])
def test_an_index_that_is_missing_or_damaged_is_made_anew(
    workspace: Workspace, one: Scenario, damage: Any
) -> None:
    kept = made(one, range(3))
    store.save(workspace, kept)
    raw = indices.encode_index(store.opened(workspace))
    path = workspace.path(indices.NAME)
    if damage is None:
        path.unlink()
    elif damage == "later":
        path.write_bytes(parquet.packed("i", "index", 2, {"id": pa.string()}, {"id": ["a"]}))
    elif isinstance(damage, int):  # one bit of what stands in it
        changed = bytearray(raw)
        changed[60] ^= 16
        path.write_bytes(changed)
    else:
        path.write_bytes(damage)
    assert hashes(store.load(workspace, {one.hash})) == hashes(kept)
    assert path.read_bytes() == raw


def test_an_index_that_cannot_be_kept_costs_nothing_else(
    workspace: Workspace, one: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(workspace, made(one, range(3)))

    def full(self: Store, name: str, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Store, "swap", full)
    assert len(store.load(workspace, {one.hash})) == 3
    assert not workspace.path(indices.NAME).exists()


def test_a_part_that_is_taken_away_is_none_and_one_that_is_put_back_is(
    workspace: Workspace, one: Scenario
) -> None:
    first, second = made(one, [0, 1])
    store.save(workspace, [first])
    path = only_file(workspace)
    store.save(workspace, [second])
    assert len(store.load(workspace, {one.hash})) == 2
    path.rename(workspace.path("aside"))
    assert len(store.opened(workspace).ids) == 1  # by which a run tells what is missing
    assert hashes(store.load(workspace, {one.hash})) == hashes([second])
    workspace.path("aside").rename(path)
    assert len(store.load(workspace, {one.hash})) == 2


def test_showing_one_opens_its_part_and_no_other(
    workspace: Workspace, one: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = made(one, range(3))
    for each in kept:
        store.save(workspace, [each])
    store.opened(workspace)
    got: list[str] = []
    real = Store.get

    def get(self: Store, name: str) -> bytes:
        got.append(name)
        return real(self, name)

    monkeypatch.setattr(Store, "get", get)
    assert store.find(workspace, kept[1].id).id == kept[1].id
    assert got == [indices.NAME, parts.name_of_ids([kept[1].id])]


def test_what_the_index_says_is_what_the_parts_hold(workspace: Workspace, one: Scenario) -> None:
    kept = made(one, range(3))
    store.save(workspace, kept)
    said = store.ordered(list(store.entries(workspace, {one.hash})))
    for entry, row in zip(said, kept, strict=True):
        for name in {"identity", *indices.Entry._fields} - {"seed", "index"}:
            assert getattr(entry, name) == getattr(row, name)
    assert not list(store.entries(workspace, {"0" * 64}))


@pytest.mark.parametrize("digits", ["", "abc", "ABCD", "zzzz", "0" * 25, "0" * 24])
def test_what_is_no_beginning_of_an_id_finds_nothing(
    workspace: Workspace, one: Scenario, digits: str
) -> None:
    store.save(workspace, made(one, [0]))
    with pytest.raises(UnknownName, match="unknown continuation"):
        store.find(workspace, digits)


def test_an_id_is_found_by_an_odd_number_of_digits_and_by_an_even_one(
    workspace: Workspace, one: Scenario
) -> None:
    kept = made(one, range(3))
    store.save(workspace, kept)
    for digits in (5, 8, 23, 24):
        assert store.find(workspace, kept[2].id[:digits]).id == kept[2].id


def test_a_workspace_of_the_layout_before_is_refused_in_one_line(
    workspace: Workspace, one: Scenario
) -> None:
    path = workspace.path("continuations", "random-dde3f75ace8c0ae8", f"{one.hash[:24]}-0.parquet")
    parquet.write(path, "continuations", 1, {"id": pa.string()}, {"id": ["a"]})
    with pytest.raises(DamagedData, match="continuations format 1; this version reads 4") as error:
        store.load(workspace, {one.hash})
    assert "\n" not in str(error.value)
    parquet.write(path, "continuations", 5, {"id": pa.string()}, {"id": ["a"]})
    with pytest.raises(NewerFormat, match="continuations format 5; this version reads up to 4"):
        store.load(workspace, {one.hash})
