"""Imports of judgements made elsewhere, also into a workspace that was never served."""

import os
import re
from pathlib import Path

import pytest

from sts.annotations.answers import imports as store_imports
from sts.annotations.answers import progress
from sts.annotations.answers.imports import IMPORT_COLUMNS, ImportResult, Rating, read_ratings
from sts.annotations.answers.matching import match_ratings
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings.export import export_ratings, write_csv
from sts.annotations.people import deal, people, sessions
from sts.annotations.queue import queue
from sts.continuations import continuation_store as continuations
from sts.continuations.run import run
from sts.errors import ArgumentError, DamagedData
from sts.ratings import WRITTEN_COLUMNS
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.suites.suite import Suite
from tests.annotations.examples import (
    SUITE,
    a_submission,
    add_people,
    an_item,
    claim,
    rows,
    some_items,
    statuses,
)
from tests.examples import play_turns, scenarios
from tests.stores import add_person, ask, change, enqueue, submit

HEADER = ",".join(WRITTEN_COLUMNS)
GOOD = "random,s0,go-to-good,c0,Ana,success,7,40"


def a_table(folder: Path, *lines: str, header: str = HEADER) -> Path:
    path = folder / "them.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def bring(store, tmp_path):
    """Import a table of these lines into the store."""

    def import_lines(*lines: str) -> ImportResult:
        table = read_ratings(a_table(tmp_path, *lines))
        return change(store, store_imports.import_ratings, table)

    return import_lines


def test_table_of_other_programs_is_read(tmp_path) -> None:
    path = a_table(
        tmp_path,
        "40,c0, Ana ,success,7.0,x,s,a,3.5,,ignored",
        "",
        "40,c1,,,,x,s,a,,,",
        "40,c2,Bo,not_done,,x,s,a,,,",
        '40,c3,Bo,cannot_judge,,x,s,a,0,"dark,\n""so"" dark",',
        header="horizon,continuation,annotator,verdict,step,agent,scenario,category,seconds,"
        "reason,colour",
    )
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    dark = ("cannot_judge", None, 40, 0.0, 'dark,  "so" dark', "x", "s")
    assert read_ratings(path) == [
        Rating("them.csv, line 2", "c0", "Ana", "success", 7, 40, 3.5, "", "x", "s"),
        Rating("them.csv, line 5", "c2", "Bo", "not_done", None, 40, None, "", "x", "s"),
        Rating("them.csv, line 6", "c3", "Bo", *dark),
    ]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("success", "passed", "expected a verdict .* found 'passed'"),
        ("success", "", "expected a verdict .* found ''"),
        (",7,", ",41,", "expected a step of 1 to 40, .* found '41'"),
        *((",7,", f",{bad},", f"expected a step .* found '{bad}'") for bad in (0, "", 7.5, "inf")),
        ("success", "not_done", "expected no step with not_done, found '7'"),
        (",40", ",0", "expected a horizon of 1 to 2147483647, found '0'"),
        (",40", ",many", "expected a horizon"),
        (",40", ",40,1", "expected 8 cells, found 9"),
        (GOOD, "random", "expected 8 cells, found 1"),
        ("Ana", '"Ana', "not readable as CSV"),
    ],
)
def test_wrong_line_is_named(tmp_path, old, new, words) -> None:
    with pytest.raises(DamagedData, match=f"them.csv, line 3: {words}") as error:
        read_ratings(a_table(tmp_path, GOOD, GOOD.replace(old, new)))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("column", "line", "words"),
    [
        ("source", f"{GOOD},automatic", "only human judgements, found source 'automatic'"),
        ("source", f"{GOOD},model", "only human judgements"),
        ("seconds", f"{GOOD},-1", "expected seconds of 0 or more, found '-1'"),
        *(("seconds", f"{GOOD},{bad}", "expected seconds") for bad in ("nan", "long")),
        (
            *("reason", GOOD.replace("success,7", "cannot_judge,") + "," + "x" * 501),
            "expected a reason of at most 500 .* found 501",
        ),
    ],
)
def test_wrong_optional_cell_is_named(tmp_path, column, line, words) -> None:
    with pytest.raises(DamagedData, match=f"line 2: .*{words}"):
        read_ratings(a_table(tmp_path, line, header=f"{HEADER},{column}"))


