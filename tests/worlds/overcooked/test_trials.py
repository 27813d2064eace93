import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sts.domains import domain
from sts.engine.replay import verify
from sts.errors import ArgumentError, DamagedData, ReplayMismatch
from sts.worlds.overcooked import importer, loader, trials
from sts_scenarios.replayed import environments
from tests.access.attempts import attempt


@pytest.fixture(scope="module")
def rows():
    """The first 150 rows of the first two trials in the installed test file."""
    table = loader.read_table(trials.installed_files()[1])
    return table.groupby(["run", "workerid_num", "round_num"], sort=False).head(150).iloc[:300]


@pytest.fixture
def source(rows, monkeypatch):
    """Make the loader return a copy of `rows` that a test may alter; return that copy."""
    own = rows.copy()
    monkeypatch.setattr(trials, "read_table", lambda path: own)
    monkeypatch.setattr(trials, "count_workers", lambda paths: (17, 16))
    return own


def test_every_state_of_the_first_trials_is_replayed(source):
    found = trials.read_trials(trials.installed_files()[1])
    replayed = [trials.replay_trial(trial) for trial in found]
    assert [trial.steps for trial in found] == [150, 150]
    assert [(one.steps_alike, one.first_difference) for one in replayed] == [(150, None)] * 2


def test_by_the_rules_of_the_package_they_are_not(source):
    replayed = [
        trials.replay_trial(trial, "package")
        for trial in trials.read_trials(trials.installed_files()[1])
    ]
    assert all(one.first_difference is not None and one.steps_alike < 150 for one in replayed)


def test_imported_trials_replay_by_the_digests_of_what_was_recorded(source):
    found = importer.read(trials.installed_files()[1])
    assert verify(domain("overcooked"), [t.episode for t in found]) == [None, None]
    assert found[0].episode.rewards.sum() == 20 * (source["reward"].iloc[:150] == 5).sum() > 0


def test_trials_keep_the_side_of_their_source_and_are_worlds_of_their_own(source):
    found = importer.read(trials.installed_files()[1])
    assert {t.split for t in found} == {"test"}
    assert len({t.world for t in found}) == 2
    assert {p.kind for t in found for p in t.participants} == {"human"}


@pytest.mark.parametrize("name", ["trials", "2019_hh_trials_all", "a_train_and_test", "contest"])
def test_a_file_whose_side_is_not_said_is_refused_for_its_trials_could_be_mined(source, name):
    with pytest.raises(
        ArgumentError, match=f"{name}.pickle: expected train or test in the file name"
    ):
        importer.read(Path(f"{name}.pickle"))


def test_of_files_elsewhere_it_is_said_too_that_workers_are_on_both_sides(tmp_path, monkeypatch):
    monkeypatch.setattr(trials, "read_table", lambda path: {"workerid_num": [len(path.stem), 7]})
    (tmp_path / "hh_trials_test.pickle").touch()
    assert importer.notes(tmp_path / "hh_trials_test.pickle") == []
    (tmp_path / "hh_trials_train.pickle").touch()
    (note,) = importer.notes(tmp_path / "hh_trials_test.pickle")
    assert "1 of the 3 workers" in note


def test_a_file_of_the_other_side_that_names_no_workers_is_refused_by_name(tmp_path, monkeypatch):
    for name in ("of_train.pickle", "of_test.pickle"):
        (tmp_path / name).touch()
    monkeypatch.setattr(trials, "read_table", lambda path: pd.DataFrame({"reward": [0]}))
    with pytest.raises(DamagedData, match="of_train.pickle: column workerid_num is missing"):
        importer.notes(tmp_path / "of_test.pickle")


def test_workers_are_hashed(source):
    number = str(source["workerid_num"].iloc[0])
    found = importer.read(trials.installed_files()[1])[0]
    assert found.participants[0].name != found.participants[1].name
    assert all(f"-{number}-" not in p.name for p in found.participants)
    assert found.provenance["worker"] in found.participants[0].name
    assert found.provenance["worker"] != number


def test_that_workers_are_on_both_sides_is_said(source):
    (note,) = importer.read(trials.installed_files()[1])[0].provenance["notes"]
    assert "16 of the 17 workers" in note


