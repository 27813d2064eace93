from __future__ import annotations

import re

import pytest

from sts.annotations import people, sessions, views
from sts.annotations.people import checked_name
from sts.annotations.store import Store
from sts.errors import ArgumentError, UnknownName
from tests.annotations.examples import SUITE, Clock, a_submission, some_items, statuses
from tests.stores import add_person, ask, change, claim_items, enqueue, submit


def test_names_are_unique_after_spaces_and_accents_are_composed(store: Store) -> None:
    add_person(store, "Zoe\u0308")
    with pytest.raises(ArgumentError, match="already exists"):
        add_person(store, "  Zo\u00eb ")


@pytest.mark.parametrize("name", ["", "   ", "x" * 65, "a\nb", "a\0b", "\ud800"])
def test_a_name_that_cannot_be_shown_is_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match="1 to 64 printable"):
        checked_name(name)


def test_a_retired_annotator_is_let_in_no_longer_and_frees_what_they_hold(store: Store) -> None:
    enqueue(store, some_items(3))
    ana, bo = add_person(store, "Ana"), add_person(store, "Bo")
    secret = change(store, sessions.enter, str(ana.token))
    held = claim_items(store, ana.id, suite=SUITE)
    assert claim_items(store, bo.id, suite=SUITE) == []
    change(store, people.retire, "Ana")
    assert people.find_by_session(store, secret) is None and ask(store, sessions.under_way) == []
    assert {c.item for c in claim_items(store, bo.id, suite=SUITE)} == {c.item for c in held}
    with pytest.raises(UnknownName, match="current annotator 'Ana'"):
        claim_items(store, ana.id, suite=SUITE)
    assert [(a.name, a.retired) for a in ask(store, people.everybody)] == [
        ("Ana", True),
        ("Bo", False),
    ]


def test_what_a_retired_annotator_still_had_to_send_is_kept(store: Store, clock: Clock) -> None:
    enqueue(store, some_items(1))
    ana = add_person(store, "Ana")
    [claim] = claim_items(store, ana.id, suite=SUITE)
    change(store, people.retire, "Ana")
    assert statuses(submit(store, ana.id, [a_submission(claim)])) == ["saved"]


def test_an_unknown_name_is_named_beside_the_known_ones(store: Store) -> None:
    add_person(store, "Ana")
    with pytest.raises(UnknownName, match="unknown annotator 'Bo'; known: Ana"):
        change(store, people.retire, "Bo")


def test_roles_are_given_and_taken_one_by_one(store: Store) -> None:
    assert add_person(store, "Ana").roles == ("annotator",)
    assert add_person(store, "Bo", ("lead", "curator")).roles == ("curator", "lead")
    for _ in range(2):  # saying it again changes nothing
        assert change(store, people.set_role, "Ana", "lead").roles == ("annotator", "lead")
    assert change(store, people.set_role, "Ana", "annotator", held=False).roles == ("lead",)
    assert change(store, people.set_role, "Ana", "lead", held=False).roles == ()
    assert [a.roles for a in ask(store, people.everybody)] == [(), ("curator", "lead")]
    assert change(store, people.invite, "Bo").roles == ("curator", "lead")
    with pytest.raises(UnknownName, match="unknown role 'boss'; known: annotator, cur"):
        change(store, people.set_role, "Ana", "boss")
    with pytest.raises(UnknownName, match="unknown annotator 'Cy'"):
        change(store, people.set_role, "Cy", "lead")


def test_who_no_longer_judges_is_given_nothing_and_frees_what_they_hold(store: Store) -> None:
    enqueue(store, some_items(3))
    ana, bo = add_person(store, "Ana"), add_person(store, "Bo")
    held = claim_items(store, ana.id, suite=SUITE)
    submit(store, ana.id, [a_submission(held[0])])
    change(store, people.set_role, "Ana", "annotator", held=False)
    with pytest.raises(UnknownName, match="unknown current annotator 'Ana'; known: Bo"):
        claim_items(store, ana.id, suite=SUITE)
    assert {c.item for c in claim_items(store, bo.id, suite=SUITE)} == {c.item for c in held[1:]}
    assert ask(store, views.count_judged, ana.id, SUITE) == 1


def test_a_pseudonym_is_drawn_once_and_finds_its_person(store: Store) -> None:
    ana, bo = add_person(store, "Ana"), add_person(store, "Bo")
    for one in (ana, bo):
        assert re.fullmatch("annotator-[0-9a-f]{6}", one.pseudonym)
    assert ana.pseudonym != bo.pseudonym
    assert change(store, people.set_role, bo.pseudonym, "lead").name == "Bo"
    assert [one.pseudonym for one in ask(store, people.everybody)] == [ana.pseudonym, bo.pseudonym]
    with pytest.raises(ArgumentError, match="already exists"):  # it would stand for two
        add_person(store, ana.pseudonym)


def test_a_name_that_another_study_gave_as_a_pseudonym_stays_one(store: Store) -> None:
    assert add_person(store, "annotator-c0ffee").pseudonym == "annotator-c0ffee"
    assert add_person(store, "annotator-coffee").pseudonym != "annotator-coffee"
