"""People of a study: names, roles, invitations, sessions, consent and forgetting."""

import re
import sqlite3
import threading

import pytest

from sts.annotations.answers import submissions
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.presence import DATABASE_FILE
from sts.annotations.findings.export import export_ratings
from sts.annotations.people import consent, people, sessions
from sts.annotations.people.people import find_by_session, normalise_name
from sts.annotations.people.sessions import (
    DAY_S,
    EXPIRED_MESSAGE,
    IDLE_TIMEOUT_S,
    INVITATION_LIFETIME_S,
    MAX_SESSION_S,
    UNKNOWN_MESSAGE,
    USED_MESSAGE,
)
from sts.annotations.queue import balance
from sts.annotations.vault.digests import iter_differences
from sts.annotations.vault.history import verify
from sts.errors import ArgumentError, DamagedData, UnknownName
from tests.access.attempts import attempt
from tests.annotations.examples import (
    SUITE,
    a_submission,
    add_people,
    an_item,
    claim,
    some_items,
    statuses,
)
from tests.stores import add_person, ask, change, enqueue, submit


def invite(store: AnnotationStore, name: str = "Ana") -> str:
    """Invite a person, whom the study may have already; return the token of the link."""
    there = any(one.name == name for one in ask(store, people.list_people))
    return str((change(store, people.invite, name) if there else add_person(store, name)).token)


def enter(store: AnnotationStore, token: str, held: str = "") -> str:
    return change(store, sessions.accept_invitation, token, held)


def names(store: AnnotationStore, *secrets: str) -> list[str | None]:
    """Return whose sessions these are."""
    found = [find_by_session(store, secret) for secret in secrets]
    return [one.name if one else None for one in found]


def test_names_are_unique_once_normalised_and_can_be_printed(store) -> None:
    add_person(store, "Zoe\u0308")
    with pytest.raises(ArgumentError, match="already exists"):
        add_person(store, "  Zo\u00eb ")
    for name in ("", "   ", "x" * 65, "a\nb", "a\0b", "\ud800"):
        with pytest.raises(ArgumentError, match="1 to 64 printable"):
            normalise_name(name)
    for name in ("-", "--", "\u2026 !"):
        with pytest.raises(ArgumentError, match="with a letter or a digit"):
            normalise_name(name)
    assert normalise_name("\u0645\u0631\u06cc\u0645") == "\u0645\u0631\u06cc\u0645"
    with pytest.raises(UnknownName, match="unknown annotator 'Bo'; known: Zo\u00eb"):
        change(store, people.deactivate, "Bo")


def test_name_that_differs_only_in_how_it_is_written_is_refused(store) -> None:
    add_person(store, "Ann")
    for name in ("ann", "\uff21NN", "ANN"):
        with pytest.raises(ArgumentError, match="differ only in how they are written"):
            add_person(store, name)
    with pytest.raises(ArgumentError, match="differ only in how they are written"):
        change(store, people.refuse_spellings, ["bo", "Bo"])


def test_retired_annotator_is_locked_out_and_frees_their_clips(store) -> None:
    enqueue(store, some_items(3))
    ana, bo = add_person(store, "Ana"), add_person(store, "Bo")
    secret = enter(store, str(ana.token))
    held, waiting = claim(store, ana.id), invite(store)
    assert claim(store, bo.id) == []
    change(store, people.deactivate, "Ana")
    assert names(store, secret) == [None] and ask(store, sessions.list_open_sessions) == []
    assert ask(store, sessions.find_invitation, waiting) is None
    late = [a_submission(held[0])]  # the page still had it to send
    assert statuses(submit(store, ana.id, late)) == ["saved"]
    assert {c.item for c in claim(store, bo.id)} == {c.item for c in held[1:]} != set()
    with pytest.raises(UnknownName, match="current annotator 'Ana'"):
        claim(store, ana.id)
    assert [(a.name, a.deactivated) for a in ask(store, people.list_people)] == [
        ("Ana", True),
        ("Bo", False),
    ]
    again = change(store, people.invite, "Ana")
    assert not again.deactivated and names(store, enter(store, str(again.token))) == ["Ana"]


