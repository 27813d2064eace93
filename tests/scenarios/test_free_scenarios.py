"""Scenarios without a rule: any moment, any words, from curators and from live sessions."""

import json
from pathlib import Path

import pytest

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.people import people
from sts.live.game import Game
from sts.live.openings import open_recording
from sts.live.records import get_journal_path, store_live_trajectory
from sts.live.types import Participant
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.trajectories import trajectory_store as trajectories
from tests.scenarios.curating import Curation

WORDS = {
    "instruction": "Bleib bei deinem Partner. ابق قريبا",
    "criterion": "It stays within two cells of the other.",
    "edge-cases": "Passing by once is enough.",
    "kind": "instruction",
    "difficulty": "hard",
}
MOMENT = {"takeover": "17", "player": "1", "context": "9", "horizon": "13", "category": "manners"}


def add(curator: Curation, draft: str = "own", *, code: int = 0, **changes: str) -> str:
    first = min(t.id for t in trajectories.load(curator.workspace) if t.split == "test")
    flags = {"trajectory": first, "user": "Ana"} | MOMENT | WORDS | changes
    words = (f"--{name.replace('_', '-')}={value}" for name, value in flags.items() if value)
    return curator("draft", "add", draft, *words, code=code)


def test_any_moment_and_any_words_become_a_scenario_that_runs_and_is_reported(curator):
    said = add(curator)
    assert f"added manners-01: {WORDS['instruction']}" in said
    assert "not checked by a rule: have a second person read it" in said
    curator.draft("accept --all")
    curator("suite freeze own --unreviewed")
    (one,) = (s for s in suites.load(curator.workspace, "own@1").scenarios if s.id == "manners-01")
    assert (one.text, one.criterion, one.edge_cases) == (
        *(WORDS["instruction"], WORDS["criterion"], WORDS["edge-cases"]),
    )
    assert (one.context, one.horizon, one.players, one.difficulty) == (9, 13, (1,), "hard")
    assert one.context_start == 8 and one.parameters == {}
    curator("suite verify own@1")
    curator("run own@1 --agent random --agent reader --continuations 2")
    labelled = json.loads(curator("label own@1 --json"))
    assert labelled["without_rule"] == ["manners-01"]
    assert [row["unlabelled"] for row in labelled["agents"]] == [2, 2]
    curator("report own@1")
    folder = curator.workspace.path("reports", "own-1")
    stated = "Instructions not reviewed by a second person: 1 of 7."
    assert stated in (folder / "report.html").read_text()
    assert stated in (folder / "report.json").read_text()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"instruction": ""}, "category manners has no words of its own: add an instruction"),
        ({"instruction": " "}, "expected an instruction of one line"),
        ({"takeover": "49"}, "expected a takeover from 9 to"),
        ({"player": "7"}, "expected a player from 0 to"),
        ({"category": "Good Manners"}, "expected a category of lower-case letters"),
        ({"criterion": "<b>x</b>"}, "expected a success criterion without markup"),
        ({"trajectory": "zz"}, "unknown trajectory 'zz'"),
    ],
)
def test_moment_or_words_that_cannot_be_are_refused(curator, changes, words):
    before = curator.view()
    assert words in add(curator, code=2, **changes) and curator.view() == before


def test_every_field_of_a_scenario_without_a_rule_can_be_edited(curator):
    add(curator)
    curator.draft("edit manners-01 --takeover 20 --horizon 5 --player 0 --difficulty easy")
    curator.draft("edit", "manners-01", "--instruction", "Stay away.", "--criterion", "It is far.")
    now = curator.view()["manners-01"]
    assert (now["text"], now["difficulty"], now["players"]) == ("Stay away.", "easy", [0])
    curator.draft("edit manners-01 --category other-manners --kind question")
    now = curator.view()["manners-01"]
    assert [now[name] for name in ("category", "kind")] == ["other-manners", "question"]
    assert now["text"] == "Stay away."
    said = curator("draft edit own manners-01 --template 0", code=2)
    assert "category other-manners has no instruction templates" in said


