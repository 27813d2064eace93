"""Drafts by command: decided, edited, frozen, and the next version begun from the last."""

import json
import re
from typing import Any

from sts.annotations import decisions, people
from sts.annotations.store import AnnotationStore
from sts.suites import drafts
from sts.suites import store as suites
from sts.trajectories import store as trajectory_store
from sts_scenarios import categories, curation, freezing
from tests.examples import on_test_side
from tests.scenarios.curating import candidates, recordings
from tests.stores import ask

FIRST, SECOND = "shadow-evil-01", "shadow-evil-02"


def test_candidates_are_accepted_rejected_and_undone_one_by_one(own):
    assert {one["status"] for one in own.view().values()} == {"undecided"}
    assert f"accepted by Ana: {FIRST}" in own.draft(f"accept {FIRST}")
    own.draft(f"reject {SECOND} --reason unclear", by="Ben")
    view = own.view()
    assert (view[FIRST]["status"], view[FIRST]["by"]) == ("accepted", "Ana")
    assert (view[SECOND]["status"], view[SECOND]["reason"]) == ("rejected", "unclear")
    undecided = own.draft("show --status undecided")
    assert "shadow-evil-03" in undecided and FIRST not in undecided
    own.draft(f"undo {SECOND}", by="Ben")
    assert own.view()[SECOND]["status"] == "undecided"
    with AnnotationStore.open(own.workspace) as store:
        every = {p.name: p.roles for p in ask(store, people.list_people)}
    assert every == dict.fromkeys(("Ana", "Ben"), ("curator",))


def test_show_prints_the_agents_pass_counts_with_profiles(own):
    words = f"show {FIRST} --profiles --agent blind --agent random"
    said = own.draft(words)
    assert re.search(rf"{FIRST} .* blind [0-9]+/10, random [0-9]+/10\n", said)
    assert "judged by nobody" in said
    passed = json.loads(own.draft(f"{words} --json"))["candidates"][0]["passed_by_rule"]
    assert list(passed) == ["blind", "random"] and passed["random"][1] == 10
    assert "passed_by_rule" not in own.view()[FIRST]


def test_check_notes_candidates_that_do_not_separate_agents(own, monkeypatch):
    monkeypatch.setattr(categories, "profile_agents", lambda domain: ("blind", "random"))
    own.draft("accept --all")
    assert "does not separate the agents" not in own.draft("check")  # no profile was made yet
    own.draft("show --profiles")
    shown = json.loads(own.draft("show --profiles --json"))["candidates"]
    passed = {one["id"]: [n for n, _ in one["passed_by_rule"].values()] for one in shown}
    flat = [id for id, counts in passed.items() if not any(counts)]
    assert flat and len(flat) < len(passed)
    checked = json.loads(own.draft("check --json"))
    assert checked["sound"]
    notes = [f"{id} does not separate the agents: no agent passes" for id in flat]
    assert checked["notes"] == notes
    own.draft(f"undo {flat[0]}")
    own.draft(f"reject {flat[0]} --reason flat")
    assert f"note: {flat[0]} " not in own.draft("check")


def test_check_measures_the_gates_of_categories_that_declare_controls(own):
    own.draft("accept", *(f"where-is-good-0{n}" for n in (1, 2, 3)))
    said = own.draft("check --quality-checks", code=1)  # no candidate of shadow-evil is accepted
    assert "no category declares what it is tested with" in said
    own("mine own --category return-to-first --category when-evil --per-category 3")
    own.draft("accept --all")
    assert "quality_checks" not in json.loads(own.draft("check --json"))
    rows = json.loads(own.draft("check --quality-checks --json"))["quality_checks"]
    assert {row["category"] for row in rows} == {"return-to-first", "shadow-evil", "when-evil"}
    probes = [row for row in rows if row["name"] == "probe"]
    assert [(row["figure"], row["limit"], row["passed"]) for row in probes] == [
        (1.0, 0.9, True)
    ] * 3
    said = own.draft("check --quality-checks")
    assert "can be frozen" in said and "return-to-first  open loop" in said


