"""What a curator cannot do is one line, writes nothing and loses nothing."""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from sts.annotations import decisions
from sts.annotations.store import Store
from sts.annotations.types import Annotator
from sts.suites import drafts
from sts.suites.decisions import Decision, states
from sts_scenarios import curation
from tests.scenarios.curating import Curation
from tests.stores import ask, change


class Case(NamedTuple):
    """Words that follow `sts draft ACTION own`, and the one line that they are refused with.

    Attributes:
      words: ACTION and what follows the draft's name.
      line: a part of it.
      code: 2 for what was typed, 1 for what there is.
    """

    words: tuple[str, ...]
    line: str
    code: int = 2


LONG = "x" * 2001
CASES = {
    "no such candidate": Case(("accept", "shadow-evli-01"), "did you mean shadow-evil"),
    "no candidate": Case(("accept",), "expected the id of a candidate"),
    "ids and all": Case(("accept", "shadow-evil-01", "--all"), "found both"),
    "no reason": Case(("reject", "shadow-evil-01"), "--reason"),
    "a reason that moves the cursor": Case(
        ("reject", "shadow-evil-01", "--reason", "a\x1b[2J"), "expected a reason of one line"
    ),
    "a reason of two lines": Case(
        ("reject", "shadow-evil-01", "--reason", "a\nb"), "a reason of one line"
    ),
    "retiring what is new": Case(
        ("retire", "shadow-evil-01", "--reason", "x"),
        "retire is for scenarios of the parent; reject shadow-evil-01 instead",
    ),
    "nothing to undo": Case(("undo", "shadow-evil-01"), "shadow-evil-01 has no decision to undo"),
    "no change": Case(("edit", "shadow-evil-01"), "nothing of shadow-evil-01 would change"),
    "a takeover after the end": Case(
        ("edit", "shadow-evil-01", "--takeover", "39"),
        "expected a takeover from 10 to 28, as trajectory",
    ),
    "a takeover before the context": Case(
        ("edit", "shadow-evil-01", "--takeover", "9"), "expected a takeover from 10 to 28"
    ),
    "a takeover that is no step": Case(
        ("edit", "shadow-evil-01", "--takeover", "soon"), "expected a whole number, found 'soon'"
    ),
    "a length that does not fit": Case(
        ("edit", "shadow-evil-01", "--length", "999"), "a takeover from 10"
    ),
    "nobody's role": Case(
        ("edit", "shadow-evil-01", "--role", "7"), "expected a role from 0 to 1, found 7"
    ),
    "a partner that is none": Case(
        ("edit", "shadow-evil-01", "--partner", "agent:nobody"), "unknown agent 'nobody'"
    ),
    "a partner of another world": Case(
        ("edit", "shadow-evil-01", "--partner", "agent:overcooked-stay"),
        "does not play in worlds of",
    ),
    "a partner of no kind": Case(
        ("edit", "shadow-evil-01", "--partner", "somebody"),
        "no-op, replay or agent:NAME, found 'somebody'",
    ),
    "markup": Case(
        ("edit", "shadow-evil-01", "--text", "Go <b>left</b>."),
        "expected an instruction without markup, found '<b>'",
    ),
    "a script": Case(
        ("edit", "shadow-evil-01", "--text", "<script>alert(1)</script>"), "found '<script>' in it"
    ),
    "an entity": Case(("edit", "shadow-evil-01", "--text", "Go &lt; left"), "found '&lt;' in it"),
    "an instruction that moves the cursor": Case(
        ("edit", "shadow-evil-01", "--text", "Go\x1b[2J"), "expected an instruction of one line"
    ),
    "an instruction turned around": Case(
        ("edit", "shadow-evil-01", "--text", "Go \u202eleft"), "expected an instruction of one line"
    ),
    "an instruction without end": Case(
        ("edit", "shadow-evil-01", "--text", LONG),
        "expected an instruction of one line, at most 2000",
    ),
    "a wording and words": Case(
        ("edit", "shadow-evil-01", "--text", "Go.", "--wording", "1"),
        "a text or a wording, found both",
    ),
    "a wording too many": Case(
        ("edit", "shadow-evil-01", "--wording", "3"), "expected a wording from 0 to 2"
    ),
    "a tag that does not print": Case(
        ("edit", "shadow-evil-01", "--tag", "a\x07"), "expected tags of"
    ),
    "no such category": Case(
        ("edit", "shadow-evil-01", "--category", "fly"), "unknown category 'fly'"
    ),
    "a category that asks nothing there": Case(
        (
            "edit",
            "shadow-evil-01",
            "--category",
            "keep-beside",
            "--takeover",
            "10",
            "--context",
            "0",
        ),
        "keep-beside has no candidate for role",
    ),
    "no such trajectory": Case(
        (
            "add",
            "--trajectory",
            "zz",
            "--takeover",
            "9",
            "--role",
            "0",
            "--category",
            "shadow-evil",
        ),
        "unknown trajectory 'zz'",
    ),
    "an opinion that is none": Case(
        ("opinion", "shadow-evil-01", "perhaps"), "'perhaps'; known: no, undo, yes"
    ),
    "an opinion about nothing": Case(("opinion", "shadow-evil-09", "yes"), "unknown candidate"),
}


