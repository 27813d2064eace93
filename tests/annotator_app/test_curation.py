"""What a curator's page sends and gets, without a browser."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sts.annotations import decisions, people
from sts.annotations.store import Store
from sts.annotations.types import Annotator
from sts.errors import StoreError
from sts.storage.workspace import Workspace
from sts.suites import drafts
from sts.suites import store as suites
from sts.trajectories import store as trajectories
from sts_annotator_app.curation.drafts import Drafts
from sts_annotator_app.curation.exchange import AHEAD, sync_page
from sts_annotator_app.curation.ghosts import PreviewWorker
from sts_annotator_app.events import UNSAVED, storage_namespace
from sts_scenarios.profiles import Profiles
from tests.annotator_app.components.test_types import declared
from tests.examples import accepted, on_test_side, recorded, scenarios
from tests.stores import add_person, ask

IDS = [f"clean-take-{n:02d}" for n in range(1, 5)]


class Study:
    """A workspace with a draft, and pages of two curators."""

    def __init__(self, workspace: Workspace, store: Store) -> None:
        self.workspace, self.store = workspace, store
        self.drafts = Drafts(workspace)
        trajectories.save(workspace, on_test_side(recorded(count=64))[:4])
        self.draft = drafts.begin(workspace, "own", scenarios(4))
        self.ana = add_person(store, "Ana", ("curator",))
        self.ben = add_person(store, "Ben", ("curator",))

    def sends(self, who: Annotator, sent: object = None) -> dict[str, Any]:
        """Return what a page gets for what it sends."""
        if isinstance(sent, dict):
            sent = {"author": storage_namespace("here", who.id)} | sent
        data = sync_page(self.drafts, self.store, who, sent, place="here")
        json.dumps(data, allow_nan=False)
        return data

    def decides(self, who: Annotator, *every: object) -> list[str]:
        """Return what is said of each decision that is sent: "" where it is kept."""
        return [ack["message"] for ack in self.sends(who, {"outbox": list(every)})["acks"]]

    def decision(self, kind: str, candidate: str = IDS[0], **more: Any) -> dict[str, Any]:
        own = {"draft": self.draft.id, "candidate": candidate, "kind": kind, "follows": ""}
        return own | {"uuid": secrets.token_hex(16)} | more

    @property
    def kept(self) -> list[tuple[str, str, str]]:
        """Every decision: who, what, about which."""
        return [
            (d.by, d.kind, d.candidate) for d in ask(self.store, decisions.of_draft, self.draft.id)
        ]


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    workspace = Workspace.open(str(tmp_path)).ensure()
    with Store.open(workspace) as store:
        yield Study(workspace, store)


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """A study for what changes nothing."""
    workspace = Workspace.open(str(tmp_path_factory.mktemp("untouched"))).ensure()
    with Store.open(workspace) as store:
        yield Study(workspace, store)


def test_a_page_opens_at_what_is_undecided_with_the_next_ones_at_hand(study: Study) -> None:
    data = study.sends(study.ana)
    assert (data["at"], data["position"], data["total"]) == (IDS[0], 0, 4)
    assert data["list"]["status"] == "undecided" and data["ids"] == IDS
    assert [one["id"] for one in data["candidates"]] == IDS[: AHEAD + 1]
    first = data["candidates"][0]
    assert first["text"] == "Go to Good." and first["difficulty"] == "easy"
    assert first["episode"]["takeover"] == first["context"] == 6
    assert sum(row[-1] for row in data["coverage"]) == 4
    has = [[one["id"], one["mark"]] for one in data["candidates"][:3]]
    again = study.sends(study.ana, {"draft": "own", "has": has})
    assert [one["id"] for one in again["candidates"]] == IDS[3:]


def test_a_decision_is_kept_once_however_often_it_is_sent(study: Study) -> None:
    one = study.decision("accept")
    assert study.decides(study.ana, one, one) == ["", ""] == study.decides(study.ana, one, one)
    assert study.kept == [("Ana", "accept", IDS[0])]
    follows = one["uuid"]
    other = study.decision("reject", follows=follows, reason="unclear")
    assert study.decides(study.ben, other) == [""]
    undo = study.decision("undo", follows=other["uuid"], undoes=other["uuid"])
    assert study.decides(study.ben, undo) == [""]
    data = study.sends(study.ana, {"at": IDS[0]})
    (state,) = [one for one in data["states"] if one["id"] == IDS[0]]
    assert state["standing"] == [[follows, "accept", "Ana", ""]] and state["last"] == undo["uuid"]
    assert [line["kind"] for line in data["log"]] == ["undo", "reject", "accept"]
    assert [one["uuid"] for one in data["undoable"]] == [follows]


def test_a_list_stays_as_it_was_chosen_while_it_is_gone_through(study: Study) -> None:
    chosen = study.sends(study.ana)["list"]
    assert study.decides(study.ana, *(study.decision("accept", id) for id in IDS[:3])) == [""] * 3
    same = study.sends(study.ana, {"list": chosen, "at": IDS[2]})
    assert (same["total"], same["position"], same["ids"]) == (4, 2, IDS)
    anew = study.sends(study.ana, {"list": chosen | {"number": None}})
    assert (anew["ids"], anew["list"]["number"]) == (IDS[3:], 3)
    other = study.sends(study.ana, {"list": chosen | {"number": None, "status": "accepted"}})
    assert other["ids"] == IDS[:3]
    none = study.sends(study.ana, {"list": chosen | {"category": "shadow-evil"}, "at": IDS[1]})
    assert (none["total"], none["position"], none["at"]) == (0, None, IDS[1])


def test_what_another_has_decided_since_is_said_in_one_sentence(study: Study) -> None:
    assert study.decides(study.ana, study.decision("reject", reason="unclear")) == [""]
    assert study.decides(study.ben, study.decision("accept")) == [
        f"{IDS[0]} has changed since you saw it: it is now rejected by Ana (unclear); reload it "
        "and decide again"
    ]
    assert study.kept == [("Ana", "reject", IDS[0])]


def _edit(**changes: object) -> dict[str, Any]:
    return {"kind": "edit", "changes": changes}


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown draft": ({"draft": "f" * 32}, "this draft was removed or replaced"),
    "a draft of no kind": ({"draft": ["own"]}, "this draft was removed or replaced"),
    "an unknown candidate": (
        {"candidate": "shadow-evil-09"},
        "unknown candidate of draft own 'shadow-evil-09'",
    ),
    "a candidate of no kind": ({"candidate": {"id": 1}}, "unknown candidate of draft own"),
    "a stale decision": ({"follows": "a" * 32}, f"{IDS[0]} has changed since you saw it"),
    "a kind of nobody": ({"kind": "burn"}, "expected a decision of accept, reject, retire"),
    "no kind": ({"kind": None}, "expected a decision of accept, reject, retire"),
    "a list to follow": ({"follows": [""]}, "the texts follows and reason"),
    "a number for a reason": ({"reason": 5}, "follows and reason"),
    "no reason": ({"kind": "reject"}, f"a reason is required to reject {IDS[0]}"),
    "a blank reason": ({"kind": "reject", "reason": "  "}, "a reason is required to reject"),
    "an oversized reason": (
        {"kind": "reject", "reason": "x" * 501},
        "at most 500 printable characters",
    ),
    "lines for a reason": ({"kind": "reject", "reason": "a\nb"}, "expected a reason of one line"),
    "a retirement of what is new": (
        {"kind": "retire", "reason": "old"},
        f"reject {IDS[0]} instead",
    ),
    "a takeover outside the trajectory": (_edit(takeover=99), "expected a takeover from 6 to 16"),
    "a takeover before it begins": (_edit(takeover=-1), "expected a takeover from 6 to 16"),
    "a takeover of no kind": (_edit(takeover="8"), "takeover: expected int, found '8'"),
    "a truth for a number": (_edit(length=True), "length: expected int, found 'True'"),
    "a role of nobody": (_edit(role=7), "expected a role from 0 to 1, found 7"),
    "a wording of nobody": (_edit(wording=77), "expected a wording from 0 to"),
    "an unknown category": (_edit(category="fly"), "unknown category 'fly'"),
    "a field of nobody": (_edit(hash="a"), "expected a change of takeover"),
    "markup": (_edit(text="Go <b>there</b>."), "an instruction without markup, found '<b>'"),
    "oversized words": (_edit(text="x" * 2001), "at most 2000 printable characters"),
    "words of several lines": (_edit(text="go\nthere"), "an instruction of one line"),
    "tags of no kind": (_edit(tags=[5]), "expected tags of at most"),
    "too many tags": (_edit(tags=["t"] * 21), "expected at most 20 tags, found 21"),
    "changes of no kind": ({"kind": "edit", "changes": [1]}, "expected changes by name"),
    "undoing nothing": ({"kind": "undo", "undoes": "b" * 32}, "has no decision to undo"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_cannot_be_a_decision_is_refused_in_one_sentence_and_leaves_nothing(
    untouched: Study, what: str
) -> None:
    more, said = BAD[what]
    (message,) = untouched.decides(untouched.ana, untouched.decision("accept") | more)
    assert said in message and "\n" not in message and len(message) < 400
    assert untouched.kept == []


def test_an_edit_is_derived_shown_and_kept_as_it_was_shown(study: Study) -> None:
    asked = {"candidate": IDS[0], "number": 7, "changes": {"takeover": 12}, "whole": True}
    tried = study.sends(study.ana, {"edit": asked})["edit"]
    assert (tried["number"], tried["facts"]["moment"]) == (7, 12) and study.kept == []
    assert (
        tried["whole"]["episode"]["steps"] == 24 and "shadow-evil" in tried["whole"]["categories"]
    )
    assert ["takeover", "8", "12"] in tried["changes"]
    text = "Go where Good is."
    one = study.decision("edit", changes={"takeover": 12, "text": text})
    assert study.decides(study.ana, one, one) == ["", ""]
    has = [[IDS[0], study.draft.summaries()[0].row_hash]]
    data = study.sends(study.ana, {"at": IDS[0], "has": has})
    shown = next(one for one in data["candidates"] if one["id"] == IDS[0])
    assert (shown["moment"], shown["text"]) == (12, text)
    assert data["log"][0]["why"] == "takeover, text"
    again = study.decision("edit", follows=one["uuid"], changes={"takeover": 12})
    assert study.decides(study.ana, again) == [f"the edit does not change {IDS[0]}"]
    undo = study.decision("undo", follows=one["uuid"], undoes=one["uuid"])
    assert study.decides(study.ana, undo) == [""]
    data = study.sends(study.ana, {"at": IDS[0]})
    assert data["candidates"][0]["text"] == "Go to Good."


def test_where_the_recording_is_gone_an_edit_says_so_and_the_rest_goes_on(study: Study) -> None:
    for file in study.workspace.path("trajectories").glob("*.parquet"):
        file.unlink()
    tried = study.sends(study.ana, {"edit": {"candidate": IDS[0], "changes": {"length": 5}}})
    assert "unknown trajectory" in tried["edit"]["error"]
    (message,) = study.decides(study.ana, study.decision("edit", changes={"length": 5}))
    assert "unknown trajectory" in message and study.kept == []
    assert study.decides(study.ana, study.decision("accept")) == [""]


@pytest.mark.parametrize("what", ["edit", "sight"])
@pytest.mark.parametrize(
    "sent", [[], 7, "shadow-evil-99", {"candidate": []}, {"changes": {"a": 1}}]
)
def test_a_question_of_no_sense_changes_nothing(untouched: Study, what: str, sent: object) -> None:
    data = untouched.sends(untouched.ana, {what: sent})
    assert data["draft"] and (data[what] is None or "error" in data[what])


def test_what_the_asked_one_sees_comes_on_request(study: Study) -> None:
    assert study.sends(study.ana)["sight"] is None
    sight = study.sends(study.ana, {"sight": IDS[1]})["sight"]
    assert (sight["id"], sight["broken"], len(sight["view"]["frames"])) == (IDS[1], "", 15)


@pytest.mark.parametrize(
    "sent",
    [[], "text", 7, {"outbox": 5}, {"outbox": [5, None, {"uuid": "short"}, {}]}, {"list": []},
     {"list": {"category": ["ambush"]}}, {"list": {"status": "x" * 10_000}}, {"at": ["ambush-01"]},
     {"draft": {}}, {"has": [5, ["a"], [1, 2]]}, {"list": {"number": 10**9}}, {"has": "own"}],
)  # fmt: skip
def test_a_message_of_no_sense_ends_no_page(untouched: Study, sent: object) -> None:
    data = untouched.sends(untouched.ana, sent)
    assert data["draft"]["name"] == "own" and data["acks"] == [] == untouched.kept


def test_another_persons_decisions_are_nobody_elses(study: Study) -> None:
    sent = {"author": storage_namespace("here", study.ana.id), "outbox": [study.decision("accept")]}
    assert study.sends(study.ben, sent)["acks"] == [] == study.kept


def test_the_uuid_of_another_decision_is_refused(study: Study) -> None:
    one = study.decision("accept")
    assert study.decides(study.ana, one) == [""]
    elsewhere = study.decision("accept", IDS[1], uuid=one["uuid"])
    for who, sent in ((study.ben, one), (study.ana, elsewhere)):
        (message,) = study.decides(who, sent)
        assert "another decision has this uuid" in message
    assert study.kept == [("Ana", "accept", IDS[0])]


def test_a_store_that_fails_acknowledges_nothing(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*given: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(decisions, "append", fails)
    data = study.sends(study.ana, {"outbox": [study.decision("accept")]})
    assert data["acks"] == [] and data["trouble"].startswith(UNSAVED)


def test_a_study_without_a_draft_says_how_one_is_begun(tmp_path: Path) -> None:
    workspace = Workspace.open(str(tmp_path)).ensure()
    with Store.open(workspace) as store:
        ana = add_person(store, "Ana", ("curator",))
        data = sync_page(Drafts(workspace), store, ana, None, place="here")
    assert data["draft"] is None and "sts mine" in data["empty"]["text"]


def test_a_draft_that_was_frozen_meanwhile_takes_no_decision(tmp_path: Path) -> None:
    workspace = Workspace.open(str(tmp_path)).ensure()
    draft = accepted(workspace, "own", scenarios(2))
    suites.freeze(workspace, "own", scenarios(2), made_by={"draft": draft.id})
    with Store.open(workspace) as store:
        (ana,) = ask(store, people.everybody)
        sent = {
            "draft": draft.id,
            "candidate": IDS[0],
            "kind": "accept",
            "follows": "",
            "uuid": "9" * 32,
        }
        message = {"author": storage_namespace("here", ana.id), "outbox": [sent]}
        data = sync_page(Drafts(workspace), store, ana, message, place="here")
    assert "was frozen as own@1" in data["acks"][0]["message"] and data["draft"] is None


def test_candidates_that_are_mined_later_appear(study: Study) -> None:
    study.sends(study.ana)
    new = [one for one in scenarios(6) if one.id not in IDS]
    drafts.add(study.draft, new)
    assert study.sends(study.ana)["total"] == 6


def test_a_candidate_whose_file_is_gone_is_said_to_be_broken(study: Study) -> None:
    for file in study.workspace.path("drafts", "own").rglob("*.parquet"):
        assert study.sends(study.ana)["candidates"][0]["broken"] == ""
        file.unlink()
    again = Drafts(study.workspace)
    data = sync_page(again, study.store, study.ana, None, place="here")
    assert "is missing" in data["trouble"]


def test_profiles_come_when_they_are_made_and_a_continuation_is_shown_on_request(
    study: Study,
) -> None:
    ghosts = PreviewWorker(study.workspace)
    opened = study.drafts.open_draft("own", study.store)
    one = opened.candidates[IDS[0]]
    assert ghosts.count_passes(opened, [one]) == []
    made = Profiles(opened.draft).make(one)
    (found,) = ghosts.count_passes(opened, [one])
    assert found["passed"] == [[name, *p] for name, p in made.passed.items()]
    shown = ghosts.load_episode(opened, {"candidate": IDS[0], "agent": "random"})
    assert shown is not None
    assert (shown["mark"], shown["episode"]["takeover"]) == (opened.current_hash(one), 6)
    wrong: object
    for wrong in (
        None,
        [],
        {"candidate": "shadow-evil-99", "agent": "random"},
        {"candidate": IDS[0]},
    ):
        assert ghosts.load_episode(opened, wrong) is None
    nobody = ghosts.load_episode(opened, {"candidate": IDS[0], "agent": "<b>nobody</b>"})
    assert nobody is not None and "unknown agent" in nobody["broken"]


def test_the_other_half_of_a_pair_is_shown_beside_it(tmp_path: Path) -> None:
    workspace = Workspace.open(str(tmp_path)).ensure()
    one, two, alone = scenarios(3)
    pair = [replace(one, pair="p-01"), replace(two, pair="p-01", tags=("b",)), alone]
    drafts.begin(workspace, "own", pair)
    with Store.open(workspace) as store:
        ana, every = add_person(store, "Ana", ("curator",)), Drafts(workspace)
        half = sync_page(every, store, ana, None, place="here")["half"]
        assert (half["of"], half["id"], half["tags"]) == (IDS[0], IDS[1], ["b"])
        sent = {"author": storage_namespace("here", ana.id), "at": IDS[2]}
        assert sync_page(every, store, ana, sent, place="here")["half"] is None


def test_a_second_opinion_is_given_without_what_others_have_said_and_then_compared(
    study: Study,
) -> None:
    def opines(who: Annotator, id: str, word: str, **more: Any) -> str:
        mark = study.drafts.open_draft("own", study.store).candidates[id].summary.row_hash
        one = study.decision("opinion", id, opinion=word, mark=mark) | more
        (message,) = study.decides(who, one)
        return message or one["uuid"]

    accepted = study.decision("accept", IDS[1])
    assert study.decides(study.ben, accepted) == [""]
    blind = {"list": {"status": "second"}, "at": IDS[1]}
    for id in IDS[:2]:
        assert len(opines(study.ana, id, "yes")) == 32
    told = json.dumps(study.sends(study.ben, blind) | {"author": ""})
    assert "Ana" not in told and accepted["uuid"] not in told and "accepted" not in told
    assert study.sends(study.ana, blind)["ids"] == IDS[2:]

    assert len(opines(study.ben, IDS[0], "yes")) == 32
    taken = opines(study.ben, IDS[1], "yes")
    data = study.sends(study.ben, blind)
    assert [one["uuid"] for one in data["undoable"]][0] == taken
    undo = study.decision("undo", IDS[1], follows=accepted["uuid"], undoes=taken)
    assert study.decides(study.ben, undo) == [""]
    (state,) = [
        one for one in study.sends(study.ben, {"at": IDS[1]})["states"] if one["id"] == IDS[1]
    ]
    assert (state["opinion"], state["opinions"]) == ("", [])  # nor are hers shown as yet
    assert len(opines(study.ben, IDS[1], "no")) == 32

    data = study.sends(study.ben, {"at": IDS[1]})
    (state,) = [one for one in data["states"] if one["id"] == IDS[1]]
    assert state["opinions"] == [["Ana", "yes"], ["Ben", "no"]]
    assert (data["agreement"]["agreeing"], data["agreement"]["pairs"]) == (1, 2)
    assert study.drafts.open_draft("own", study.store).candidates[IDS[1]].status == "accepted"
    assert "expected an opinion of yes or no" in opines(study.ben, IDS[2], "maybe")
    assert "was edited since you saw it" in opines(study.ben, IDS[2], "no", mark="f" * 64)


def test_the_scripts_types_name_what_the_server_sends(study: Study) -> None:
    asked = {"candidate": IDS[0], "number": 1, "changes": {}, "whole": True}
    data = study.sends(study.ana, {"edit": asked, "sight": IDS[0]})
    sent = {
        "Candidate": data["candidates"][0],
        "Decided": data["states"][0],
        "Drafted": {name: one for name, one in data.items() if name not in ("author", "empty")},
        "Tried": data["edit"],
    }
    for name, one in sent.items():
        fields = declared(name)
        assert one.keys() <= fields.keys(), name
        assert {field for field, optional in fields.items() if not optional} <= one.keys(), name
