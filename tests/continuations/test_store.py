"""Parts and their index: nothing edited passes, nothing counts twice, no index is believed."""

import dataclasses
import json
import shutil
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sts import agents
from sts.continuations import continuation_store as store
from sts.continuations import index as indices
from sts.continuations import parts
from sts.continuations.takeover import continue_all
from sts.episodes import Instruction
from sts.errors import DamagedData, NewerFormat, UnknownName
from sts.storage import parquet
from sts.storage.store import KeyValueStore
from sts.storage.workspace import Workspace
from tests.examples import scenarios, spy


@pytest.fixture(scope="module")
def one():
    earlier = Instruction("A.", "a", 1, "setter")
    return dataclasses.replace(scenarios(1)[0], earlier_instructions=(earlier,))


@pytest.fixture
def workspace(tmp_path):
    return Workspace.open(str(tmp_path)).create()


def make_continuations(one, indices):
    return continue_all([one], agents.load("random"), seed=0, indices=indices)


def only_file(workspace) -> Path:
    (path,) = workspace.path("continuations").glob("*/*.parquet")
    return path


def hashes(continuations):
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
def test_edited_continuation_is_rejected(workspace, one, column, value):
    store.save(workspace, make_continuations(one, [0]))
    path = only_file(workspace)
    table = parquet.read_table(path, parts.FORMAT, parts.VERSION, parts.SCHEMA)
    rows = {name: table.column(name).to_pylist() for name in parts.SCHEMA}
    parquet.write_table(path, parts.FORMAT, parts.VERSION, parts.SCHEMA, rows)
    assert len(store.load(workspace, {one.hash})) == 1
    parquet.write_table(path, parts.FORMAT, parts.VERSION, parts.SCHEMA, rows | {column: [value]})
    with pytest.raises(DamagedData, match="has been modified"):
        store.load(workspace, {one.hash})


def test_shard_and_index_return_what_was_saved(workspace, one):
    kept = make_continuations(one, range(3))
    store.save(workspace, kept)
    names = (
        "identity",
        "instruction",
        "earlier_instructions",
        "provenance",
        "seconds",
        "scenario_id",
        "together",
    )
    for before, after in zip(kept, store.load(workspace, {one.hash}), strict=True):
        assert after.content_hash == before.content_hash and after.id == before.id
        np.testing.assert_array_equal(after.log_probs, before.log_probs)
        for field in names:
            assert getattr(after, field) == getattr(before, field)
    entries = store.sort_continuations(list(store.iter_entries(workspace, {one.hash})))
    for entry, row in zip(entries, kept, strict=True):
        for name in {"identity", *indices.Entry._fields} - {"seed", "index"}:
            assert getattr(entry, name) == getattr(row, name)
    assert not list(store.iter_entries(workspace, {"0" * 64}))


def test_finding_a_continuation_reads_one_row_group_of_one_shard(workspace, one, monkeypatch):
    monkeypatch.setattr(parts, "ROWS_PER_GROUP", 2)
    *kept, other = make_continuations(one, range(6))
    store.save(workspace, kept)
    store.save(workspace, [other])
    indices.open_index(workspace.store)
    read, got = spy(monkeypatch, parquet, "decode_table"), spy(monkeypatch, KeyValueStore, "get")
    assert store.find_continuation(workspace, kept[4].id).content_hash == kept[4].content_hash
    assert read[-1][1]["groups"] == [2]
    names = [given[1] for given, _ in got]
    assert names == [indices.NAME, parts.compute_part_name([c.id for c in kept])]
    assert hashes(store.load(workspace, {one.hash})) == hashes([*kept, other])


def test_index_read_in_part_covers_shards_added_meanwhile(workspace, one):
    kept = make_continuations(one, range(3))
    store.save(workspace, kept[:1])
    indices.open_index(workspace.store)
    for count, columns in ((2, indices.LOOK_UP), (3, indices.PLANNING)):
        store.save(workspace, kept[count - 1 : count])
        assert indices.open_index(workspace.store, columns=columns).table.num_rows == count
        again = indices.open_index(workspace.store, columns=columns)
        assert again.table.column_names == list(columns) and again.table.num_rows == count
    assert hashes(store.load(workspace, {one.hash})) == hashes(kept)


def test_second_writer_of_a_shard_must_write_the_same_rows(workspace, one):
    kept = make_continuations(one, [0, 1])
    slower = [dataclasses.replace(c, seconds=9.0, provenance={"python": "3"}) for c in kept]
    name, space = parts.part_name("plan", "0"), workspace.store
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


def test_copied_or_restored_shard_counts_once(workspace, one):
    first, second = make_continuations(one, [0, 1])
    store.save(workspace, [first])
    path = only_file(workspace)
    shutil.copytree(path.parent, path.parent.with_name("a copy"))
    store.save(workspace, [second])
    assert len(store.load(workspace, {one.hash})) == 2
    shutil.rmtree(path.parent.with_name("a copy"))
    path.rename(workspace.path("aside"))
    assert (
        len(indices.open_index(workspace.store).ids) == 1
    )  # from which a run computes what is missing
    assert hashes(store.load(workspace, {one.hash})) == hashes([second])
    workspace.path("aside").rename(path)
    assert len(store.load(workspace, {one.hash})) == 2


