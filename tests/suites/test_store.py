"""Suites: frozen, hash-checked and found by NAME@VERSION; an edited file never passes."""

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pytest

from sts.continuations.takeover import group_by_shape
from sts.episodes import Instruction
from sts.errors import ArgumentError, DamagedData, NewerFormat, TamperedSuite, UnknownName
from sts.storage import parquet
from sts.storage.workspace import Workspace
from sts.suites import drafts, folders
from sts.suites import scenarios as files
from sts.suites import suite_store as store
from sts.suites.lint import lint_scenarios
from sts.suites.suite import Scenario, Suite
from tests.examples import CLEAN_TAKE, on_test_side, recorded, scenario, scenarios
from tests.scenarios.curating import Curation

ONE, TWO, THREE = scenarios(3)
LINKS: dict[str, Any] = {
    "pair": "good-or-evil",
    "dialogue": "walk",
    "turn": 1,
    "replaces": "clean-take-00",
}
EARLIER = Instruction("Wait.", "wait", 2, "setter")
EVIL = Instruction("Go to Evil.", "clean-take", 6, "curator")


def instruct(text: str) -> Instruction:
    return Instruction(text, "a", 6, "curator")


def change(one: Scenario = ONE, **changes: Any) -> Scenario:
    return dataclasses.replace(one, **changes)


def write(workspace: Workspace, *every: Scenario, description: str = "") -> None:
    """Write a version with valid hashes, whatever is in it."""
    suite = Suite("mine", 1, None, description, every, {})
    store.write(workspace.path("suites", "mine", "1"), suite)


@pytest.fixture
def folder(workspace: Workspace) -> Path:
    """Return the folder of a frozen suite."""
    store.freeze_scenarios(workspace, "mine", scenarios(3), description="three")
    return workspace.path("suites", "mine", "1")


def test_hash_changes_with_everything_that_changes_a_continuation():
    same = change(id="other-01", tags=("a",), difficulty="hard")
    assert same.hash == ONE.hash and same.row_hash != ONE.row_hash
    for name, value in LINKS.items():
        tied = change(**{name: value})
        assert tied.hash == ONE.hash and tied.row_hash != ONE.row_hash
    for other in (
        change(horizon=7),
        change(players=(1,)),
        change(partner="replay"),
        change(parameters={"steps": 2}),
        change(takeover_hash="0" * 64),
        change(instruction=dataclasses.replace(ONE.instruction, text="Go to Good!")),
        change(earlier_instructions=(EARLIER,)),
        change(criterion="It waves."),
        change(edge_cases="It waves."),
        *(scenario(on_test_side(recorded(count=16))[0], start=start) for start in (0, 9)),
    ):
        assert other.hash != ONE.hash
    assert change(earlier_instructions=(EARLIER,)).instructions == (EARLIER, ONE.instruction)


def test_frozen_scenarios_keep_their_hashes_links_and_instructions(workspace, capsys):
    first = change(**LINKS, earlier_instructions=(EARLIER,))
    made = [first, change(id="clean-take-09", instruction=EVIL, pair=LINKS["pair"]), THREE]
    store.freeze_scenarios(workspace, "mine", made)
    kept = {s.id: s for s in store.load(workspace, "mine@1").scenarios}
    assert {i: s.row_hash for i, s in kept.items()} == {s.id: s.row_hash for s in made}
    assert (
        kept[first.id].earlier_instructions == (EARLIER,)
        and not kept[THREE.id].earlier_instructions
    )
    shown = json.loads(Curation(workspace.root, capsys)("suite show mine@1 --json"))
    rows = {s["id"]: s for s in shown["scenarios"]}
    assert {name: rows[first.id][name] for name in LINKS} == LINKS
    assert rows[first.id]["earlier_instructions"] == [EARLIER.to_json()]
    none = {"pair": "", "dialogue": "", "turn": 0, "replaces": ""}
    assert {name: rows[THREE.id][name] for name in LINKS} == none


HALF = change(pair="p")
OTHER = change(HALF, id="a-02", instruction=EVIL)
T1, T2, T3 = (
    change(
        id=f"a-0{n}", dialogue="d", turn=n, context_start=2 * n, instruction=instruct(f"Turn {n}.")
    )
    for n in (1, 2, 3)
)


