"""The public recordings of today: another schema, as CSV and as pickles of any pandas."""

import ast
import base64
import json
import pickle
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sts.engine.replay import verify
from sts.errors import ArgumentError, DamagedData
from sts_overcooked import importer, loader, trials
from sts_overcooked.constants import SIDES

KEY = ["run", "workerid_num", "round_num"]
STEPS = 120
EXPECTED: dict[str, list[Any]] = {
    "text": ["one", "two", "ø"],
    "number": [1, 2, 3],
    "real": [0.5, 1.5, 2.5],
    "truth": [True, False, True],
    "gap": ["x", None, "y"],
}
"""The table that PICKLES hold, cut to its last two rows in those called cut."""


def convert_thing(thing: Any) -> Any:
    if thing is None or thing["name"] != "soup":
        return thing
    kind, count, cooked = thing["state"]
    inside = [{"name": kind, "position": thing["position"]}] * count
    soup = {"name": "soup", "position": thing["position"], "_ingredients": inside}
    return soup | {"_cooking_tick": cooked or -1}


def convert_state(text: str) -> str:
    state = ast.literal_eval(text)
    players = [p | {"held_object": convert_thing(p.get("held_object"))} for p in state["players"]]
    return json.dumps(
        {"players": players, "objects": [*map(convert_thing, state["objects"].values())]}
    )


@pytest.fixture(scope="module")
def public() -> pd.DataFrame:
    """The start of the first two installed trials, in the public schema of today."""
    table = loader.read_table(trials.installed_files()[1])
    rows = table.groupby(KEY, sort=False).head(STEPS).iloc[: 2 * STEPS]
    columns = ["layout", "layout_name", "joint_action", "reward"]
    made = rows[columns].reset_index(drop=True)
    made["state"] = [*map(convert_state, rows["state"])]
    made["trial_id"] = [f"trial-{i // STEPS}" for i in range(2 * STEPS)]
    for player in (0, 1):
        made[f"player_{player}_id"] = f"person-{player}"
        made[f"player_{player}_is_human"] = True
    return made


@pytest.mark.parametrize("suffix", ["pickle", "csv"])
def test_public_table_replays_and_its_last_actions_are_left_out(public, tmp_path, suffix):
    path = tmp_path / f"hh_test.{suffix}"
    public.to_csv(path, index=False) if suffix == "csv" else public.to_pickle(path)
    found = importer.read(path)
    assert verify([t.episode for t in found]) == [None, None]
    assert [t.episode.steps for t in found] == [STEPS - 1] * 2
    moves = [*SIDES, (0, 0), "INTERACT"]
    for text, actions in zip(public["joint_action"], found[0].episode.actions, strict=False):
        recorded = [a if isinstance(a, str) else tuple(a) for a in ast.literal_eval(text)]
        assert [moves[action] for action in actions] == recorded
    assert {t.split for t in found} == {"test"}
    assert {p.kind for p in found[0].players} == {"human"}
    names = [p.name for p in found[0].players]
    assert names == [f"worker-{id}" for id in found[0].provenance["workers"]]
    assert len({*names}) == 2 and "person" not in "".join(names)


def test_players_of_public_trials_who_are_programs_are_agents(public, tmp_path):
    path = tmp_path / "hh_test.csv"
    public.assign(player_1_is_human=False).to_csv(path, index=False)
    (found, _) = importer.read(path)
    assert [p.kind for p in found.players] == ["human", "agent"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"layout": "[['X', 'P'], ['X', 'X']]"}, "its kitchen is one of 2020, which has tomatoes"),
        ({"layout": "[]"}, "expected a layout of rows, found none"),
        ({"reward": 47}, "expected a reward of 5 for each soup"),
        ({"state": "{}"}, "'players'"),
    ],
)
def test_public_trial_that_cannot_be_imported_is_named_with_the_reason(
    public, tmp_path, changes, reason
):
    path = tmp_path / "hh_test.csv"
    public.assign(**changes).to_csv(path, index=False)
    with pytest.raises(DamagedData, match=r"test trial 1 \(trial_id trial-0\), step 0: ") as error:
        importer.read(path)
    assert reason in str(error.value)


