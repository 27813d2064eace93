"""Finding agents by name, also those of a user's own module."""

import pytest

from sts import agents
from sts.agents.identity import fingerprint, identify
from sts.cli.main import main
from sts.errors import ArgumentError, UnknownName


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("os:system", "not an agent"),
        ("os:environ", "not an agent"),
        ("sts.agents.protocol:PolicyOutput", "not an agent"),
        ("sts.agents.protocol:Agent", "without arguments"),
        ("no_such_module_here:Agent", "cannot import"),
        ("sts.agents.protocol:Missing", "has no Missing"),
        ("../evil:Agent", "module:Name"),
        (":Agent", "module:Name"),
        ("os:", "module:Name"),
    ],
)
def test_load_rejects_what_is_not_an_agent(name, message):
    with pytest.raises(ArgumentError, match=message):
        agents.load(name)


def test_unknown_agent_error_suggests_similar_names():
    with pytest.raises(UnknownName) as caught:
        agents.load("loc-search")
    listed, rest = str(caught.value).split("known: ")[1].split(" and ")
    there = {*agents.list_installed()}
    assert {*listed.split(", ")} < there and "local-search" in listed
    assert rest.startswith(f"{len(there) - 20} more; did you mean local-search?")


AGENT = """
class Mine:
    name = {name!r}
    {more}
    def initial_state(self, batch, players):
        return {{}}
    def act(self, observation, instructions, memory, draws):
        return None, memory
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Return a function that writes a module that can be imported and returns `module:Mine`."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(text):
        module = f"users_agent_{tmp_path.name}"
        (tmp_path / f"{module}.py").write_text(text)
        return f"{module}:Mine"

    return write


def test_user_class_gets_the_defaults_of_the_protocol(write):
    agent = agents.load(write(AGENT.format(name="mine", more="")))
    assert (agent.name, agent.sees) == ("mine", "observation")
    assert (agent.deterministic, agent.draws) == (False, 0)


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("", "", "needs a name"),
        ("../mine", "", "needs a name"),
        ("human", "", "reserved for people"),
        ("mine", "sees = 'everything'", "sees must be"),
        ("mine", "draws = -1", "draws must be"),
        ("mine", "draws = 10**12", "draws must be"),
        ("mine", "draws = 'many'", "draws must be"),
        ("mine", "wordings = 'Go.'", "wordings must be lines of at most 500 characters"),
        ("mine", "wordings = ('Go.\\nStop.',)", "wordings must be lines of at most 500"),
        ("mine", "deterministic = 'yes'", "deterministic must be"),
        ("mine", "def __init__(self): 1 / 0", "without arguments: division by zero"),
    ],
)
def test_load_rejects_an_invalid_user_class(write, name, more, message):
    with pytest.raises(ArgumentError, match=message):
        agents.load(write(AGENT.format(name=name, more=more)))


@pytest.mark.parametrize(
    ("text", "message"),
    [("1 / 0", "ZeroDivisionError"), ("raise SystemExit(0)", "SystemExit"), ("class", "SyntaxErr")],
)
def test_failing_module_prints_one_line_error(write, capsys, text, message):
    name = write(text)
    assert main(["lambda-star", "score", "--agent", name]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("sts: ") and err.count("\n") == 1
    assert f"cannot import {name.removesuffix(':Mine')}: {message}" in err


def test_identity_follows_the_arguments_that_are_given():
    agent = agents.load("random")
    bare = fingerprint(agent)
    given = identify(agent, {"patience": 2}).fingerprint
    assert given != bare and identify(agent, {"patience": 3}).fingerprint not in (bare, given)
    assert identify(agent, {"patience": 2}).fingerprint == given == fingerprint(agent)
    assert identify(agent, {}).fingerprint == bare