@pytest.mark.parametrize(
    ("every", "fault"),
    [
        ([HALF, OTHER], None),
        ([HALF], "clean-take-01: the other half of its pair 'p' is missing"),
        ([HALF, change(TWO, pair="p")], "must have the same world, and these differ"),
        (
            [HALF, change(OTHER, players=(1,))],
            "a-02, clean-take-01: the halves of a pair must have the same players",
        ),
        (
            [HALF, change(OTHER, takeover_hash="0")],
            "the halves of a pair must have the same state at takeover",
        ),
        (
            [HALF, change(HALF, id="a-02", horizon=5)],
            "ask for different things, and these ask the same",
        ),
        (
            [HALF, OTHER, change(OTHER, id="a-03", horizon=5)],
            "a pair has two halves, and 'p' has 3",
        ),
        ([T1, T2, T3], None),
        ([T1, T2], None),
        ([T1, T3], "a-01, a-03: the turns of dialogue 'd' are 1, 3, expected 1 to 2"),
        ([T2, T3], "are 2, 3, expected 1 to 2"),
        ([T1, change(T2, turn=1)], "are 1, 1, expected 1 to 2"),
        (
            [T1, change(T2, context_start=2)],
            "must start after the one before it, and these start at steps 8, 8",
        ),
        (
            [T1, change(T2, trajectory=TWO.trajectory)],
            "must be of one recording, and these are of several",
        ),
    ],
)
def test_unsound_pair_or_dialogue_is_reported(every, fault):
    found = lint_scenarios(every)
    assert any(fault in line for line in found) if fault else found == []


def test_suite_is_found_by_name_and_version_and_keeps_its_parent(workspace, folder):
    first = store.load(workspace, "mine@1")
    again = store.freeze_scenarios(workspace, "mine", scenarios(2))
    assert (again.label, again.parent) == ("mine@2", "mine@1")
    assert store.load(workspace, "mine@1").hash == first.hash
    for name in ("²", "01", "old"):  # not versions
        other = folder.with_name(name)
        other.mkdir()
        (other / "suite.json").write_text("{}")
    assert sorted(folders.list_versions(workspace)["mine"]) == [1, 2]


@pytest.mark.parametrize("label", ["nothing@1", "mine", "mine@9", "mine@0", "../x@1", "mine@1@2"])
def test_unknown_suite_error_lists_the_known_ones(workspace, folder, label):
    with pytest.raises(UnknownName, match=r"known: .*mine@1"):
        store.load(workspace, label)


def test_draft_is_not_loaded_as_a_suite(workspace):
    drafts.create_draft(workspace, "mine", scenarios(2))
    with pytest.raises(UnknownName, match="mine is a draft, see sts draft show mine"):
        store.load(workspace, "mine@1")


@pytest.mark.parametrize(
    ("text", "error", "found"),
    [
        ({"description": "four"}, TamperedSuite, "modified since it was frozen"),
        ({"version": 3}, TamperedSuite, "modified since it was frozen"),
        ({"hash": "0" * 64}, TamperedSuite, "modified since it was frozen"),
        ({"scenarios": {}}, TamperedSuite, "modified since it was frozen"),
        ({"parent": "mine@0"}, TamperedSuite, "modified since it was frozen"),
        ({"description": "\ud800"}, DamagedData, "not a suite"),
        ({"version_of_format": 3}, NewerFormat, "suite format 3"),
        ("{", DamagedData, "not a suite"),
        ("[]", DamagedData, "expected a JSON dict"),
        ("[" * 100_000, DamagedData, "nested too deeply"),
        ('{"version_of_format": NaN}', DamagedData, "NaN is not JSON"),
        ('{"version_of_format": "2"}', DamagedData, "expected version_of_format 2"),
        ('{"version_of_format": 0}', DamagedData, "expected version_of_format 2"),
        ('{"version_of_format": 1, "name": 1}', DamagedData, "not a suite"),
    ],
)
def test_edited_or_hostile_suite_file_is_refused(workspace, folder, text, error, found):
    file = folder / "suite.json"
    old = json.loads(file.read_text())
    file.write_text(text if isinstance(text, str) else json.dumps(old | text))
    with pytest.raises(error, match=found):
        store.load(workspace, "mine@1")
    file.write_text(json.dumps(old))
    store.load(workspace, "mine@1")


@pytest.mark.parametrize(
    ("column", "value"),
    [("horizon", 9), ("id", "clean-take-99"), ("difficulty", "hard"), ("takeover", 7)],
)
def test_edited_scenario_is_refused(workspace, folder, column, value):
    path = folder / "scenarios.parquet"
    table = parquet.read_table(path, "scenarios", folders.FORMAT_VERSION, files.SCHEMA)
    rows = {name: table.column(name).to_pylist() for name in files.SCHEMA}
    assert rows[column][1] != value
    rows[column][1] = value
    parquet.write_table(path, "scenarios", folders.FORMAT_VERSION, files.SCHEMA, rows)
    with pytest.raises(TamperedSuite):
        store.load(workspace, "mine@1")


