"""A world, agents and a category of somebody's own, through the whole pipeline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sts import cli
from sts.continuations import store
from sts.suites import store as suites
from sts.workspace import Workspace
from tests.domains.test_adapted import record, sts

KEEPER = "tests.domains.keepers:Keeper"


def test_an_environment_that_kills_its_process_costs_one_line_and_the_rest_is_kept(
    tmp_path: Path,
) -> None:
    assert record("Dies", tmp_path, agent="Restless").returncode == 0
    mined = sts("mine", "m", "--category", "tests.domains.keepers:DYING", folder=tmp_path)
    assert mined.returncode == 0, mined.stderr
    assert sts("suite", "freeze", "m", folder=tmp_path).returncode == 0
    restless = "tests.domains.keepers:Restless"
    first = sts("run", "m@1", "--agent", restless, "--continuations", "1", folder=tmp_path)
    assert first.returncode == 0, first.stderr
    workspace = Workspace.open(str(tmp_path))
    hashes = [s.hash for s in suites.load(workspace, "m@1").scenarios]
    assert len(store.load(workspace, hashes)) == len(hashes)
    killed = sts(
        *("run", "m@1", "--agent", "tests.domains.keepers:Resting", "--agent", restless),
        *("--continuations", "2", "--workers", "2"),
        folder=tmp_path,
    )
    assert killed.returncode == 1
    assert killed.stderr.count("\n") == 1 and "worker processes died" in killed.stderr
    assert len(store.load(workspace, hashes)) >= len(hashes)
    alone = ("--agent", "tests.domains.keepers:Resting", "--workers", "2")
    killed = sts("run", "m@1", *alone, "--continuations", "1", folder=tmp_path)
    assert (killed.returncode, killed.stderr.count("\n")) == (1, 1), killed.stderr


@pytest.fixture(scope="module")
def mined(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("own")
    assert record("Lanterns", folder).returncode == 0
    words = ("mine", "m", "--category", "tests.domains.keepers:LIGHT_ONE")
    assert sts(*words, folder=folder).returncode == 0
    assert sts("suite", "freeze", "m", folder=folder).returncode == 0
    done = sts("run", "m@1", "--agent", KEEPER, "--continuations", "2", folder=folder)
    assert done.returncode == 0, done.stderr
    return str(folder)


def test_a_category_of_ones_own_labels_what_was_mined_with_it(mined: str, capsys) -> None:
    words = ["label", "m@1", "--workspace", mined, "--json"]
    assert cli.main([*words, "--category", "tests.domains.keepers:LIGHT_ONE"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["without_label"] == []
    (row,) = value["agents"]
    assert row["success"] + row["not_done"] == row["continuations"] > 0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["label", "m@1"], "no automatic label for light-one: name a category of your own"),
        (["label", "m@1", "--category", "tests.domains.keepers:NONE"], "is no Category"),
        (["label", "m@1", "--category", "tests.domains.keepers:NOWHERE"], "has no NOWHERE"),
        (
            ["label", "m@1", "--category", "tests.domains.keepers:UNLABELLED"],
            "category 'light-one' failed to label an episode: ZeroDivisionError",
        ),
        (
            ["mine", "n", "--category", "tests.domains.keepers:FALLS"],
            "category 'light-one' failed to find candidates in",
        ),
    ],
)
def test_what_is_wrong_with_a_category_is_one_line(words, line, mined: str, capsys) -> None:
    assert cli.main([*words, "--workspace", mined]) != 0
    error = capsys.readouterr().err
    assert line in error and error.count("\n") == 1