def test_roles_are_given_and_taken_one_by_one(store) -> None:
    assert add_person(store, "Ana").roles == ("annotator",)
    assert add_person(store, "Bo", ("lead", "curator")).roles == ("curator", "lead")
    for _ in range(2):  # repeating it changes nothing
        assert change(store, people.set_role, "Ana", "lead").roles == ("annotator", "lead")
    assert change(store, people.set_role, "Ana", "annotator", is_granted=False).roles == ("lead",)
    assert change(store, people.set_role, "Ana", "lead", is_granted=False).roles == ()
    assert [a.roles for a in ask(store, people.list_people)] == [(), ("curator", "lead")]
    assert change(store, people.invite, "Bo").roles == ("curator", "lead")
    with pytest.raises(UnknownName, match="unknown role 'boss'; known: annotator, cur"):
        change(store, people.set_role, "Ana", "boss")
    with pytest.raises(UnknownName, match="unknown annotator 'Cy'"):
        change(store, people.set_role, "Cy", "lead")


def test_person_who_stops_being_an_annotator_frees_their_clips(store) -> None:
    enqueue(store, some_items(3))
    ana, bo = add_people(store, "Ana", "Bo")
    held = claim(store, ana)
    submit(store, ana, [a_submission(held[0])])
    change(store, people.set_role, "Ana", "annotator", is_granted=False)
    with pytest.raises(UnknownName, match="unknown current annotator 'Ana'; known: Bo"):
        claim(store, ana)
    assert {c.item for c in claim(store, bo)} == {c.item for c in held[1:]}
    assert ask(store, balance.count_judged, ana, SUITE) == 1


def test_pseudonym_is_random_constant_and_identifies_its_person(store) -> None:
    ana, bo = add_person(store, "Ana"), add_person(store, "Bo")
    for one in (ana, bo):
        assert re.fullmatch("annotator-[0-9a-f]{6}", one.pseudonym)
    assert ana.pseudonym != bo.pseudonym
    assert change(store, people.set_role, bo.pseudonym, "lead").name == "Bo"
    assert [one.pseudonym for one in ask(store, people.list_people)] == [
        ana.pseudonym,
        bo.pseudonym,
    ]
    with pytest.raises(ArgumentError, match="already exists"):  # it would mean two people
        add_person(store, ana.pseudonym)
    assert add_person(store, "annotator-c0ffee").pseudonym == "annotator-c0ffee"
    assert add_person(store, "annotator-coffee").pseudonym != "annotator-coffee"


def test_invitation_starts_the_session_of_its_person_once(store) -> None:
    ana, bo = invite(store), invite(store, "Bo")
    for _ in range(3):  # a messenger's preview does not use it up
        found = ask(store, sessions.find_invitation, ana)
        assert found is not None and (found.name, found.refusal) == ("Ana", "")
    secrets = enter(store, ana), enter(store, bo)
    assert names(store, *secrets) == ["Ana", "Bo"]
    assert names(store, secrets[0][:-1], "", "\ud800\0", ana) == [None] * 4
    found = ask(store, sessions.find_invitation, ana)
    assert found is not None and found.refusal == USED_MESSAGE
    with pytest.raises(ArgumentError, match="already used"):
        enter(store, ana)
    assert len(ask(store, sessions.list_open_sessions)) == 2


