"""Messages of the curator's page, without a browser."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.log import decisions
from sts.annotations.people import people
from sts.annotations.records import Annotator
from sts.errors import StoreError
from sts.storage.workspace import Workspace
from sts.suites import drafts
from sts.suites import suite_store as suites
from sts.trajectories import trajectory_store as trajectories
from sts_annotator_app.annotating import UNSAVED, storage_namespace
from sts_annotator_app.curation.drafts import DraftCache
from sts_annotator_app.curation.previews import PreviewWorker
from sts_annotator_app.curation.sync import AHEAD, sync_page
from sts_scenarios.draft.stored_profiles import Profiles
from tests.annotator_app.components.test_node import check_declared
from tests.examples import CLEAN_TAKE, accepted, on_test_side, recorded, scenarios
from tests.stores import add_person, ask

IDS = [f"clean-take-{n:02d}" for n in range(1, 5)]


def talk(
    workspace: Workspace, store: AnnotationStore, person: Annotator, sent: object
) -> dict[str, Any]:
    """Return the answer to a message of a person's page, by a server that has just started."""
    if isinstance(sent, dict):
        sent = {"author": storage_namespace("here", person.id)} | sent
    return sync_page(DraftCache(workspace), store, person, sent, workspace_path="here")


class Study:
    """A workspace with a draft, and pages of two curators."""

    def __init__(self, workspace: Workspace, store: AnnotationStore) -> None:
        self.workspace, self.store = workspace, store
        self.drafts = DraftCache(workspace)
        trajectories.save(workspace, on_test_side(recorded(count=64))[:4])
        self.draft = drafts.create_draft(workspace, "own", scenarios(4))
        self.ana, self.ben = (add_person(store, name, ("curator",)) for name in ("Ana", "Ben"))

    def sends(self, person: Annotator, sent: object = None) -> dict[str, Any]:
        """Return the answer to a message of a person's page."""
        if isinstance(sent, dict):
            sent = {"author": storage_namespace("here", person.id)} | sent
        data = sync_page(self.drafts, self.store, person, sent, workspace_path="here")
        json.dumps(data, allow_nan=False)
        return data

    def decides(self, person: Annotator, *every: object) -> list[str]:
        """Return the message about each decision that is sent: "" for one that is saved."""
        return [ack["message"] for ack in self.sends(person, {"outbox": list(every)})["acks"]]

    def decision(self, kind: str, candidate: str = IDS[0], **more: Any) -> dict[str, Any]:
        own = {"draft": self.draft.id, "candidate": candidate, "kind": kind, "follows": ""}
        return own | {"uuid": secrets.token_hex(16)} | more

    def state(self, person: Annotator, id: str) -> dict[str, Any]:
        """Return the state of a candidate as a person's page is sent it."""
        states = self.sends(person, {"at": id})["states"]
        (found,) = [one for one in states if one["id"] == id]
        return dict(found)

    @property
    def kept(self) -> list[tuple[str, str, str]]:
        """Every decision: its author, kind and candidate."""
        every = ask(self.store, decisions.load_decisions, self.draft.id)
        return [(d.by, d.kind, d.candidate) for d in every]


@pytest.fixture
def study(workspace: Workspace, store: AnnotationStore) -> Study:
    return Study(workspace, store)


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """A study for tests that change nothing."""
    workspace = Workspace.open(str(tmp_path_factory.mktemp("untouched"))).create()
    with AnnotationStore.open(workspace) as store:
        yield Study(workspace, store)


def test_page_opens_at_the_first_undecided_candidate_with_the_next_ones(study: Study) -> None:
    data = study.sends(study.ana)
    assert (data["at"], data["position"], data["total"]) == (IDS[0], 0, 4)
    assert data["list"]["status"] == "undecided" and data["ids"] == IDS
    assert [one["id"] for one in data["candidates"]] == IDS[: AHEAD + 1]
    first = data["candidates"][0]
    assert first["instruction"] == CLEAN_TAKE and first["difficulty"] == "easy"
    assert first["episode"]["takeover"] == first["context"] == 6
    assert sum(row[-1] for row in data["coverage"]) == 4
    has = [[one["id"], one["mark"]] for one in data["candidates"][:3]]
    again = study.sends(study.ana, {"draft": "own", "has": has})
    assert [one["id"] for one in again["candidates"]] == IDS[3:]


