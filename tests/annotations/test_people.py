from __future__ import annotations

import sqlite3

import pytest

from sts.annotations.people import checked_name
from sts.annotations.store import FILE, Store
from sts.errors import ArgumentError, UnknownName
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, Clock, a_submission, some_items, statuses


def test_a_personal_link_lets_exactly_its_person_in(store: Store) -> None:
    ana, bo = store.add_annotator("Ana"), store.add_annotator("Bo")
    assert ana.token and bo.token
    found = store.annotator_by_token(ana.token)
    assert found is not None and (found.id, found.name) == (ana.id, "Ana")
    assert store.annotator_by_token(ana.token[:-1]) is None
    assert store.annotator_by_token("") is None
    assert store.annotator_by_token("\ud800\0") is None


def test_the_database_keeps_no_token(sqlite_workspace: Workspace) -> None:
    with Store.open(sqlite_workspace) as store:
        token = store.add_annotator("Ana").token
    assert token
    with sqlite3.connect(sqlite_workspace.path(FILE)) as plain:
        dump = "\n".join(plain.iterdump())
    plain.close()
    assert "Ana" in dump and token not in dump


def test_a_new_link_ends_the_old_one(store: Store) -> None:
    old = store.add_annotator("Ana")
    new = store.renew_link("Ana")
    assert old.token and new.token
    assert store.annotator_by_token(old.token) is None
    assert store.annotator_by_token(new.token) is not None


def test_names_are_unique_after_spaces_and_accents_are_composed(store: Store) -> None:
    store.add_annotator("Zoe\u0308")
    with pytest.raises(ArgumentError, match="already exists"):
        store.add_annotator("  Zo\u00eb ")


@pytest.mark.parametrize("name", ["", "   ", "x" * 65, "a\nb", "a\0b", "\ud800"])
def test_a_name_that_cannot_be_shown_is_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match="1 to 64 printable"):
        checked_name(name)


def test_a_retired_annotator_is_let_in_no_longer_and_frees_what_they_hold(store: Store) -> None:
    store.enqueue(some_items(3))
    ana, bo = store.add_annotator("Ana"), store.add_annotator("Bo")
    assert ana.token
    held = store.claim(ana.id, suite=SUITE)
    assert store.claim(bo.id, suite=SUITE) == []
    store.retire_annotator("Ana")
    assert store.annotator_by_token(ana.token) is None
    assert {c.item for c in store.claim(bo.id, suite=SUITE)} == {c.item for c in held}
    with pytest.raises(UnknownName, match="current annotator 'Ana'"):
        store.claim(ana.id, suite=SUITE)
    assert [(a.name, a.retired) for a in store.annotators()] == [("Ana", True), ("Bo", False)]


def test_what_a_retired_annotator_still_had_to_send_is_kept(store: Store, clock: Clock) -> None:
    store.enqueue(some_items(1))
    ana = store.add_annotator("Ana")
    [claim] = store.claim(ana.id, suite=SUITE)
    store.retire_annotator("Ana")
    assert statuses(store.submit(ana.id, [a_submission(claim)])) == ["saved"]


def test_an_unknown_name_is_named_beside_the_known_ones(store: Store) -> None:
    store.add_annotator("Ana")
    with pytest.raises(UnknownName, match="unknown annotator 'Bo'; known: Ana"):
        store.retire_annotator("Bo")


def test_roles_are_given_and_taken_one_by_one(store: Store) -> None:
    assert store.add_annotator("Ana").roles == ("annotator",)
    assert store.add_annotator("Bo", ("lead", "curator")).roles == ("curator", "lead")
    for _ in range(2):  # saying it again changes nothing
        assert store.set_role("Ana", "lead").roles == ("annotator", "lead")
    assert store.set_role("Ana", "annotator", held=False).roles == ("lead",)
    assert store.set_role("Ana", "lead", held=False).roles == ()
    assert [a.roles for a in store.annotators()] == [(), ("curator", "lead")]
    assert store.renew_link("Bo").roles == ("curator", "lead")
    with pytest.raises(UnknownName, match="unknown role 'boss'; known: annotator, cur"):
        store.set_role("Ana", "boss")
    with pytest.raises(UnknownName, match="unknown annotator 'Cy'"):
        store.set_role("Cy", "lead")


def test_who_no_longer_judges_is_given_nothing_and_frees_what_they_hold(store: Store) -> None:
    store.enqueue(some_items(3))
    ana, bo = store.add_annotator("Ana"), store.add_annotator("Bo")
    held = store.claim(ana.id, suite=SUITE)
    store.submit(ana.id, [a_submission(held[0])])
    store.set_role("Ana", "annotator", held=False)
    with pytest.raises(UnknownName, match="unknown current annotator 'Ana'; known: Bo"):
        store.claim(ana.id, suite=SUITE)
    assert {c.item for c in store.claim(bo.id, suite=SUITE)} == {c.item for c in held[1:]}
    assert store.progress(SUITE).by_annotator["Ana"] == 1
