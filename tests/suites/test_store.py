"""Suites: frozen, hash-checked, found by NAME@VERSION; nothing edited passes."""

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pytest

from sts.cli.main import main
from sts.continuations.takeover import group_by_shape
from sts.episodes import Instruction
from sts.errors import ArgumentError, DamagedData, NewerFormat, TamperedSuite, UnknownName
from sts.storage import parquet
from sts.storage.workspace import Workspace
from sts.suites import drafts, folders, store
from sts.suites import scenarios as files
from sts.suites.lint import lint
from sts.suites.types import Suite
from tests.examples import on_test_side, recorded, scenario, scenarios


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.open(str(tmp_path / "w")).ensure()


def frozen(workspace: Workspace, name: str = "mine") -> Suite:
    return store.freeze(workspace, name, scenarios(3), description="three")


def folder(workspace: Workspace) -> Path:
    return workspace.path("suites", "mine", "1")


def test_scenarios_are_read_back_with_the_same_hashes(tmp_path: Path) -> None:
    before = scenarios(3)
    files.write(tmp_path / "s.parquet", before)
    after = files.read(tmp_path / "s.parquet")
    assert [s.row_hash for s in after] == [s.row_hash for s in before]


def test_what_changes_a_continuation_changes_the_hash_and_names_do_not() -> None:
    (one,) = scenarios(1)
    same = dataclasses.replace(one, id="other-01", tags=("a",), difficulty="hard")
    assert same.hash == one.hash
    assert same.row_hash != one.row_hash
    for change in (
        {"horizon": 7},
        {"roles": (1,)},
        {"partner": "replay"},
        {"parameters": {"steps": 2}},
        {"takeover_hash": "0" * 64},
        {"instruction": dataclasses.replace(one.instruction, text="Go to Good!")},
    ):
        assert dataclasses.replace(one, **change).hash != one.hash


LINKS: dict[str, Any] = {
    "pair": "good-or-evil",
    "series": "walk",
    "turn": 1,
    "replaces": "clean-take-00",
}
EARLIER = Instruction("Wait.", "wait", 2, "setter")


@pytest.mark.parametrize("field", LINKS)
def test_what_ties_scenarios_together_is_the_suites_and_changes_no_continuation(
    field: str,
) -> None:
    (one,) = scenarios(1)
    tied = dataclasses.replace(one, **{field: LINKS[field]})
    assert tied.hash == one.hash and tied.row_hash != one.row_hash


def test_what_else_is_heard_changes_the_continuation() -> None:
    (one,) = scenarios(1)
    heard = dataclasses.replace(one, heard=(EARLIER,))
    assert heard.hash != one.hash
    assert heard.instructions == (EARLIER, one.instruction)


