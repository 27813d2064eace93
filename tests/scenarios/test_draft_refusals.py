"""A refused decision prints a one-line error, writes nothing and loses nothing."""

import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.log import decisions
from sts.annotations.records import Annotator
from sts.suites import drafts
from sts.suites.decisions import Decision, fold_decisions
from sts_scenarios.draft import curation
from tests.scenarios.curating import Curation
from tests.stores import ask, change

ONE, TWO = "shadow-evil-01", "shadow-evil-02"
LONG = "x" * 2001
REFUSED = [
    ("accept shadow-evli-01", "did you mean shadow-evil"),
    ("accept", "expected the id of a candidate"),
    (f"accept {ONE} --all", "found both"),
    (f"reject {ONE}", "--reason"),
    (f"reject {ONE} --reason 'a\x1b[2J'", "expected a reason of one line"),
    (f"reject {ONE} --reason 'a\nb'", "a reason of one line"),
    (f"retire {ONE} --reason x", f"retire is for scenarios of the parent; reject {ONE} instead"),
    (f"undo {ONE}", f"{ONE} has no decision to undo"),
    (f"edit {ONE}", f"nothing of {ONE} would change"),
    (f"edit {ONE} --takeover 39", "expected a takeover from 10 to 28, as trajectory"),
    (f"edit {ONE} --takeover 9", "expected a takeover from 10 to 28"),
    (f"edit {ONE} --takeover soon", "expected a whole number, found 'soon'"),
    (f"edit {ONE} --horizon 999", "expected at most 40 steps"),
    (f"edit {ONE} --player 7", "expected a player from 0 to 1, found 7"),
    (f"edit {ONE} --partner agent:nobody", "unknown agent 'nobody'"),
    (f"edit {ONE} --partner agent:overcooked-stay", "does not play in worlds of"),
    (f"edit {ONE} --partner somebody", "no-op, replay or agent:NAME, found 'somebody'"),
    (
        f"edit {ONE} --instruction 'Go <b>left</b>.'",
        "expected an instruction without markup, found '<b>'",
    ),
    (f"edit {ONE} --instruction '<script>alert(1)</script>'", "found '<script>' in it"),
    (f"edit {ONE} --instruction 'Go &lt; left'", "found '&lt;' in it"),
    (f"edit {ONE} --instruction 'Go\x1b[2J'", "expected an instruction of one line"),
    (f"edit {ONE} --instruction 'Go \u202eleft'", "expected an instruction of one line"),
    (f"edit {ONE} --instruction {LONG}", "expected an instruction of one line, at most 2000"),
    (f"edit {ONE} --instruction Go. --template 1", "an instruction or a template, found both"),
    (f"edit {ONE} --template 3", "expected a template from 0 to 2"),
    (f"edit {ONE} --tag 'a\x07'", "expected tags of"),
    (f"edit {ONE} --category 'Fly high'", "expected a category of lower-case letters"),
    (f"edit {ONE} --kind riddle", "kind: expected instruction, question, found 'riddle'"),
    (f"edit {ONE} --difficulty 3", "difficulty: expected easy, medium, hard, found '3'"),
    (f"edit {ONE} --criterion 'It <i>waves</i>.'", "expected a success criterion without markup"),
    (f"edit {ONE} --edge-cases {LONG}", "expected edge cases of one line, at most 2000"),
    (
        f"edit {ONE} --category keep-beside --takeover 10 --context 0",
        "keep-beside has no candidate for player",
    ),
    (
        "add --trajectory zz --takeover 9 --player 0 --category shadow-evil",
        "unknown trajectory 'zz'",
    ),
    (f"rate {ONE} perhaps", "'perhaps'; known: no, undo, yes"),
    ("rate shadow-evil-09 yes", "unknown candidate"),
    (f"accept {ONE} --user ''", "expected a name of 1 to 64"),
]


def read_files(curator: Curation) -> dict[str, bytes]:
    """Return every file of the workspace except the database's."""
    files = (path for path in curator.workspace.root.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files if "annotations" not in path.name}


def decided(curator: Curation) -> list[Decision]:
    store = AnnotationStore.find(curator.workspace)
    if store is None:
        return []
    with store:
        return ask(store, decisions.load_decisions, drafts.open_draft(curator.workspace, "own").id)


@pytest.mark.parametrize(("words", "line"), REFUSED)
def test_invalid_decision_is_refused_and_changes_nothing(curator, words, line):
    before, files = curator.view(), read_files(curator)
    if "--user" in words:
        assert line in curator(f"draft accept own {words.removeprefix('accept ')}", code=2)
    else:
        assert line in curator.draft(words, code=2)
    assert curator.view() == before and read_files(curator) == files and decided(curator) == []


def test_unknown_draft_suite_and_undecided_candidates_are_named(curator):
    assert "unknown draft 'other'" in curator("draft show other", code=2)
    assert "own is a draft" in curator("draft new --from own@1", code=2)
    assert f"{ONE} and 5 more are undecided" in curator("suite freeze own", code=1)


def decide_meanwhile(curator: Curation, monkeypatch, kind: str, **detail: str) -> None:
    """Have Ben decide about ONE after a command has read it and before it decides."""
    author: Callable[..., Annotator] = curation.find_or_add_curator

    def late(store: AnnotationStore, name: str | None) -> Annotator:
        draft = drafts.open_draft(curator.workspace, "own")
        last = fold_decisions(ask(store, decisions.load_decisions, draft.id)).get(ONE)
        ben, follows = author(store, "Ben").id, last.last if last else ""
        one = Decision(secrets.token_hex(16), ONE, kind, ben, follows, "", detail, 1.0)
        change(store, decisions.append_decisions, draft.id, [one])
        return author(store, name)

    monkeypatch.setattr(curation, "find_or_add_curator", late)


