"""Parameters in the name of an agent: parsed, passed on, and part of its identity."""

import pytest

from sts import agents
from sts.agents.spelling import Spelling, parse_spelling
from sts.errors import ArgumentError

MODULE = """
from sts.agents import Agent

class Mine(Agent):
    name = "mine"

    def __init__(self, weights="v1.npz", depth=1):
        self._loaded = (weights, depth)

    @property
    def loaded(self):
        return self._loaded

    def act(self, observation, instructions, memory, draws):
        return None, memory
"""


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    (tmp_path / "spelled_agent.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("random", ("random", {}, "")),
        ("a:B?weights=v2+x:1.pt&label=large", ("a:B", {"weights": "v2+x:1.pt"}, "large")),
        (
            "py:a:B?n=2&x=0.5&on=true&t=%26",
            ("py:a:B", {"n": 2, "x": 0.5, "on": True, "t": "&"}, ""),
        ),
        ('a:B?text="2"', ("a:B", {"text": "2"}, "")),
    ],
)
def test_parameters_are_read_from_the_name(text, expected):
    assert parse_spelling(text) == Spelling(*expected)


@pytest.mark.parametrize("query", ["", "a", "a=1&a=2", "1a=2", "a=1&"])
def test_invalid_parameters_are_rejected(query):
    with pytest.raises(ArgumentError, match="expected parameters as NAME=VALUE&NAME=VALUE"):
        parse_spelling(f"a:B?{query}")


def test_parameters_are_part_of_the_identity_and_label_is_the_name():
    paths = ("", "?depth=2", "?depth=2&weights=v2.npz", "?label=deep")
    loaded = [agents.load(f"spelled_agent:Mine{query}") for query in paths]
    assert [agent.name for agent in loaded] == ["mine", "mine", "mine", "deep"]
    assert vars(loaded[2])["_loaded"] == ("v2.npz", 2)
    assert len({agents.fingerprint(agent) for agent in loaded}) == 4
    again = agents.load("spelled_agent:Mine?depth=2")
    assert agents.fingerprint(again) == agents.fingerprint(loaded[1])


def test_unknown_parameter_is_named():
    with pytest.raises(ArgumentError, match="cannot be constructed with width: .*'width'"):
        agents.load("spelled_agent:Mine?width=2")
