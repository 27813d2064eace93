"""Drafts by command: decided, edited, frozen, and the next version begun from the last."""

import json
import re
from typing import Any

import pytest

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.log import decisions
from sts.annotations.people import people
from sts.suites import drafts
from sts.suites import suite_store as suites
from sts.trajectories import trajectory_store as trajectory_store
from sts_scenarios.draft import curation, freezing
from sts_scenarios.rules import categories
from tests.examples import on_test_side
from tests.scenarios.curating import candidates, recordings
from tests.scenarios.test_free_scenarios import add
from tests.stores import ask

FIRST, SECOND = "shadow-evil-01", "shadow-evil-02"


def test_candidates_are_accepted_rejected_and_undone_one_by_one(curator):
    assert {one["status"] for one in curator.view().values()} == {"undecided"}
    assert f"accepted by Ana: {FIRST}" in curator.draft(f"accept {FIRST}")
    curator.draft(f"reject {SECOND} --reason unclear", by="Ben")
    view = curator.view()
    assert (view[FIRST]["status"], view[FIRST]["by"]) == ("accepted", "Ana")
    assert (view[SECOND]["status"], view[SECOND]["reason"]) == ("rejected", "unclear")
    undecided = curator.draft("show --status undecided")
    assert "shadow-evil-03" in undecided and FIRST not in undecided
    curator.draft(f"undo {SECOND}", by="Ben")
    assert curator.view()[SECOND]["status"] == "undecided"
    with AnnotationStore.open(curator.workspace) as store:
        every = {p.name: p.roles for p in ask(store, people.list_people)}
    assert every == dict.fromkeys(("Ana", "Ben"), ("curator",))


def test_show_prints_the_agents_pass_counts_with_profiles(curator):
    words = f"show {FIRST} --profiles --agent blind --agent random"
    said = curator.draft(words)
    assert re.search(rf"{FIRST} .* blind [0-9]+/10, random [0-9]+/10\n", said)
    assert "without human judgement" in said
    passed = json.loads(curator.draft(f"{words} --json"))["candidates"][0]["passed_by_rule"]
    assert list(passed) == ["blind", "random"] and passed["random"][1] == 10
    assert "passed_by_rule" not in curator.view()[FIRST]


def test_check_notes_candidates_that_do_not_separate_agents(curator, monkeypatch):
    monkeypatch.setattr(categories, "collect_names", lambda domain, _: ("rule", "local-search"))
    curator.draft("accept --all")
    assert "does not separate the agents" not in curator.draft("check")  # no profile was made yet
    curator.draft("show --profiles")
    shown = json.loads(curator.draft("show --profiles --json"))["candidates"]
    passed = {one["id"]: [n for n, _ in one["passed_by_rule"].values()] for one in shown}
    flat = [id for id, counts in passed.items() if not any(counts)]
    assert flat and len(flat) < len(passed)
    checked = json.loads(curator.draft("check --json"))
    assert checked["sound"]
    notes = [f"{id} does not separate the agents: no agent passes" for id in flat]
    assert checked["notes"] == notes
    curator.draft(f"undo {flat[0]}")
    curator.draft(f"reject {flat[0]} --reason flat")
    assert f"note: {flat[0]} " not in curator.draft("check")


@pytest.mark.landing
def test_check_measures_the_gates_of_categories_that_declare_controls(curator):
    add(curator)  # of a category of the curator's own
    curator.draft("accept manners-01")
    said = curator.draft("check --quality-checks", code=1)
    assert "no category of this draft has control policies" in said
    curator.draft("reject manners-01 --reason other")
    curator("mine own --category return-to-first --category when-evil --per-category 3")
    curator.draft("accept --all")
    assert "quality_checks" not in json.loads(curator.draft("check --json"))
    rows = json.loads(curator.draft("check --quality-checks --json"))["quality_checks"]
    names = {"return-to-first", "shadow-evil", "when-evil", "where-is-good"}
    assert {row["category"] for row in rows} == names
    solvers = [row for row in rows if row["name"] == "solver"]
    assert [(row["figure"], row["limit"], row["passed"]) for row in solvers] == [
        (1.0, 0.9, True)
    ] * 4
    said = curator.draft("check --quality-checks")
    assert "can be frozen" in said and "return-to-first  open loop" in said


