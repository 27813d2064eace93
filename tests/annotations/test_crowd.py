"""Participants of a crowd platform: ids, payment, and people and references from CSV files."""

import json
from pathlib import Path

import numpy as np
import pytest

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.people import external_ids, payable_time, people, sessions
from sts.annotations.queue import references
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from tests.annotations.examples import (
    a_submission,
    add_people,
    an_event,
    claim,
    judge,
    names,
    rows,
    some_items,
)
from tests.stores import add_person, ask, change, enqueue, submit

PID = "5f1c0ffee-PLATFORM"


def join(store: AnnotationStore, token: str, external_id: str) -> str:
    """Return the name of the person that a participant signs in as."""
    secret, _ = change(store, external_ids.enter, token, external_id)
    person = people.find_by_session(store, secret)
    assert person is not None and person.roles == ("annotator",)
    return person.name


def test_link_lets_in_its_number_of_people_and_is_replaced_or_closed(store, clock) -> None:
    token = change(store, external_ids.open_link, 2)
    first, again, second = (join(store, token, pid) for pid in ("id-1", "id-1", "id-2"))
    assert first == again != second
    with pytest.raises(ArgumentError, match="all participants that it needs"):
        join(store, token, "id-3")
    assert join(store, token, "id-2") == second
    other = change(store, external_ids.open_link, 9)
    with pytest.raises(ArgumentError, match="not valid for this study"):
        join(store, token, "id-1")
    assert join(store, other, "id-1") == first
    assert ask(store, external_ids.load_link) == (9, 0, clock.now)
    assert change(store, external_ids.close_link) and not change(store, external_ids.close_link)
    with pytest.raises(ArgumentError, match="not valid for this study"):
        join(store, other, "id-1")


def test_id_is_stored_in_one_table_and_erased_with_the_name(workspace, store) -> None:
    token = change(store, external_ids.open_link, 2)
    name = join(store, token, PID)
    enqueue(store, some_items(1))
    judge(store, ask(store, people.get_person, name).id)
    tables = {table for table in store_tables(store) if PID in str(rows(store, table))}
    assert tables == {"external_ids"}
    assert token not in str([rows(store, table) for table in store_tables(store)])
    change(store, people.anonymise, name)
    assert ask(store, external_ids.load_external_ids) == {}
    assert rows(store, "external_ids") == [] and len(rows(store, "events")) == 1


def store_tables(store: AnnotationStore) -> list[str]:
    from sts.annotations.database.schema import metadata

    return [*metadata.tables]


def test_id_is_in_the_list_of_people_and_in_no_export_report_or_table_of_hours(
    sqlite_workspace, tmp_path, sts
) -> None:
    said = json.loads(sts(sqlite_workspace, "annotators recruit --people 3 --json"))
    token = said["link"].removeprefix("/enter?t=").removesuffix("&pid=")
    with AnnotationStore.open(sqlite_workspace) as store:
        enqueue(store, some_items(3))
        name = join(store, token, PID)
        judge(store, ask(store, people.get_person, name).id)
    assert PID in sts(sqlite_workspace, "annotators ls")
    for words in ("annotations quality", "annotations balance", "annotators sessions"):
        assert PID not in sts(sqlite_workspace, f"{words} --json")
    for words, file in (
        (f"annotations export --real-names --out {tmp_path}/r.csv", "r.csv"),
        (f"annotators hours --out {tmp_path}/h.csv", "h.csv"),
    ):
        assert PID not in sts(sqlite_workspace, words) + (tmp_path / file).read_text()
    assert "link is closed" in sts(sqlite_workspace, "annotators recruit --close")
    assert "no study link" in sts(sqlite_workspace, "annotators recruit --close")


def test_payable_hours_count_all_answers_within_the_time_of_the_server(open_store, clock) -> None:
    store = open_store(annotations_per_clip=2, overlap=0.0)
    enqueue(store, some_items(4), required=2)
    ana, bo = add_people(store, "Ana", "Bo")
    lea = add_person(store, "Lea", ("lead",))
    for held in claim(store, ana, 2):
        clock.now += 600
        first = a_submission(held, seconds=100.0)
        sent = [first, a_submission(held, corrects=first["uuid"], seconds=20.0)]
        submit(store, ana, [*sent, an_event("note", held.item)])
    (held,) = claim(store, bo, 1)
    clock.now += 360
    submit(store, bo, [a_submission(held, seconds=1e9)])
    people_ = {person.pseudonym: person.name for person in ask(store, people.list_people)}
    found = ask(store, payable_time.load_payable_time)
    hours = {people_[row.annotator]: row[1:] for row in found}
    assert hours["Ana"] == (2, 6, 2, 240.0, 1200 / 3600, 240 / 3600, 0)
    assert hours["Bo"] == (1, 1, 0, 1e9, 0.1, 0.1, 0) and lea.name not in hours


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "list.csv"
    path.write_text(text)
    return path