def test_condition_of_an_imported_judgement_is_kept_for_its_category(
    store: AnnotationStore, workspace: Workspace, tmp_path: Path
) -> None:
    enqueue(store, [an_item("c0", category="a"), an_item("c1", category="b")], required=2)
    ana, _ = add_people(store, "Ana", "Ben")
    lines = GOOD + ",0", GOOD.replace("c0", "c1") + ","
    table = read_ratings(a_table(tmp_path, *lines, header=f"{HEADER},rubric_shown"))
    assert change(store, store_imports.import_ratings, table).added == 2
    exported = export_ratings(workspace, SUITE).table.set_index("continuation")["rubric_shown"]
    assert exported.to_dict() == {"c0": 0, "c1": 1}
    assert ask(store, deal.load_conditions, ana) == {"a": False, "b": True}
    again = tmp_path / "out.csv"
    write_csv(again, export_ratings(workspace, SUITE).table)
    assert change(store, store_imports.import_ratings, read_ratings(again)).known == 2
    with pytest.raises(DamagedData, match="expected rubric_shown of 0 or 1, found 'no'"):
        read_ratings(a_table(tmp_path, f"{GOOD},no", header=f"{HEADER},rubric_shown"))


@pytest.mark.parametrize("column", IMPORT_COLUMNS)
def test_missing_column_is_named(tmp_path, column) -> None:
    header = HEADER.replace(column, "other")
    with pytest.raises(DamagedData, match=f"line 1: missing column '{column}'; expected agent, "):
        read_ratings(a_table(tmp_path, GOOD, header=header))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "found an empty file"),
        (b" \n\n", "found an empty file"),
        (b"PAR1\x00\x01\xff\xfe", "found a binary file"),
        (b"\xff\xfea\x00", "line 1: missing columns 'agent'"),
        (b"agent,scen\xe9nario\n", "line 1: missing columns 'scenario'"),
        (b"\xef\xbb\xbf", "line 1: missing columns 'agent'"),
    ],
)
def test_file_of_another_kind_is_named(tmp_path, content, words) -> None:
    with pytest.raises(ArgumentError, match="no table at .*them.csv"):
        read_ratings(tmp_path / "them.csv")
    with pytest.raises(DamagedData, match="expected a file, found a folder"):
        read_ratings(tmp_path)
    (tmp_path / "them.csv").write_bytes(content)
    with pytest.raises(DamagedData, match=f"them.csv.*{words}"):
        read_ratings(tmp_path / "them.csv")


def test_repeated_import_changes_nothing(store, bring) -> None:
    enqueue(store, some_items(2), required=2)
    add_person(store, "Ana")
    bos, other = GOOD.replace("Ana", "Bo"), GOOD.replace("c0", "c1").replace("success", "failure")
    assert bring(GOOD, bos, other) == ImportResult(3, 0, ("Bo",))
    assert bring(GOOD, bos, other) == bring(other, bos, GOOD) == ImportResult(0, 3, ())
    assert len(rows(store, "events")) == 3
    assert ask(store, progress.load_progress, SUITE)[:4] == (2, 1, 4, 3)
    ana, bo = ask(store, people.list_people)
    assert (ana.name, bo.name) == ("Ana", "Bo")
    assert ask(store, sessions.people_with_invitation) == {ana.id}


def test_file_imported_again_after_another_is_current_again(store, bring) -> None:
    enqueue(store, some_items(1))
    changed = GOOD.replace(",7,", ",9,")
    added = [bring(line).added for line in (GOOD, changed, GOOD, GOOD, changed, GOOD)]
    assert added == [1, 1, 1, 0, 1, 1]
    ana = ask(store, people.list_people)[0].id
    assert [judgement.step for judgement in ask(store, progress.load_recent_judgements, ana)] == [7]


def test_file_imported_again_keeps_its_annotators_own_correction(store, bring) -> None:
    enqueue(store, some_items(1))
    (ana,) = add_people(store, "Ana")
    (held,) = claim(store, ana)
    bring(GOOD)
    (event,) = ask(store, progress.load_recent_judgements, ana)
    sent = a_submission(held, step=3, corrects=event.uuid)
    assert statuses(submit(store, ana, [sent])) == ["saved"]
    assert bring(GOOD) == ImportResult(0, 1, ())
    assert [one.step for one in ask(store, progress.load_recent_judgements, ana)] == [3]


def test_contradicting_lines_of_one_annotator_are_refused_with_both(store, bring) -> None:
    enqueue(store, some_items(1))
    with pytest.raises(DamagedData, match="line 3: 'Ana' .* failure at step 7 here .*line 2"):
        bring(GOOD, GOOD.replace("success", "failure"))
    assert rows(store, "events") == []
    assert bring(GOOD, GOOD) == ImportResult(1, 0, ("Ana",), 1)


