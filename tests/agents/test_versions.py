"""What an agent was made with, and what its author must state where code cannot say it."""

import importlib
import inspect
import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from sts import agents
from sts.agents.identity import declared_version, describe_fingerprint
from sts.entry_points import list_group
from sts.errors import ArgumentError
from sts.registry import is_packaged
from sts_lambda_star.agents.rule import Rule
from tests import golden
from tests.agents.stateful import Made, Setting, Versioned
from tests.examples import scenarios

NUMBERS = itertools.count()
Make = Callable[[str], ModuleType]
ACT = """
    def initial_state(self, batch, players):
        return {}

    def act(self, observation, instructions, memory, draws):
        return None, memory
"""
MINE = f"class Mine:\n    name = 'mine'\n{ACT}"


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Return what makes a module of a text, of a name that no other has had."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(text):
        name = f"stated_agent_{next(NUMBERS)}"
        (tmp_path / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    return make


STATES: tuple[dict[str, Any], ...] = (
    *({}, {"other": 1}, {"weights_digest": "abc"}, {"_share": 0.3}, {"_share": 0.25}),
    *({"share": value} for value in (0.3, 0.25, 1, True, "1", [1, 2], (1, 2))),
    *({"share": value} for value in ({"a": 1}, {"a": {"b"}}, Setting(0.3), Setting(0.3, ("a",)))),
    *({"share": value} for value in (np.arange(3), np.arange(3.0), np.arange(3).reshape(3, 1))),
)


def test_fingerprint_depends_on_constructor_state():
    marks = [agents.fingerprint(Made(**state)) for state in STATES]
    assert len(set(marks)) == len(STATES)
    assert marks == [agents.fingerprint(Made(**state)) for state in STATES]
    assert not any(map(declared_version, marks))


def test_fingerprint_ignores_memory_layout_and_cached_properties():
    square = np.arange(9).reshape(3, 3)
    one, other = Made(x=square, y={"a", "b"}), Made(x=np.asfortranarray(square), y={"b", "a"})
    assert one.derived
    assert agents.fingerprint(one) == agents.fingerprint(other)


def test_fingerprint_uses_only_declared_parameters():
    def mark(**kept):
        return agents.fingerprint(Made(parameters=("share",), **kept))

    assert mark(share=1, other=1) == mark(share=1, other=object())
    assert mark(share=1) != mark(share=2)
    with pytest.raises(ArgumentError, match="parameters lists 'share', but there is no such attr"):
        mark(other=1)


@pytest.mark.parametrize(
    "state",
    [
        {"choose": lambda x: x},
        {"rng": np.random.default_rng(0)},
        {"model": object()},
        {"kept": {"models": [1, (object(),)]}},
        {"kept": np.array([object()])},
    ],
    ids=["function", "generator", "object", "nested object", "array of objects"],
)
def test_unreadable_state_needs_a_version_or_a_digest(state):
    message = "agent 'made': its .* cannot be read, .* a version in its class"
    with pytest.raises(ArgumentError, match=message) as caught:
        agents.fingerprint(Made(**state))
    assert "\n" not in str(caught.value)
    mark = agents.fingerprint(Versioned(**state))
    assert (
        declared_version(mark) == "1.2"
        and describe_fingerprint(mark) == f"{mark} (identity as stated)"
    )
    assert not declared_version(agents.fingerprint(Made(weights_digest="abc", **state)))


def test_fingerprint_uses_the_version_and_the_readable_state():
    first = Versioned(model=object())
    again, other = Versioned(model=object()), Versioned(model=object())
    other.version = "1.3"
    assert agents.fingerprint(first) == agents.fingerprint(again)
    marks = [agents.fingerprint(a) for a in (first, other, Versioned(model=object(), share=1))]
    assert len(set(marks)) == 3
    assert [declared_version(mark) for mark in marks] == ["1.2", "1.3", "1.2"]


def test_edited_agent_has_another_fingerprint_under_the_same_version(module):
    text = f"{MINE}    version = '7'\n    more = lambda self: 1\n"
    hidden = text.replace(": 1", ": eval('2')")
    edits = (text, text.replace(": 1", ": 2"), hidden, hidden.replace("eval('2')", "eval('2') + 1"))
    marks = [agents.fingerprint(module(one).Mine()) for one in edits]
    assert len(set(marks)) == 4
    assert [declared_version(mark) for mark in marks] == ["", "", "7", "7"]
    raised = agents.fingerprint(module(text.replace("'7'", "'8'")).Mine())
    assert raised not in marks and declared_version(raised) == ""


@pytest.mark.parametrize("version", ["1 2", "../1", "x" * 33, 3, ["1"]])
def test_invalid_version_is_rejected(version):
    with pytest.raises(ArgumentError, match="version must be 1 to 32 letters"):
        agents.fingerprint(Made(version=version))


READS = "it reads files or other data outside its code"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "def make():\n    class Mine:\n        name = 'mine'\n"
            "        initial_state = act = print\n    return Mine\nMine = make()\n",
            "Mine cannot be imported by its name",
        ),
        (
            "exec(\"class Mine:\\n    name = 'mine'\\n    initial_state = act = print\")\n",
            "it uses exec",
        ),
        (f"{MINE}    def more(self):\n        return eval('1')\n", "it uses eval"),
        (f"{MINE}    from pathlib import Path\n    weights = Path(__file__).parent\n", READS),
        (f"{MINE}    def more(self):\n        return open('weights.npz').read()\n", READS),
        (f"import subprocess as s\n{MINE}    def more(self):\n        s.run(['move'])\n", READS),
        (f"import os\nSPEED = os.environ.get('SPEED')\n{MINE}    speed = SPEED\n", READS),
    ],
)
def test_unreadable_code_needs_a_version(module, text, reason):
    with pytest.raises(ArgumentError, match=f"agent 'mine': {reason}, so its code"):
        agents.fingerprint(module(text).Mine())
    versioned = text.replace("name = 'mine'", "name = 'mine'; version = '7'")
    assert declared_version(agents.fingerprint(module(versioned).Mine())) == "7"