def test_second_ratings_are_blind_and_their_agreement_is_show_first(curator):
    def show_first(by: str) -> dict[str, Any]:
        view = json.loads(curator.draft(f"show {FIRST} --json --user {by}"))
        return dict(view["candidates"][0])

    assert "two people would not agree, by Ana" in curator.draft(f"rate {FIRST} no")
    assert (show_first("Ben")["ratings"], show_first("Ben")["ratings_given"]) == ({}, 1)
    assert "1 given" in curator.draft(f"show {FIRST} --user Ben")
    assert show_first("Ana")["ratings"] == {"Ana": "no"}
    curator.draft(f"rate {FIRST} yes", by="Ben")
    assert show_first("Ben")["ratings"] == {"Ana": "no", "Ben": "yes"}
    curator.draft(f"rate {SECOND} yes")
    curator.draft(f"rate {SECOND} yes", by="Ben")
    curator.draft("rate shadow-evil-03 no")
    said = curator.draft("show --user Ana")
    assert "about 2 candidates with two or more, by 2, 1 of 2 pairs are the same (50%)" in said
    assert "Krippendorff's alpha 0.00" in said
    assert "Ana no, Ben yes" in said and "Ana yes, Ben yes" in said
    assert {one["status"] for one in curator.view().values()} == {"undecided"}
    curator.draft(f"rate {FIRST} undo", by="Ben")
    assert show_first("Ben")["ratings"] == {}
    again = curator.draft(f"rate {FIRST} undo", by="Ben", code=2)
    assert f"Ben has no rating on {FIRST} to withdraw" in again
    curator.draft(f"edit {SECOND} --horizon 14")
    assert curator.view()[SECOND]["ratings_given"] == 0
    curator.draft(f"undo {SECOND}")
    assert curator.view()[SECOND]["ratings_given"] == 2


def test_edit_lists_its_changes_and_is_undone(curator):
    before = curator.view()[FIRST]
    said = curator.draft(f"edit {FIRST} --horizon 14 --tag wrap")
    assert "horizon: 12 -> 14" in said and "it fits" in said
    curator.draft(f"accept {FIRST}")
    draft = drafts.open_draft(curator.workspace, "own")
    edited = draft.candidate(FIRST, curator.view()[FIRST]["scenario"])
    assert (edited.horizon, edited.tags) == (14, ("wrap",))
    curator.draft("edit", FIRST, "--instruction", "Go there.")
    assert curator.view()[FIRST]["status"] == "accepted"
    for _ in range(3):
        curator.draft(f"undo {FIRST}")
    after = curator.view()[FIRST]
    assert (after["status"], after["scenario"]) == ("undecided", "")
    assert after["row_hash"] == before["row_hash"]


def test_links_and_difficulty_are_edited_and_outlast_other_edits(curator):
    curator.draft(f"rate {FIRST} yes")
    before = curator.view()[FIRST]
    level = next(name for name in ("easy", "hard") if name != before["difficulty"])
    said = curator.draft(f"edit {FIRST} --difficulty {level} --pair p --dialogue d --turn 2")
    assert f"difficulty: {before['difficulty']} -> {level}" in said and "turn: 0 -> 2" in said
    curator.draft("edit", FIRST, "--instruction", "Go there.", "--tag", "odd")
    draft = drafts.open_draft(curator.workspace, "own")
    edited = draft.candidate(FIRST, curator.view()[FIRST]["scenario"])
    assert (edited.difficulty, edited.pair, edited.dialogue, edited.turn) == (level, "p", "d", 2)
    curator.draft(f"undo {FIRST}")
    assert curator.view()[FIRST]["ratings_given"] == 1  # the question is as it was
    curator.draft(f"edit {FIRST} --pair '' --dialogue '' --difficulty {before['difficulty']}")
    assert curator.view()[FIRST]["row_hash"] == before["row_hash"]
    for words in ("--difficulty odd", "--pair 'a\x07'", "--turn x"):
        assert "expected" in curator.draft(f"edit {FIRST} {words}", code=2)


