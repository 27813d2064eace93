"""Drafts on disk: candidates are only ever added, and nothing half-written is read as one."""

import contextlib
import dataclasses
import errno
import json
import os
from functools import partial

import pytest

from sts.errors import DamagedData, NewerFormat, StsError, TamperedSuite, UnknownName
from sts.suites import drafts, folders
from sts.suites import scenarios as files
from sts.suites import suite_store as store
from sts.suites.drafts import Draft
from sts.suites.suite import Change, Suite
from tests.examples import scenarios
from tests.suites.races import Killed, killed_after, run_together


def test_candidates_are_listed_without_recordings_and_found_by_id(workspace):
    every = scenarios(5)
    draft = drafts.add_candidates(drafts.create_draft(workspace, "mine", every[:3]), every[3:])
    assert draft == drafts.open_draft(workspace, "mine")
    assert [one.id for one in draft.summaries()] == [s.id for s in every]
    for one, scenario in zip(draft.summaries(), every, strict=True):
        assert (one.hash, one.row_hash) == (scenario.hash, scenario.row_hash)
        assert (one.text, one.players) == (scenario.instruction.text, scenario.players)
        assert draft.candidate(one.id).row_hash == scenario.row_hash
    with pytest.raises(UnknownName, match="unknown candidate of draft mine 'clean-take-99'"):
        draft.candidate("clean-take-99")


def test_scenario_among_many_is_read_by_its_row_group():
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


def test_edited_candidate_is_found_by_its_hash(workspace):
    (one,) = scenarios(1)
    draft = drafts.create_draft(workspace, "mine", [one])
    edited = dataclasses.replace(one, horizon=7)
    draft.save_edit(edited)
    draft.save_edit(edited)
    assert draft.candidate(one.id, edited.row_hash).horizon == 7
    assert draft.candidate(one.id).horizon == one.horizon
    assert len(draft.summaries()) == 1
    with pytest.raises(DamagedData, match=r"edited/0000.parquet is missing"):
        draft.candidate(one.id, "0000")


def test_simultaneous_additions_never_share_an_id(workspace):
    every = scenarios(3)
    draft = drafts.create_draft(workspace, "mine", every[:2])
    outcomes = run_together(*[partial(drafts.add_candidates, draft, every[2:])] * 2)
    assert sum(isinstance(one, Draft) for one in outcomes) == 1
    with pytest.raises(StsError, match="already has a candidate clean-take-03"):
        raise next(one for one in outcomes if isinstance(one, StsError))
    assert len(drafts.open_draft(workspace, "mine").summaries()) == 3


def test_one_of_two_simultaneous_drafts_of_a_name_is_refused(workspace):
    replaces = None
    for _ in range(2):
        begin = partial(drafts.create_draft, workspace, "mine", replaces=replaces)
        outcomes = run_together(partial(begin, scenarios(1)), partial(begin, scenarios(3)))
        with pytest.raises(StsError, match="created by another command meanwhile and is left"):
            raise next(one for one in outcomes if isinstance(one, StsError))
        (draft,) = (one for one in outcomes if isinstance(one, Draft))
        assert drafts.open_draft(workspace, "mine") == draft
        replaces = draft.id
    drafts.create_draft(workspace, "mine", [], replaces=replaces)
    with pytest.raises(StsError, match="was replaced meanwhile; nothing was added"):
        drafts.add_candidates(draft, scenarios(4)[3:])


def test_addition_killed_at_any_write_adds_all_candidates_or_none(workspace, monkeypatch):
    every = scenarios(4)
    for moment in range(100):
        there = drafts.find_draft(workspace, "mine")
        draft = drafts.create_draft(
            workspace, "mine", every[:2], replaces=there.id if there else None
        )
        with monkeypatch.context() as patch:
            left = killed_after(moment, patch)
            with contextlib.suppress(Killed):
                drafts.add_candidates(draft, every[2:])
        found = len(drafts.open_draft(workspace, "mine").summaries())
        assert found in (2, 4)
        if left():
            break
    assert found == 4 and moment > 3