def test_missing_large_or_special_file_of_a_suite_is_refused(workspace, folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(folders, "_MAX_BYTES", 100)
        with pytest.raises(DamagedData, match="at most 100 bytes"):
            store.load(workspace, "mine@1")
    for name, missing in (("scenarios.parquet", DamagedData), ("suite.json", UnknownName)):
        (folder / name).unlink()
        with pytest.raises(missing):
            store.load(workspace, "mine@1")
        os.mkfifo(folder / name)
        with pytest.raises(DamagedData, match="expected a file, found a named pipe"):
            store.load(workspace, "mine@1")


REWARDS = ONE.recording.rewards.copy()
REWARDS[3, 0] = 2 if REWARDS[3, 0] != 2 else 1
UNREPLAYABLE = dataclasses.replace(ONE.recording, rewards=REWARDS)


@pytest.mark.parametrize(
    ("every", "why"),
    [
        ([ONE, ONE], "is used 2 times"),
        ([ONE, change(id="b")], "the same scenario"),
        ([], "no scenarios"),
        ([change(takeover_hash="0" * 64)], "state at takeover"),
        ([change(recording=UNREPLAYABLE)], "does not replay: step 3"),
    ],
)
def test_duplicate_or_unreplayable_scenarios_are_not_frozen(workspace, every, why):
    with pytest.raises(DamagedData, match=why):
        store.freeze_scenarios(workspace, "bad", every)
    assert not workspace.path("suites", "bad").exists()


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"players": (5,)}, "that its recording does not have"),
        ({"players": ()}, "needs at least one evaluated player"),
        ({"partner": "friend"}, "partner"),
        ({"world": "00000001" + "0" * 56}, "of the train split"),
        ({"kind": "riddle"}, "kind must be"),
        ({"context": 40}, "fewer than 40 steps"),
        ({"context": -1}, "context of 0"),
        ({"horizon": 0}, "continuation of 1 or more"),
        ({"horizon": 2**31 - 1}, "more than 1000000 steps"),
        ({"id": "reach\N{RIGHT-TO-LEFT OVERRIDE}doog"}, r"names .* found 'reach\\u202edoog'"),
        ({"tags": ("x" * 5000,)}, "names of at most 200 printable"),
        ({"category": "reach\x1b[2J"}, r"found 'reach\\x1b\[2J'"),
        ({"instruction": instruct("Go\x07")}, r"not one line of .*'Go\\x07'"),
        ({"instruction": instruct("y" * 5000)}, "at most 2000 printable"),
        (
            {"earlier_instructions": (Instruction("Go\x07", "a", 2, "setter"),)},
            r"not one line of .*'Go\\x07'",
        ),
        (
            {"earlier_instructions": (Instruction("Go.", "a", 7, "setter"),)},
            "another instruction is given after",
        ),
        (
            {"earlier_instructions": (Instruction("Go.", "a", 2, "nobody"),)},
            "its instruction has no source",
        ),
        ({"dialogue": "talk"}, "turn 0 of dialogue 'talk': a dialogue's turns count from 1"),
        ({"turn": 3}, "turn 3 of dialogue ''"),
        ({"dialogue": "a\x1b[2J", "turn": 1}, r"found 'a\\x1b\[2J'"),
        ({"replaces": "clean-take-01"}, "it replaces itself"),
    ],
)
def test_unsound_suite_is_refused_even_with_valid_hashes(workspace, changes, found):
    write(workspace, change(**changes))
    with pytest.raises(DamagedData, match=found):
        store.load(workspace, "mine@1")
    with pytest.raises(DamagedData, match=found):
        store.freeze_scenarios(workspace, "other", [change(**changes)])
    assert not workspace.path("suites", "other").exists()


@pytest.mark.parametrize("number", [2**31, 2**70])
@pytest.mark.parametrize("field", ["horizon", "context", "context_start"])
def test_number_of_steps_beyond_int32_is_refused(workspace, field, number):
    column = {"context": "takeover"}.get(field, field)
    with pytest.raises(DamagedData, match=f"column {column}: expected int32"):
        drafts.create_draft(workspace, "mine", [change(**{field: number})])
    assert not list(workspace.path("drafts").rglob("*"))


