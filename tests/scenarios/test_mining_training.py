"""Training data: moments of the train side whose recording does what is asked, and no suite."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from sts.continuations import label_table
from sts.errors import StsError
from sts.storage.workspace import Workspace
from sts.suites import drafts
from sts.suites.drafts import get_draft_split, open_draft
from sts.suites.suite import Scenario
from sts.trajectories import trajectory_store as store
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.mining.training import restrict_to_done
from sts_scenarios.rules import categories
from tests.examples import recorded
from tests.mined import mine
from tests.scenarios.curating import Curation, candidates, run_commands

PAGE = Path(__file__).resolve().parents[2] / "docs" / "learning.md"
CHOSEN = "--category catch-mate --category shadow-evil"
TRAIN = f"--split train {CHOSEN}"


@pytest.fixture(scope="module")
def trajectories() -> list[Trajectory]:
    return recorded(count=200, team=2, steps=40, height=8, width=9, seed=5)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory, trajectories) -> Workspace:
    workspace = Workspace.open(str(tmp_path_factory.mktemp("training") / "w"))
    store.save(workspace, trajectories)
    run_commands(
        workspace.root,
        f"mine obey {TRAIN} --per-category 6",
        f"mine judged {CHOSEN} --per-category 1",
    )
    return workspace


@pytest.fixture
def run(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> Curation:
    return Curation(workspace.root, capsys)


@pytest.fixture(scope="module")
def training_scenarios(workspace: Workspace) -> list[Scenario]:
    return candidates(workspace, "obey")


def test_training_examples_were_done_in_their_recording(training_scenarios, trajectories):
    train = {t.world for t in trajectories if t.split == "train"}
    assert len(training_scenarios) == 12
    for s in training_scenarios:
        label = categories.load_category(s.category).label
        assert label(s.recording, s.context, s.players, s.parameters).verdict == "success"
        assert s.world in train


def test_instruction_that_no_recording_follows_yields_no_example(run, trajectories):
    where = categories.load_category("where-is-good")
    plain, done = (
        mine(trajectories, [rule], per_category=1, seed=0, split="train")
        for rule in (where, restrict_to_done(where))
    )
    assert plain.scenarios and not done.scenarios and done.candidates["where-is-good"] == 0
    error = run("mine none --split train --category where-is-good", code=1)
    said = "in the train split, none of lambda-star that fits; expected recordings that fulfil an"
    assert said in error
    assert not run.exists("none")


def test_draft_never_mixes_the_train_and_the_test_split(run, training_scenarios):
    mixed = "draft {} would mix the train and the test split"
    assert mixed.format("obey") in run(f"mine obey {CHOSEN} --per-category 2", code=1)
    assert open_draft(run.workspace, "obey").load_ids() == [s.id for s in training_scenarios]
    before = open_draft(run.workspace, "judged")
    assert mixed.format("judged") in run(f"mine judged {TRAIN}", code=1)
    one = training_scenarios[0]
    words = f"--trajectory {one.trajectory} --takeover {one.step}"
    words += f" --player {one.players[0]} --category {one.category}"
    assert "is of the train split" in run(f"draft add judged {words}", code=2)
    assert open_draft(run.workspace, "judged") == before
    with pytest.raises(StsError, match="the train and the test split"):
        drafts.create_draft(run.workspace, "both", [one, before.candidate(before.load_ids()[0])])
    assert get_draft_split(before) == "test"
    assert get_draft_split(open_draft(run.workspace, "obey")) == "train"
    assert not run.exists("both")


def test_test_side_file_among_training_data_is_not_exported(run, tmp_path):
    run(f"mine learned {TRAIN} --per-category 1")
    learned, judged = (open_draft(run.workspace, name) for name in ("learned", "judged"))
    for part in judged.parts:
        there = run.workspace.path(*learned.folder.split("/"), *part.split("/"))
        own = run.workspace.path(*judged.folder.split("/"), *part.split("/"))
        there.write_bytes(own.read_bytes())
    file = run.workspace.path("drafts", "learned", "draft.json")
    text = json.loads(file.read_text())
    file.write_text(json.dumps(text | {"parts": text["parts"] | judged.parts}))
    out = tmp_path / "learned.parquet"
    said = run("trajectories", "export", str(out), "--draft", "learned", code=1)
    assert "draft learned is of the test split" in said
    assert not out.exists()


def test_training_data_is_never_frozen(run):
    run(f"mine never {TRAIN} --per-category 2")
    run("draft accept never --all")
    assert "its world is of the train split" in run("suite freeze never", code=1)
    assert not run.workspace.path("suites", "never").exists()


def test_exported_instruction_is_given_at_its_step(run, training_scenarios, tmp_path):
    file = tmp_path / "obey.parquet"
    run(f"trajectories export {file} --draft obey")
    found = {t.provenance["asked"]["id"]: t for t in store.read(file)}
    assert found.keys() == {s.id for s in training_scenarios}
    for s in training_scenarios:
        one = found[s.id]
        (told,) = one.instructions
        assert (told.text, told.given_at) == (s.instruction.text, s.context)
        assert one.find_latest_instructions(0) == [None] * 10 + [told] * (s.horizon + 1)
        assert (one.split, one.provenance["world"]) == ("train", s.world)
        assert {p.name for p in one.players} == {"local-search"}
        assert one.episode.content_hash == s.recording.content_hash
    run(f"trajectories verify {file}")


def test_rlds_export_repeats_the_instruction_at_each_step(run, training_scenarios, tmp_path):
    ones = [s for s in training_scenarios if s.players == (1,)]
    assert 0 < len(ones) < len(training_scenarios)
    out = tmp_path / "obey.rlds"
    run(f"trajectories export {out} --draft obey --format rlds --player 1")
    left = len(training_scenarios) - len(ones)
    assert f"{left} of 12 are of other players; use --player" in run.warnings
    rows = pd.read_parquet(out, dtype_backend="numpy_nullable")
    texts = {s.instruction.text for s in ones}
    for _, own in rows.groupby("episode_id", sort=False):
        said = own.language_instruction.tolist()
        assert set(said[:10]) == {""}
        assert set(said[10:]) <= texts and len(set(said[10:])) == 1
    assert rows.episode_id.nunique() == len(ones)


def test_minari_export_imports_as_the_same_episodes(run, training_scenarios, tmp_path, capsys):
    out, other = tmp_path / "obey-v0", Curation(tmp_path / "other", capsys)
    run(f"trajectories export {out} --draft obey --format minari")
    other(f"trajectories import {out} --format minari")
    found, mine = store.load(other.workspace), [s for s in training_scenarios if s.players == (0,)]
    assert {t.instructions[0].text for t in found} == {s.instruction.text for s in mine}
    assert {t.split for t in found} == {"train"} and len(found) == len(mine)


def test_example_that_an_edit_leaves_undone_is_not_exported(run, tmp_path):
    run("mine edited --split train --category catch-mate --seed 4 --per-category 6")
    label = categories.load_category("catch-mate").label
    every = candidates(run.workspace, "edited")
    steps = {s.id: label(s.recording, s.context, s.players, s.parameters).step for s in every}
    id = max(steps, key=lambda one: steps[one] or 0)
    run(f"draft edit edited {id} --horizon 1")
    out = tmp_path / "edited.parquet"
    said = run(f"trajectories export {out} --draft edited", code=1)
    assert f"the recording of {id} does not do what it asks" in said and not out.exists()
    run(f"draft undo edited {id}")
    run(f"draft reject edited {every[0].id} --reason unclear")
    run(f"trajectories export {out} --draft edited")
    kept = {s.id for s in every[1:]}
    assert {t.provenance["asked"]["id"] for t in store.read(out)} == kept


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("nothing", 2, "unknown draft 'nothing'"),
        ("judged", 1, "draft judged is of the test split, on which agents are evaluated"),
        ("obey --format rlds --player 7", 1, "draft obey asks nothing of player 7"),
        ("obey --player 1", 2, "--player cannot be combined"),
    ],
)
def test_invalid_export_is_refused_and_writes_nothing(run, tmp_path, words, code, said):
    out = tmp_path / "out"
    assert said in run(f"trajectories export {out} --draft {words}", code=code)
    assert not out.exists()


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    blocks = re.findall(r"^```python title=(\S+)\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    for name, text in blocks:
        if name in ("stepping.py", "obedient.py"):
            (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    yield tmp_path
    for name in ("stepping", "obedient"):
        sys.modules.pop(name, None)


@pytest.mark.landing
def test_learner_of_the_tutorial_obeys_in_worlds_that_it_has_not_met(page):
    workspace, step = Workspace.open(str(page / "w")), "--category stepping:STEP"
    run_commands(
        workspace.root,
        "record --domain lambda-star --agent random --episodes 60 --steps 12 --seed 31",
        f"mine obey {step} --split train --per-category 90 --max-per-environment 4",
        "trajectories export obey.parquet --draft obey --format rlds",
    )
    import obedient  # type: ignore[import-not-found]

    obedient.LEARNED.write_text(json.dumps(obedient.learn()))
    run_commands(
        workspace.root,
        f"mine told {step} --per-category 9",
        "draft accept told --all",
        f"suite freeze told {step}",
        "run told@1 --agent obedient:Obedient --agent random --continuations 10",
        f"label told@1 {step}",
    )
    name = label_table.table_name("told@1")
    counts = label_table.count_verdicts(name, workspace.store.get(name))
    assert counts["obedient"]["success"] == 90
    assert 0 < counts["random"]["success"] < 30