def test_words_and_numbers_of_pandas_are_understood_in_an_import(tmp_path) -> None:
    lines = [GOOD.replace("success,7", word) + ",1.0" for word in ("True,7.0", "0.0,7")]
    first, second = read_ratings(a_table(tmp_path, *lines, header=f"{HEADER},rubric_shown"))
    assert (first.verdict, second.verdict, first.rubric_shown) == ("success", "failure", True)


def test_judgements_beyond_the_required_number_are_extra(workspace, store, bring) -> None:
    enqueue(store, some_items(1))
    bring(GOOD, GOOD.replace("Ana", "Bo"))
    assert list(export_ratings(workspace, SUITE, names=True).table["extra"]) == [0, 1]


def test_file_with_one_wrong_line_is_not_imported(store, bring) -> None:
    enqueue(store, [*some_items(1), an_item("mine", players=("annotator-0000aa",))])
    for line, words in (
        (GOOD.replace("c0", "c9"), "continuation 'c9' is neither in this workspace nor in"),
        (GOOD.replace(",40", ",30"), "expected the horizon 40 of .* found 30"),
        (
            GOOD.replace("c0", "mine").replace("Ana", "annotator-0000aa"),
            "'annotator-0000aa' played continuation 'mine' and may not judge it",
        ),
        (GOOD.replace("Ana", "A\tna"), "annotator: expected a name of 1 to 64"),
        (GOOD.replace("Ana", ""), "annotator: expected a name of 1 to 64"),
    ):
        with pytest.raises(DamagedData, match=f"them.csv, line 3: {words}"):
            bring(GOOD, line)
    assert rows(store, "events") == [] and ask(store, people.list_people) == []


def test_own_export_read_back_changes_nothing(workspace, store, bring, tmp_path) -> None:
    enqueue(store, [*some_items(4)[1:], *some_items(1, auto_resolve_rule="silence")], required=2)
    (ana,) = add_people(store, "Ana")
    claims = claim(store, ana)
    sent = [a_submission(one, step=i + 1) for i, one in enumerate(claims)]
    sent.append(a_submission(claims[0], verdict="not_done", step=None))
    assert statuses(submit(store, ana, sent)) == ["saved"] * 4
    bring(GOOD.replace("Ana", "Bo").replace("c0", "c1"))
    here = {one.name: one.pseudonym for one in ask(store, people.list_people)}
    for names in (False, True):
        write_csv(tmp_path / "r.csv", export_ratings(workspace, SUITE, names=names).table)
        found = read_ratings(tmp_path / "r.csv")
        assert {one.annotator for one in found} == set(here if names else here.values())
        assert change(store, store_imports.import_ratings, found) == ImportResult(0, 4, ())
    assert {one.name for one in ask(store, people.list_people)} == {"Ana", "Bo"}


def test_export_of_one_study_can_be_imported_into_another(workspace, store, bring, tmp_path):
    enqueue(store, some_items(2), required=2)
    bring(GOOD, GOOD.replace("c0", "c1").replace("success,7", "not_done,"))
    original = read_ratings(tmp_path / "them.csv")
    write_csv(tmp_path / "r.csv", export_ratings(workspace, SUITE, names=True).table)
    assert [one[1:6] for one in read_ratings(tmp_path / "r.csv")] == [one[1:6] for one in original]
    name = "annotator-c0ffee"
    assert bring(GOOD.replace("Ana", name)) == ImportResult(1, 0, (name,))
    assert ask(store, people.list_people)[-1].pseudonym == name


INDEXED = "agent,scenario,continuation,annotator,verdict,step"


@pytest.fixture
def unserved(sqlite_workspace) -> Workspace:
    """A workspace of two suites that share their first scenario, run and never served."""
    workspace = sqlite_workspace.create()
    both = tuple(scenarios(2))
    for version, kept in ((1, both[:1]), (2, both)):
        suite = Suite("small", version, None, "", kept, {})
        suites.write(workspace.path("suites", "small", str(version)), suite)
    run(workspace, both, ["random"], count=2, seed=0, workers=1, progress=lambda done, total: None)
    return workspace


@pytest.fixture
def import_lines(unserved, sts):
    """Import a table into the unserved workspace by the command; return what it prints."""

    def type_import(*lines: str, header: str = INDEXED, code: int = 0) -> str:
        path = a_table(unserved.root, *lines, header=header)
        return str(sts(unserved, f"annotations import {path}", code))

    return type_import