def test_second_ratings_are_blind_and_their_agreement_is_shown(own):
    def shown(by: str) -> dict[str, Any]:
        view = json.loads(own.draft(f"show {FIRST} --json --user {by}"))
        return dict(view["candidates"][0])

    assert "two people would not agree, by Ana" in own.draft(f"rate {FIRST} no")
    assert (shown("Ben")["ratings"], shown("Ben")["ratings_given"]) == ({}, 1)
    assert "1 given" in own.draft(f"show {FIRST} --user Ben")
    assert shown("Ana")["ratings"] == {"Ana": "no"}
    own.draft(f"rate {FIRST} yes", by="Ben")
    assert shown("Ben")["ratings"] == {"Ana": "no", "Ben": "yes"}
    own.draft(f"rate {SECOND} yes")
    own.draft(f"rate {SECOND} yes", by="Ben")
    own.draft("rate shadow-evil-03 no")
    said = own.draft("show --user Ana")
    assert "about 2 candidates with two or more, by 2, 1 of 2 pairs are the same (50%)" in said
    assert "Krippendorff's alpha 0.00" in said
    assert "Ana no, Ben yes" in said and "Ana yes, Ben yes" in said
    assert {one["status"] for one in own.view().values()} == {"undecided"}
    own.draft(f"rate {FIRST} undo", by="Ben")
    assert shown("Ben")["ratings"] == {}
    again = own.draft(f"rate {FIRST} undo", by="Ben", code=2)
    assert f"Ben has no rating on {FIRST} to withdraw" in again
    own.draft(f"edit {SECOND} --horizon 14")
    assert own.view()[SECOND]["ratings_given"] == 0
    own.draft(f"undo {SECOND}")
    assert own.view()[SECOND]["ratings_given"] == 2


def test_edit_lists_its_changes_and_is_undone(own):
    before = own.view()[FIRST]
    said = own.draft(f"edit {FIRST} --horizon 14 --tag wrap")
    assert "horizon: 12 -> 14" in said and "it fits" in said
    own.draft(f"accept {FIRST}")
    draft = drafts.open_draft(own.workspace, "own")
    edited = draft.candidate(FIRST, own.view()[FIRST]["scenario"])
    assert (edited.horizon, edited.tags) == (14, ("wrap",))
    own.draft("edit", FIRST, "--instruction", "Go there.")
    assert own.view()[FIRST]["status"] == "accepted"
    for _ in range(3):
        own.draft(f"undo {FIRST}")
    after = own.view()[FIRST]
    assert (after["status"], after["scenario"]) == ("undecided", "")
    assert after["row_hash"] == before["row_hash"]


def test_decision_during_a_freeze_is_refused_and_not_kept(own, monkeypatch):
    own.draft(f"accept {FIRST} where-is-good-01")
    rest = [id for id, one in own.view().items() if one["status"] == "undecided"]
    own.draft("reject", *rest, "--reason", "twin")
    author = curation.find_or_add_curator

    def meanwhile(*given: Any) -> Any:
        freezing.freeze(own.workspace, "own")
        return author(*given)

    monkeypatch.setattr(curation, "find_or_add_curator", meanwhile)
    assert "draft own was frozen as own@1" in own.draft(f"undo {FIRST}", code=1)
    draft = drafts.open_draft(own.workspace, "own")
    with AnnotationStore.open(own.workspace) as store:
        assert "undo" not in {one.kind for one in ask(store, decisions.load_decisions, draft.id)}


