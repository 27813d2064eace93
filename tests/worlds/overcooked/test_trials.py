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

from sts.engine.replay import verify
from sts.errors import ArgumentError, DamagedData, ReplayMismatch
from sts_overcooked import importer, loader, trials
from sts_scenarios.rules.environments import iter_environments
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


def read():
    return importer.read(trials.installed_files()[1])


def test_first_trials_replay_by_their_rules_and_not_by_those_of_the_package(source):
    for trial in trials.read_trials(trials.installed_files()[1]):
        own, other = trials.replay_trial(trial), trials.replay_trial(trial, "package")
        assert (trial.steps, own.steps_alike, own.first_difference) == (150, 150, None)
        assert other.first_difference is not None and other.steps_alike < 150


def test_imported_trial_replays_to_its_end_on_the_side_of_its_source(source):
    found = read()
    assert verify([t.episode for t in found]) == [None, None]
    assert found[0].episode.rewards.sum() == 20 * (source["reward"].iloc[:150] == 5).sum() > 0
    assert {t.split for t in found} == {"test"} and len({t.world for t in found}) == 2
    assert {p.kind for t in found for p in t.players} == {"human"}
    for one in found:
        steps: Iterator[Any] = iter_environments(one.episode)
        assert [step.ended for step in steps] == [False] * 150 + [True]


def test_workers_are_hashed_and_those_on_both_sides_are_noted(source):
    number, found = str(source["workerid_num"].iloc[0]), read()[0]
    assert found.players[0].name != found.players[1].name
    assert all(f"-{number}-" not in p.name for p in found.players)
    assert found.provenance["worker"] in found.players[0].name
    assert found.provenance["worker"] != number
    (note,) = found.provenance["notes"]
    assert "16 of the 17 workers" in note


@pytest.mark.parametrize("name", ["trials", "2019_hh_trials_all", "a_train_and_test", "contest"])
def test_file_whose_name_has_no_side_is_refused(source, name):
    with pytest.raises(ArgumentError, match=f"{name}.pickle: expected train or test in the file n"):
        importer.read(Path(f"{name}.pickle"))


def test_workers_on_both_sides_are_noted_for_other_files_too(tmp_path, monkeypatch):
    test, train = tmp_path / "hh_trials_test.pickle", tmp_path / "hh_trials_train.pickle"
    monkeypatch.setattr(trials, "read_table", lambda path: {"workerid_num": [len(path.stem), 7]})
    test.touch()
    assert importer.list_caveats(test) == []
    train.touch()
    (note,) = importer.list_caveats(test)
    assert "1 of the 3 workers" in note
    monkeypatch.setattr(trials, "read_table", lambda path: pd.DataFrame({"reward": [0]}))
    with pytest.raises(DamagedData, match=f"{train.name}: column workerid_num is missing"):
        importer.list_caveats(test)


def test_altered_move_state_or_reward_is_refused_by_trial_and_step(source, rows):
    where, turned = source.index[200], ["[[0, -1], [0, -1]]", "[[0, 1], [0, 1]]"]
    source.at[where, "joint_action"] = "['INTERACT', 'INTERACT']"
    source.at[where, "joint_action"] = turned[source.at[where, "joint_action"] == turned[0]]
    with pytest.raises(ReplayMismatch, match=r"test trial 2 .*step 50: ") as refused:
        read()
    assert refused.value.step == 50
    where, state = source.index[20], source["state"].iloc[0]
    for column, value, kind, said in (
        ("reward", 5.0, ReplayMismatch, ".*step 20: expected 1 delivered soups, found 0"),
        ("state", state, DamagedData, "step 20: its state is not"),
    ):
        source.at[where, column] = value
        with pytest.raises(kind, match=f"test trial 1,? {said}"):
            read()
        source.at[where, column] = rows.at[where, column]


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
def test_invalid_rows_are_refused_by_trial(source, column, value):
    source.at[source.index[0], column] = value
    with pytest.raises(DamagedData, match="test trial 1, step "):
        read()


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
def test_row_that_differs_from_its_trial_is_refused(source, column, value, said):
    source.at[source.index[150], column] = source[column].iloc[0]
    source.at[source.index[160], column] = value
    with pytest.raises(DamagedData, match=rf"test trial 2, step 10: .*{said}"):
        read()


@pytest.mark.parametrize("layout", ["['XXX', 'X1X', 'XXX']", "[[0, 0]]", "['12']", "[]", "3"])
def test_invalid_layout_is_refused(source, layout):
    source.loc[source.index[:150], "layout"] = layout
    with pytest.raises(DamagedData, match="test trial 1, step 0: "):
        read()