def everything(own: Curation) -> dict[str, bytes]:
    """Return every file of the workspace, the database's own apart."""
    files = (path for path in own.workspace.root.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files if "annotations" not in path.name}


def decided(own: Curation) -> list[Decision]:
    store = Store.find(own.workspace)
    if store is None:
        return []
    with store:
        return ask(store, decisions.of_draft, drafts.open_draft(own.workspace, "own").id)


@pytest.mark.parametrize("name", CASES)
def test_what_cannot_be_done_is_one_line_and_changes_nothing(own: Curation, name: str) -> None:
    (action, *words), line, code = CASES[name]
    before, files = own.view(), everything(own)
    assert line in own.draft(action, *words, code=code)
    assert own.view() == before and everything(own) == files
    assert decided(own) == []


def test_nobody_decides_by_the_empty_name(own: Curation) -> None:
    said = own("draft", "accept", "own", "shadow-evil-01", "--as", "", code=2)
    assert "expected a name of 1 to 64" in said and decided(own) == []


def test_what_there_is_not_is_named(own: Curation) -> None:
    assert "unknown draft 'other'" in own("draft", "show", "other", code=2)
    assert "own is a draft" in own("draft", "from", "own@1", code=2)
    assert "shadow-evil-01 and 5 more are undecided" in own("suite", "freeze", "own", code=1)


@pytest.fixture
def second(own: Curation) -> Curation:
    """A draft of the second version."""
    own.draft("accept", "--all")
    own("suite", "freeze", "own")
    own("draft", "from", "own@1")
    return own


def meanwhile(own: Curation, monkeypatch: pytest.MonkeyPatch, kind: str, **detail: str) -> None:
    """Have Ben decide about shadow-evil-01 after a command has looked at it, before it decides."""
    author: Callable[..., Annotator] = curation.author

    def late(store: Store, name: str | None) -> Annotator:
        draft = drafts.open_draft(own.workspace, "own")
        last = states(ask(store, decisions.of_draft, draft.id)).get("shadow-evil-01")
        ben = author(store, "Ben").id
        uuid, follows = secrets.token_hex(16), last.last if last else ""
        change(
            store,
            decisions.append,
            draft.id,
            [Decision(uuid, "shadow-evil-01", kind, ben, follows, "", detail, 1.0)],
        )
        return author(store, name)

    monkeypatch.setattr(curation, "author", late)