def test_version_holds_the_accepted_and_its_successor_keeps_them(own):
    kept = (FIRST, "shadow-evil-03", "where-is-good-01", "where-is-good-02")
    own.draft("accept", *kept)
    own.draft(f"reject {SECOND} where-is-good-03 --reason twin")
    own("suite freeze own --description first")
    first = suites.load(own.workspace, "own@1")
    assert tuple(s.id for s in first.scenarios) == kept
    assert first.changes == () and first.last == {"shadow-evil": 3, "where-is-good": 3}
    assert "draft own was frozen as own@1" in own.draft(f"accept {SECOND}", code=1)

    assert "own@1 is frozen: start the next version" in own("mine own", code=1)
    own("draft new --from own@1")
    assert {one["status"] for one in own.view().values()} == {"kept"}
    own("mine own --category shadow-evil --per-category 5 --seed 9")
    new = sorted(set(own.view()) - {*kept})
    assert new and all(int(id.rpartition("-")[2]) > 3 for id in new)
    own.draft("accept", *new, "--reason", "more of it")
    own.draft("retire", "shadow-evil-03", "--reason", "too easy")
    own.draft("edit", FIRST, "--horizon", "14", "--reason", "too short")
    own.draft("edit where-is-good-01 --tag edge")
    said = own.draft("diff")
    replaced = f"shadow-evil-{max(int(id[-2:]) for id in new) + 1:02d}"
    assert f"- {FIRST} by {replaced}: too short" in said and "- shadow-evil-03: too easy" in said
    assert "2 scenarios of own@1 are kept" in said
    assert "can be frozen" in own.draft("check")
    own("suite freeze own")
    second = suites.load(own.workspace, "own@2")
    old, new_ones = ({s.id: s for s in suite.scenarios} for suite in (first, second))
    assert new_ones["where-is-good-01"].hash == old["where-is-good-01"].hash
    assert new_ones["where-is-good-01"].tags == ("edge",)
    assert new_ones[replaced].replaces == FIRST and FIRST not in new_ones
    changes = {("replaced", FIRST), ("retired", "shadow-evil-03"), *(("added", id) for id in new)}
    assert {(c.kind, c.id) for c in second.changes} == changes
    assert second.provenance["draft"] != first.provenance["draft"]
    assert suites.load(own.workspace, "own@1").hash == first.hash


def test_candidate_is_added_at_a_chosen_moment(own):
    category = categories.load_category("where-is-good")
    one = on_test_side(recordings())[0]
    candidate = category.find_candidates(one)[0]
    words = f"add --trajectory {one.id} --player {candidate.player} --category {category.name}"
    said = own.draft(f"{words} --takeover {candidate.takeover}")
    assert "added where-is-good-04: In which direction" in said
    assert own.view()["where-is-good-04"]["status"] == "undecided"
    outside = own.draft(f"{words} --takeover 4000", code=2)
    assert "expected a takeover from 10 to 35" in outside


def test_freeze_runs_the_checks_of_the_categories(own):
    own.draft("accept --all")
    where = categories.load_category("where-is-good")
    one = next(s for s in candidates(own.workspace, "own") if s.category == where.name)
    recording = trajectory_store.find_trajectory(own.workspace, one.trajectory)
    asked = {c.takeover for c in where.find_candidates(recording) if c.player == one.players[0]}
    unfit = next(t for t in range(10, 35) if t not in asked)
    assert "it does not fit" in own.draft(f"edit {one.id} --takeover {unfit}")
    for refused in (own("suite freeze own", code=1), own.draft("check", code=1)):
        assert f"{one.id}: Good is not in sight at the takeover" in refused
    own.draft(f"undo {one.id}")
    for id in (FIRST, SECOND, "shadow-evil-03"):
        own.draft(f"undo {id}")
        own.draft(f"reject {id} --reason x")
    assert "category shadow-evil would be empty" in own("suite freeze own", code=1)
    assert not own.workspace.path("suites", "own").exists()


def test_only_curators_decide(own):
    own("annotators add Guest")
    accept, undo = f"accept {FIRST}", f"undo {FIRST}"
    assert "Guest is not a curator of this study" in own.draft(accept, by="Guest", code=2)
    own("annotators role Guest curator")
    own.draft(accept, by="Guest")
    own("annotators deactivate Guest")
    assert "is not a curator" in own.draft(undo, by="Guest", code=2)


def test_draft_without_its_recordings_is_decided_and_frozen_but_not_edited(own):
    for file in own.workspace.path("trajectories").iterdir():
        file.unlink()
    assert "unknown trajectory" in own.draft(f"edit {FIRST} --horizon 9", code=2)
    assert own.view()[FIRST]["decisions"] == []
    own.draft(f"reject {FIRST} --reason unclear")
    own.draft(f"rate {SECOND} no")
    own.draft(f"undo {FIRST}")
    own.draft("accept --all")
    own("suite freeze own")
    assert len(suites.load(own.workspace, "own@1").scenarios) == 6
