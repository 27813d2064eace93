"""Requests of `sts run`, and the continuations that are missing of them."""

import pytest

from sts.agents.info import load_info
from sts.continuations import requests
from sts.continuations.index import open_index
from sts.continuations.run import run
from sts.errors import DamagedData, StsError
from sts.storage.workspace import Workspace
from tests.continuations.garden import KEEPERS, gardens


@pytest.fixture
def workspace(tmp_path):
    return Workspace.open(str(tmp_path / "w"))


def do(workspace, several, *names, count):
    run(
        workspace,
        several,
        [f"{KEEPERS}:{name}" for name in names],
        count=count,
        seed=0,
        workers=1,
        progress=lambda done, total: None,
    )


def count_missing(workspace, several):
    """Return the missing continuations by the agent's name and the scenario's id."""
    ids = {scenario.hash: scenario.id for scenario in several}
    found = requests.count_missing(workspace.store, open_index(workspace.store), ids.keys())
    return {
        (agent, ids[scenario]): count
        for (agent, _), counts in found.items()
        for scenario, count in counts.items()
        if count
    }


def test_continuations_of_a_failed_scenario_are_missing(workspace):
    several = gardens((False, True, False))
    with pytest.raises(StsError, match="the hose burst"):
        do(workspace, several, "Keeper", "Resting", count=4)
    assert count_missing(workspace, several) == {("keeper", "garden-02"): 4}
    assert count_missing(workspace, several[:1]) == {}


def test_complete_run_lacks_nothing_and_the_last_request_counts(workspace):
    several = gardens((False, False))
    do(workspace, several, "Keeper", count=3)
    assert count_missing(workspace, several) == {}
    facts = load_info(f"{KEEPERS}:Keeper")
    key = facts.name, facts.fingerprint, 0
    requests.record_request(workspace.store, *key, {several[0].hash: 10})
    assert count_missing(workspace, several) == {("keeper", several[0].id): 7}
    do(workspace, several, "Keeper", count=2)
    assert count_missing(workspace, several) == {}


def test_agent_without_draws_is_asked_for_one_continuation(workspace):
    several = gardens((False,))
    do(workspace, several, "Resting", count=4)
    assert count_missing(workspace, several) == {}


@pytest.mark.parametrize(
    "content", [b"", b"{}", b'{"format":"run-request/2","counts":{}}', b"\xff"]
)
def test_damaged_request_is_named(workspace, content):
    workspace.create()
    workspace.store.replace(f"{requests.FOLDER}/0.json", content)
    with pytest.raises(DamagedData, match="requests/0.json: expected a request"):
        count_missing(workspace, gardens((False,)))