def test_decision_is_saved_once_and_undone_by_another_curator(study: Study) -> None:
    one = study.decision("accept")
    assert study.decides(study.ana, one, one) == ["", ""] == study.decides(study.ana, one, one)
    assert study.kept == [("Ana", "accept", IDS[0])]
    follows = one["uuid"]
    other = study.decision("reject", follows=follows, reason="unclear")
    assert study.decides(study.ben, other) == [""]
    undo = study.decision("undo", follows=other["uuid"], undoes=other["uuid"])
    assert study.decides(study.ben, undo) == [""]
    state, data = study.state(study.ana, IDS[0]), study.sends(study.ana, {"at": IDS[0]})
    assert state["standing"] == [[follows, "accept", "Ana", ""]] and state["last"] == undo["uuid"]
    assert [line["kind"] for line in data["log"]] == ["undo", "reject", "accept"]
    assert [one["uuid"] for one in data["undoable"]] == [follows]


def test_page_starts_at_the_first_undecided_and_counts_those_elsewhere(
    study: Study,
) -> None:
    assert study.decides(study.ana, *(study.decision("accept", id) for id in IDS[:2])) == [""] * 2
    every = study.sends(study.ana, {"list": {"status": ""}})
    assert (every["at"], every["position"], every["elsewhere"]) == (IDS[2], 2, 0)
    accepted = study.sends(study.ana, {"list": {"status": "accepted"}})
    assert (accepted["at"], accepted["elsewhere"]) == (IDS[0], 2)
    assert study.sends(study.ana, {"list": {"status": "second"}})["elsewhere"] is None


def test_decision_that_changes_nothing_is_acknowledged_but_not_recorded(study: Study) -> None:
    one = study.decision("reject", reason="unclear")
    again = study.decision("reject", follows=one["uuid"], reason="unclear")
    assert study.decides(study.ana, one, again) == ["", ""]
    assert study.kept == [("Ana", "reject", IDS[0])]


def test_names_and_texts_in_a_refusal_are_isolated(study: Study) -> None:
    assert study.decides(study.ana, study.decision("reject", reason="לא ברור (2)")) == [""]
    (late,) = study.decides(study.ben, study.decision("accept"))
    assert "rejected by Ana (\u2068לא ברור (2)\u2069); reload" in late
    (unknown,) = study.decides(study.ben, study.decision("accept", "אחר"))
    assert "unknown candidate of draft own \u2068'אחר'\u2069" in unknown


def test_decisions_are_acknowledged_before_many_candidates_are_loaded(study: Study) -> None:
    decision, message = study.decision("accept"), {"draft": "own", "at": IDS[1]}
    data = study.sends(study.ana, message | {"outbox": [decision]})
    assert [ack["status"] for ack in data["acks"]] == ["saved"]
    assert [one["id"] for one in data["candidates"]] == [IDS[1]]
    has = [[one["id"], one["mark"]] for one in data["candidates"]]
    rest = study.sends(study.ana, message | {"has": has})["candidates"]
    assert [one["id"] for one in rest] == IDS[2:]


def test_list_stays_fixed_until_it_is_chosen_again(study: Study) -> None:
    chosen = study.sends(study.ana)["list"]
    assert study.decides(study.ana, *(study.decision("accept", id) for id in IDS[:3])) == [""] * 3
    same = study.sends(study.ana, {"list": chosen, "at": IDS[2]})
    assert (same["total"], same["position"], same["ids"]) == (4, 2, IDS)
    again = study.sends(study.ana, {"list": chosen | {"number": None}})
    assert (again["ids"], again["list"]["number"]) == (IDS[3:], 3)
    other = study.sends(study.ana, {"list": chosen | {"number": None, "status": "accepted"}})
    assert other["ids"] == IDS[:3]
    none = study.sends(study.ana, {"list": chosen | {"category": "shadow-evil"}, "at": IDS[1]})
    assert (none["total"], none["position"], none["at"]) == (0, None, IDS[1])


def test_stale_decision_is_refused_with_the_decision_of_the_other_curator(study: Study) -> None:
    assert study.decides(study.ana, study.decision("reject", reason="unclear")) == [""]
    assert study.decides(study.ben, study.decision("accept")) == [
        f"{IDS[0]} has changed since you saw it: it is now rejected by Ana (unclear); reload it "
        "and decide again"
    ]
    assert study.kept == [("Ana", "reject", IDS[0])]