def test_ties_and_all_that_is_heard_are_kept_and_shown(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, third = scenarios(3)
    asks = Instruction("Go to Evil.", "clean-take", 6, "curator")
    made = [
        dataclasses.replace(first, **LINKS, heard=(EARLIER,)),
        dataclasses.replace(first, id="clean-take-09", instruction=asks, pair=LINKS["pair"]),
        third,
    ]
    suite = store.freeze(workspace, "mine", made)
    kept = {s.id: s for s in store.load(workspace, "mine@1").scenarios}
    assert {i: s.row_hash for i, s in kept.items()} == {s.id: s.row_hash for s in made}
    assert kept[first.id].heard == (EARLIER,) and not kept[third.id].heard
    words = ["suite", "show", suite.label, "--json", "--workspace", str(workspace.root)]
    assert main(words) == 0
    shown = {s["id"]: s for s in json.loads(capsys.readouterr().out)["scenarios"]}
    assert {name: shown[first.id][name] for name in LINKS} == LINKS
    assert shown[first.id]["heard"] == [EARLIER.view()]
    assert {name: shown[third.id][name] for name in LINKS} == {
        "pair": "", "series": "", "turn": 0, "replaces": ""
    }  # fmt: skip


def test_a_pair_is_two_instructions_at_one_takeover() -> None:
    first, second, _ = scenarios(3)
    half = dataclasses.replace(first, pair="p")
    asks = Instruction("Go to Evil.", "clean-take", 6, "curator")
    asked = dataclasses.replace(first, pair="p", id="a-02", instruction=asks)
    assert lint([half, asked]) == []
    for pair, fault in (
        ([half], "clean-take-01: the other half of its pair 'p' is missing"),
        (
            [half, dataclasses.replace(second, pair="p")],
            "must have the same world, and these differ",
        ),
        (
            [half, dataclasses.replace(asked, roles=(1,))],
            "a-02, clean-take-01: the halves of a pair must have the same participants",
        ),
        (
            [half, dataclasses.replace(asked, takeover_hash="0")],
            "the halves of a pair must have the same state at takeover",
        ),
        (
            [half, dataclasses.replace(half, id="a-02", horizon=5)],
            "ask for different things, and these ask the same",
        ),
        (
            [half, asked, dataclasses.replace(asked, id="a-03", horizon=5)],
            "a pair has two halves, and 'p' has 3",
        ),
    ):
        assert any(fault in one for one in lint(pair)), lint(pair)


def test_a_dialogue_is_turns_one_after_the_other_in_one_recording() -> None:
    one, other, *_ = scenarios(3)
    turns = [
        dataclasses.replace(
            one,
            id=f"a-0{n}",
            series="d",
            turn=n,
            context_start=2 * n,
            instruction=dataclasses.replace(one.instruction, text=f"Turn {n}."),
        )
        for n in (1, 2, 3)
    ]
    assert lint(turns) == [] and lint(turns[:2]) == []
    for broken, fault in (
        ([turns[0], turns[2]], "a-01, a-03: the turns of dialogue 'd' are 1, 3, expected 1 to 2"),
        (turns[1:], "are 2, 3, expected 1 to 2"),
        ([turns[0], dataclasses.replace(turns[1], turn=1)], "are 1, 1, expected 1 to 2"),
        (
            [turns[0], dataclasses.replace(turns[1], context_start=2)],
            "must start after the one before it, and these start at steps 8, 8",
        ),
        (
            [turns[0], dataclasses.replace(turns[1], trajectory=other.trajectory)],
            "must be of one recording, and these are of several",
        ),
    ):
        assert any(fault in line for line in lint(broken)), lint(broken)


def test_a_frozen_suite_is_found_by_name_and_version(workspace: Workspace) -> None:
    suite = frozen(workspace)
    assert suite.label == "mine@1"
    assert store.load(workspace, "mine@1").hash == suite.hash
    again = store.freeze(workspace, "mine", scenarios(2))
    assert (again.label, again.parent) == ("mine@2", "mine@1")
    assert store.load(workspace, "mine@1").hash == suite.hash


def test_a_version_is_never_frozen_twice(workspace: Workspace) -> None:
    frozen(workspace)
    with pytest.raises(ArgumentError, match="mine@1 is already frozen; the next version is 2"):
        store.freeze(workspace, "mine@1", scenarios(2))


@pytest.mark.parametrize("label", ["nothing@1", "mine", "mine@9", "mine@0", "../x@1", "mine@1@2"])
def test_an_unknown_suite_or_version_says_what_there_is(workspace: Workspace, label: str) -> None:
    frozen(workspace)
    with pytest.raises(UnknownName, match=r"known: .*mine@1"):
        store.load(workspace, label)


def test_a_draft_asked_for_as_a_suite_is_said_to_be_one(workspace: Workspace) -> None:
    drafts.begin(workspace, "mine", scenarios(2))
    with pytest.raises(UnknownName, match="mine is a draft, see sts draft show mine"):
        store.load(workspace, "mine@1")


def test_an_edited_suite_is_refused(workspace: Workspace) -> None:
    frozen(workspace)
    file = folder(workspace) / "suite.json"
    text = json.loads(file.read_text())
    for key, value in (
        ("description", "four"),
        ("version", 3),
        ("hash", "0" * 64),
        ("scenarios", {}),
        ("parent", "mine@0"),
    ):
        file.write_text(json.dumps(text | {key: value}))
        with pytest.raises(TamperedSuite, match="modified since it was frozen|holds .* instead"):
            store.load(workspace, "mine@1")
    file.write_text(json.dumps(text))
    store.load(workspace, "mine@1")


@pytest.mark.parametrize("column", ["horizon", "id", "difficulty", "takeover"])
def test_an_edited_scenario_is_refused(workspace: Workspace, column: str) -> None:
    frozen(workspace)
    path = folder(workspace) / "scenarios.parquet"
    table = parquet.read(path, "scenarios", folders.FORMAT_VERSION, files.SCHEMA)
    rows = {name: table.column(name).to_pylist() for name in files.SCHEMA}
    old = rows[column][1]
    rows[column][1] = (
        old + 1 if isinstance(old, int) else {"easy": "hard"}.get(old, "clean-take-99")
    )
    parquet.write(path, "scenarios", folders.FORMAT_VERSION, files.SCHEMA, rows)
    with pytest.raises(TamperedSuite):
        store.load(workspace, "mine@1")


def test_a_suite_without_a_file_or_from_later_is_refused(workspace: Workspace) -> None:
    frozen(workspace)
    file = folder(workspace) / "suite.json"
    text = json.loads(file.read_text())
    file.write_text(json.dumps(text | {"version_of_format": 3}))
    with pytest.raises(NewerFormat, match="suite format 3"):
        store.load(workspace, "mine@1")
    file.write_text("{")
    with pytest.raises(DamagedData, match="not a suite"):
        store.load(workspace, "mine@1")
    file.write_text(json.dumps(text))
    (folder(workspace) / "scenarios.parquet").unlink()
    with pytest.raises(DamagedData, match=r"scenarios.parquet is missing"):
        store.load(workspace, "mine@1")


def test_an_unsound_draft_is_not_frozen(workspace: Workspace) -> None:
    good = scenarios(2)
    for bad, why in (
        ((good[0], good[0]), "is used 2 times"),
        ((good[0], dataclasses.replace(good[0], id="b")), "the same scenario"),
        ((dataclasses.replace(good[0], takeover_hash="0" * 64),), "state at takeover"),
        ((dataclasses.replace(good[0], roles=(5,)),), "that its recording does not have"),
        ((dataclasses.replace(good[0], roles=()),), "needs at least one evaluated player"),
        ((dataclasses.replace(good[0], partner="friend"),), "partner"),
        ((dataclasses.replace(good[0], world="00000001" + "0" * 56),), "of the train split"),
        ((dataclasses.replace(good[0], kind="riddle"),), "kind must be"),
        ((), "no scenarios"),
    ):
        with pytest.raises(DamagedData, match=why):
            store.freeze(workspace, "bad", bad)
    assert not workspace.path("suites", "bad").exists()


def test_a_recording_that_does_not_replay_is_not_frozen(workspace: Workspace) -> None:
    (one,) = scenarios(1)
    rewards = one.recording.rewards.copy()
    rewards[3, 0] = 2 if rewards[3, 0] != 2 else 1
    recording = dataclasses.replace(one.recording, rewards=rewards)
    with pytest.raises(DamagedData, match="does not replay: step 3"):
        store.freeze(workspace, "bad", [dataclasses.replace(one, recording=recording)])


@pytest.mark.parametrize("name", ["", "UP", "a/b", "../x", "a b", "-a"])
def test_a_suite_needs_a_plain_name(workspace: Workspace, name: str) -> None:
    with pytest.raises(ArgumentError, match="expected a suite name"):
        drafts.begin(workspace, name, scenarios(1))
    with pytest.raises(ArgumentError, match="expected a suite name"):
        store.freeze(workspace, name, scenarios(1))


def test_suites_are_listed_shown_and_verified_from_the_command_line(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["--workspace", str(workspace.root)]
    store.freeze(workspace, "mine", scenarios(2), description="two")
    assert main(["suite", "ls", *at]) == 0
    assert main(["suite", "show", "mine@1", *at]) == 0
    assert main(["suite", "verify", "mine@1", *at]) == 0
    out = capsys.readouterr().out
    assert "Go to Good." in out
    assert "mine@1 is sound" in out
    assert main(["suite", "show", "mine@1", "--json", *at]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [s["id"] for s in shown["scenarios"]] == ["clean-take-01", "clean-take-02"]


def test_a_broken_suite_hides_no_other(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    frozen(workspace)
    (folder(workspace) / "suite.json").write_text("{")
    drafts.begin(workspace, "mine", scenarios(2))
    workspace.path("drafts", "mine", "draft.json").write_bytes(b"")
    assert main(["suite", "ls", "--workspace", str(workspace.root)]) == 0
    out = capsys.readouterr().out
    assert "mine@1" in out
    assert out.count("CANNOT BE USED") == 2
    assert "core@2" in out


def test_a_scenario_cut_later_in_a_trajectory_restores_there() -> None:
    one = on_test_side(recorded(count=16))[0]
    early, late = scenario(one, start=0), scenario(one, start=9)
    assert early.hash != late.hash


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[]", "expected a JSON dict"),
        ("[" * 100_000, "nested too deeply"),
        ('{"version_of_format": NaN}', "NaN is not JSON"),
        ('{"version_of_format": "2"}', "expected version_of_format 2"),
        ('{"version_of_format": 0}', "expected version_of_format 2"),
        ('{"version_of_format": 1, "name": 1}', "not a suite"),
    ],
)
def test_a_crafted_suite_json_is_one_error_of_ours(
    workspace: Workspace, text: str, found: str
) -> None:
    frozen(workspace)
    (folder(workspace) / "suite.json").write_text(text)
    with pytest.raises(DamagedData, match=found):
        store.load(workspace, "mine@1")


def test_lone_surrogates_in_a_suite_are_one_error_of_ours(workspace: Workspace) -> None:
    frozen(workspace)
    file = folder(workspace) / "suite.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"description": "\ud800"}))
    with pytest.raises(DamagedData, match="not a suite"):
        store.load(workspace, "mine@1")


def test_a_suite_json_too_large_to_be_one_is_not_read(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen(workspace)
    monkeypatch.setattr(folders, "_MAX_BYTES", 100)
    with pytest.raises(DamagedData, match="at most 100 bytes"):
        store.load(workspace, "mine@1")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"roles": (5,)}, "that its recording does not have"),
        ({"takeover": 40}, "fewer than 40 steps"),
        ({"takeover": -1}, "context of 0"),
        ({"horizon": 0}, "continuation of 1 or more"),
        ({"horizon": 2**31 - 1}, "more than 1000000 steps"),
        ({"id": "reach\N{RIGHT-TO-LEFT OVERRIDE}doog"}, r"names .* found 'reach\\u202edoog'"),
        ({"tags": ("x" * 5000,)}, "names of at most 200 printable"),
        ({"category": "reach\x1b[2J"}, r"found 'reach\\x1b\[2J'"),
        ({"instruction": Instruction("Go\x07", "a", 6, "curator")}, r"not one line of .*'Go\\x07'"),
        ({"instruction": Instruction("y" * 5000, "a", 6, "curator")}, "at most 2000 printable"),
        ({"heard": (Instruction("Go\x07", "a", 2, "setter"),)}, r"not one line of .*'Go\\x07'"),
        ({"heard": (Instruction("Go.", "a", 7, "setter"),)}, "another instruction is given after"),
        ({"heard": (Instruction("Go.", "a", 2, "nobody"),)}, "its instruction has no source"),
        ({"series": "talk"}, "turn 0 of series 'talk': a dialogue's turns count from 1"),
        ({"turn": 3}, "turn 3 of series ''"),
        ({"series": "a\x1b[2J", "turn": 1}, r"found 'a\\x1b\[2J'"),
        ({"replaces": "clean-take-01"}, "it replaces itself"),
    ],
)
def test_an_unsound_suite_is_refused_though_its_hashes_match(
    workspace: Workspace, change: dict[str, Any], found: str
) -> None:
    bad = dataclasses.replace(scenarios(1)[0], **change)
    store.write(folder(workspace), Suite("mine", 1, None, "", (bad,), {}))
    with pytest.raises(DamagedData, match=found):
        store.load(workspace, "mine@1")
    with pytest.raises(DamagedData, match=found):
        store.freeze(workspace, "other", [bad])