def test_who_edits_what_was_just_retired_is_told_so(
    second: Curation, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        meanwhile(second, patch, "retire", reason="too easy")
        said = second.draft("edit", "shadow-evil-01", "--length", "14", code=1)
    assert (
        "shadow-evil-01 has changed since you saw it: it is now retired by Ben (too easy)" in said
    )
    view = second.view()["shadow-evil-01"]
    assert (view["status"], view["scenario"], view["horizon"]) == ("retired", "", 12)
    assert [one.kind for one in decided(second)] == ["retire"]


@pytest.mark.parametrize(
    "words", [("accept",), ("reject", "--reason", "mine"), ("edit", "--length", "14")]
)
def test_of_two_curators_on_one_candidate_the_later_is_told_what_the_other_did(
    own: Curation, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    action, *more = words
    with monkeypatch.context() as patch:
        meanwhile(own, patch, "reject", reason="unclear")
        said = own.draft(action, "shadow-evil-01", *more, code=1)
    assert "it is now rejected by Ben (unclear); reload it and decide again" in said
    assert [one.by for one in decided(own)] == ["Ben"]
    own.draft("accept", "shadow-evil-01")  # having looked again
    assert own.view()["shadow-evil-01"]["status"] == "accepted"


def test_of_many_decided_at_once_none_is_where_one_was_overtaken(
    own: Curation, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        meanwhile(own, patch, "reject", reason="unclear")
        assert "shadow-evil-01 has changed" in own.draft("accept", "--all", code=1)
    assert {
        id: one["status"] for id, one in own.view().items() if one["status"] != "undecided"
    } == {"shadow-evil-01": "rejected"}


def test_an_opinion_about_what_was_just_edited_is_refused(
    own: Curation, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.draft("edit", "shadow-evil-01", "--length", "14")
    with monkeypatch.context() as patch:
        meanwhile(own, patch, "undo", undoes=decided(own)[-1].uuid)
        assert "shadow-evil-01 has changed since" in own.draft(
            "opinion", "shadow-evil-01", "yes", code=1
        )
    assert own.view()["shadow-evil-01"]["opinions_given"] == 0


OF_ANOTHER = "its text is an instruction template of evil-from-good"


@pytest.mark.parametrize("word", ["another number", "another category"])
def test_a_text_that_asks_for_something_else_is_warned_of_and_not_frozen(
    own: Curation, word: str
) -> None:
    text, why = {
        "another number": ("Shadow Evil for 5 steps.", "its text does not contain '4'"),
        "another category": ("Say in which direction Evil lies from Good.", OF_ANOTHER),
    }[word]
    assert f"it does not fit: {why}" in own.draft("edit", "shadow-evil-01", "--text", text)
    own.draft("accept", "--all")
    for refused in (own.draft("check", code=1), own("suite", "freeze", "own", code=1)):
        assert f"shadow-evil-01: {why}" in refused
    own.draft("undo", "shadow-evil-01")
    own.draft("undo", "shadow-evil-01")
    own.draft("accept", "shadow-evil-01")
    own("suite", "freeze", "own")


def test_a_draft_whose_recordings_are_gone_is_decided_and_not_edited(own: Curation) -> None:
    for file in own.workspace.path("trajectories").iterdir():
        file.unlink()
    files = everything(own)
    assert "unknown trajectory" in own.draft("edit", "shadow-evil-01", "--length", "9", code=2)
    assert everything(own) == files and decided(own) == []
    own.draft("reject", "shadow-evil-01", "--reason", "unclear")
    own.draft("opinion", "shadow-evil-02", "no")


KILLED_AT_TWO_MOMENTS = """
import os, signal, sys
from sts.cli import arguments
from sts.cli.main import main
from tests.faults.writes import dying

def before_it_says_so():
    arguments.say = lambda *given: os.kill(os.getpid(), signal.SIGKILL)

def before_it_decides():
    dying(2)  # the edited candidate is written, and has no name yet

def edit(root):
    words = ("draft", "edit", "own", "shadow-evil-01", "--length", "14", "--as", "Ana")
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


@pytest.fixture(scope="module")
def killed(mined: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return workspaces in which Ana, who edited, was killed: before she was told, and before."""
    roots = [tmp_path_factory.mktemp("killed") / "w" for _ in range(3)]
    for root in roots:
        shutil.copytree(mined, root)
    words = [sys.executable, "-c", KILLED_AT_TWO_MOMENTS, *map(str, roots)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return roots[1:]


def test_killed_between_decision_and_acknowledgement_the_decision_stands(
    killed: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    own = Curation(killed[0], capsys)
    view = own.view()["shadow-evil-01"]
    assert (view["horizon"], [one["kind"] for one in view["decisions"]]) == (14, ["edit"])
    assert "nothing of shadow-evil-01 would change" in own.draft(
        "edit", "shadow-evil-01", "--length", "14", code=2
    )
    own.draft("undo", "shadow-evil-01")
    assert own.view()["shadow-evil-01"]["horizon"] == 12


def test_killed_before_the_decision_nothing_was_decided(
    killed: list[Path], own: Curation, capsys: pytest.CaptureFixture[str]
) -> None:
    before = own.view()
    own = Curation(killed[1], capsys)
    assert own.view() == before and decided(own) == []
    own.draft("edit", "shadow-evil-01", "--length", "14")
    assert (
        json.loads(own.draft("show", "shadow-evil-01", "--json"))["candidates"][0]["horizon"] == 14
    )