def _edit(**changes: object) -> dict[str, Any]:
    return {"kind": "edit", "changes": changes}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"draft": "f" * 32}, "this draft was removed or replaced"),
        ({"draft": ["own"]}, "this draft was removed or replaced"),
        ({"candidate": "shadow-evil-09"}, "unknown candidate of draft own 'shadow-evil-09'"),
        ({"candidate": {"id": 1}}, "unknown candidate of draft own"),
        ({"follows": "a" * 32}, f"{IDS[0]} has changed since you saw it"),
        ({"kind": "burn"}, "expected a decision of accept, reject, retire"),
        ({"kind": None}, "expected a decision of accept, reject, retire"),
        ({"follows": [""]}, "the texts follows and reason"),
        ({"reason": 5}, "follows and reason"),
        ({"kind": "reject"}, f"a reason is required to reject {IDS[0]}"),
        ({"kind": "reject", "reason": "x" * 501}, "at most 500 printable characters"),
        ({"kind": "retire", "reason": "old"}, f"reject {IDS[0]} instead"),
        (_edit(takeover=99), "expected a takeover from 6 to 16"),
        (_edit(horizon=True), "horizon: expected int, found 'True'"),
        (_edit(category="Fly high"), "expected a category of lower-case letters"),
        (_edit(hash="a"), "expected a change of takeover"),
        (_edit(instruction="Go <b>there</b>."), "an instruction without markup, found '<b>'"),
        (_edit(instruction="x" * 2001), "at most 2000 printable characters"),
        (_edit(tags=["t"] * 21), "expected at most 20 tags, found 21"),
        ({"kind": "edit", "changes": [1]}, "expected changes by name"),
        ({"kind": "undo", "undoes": "b" * 32}, "has no decision to undo"),
    ],
)
def test_invalid_decision_is_refused_in_one_line_and_saves_nothing(
    untouched: Study, more: dict[str, Any], words: str
) -> None:
    (message,) = untouched.decides(untouched.ana, untouched.decision("accept") | more)
    assert words in message and "\n" not in message and len(message) < 400
    assert untouched.kept == []


def test_edit_is_previewed_saved_once_and_undone(study: Study) -> None:
    asked = {"candidate": IDS[0], "number": 7, "changes": {"takeover": 12}, "whole": True}
    tried = study.sends(study.ana, {"edit": asked})["edit"]
    assert (tried["number"], tried["facts"]["takeover"]) == (7, 12) and study.kept == []
    whole = tried["whole"]
    assert whole["episode"]["steps"] == 24 and "shadow-evil" in whole["categories"]
    assert ["takeover", "8", "12"] in tried["changes"]
    text = "Go where Good is."
    one = study.decision("edit", changes={"takeover": 12, "instruction": text})
    assert study.decides(study.ana, one, one) == ["", ""]
    has = [[IDS[0], study.draft.summaries()[0].row_hash]]
    data = study.sends(study.ana, {"at": IDS[0], "has": has})
    shown = next(one for one in data["candidates"] if one["id"] == IDS[0])
    assert (shown["takeover"], shown["instruction"]) == (12, text)
    assert data["log"][0]["why"] == "instruction, takeover"
    again = study.decision("edit", follows=one["uuid"], changes={"takeover": 12})
    assert study.decides(study.ana, again) == [f"the edit does not change {IDS[0]}"]
    undo = study.decision("undo", follows=one["uuid"], undoes=one["uuid"])
    assert study.decides(study.ana, undo) == [""]
    data = study.sends(study.ana, {"at": IDS[0]})
    assert data["candidates"][0]["instruction"] == CLEAN_TAKE


def test_preview_marks_the_steps_that_fit_also_for_an_edit_that_does_not(study: Study) -> None:
    def tried(**changes: object) -> dict[str, Any]:
        asked = {"candidate": IDS[0], "number": 1, "changes": changes, "whole": True}
        return dict(study.sends(study.ana, {"edit": asked})["edit"])

    changed = tried(partner="agent:random", difficulty="hard", pair="p")
    assert changed["facts"]["difficulty"] == "hard" and "is random" in changed["notice"]
    assert {"no-op", "replay", "agent:random"} <= {*changed["whole"]["partners"]}
    steps = {step for step in range(6, 17) if tried(takeover=step)["facts"]["fault"] is None}
    unfit = tried(takeover=99)
    assert "expected a takeover from 6 to 16" in unfit["error"]
    assert {*unfit["steps"]} == steps == {*tried()["steps"]}
    assert tried(horizon=-3)["steps"] == []