def test_partner_that_acts_at_random_is_announced(curator):
    note = "note: this scenario is random: its partner random acts at random"
    assert note in curator.draft(f"edit {FIRST} --partner agent:random")
    assert "note:" not in curator.draft(f"edit {FIRST} --partner no-op")


def test_decision_during_a_freeze_is_refused_and_not_kept(curator, monkeypatch):
    curator.draft(f"accept {FIRST} where-is-good-01")
    rest = [id for id, one in curator.view().items() if one["status"] == "undecided"]
    curator.draft("reject", *rest, "--reason", "twin")
    author = curation.find_or_add_curator

    def meanwhile(*given: Any) -> Any:
        freezing.freeze_draft(curator.workspace, "own")
        return author(*given)

    monkeypatch.setattr(curation, "find_or_add_curator", meanwhile)
    assert "draft own was frozen as own@1" in curator.draft(f"undo {FIRST}", code=1)
    draft = drafts.open_draft(curator.workspace, "own")
    with AnnotationStore.open(curator.workspace) as store:
        assert "undo" not in {one.kind for one in ask(store, decisions.load_decisions, draft.id)}


def test_version_holds_the_accepted_and_its_successor_keeps_them(curator):
    kept = (FIRST, "shadow-evil-03", "where-is-good-01", "where-is-good-02")
    curator.draft("accept", *kept)
    curator.draft(f"reject {SECOND} where-is-good-03 --reason twin")
    curator("suite freeze own --description first")
    first = suites.load(curator.workspace, "own@1")
    assert tuple(s.id for s in first.scenarios) == kept
    assert first.changes == () and first.last == {"shadow-evil": 3, "where-is-good": 3}
    assert "draft own was frozen as own@1" in curator.draft(f"accept {SECOND}", code=1)

    assert "own@1 is frozen: start the next version" in curator("mine own", code=1)
    curator("draft new --from own@1")
    assert {one["status"] for one in curator.view().values()} == {"kept"}
    curator("mine own --category shadow-evil --per-category 5 --seed 9")
    new = sorted(set(curator.view()) - {*kept})
    assert new and all(int(id.rpartition("-")[2]) > 3 for id in new)
    curator.draft("accept", *new, "--reason", "more of it")
    curator.draft("retire", "shadow-evil-03", "--reason", "too easy")
    curator.draft("edit", FIRST, "--horizon", "14", "--reason", "too short")
    curator.draft("edit where-is-good-01 --tag edge")
    said = curator.draft("diff")
    replaced = f"shadow-evil-{max(int(id[-2:]) for id in new) + 1:02d}"
    assert f"- {FIRST} by {replaced}: too short" in said and "- shadow-evil-03: too easy" in said
    assert "2 scenarios of own@1 are kept" in said
    assert "can be frozen" in curator.draft("check")
    curator("suite freeze own")
    second = suites.load(curator.workspace, "own@2")
    old, new_ones = ({s.id: s for s in suite.scenarios} for suite in (first, second))
    assert new_ones["where-is-good-01"].hash == old["where-is-good-01"].hash
    assert new_ones["where-is-good-01"].tags == ("edge",)
    assert new_ones[replaced].replaces == FIRST and FIRST not in new_ones
    changes = {("replaced", FIRST), ("retired", "shadow-evil-03"), *(("added", id) for id in new)}
    assert {(c.kind, c.id) for c in second.changes} == changes
    assert second.provenance["draft"] != first.provenance["draft"]
    assert suites.load(curator.workspace, "own@1").hash == first.hash


