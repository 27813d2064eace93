"""What an agent was made with, and what its author must state where code cannot say it."""

from __future__ import annotations

import importlib
import inspect
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from sts import agents
from sts.agents.identity import described, stated
from sts.errors import ArgumentError
from tests.agents.made import Made, Setting, Versioned

NUMBERS = itertools.count()
Make = Callable[[str], ModuleType]
ACT = """
    def begin(self, batch, roles):
        return {}

    def act(self, observation, instructions, memory, draws):
        return None, memory
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Return what makes a module of a text, of a name that no other has had."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(text: str) -> ModuleType:
        name = f"stated_agent_{next(NUMBERS)}"
        (tmp_path / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    return make


STATES: tuple[dict[str, Any], ...] = (
    {},
    {"share": 0.3},
    {"share": 0.25},
    {"share": 1},
    {"share": True},
    {"share": "1"},
    {"other": 1},
    {"share": [1, 2]},
    {"share": (1, 2)},
    {"share": {"a": 1}},
    {"share": {"a": {"b"}}},
    {"share": np.arange(3)},
    {"share": np.arange(3.0)},
    {"share": np.arange(3).reshape(3, 1)},
    {"share": Setting(0.3)},
    {"share": Setting(0.3, ("a",))},
    {"weights_digest": "abc"},
    {"_share": 0.3},
    {"_share": 0.25},
)


def test_what_an_agent_was_made_with_is_a_part_of_it() -> None:
    marks = [agents.fingerprint(Made(**state)) for state in STATES]
    assert len(set(marks)) == len(STATES)
    assert marks == [agents.fingerprint(Made(**state)) for state in STATES]
    assert not any(map(stated, marks))


def test_neither_memory_layout_nor_what_is_derived_is() -> None:
    square = np.arange(9).reshape(3, 3)
    one, other = Made(x=square, y={"a", "b"}), Made(x=np.asfortranarray(square), y={"b", "a"})
    assert one.derived
    assert agents.fingerprint(one) == agents.fingerprint(other)


def test_only_the_parameters_that_an_agent_names_count() -> None:
    def mark(**kept: object) -> str:
        return agents.fingerprint(Made(parameters=("share",), **kept))

    assert mark(share=1, other=1) == mark(share=1, other=object())
    assert mark(share=1) != mark(share=2)
    with pytest.raises(
        ArgumentError, match="parameters lists 'share', but there is no such attribute"
    ):
        mark(other=1)


HIDDEN: dict[str, dict[str, Any]] = {
    "a function": {"choose": lambda x: x},
    "a generator": {"rng": np.random.default_rng(0)},
    "an object of another's": {"model": object()},
    "one inside others": {"kept": {"models": [1, (object(),)]}},
    "an array of objects": {"kept": np.array([object()])},
}


@pytest.mark.parametrize("what", HIDDEN)
def test_a_state_that_cannot_be_read_needs_a_version_or_a_digest(what: str) -> None:
    state = HIDDEN[what]
    with pytest.raises(
        ArgumentError, match="agent 'made': its .* cannot be read, .* a version in its class"
    ) as caught:
        agents.fingerprint(Made(**state))
    assert "\n" not in str(caught.value)
    mark = agents.fingerprint(Versioned(**state))
    assert stated(mark) == "1.2" and described(mark) == f"{mark} (identity as stated)"
    assert not stated(agents.fingerprint(Made(weights_digest="abc", **state)))


def test_a_stated_version_and_what_can_be_read_both_count() -> None:
    first = Versioned(model=object())
    again, other = Versioned(model=object()), Versioned(model=object())
    other.version = "1.3"
    assert agents.fingerprint(first) == agents.fingerprint(again)
    marks = [agents.fingerprint(a) for a in (first, other, Versioned(model=object(), share=1))]
    assert len(set(marks)) == 3
    assert [stated(mark) for mark in marks] == ["1.2", "1.3", "1.2"]


def test_edited_agent_is_another_one_although_it_states_the_same_version(module: Make) -> None:
    text = f"class Mine:\n    name, version = 'mine', '7'\n{ACT}\n    more = lambda self: 1"
    hidden = text.replace(": 1", ": eval('2')")
    edits = (text, text.replace(": 1", ": 2"), hidden, hidden.replace("eval('2')", "eval('2') + 1"))
    marks = [agents.fingerprint(module(one).Mine()) for one in edits]
    assert len(set(marks)) == 4
    assert [stated(mark) for mark in marks] == ["", "", "7", "7"]
    raised = agents.fingerprint(module(text.replace("'7'", "'8'")).Mine())
    assert raised not in marks and stated(raised) == ""


@pytest.mark.parametrize("version", ["1 2", "../1", "x" * 33, 3, ["1"]])
def test_a_version_that_is_none_is_refused(version: object) -> None:
    with pytest.raises(ArgumentError, match="version must be 1 to 32 letters"):
        agents.fingerprint(Made(version=version))


SOURCES = {
    "made in a function": (
        "def make():\n    class Mine:\n        name = 'mine'\n        begin = act = print\n"
        "    return Mine\nMine = make()\n",
        "Mine cannot be imported by its name",
    ),
    "made of text": (
        "exec(\"class Mine:\\n    name = 'mine'\\n    begin = act = print\")\n",
        "it uses exec",
    ),
    "run from text": (
        f"class Mine:\n    name = 'mine'\n{ACT}\n    def more(self):\n        return eval('1')\n",
        "it uses eval",
    ),
    "beside its weights": (
        "from pathlib import Path\nclass Mine:\n    name = 'mine'\n"
        f"{ACT}\n    weights = Path(__file__).with_name('weights.npz')\n",
        "it reads files or other data outside its code",
    ),
    "opening a file wherever it is": (
        f"class Mine:\n    name = 'mine'\n{ACT}\n    def more(self):\n"
        "        with open('weights.npz') as file:\n            return file.read()\n",
        "it reads files or other data outside its code",
    ),
    "with weights that NumPy loads": (
        f"import numpy as np\nclass Mine:\n    name = 'mine'\n{ACT}\n    def more(self):\n"
        "        return np.load('weights.npz')\n",
        "it reads files or other data outside its code",
    ),
    "asking another program": (
        f"import subprocess\nclass Mine:\n    name = 'mine'\n{ACT}\n    def more(self):\n"
        "        return subprocess.run(['move'])\n",
        "it reads files or other data outside its code",
    ),
    "set by the environment": (
        f"import os\nSPEED = os.environ.get('SPEED')\nclass Mine:\n    name = 'mine'\n{ACT}\n"
        "    speed = SPEED\n",
        "it reads files or other data outside its code",
    ),
}


@pytest.mark.parametrize("what", SOURCES)
def test_code_that_cannot_be_read_needs_a_version(module: Make, what: str) -> None:
    text, why = SOURCES[what]
    with pytest.raises(ArgumentError, match=f"agent 'mine': {why}, so its code"):
        agents.fingerprint(module(text).Mine())
    versioned = text.replace("name = 'mine'\n", "name = 'mine'; version = '7'\n").replace(
        "name = 'mine'\\n", "name = 'mine'; version = '7'\\n"
    )
    assert stated(agents.fingerprint(module(versioned).Mine())) == "7"


def test_an_agent_typed_into_a_session_needs_a_version() -> None:
    own: dict[str, Any] = {"__name__": "__console__"}
    exec("class Mine:\n    name = 'mine'\n    version = ''\n", own)
    with pytest.raises(ArgumentError, match="cannot be imported by its name"):
        agents.fingerprint(own["Mine"]())
    own["Mine"].version = "1"
    assert stated(agents.fingerprint(own["Mine"]())) == "1"


def test_weights_beside_the_code_count_by_their_digest(module: Make) -> None:
    text = (
        "import hashlib\nfrom pathlib import Path\n"
        f"class Mine:\n    name = 'mine'\n{ACT}\n    def __init__(self):\n"
        "        raw = Path(__file__).with_name('weights.bin').read_bytes()\n"
        "        self.weights_digest = hashlib.sha256(raw).hexdigest()\n"
    )
    mine = module(text)
    assert mine.__file__
    weights = Path(mine.__file__).with_name("weights.bin")
    marks = []
    for raw in (b"1", b"2", b"1"):
        weights.write_bytes(raw)
        marks.append(agents.fingerprint(mine.Mine()))
    assert marks[0] == marks[2] != marks[1]
    assert not any(map(stated, marks))


def test_code_too_deep_to_be_read_needs_a_version(module: Make) -> None:
    text = f"class Mine:\n    name = 'mine'\n{ACT}\n    deep = {'-' * 400}1\n"
    mine = module(text)
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(len(inspect.stack(0)) + 250)
        with pytest.raises(ArgumentError, match="its code is nested too deeply"):
            agents.fingerprint(mine.Mine())
    finally:
        sys.setrecursionlimit(limit)


def test_a_change_in_its_own_module_is_code_and_no_patch(module: Make) -> None:
    text = f"class Mine:\n    name = 'mine'\n    limit = 3\n{ACT}\nMine.limit = 4\n"
    marks = [
        agents.fingerprint(module(one).Mine()) for one in (text, text, text.replace("= 4", "= 5"))
    ]
    assert marks[0] == marks[1] != marks[2]


def test_a_class_is_read_once_in_a_process(module: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = module(f"class Mine:\n    name = 'mine'\n{ACT}\n")
    before = agents.fingerprint(mine.Mine())
    monkeypatch.setattr("sts.agents.identity.identity.read_code", lambda *given: 1 / 0)
    assert agents.fingerprint(mine.Mine()) == before
