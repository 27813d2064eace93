"""Filters and miners: where a category asks is said by whoever mines, and by nothing that runs."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sts.cli.main import main
from sts.errors import ArgumentError, MissingExtra
from sts.storage.workspace import Workspace
from sts.suites.drafts import open_draft
from sts.trajectories import steps, store
from sts.trajectories.types import Trajectory
from sts_scenarios import categories, mining
from sts_scenarios.mining import filters, miners
from sts_scenarios.mining.filters import Filter
from tests.examples import recorded

OWN = """
from dataclasses import replace

from sts_scenarios import categories
from sts_scenarios.category import Candidate

SHADOW = categories.named("shadow-evil")

def second(trajectory):
    for one in SHADOW.moments(trajectory):
        if one.role == 1:
            yield one

def falls(trajectory):
    raise RuntimeError("out of order")

def numbers(trajectory):
    return [3]

def early(trajectory):
    yield Candidate(2, 0, "easy", {"steps": 4})

def nobody(trajectory):
    yield Candidate(12, 9, "easy", {"steps": 4})

def odd(trajectory):
    yield Candidate(12, 0, "odd", {"steps": 4})

def speechless(trajectory):
    yield Candidate(12, 0, "easy", {"steps": 4})

def nothing(trajectory):
    return ()