def test_a_move_altered_in_one_step_is_refused_by_trial_and_step(source):
    where = source.index[200]
    source.at[where, "joint_action"] = "['INTERACT', 'INTERACT']"
    turned = ["[[0, -1], [0, -1]]", "[[0, 1], [0, 1]]"]
    source.at[where, "joint_action"] = turned[source.at[where, "joint_action"] == turned[0]]
    with pytest.raises(ReplayMismatch, match=r"test trial 2 .*step 50: ") as refused:
        importer.read(trials.installed_files()[1])
    assert refused.value.step == 50


def test_a_state_altered_in_one_step_is_refused_by_trial_and_step(source):
    source.at[source.index[20], "state"] = source["state"].iloc[0]
    with pytest.raises(DamagedData, match="test trial 1, step 20: its state is not"):
        importer.read(trials.installed_files()[1])


def test_a_reward_altered_in_one_step_is_refused_by_trial_and_step(source):
    source.at[source.index[20], "reward"] = 5.0
    with pytest.raises(
        ReplayMismatch, match="test trial 1 .*step 20: expected 1 delivered soups, found 0"
    ):
        importer.read(trials.installed_files()[1])


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("state", "{'players': 3}"),
        ("next_state", "__import__('os')"),
        ("joint_action", "[[9, 9], [0, 0]]"),
        ("joint_action", "7"),
        ("reward", 3.0),
        ("reward", np.nan),
        ("layout", "[1, 2"),
    ],
)
def test_rows_that_make_no_sense_are_refused_by_trial(source, column, value):
    source.at[source.index[0], column] = value
    with pytest.raises(DamagedData, match="test trial 1, step "):
        importer.read(trials.installed_files()[1])


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("joint_action", "[[0, 0]]", "not enough values"),
        ("joint_action", "[[0, 0], [0, 0], [0, 0]]", "too many values"),
        ("joint_action", "[" * 100_000, "recursion"),
        ("layout", "['XXXXX', 'O  DX']", "its layout differs from that of the previous steps"),
        ("layout_name", "another", "its layout differs from that of the previous steps"),
    ],
)
def test_a_row_that_is_not_like_its_trial_is_refused(source, column, value, said):
    source.at[source.index[150], column] = source[column].iloc[0]
    source.at[source.index[160], column] = value
    with pytest.raises(DamagedData, match=rf"test trial 2, step 10: .*{said}"):
        importer.read(trials.installed_files()[1])


@pytest.mark.parametrize("layout", ["['XXX', 'X1X', 'XXX']", "[[0, 0]]", "['12']", "[]", "3"])
def test_a_layout_that_is_no_kitchen_is_refused(source, layout):
    source.loc[source.index[:150], "layout"] = layout
    with pytest.raises(DamagedData, match="test trial 1, step 0: "):
        importer.read(trials.installed_files()[1])


@pytest.mark.parametrize("column", ["run", "workerid_num", "round_num"])
@pytest.mark.parametrize("value", [None, np.nan, [1]])
def test_a_row_that_does_not_say_its_trial_is_refused_and_never_left_out(source, column, value):
    source[column] = source[column].astype(object)
    source.at[source.index[149], column] = value
    with pytest.raises(
        DamagedData, match="does not identify its trial: expected values for run, workerid_num"
    ):
        importer.read(trials.installed_files()[1])


def test_an_imported_trial_ends_where_its_recording_does(source):
    for found in importer.read(trials.installed_files()[1]):
        steps: Iterator[Any] = environments(found.episode)
        ends = [step.ended for step in steps]
        assert ends == [False] * 150 + [True]


def test_a_table_without_a_column_is_refused(source, monkeypatch):
    monkeypatch.setattr(trials, "read_table", lambda path: source.drop(columns="layout"))
    with pytest.raises(DamagedData, match="column layout is missing"):
        importer.read(trials.installed_files()[1])


class Malicious:
    folder = ""

    def __reduce__(self):
        return os.mkdir, (self.folder,)


@attempt(
    "Code named in data",
    "a pickle that calls a function",
    "refused by the function's name; nothing is run",
)
def test_a_pickle_that_asks_for_anything_else_is_refused_by_name_and_runs_nothing(tmp_path):
    file, evil = tmp_path / "trials.pickle", Malicious()
    evil.folder = str(tmp_path / "made")
    file.write_bytes(pickle.dumps(evil))
    with pytest.raises(DamagedData, match=rf"{file}: it uses posix.mkdir"):
        loader.read_table(file)
    assert not (tmp_path / "made").exists()