@pytest.mark.parametrize("name", ["", "UP", "a/b", "../x", "a b", "-a"])
def test_invalid_suite_name_is_refused(workspace, name):
    for make in (drafts.create_draft, store.freeze_scenarios):
        with pytest.raises(ArgumentError, match="expected a suite name"):
            make(workspace, name, [ONE])


@pytest.mark.parametrize("version", ["²", "", "0", "01", "1234567", "9" * 5000, "-1"])
def test_invalid_version_number_is_refused(workspace, version):
    with pytest.raises(ArgumentError, match="expected a version of 1 or more"):
        store.freeze_scenarios(workspace, f"mine@{version}", [ONE])


@pytest.mark.parametrize("text", ["two\nlines", "x" * 501, "\N{LEFT-TO-RIGHT ISOLATE}", "\x1b[2J"])
def test_unprintable_description_is_refused(workspace, text):
    with pytest.raises(ArgumentError, match="expected a description of one line"):
        store.freeze_scenarios(workspace, "mine", [ONE], description=text)
    write(workspace, ONE, description=text)
    with pytest.raises(DamagedData, match="expected a description of one line"):
        store.load(workspace, "mine@1")


@pytest.mark.parametrize(
    "text", ["می\N{ZERO WIDTH NON-JOINER}رود", "松尾へ行け。", "👩\N{ZERO WIDTH JOINER}🌾"]
)
def test_instruction_may_use_every_script(workspace, text):
    write(workspace, change(instruction=instruct(text)))
    assert store.load(workspace, "mine@1").scenarios[0].instruction.text == text


def test_instruction_of_other_types_is_refused(tmp_path):
    path = tmp_path / "s.parquet"
    files.write(path, [ONE])
    table = parquet.read_table(path, "scenarios", folders.FORMAT_VERSION, files.SCHEMA)
    rows = {name: table.column(name).to_pylist() for name in files.SCHEMA}
    told = json.loads(rows["instruction"][0])
    for wrong in ({"given_at": "6"}, {"text": 3}, {"given_at": None}):
        rows["instruction"] = [json.dumps(told | wrong)]
        parquet.write_table(path, "scenarios", folders.FORMAT_VERSION, files.SCHEMA, rows)
        with pytest.raises(DamagedData, match="expected an instruction of texts and a step"):
            files.read(path)


def test_suites_are_shown_and_verified_and_a_broken_one_hides_no_other(workspace, capsys):
    own = Curation(workspace.root, capsys)
    store.freeze_scenarios(workspace, "mine", scenarios(2), description="two")
    assert CLEAN_TAKE in own("suite show mine@1")
    assert "mine@1 is sound" in own("suite verify mine@1")
    shown = json.loads(own("suite show mine@1 --json"))
    assert [s["id"] for s in shown["scenarios"]] == ["clean-take-01", "clean-take-02"]
    workspace.path("suites", "mine", "1", "suite.json").write_text("{")
    drafts.create_draft(workspace, "mine", scenarios(2))
    workspace.path("drafts", "mine", "draft.json").write_bytes(b"")
    out = own("suite ls")
    assert "mine@1" in out and "core@2" in out and out.count("CANNOT BE USED") == 2


def test_worlds_of_two_sight_radii_share_a_suite(workspace):
    found = [
        scenario(on_test_side(recorded(count=16, radius=radius))[0], id=f"clean-take-0{radius}")
        for radius in (1, 2)
    ]
    assert len(store.freeze_scenarios(workspace, "both", found).scenarios) == 2
    assert [len(group) for group in group_by_shape(found)] == [1, 1]


def test_damaged_state_is_a_fault_of_its_scenario_alone():
    damaged = dataclasses.replace(ONE.recording, state=ONE.recording.state[:-1])
    found = lint_scenarios([change(recording=damaged), change(TWO, difficulty="none")])
    assert any(line.startswith(f"{ONE.id}: ") for line in found)
    assert any(line.startswith(f"{TWO.id}: difficulty") for line in found)


def test_version_after_an_erasure_still_states_what_is_unreviewed(tmp_path):
    workspace, members = Workspace.open(tmp_path), scenarios(4)
    first, second = members[0].id, members[1].id
    store.freeze_scenarios(workspace, "mine", members, made_by={"unreviewed": [first, second]})
    assert store.freeze_without(workspace, "mine", {"mine@1": [first]}) == "mine@2"
    assert store.load(workspace, "mine@2").unreviewed == (second,)
