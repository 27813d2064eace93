"""The user's agent of docs/agents.md, from the page into a report."""

import json
import re
from pathlib import Path

import pytest

from sts import agents
from sts.cli.main import main
from sts.storage.workspace import Workspace
from tests.agents.test_contract import assert_same, cases, play_cases, rows
from tests.examples import small

PAGE = Path(__file__).resolve().parents[2] / "docs" / "agents.md"


@pytest.fixture
def name(tmp_path, monkeypatch):
    """Return `module:Class` of the page's agent, saved in the current folder."""
    (text,) = re.findall(r"```python title=my_agent\.py\n(.*?)```", PAGE.read_text(), re.S)
    assert len(text.strip().splitlines()) <= 25
    (tmp_path / "my_agent.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "my_agent:MyAgent"


def test_documented_agent_satisfies_the_contract(name):
    c = cases()
    whole = play_cases(agents.load(name), c)
    assert_same(rows(whole, [11, 3]), play_cases(agents.load(name), c.take([11, 3])))
    assert (whole.utterances > 0).sum(1).max() == 1


def test_documented_agent_appears_in_a_report(name, tmp_path, capsys):
    folder = str(tmp_path / "workspace")
    suite = small(Workspace.open(folder))
    run = ["run", suite.label, "--agent", name, "--agent", "random", "--continuations", "1"]
    for command in (run, ["label", suite.label], ["report", suite.label]):
        assert main([*command, "--workspace", folder]) == 0, capsys.readouterr().err
    (file,) = (tmp_path / "workspace" / "reports").glob("*/report.json")
    report = json.loads(file.read_text())
    found = {row["agent"]: row for row in report["rates"]["rows"]}
    assert set(found) == {"my-agent", "random"}
    assert found["my-agent"]["continuations"] == len(suite.scenarios)
    place = report["categories"]["agents"].index("my-agent")
    rates = {row["category"]: row["pass_rates"][place] for row in report["categories"]["rows"]}
    assert rates["count-others"] > 0.9
