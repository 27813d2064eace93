"""A world, agents and a category of somebody's own, through the whole pipeline."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from sts.cli.main import main
from sts.continuations import store
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from tests.examples import in_this_process

KEEPER = "tests.domains.keepers:Keeper"


def sts(*words: str, folder: Path) -> int:
    return main([*words, "--workspace", str(folder)])


def record(world: str, folder: Path, *, agent: str = "Keeper") -> int:
    recorded = ("--domain", f"tests.domains.worlds:{world}", "--episodes", "20", "--steps", "20")
    agent = f"tests.domains.keepers:{agent}"
    return sts("record", *recorded, "--agent", agent, "--seed", "2", folder=folder)


@pytest.fixture(scope="module")
def dying(tmp_path_factory) -> Path:
    """A workspace with scenarios in a world that ends its process when a keeper rests."""
    folder = tmp_path_factory.mktemp("dying")
    assert record("Dies", folder, agent="Restless") == 0
    own = ("--category", "tests.domains.keepers:DYING")
    here = ("--workspace", str(folder))
    assert main(["mine", "m", *own, *here]) == 0
    assert main(["draft", "accept", "m", "--all", *here]) == 0
    assert main(["suite", "freeze", "m", *own, *here]) == 0
    return folder


def test_a_scenario_whose_world_kills_its_process_is_named_and_costs_no_other(
    dying: Path, capfd
) -> None:
    workspace = Workspace.open(str(dying))
    every = suites.load(workspace, "m@1").scenarios
    deadly = [s for s in every if s.instruction.text == "Rest."]
    assert len(deadly) == 1 < len(every)
    obedient, restless = ("tests.domains.keepers:Obedient", "tests.domains.keepers:Restless")
    code = sts(
        *("run", "m@1", "--agent", obedient, "--agent", restless),
        *("--continuations", "2", "--workers", "2"),
        folder=dying,
    )
    assert code == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert f"scenario {deadly[0].id}: its process ended with exit code 9" in line
    assert "more failed" not in line and "not tried" not in line
    kept = Counter(one.identity.scenario for one in store.load(workspace, [s.hash for s in every]))
    assert kept == {s.hash: 2 if s in deadly else 4 for s in every}


def test_an_agent_that_kills_every_process_costs_one_line(dying: Path, capfd) -> None:
    resting = ("--agent", "tests.domains.keepers:Resting", "--workers", "2")
    assert sts("run", "m@1", *resting, "--continuations", "1", folder=dying) == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert "its process ended with exit code 9" in line and "2 more failed" in line


@pytest.fixture(scope="module")
def mined(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("own")
    own = ("--category", "tests.domains.keepers:LIGHT_ONE")
    here = ("--workspace", str(folder))
    with pytest.MonkeyPatch.context() as patch:
        in_this_process(patch)
        assert record("Lanterns", folder) == 0
        assert main(["mine", "m", *own, *here]) == 0
        assert main(["draft", "accept", "m", "--all", *here]) == 0
        assert main(["suite", "freeze", "m", *own, *here]) == 0
        assert main(["run", "m@1", "--agent", KEEPER, "--continuations", "2", *here]) == 0
    return str(folder)


def test_a_category_of_ones_own_labels_what_was_mined_with_it(mined: str, capsys) -> None:
    words = ["label", "m@1", "--workspace", mined, "--json"]
    assert main([*words, "--category", "tests.domains.keepers:LIGHT_ONE"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["without_label"] == []
    (row,) = value["agents"]
    assert row["success"] + row["not_done"] == row["continuations"] > 0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["label", "m@1"], "no automatic label for light-one: name a category of your own"),
        (["label", "m@1", "--category", "tests.domains.keepers:NONE"], "is not a Category"),
        (["label", "m@1", "--category", "tests.domains.keepers:NOWHERE"], "has no NOWHERE"),
        (
            ["label", "m@1", "--category", "tests.domains.keepers:UNLABELLED"],
            "category 'light-one' failed to label an episode",
        ),
        (
            ["mine", "n", "--category", "tests.domains.keepers:FALLS"],
            "category 'light-one' failed to find candidates in",
        ),
    ],
)
def test_what_is_wrong_with_a_category_is_one_line(words, line, mined: str, capsys) -> None:
    assert main([*words, "--workspace", mined]) != 0
    error = capsys.readouterr().err
    assert line in error and error.count("\n") == 1
