from __future__ import annotations

import re

import pytest

from sts.annotations.people import checked_name
from sts.annotations.store import Store
from sts.errors import ArgumentError, UnknownName
from tests.annotations.examples import SUITE, Clock, a_submission, some_items, statuses


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
    secret = store.enter(str(ana.token))
    held = store.claim(ana.id, suite=SUITE)
    assert store.claim(bo.id, suite=SUITE) == []
    store.retire_annotator("Ana")
    assert store.annotator_by_session(secret) is None and store.open_sessions() == []
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
    assert store.invite("Bo").roles == ("curator", "lead")
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


def test_a_pseudonym_is_drawn_once_and_finds_its_person(store: Store) -> None:
    ana, bo = store.add_annotator("Ana"), store.add_annotator("Bo")
    for one in (ana, bo):
        assert re.fullmatch("annotator-[0-9a-f]{6}", one.pseudonym)
    assert ana.pseudonym != bo.pseudonym
    assert store.set_role(bo.pseudonym, "lead").name == "Bo"
    assert [one.pseudonym for one in store.annotators()] == [ana.pseudonym, bo.pseudonym]
    with pytest.raises(ArgumentError, match="already exists"):  # it would stand for two
        store.add_annotator(ana.pseudonym)


def test_a_name_that_another_study_gave_as_a_pseudonym_stays_one(store: Store) -> None:
    assert store.add_annotator("annotator-c0ffee").pseudonym == "annotator-c0ffee"
    assert store.add_annotator("annotator-coffee").pseudonym != "annotator-coffee"
