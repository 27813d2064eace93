from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import func, select

from sts.annotations import imports, people, sessions, views
from sts.annotations.export import load_ratings, write_csv
from sts.annotations.imports import REQUIRED_COLUMNS, ImportResult, Rating, read_csv
from sts.annotations.schema import events
from sts.annotations.store import Store
from sts.errors import ArgumentError, DamagedData
from sts.ratings import WRITTEN
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, Clock, a_submission, an_item, some_items, statuses
from tests.stores import add_person, ask, change, claim_items, enqueue, submit

HEADER = ",".join(WRITTEN)
GOOD = "random,s0,go-to-good,c0,Ana,success,7,40"


def a_table(tmp_path: Path, *lines: str, header: str = HEADER) -> Path:
    path = tmp_path / "them.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def count_events(store: Store) -> int:
    with store.database.read() as connection:
        return connection.execute(select(func.count()).select_from(events)).scalar_one()


def test_a_table_of_other_programs_is_read(tmp_path: Path) -> None:
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
    assert read_csv(path) == [
        Rating("them.csv, line 2", "c0", "Ana", "success", 7, 40, 3.5, "", "x", "s"),
        Rating("them.csv, line 5", "c2", "Bo", "not_done", None, 40, None, "", "x", "s"),
        Rating(
            *("them.csv, line 6", "c3", "Bo", "cannot_judge", None, 40, 0.0),
            *('dark,  "so" dark', "x", "s"),
        ),
    ]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (GOOD.replace("success", "passed"), "line 3: expected a verdict .* found 'passed'"),
        (GOOD.replace("success", ""), "line 3: expected a verdict .* found ''"),
        (GOOD.replace(",7,", ",41,"), "line 3: expected a step of 1 to 40, .* found '41'"),
        (GOOD.replace(",7,", ",0,"), "line 3: expected a step .* found '0'"),
        (GOOD.replace(",7,", ",,"), "line 3: expected a step .* found ''"),
        (GOOD.replace(",7,", ",7.5,"), "line 3: expected a step .* found '7.5'"),
        (GOOD.replace(",7,", ",inf,"), "line 3: expected a step .* found 'inf'"),
        (GOOD.replace("success", "not_done"), "line 3: expected no step with not_done, found '7'"),
        (GOOD.replace(",40", ",0"), "line 3: expected a horizon of 1 to 2147483647, found '0'"),
        (GOOD.replace(",40", ",many"), "line 3: expected a horizon"),
        (GOOD + ",1", "line 3: expected 8 cells, found 9"),
        ("random", "line 3: expected 8 cells, found 1"),
        (GOOD.replace("Ana", '"Ana'), "line 3: not readable as CSV"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(DamagedData, match=f"them.csv, {words}") as error:
        read_csv(a_table(tmp_path, GOOD, line))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("column", "cell", "words"),
    [
        ("source", "automatic", "only human judgements, found source 'automatic'"),
        ("source", "model", "only human judgements"),
        ("seconds", "-1", "expected seconds of 0 or more, found '-1'"),
        ("seconds", "nan", "expected seconds"),
        ("seconds", "long", "expected seconds"),
    ],
)
def test_a_wrong_optional_cell_is_named(tmp_path: Path, column: str, cell: str, words: str) -> None:
    with pytest.raises(DamagedData, match=f"line 2: .*{words}"):
        read_csv(a_table(tmp_path, f"{GOOD},{cell}", header=f"{HEADER},{column}"))


def test_a_reason_too_long_for_the_store_is_named(tmp_path: Path) -> None:
    line = GOOD.replace("success,7", "cannot_judge,") + "," + "x" * 501
    with pytest.raises(DamagedData, match="line 2: expected a reason of at most 500 .* found 501"):
        read_csv(a_table(tmp_path, line, header=f"{HEADER},reason"))


@pytest.mark.parametrize("column", REQUIRED_COLUMNS)
def test_a_missing_column_is_named(tmp_path: Path, column: str) -> None:
    header = HEADER.replace(column, "other")
    with pytest.raises(DamagedData, match=f"line 1: missing column '{column}'; expected agent, "):
        read_csv(a_table(tmp_path, GOOD, header=header))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "found an empty file"),
        (b" \n\n", "found an empty file"),
        (b"PAR1\x00\x01\xff\xfe", "found a binary file"),
        (b"\xff\xfea\x00", "found a binary file"),
        (b"agent,scen\xe9nario\n", "found a binary file"),
    ],
)
def test_an_empty_or_binary_file_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "them.csv"
    path.write_bytes(content)
    with pytest.raises(DamagedData, match=f"them.csv: .*{words}"):
        read_csv(path)


def test_a_file_that_is_not_there_is_an_argument_error(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="no table at .*them.csv"):
        read_csv(tmp_path / "them.csv")
    with pytest.raises(DamagedData, match="expected a file, found a folder"):
        read_csv(tmp_path)


def test_an_import_is_appended_once_however_often_it_is_repeated(
    store: Store, tmp_path: Path
) -> None:
    enqueue(store, some_items(2), required=2)
    add_person(store, "Ana")
    lines = [
        GOOD,
        GOOD.replace("Ana", "Bo"),
        GOOD.replace("c0", "c1").replace("success", "failure"),
    ]
    found = read_csv(a_table(tmp_path, *lines))
    assert change(store, imports.append, found, required=1) == ImportResult(3, 0, ("Bo",))
    assert change(store, imports.append, found, required=1) == ImportResult(0, 3, ())
    assert change(
        store, imports.append, read_csv(a_table(tmp_path, *reversed(lines))), required=1
    ) == ImportResult(0, 3, ())
    assert count_events(store) == 3
    assert ask(store, views.progress, SUITE)[:4] == (2, 1, 4, 3)
    ana, bo = ask(store, people.everybody)
    assert (ana.name, bo.name) == ("Ana", "Bo") and ask(store, sessions.people_with_invitation) == {
        ana.id
    }