def test_people_of_a_csv_file_are_added_with_a_link_each(sqlite_workspace, tmp_path, sts) -> None:
    path = write(tmp_path, "name,role,email\nAna,,\nBo,reviewer lead,bo@study.org\n")
    value = json.loads(sts(sqlite_workspace, f"annotators add --csv {path} --json"))
    found = [(p["name"], p["roles"], p["email"]) for p in value["annotators"]]
    assert found == [("Ana", ["annotator"], None), ("Bo", ["reviewer", "lead"], "bo@study.org")]
    with AnnotationStore.open(sqlite_workspace) as store:
        for person in value["annotators"]:
            token = person["link"].removeprefix("/enter?t=")
            invitation = ask(store, sessions.find_invitation, token)
            assert invitation is not None and invitation.name == person["name"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name\nAna\n\nZed\n", "line 4: annotator 'Zed' already exists"),
        ("name\nAna\nAna\n", "line 3: annotator 'Ana' already exists"),
        ("name,email\nAna,a@b.c\nBo,A@b.c\n", "line 3: the address a@b.c belongs to"),
        ("name,role\nAna,\nBo,boss\n", "line 3: unknown role 'boss'"),
        ("name,email\nAna,nowhere\n", "line 2: expected an e-mail address"),
        ("name\nAna\n\u202ebo\n", "line 3: expected a name of 1 to 64 printable"),
        ("name\nAna\n" + "x" * 65 + "\n", "line 3: expected a name of 1 to 64"),
        ("email\na@b.c\n", "list.csv, line 1: missing column 'name'"),
        ("name,role\nAna\n", "list.csv, line 2: expected 2 cells, found 1"),
        ("", "list.csv: expected a table, found an empty file"),
        ("\0\1", "list.csv: expected text in UTF-8"),
    ],
)
def test_bad_row_of_people_is_one_sentence_with_its_line_and_adds_no_one(
    sqlite_workspace, tmp_path, sts, text, problem
) -> None:
    with AnnotationStore.open(sqlite_workspace) as store:
        add_person(store, "Zed")
    path = write(tmp_path, text)
    error = sts(sqlite_workspace, f"annotators add --csv {path}", 1)
    assert "list.csv" in error and problem in error
    assert names(sqlite_workspace) == ["Zed"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("annotators add", "expected either NAME or --csv FILE"),
        ("annotators add Ana --csv list.csv", "expected either NAME or --csv FILE"),
        ("annotators add --csv list.csv --email a@b.c", "--email only with NAME"),
        ("annotators add --csv missing.csv", "no table at missing.csv"),
        ("annotators recruit --close --people 3", "expected either --people N or --close"),
        ("annotators recruit", "expected either --people N or --close"),
        ("references add", "expected either CONTINUATION and --verdict, or --csv FILE"),
        ("references add 0123", "expected either CONTINUATION and --verdict, or --csv FILE"),
        ("references add --csv list.csv --verdict success", "or --csv FILE"),
    ],
)
def test_incomplete_or_contradictory_words_begin_no_study(
    sqlite_workspace, sts, words, problem
) -> None:
    assert problem in sts(sqlite_workspace, words, 2)
    assert not sqlite_workspace.path("annotations.sqlite3").exists()


@pytest.fixture(scope="module", name="played")
def make_played(tmp_path_factory) -> Workspace:
    """A workspace with four continuations."""
    from sts.continuations.run import run
    from sts.suites import suite_store as suites
    from tests.annotator_app.serving import quiet

    workspace = Workspace.open(str(tmp_path_factory.mktemp("played"))).create()
    kept = suites.load(workspace, "core@2").scenarios[:2]
    suites.freeze_scenarios(workspace, "few", kept)
    run(workspace, kept, ["random"], count=2, seed=0, workers=1, progress=quiet)
    return workspace


def test_references_of_a_csv_file_are_added_all_or_none(played, tmp_path, sts, monkeypatch) -> None:
    from sts.continuations.index import open_index

    monkeypatch.delenv("STS_DATABASE_URL", raising=False)
    index = open_index(played.store)
    first, second, *_ = (entry.id for entry in index.iter_entries(np.arange(len(index.ids))))
    good = f"{first},Success,3,it turns"
    for line, problem in (
        (f"{second},success,99999,", "line 3: expected a step of 1 to"),
        (f"{second},success,three,", "line 3: expected a step as a whole number, found 'three'"),
        (f"{second},maybe,,", "line 3: unknown verdict 'maybe'"),
        (f"{second},not_done,3,", "line 3: the verdict not_done has no step"),
        ("ffffffffffff,success,1,", "line 3: unknown continuation 'ffffffffffff'"),
        (f"{first},failure,3,", "line 3: reference"),
    ):
        path = write(tmp_path, f"continuation,verdict,step,note\n{good}\n{line}\n")
        refused = f"list.csv: 1 of 2 lines refused, so nothing was added: {problem}"
        assert refused in sts(played, f"references add --csv {path}", 1)
        with AnnotationStore.read_existing(played) as connection:
            assert connection is None or references.list_references(connection) == []
    path = write(tmp_path, f"continuation,verdict,step,note\n{good}\n{second},not_done,,\n")
    assert "2 continuations" in sts(played, f"references add --csv {path}")
    listed = json.loads(sts(played, "references ls --json"))["references"]
    found = {(one["continuation"], one["verdict"], one["step"], one["note"]) for one in listed}
    assert found == {(first, "success", 3, "it turns"), (second, "not_done", None, "")}