def test_invitation_used_by_two_browsers_at_once_admits_one(workspace) -> None:
    with AnnotationStore.open(workspace) as one, AnnotationStore.open(workspace) as other:
        token, outcomes = invite(one), []
        barrier = threading.Barrier(2)

        def spend(store: AnnotationStore) -> None:
            barrier.wait()
            try:
                enter(store, token)
                outcomes.append("in")
            except ArgumentError as error:
                outcomes.append(str(error))

        threads = [threading.Thread(target=spend, args=(store,)) for store in (one, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == sorted(["in", USED_MESSAGE])


def test_invitation_expires_and_a_forged_one_is_unknown(store, clock) -> None:
    token = invite(store)
    for forged in ("", "x" * 43, "\ud800\0"):
        assert ask(store, sessions.find_invitation, forged) is None
        with pytest.raises(ArgumentError) as error:
            enter(store, forged)
        assert str(error.value) == UNKNOWN_MESSAGE
    clock.now += INVITATION_LIFETIME_S
    found = ask(store, sessions.find_invitation, token)
    assert found is not None and found.refusal == EXPIRED_MESSAGE
    with pytest.raises(ArgumentError, match="expired"):
        enter(store, token)
    assert ask(store, sessions.people_with_invitation) == set()


def test_new_invitation_replaces_the_open_one_and_ends_no_session(store) -> None:
    secret = enter(store, invite(store))
    second, third = invite(store), invite(store)
    assert ask(store, sessions.find_invitation, second) is None
    assert ask(store, sessions.people_with_invitation) == {ask(store, people.list_people)[0].id}
    assert names(store, secret, enter(store, third)) == ["Ana", "Ana"]
    assert [one.name for one in ask(store, sessions.list_open_sessions)] == ["Ana", "Ana"]


def test_session_lasts_while_it_is_used_up_to_the_longest(store, clock) -> None:
    idle = enter(store, invite(store))
    for passed, owner in ((IDLE_TIMEOUT_S - 1, "Ana"),) * 2 + ((IDLE_TIMEOUT_S, None),):
        clock.now += passed
        assert names(store, idle) == [owner]
    began, used = clock.now, enter(store, invite(store, "Bo"))
    while clock.now < began + MAX_SESSION_S - DAY_S:
        clock.now += DAY_S
        assert names(store, used) == ["Bo"]
    (session,) = ask(store, sessions.list_open_sessions)
    assert (session.name, session.last_seen, session.ends) == (
        "Bo",
        clock.now,
        began + MAX_SESSION_S,
    )
    clock.now += DAY_S
    assert names(store, used) == [None]


def test_revoking_ends_a_persons_sessions_and_open_invitation(store) -> None:
    mine = enter(store, invite(store)), enter(store, invite(store))
    waiting, others = invite(store), enter(store, invite(store, "Bo"))
    assert change(store, people.end_sessions, "Ana") == 2
    assert names(store, *mine, others) == [None, None, "Bo"]
    assert ask(store, sessions.find_invitation, waiting) is None
    assert change(store, people.end_sessions, "Ana") == 0


@pytest.mark.parametrize("how", ["invitation", "account", "owner's link"])
def test_session_ends_when_someone_else_enters_in_the_same_browser(store, how) -> None:
    def begin(held: str) -> str:
        if how == "invitation":
            return enter(store, invite(store, "Bo"), held)
        if how == "account":
            return change(store, people.sign_in, "bo@study.example", held)
        return change(store, sessions.start_session, ask(store, people.get_person, "Bo").id, held)

    anas, elsewhere = enter(store, invite(store)), enter(store, invite(store))
    add_person(store, "Bo", email="bo@study.example")
    bos = begin(anas)
    assert names(store, anas) == [None]
    again = begin(bos)  # the same person, whose open pages go on
    assert names(store, elsewhere, bos, again) == ["Ana", "Bo", "Bo"]


def test_database_keeps_no_secret(sqlite_workspace) -> None:
    with AnnotationStore.open(sqlite_workspace) as store:
        token = invite(store)
        secret = enter(store, token)
        waiting = invite(store)
    with sqlite3.connect(sqlite_workspace.path(DATABASE_FILE)) as plain:
        dump = "\n".join(plain.iterdump())
    plain.close()
    assert "Ana" in dump
    assert not any(one in dump for one in (token, secret, waiting))


def test_consent_is_kept_by_person_and_version_with_its_first_time(store, clock) -> None:
    ana, bo = add_people(store, "Ana", "Bo")
    assert not ask(store, consent.has_agreed, ana, "one")
    began = clock.now
    change(store, consent.record_consent, ana, "one")
    clock.now += 1
    change(store, consent.record_consent, ana, "one")
    change(store, consent.record_consent, bo, "one")
    assert [ask(store, consent.has_agreed, ana, one) for one in ("one", "two")] == [True, False]
    clock.now += 1
    change(store, consent.record_consent, ana, "two")
    assert ask(store, consent.count_consents) == [
        ("one", 2, began, began + 1),
        ("two", 1, began + 2, began + 2),
    ]


def test_consent_version_changes_with_a_word_but_not_with_the_last_line_break(sqlite_workspace):
    file = sqlite_workspace.create().path("consent.md")
    versions = []
    for text in ("We keep your answers.", "We keep your answers.\n", "We keep all your answers."):
        file.write_text(text)
        versions.append(consent.load_text(sqlite_workspace, "consent.md").version)
    assert versions[0] == versions[1] != versions[2]


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe", b"x" * 70_000])
def test_unreadable_consent_text_is_a_one_line_error(sqlite_workspace, content) -> None:
    file = sqlite_workspace.create().path("consent.md")
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(DamagedData) as error:
        consent.load_text(sqlite_workspace, "consent.md")
    assert "\n" not in str(error.value) and "consent.md" in str(error.value)


@attempt(
    "Paths",
    "a consent text that workspace.toml names outside the workspace",
    "rejected; no page shows it",
)
@pytest.mark.parametrize("how", ["absolute", "above", "link"])
def test_consent_text_outside_the_workspace_is_not_shown(sqlite_workspace, how) -> None:
    root = sqlite_workspace.create().root
    secret = root.resolve().parent / "secret.md"
    secret.write_text("secret")
    (root / "link.md").symlink_to(secret)
    name = {"absolute": str(secret), "above": "../secret.md", "link": "link.md"}[how]
    with pytest.raises(DamagedData, match="expected a text in the workspace"):
        consent.load_text(sqlite_workspace, name)


WORDS = "too dark where Zacharias lives"


def a_team(store: AnnotationStore) -> tuple[int, str]:
    """Have two people judge in words of their own; return one of them and their session."""
    enqueue(store, some_items(2), required=2)
    zacharias = add_person(store, "Zacharias", email="Zacharias@example.org")
    enqueue(store, [an_item("own", players=(zacharias.pseudonym,))])
    for person in (zacharias, add_person(store, "Bo")):
        first, second, *_ = claim(store, person.id, 2)
        dark = {"verdict": "cannot_judge", "step": None, "reason": WORDS}
        submit(store, person.id, [a_submission(first), a_submission(second, **dark)])
    submit(store, zacharias.id, [{"uuid": "no", "note": WORDS}])  # refused, and kept aside
    return zacharias.id, enter(store, str(zacharias.token))


def test_forgotten_person_leaves_verdicts_and_a_sound_chain(workspace, store) -> None:
    number, secret = a_team(store)
    change(store, consent.record_consent, number, "one")
    before, own = export_ratings(workspace, SUITE).table, export_ratings(workspace).digests
    person = change(store, people.anonymise, "Zacharias")
    assert export_ratings(workspace).digests == own and [*iter_differences(workspace, own)] == []
    assert names(store, secret) == [None] and ask(store, sessions.list_open_sessions) == []
    (found, bo) = ask(store, people.list_people)
    assert found.name == found.pseudonym == person.pseudonym and found.deactivated
    assert bo.name == "Bo"
    assert [one.people for one in ask(store, consent.count_consents)] == [1]
    with pytest.raises(UnknownName):
        ask(store, people.get_person, "Zacharias")
    assert change(store, people.anonymise, person.pseudonym) == person  # twice changes nothing
    checked = verify(store.database)
    assert checked.findings == () and checked.forgotten == 1
    after = export_ratings(workspace, SUITE).table
    theirs = (after["annotator"] == person.pseudonym).to_numpy()
    assert after[~theirs].equals(before[~theirs])
    assert after.drop(columns="reason").equals(before.drop(columns="reason"))
    assert set(after[theirs]["reason"]) == {""}
    named = export_ratings(workspace, SUITE, names=True).table
    assert set(named["annotator"]) - {""} == {"Bo", person.pseudonym}


def test_forget_command_erases_a_name_only_when_confirmed(sqlite_workspace, sts) -> None:
    def mentions() -> list[str]:
        with sqlite3.connect(sqlite_workspace.path(DATABASE_FILE)) as plain:
            found = [line for line in plain.iterdump() if "zacharias" in line.lower()]
        plain.close()
        return found

    with AnnotationStore.open(sqlite_workspace) as store:
        a_team(store)
        pseudonym = ask(store, people.get_person, "Zacharias").pseudonym
    before, words = mentions(), "annotators anonymise Zacharias"
    assert "would be anonymised" in sts(sqlite_workspace, words) and mentions() == before
    assert f"verdicts on 2 clips are kept under {pseudonym}" in sts(
        sqlite_workspace, f"{words} --yes"
    )
    (line,) = mentions()
    assert WORDS in line  # Bo's own words
    with AnnotationStore.open(sqlite_workspace) as store:
        assert [one.raw for one in ask(store, submissions.list_rejected)] == [""]
    assert "unknown annotator 'Zacharias'" in sts(sqlite_workspace, f"{words} --yes", 2)
