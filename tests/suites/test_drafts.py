"""Drafts on disk: candidates are only ever added, and nothing half-written is one."""

import contextlib
import dataclasses
import errno
import json
import os
from functools import partial
from pathlib import Path

import pytest

from sts.errors import DamagedData, NewerFormat, StsError, TamperedSuite, UnknownName
from sts.storage.workspace import Workspace
from sts.suites import drafts, folders, store
from sts.suites import scenarios as files
from sts.suites.drafts import Draft
from sts.suites.types import Change, Suite
from tests.examples import scenarios
from tests.suites.test_freezing import Killed, killed_after, together


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.open(str(tmp_path / "w")).ensure()


def test_candidates_are_listed_without_their_recordings_and_found_by_id(
    workspace: Workspace,
) -> None:
    every = scenarios(5)
    draft = drafts.add(drafts.begin(workspace, "mine", every[:3]), every[3:])
    assert draft == drafts.open_draft(workspace, "mine")
    assert [one.id for one in draft.summaries()] == [s.id for s in every]
    for one, scenario in zip(draft.summaries(), every, strict=True):
        assert (one.hash, one.row_hash) == (scenario.hash, scenario.row_hash)
        assert (one.text, one.roles) == (scenario.instruction.text, scenario.roles)
        assert draft.candidate(one.id).row_hash == scenario.row_hash
    with pytest.raises(UnknownName, match="unknown candidate of draft mine 'clean-take-99'"):
        draft.candidate("clean-take-99")


def test_one_of_many_is_read_by_its_row_group(tmp_path: Path) -> None:
    (one,) = scenarios(1)
    every = [
        dataclasses.replace(one, id=f"walk-{n:03d}", tags=(f"tag {n}", "far")[: n % 3])
        for n in range(2 * files.ROWS_PER_GROUP + 1)
    ]
    raw = files.encode_scenarios("p", every)
    assert [s.row_hash for s in files.decode_scenarios("p", raw)] == [s.row_hash for s in every]
    assert [s.tags for s in files.decode_summaries("p", raw)] == [s.tags for s in every]
    for wanted in (every[0], every[files.ROWS_PER_GROUP], every[-1]):
        (found,) = files.decode_scenarios("p", raw, wanted.id)
        assert found.row_hash == wanted.row_hash
    assert files.decode_scenarios("p", raw, "none") == ()


def test_what_a_candidate_is_edited_to_is_found_by_its_hash(workspace: Workspace) -> None:
    (one,) = scenarios(1)
    draft = drafts.begin(workspace, "mine", [one])
    edited = dataclasses.replace(one, horizon=7)
    draft.keep(edited)
    draft.keep(edited)
    assert draft.candidate(one.id, edited.row_hash).horizon == 7
    assert draft.candidate(one.id).horizon == one.horizon
    assert len(draft.summaries()) == 1
    with pytest.raises(DamagedData, match=r"edited/0000.parquet is missing"):
        draft.candidate(one.id, "0000")


def test_a_candidates_id_is_not_given_twice(workspace: Workspace) -> None:
    every = scenarios(3)
    draft = drafts.begin(workspace, "mine", every[:2])
    outcomes = together(
        partial(drafts.add, draft, every[2:]), partial(drafts.add, draft, every[2:])
    )
    assert sum(isinstance(one, Draft) for one in outcomes) == 1
    with pytest.raises(StsError, match="already has a candidate clean-take-03"):
        raise next(one for one in outcomes if isinstance(one, StsError))
    assert len(drafts.open_draft(workspace, "mine").summaries()) == 3


def test_of_two_that_begin_one_draft_at_once_one_is_refused(workspace: Workspace) -> None:
    replaces = None
    for _ in range(2):
        begin = partial(drafts.begin, workspace, "mine", replaces=replaces)
        outcomes = together(partial(begin, scenarios(1)), partial(begin, scenarios(3)))
        with pytest.raises(StsError, match="created by another command meanwhile and is left"):
            raise next(one for one in outcomes if isinstance(one, StsError))
        (draft,) = (one for one in outcomes if isinstance(one, Draft))
        assert drafts.open_draft(workspace, "mine") == draft
        replaces = draft.id


def test_nothing_is_added_to_a_draft_that_was_replaced(workspace: Workspace) -> None:
    draft = drafts.begin(workspace, "mine", scenarios(1))
    drafts.begin(workspace, "mine", [], replaces=draft.id)
    with pytest.raises(StsError, match="was replaced meanwhile; nothing was added"):
        drafts.add(draft, scenarios(2)[1:])