def test_altered_candidate_file_is_refused(workspace):
    one, other = scenarios(2)
    draft = drafts.create_draft(workspace, "mine", [one])
    (file,) = workspace.path(draft.folder, "candidates").iterdir()
    files.write(file, [dataclasses.replace(other, id=one.id)])
    assert draft.candidate(one.id).hash == other.hash  # a whole file states its own hashes
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
        ("../../x.parquet", DamagedData, "not a draft of mine"),
        ("candidates/x.parquet", DamagedData, "not a draft of mine"),
        ("/etc/passwd", DamagedData, "not a draft of mine"),
        (None, DamagedData, "expected a file, found a named pipe"),
    ],
)
def test_hostile_draft_file_is_refused(workspace, text, error, found):
    drafts.create_draft(workspace, "mine", scenarios(1))
    file = workspace.path("drafts", "mine", "draft.json")
    if text is None:
        file.unlink()
        os.mkfifo(file)
    elif "/" in text:
        file.write_text(json.dumps(json.loads(file.read_text()) | {"parts": {text: 1}}))
    else:
        file.write_text(text)
    with pytest.raises(error, match=found):
        drafts.open_draft(workspace, "mine")


def test_ids_are_numbered_on_over_all_versions(workspace):
    first, second = scenarios(2)
    store.freeze_scenarios(workspace, "mine", [first], last={"clean-take": 7, "walk": 2})
    store.freeze_scenarios(workspace, "mine", [second])
    assert drafts.find_last_numbers(workspace, "mine") == {"clean-take": 7, "walk": 2}
    taken = ["clean-take-12", "stand-still-003", "odd"]
    last = drafts.find_last_numbers(workspace, "mine", taken)
    assert last == {"clean-take": 12, "walk": 2, "stand-still": 3}


def test_changes_of_a_version_are_kept_and_hashed(workspace):
    plain = Suite("mine", 1, None, "", tuple(scenarios(2)), {})
    changes = (Change("retired", "walk-01", "", "twin"),)
    grown = dataclasses.replace(plain, changes=changes, last={"walk": 1})
    assert grown.hash != plain.hash
    folder = workspace.path("suites", "mine", "1")
    store.write(folder, grown)
    file = folder / "suite.json"
    assert json.loads(file.read_text())["version_of_format"] == 2
    assert store.read(folder).changes == changes
    file.write_text(file.read_text().replace("twin", "other"))
    with pytest.raises(TamperedSuite, match="has been modified since it was frozen"):
        store.read(folder)


def test_frozen_draft_is_no_longer_listed_or_open(workspace):
    draft = drafts.create_draft(workspace, "mine", scenarios(2))
    assert ("mine", 2, "draft") in [one[:3] for one in folders.list_suites(workspace)]
    assert drafts.find_frozen_version(draft) is None
    store.freeze_scenarios(workspace, "mine", scenarios(2), made_by={"draft": draft.id})
    assert drafts.find_frozen_version(draft) == "mine@1"
    with pytest.raises(
        StsError, match="frozen as mine@1; start the next version with sts draft new --from mine@1"
    ):
        drafts.check_open(draft)
    assert "draft" not in [one.where for one in folders.list_suites(workspace)]


def test_draft_that_could_not_be_written_leaves_no_folder(workspace, monkeypatch):
    def fill(*given: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr("sts.storage.files.os.replace", fill)
        with pytest.raises(OSError, match="No space"):
            drafts.create_draft(workspace, "dug", scenarios(1))
    assert not list(workspace.path("drafts").iterdir())
    begun = drafts.create_draft(workspace, "dug", scenarios(1))
    assert begun == drafts.find_draft(workspace, "dug")
    folder = workspace.path("drafts", "dug")
    folder.rename(folder.with_name(".dug.part"))  # as a process killed just before the end leaves
    assert folders.list_draft_folders(workspace) == []
    assert drafts.create_draft(workspace, "dug", scenarios(1)).load_ids() == [scenarios(1)[0].id]


def test_version_ten_is_newer_than_version_nine(workspace):
    every = scenarios(3)
    for count, version in enumerate((1, 9, 10), 1):
        store.freeze_scenarios(workspace, f"mine@{version}", every[:count])
    with pytest.raises(UnknownName, match="did you mean mine@10"):
        store.load(workspace, "mine")
    assert store.parse_label(workspace, "mine") == ("mine", 11, 10)