def test_public_table_without_a_column_or_a_side_is_refused(public, tmp_path):
    public.drop(columns="player_0_id").to_csv(tmp_path / "hh_test.csv", index=False)
    with pytest.raises(DamagedData, match="column player_0_id is missing"):
        importer.read(tmp_path / "hh_test.csv")
    with pytest.raises(ArgumentError, match="expected train or test in the file name.*rename"):
        importer.read(tmp_path / "hh_all.csv")


def test_workers_on_both_sides_of_public_tables_are_noted(public, tmp_path):
    public.to_csv(tmp_path / "hh_test.csv", index=False)
    public.assign(player_1_id="other").to_csv(tmp_path / "hh_train.csv", index=False)
    (note,) = importer.list_caveats(tmp_path / "hh_test.csv")
    assert "1 of the 3 workers" in note


PICKLES = json.loads((Path(__file__).parents[2] / "data" / "pickled_tables.json").read_text())
"""Pickles of EXPECTED by several versions of pandas, compressed, in base64."""


@pytest.mark.parametrize("version", PICKLES)
def test_pickle_of_any_pandas_is_read(tmp_path, version):
    path = tmp_path / "table.pickle"
    path.write_bytes(zlib.decompress(base64.b64decode(PICKLES[version])))
    first = 1 if version.endswith("cut") else 0
    found = loader.read_table(path)
    assert {name: found[name].tolist() for name in found} == {
        name: values[first:] for name, values in EXPECTED.items()
    }
    assert found["number"].dtype == np.int64 and found["truth"].dtype == np.bool_


@pytest.mark.parametrize("storage", ["python", "pyarrow"])
def test_pickle_of_the_installed_pandas_is_read(tmp_path, storage):
    with pd.option_context("mode.string_storage", storage):
        table = pd.concat([pd.DataFrame(EXPECTED)] * 2)
    table.to_pickle(tmp_path / "t.pickle")
    found = loader.read_table(tmp_path / "t.pickle")
    assert found["text"].tolist() == EXPECTED["text"] * 2
    assert found["gap"].isna().tolist() == [False, True, False] * 2
    assert found["number"].tolist() == EXPECTED["number"] * 2


def test_pickle_may_use_exactly_the_names_of_known_ones(tmp_path, monkeypatch):
    asked = set()

    class Asked(frozenset):
        def __contains__(self, key):
            asked.add(key)
            return super().__contains__(key)

    monkeypatch.setattr(loader, "ALLOWED_NAMES", Asked(loader.ALLOWED_NAMES))
    paths = [trials.installed_files()[1]]
    for version in PICKLES:
        paths.append(tmp_path / version)
        paths[-1].write_bytes(zlib.decompress(base64.b64decode(PICKLES[version])))
    for storage in ("python", "pyarrow"):
        paths.append(tmp_path / storage)
        with pd.option_context("mode.string_storage", storage):
            pd.DataFrame(EXPECTED).to_pickle(paths[-1])
    for path in paths:
        loader.read_table(path)
    assert asked == loader.ALLOWED_NAMES


def write_altered(path: Path, old: bytes, new: bytes) -> None:
    raw = pickle.dumps(pd.DataFrame({"text": ["one", "two"]}), 4)
    assert old in raw
    path.write_bytes(raw.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"large_string", b"small_string"),
        (b"\x03" + bytes(7) + b"\x06", b"\xff" * 8 + b"\x06"),
        (b"py_buffer", b"py_bufger"),
        (b"K\x02K\x00", b"K\x09K\x00"),
    ],
)
def test_altered_texts_of_a_pickle_are_refused(tmp_path, old, new):
    write_altered(tmp_path / "t.pickle", old, new)
    with pytest.raises(DamagedData, match=r"t\.pickle: "):
        loader.read_table(tmp_path / "t.pickle")