def test_import_by_index_fills_a_workspace_that_was_never_served(unserved, import_lines) -> None:
    made = continuations.load(unserved, {one.hash for one in scenarios(2)})
    own = [one for one in made if one.scenario_id == "clean-take-01"]
    first, second = sorted(own, key=lambda one: one.identity.index)
    lines = [
        "random,clean-take-01,0,Ana, Success ,3",
        f"random,clean-take-01,{second.id},Ana,NOT_DONE,",
        "random,clean-take-02,1,Ana,cannot_judge,",
    ]
    said = import_lines(*lines)
    assert said == "3 judgements added, 0 were there already; new annotators: Ana\n"
    assert import_lines(*lines) == "0 judgements added, 3 were there already\n"
    table = export_ratings(unserved, "small@1").table.set_index("continuation")
    assert table["verdict"].to_dict() == {first.id: "success", second.id: "not_done"}
    table = export_ratings(unserved, "small@2").table
    assert (len(table), set(table["horizon"])) == (3, {8})
    trajectories = {s.id: s.trajectory for s in scenarios(2)}
    for suite in ("small@2", None):
        exported = export_ratings(unserved, suite).table.set_index("scenario")["trajectory"]
        assert exported.to_dict() == trajectories
    with AnnotationStore.open(unserved) as opened:
        assert ask(opened, progress.load_progress, "small@2")[:5] == (3, 3, 3, 3, 1)
        assert ask(opened, progress.load_progress, "small@1")[:5] == (2, 2, 2, 2, 0)


def test_line_that_matches_no_or_several_continuations_stops_the_import(
    unserved, import_lines, sts
) -> None:
    player = "annotator-0000aa"
    played = play_turns(scenarios(2)[0], [(4, 0)] * scenarios(2)[0].horizon, player)
    continuations.save(unserved, [played])
    good = "random,clean-take-01,0,Ana,success,3"
    for lines, header, expected in (
        (
            [good, "random,clean-take-01,2,Ana,success,3"],
            INDEXED,
            "line 3: continuation '2' of agent 'random' in scenario 'clean-take-01' is not in this",
        ),
        (
            ["random,clean-take-01,Ana,success,3"],
            "agent,scenario,annotator,verdict,step",
            "line 2: expected one continuation of agent 'random' in scenario .* found 2; give its",
        ),
        ([good[:-1] + "9"], INDEXED, "line 2: expected a step of 1 to 8"),
        ([good.replace("Ana", "")], INDEXED, "annotator: expected a name of 1 to 64"),
        (["ran\u202edom,s,0,Ana,success,2"], INDEXED, "line 2: agent: expected a name"),
        (["random,s,0,Ana,success,2147483648"], INDEXED, "line 2: expected a step of 1 to 2147"),
        (
            [good.replace("random", "human").replace("Ana", player)],
            INDEXED,
            f"'{player}' played continuation",
        ),
    ):
        assert re.search(expected, import_lines(*lines, header=header, code=1))
    os.mkfifo(unserved.path("pipe.csv"))
    words = f"annotations import {unserved.path('pipe.csv')}"
    assert "expected a file, found a named pipe" in sts(unserved, words, 1)
    with AnnotationStore.open(unserved) as opened:
        assert ask(opened, queue.list_suites) == [] and ask(opened, people.list_people) == []
    bens = good.replace("random", "human").replace("Ana", "Ben")
    assert import_lines(bens).startswith("1 judgement added")


def test_agent_and_scenario_identify_a_single_continuation() -> None:
    rating = Rating("t, line 2", "", "Ana", "not_done", None, None, None, "", "random", "s0")
    item = an_item("c7", scenario="s0")
    (found,), additions = match_ratings([rating], (), [(item, 0)])
    assert (found.continuation, additions) == ("c7", [item])
    both = [(item, 0), (an_item("c8", scenario="s0"), 0)]
    with pytest.raises(DamagedData, match="found 2; give its identity"):
        match_ratings([rating._replace(continuation="0")], (), both)


def test_formulas_are_escaped_in_an_export_and_read_back(unserved, import_lines, sts) -> None:
    line = "random,clean-take-01,0,=1+1,cannot_judge,,@SUM(A1)"
    assert import_lines(line, header=f"{INDEXED},reason").endswith("new annotators: =1+1\n")
    out = unserved.path("out.csv")
    sts(unserved, f"annotations export --out {out} --real-names")
    assert ",'=1+1,cannot_judge," in out.read_text() and ",'@SUM(A1)," in out.read_text()
    said = sts(unserved, f"annotations import {out}")
    assert said == "0 judgements added, 1 were there already\n"
    with AnnotationStore.open(unserved) as opened:
        assert [one.name for one in ask(opened, people.list_people)] == ["=1+1"]