def test_agent_of_an_interactive_session_needs_a_version():
    own: dict[str, Any] = {"__name__": "__console__"}
    exec("class Mine:\n    name = 'mine'\n    version = ''\n", own)
    with pytest.raises(ArgumentError, match="cannot be imported by its name"):
        agents.fingerprint(own["Mine"]())
    own["Mine"].version = "1"
    assert declared_version(agents.fingerprint(own["Mine"]())) == "1"


def test_weights_file_counts_by_its_digest(module):
    mine = module(
        f"import hashlib\nfrom pathlib import Path\n{MINE}    def __init__(self):\n"
        "        raw = Path(__file__).with_name('weights.bin').read_bytes()\n"
        "        self.weights_digest = hashlib.sha256(raw).hexdigest()\n"
    )
    assert mine.__file__
    weights = Path(mine.__file__).with_name("weights.bin")
    marks = []
    for raw in (b"1", b"2", b"1"):
        weights.write_bytes(raw)
        marks.append(agents.fingerprint(mine.Mine()))
    assert marks[0] == marks[2] != marks[1]
    assert not any(map(declared_version, marks))


def test_too_deeply_nested_code_needs_a_version(module):
    mine = module(f"{MINE}    deep = {'-' * 400}1\n")
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(len(inspect.stack(0)) + 250)
        with pytest.raises(ArgumentError, match="its code is nested too deeply"):
            agents.fingerprint(mine.Mine())
    finally:
        sys.setrecursionlimit(limit)


def test_assignment_in_the_own_module_counts_as_code(module):
    text = f"{MINE}    limit = 3\nMine.limit = 4\n"
    edits = (text, text, text.replace("= 4", "= 5"))
    marks = [agents.fingerprint(module(one).Mine()) for one in edits]
    assert marks[0] == marks[1] != marks[2]


def test_code_of_a_class_is_read_once_per_process(module, monkeypatch):
    mine = module(MINE)
    before = agents.fingerprint(mine.Mine())
    monkeypatch.setattr("sts.agents.identity.read_code", lambda *given: 1 / 0)
    assert agents.fingerprint(mine.Mine()) == before


OURS = {
    one.name: one for one in list_group("sts.agents") if is_packaged(one.value.partition(":")[0])
}


@pytest.mark.parametrize("name", sorted(OURS))
def test_packaged_agent_states_a_version_whose_behaviour_is_recorded(name):
    version = OURS[name].load().version
    assert version
    assert f"agent {name}, version {version}" in json.loads(golden.FILE.read_text())


def test_recorded_agent_behaves_as_its_version_states():
    agent = agents.load("recorded")
    digest = golden.actions(golden.continued(scenarios(6), agent))
    golden.check("agent recorded", agent.version, digest)


def test_packaged_agent_with_another_version_has_another_fingerprint(monkeypatch):
    before = agents.fingerprint(agents.load("rule"))
    assert not declared_version(before)
    monkeypatch.setattr(Rule, "version", "2")
    assert agents.fingerprint(agents.load("rule")) != before


DERIVED = """
from sts_lambda_star.agents.rule import Rule

class Mine(Rule):
    name = "mine"
"""


def test_version_of_a_packaged_base_class_is_not_a_stated_version(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "derived_agent.py").write_text(DERIVED)
    (tmp_path / "derived_hidden.py").write_text(DERIVED + "    more = eval('1')\n")
    before = agents.fingerprint(agents.load("derived_agent:Mine"))
    assert not declared_version(before)
    with pytest.raises(ArgumentError, match="it uses eval.* declare a version in its class"):
        agents.fingerprint(agents.load("derived_hidden:Mine"))
    monkeypatch.setattr(Rule, "version", "2")
    assert agents.fingerprint(agents.load("derived_agent:Mine")) != before
