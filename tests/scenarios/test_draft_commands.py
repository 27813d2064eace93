"""Drafts by command: decided, edited, frozen, and the next version begun from the last."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from sts.annotations import decisions, people
from sts.annotations.store import Store
from sts.suites import drafts
from sts.suites import store as suites
from sts.trajectories import store as trajectories
from sts_scenarios import categories, curation, freezing
from tests.scenarios.curating import RECORDED, Curation
from tests.stores import ask


def test_a_draft_is_decided_candidate_by_candidate(own: Curation) -> None:
    assert {one["status"] for one in own.view().values()} == {"undecided"}
    assert "accepted by Ana: shadow-evil-01" in own.draft("accept", "shadow-evil-01")
    own.draft("reject", "shadow-evil-02", "--reason", "unclear", by="Ben")
    view = own.view()
    assert (view["shadow-evil-01"]["status"], view["shadow-evil-01"]["by"]) == ("accepted", "Ana")
    assert (view["shadow-evil-02"]["status"], view["shadow-evil-02"]["reason"]) == (
        "rejected",
        "unclear",
    )
    assert "shadow-evil-03" in own.draft("show", "--status", "undecided")
    assert "shadow-evil-01" not in own.draft("show", "--status", "undecided")
    own.draft("undo", "shadow-evil-02", by="Ben")
    assert own.view()["shadow-evil-02"]["status"] == "undecided"
    with Store.open(own.workspace) as store:
        assert {p.name: p.roles for p in ask(store, people.everybody)} == dict.fromkeys(
            ("Ana", "Ben"), ("curator",)
        )


def test_what_agents_pass_stands_beside_a_candidate(own: Curation) -> None:
    words = ("--profiles", "--agent", "blind", "--agent", "random")
    said = own.draft("show", "shadow-evil-01", *words)
    assert re.search(r"shadow-evil-01 .* blind [0-9]+/10, random [0-9]+/10\n", said)
    assert "judged by nobody" in said
    shown = json.loads(own.draft("show", "shadow-evil-01", *words, "--json"))
    passed = shown["candidates"][0]["passed_by_rule"]
    assert list(passed) == ["blind", "random"] and passed["random"][1] == 10
    assert "passed_by_rule" not in own.view()["shadow-evil-01"]


def test_a_check_names_what_tells_no_agents_apart(
    own: Curation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(categories, "agents", lambda domain: ("blind", "random"))
    own.draft("accept", "--all")
    assert "does not separate the agents" not in own.draft("check")  # no profile was made yet
    own.draft("show", "--profiles")
    shown = json.loads(own.draft("show", "--profiles", "--json"))["candidates"]
    passed = {one["id"]: [n for n, _ in one["passed_by_rule"].values()] for one in shown}
    nobody = [id for id, counts in passed.items() if not any(counts)]
    assert nobody and len(nobody) < len(passed)
    checked = json.loads(own.draft("check", "--json"))
    assert checked["sound"]
    assert checked["notes"] == [
        f"{id} does not separate the agents: no agent passes" for id in nobody
    ]
    own.draft("undo", nobody[0])
    own.draft("reject", nobody[0], "--reason", "flat")
    assert f"note: {nobody[0]} " not in own.draft("check")


def test_a_check_says_what_chance_and_a_probe_pass_of_categories_that_declare_it(
    own: Curation,
) -> None:
    own.draft("accept", *(f"where-is-good-0{n}" for n in (1, 2, 3)))
    said = own.draft("check", "--gates", code=1)  # as nothing of shadow-evil is accepted
    assert "no category declares what it is tested with" in said
    asked = ("--category", "return-to-first", "--category", "when-evil", "--per-category", "3")
    own("mine", "own", *asked)
    own.draft("accept", "--all")
    assert "gates" not in json.loads(own.draft("check", "--json"))
    rows = json.loads(own.draft("check", "--gates", "--json"))["gates"]
    assert {row["category"] for row in rows} == {"return-to-first", "shadow-evil", "when-evil"}
    probes = [row for row in rows if row["name"] == "probe"]
    assert [(row["figure"], row["limit"], row["held"]) for row in probes] == [(1.0, 0.9, True)] * 3
    said = own.draft("check", "--gates")
    assert "can be frozen" in said and "return-to-first  open loop" in said


def test_opinions_are_given_blind_and_agreement_is_shown(own: Curation) -> None:
    def shown(by: str) -> dict[str, Any]:
        view = json.loads(own.draft("show", "shadow-evil-01", "--json", "--as", by))
        return dict(view["candidates"][0])

    assert "two people would not agree, by Ana" in own.draft("opinion", "shadow-evil-01", "no")
    assert (shown("Ben")["opinions"], shown("Ben")["opinions_given"]) == ({}, 1)
    assert "1 given" in own.draft("show", "shadow-evil-01", "--as", "Ben")
    assert shown("Ana")["opinions"] == {"Ana": "no"}
    own.draft("opinion", "shadow-evil-01", "yes", by="Ben")
    assert shown("Ben")["opinions"] == {"Ana": "no", "Ben": "yes"}
    assert "no candidate has" not in own.draft("show")
    for id, by, word in (
        ("shadow-evil-02", "Ana", "yes"),
        ("shadow-evil-02", "Ben", "yes"),
        ("shadow-evil-03", "Ana", "no"),
    ):
        own.draft("opinion", id, word, by=by)
    said = own.draft("show", "--as", "Ana")
    assert "about 2 candidates with two or more, by 2, 1 of 2 pairs are the same (50%)" in said
    assert "Krippendorff's alpha 0.00" in said
    assert "Ana no, Ben yes" in said and "Ana yes, Ben yes" in said
    assert {one["status"] for one in own.view().values()} == {"undecided"}
    own.draft("opinion", "shadow-evil-01", "undo", by="Ben")
    assert shown("Ben")["opinions"] == {}
    again = own.draft("opinion", "shadow-evil-01", "undo", by="Ben", code=2)
    assert "Ben has no opinion on shadow-evil-01 to withdraw" in again
    own.draft("edit", "shadow-evil-02", "--length", "14")
    assert own.view()["shadow-evil-02"]["opinions_given"] == 0
    own.draft("undo", "shadow-evil-02")
    assert own.view()["shadow-evil-02"]["opinions_given"] == 2


def test_an_edit_says_what_it_changed_and_is_undone(own: Curation) -> None:
    before = own.view()["shadow-evil-01"]
    said = own.draft("edit", "shadow-evil-01", "--length", "14", "--tag", "wrap")
    assert "length: 12 -> 14" in said and "it fits" in said
    own.draft("accept", "shadow-evil-01")
    draft = drafts.open_draft(own.workspace, "own")
    edited = draft.candidate("shadow-evil-01", own.view()["shadow-evil-01"]["scenario"])
    assert (edited.horizon, edited.tags) == (14, ("wrap",))
    own.draft("edit", "shadow-evil-01", "--text", "Go there.")
    assert own.view()["shadow-evil-01"]["status"] == "accepted"
    for _ in range(3):
        own.draft("undo", "shadow-evil-01")
    after = own.view()["shadow-evil-01"]
    assert (after["status"], after["scenario"]) == ("undecided", "")
    assert after["row_hash"] == before["row_hash"]


def test_what_is_decided_while_a_draft_is_frozen_is_refused_and_not_kept(
    own: Curation, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.draft("accept", "shadow-evil-01", "where-is-good-01")
    rest = [id for id, one in own.view().items() if one["status"] == "undecided"]
    own.draft("reject", *rest, "--reason", "twin")
    author = curation.author

    def meanwhile(*given: Any) -> Any:
        freezing.freeze(own.workspace, "own")
        return author(*given)

    monkeypatch.setattr(curation, "author", meanwhile)
    assert "draft own was frozen as own@1" in own.draft("undo", "shadow-evil-01", code=1)
    draft = drafts.open_draft(own.workspace, "own")
    with Store.open(own.workspace) as store:
        assert "undo" not in {one.kind for one in ask(store, decisions.of_draft, draft.id)}


def test_a_version_is_what_was_accepted_and_the_next_one_keeps_it(own: Curation) -> None:
    own.draft("accept", "shadow-evil-01", "shadow-evil-03", "where-is-good-01", "where-is-good-02")
    own.draft("reject", "shadow-evil-02", "where-is-good-03", "--reason", "twin")
    own("suite", "freeze", "own", "--description", "first")
    first = suites.load(own.workspace, "own@1")
    assert [s.id for s in first.scenarios] == [
        *("shadow-evil-01", "shadow-evil-03", "where-is-good-01", "where-is-good-02"),
    ]
    assert first.changes == () and first.last == {"shadow-evil": 3, "where-is-good": 3}
    assert "draft own was frozen as own@1" in own.draft("accept", "shadow-evil-02", code=1)

    assert "own@1 is frozen: start the next version" in own("mine", "own", code=1)
    own("draft", "from", "own@1")
    assert {one["status"] for one in own.view().values()} == {"kept"}
    own("mine", "own", "--category", "shadow-evil", "--per-category", "5", "--seed", "9")
    new = sorted(set(own.view()) - {s.id for s in first.scenarios})
    assert new and all(int(id.rpartition("-")[2]) > 3 for id in new)
    own.draft("accept", *new, "--reason", "more of it")
    own.draft("retire", "shadow-evil-03", "--reason", "too easy")
    own.draft("edit", "shadow-evil-01", "--length", "14", "--reason", "too short")
    own.draft("edit", "where-is-good-01", "--tag", "edge")
    said = own.draft("diff")
    replaced = f"shadow-evil-{max(int(id[-2:]) for id in new) + 1:02d}"
    assert (
        f"- shadow-evil-01 by {replaced}: too short" in said
        and "- shadow-evil-03: too easy" in said
    )
    assert "2 scenarios of own@1 are kept" in said
    assert "can be frozen" in own.draft("check")
    own("suite", "freeze", "own")
    second = suites.load(own.workspace, "own@2")
    kept = {s.id: s.hash for s in first.scenarios}
    by_id = {s.id: s for s in second.scenarios}
    assert by_id["where-is-good-01"].hash == kept["where-is-good-01"]
    assert by_id["where-is-good-01"].tags == ("edge",)
    assert by_id[replaced].replaces == "shadow-evil-01" and "shadow-evil-01" not in by_id
    assert {(c.kind, c.id) for c in second.changes} == {
        ("replaced", "shadow-evil-01"),
        ("retired", "shadow-evil-03"),
        *(("added", id) for id in new),
    }
    assert second.provenance["draft"] != first.provenance["draft"]
    assert suites.load(own.workspace, "own@1").hash == first.hash


def test_a_candidate_is_added_by_hand_at_a_moment_of_ones_choice(own: Curation) -> None:
    category = categories.named("where-is-good")
    one = next(t for t in RECORDED if t.split == "test")
    candidate = category.moments(one)[0]
    words = ("--trajectory", one.id, "--role", str(candidate.role), "--category", category.name)
    said = own.draft("add", *words, "--takeover", str(candidate.moment))
    assert "added where-is-good-04: In which direction" in said
    assert own.view()["where-is-good-04"]["status"] == "undecided"
    outside = own.draft("add", *words, "--takeover", "4000", code=2)
    assert "expected a takeover from 10 to 35" in outside


def test_freezing_runs_the_checks_of_the_categories(own: Curation) -> None:
    own.draft("accept", "--all")
    draft = drafts.open_draft(own.workspace, "own")
    one = next(s for s in map(draft.candidate, draft.ids()) if s.category == "where-is-good")
    track = {
        c.moment
        for c in categories.named("where-is-good").moments(
            trajectories.find(own.workspace, one.trajectory)
        )
        if c.role == one.roles[0]
    }
    none = next(t for t in range(10, 35) if t not in track)
    assert "it does not fit" in own.draft("edit", one.id, "--takeover", str(none))
    assert f"{one.id}: Good is not in sight at the takeover" in own(
        "suite", "freeze", "own", code=1
    )
    assert f"{one.id}: Good is not in sight at the takeover" in own.draft("check", code=1)
    own.draft("undo", one.id)
    for id in ("shadow-evil-01", "shadow-evil-02", "shadow-evil-03"):
        own.draft("undo", id)
        own.draft("reject", id, "--reason", "x")
    assert "category shadow-evil would be empty" in own("suite", "freeze", "own", code=1)
    assert "own" not in {label.partition("@")[0] for label in own("suite", "ls").split()[4:8]}


def test_a_draft_whose_recordings_are_gone_is_still_frozen(own: Curation) -> None:
    for file in own.workspace.path("trajectories").iterdir():
        file.unlink()
    own.draft("accept", "--all")
    own("suite", "freeze", "own")
    assert len(suites.load(own.workspace, "own@1").scenarios) == 6


def test_who_is_no_curator_decides_nothing(own: Curation) -> None:
    own("annotators", "add", "Guest")
    assert "Guest is not a curator of this study" in own.draft(
        "accept", "shadow-evil-01", by="Guest", code=2
    )
    own("annotators", "role", "Guest", "curator")
    own.draft("accept", "shadow-evil-01", by="Guest")
    own("annotators", "retire", "Guest")
    assert "is not a curator" in own.draft("undo", "shadow-evil-01", by="Guest", code=2)