NUMBER = 3
"""


@pytest.fixture(scope="module")
def trajectories() -> list[Trajectory]:
    return recorded("random", count=60, team=2, steps=40, height=8, width=9, seed=5)


@pytest.fixture(scope="module")
def workspace(
    tmp_path_factory: pytest.TempPathFactory, trajectories: list[Trajectory]
) -> Workspace:
    workspace = Workspace.open(str(tmp_path_factory.mktemp("where") / "w"))
    store.save(workspace, trajectories)
    return workspace


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "own_miners.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    sys.modules.pop("own_miners", None)


def sts(workspace: Workspace, *words: str) -> int:
    return main([*words, "--workspace", str(workspace.root)])


def row(trajectory: Trajectory, role: int, step: int) -> dict[str, Any]:
    names = steps.column_names(trajectory).names
    at = role * trajectory.episode.steps + step
    return {name: one[at] for name, one in steps.table(trajectory, names).items()}


@pytest.mark.parametrize(
    ("text", "column", "holds"),
    [
        ("good_seen_ago between 2 and 5", "good_seen_ago", lambda v: 2 <= v <= 5),
        ("NOT good_in_sight", "good_in_sight", lambda v: not v),
        ("action in ('up', 'down-left')", "action", lambda v: v in ("up", "down-left")),
        ("abs(column - 4) >= 3", "column", lambda v: abs(v - 4) >= 3),
        ("last_action is null", "last_action", lambda v: v is None),
        ("action like 'up%'", "action", lambda v: v.startswith("up")),
        ("good_seen_ago > 1 or step < 0", "good_seen_ago", lambda v: v > 1),
    ],
)
def test_a_filter_holds_where_its_row_says_so(
    trajectories: list[Trajectory], text: str, column: str, holds: Any
) -> None:
    t = trajectories[1]
    expected = [bool(holds(v)) for v in steps.table(t, (column,))[column].tolist()]
    assert Filter(text).evaluate(t).ravel().tolist() == expected
    assert 0 < sum(expected) < len(expected)


def test_what_is_mined_by_a_filter_fits_it_and_says_so(
    workspace: Workspace, trajectories: list[Trajectory], capsys: pytest.CaptureFixture[str]
) -> None:
    text = "good_seen_ago between 1 and 3 and not evil_in_sight"
    asked = (
        "--category",
        "when-evil",
        "--category",
        "where-was-evil",
        "--category",
        "find-good-again",
    )
    assert sts(workspace, "mine", "lost", "--where", text, "--per-category", "2", *asked) == 0
    draft, whole = open_draft(workspace, "lost"), {t.id: t for t in trajectories}
    every = [draft.candidate(id) for id in draft.ids()]
    assert {s.category for s in every} >= {"when-evil", "where-was-evil"}
    for s in every:
        one = row(whole[s.trajectory], s.roles[0], s.context_start + s.takeover)
        assert 1 <= one["good_seen_ago"] <= 3 and not one["evil_in_sight"]
        rule = {"where": text, "columns": {"steps": 1, "lambda-star": 1}}
        assert s.provenance["chosen_by"] == rule


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("good > 1", "good is not a column"),
        ("1 = 1", "it uses no column"),
        ("", "expected one line of 1 to 1000"),
        ("step > 1\n", "expected one line"),
        ("step > 1; drop", "';' is not allowed in a filter"),
        ("step in (select step from self)", "select is not a column"),
        (
            "step > (select max(a) from read_csv('/etc/hostname'))",
            "max is not allowed as a function",
        ),
        ("read_csv('/etc/hostname') = step", "read_csv is not allowed as a function"),
        ("max(step) > 3", "max is not allowed as a function"),
        ("row_number() over (order by step) > 3", "row_number is not allowed as a function"),
        ("columns('s.*') > 3", "columns is not allowed as a function"),
        ("step > 3 -- moved", "'-' is not allowed in a filter"),
        ("step > 3 /* moved */", "'/' is not allowed in a filter"),
        ("__import__('os')", "__import__ is not allowed as a function"),
        ("step.real > 3", "'.' is not allowed in a filter"),
        ("step", "expected a Boolean for each step, found Int64"),
        ("moved evil_moved", "unable to parse"),
        ("moved) or (moved", "expected balanced parentheses"),
        ("(" * 30 + "moved" + ")" * 30, "nested at most 20 deep"),
        ("total_reward > 'x'", "cannot compare string with numeric"),
        ("step > $$x$$", "'$' is not allowed in a filter"),
        ('"no such" > 3', "no such is not a column"),
        ("step > '", '"\'" is not allowed in a filter'),
        ("greatest( ) > step", "greatest is called without an argument"),
    ],
)
def test_a_filter_that_is_none_is_one_line_that_names_the_columns(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    assert sts(workspace, "mine", "none", "--where", text) == 2
    error = capsys.readouterr().err
    assert said in error and "; columns are step, steps, role" in error
    assert error.rstrip("\n").endswith("good_moved, evil_moved")
    assert error.count("\n") == 1
    assert not workspace.path("drafts", "none").exists()


def test_what_is_said_of_a_filter_is_no_longer_for_a_longer_one(
    trajectories: list[Trajectory],
) -> None:
    said = []
    for count in (20, 90):
        with pytest.raises(ArgumentError) as error:
            Filter(", ".join(["step > 1"] * count)).check(trajectories[0])
        said.append(len(str(error.value)))
    assert said[0] == said[1]


@pytest.mark.parametrize(
    "text",
    [
        "step > (select vm from read_csv('/etc/hostname'))",
        "step in (select step from self)",
        "read_parquet('x') = step",
        "step > 1; drop",
    ],
)
def test_polars_is_not_asked_about_what_is_in_no_filter(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    def read(text: str) -> None:
        raise AssertionError("it was read")

    monkeypatch.setattr("polars.sql_expr", read)
    assert sts(workspace, "mine", "none", "--where", text) == 2


def test_a_filter_that_leaves_nothing_is_one_line_and_writes_nothing(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sts(workspace, "mine", "none", "--where", "good_distance > 100") == 1
    error = capsys.readouterr().err
    assert "nothing to mine" in error and "a filter or a miner that leaves some steps" in error
    assert error.count("\n") == 1
    assert not workspace.path("drafts", "none").exists()


def test_a_filter_that_fails_in_one_recording_names_it(
    trajectories: list[Trajectory], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = steps.table

    def of_words(t: Trajectory, names: Any) -> Any:
        return {name: one.astype(str) for name, one in table(t, names).items()}

    where = Filter("step > 12").restrict(categories.named("shadow-evil"))
    assert where.moments(trajectories[0])
    monkeypatch.setattr(steps, "table", of_words)
    with pytest.raises(ArgumentError, match=f"in trajectory {trajectories[1].id}: cannot compare"):
        where.moments(trajectories[1])


def test_without_polars_a_filter_says_how_to_get_it(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra):
        filters._import_polars()
    assert sts(workspace, "mine", "none", "--where", "step > 12") == 1
    assert "pip install 'standardised-test-suite[filter]'" in capsys.readouterr().err
    assert sts(workspace, "mine", "plain", "--category", "shadow-evil") == 0


def test_a_miner_of_ones_own_says_where_a_category_asks(
    workspace: Workspace, own: None, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--category", "shadow-evil", "--miner", "own_miners:second", "--per-category", "4")
    assert sts(workspace, "mine", "second", *words) == 0
    draft = open_draft(workspace, "second")
    every = [draft.candidate(id) for id in draft.ids()]
    assert {s.roles for s in every} == {(1,)}
    assert len(every) == 4
    for s in every:
        assert s.provenance["chosen_by"]["miner"] == "own_miners:second"
        assert len(s.provenance["chosen_by"]["code"]) == 16


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("own_miners:falls", "failed in trajectory .*: RuntimeError: out of order"),
        ("own_miners:numbers", "expected a Candidate, found '3'"),
        ("own_miners:early", "expected a moment from 10 to 28, found 2"),
        ("own_miners:nobody", "expected a role from 0 to 1, found 9"),
        ("own_miners:odd", "expected easy, medium, hard, found 'odd'"),
        ("own_miners:speechless", "its parameters or words do not match shadow-evil"),
        ("own_miners:nothing", "nothing to mine .*a filter or a miner that leaves some"),
        ("own_miners:NUMBER", "expected a function that takes a trajectory, found int"),
        ("own_miners:none", "module own_miners has no none"),
        ("no_such_module:x", "cannot import no_such_module"),
        ("second", "expected miner as module:Name, found 'second'"),
    ],
)
def test_whatever_a_miner_does_wrong_is_one_line_and_writes_nothing(
    workspace: Workspace,
    own: None,
    capsys: pytest.CaptureFixture[str],
    name: str,
    said: str,
) -> None:
    assert sts(workspace, "mine", "none", "--category", "shadow-evil", "--miner", name) in (1, 2)
    error = capsys.readouterr().err
    assert re.search(said, error)
    assert error.count("\n") == 1
    assert not workspace.path("drafts", "none").exists()


def test_a_miner_without_its_category_is_refused(
    workspace: Workspace, own: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sts(workspace, "mine", "none", "--miner", "own_miners:second") == 2
    assert (
        "expected one --category with --miner, which yields its candidates, found 0"
        in capsys.readouterr().err
    )


def test_a_filter_and_a_miner_leave_the_choice_the_same_for_the_same_seed(
    trajectories: list[Trajectory], own: None
) -> None:
    shadow = categories.named("shadow-evil")
    own_shadow = miners.use_miner(shadow, "second", miners.load_miner("own_miners:second"))
    narrow = [Filter("step < 25").restrict(one) for one in (shadow, own_shadow)]
    for category in narrow:
        both = [
            mining.mine(order, [category], per_category=4, seed=2).scenarios
            for order in (trajectories, trajectories[::-1])
        ]
        assert [s.row_hash for s in both[0]] == [s.row_hash for s in both[1]] != []
        assert all(s.context_start + s.takeover < 25 for s in both[0])
