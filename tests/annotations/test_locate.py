"""Judgements made elsewhere come into a workspace that nobody served, by an index from 0."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from sts.annotations import people, queue, views
from sts.annotations.export import load_ratings
from sts.annotations.imports import Rating
from sts.annotations.locate import match_ratings
from sts.annotations.store import Store
from sts.cli.main import main
from sts.continuations import store
from sts.continuations.run import run
from sts.continuations.types import Continuation
from sts.errors import DamagedData
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.types import Suite
from tests.annotations.examples import an_item
from tests.examples import played, scenarios
from tests.stores import ask

HEADER = "agent,scenario,continuation,annotator,verdict,step"
Output = pytest.CaptureFixture[str]


@pytest.fixture
def unserved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A workspace of two suites that share their first scenario, run and never served."""
    monkeypatch.delenv("STS_DATABASE_URL", raising=False)
    workspace = Workspace.open(str(tmp_path / "w")).ensure()
    both = tuple(scenarios(2))
    for version, kept in ((1, both[:1]), (2, both)):
        suite = Suite("small", version, None, "", kept, {})
        suites.write(workspace.path("suites", "small", str(version)), suite)
    options: dict[str, Any] = {
        "count": 2,
        "seed": 0,
        "workers": 1,
        "progress": lambda done, total: None,
    }
    run(workspace, both, ["random"], **options)
    return workspace


def brought(workspace: Workspace, capsys: Output, *lines: str, header: str = HEADER) -> str:
    """Import a table; return what was said."""
    path = workspace.path("them.csv")
    path.write_text("\n".join([header, *lines]) + "\n")
    code = main(["annotations", "import", str(path), "--workspace", str(workspace.root)])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "") or (out, err.count("\n")) == ("", 1)
    return str(out or err)


def made(workspace: Workspace) -> list[Continuation]:
    return store.load(workspace, {one.hash for one in scenarios(2)})


def test_a_workspace_that_was_never_served_takes_judgements_in(
    unserved: Workspace, capsys: Output
) -> None:
    own = [one for one in made(unserved) if one.scenario_id == "clean-take-01"]
    first, second = sorted(own, key=lambda one: one.identity.index)
    said = brought(
        unserved,
        capsys,
        "random,clean-take-01,0,Ana, Success ,3",
        f"random,clean-take-01,{second.id},Ana,NOT_DONE,",
        "random,clean-take-02,1,Ana,cannot_judge,",
    )
    assert said == "3 judgements added, 0 were there already; new annotators: Ana\n"
    table = load_ratings(unserved, "small@1").set_index("continuation")
    assert table["verdict"].to_dict() == {first.id: "success", second.id: "not_done"}
    table = load_ratings(unserved, "small@2")
    assert (len(table), set(table["horizon"])) == (3, {8})
    with Store.open(unserved) as opened:
        assert ask(opened, views.progress, "small@2")[:5] == (3, 3, 3, 3, 1)
        assert ask(opened, views.progress, "small@1")[:5] == (2, 2, 2, 2, 0)


def test_repeating_an_import_by_index_changes_nothing(unserved: Workspace, capsys: Output) -> None:
    line = "random,clean-take-01,1,Ana,failure,2"
    assert brought(unserved, capsys, line).startswith("1 judgements added")
    assert brought(unserved, capsys, line) == "0 judgements added, 1 were there already\n"


@pytest.mark.parametrize(
    ("lines", "header", "expected"),
    [
        (
            ["random,clean-take-01,0,Ana,success,3", "random,clean-take-01,2,Ana,success,3"],
            HEADER,
            "line 3: continuation '2' of agent 'random' in scenario 'clean-take-01' is not in this",
        ),
        (
            ["random,clean-take-01,Ana,success,3"],
            "agent,scenario,annotator,verdict,step",
            "line 2: expected one continuation of agent 'random' in scenario .* found 2; give its",
        ),
        (["random,clean-take-01,0,Ana,success,9"], HEADER, "line 2: expected a step of 1 to 8"),
        (["random,clean-take-01,0,Ana,success,"], HEADER, "line 2: expected a step of 1 to"),
        (["random,clean-take-01,0,,success,2"], HEADER, "annotator: expected a name of 1 to 64"),
        (["random,clean-take-01,success"], "agent,scenario,verdict", "missing column 'annotator'"),
        (["ran\u202edom,s,0,Ana,success,2"], HEADER, "line 2: agent: expected a name"),
        (["random,s,0,Ana,success,2147483648"], HEADER, "line 2: expected a step of 1 to 2147"),
    ],
)
def test_a_line_that_names_none_or_several_keeps_the_whole_file_out(
    unserved: Workspace, capsys: Output, lines: list[str], header: str, expected: str
) -> None:

    assert re.search(expected, brought(unserved, capsys, *lines, header=header))
    with Store.open(unserved) as opened:
        assert ask(opened, queue.suites) == [] and ask(opened, people.everybody) == []


def test_agent_and_scenario_are_enough_where_they_have_one_continuation() -> None:
    rating = Rating("t, line 2", "", "Ana", "not_done", None, None, None, "", "random", "s0")
    item = an_item("c7", scenario="s0")
    (found,), additions = match_ratings([rating], (), [(item, 0)])
    assert (found.continuation, additions) == ("c7", [item])
    with pytest.raises(DamagedData, match="found 2; give its identity"):
        match_ratings(
            [rating._replace(continuation="0")], (), [(item, 0), (an_item("c8", scenario="s0"), 0)]
        )


def test_nobody_judges_what_they_played_in_a_workspace_never_served(
    unserved: Workspace, capsys: Output
) -> None:
    (one, *_) = scenarios(2)
    turns = [(4, 0)] * one.horizon
    played(one, turns, "Ana").finish(unserved, seconds=1.0)
    assert "'Ana' played continuation" in brought(
        unserved, capsys, "human,clean-take-01,0,Ana,success,3"
    )
    said = brought(unserved, capsys, "human,clean-take-01,0,Ben,success,3")
    assert said.startswith("1 judgements added")


def test_a_pipe_in_place_of_a_table_is_not_waited_for(unserved: Workspace, capsys: Output) -> None:
    os.mkfifo(unserved.path("pipe.csv"))
    words = ["annotations", "import", str(unserved.path("pipe.csv"))]
    assert main([*words, "--workspace", str(unserved.root)]) == 1
    assert "expected a file, found a named pipe" in capsys.readouterr().err


def test_what_is_written_runs_in_no_spreadsheet_and_reads_back(
    unserved: Workspace, capsys: Output
) -> None:
    line = "random,clean-take-01,0,=1+1,cannot_judge,,@SUM(A1)"
    said = brought(unserved, capsys, line, header=f"{HEADER},reason")
    assert said.endswith("new annotators: =1+1\n")
    out = unserved.path("out.csv")
    words = [
        "annotations",
        "export",
        "--out",
        str(out),
        "--names",
        "--workspace",
        str(unserved.root),
    ]
    assert main(words) == 0
    assert ",'=1+1,cannot_judge," in out.read_text() and ",'@SUM(A1)," in out.read_text()
    capsys.readouterr()
    assert main(["annotations", "import", str(out), "--workspace", str(unserved.root)]) == 0
    assert capsys.readouterr().out == "0 judgements added, 1 were there already\n"
    with Store.open(unserved) as opened:
        assert [one.name for one in ask(opened, people.everybody)] == ["=1+1"]