def test_shards_that_contradict_each_other_are_rejected(workspace, one):
    first, second = make_continuations(one, [0, 1])
    store.save(workspace, [first])
    indices.open_index(workspace.store)
    other = dataclasses.replace(second, identity=first.identity)
    parts.write_part(workspace.store, parts.part_name("other", "0"), [other])
    for _ in range(2):  # the index does not hide it the second time
        with pytest.raises(DamagedData, match=f"{first.id} differs from the one in") as error:
            store.load(workspace, {one.hash})
        assert "\n" not in str(error.value) and "other/0.parquet" in str(error.value)


def test_largest_batch_counts_for_a_batch_sensitive_agent(workspace, one):
    first, second = make_continuations(one, [0, 1])
    four = dataclasses.replace(first, together=4)
    ten = dataclasses.replace(second, identity=first.identity, together=10)
    for plan, row in (("a", ten), ("b", four)):
        parts.write_part(workspace.store, parts.part_name(plan, "0"), [row])
    assert hashes(store.load(workspace, {one.hash})) == hashes([ten])
    other = dataclasses.replace(four, together=10)
    parts.write_part(workspace.store, parts.part_name("c", "0"), [other])
    with pytest.raises(DamagedData, match="differs from the one in"):
        store.load(workspace, {one.hash})


@pytest.mark.parametrize("change", [{"horizon": 9}, {"takeover": -1}, {"players": (7,)}])
def test_steps_and_roles_must_fit_the_episode(one, change):
    raw = parts.encode_part(
        "part", [dataclasses.replace(make_continuations(one, [0])[0], **change)]
    )
    with pytest.raises(DamagedData, match="its numbers of steps or its roles contradict each"):
        parts.decode_part("part", raw)


def changed(column, value, type):
    """Return a change of an index: a column's values, from a function of its rows."""

    def change(index):
        table = index.table
        values = pa.array(value(table), type)
        if column == "part":
            values = values.dictionary_encode()
        table = table.set_column(table.column_names.index(column), column, values)
        return indices.encode_index(indices.Index(index.sizes, table))

    return change


def without_last_row(index):
    """Return an index that lacks a row, although it states as many rows as the part has."""
    (name,) = index.sizes
    stated = {"sts.parts": json.dumps(index.sizes), "sts.rows": json.dumps({name: 3})}
    table = index.table.slice(0, len(index.table) - 1)
    columns = {name: table.column(name) for name in indices.SCHEMA}
    return parquet.encode_table("i", "index", 1, indices.SCHEMA, columns, metadata=stated)


def flipped(index):
    changed = bytearray(indices.encode_index(index))
    changed[60] ^= 16
    return bytes(changed)


def ids(table):
    return [bytes(12), *table.column("id").to_pylist()[1:]]


@pytest.mark.parametrize(
    "damage",
    [
        without_last_row,
        changed("group", lambda table: [7] * len(table), pa.int32()),
        changed("id", ids, pa.binary(12)),
        changed("content_hash", lambda table: [bytes(32)] * len(table), pa.binary(32)),
        changed("part", lambda table: ["continuations/none/0.parquet"] * len(table), pa.string()),
        flipped,
        lambda index: b"",
        lambda index: b"PAR1",
        lambda index: parquet.encode_table("i", "index", 2, {"id": pa.string()}, {"id": ["a"]}),
        None,
    ],
)
def test_wrong_or_damaged_index_is_rebuilt(workspace, one, damage):
    kept = make_continuations(one, range(3))
    store.save(workspace, kept)
    index = indices.open_index(workspace.store)
    raw, path = indices.encode_index(index), workspace.path(indices.NAME)
    path.write_bytes(damage(index)) if damage else path.unlink()
    assert hashes(store.load(workspace, {one.hash})) == hashes(kept)
    assert path.read_bytes() == raw


def test_index_that_cannot_be_written_costs_nothing_else(workspace, one, monkeypatch):
    store.save(workspace, make_continuations(one, range(3)))

    def full(self, name, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(KeyValueStore, "replace", full)
    assert len(store.load(workspace, {one.hash})) == 3
    assert not workspace.path(indices.NAME).exists()


def test_continuation_is_found_by_the_first_digits_of_its_id(workspace, one):
    kept = make_continuations(one, range(3))
    store.save(workspace, kept)
    for digits in (5, 8, 23, 24):
        assert store.find_continuation(workspace, kept[2].id[:digits]).id == kept[2].id
    for unknown in ("", "abc", "ABCD", "zzzz", "0" * 25, "0" * 24):
        with pytest.raises(UnknownName, match="unknown continuation"):
            store.find_continuation(workspace, unknown)


@pytest.mark.parametrize(
    ("version", "error", "message"),
    [
        (1, DamagedData, "continuations format 1; this version reads 4"),
        (5, NewerFormat, "continuations format 5; this version reads up to 4"),
    ],
)
def test_other_version_of_continuations_is_rejected(workspace, one, version, error, message):
    path = workspace.path("continuations", "random-dde3f75ace8c0ae8", f"{one.hash[:24]}-0.parquet")
    parquet.write_table(path, "continuations", version, {"id": pa.string()}, {"id": ["a"]})
    with pytest.raises(error, match=message) as refused:
        store.load(workspace, {one.hash})
    assert "\n" not in str(refused.value)


def test_truncated_shard_is_rejected(workspace, one):
    store.save(workspace, make_continuations(one, [0]))
    path = only_file(workspace)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DamagedData, match="expected a Parquet file of continuations"):
        store.load(workspace, {one.hash})