def test_candidate_is_added_at_a_chosen_moment(curator):
    category = categories.load_category("where-is-good")
    one = on_test_side(recordings())[0]
    candidate = category.find_candidates(one)[0]
    words = f"add --trajectory {one.id} --player {candidate.player} --category {category.name}"
    said = curator.draft(f"{words} --takeover {candidate.step}")
    assert "added where-is-good-04: Where is Good?" in said
    assert curator.view()["where-is-good-04"]["status"] == "undecided"
    outside = curator.draft(f"{words} --takeover 4000", code=2)
    assert "expected a takeover from 10 to 35" in outside


def test_freeze_runs_the_checks_of_the_categories(curator):
    curator.draft("accept --all")
    where = categories.load_category("where-is-good")
    one = next(s for s in candidates(curator.workspace, "own") if s.category == where.name)
    recording = trajectory_store.find_trajectory(curator.workspace, one.trajectory)
    asked = {c.step for c in where.find_candidates(recording) if c.player == one.players[0]}
    unfit = next(t for t in range(10, 35) if t not in asked)
    assert "it does not fit" in curator.draft(f"edit {one.id} --takeover {unfit}")
    for refused in (curator("suite freeze own", code=1), curator.draft("check", code=1)):
        assert f"{one.id}: Good is not in sight at the takeover" in refused
    curator.draft(f"undo {one.id}")
    assert not curator.workspace.path("suites", "own").exists()


def test_rejecting_a_whole_category_warns_and_is_kept_in_the_provenance(curator):
    curator.draft("accept --all")
    for id in (FIRST, SECOND, "shadow-evil-03"):
        curator.draft(f"reject {id} --reason x")
    warning = "category shadow-evil is empty: none of its candidates is accepted"
    assert f"note: {warning}" in curator.draft("check")
    assert f"warning: {warning}" in curator("suite freeze own")
    suite = suites.load(curator.workspace, "own@1")
    assert suite.provenance["warnings"] == [warning]
    assert "shadow-evil" not in {scenario.category for scenario in suite.scenarios}


def test_decision_that_changes_nothing_is_not_recorded(curator):
    curator.draft(f"accept {FIRST}")
    said = curator.draft(f"accept {FIRST} {SECOND}", by="Ben")
    assert f"accepted by Ben: {SECOND}; 1 had this decision already" in said
    for reason in ("unclear", "unclear", "too easy"):
        curator.draft(f"reject {FIRST} --reason '{reason}'")
    for word in ("yes", "yes", "no"):
        curator.draft(f"rate {SECOND} {word}")
    view = curator.view()
    kinds = {id: [(one["by"], one["kind"]) for one in view[id]["decisions"]] for id in view}
    assert kinds[FIRST] == [("Ana", "accept"), ("Ana", "reject"), ("Ana", "reject")]
    assert kinds[SECOND] == [("Ben", "accept")] and view[SECOND]["ratings_given"] == 1


def test_only_curators_decide(curator):
    curator("annotators add Guest")
    accept, undo = f"accept {FIRST}", f"undo {FIRST}"
    assert "Guest is not a curator of this study" in curator.draft(accept, by="Guest", code=2)
    curator("annotators role Guest curator")
    curator.draft(accept, by="Guest")
    curator("annotators deactivate Guest")
    assert "is not a curator" in curator.draft(undo, by="Guest", code=2)


def test_draft_without_its_recordings_is_decided_and_frozen_but_not_edited(curator):
    for file in curator.workspace.path("trajectories").iterdir():
        file.unlink()
    assert "unknown trajectory" in curator.draft(f"edit {FIRST} --horizon 9", code=2)
    assert curator.view()[FIRST]["decisions"] == []
    curator.draft(f"reject {FIRST} --reason unclear")
    curator.draft(f"rate {SECOND} no")
    curator.draft(f"undo {FIRST}")
    curator.draft("accept --all")
    curator("suite freeze own")
    assert len(suites.load(curator.workspace, "own@1").scenarios) == 6