def test_edit_without_its_recording_is_refused_and_other_decisions_saved(study: Study) -> None:
    for file in study.workspace.path("trajectories").glob("*.parquet"):
        file.unlink()
    tried = study.sends(study.ana, {"edit": {"candidate": IDS[0], "changes": {"horizon": 5}}})
    assert "unknown trajectory" in tried["edit"]["error"]
    (message,) = study.decides(study.ana, study.decision("edit", changes={"horizon": 5}))
    assert "unknown trajectory" in message and study.kept == []
    assert study.decides(study.ana, study.decision("accept")) == [""]


@pytest.mark.parametrize("field", ["edit", "sight"])
@pytest.mark.parametrize(
    "sent", [[], 7, "shadow-evil-99", {"candidate": []}, {"changes": {"a": 1}}]
)
def test_malformed_question_is_answered_without_a_change(
    untouched: Study, field: str, sent: object
) -> None:
    data = untouched.sends(untouched.ana, {field: sent})
    assert data["draft"] and (data[field] is None or "error" in data[field])


def test_view_of_the_evaluated_player_is_sent_on_request(study: Study) -> None:
    assert study.sends(study.ana)["sight"] is None
    sight = study.sends(study.ana, {"sight": IDS[1]})["sight"]
    assert (sight["id"], sight["broken"], len(sight["view"]["frames"])) == (IDS[1], "", 15)


@pytest.mark.parametrize(
    "sent",
    [
        *([], "text", 7, {"outbox": 5}, {"outbox": [5, None, {"uuid": "short"}, {}]}, {"list": []}),
        *({"list": {"category": ["ambush"]}}, {"list": {"status": "x" * 10_000}}, {"draft": {}}),
        *({"at": ["ambush-01"]}, {"has": [5, ["a"], [1, 2]]}, {"list": {"number": 10**9}}),
        {"has": "own"},
    ],
)
def test_malformed_message_is_answered_with_the_draft(untouched: Study, sent: object) -> None:
    data = untouched.sends(untouched.ana, sent)
    assert data["draft"]["name"] == "own" and data["acks"] == [] == untouched.kept


def test_decisions_of_another_author_or_uuid_are_not_saved(study: Study) -> None:
    one = study.decision("accept")
    author = storage_namespace("here", study.ana.id)
    assert study.sends(study.ben, {"author": author, "outbox": [one]})["acks"] == [] == study.kept
    assert study.decides(study.ana, one) == [""]
    elsewhere = study.decision("accept", IDS[1], uuid=one["uuid"])
    for person, sent in ((study.ben, one), (study.ana, elsewhere)):
        (message,) = study.decides(person, sent)
        assert "another decision has this uuid" in message
    assert study.kept == [("Ana", "accept", IDS[0])]


