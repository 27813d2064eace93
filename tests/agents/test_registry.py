"""Finding agents by name, and refusing what is none."""

from __future__ import annotations

import pytest

from sts import agents
from sts.cli.main import main
from sts.errors import ArgumentError, UnknownName

NO_AGENTS = (
    ("os:system", "not an agent"),
    ("os:environ", "not an agent"),
    ("sts.agents.protocol:Choice", "not an agent"),
    ("sts.agents.protocol:Agent", "without arguments"),
    ("no_such_module_here:Agent", "cannot import"),
    ("sts.agents.protocol:Missing", "has no Missing"),
    ("../evil:Agent", "module:Name"),
    (":Agent", "module:Name"),
    ("os:", "module:Name"),
)


@pytest.mark.parametrize(("name", "said"), NO_AGENTS)
def test_what_is_no_agent_is_refused_in_words(name, said):
    with pytest.raises(ArgumentError, match=said):
        agents.load(name)


def test_an_unknown_agent_is_answered_with_those_that_are_most_like_it():
    with pytest.raises(UnknownName) as caught:
        agents.load("loc-search")
    listed, rest = str(caught.value).split("known: ")[1].split(" and ")
    there = {*agents.installed()}
    assert {*listed.split(", ")} < there and "local-search" in listed
    assert rest.startswith(f"{len(there) - 20} more; did you mean local-search?")


@pytest.mark.parametrize("name", ["os:system", "nobody"])
def test_the_command_line_refuses_what_is_no_agent_with_one_line_and_code_2(name, capsys):
    assert main(["lambda-star", "score", "--agent", name, "--episodes", "2"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("sts: ") and err.count("\n") == 1


AGENT = """
class {klass}:
    name = {name!r}
    {more}
    def begin(self, batch, roles):
        return {{}}
    def act(self, observation, instructions, memory, draws):
        return None, memory
"""


def write(folder, module, name="mine", more=""):
    (folder / f"{module}.py").write_text(AGENT.format(klass="Mine", name=name, more=more))
    return f"{module}:Mine"


def test_a_users_class_in_the_current_folder_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert agents.load(write(tmp_path, "users_agent_found")).name == "mine"


@pytest.mark.parametrize(
    ("module", "name", "more", "said"),
    [
        ("users_agent_unnamed", "", "", "needs a name"),
        ("users_agent_slash", "../mine", "", "needs a name"),
        ("users_agent_sees", "mine", "sees = 'everything'", "sees must be"),
    ],
)
def test_a_users_class_that_misstates_itself_is_refused(
    tmp_path, monkeypatch, module, name, more, said
):
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ArgumentError, match=said):
        agents.load(write(tmp_path, module, name, more))


@pytest.mark.parametrize(
    ("name", "more", "said"),
    [
        ("human", "", "reserved for people"),
        ("mine", "draws = -1", "draws must be"),
        ("mine", "draws = 10**12", "draws must be"),
        ("mine", "draws = 'many'", "draws must be"),
        ("mine", "deterministic = 'yes'", "deterministic must be"),
        ("mine", "def __init__(self): 1 / 0", "without arguments: division by zero"),
    ],
)
def test_a_users_class_that_cannot_be_played_is_refused_before_it_is(
    tmp_path, monkeypatch, name, more, said
):
    monkeypatch.syspath_prepend(str(tmp_path))
    module = f"users_agent_{tmp_path.name}"
    with pytest.raises(ArgumentError, match=said):
        agents.load(write(tmp_path, module, name, more))


def test_what_a_users_class_leaves_out_is_as_the_protocol_has_it(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    agent = agents.load(write(tmp_path, "users_agent_short"))
    assert (agent.sees, agent.deterministic, agent.draws) == ("observation", False, 0)


@pytest.mark.parametrize(
    ("module", "text", "said"),
    [
        ("users_module_raises", "1 / 0", "ZeroDivisionError"),
        ("users_module_exits", "raise SystemExit(0)", "SystemExit"),
        ("users_module_syntax", "class", "SyntaxError"),
    ],
)
def test_a_module_that_does_not_import_is_one_line(
    tmp_path, monkeypatch, capsys, module, text, said
):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / f"{module}.py").write_text(text)
    assert main(["lambda-star", "score", "--agent", f"{module}:Mine"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and f"cannot import {module}: {said}" in err