@pytest.mark.parametrize("number", [2**31, 2**70])
@pytest.mark.parametrize("field", ["horizon", "takeover", "context_start"])
def test_a_number_of_steps_beyond_its_column_is_one_line(
    workspace: Workspace, field: str, number: int
) -> None:
    change: dict[str, Any] = {field: number}
    bad = dataclasses.replace(scenarios(1)[0], **change)
    with pytest.raises(DamagedData, match=f"column {field}: expected int32"):
        drafts.begin(workspace, "mine", [bad])
    assert not list(workspace.path("drafts").rglob("*"))


@pytest.mark.parametrize("text", ["two\nlines", "x" * 501, "\N{LEFT-TO-RIGHT ISOLATE}", "\x1b[2J"])
def test_a_description_that_no_line_can_show_is_refused(workspace: Workspace, text: str) -> None:
    with pytest.raises(ArgumentError, match="expected a description of one line"):
        store.freeze(workspace, "mine", scenarios(1), description=text)
    store.write(folder(workspace), Suite("mine", 1, None, text, tuple(scenarios(1)), {}))
    with pytest.raises(DamagedData, match="expected a description of one line"):
        store.load(workspace, "mine@1")


def test_letters_of_every_script_may_stand_in_an_instruction(workspace: Workspace) -> None:
    for text in ("می\N{ZERO WIDTH NON-JOINER}رود", "松尾へ行け。", "👩\N{ZERO WIDTH JOINER}🌾"):
        (one,) = scenarios(1)
        told = dataclasses.replace(one, instruction=Instruction(text, "a", 6, "curator"))
        store.write(folder(workspace), Suite("mine", 1, None, "", (told,), {}))
        assert store.load(workspace, "mine@1").scenarios[0].instruction.text == text