def test_failing_store_acknowledges_nothing(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(decisions, "append_decisions", fails)
    data = study.sends(study.ana, {"outbox": [study.decision("accept")]})
    assert data["acks"] == [] and data["trouble"].startswith(UNSAVED)


def test_page_without_a_draft_names_the_command_that_makes_one(
    workspace: Workspace, store: AnnotationStore
) -> None:
    data = talk(workspace, store, add_person(store, "Ana", ("curator",)), None)
    assert data["draft"] is None and "sts mine" in data["empty"]["text"]


def test_frozen_draft_takes_no_decision(workspace: Workspace) -> None:
    draft = accepted(workspace, "own", scenarios(2))
    suites.freeze_scenarios(workspace, "own", scenarios(2), made_by={"draft": draft.id})
    with AnnotationStore.open(workspace) as store:
        (ana,) = ask(store, people.list_people)
        sent = {"draft": draft.id, "candidate": IDS[0], "kind": "accept", "follows": ""}
        data = talk(workspace, store, ana, {"outbox": [sent | {"uuid": "9" * 32}]})
    assert "was frozen as own@1" in data["acks"][0]["message"] and data["draft"] is None


def test_candidates_mined_later_appear(study: Study) -> None:
    assert study.sends(study.ana)["total"] == 4
    drafts.add_candidates(study.draft, [one for one in scenarios(6) if one.id not in IDS])
    assert study.sends(study.ana)["total"] == 6


def test_missing_candidate_file_is_reported(study: Study) -> None:
    for file in study.workspace.path("drafts", "own").rglob("*.parquet"):
        assert study.sends(study.ana)["candidates"][0]["broken"] == ""
        file.unlink()
    assert "is missing" in talk(study.workspace, study.store, study.ana, None)["trouble"]


@pytest.mark.landing
def test_preview_worker_shows_profiles_and_continuations_of_agents(study: Study) -> None:
    worker = PreviewWorker(study.workspace)
    opened = study.drafts.open_draft("own", study.store)
    one = opened.candidates[IDS[0]]
    assert worker.count_passes(opened, [one]) == []
    made = Profiles(opened.draft).compute(one)
    (found,) = worker.count_passes(opened, [one])
    assert found["passed"] == [[name, *p] for name, p in made.passed.items()]
    asked = {"candidate": IDS[0], "agent": "random"}
    shown = worker.load_episode(opened, asked)
    assert shown is not None
    assert (shown["mark"], shown["episode"]["takeover"]) == (one.row_hash, 6)
    invalid: tuple[Any, ...] = (
        None,
        [],
        asked | {"candidate": "shadow-evil-99"},
        {"candidate": IDS[0]},
    )
    assert [worker.load_episode(opened, sent) for sent in invalid] == [None] * 4
    unknown = worker.load_episode(opened, asked | {"agent": "<b>nobody</b>"})
    assert unknown is not None and "unknown agent" in unknown["broken"]


def test_other_half_of_a_contrast_pair_is_sent_with_its_first(
    workspace: Workspace, store: AnnotationStore
) -> None:
    one, two, alone = scenarios(3)
    pair = [replace(one, pair="p-01"), replace(two, pair="p-01", tags=("b",)), alone]
    drafts.create_draft(workspace, "own", pair)
    ana = add_person(store, "Ana", ("curator",))
    half = talk(workspace, store, ana, None)["half"]
    assert (half["of"], half["id"], half["tags"]) == (IDS[0], IDS[1], ["b"])
    assert talk(workspace, store, ana, {"at": IDS[2]})["half"] is None


def test_second_rating_is_given_blind_and_then_compared(study: Study) -> None:
    def opines(person: Annotator, id: str, word: str, **more: Any) -> str:
        mark = study.drafts.open_draft("own", study.store).candidates[id].summary.row_hash
        one = study.decision("rating", id, rating=word, mark=mark) | more
        (message,) = study.decides(person, one)
        return message or str(one["uuid"])

    accepted = study.decision("accept", IDS[1])
    assert study.decides(study.ben, accepted) == [""]
    blind = {"list": {"status": "second"}, "at": IDS[1]}
    for id in IDS[:2]:
        assert len(opines(study.ana, id, "yes")) == 32
    seen = json.dumps(study.sends(study.ben, blind) | {"author": ""})
    assert "Ana" not in seen and accepted["uuid"] not in seen and "accepted" not in seen
    assert study.sends(study.ana, blind)["ids"] == IDS[2:]

    assert len(opines(study.ben, IDS[0], "yes")) == 32
    taken = opines(study.ben, IDS[1], "yes")
    assert study.sends(study.ben, blind)["undoable"][0]["uuid"] == taken
    undo = study.decision("undo", IDS[1], follows=accepted["uuid"], undoes=taken)
    assert study.decides(study.ben, undo) == [""]
    state = study.state(study.ben, IDS[1])
    assert (state["rating"], state["ratings"]) == ("", [])  # nor are hers shown as yet
    assert len(opines(study.ben, IDS[1], "no")) == 32

    assert study.state(study.ben, IDS[1])["ratings"] == [["Ana", "yes"], ["Ben", "no"]]
    agreement = study.sends(study.ben, {"at": IDS[1]})["agreement"]
    assert (agreement["agreeing"], agreement["pairs"]) == (1, 2)
    assert study.drafts.open_draft("own", study.store).candidates[IDS[1]].status == "accepted"
    assert "expected a rating of yes or no" in opines(study.ben, IDS[2], "maybe")
    assert "was edited since you saw it" in opines(study.ben, IDS[2], "no", mark="f" * 64)


def test_messages_have_the_fields_that_the_scripts_declare(untouched: Study) -> None:
    asked = {"candidate": IDS[0], "number": 1, "changes": {}, "whole": True}
    data = untouched.sends(untouched.ana, {"edit": asked, "sight": IDS[0]})
    check_declared("Candidate", data["candidates"][0])
    check_declared("Decided", data["states"][0])
    check_declared("Tried", data["edit"])
    check_declared("Drafted", {k: v for k, v in data.items() if k not in ("author", "empty")})