def test_killed_at_any_moment_candidates_are_all_added_or_none(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = scenarios(4)
    for moment in range(100):
        there = drafts.find(workspace, "mine")
        draft = drafts.begin(workspace, "mine", every[:2], replaces=there.id if there else None)
        with monkeypatch.context() as patch:
            left = killed_after(moment, patch)
            with contextlib.suppress(Killed):
                drafts.add(draft, every[2:])
        found = len(drafts.open_draft(workspace, "mine").summaries())
        assert found in (2, 4)
        if left():
            break
    assert found == 4 and moment > 3


def test_an_altered_candidate_is_refused(workspace: Workspace) -> None:
    one, other = scenarios(2)
    draft = drafts.begin(workspace, "mine", [one])
    (file,) = workspace.path(draft.folder, "candidates").iterdir()
    files.write(file, [dataclasses.replace(other, id=one.id)])
    assert draft.candidate(one.id).hash == other.hash  # what it is says so itself
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 1
    file.write_bytes(raw)
    with pytest.raises((DamagedData, TamperedSuite)):
        draft.candidate(one.id)
    file.unlink()
    with pytest.raises(DamagedData, match="is missing"):
        draft.summaries()


@pytest.mark.parametrize(
    ("text", "error", "found"),
    [
        ("[]", DamagedData, "not a draft"),
        ('{"version_of_format": 9}', NewerFormat, "draft format 9; this version reads up to 1"),
        ('{"version_of_format": 1}', DamagedData, "not a draft"),
    ],
)
def test_a_crafted_draft_json_is_one_error_of_ours(
    workspace: Workspace, text: str, error: type[StsError], found: str
) -> None:
    drafts.begin(workspace, "mine", scenarios(1))
    workspace.path("drafts", "mine", "draft.json").write_text(text)
    with pytest.raises(error, match=found):
        drafts.open_draft(workspace, "mine")


@pytest.mark.parametrize("part", ["../../x.parquet", "candidates/x.parquet", "/etc/passwd"])
def test_a_part_is_only_ever_one_of_the_draft(workspace: Workspace, part: str) -> None:
    drafts.begin(workspace, "mine", scenarios(1))
    file = workspace.path("drafts", "mine", "draft.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"parts": {part: 1}}))
    with pytest.raises(DamagedData, match="not a draft of mine"):
        drafts.open_draft(workspace, "mine")


def test_a_pipe_in_place_of_a_draft_is_not_waited_for(workspace: Workspace) -> None:
    drafts.begin(workspace, "mine", scenarios(1))
    file = workspace.path("drafts", "mine", "draft.json")
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(DamagedData, match="expected a file, found a named pipe"):
        drafts.open_draft(workspace, "mine")


def test_numbers_of_ids_go_on_over_all_versions(workspace: Workspace) -> None:
    first, second = scenarios(2)
    store.freeze(workspace, "mine", [first], last={"clean-take": 7, "walk": 2})
    store.freeze(workspace, "mine", [second])
    assert drafts.last_numbers(workspace, "mine") == {"clean-take": 7, "walk": 2}
    taken = ["clean-take-12", "stand-still-003", "odd"]
    last = drafts.last_numbers(workspace, "mine", taken)
    assert last == {"clean-take": 12, "walk": 2, "stand-still": 3}


def test_a_version_keeps_its_changes_and_they_are_in_its_hash(workspace: Workspace) -> None:
    plain = Suite("mine", 1, None, "", tuple(scenarios(2)), {})
    changes = (Change("retired", "walk-01", "", "twin"),)
    grown = dataclasses.replace(plain, changes=changes, last={"walk": 1})
    assert grown.hash != plain.hash
    folder = workspace.path("suites", "mine", "1")
    store.write(folder, grown)
    assert json.loads((folder / "suite.json").read_text())["version_of_format"] == 2
    assert store.read(folder).changes == changes
    file = folder / "suite.json"
    file.write_text(file.read_text().replace("twin", "other"))
    with pytest.raises(TamperedSuite, match="has been modified since it was frozen"):
        store.read(folder)


def test_a_draft_that_was_frozen_is_listed_no_more(workspace: Workspace) -> None:
    draft = drafts.begin(workspace, "mine", scenarios(2))
    assert ("mine", 2, "draft") in [one[:3] for one in folders.listed(workspace)]
    assert drafts.frozen_as(draft) is None
    store.freeze(workspace, "mine", scenarios(2), made_by={"draft": draft.id})
    assert drafts.frozen_as(draft) == "mine@1"
    with pytest.raises(StsError, match="draft mine was frozen as mine@1; start the next version"):
        drafts.check_open(draft)
    assert "draft" not in [one.where for one in folders.listed(workspace)]


def test_a_draft_that_could_not_be_begun_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace.open(tmp_path / "w").ensure()
    with monkeypatch.context() as full:
        full.setattr("sts.storage.files.os.replace", _no_space)
        with pytest.raises(OSError, match="No space"):
            drafts.begin(workspace, "dug", scenarios(1))
    assert not list(workspace.path("drafts").iterdir())
    begun = drafts.begin(workspace, "dug", scenarios(1))
    assert begun == drafts.find(workspace, "dug")
    folder = workspace.path("drafts", "dug")
    folder.rename(folder.with_name(".dug.part"))  # as who is killed just before the end leaves it
    assert folders.drafts(workspace) == []
    assert drafts.begin(workspace, "dug", scenarios(1)).ids() == [scenarios(1)[0].id]


def _no_space(*given: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
