"""A user's world, agents and category, through the whole pipeline."""

import json
from collections import Counter
from pathlib import Path

import pytest

from sts.cli.main import main
from sts.continuations import continuation_store as store
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from tests.examples import in_this_process
from tests.scenarios.curating import run_commands

OWN = "tests.domains.keepers"


def freeze(folder: Path, world: str, agent: str, category: str) -> None:
    """Record, mine and freeze m@1."""
    recording = "--episodes 20 --steps 20 --seed 2"
    run_commands(
        folder,
        f"record --domain tests.domains.worlds:{world} --agent {OWN}:{agent} {recording}",
        f"mine m --category {OWN}:{category}",
        "draft accept m --all",
        f"suite freeze m --category {OWN}:{category}",
    )


@pytest.fixture(scope="module")
def dying(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with scenarios in a world that ends its process when a keeper rests."""
    folder = tmp_path_factory.mktemp("dying")
    freeze(folder, "Dies", "Restless", "DYING")
    return folder


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    with pytest.MonkeyPatch.context() as patch:
        in_this_process(patch)
        freeze(folder, "Lanterns", "Keeper", "LIGHT_ONE")
        run_commands(folder, f"run m@1 --agent {OWN}:Keeper --continuations 2")
    return folder


def sts(line: str, folder: Path) -> int:
    return main([*line.split(), "--workspace", str(folder)])


@pytest.mark.landing
def test_scenario_that_kills_its_process_is_named_and_costs_no_other(dying, capfd):
    workspace = Workspace.open(str(dying))
    every = suites.load(workspace, "m@1").scenarios
    deadly = [s for s in every if s.instruction.text == "Rest."]
    assert len(deadly) == 1 < len(every)
    agents = f"--agent {OWN}:Obedient --agent {OWN}:Restless"
    assert sts(f"run m@1 {agents} --continuations 2 --workers 2", dying) == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert f"scenario {deadly[0].id}: its process ended with exit code 9" in line
    assert "more failed" not in line and "not tried" not in line
    kept = Counter(one.identity.scenario for one in store.load(workspace, [s.hash for s in every]))
    assert kept == {s.hash: 2 if s in deadly else 4 for s in every}


def test_agent_that_kills_every_process_prints_one_line(dying, capfd):
    assert sts(f"run m@1 --agent {OWN}:Resting --workers 2 --continuations 1", dying) == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert "its process ended with exit code 9" in line and "2 more failed" in line


def test_custom_category_labels_its_scenarios(mined, capsys):
    assert sts(f"label m@1 --json --category {OWN}:LIGHT_ONE", mined) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["without_rule"] == []
    (row,) = value["agents"]
    assert row["success"] + row["not_done"] == row["continuations"] > 0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (f"label m@1 --category {OWN}:NONE", "is not a Category"),
        (f"label m@1 --category {OWN}:NOWHERE", "has no NOWHERE"),
        (f"label m@1 --category {OWN}:UNLABELLED", "'light-one' failed to label an episode"),
        (f"mine n --category {OWN}:FALLS", "'light-one' failed to find candidates in"),
    ],
)
def test_missing_or_failing_category_is_refused(words, line, mined, capsys):
    assert sts(words, mined) != 0
    error = capsys.readouterr().err
    assert line in error and error.count("\n") == 1
