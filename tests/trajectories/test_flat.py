"""Trajectories side by side: what files hold, a row group at a time."""

import numpy as np
import pytest

from sts.errors import DamagedData
from sts.storage.workspace import Workspace
from sts.trajectories import batches
from sts.trajectories import trajectory_store as store
from tests.examples import on_test_side, recorded


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "ROWS_PER_GROUP", 3)
    out = Workspace.open(tmp_path / "w")
    small, large = recorded(count=25, team=1), recorded(count=25, team=2, height=8, width=9)
    store.save(out, small)
    store.save(out, [*large, *small[:12]])
    return out


def test_every_trajectory_of_a_split_is_in_one_shard(workspace):
    every = store.load(workspace)
    there = batches.list_parts(workspace, "test")
    ids = [id for part in there.parts for id in batches.read_columns(part).texts["id"]]
    assert sorted(ids) == sorted(t.id for t in on_test_side(every))
    assert there.rows == len(every) + 12
    assert {part.path for part, _ in there.first_rows["lambda-star"]} == set(
        store.list_files(workspace)
    )


def test_batched_columns_equal_the_trajectories(workspace):
    sizes = set()
    for part in batches.list_parts(workspace, "train").parts:
        every = batches.read_columns(part)
        whole = every.load(range(len(every.rows)))
        assert [t.id for t in whole] == every.texts["id"]
        for domain, places, abreast in every.batches():
            sizes.add((abreast.height, abreast.width, abreast.n_players))
            for place, scene in zip(places.tolist(), abreast.scene, strict=True):
                assert domain == whole[place].episode.domain
                np.testing.assert_array_equal(scene, whole[place].episode.scene)
    assert sizes == {(6, 7, 1), (8, 9, 2)}


def test_shard_of_a_changed_file_is_rejected(workspace):
    part = batches.list_parts(workspace, "train").parts[0]
    for other in (part._replace(rows=part.rows + 1), part._replace(group=99)):
        with pytest.raises(DamagedData):
            batches.read_columns(other)