@pytest.mark.parametrize("column", ["run", "workerid_num", "round_num"])
def test_row_that_does_not_identify_its_trial_is_refused_and_never_left_out(source, column):
    source[column] = source[column].astype(object)
    for value in (None, np.nan, [1]):
        source.at[source.index[149], column] = value
        with pytest.raises(DamagedData, match="does not identify its trial: expected values for"):
            read()


def test_table_without_a_column_is_refused(source, monkeypatch):
    monkeypatch.setattr(trials, "read_table", lambda path: source.drop(columns="layout"))
    with pytest.raises(DamagedData, match="column layout is missing"):
        read()


class Malicious:
    folder = ""

    def __reduce__(self):
        return os.mkdir, (self.folder,)


@attempt(
    "Code named in data",
    "a pickle that calls a function",
    "refused by the function's name; nothing is run",
)
def test_pickle_of_another_function_is_refused_by_name_and_not_run(tmp_path):
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
def test_pickle_of_other_functions_of_the_same_libraries_is_refused(tmp_path, text):
    file = tmp_path / "trials.pickle"
    file.write_bytes(text)
    name = text.split(b"\n")[1].decode()
    with pytest.raises(DamagedData, match=f"it uses .*{name}"):
        loader.read_table(file)


@pytest.mark.parametrize("content", [b"", b"no pickle", pickle.dumps([1, 2]), pickle.dumps("x")])
def test_file_without_a_pickled_table_is_refused(tmp_path, content):
    file = tmp_path / "trials.pickle"
    file.write_bytes(content)
    with pytest.raises(DamagedData, match=f"{file}: expected a pickled table"):
        loader.read_table(file)


def push_name(name):
    """Return an opcode that puts one of the known names on the stack."""
    module = min(module for module, known in loader.ALLOWED_NAMES if known == name)
    return f"c{module}\n{name}\n".encode()


OBJECT = push_name("dtype") + b"(VO8\nI0\nI1\ntR"
FORGED = (  # 8 bytes that call themselves plain and are read as an object
    push_name("dtype")
    + b"(VV8\nI0\nI1\ntR(I3\nV|\nN(Va\nt(dVa\n("
    + OBJECT
    + b"I0\ntsI8\nI1\nI0\ntb"
)
ARRAY = push_name("_reconstruct") + b"(" + push_name("ndarray") + b"(I0\ntVb\ntR"
WILD = ARRAY + b"(I1\n(I1\nt" + FORGED + b"I00\nB\x08\0\0\0" + b"A" * 8 + b"tb"
PUT_TO_ANOTHER_USE = (
    WILD + b".",
    push_name("DataFrame") + b"(" + WILD + b"tR.",
    push_name("DataFrame") + b"(tR" + WILD + b"b.",
    push_name("ndarray") + b"N(dV__call__\n" + push_name("dtype") + b"stb.",
    push_name("_reconstruct") + b"N(dV__defaults__\n(I1\ntst\x86b.",
)
READ_EACH = """
import sys, pathlib
from sts.errors import DamagedData
from sts_overcooked import loader

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
def test_misused_known_names_touch_no_memory_and_change_nothing(tmp_path):
    files = [tmp_path / f"{n}.pickle" for n in range(len(PUT_TO_ANOTHER_USE))]
    for file, content in zip(files, PUT_TO_ANOTHER_USE, strict=True):
        file.write_bytes(content)
    done = subprocess.run([sys.executable, "-c", READ_EACH, *files], capture_output=True, text=True)
    assert done.returncode == 0, f"it crashed after {done.stdout}: {done.stderr}"
    assert done.stdout.split() == [file.name for file in files]


@pytest.mark.filterwarnings("ignore")
def test_loaded_table_equals_that_of_pandas():
    path = trials.installed_files()[1]
    assert loader.read_table(path).equals(pd.read_pickle(path))


@pytest.mark.parametrize("stride", [75, pytest.param(1, marks=pytest.mark.slow)])
def test_every_state_of_every_trial_replays(stride):
    found = [trial for path in trials.installed_files() for trial in trials.read_trials(path)]
    assert (sum(trial.steps for trial in found), len(found)) == (91102, 76)
    for trial in found[::stride]:
        replayed = trials.replay_trial(trial)
        assert (replayed.steps_alike, replayed.first_difference) == (trial.steps, None)
