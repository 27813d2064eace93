"""Filters and miners restrict where a category asks, and run nothing else."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sts.errors import ArgumentError, MissingExtra
from sts.storage.workspace import Workspace
from sts.trajectories import steps
from sts.trajectories import trajectory_store as store
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.mining import filters, miners
from sts_scenarios.mining.filters import check_filter, evaluate_filter, restrict_to_filter
from sts_scenarios.rules import categories
from tests.examples import recorded
from tests.mined import mine
from tests.scenarios.curating import Curation, candidates

OWN = """
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Candidate

SHADOW = categories.load_category("shadow-evil")
NUMBER = 3

def second(trajectory):
    return [one for one in SHADOW.find_candidates(trajectory) if one.player == 1]

def falls(trajectory):
    raise RuntimeError("out of order")

numbers = lambda trajectory: [3]
nothing = lambda trajectory: ()
early = lambda trajectory: [Candidate(2, 0, "easy", {"steps": 4})]
nobody = lambda trajectory: [Candidate(12, 9, "easy", {"steps": 4})]
odd = lambda trajectory: [Candidate(12, 0, "odd", {"steps": 4})]
speechless = lambda trajectory: [Candidate(12, 0, "easy", {"steps": 4})]
"""


@pytest.fixture(scope="module")
def trajectories() -> list[Trajectory]:
    return recorded("random", count=60, team=2, steps=40, height=8, width=9, seed=5)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory, trajectories) -> Workspace:
    workspace = Workspace.open(str(tmp_path_factory.mktemp("where") / "w"))
    store.save(workspace, trajectories)
    return workspace


@pytest.fixture
def run(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> Curation:
    return Curation(workspace.root, capsys)


@pytest.fixture
def custom_miners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "own_miners.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    sys.modules.pop("own_miners", None)


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
def test_filter_selects_the_rows_that_it_describes(trajectories, text, column, holds):
    t = trajectories[1]
    expected = [bool(holds(v)) for v in steps.make_step_table(t, (column,))[column].tolist()]
    assert evaluate_filter(text, t).ravel().tolist() == expected
    assert 0 < sum(expected) < len(expected)


def test_filtered_candidates_match_and_record_their_filter(run, trajectories):
    text = "good_seen_ago between 1 and 3 and not evil_in_sight"
    asked = "--category when-evil --category where-was-evil --category find-good-again"
    run(f'mine lost --where "{text}" --per-category 2 {asked}')
    whole, every = {t.id: t for t in trajectories}, candidates(run.workspace, "lost")
    assert {s.category for s in every} >= {"when-evil", "where-was-evil"}
    for s in every:
        t = whole[s.trajectory]
        at = s.players[0] * t.episode.steps + s.step
        columns = steps.make_step_table(t, ("good_seen_ago", "evil_in_sight"))
        assert 1 <= columns["good_seen_ago"][at] <= 3 and not columns["evil_in_sight"][at]
        rule = {"where": text, "columns": {"steps": 2, "lambda-star": 1}}
        assert s.provenance["chosen_by"] == rule


QUERIES = [
    ("step > (select vm from read_csv('/etc/hostname'))", "vm is not a column"),
    ("step in (select step from self)", "select is not a column"),
    ("read_parquet('x') = step", "read_parquet is not allowed as a function"),
    ("step > 1; drop", "';' is not allowed in a filter"),
]
"""Queries that must be refused before Polars reads them."""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *QUERIES[1:],
        ("good > 1", "good is not a column"),
        ("1 = 1", "it uses no column"),
        ("", "expected one line of 1 to 1000"),
        ("step > 1\n", "expected one line"),
        ("step > (select max(a) from self)", "max is not allowed as a function"),
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
def test_invalid_filter_error_lists_the_columns(run, text, said):
    error = run("mine", "none", "--where", text, code=2)
    assert said in error and "; columns are step, steps, player, n_players, kind" in error
    assert error.endswith("good_moved, evil_moved")
    assert not run.exists("none")


@pytest.mark.parametrize("text", [text for text, _ in QUERIES])
def test_query_is_refused_before_polars_reads_it(run, monkeypatch, text):
    def read(text: str) -> None:
        raise AssertionError("it was read")

    monkeypatch.setattr("polars.sql_expr", read)
    run("mine", "none", "--where", text, code=2)


def test_length_of_a_filter_error_does_not_grow_with_the_filter(trajectories):
    said = []
    for count in (20, 90):
        with pytest.raises(ArgumentError) as error:
            check_filter(", ".join(["step > 1"] * count), trajectories[0])
        said.append(len(str(error.value)))
    assert said[0] == said[1]


def test_filter_that_matches_nothing_writes_nothing(run):
    error = run("mine", "none", "--where", "good_distance > 100", code=1)
    assert "nothing to mine" in error and "a filter or a miner that leaves some steps" in error
    assert not run.exists("none")


def test_filter_that_fails_in_a_recording_names_it(trajectories, monkeypatch):
    table = steps.make_step_table

    def words(t: Trajectory, names: Any) -> Any:
        return {name: one.astype(str) for name, one in table(t, names).items()}

    where = restrict_to_filter(categories.load_category("shadow-evil"), "step > 12")
    assert where.find_candidates(trajectories[0])
    monkeypatch.setattr(steps, "make_step_table", words)
    with pytest.raises(ArgumentError, match=f"in trajectory {trajectories[1].id}: cannot compare"):
        where.find_candidates(trajectories[1])


def test_filter_without_polars_names_the_extra_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra):
        filters._import_polars()
    said = run("mine", "none", "--where", "step > 12", code=1)
    assert "pip install 'standardised-test-suite[filter]'" in said
    run("mine plain --category shadow-evil")


def test_custom_miner_chooses_where_its_category_asks(run, custom_miners):
    run("mine second --category shadow-evil --miner own_miners:second --per-category 4")
    every = candidates(run.workspace, "second")
    assert {s.players for s in every} == {(1,)} and len(every) == 4
    for s in every:
        assert s.provenance["chosen_by"]["miner"] == "own_miners:second"
        assert len(s.provenance["chosen_by"]["code"]) == 16


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("own_miners:falls", 1, "failed in trajectory .*: RuntimeError: out of order"),
        ("own_miners:numbers", 1, "expected a Candidate, found '3'"),
        ("own_miners:early", 1, "expected a takeover from 10 to 28, found 2"),
        ("own_miners:nobody", 1, "expected a player from 0 to 1, found 9"),
        ("own_miners:odd", 1, "expected easy, medium, hard, found 'odd'"),
        ("own_miners:speechless", 1, "its parameters or words do not match shadow-evil"),
        ("own_miners:nothing", 1, "nothing to mine .*a filter or a miner that leaves some"),
        ("own_miners:NUMBER", 2, "expected a function that takes a trajectory, found int"),
        ("own_miners:none", 2, "module own_miners has no none"),
        ("no_such_module:x", 2, "cannot import no_such_module"),
        ("second", 2, "expected miner as module:Name, found 'second'"),
    ],
)
def test_invalid_miner_is_refused_and_writes_nothing(run, custom_miners, name, code, said):
    error = run(f"mine none --category shadow-evil --miner {name}", code=code)
    assert re.search(said, error)
    assert not run.exists("none")


def test_miner_without_its_category_is_refused(run, custom_miners):
    said = run("mine none --miner own_miners:second", code=2)
    assert "expected one --category with --miner, which yields its candidates, found 0" in said


def test_filter_and_miner_keep_the_choice_independent_of_order(trajectories, custom_miners):
    shadow = categories.load_category("shadow-evil")
    mined = miners.use_miner(shadow, "second", miners.load_miner("own_miners:second"))
    for category in (restrict_to_filter(one, "step < 25") for one in (shadow, mined)):
        one, other = (
            mine(order, [category], per_category=4, seed=2).scenarios
            for order in (trajectories, trajectories[::-1])
        )
        assert [s.row_hash for s in one] == [s.row_hash for s in other] != []
        assert all(s.step < 25 for s in one)