REQUESTS = {3: "Too early.", 20: "Follow Good.", 60: "Where is Evil?", 110: "Geh, bitte!"}


def record(workspace: Workspace, kind: str, name: str = "a", split: str = "test") -> None:
    """Store a session in which somebody asks an agent and marks what it does."""
    pair = [Participant(kind, name, "setter", None), Participant("agent", "rule", "solver", None)]
    opening = open_recording("lambda-star", pair, split=split)._replace(max_steps=160)
    game = Game.start(get_journal_path(workspace, opening.id), opening)
    for step in range(opening.max_steps):
        if step in REQUESTS:
            game.tell(0, REQUESTS[step])
        if step in (40, 120):
            game.mark(0, len(game.told) - 1, "success" if step == 40 else "failure")
        game.step({})
    store_live_trajectory(workspace, game)
    game.close()


@pytest.fixture
def met(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Curation:
    curator = Curation(tmp_path / "w", capsys)
    record(curator.workspace.create(), "human")
    return curator


def test_requests_of_people_become_candidates_at_their_steps_in_their_words(met):
    met("mine own --from-sessions requests")
    warnings, shown = met.warnings, met.view().values()
    steps = {one["context_start"] + one["takeover"]: one for one in shown}
    assert {step: one["text"] for step, one in steps.items()} == {
        step: text for step, text in REQUESTS.items() if step > 3
    }
    hints = {step: (one["difficulty"], one["kind"]) for step, one in steps.items()}
    assert hints == {
        20: ("easy", "instruction"), 60: ("medium", "question"), 110: ("hard", "instruction"),
    }  # fmt: skip
    assert warnings.count("warning") == 1 and "'Too early.' at step 3 of session" in warnings
    assert "cannot be used: expected 10 steps before it, found 3" in warnings
    met("mine bad --from-sessions failures")
    assert [one["text"] for one in json.loads(met("draft show bad --json"))["candidates"]] == [
        REQUESTS[110]
    ]
    met.draft("accept --all")
    assert "not checked by a rule" in met("suite freeze own", code=1)
    met("suite freeze own --unreviewed")
    met("suite verify own@1")


def test_requests_of_scripts_are_called_so(met):
    record(met.workspace, "script")
    met("mine own --from-sessions requests")
    assert "3 of these are from sessions in which scripts asked, not people" in met.warnings


def test_requests_in_a_training_world_are_named_with_the_reason(tmp_path, capsys):
    curator = Curation(tmp_path / "w", capsys)
    record(curator.workspace.create(), "human", split="train")
    assert "nothing to mine" in curator("mine own --from-sessions requests", code=1)
    for text in REQUESTS.values():
        assert f"{text!r} at step" in curator.warnings
    assert curator.warnings.count("cannot be used: its world is in the train split") == 4


def test_setter_has_no_vote_on_her_own_request(tmp_path, capsys):
    curator = Curation(tmp_path / "w", capsys)
    curator.workspace.create()
    for name in ("Ana", "Ben", "Cleo"):
        curator(f"annotators add {name} --role curator")
    with AnnotationStore.read_existing(curator.workspace) as connection:
        assert connection
        (own,) = (p.pseudonym for p in people.list_people(connection) if p.name == "Ana")
    record(curator.workspace, "human", own)
    curator("mine own --from-sessions requests --per-category 1")
    curator.draft("accept --all", by="Ben")
    for voters, code in ((("Ana", "Ben"), 1), (("Cleo",), 0)):
        for id in curator.view():
            for voter in voters:
                curator.draft(f"rate {id} yes", by=voter)
        assert ("can be frozen" in curator.draft("check", code=code)) == (code == 0)


def test_sessions_and_categories_are_not_mined_together(met):
    for flags in ("--category shadow-evil", "--distinct-profiles", "--split train"):
        said = met(f"mine own --from-sessions requests {flags}", code=2)
        assert "expected --from-sessions without" in said