def test_a_pipe_in_place_of_a_suites_file_is_not_waited_for(workspace: Workspace) -> None:
    frozen(workspace)
    for name in ("scenarios.parquet", "suite.json"):
        (folder(workspace) / name).unlink()
        os.mkfifo(folder(workspace) / name)
        with pytest.raises(DamagedData, match="expected a file, found a named pipe"):
            store.load(workspace, "mine@1")


def test_an_instruction_of_other_types_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    files.write(path, scenarios(1))
    table = parquet.read(path, "scenarios", folders.FORMAT_VERSION, files.SCHEMA)
    rows = {name: table.column(name).to_pylist() for name in files.SCHEMA}
    told = json.loads(rows["instruction"][0])
    for change in ({"given_at": "6"}, {"text": 3}, {"given_at": None}):
        rows["instruction"] = [json.dumps(told | change)]
        parquet.write(path, "scenarios", folders.FORMAT_VERSION, files.SCHEMA, rows)
        with pytest.raises(DamagedData, match="expected an instruction of texts and a step"):
            files.read(path)


@pytest.mark.parametrize("version", ["²", "", "0", "01", "1234567", "9" * 5000, "-1"])
def test_a_version_has_one_to_six_digits(workspace: Workspace, version: str) -> None:
    frozen(workspace)
    with pytest.raises(ArgumentError, match="expected a version of 1 or more"):
        store.freeze(workspace, f"mine@{version}", scenarios(2))


def test_a_folder_that_is_no_version_is_passed_over(workspace: Workspace) -> None:
    frozen(workspace)
    for name in ("²", "01", "old"):
        other = workspace.path("suites", "mine", name)
        other.mkdir()
        (other / "suite.json").write_text("{}")
    assert list(folders.versions(workspace)["mine"]) == [1]


def test_worlds_seen_from_near_and_far_are_one_suite(workspace: Workspace) -> None:
    found = [
        scenario(on_test_side(recorded(count=16, radius=radius))[0], id=f"clean-take-0{radius}")
        for radius in (1, 2)
    ]
    assert len(store.freeze(workspace, "both", found).scenarios) == 2
    assert [len(group) for group in group_by_shape(found)] == [1, 1]


def test_a_damaged_state_is_a_fault_of_its_scenario_and_hides_no_other() -> None:
    first, second = scenarios(2)
    state = first.recording.state[:-1]
    damaged = dataclasses.replace(
        first, recording=dataclasses.replace(first.recording, state=state)
    )
    sound = dataclasses.replace(second, difficulty="none")
    found = lint([damaged, sound])
    assert any(line.startswith(f"{first.id}: ") for line in found)
    assert any(line.startswith(f"{second.id}: difficulty") for line in found)