def test_a_changed_line_is_a_correction_and_the_old_file_does_not_undo_it(
    store: Store, tmp_path: Path
) -> None:
    enqueue(store, some_items(1))
    first = read_csv(a_table(tmp_path, GOOD))
    second = read_csv(a_table(tmp_path, GOOD.replace(",7,", ",9,")))
    assert [
        change(store, imports.append, table, required=1).added for table in (first, second, first)
    ] == [1, 1, 0]
    ana = ask(store, people.everybody)[0].id
    assert [judgement.step for judgement in ask(store, views.history, ana)] == [9]


def test_more_judgements_than_required_are_extra(workspace: Workspace, tmp_path: Path) -> None:
    with Store.open(workspace) as store:
        enqueue(store, some_items(1))
        change(
            store,
            imports.append,
            read_csv(a_table(tmp_path, GOOD, GOOD.replace("Ana", "Bo"))),
            required=1,
        )
    assert list(load_ratings(workspace, SUITE, names=True)["extra"]) == [0, 1]


def test_one_wrong_line_keeps_the_whole_file_out(store: Store, tmp_path: Path) -> None:
    enqueue(store, [*some_items(1), an_item("mine", players=("Ana",))])
    for line, words in (
        (GOOD.replace("c0", "c9"), "continuation 'c9' is neither in this workspace nor in"),
        (GOOD.replace(",40", ",30"), "expected the horizon 40 of .* found 30"),
        (GOOD.replace("c0", "mine"), "'Ana' played continuation 'mine' and may not judge it"),
        (GOOD.replace("Ana", "A\tna"), "annotator: expected a name of 1 to 64"),
        (GOOD.replace("Ana", ""), "annotator: expected a name of 1 to 64"),
    ):
        with pytest.raises(DamagedData, match=f"them.csv, line 3: {words}"):
            change(store, imports.append, read_csv(a_table(tmp_path, GOOD, line)), required=1)
    assert count_events(store) == 0 and ask(store, people.everybody) == []


def test_reading_an_export_back_changes_nothing(
    workspace: Workspace, clock: Clock, tmp_path: Path
) -> None:
    with Store.open(workspace, clock=clock) as store:
        enqueue(store, some_items(4))
        ana = add_person(store, "Ana").id
        claims = claim_items(store, ana, suite=SUITE)
        sent = [a_submission(claim, step=i + 1) for i, claim in enumerate(claims)]
        sent.append(a_submission(claims[0], verdict="not_done", step=None))
        assert statuses(submit(store, ana, sent)) == ["saved"] * 4
        path = tmp_path / "ratings.csv"
        write_csv(path, load_ratings(workspace, SUITE))
        assert change(store, imports.append, read_csv(path), required=1) == ImportResult(0, 3, ())


def test_an_export_of_one_study_can_be_read_into_another(
    workspace: Workspace, tmp_path: Path
) -> None:
    path = a_table(tmp_path, GOOD, GOOD.replace("c0", "c1").replace("success,7", "not_done,"))
    with Store.open(workspace) as store:
        enqueue(store, some_items(2))
        change(store, imports.append, read_csv(path), required=1)
    other = tmp_path / "ratings.csv"
    write_csv(other, load_ratings(workspace, SUITE, names=True))
    assert [r[1:6] for r in read_csv(other)] == [r[1:6] for r in read_csv(path)]


def test_an_export_read_back_doubles_nobody(workspace: Workspace, tmp_path: Path) -> None:
    path, out = a_table(tmp_path, GOOD, GOOD.replace("Ana", "Bo")), tmp_path / "ratings.csv"
    with Store.open(workspace) as store:
        enqueue(store, some_items(1), required=2)
        change(store, imports.append, read_csv(path), required=1)
        here = {one.name: one.pseudonym for one in ask(store, people.everybody)}
        write_csv(out, load_ratings(workspace, SUITE))
        assert {one.annotator for one in read_csv(out)} == set(here.values())
        assert change(store, imports.append, read_csv(out), required=1) == ImportResult(0, 2, ())
        assert {one.name for one in ask(store, people.everybody)} == {"Ana", "Bo"}


def test_another_study_keeps_the_pseudonyms_that_it_is_given(store: Store, tmp_path: Path) -> None:
    enqueue(store, some_items(1), required=2)
    given = a_table(tmp_path, GOOD.replace("Ana", "annotator-c0ffee"))
    assert change(store, imports.append, read_csv(given), required=1) == ImportResult(
        1, 0, ("annotator-c0ffee",)
    )
    (person,) = ask(store, people.everybody)
    assert person.pseudonym == "annotator-c0ffee"


def test_a_file_that_holds_a_byte_order_mark_alone_has_no_columns(tmp_path: Path) -> None:
    (tmp_path / "mark.csv").write_bytes(b"\xef\xbb\xbf")
    with pytest.raises(DamagedData, match="line 1: missing column 'agent'"):
        read_csv(tmp_path / "mark.csv")