@attempt(
    "Code named in data",
    "a pickle that calls functions of the libraries whose tables it holds",
    "refused by name",
)
@pytest.mark.parametrize(
    "text",
    [
        b"cbuiltins\neval\n(S'1'\ntR.",
        b"cpandas.core.frame\nDataFrame.to_csv\n.",
        b"cpandas.io.pickle\nread_pickle\n(S'x'\ntR.",
        b"cnumpy\nload\n(S'x'\ntR.",
    ],
)
def test_functions_of_the_same_libraries_are_refused_too(tmp_path, text):
    file = tmp_path / "trials.pickle"
    file.write_bytes(text)
    name = text.split(b"\n")[1].decode()
    with pytest.raises(DamagedData, match=f"it uses .*{name}"):
        loader.read_table(file)


@pytest.mark.parametrize("content", [b"", b"no pickle", pickle.dumps([1, 2]), pickle.dumps("x")])
def test_other_files_are_refused(tmp_path, content):
    file = tmp_path / "trials.pickle"
    file.write_bytes(content)
    with pytest.raises(DamagedData, match=f"{file}: expected a pickled table"):
        loader.read_table(file)


def named(name):
    """Return an opcode that puts one of the known names on the stack."""
    (module,) = (module for module, known in loader.KNOWN if known == name)
    return f"c{module}\n{name}\n".encode()


OBJECT = named("dtype") + b"(VO8\nI0\nI1\ntR"
FORGED = (  # 8 bytes that call themselves plain and are read as an object
    named("dtype") + b"(VV8\nI0\nI1\ntR(I3\nV|\nN(Va\nt(dVa\n(" + OBJECT + b"I0\ntsI8\nI1\nI0\ntb"
)
ARRAY = named("_reconstruct") + b"(" + named("ndarray") + b"(I0\ntVb\ntR"
WILD = ARRAY + b"(I1\n(I1\nt" + FORGED + b"I00\nB\x08\0\0\0" + b"A" * 8 + b"tb"
PUT_TO_ANOTHER_USE = (
    WILD + b".",
    named("DataFrame") + b"(" + WILD + b"tR.",
    named("DataFrame") + b"(tR" + WILD + b"b.",
    named("ndarray") + b"N(dV__call__\n" + named("dtype") + b"stb.",
    named("_reconstruct") + b"N(dV__defaults__\n(I1\ntst\x86b.",
)
READ_EACH = """
import sys, pathlib
from sts.errors import DamagedData
from sts.worlds.overcooked import loader

for name in sys.argv[1:]:
    try:
        loader.read_table(pathlib.Path(name))
    except DamagedData:
        print(pathlib.Path(name).name, flush=True)
"""


@attempt(
    "Code named in data",
    "a pickle that puts the names it may have to another use",
    "refused; nothing is made or changed",
)
def test_known_names_put_to_another_use_touch_no_memory_and_change_nothing(tmp_path):
    files = [tmp_path / f"{n}.pickle" for n in range(len(PUT_TO_ANOTHER_USE))]
    for file, content in zip(files, PUT_TO_ANOTHER_USE, strict=True):
        file.write_bytes(content)
    done = subprocess.run([sys.executable, "-c", READ_EACH, *files], capture_output=True, text=True)
    assert done.returncode == 0, f"it crashed after {done.stdout}: {done.stderr}"
    assert done.stdout.split() == [file.name for file in files]


def test_a_pickle_may_name_exactly_what_the_installed_ones_do(monkeypatch):
    asked = set()

    class Asked(frozenset):
        def __contains__(self, key):
            asked.add(key)
            return super().__contains__(key)

    monkeypatch.setattr(loader, "KNOWN", Asked(loader.KNOWN))
    for path in trials.installed_files():
        loader.read_table(path)
    assert asked == set(loader.KNOWN)


@pytest.mark.filterwarnings("ignore")
def test_what_is_loaded_is_what_pandas_itself_loads():
    path = trials.installed_files()[1]
    assert loader.read_table(path).equals(pd.read_pickle(path))


def test_all_states_of_all_trials_are_replayed():
    found = [trial for path in trials.installed_files() for trial in trials.read_trials(path)]
    replayed = [trials.replay_trial(trial) for trial in found]
    assert sum(one.steps_alike for one in replayed) == sum(trial.steps for trial in found) == 91102
    assert sum(one.first_difference is None for one in replayed) == len(found) == 76