def test_edit_of_a_scenario_retired_meanwhile_is_refused(curator, monkeypatch):
    curator.draft("accept --all")
    curator("suite freeze own")
    curator("draft new --from own@1")
    with monkeypatch.context() as patch:
        decide_meanwhile(curator, patch, "retire", reason="too easy")
        said = curator.draft(f"edit {ONE} --horizon 14", code=1)
    assert f"{ONE} has changed since you saw it: it is now retired by Ben (too easy)" in said
    view = curator.view()[ONE]
    assert (view["status"], view["scenario"], view["horizon"]) == ("retired", "", 12)
    assert [one.kind for one in decided(curator)] == ["retire"]


@pytest.mark.parametrize(
    "words",
    [f"accept {ONE}", "accept --all", f"reject {ONE} --reason mine", f"edit {ONE} --horizon 14"],
)
def test_later_of_two_curators_is_refused_with_the_others_decision(curator, monkeypatch, words):
    with monkeypatch.context() as patch:
        decide_meanwhile(curator, patch, "reject", reason="unclear")
        said = curator.draft(words, code=1)
    assert f"{ONE} has changed since you saw it: it is now rejected by Ben (unclear); " in said
    assert "reload it and decide again" in said
    assert [(one.by, one.candidate) for one in decided(curator)] == [("Ben", ONE)]
    curator.draft(f"accept {ONE}")  # having looked again
    assert curator.view()[ONE]["status"] == "accepted"


def test_second_rating_of_a_candidate_edited_meanwhile_is_refused(curator, monkeypatch):
    curator.draft(f"edit {ONE} --horizon 14")
    with monkeypatch.context() as patch:
        decide_meanwhile(curator, patch, "undo", undoes=decided(curator)[-1].uuid)
        assert f"{ONE} has changed since" in curator.draft(f"rate {ONE} yes", code=1)
    assert curator.view()[ONE]["ratings_given"] == 0


UNREAD = f"{ONE} is not checked by a rule: have a second person read it"


@pytest.mark.parametrize(
    "flags", [("--instruction", "Keep off Evil."), ("--criterion", "It runs.")]
)
def test_words_that_no_rule_checks_are_frozen_after_two_votes_by_others(curator, flags):
    assert "not checked by a rule" in curator.draft("edit", ONE, *flags)
    curator.draft("accept --all")
    for voter in ("Ana", "Ben"):  # the author has no vote
        curator.draft(f"rate {ONE} yes", by=voter)
        for refused in (curator.draft("check", code=1), curator("suite freeze own", code=1)):
            assert UNREAD in refused and "2 curators other than the author" in refused
    curator.draft(f"rate {ONE} no", by="Cleo")
    assert UNREAD in curator.draft("check", code=1)
    curator.draft(f"rate {ONE} yes", by="Cleo")
    assert "not reviewed" not in curator("suite freeze own")
    curator("draft new --from own@1")
    assert "can be frozen" not in curator.draft("check", code=1)  # nothing has changed
    curator.draft(f"retire {TWO} --reason twin")
    assert "can be frozen" in curator.draft("check")  # and its readers are still its readers


def test_lone_curator_freezes_unread_words_and_the_suite_says_so(curator):
    curator.draft("edit", ONE, "--instruction", "Keep off Evil.")
    curator.draft("accept --all")
    stated = "instructions not reviewed by a second person: 1 of"
    assert stated in curator("suite freeze own --unreviewed")
    assert stated in curator("suite show own@1")
    curator("draft new --from own@1")
    curator.draft(f"retire {TWO} --reason twin")
    assert UNREAD in curator.draft("check", code=1)
    assert stated in curator("suite freeze own --unreviewed")
    curator("draft new --from own@2")
    curator.draft("edit", ONE, "--template", "0")  # the category's own words again
    assert "not reviewed" not in curator("suite freeze own")


KILLED_AT_TWO_MOMENTS = """
import os, signal, sys
from sts.cli import arguments
from sts.cli.main import main
from tests.faults.writes import dying

def before_it_says_so():
    arguments.print_result = lambda *given: os.kill(os.getpid(), signal.SIGKILL)

def before_it_decides():
    dying(2)  # the edited candidate is written, and has no name yet

def edit(root):
    words = ("draft", "edit", "own", "shadow-evil-01", "--horizon", "14", "--user", "Ana")
    return main([*words, "--workspace", root])

undisturbed, *killed = sys.argv[1:]
assert edit(undisturbed) == 0  # and what it imports both have from here
for root, moment in zip(killed, (before_it_says_so, before_it_decides), strict=True):
    child = os.fork()
    if not child:
        moment()
        edit(root)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, (root, status)
"""


def test_killed_edit_is_kept_exactly_when_its_decision_was_written(
    curator, mined, tmp_path, capsys
):
    roots = [Path(shutil.copytree(mined, tmp_path / name)) for name in ("whole", "after", "before")]
    words = [sys.executable, "-c", KILLED_AT_TWO_MOMENTS, *map(str, roots)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    after, before = (Curation(root, capsys) for root in roots[1:])
    view = after.view()[ONE]
    assert (view["horizon"], [one["kind"] for one in view["decisions"]]) == (14, ["edit"])
    again = after.draft(f"edit {ONE} --horizon 14", code=2)
    assert f"nothing of {ONE} would change" in again
    after.draft(f"undo {ONE}")
    assert after.view()[ONE]["horizon"] == 12
    assert before.view() == curator.view() and decided(before) == []
    before.draft(f"edit {ONE} --horizon 14")
    assert before.view()[ONE]["horizon"] == 14
