"""The fingerprints of the agents of this distribution go by the versions that they state."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from sts import agents
from sts.agents.identity import stated
from sts.entry_points import list_group
from sts.errors import ArgumentError
from sts.registry import is_packaged
from sts.worlds.lambda_star.agents.rule import Rule
from tests import golden
from tests.examples import scenarios

OURS = {
    one.name: one for one in list_group("sts.agents") if is_packaged(one.value.partition(":")[0])
}


@pytest.mark.parametrize("name", sorted(OURS))
def test_packaged_agent_states_a_version_whose_behaviour_is_recorded(name: str) -> None:
    version = OURS[name].load().version
    assert version
    assert f"agent {name}, version {version}" in json.loads(golden.FILE.read_text())


def test_the_recorded_agent_behaves_as_its_version_says() -> None:
    agent = agents.load("recorded")
    digest = golden.actions(golden.continued(scenarios(6), agent))
    golden.check("agent recorded", agent.version, digest)


def test_packaged_agent_is_another_when_its_version_is(monkeypatch: pytest.MonkeyPatch) -> None:
    before = agents.fingerprint(agents.load("rule"))
    assert not stated(before)
    monkeypatch.setattr(Rule, "version", "2")
    assert agents.fingerprint(agents.load("rule")) != before


DERIVED = """
from sts.worlds.lambda_star.agents.rule import Rule

class Mine(Rule):
    name = "mine"
"""


def test_version_of_a_packaged_base_counts_and_is_not_one_that_a_user_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "derived_agent.py").write_text(DERIVED)
    (tmp_path / "derived_hidden.py").write_text(DERIVED + "    more = eval('1')\n")
    before = agents.fingerprint(agents.load("derived_agent:Mine"))
    assert not stated(before)
    with pytest.raises(ArgumentError, match="it uses eval.* declare a version in its class"):
        agents.fingerprint(agents.load("derived_hidden:Mine"))
    monkeypatch.setattr(Rule, "version", "2")
    assert agents.fingerprint(agents.load("derived_agent:Mine")) != before


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what is recorded."""
    copy = Path(shutil.copy(golden.FILE, tmp_path / "golden.json"))
    monkeypatch.setattr(golden, "FILE", copy)
    monkeypatch.delenv("STS_RECORD_GOLDEN", raising=False)
    return copy


def test_changed_behaviour_fails_until_the_version_is_raised(
    known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, real = agents.load("local-search"), type(agents.load("local-search")).act

    def digest() -> str:
        return golden.actions(golden.continued(scenarios(6), agent))

    golden.FILE.write_text(json.dumps({"agent local-search, version 1": digest()}))
    golden.check("agent local-search", "1", digest())

    def act(self, observation, instructions, memory, draws):
        choice, memory = real(self, observation, instructions, memory, draws)
        return choice._replace(moves=np.flip(choice.moves, -1)), memory

    monkeypatch.setattr(type(agent), "act", act)
    with pytest.raises(AssertionError, match="raise its version"):
        golden.check("agent local-search", "1", digest())
    with pytest.raises(AssertionError, match="is not recorded"):
        golden.check("agent local-search", "2", digest())
    monkeypatch.setenv("STS_RECORD_GOLDEN", "1")
    golden.check("agent local-search", "2", digest())
    with pytest.raises(AssertionError, match="raise its version"):
        golden.check("agent local-search", "1", digest())
