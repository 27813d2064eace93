"""Training data: moments of the train side whose recording does what is asked, and no suite."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from sts.cli.main import main
from sts.continuations import label_table
from sts.errors import StsError
from sts.storage.workspace import Workspace
from sts.suites import drafts
from sts.suites.drafts import open_draft, split_of_draft
from sts.suites.types import Scenario
from sts.trajectories import store
from sts.trajectories.types import Trajectory
from sts_scenarios import categories, mining
from sts_scenarios.mining.training import restrict_to_done
from tests.examples import recorded

PAGE = Path(__file__).resolve().parents[2] / "docs" / "learning.md"
CHOSEN = ("--category", "catch-mate", "--category", "shadow-evil")


def sts(workspace: Workspace, *words: str) -> int:
    return main([*words, "--workspace", str(workspace.root)])


@pytest.fixture(scope="module")
def trajectories() -> list[Trajectory]:
    return recorded(count=200, team=2, steps=40, height=8, width=9, seed=5)


@pytest.fixture(scope="module")
def workspace(
    tmp_path_factory: pytest.TempPathFactory, trajectories: list[Trajectory]
) -> Workspace:
    workspace = Workspace.open(str(tmp_path_factory.mktemp("training") / "w"))
    store.save(workspace, trajectories)
    assert sts(workspace, "mine", "obey", "--split", "train", *CHOSEN, "--per-category", "6") == 0
    return workspace


@pytest.fixture(scope="module")
def asked(workspace: Workspace) -> list[Scenario]:
    draft = open_draft(workspace, "obey")
    return [draft.candidate(id) for id in draft.ids()]


def test_what_a_learner_is_to_obey_was_done_in_the_recording(
    asked: list[Scenario], trajectories: list[Trajectory]
) -> None:
    train = {t.world for t in trajectories if t.split == "train"}
    assert len(asked) == 12
    for s in asked:
        label = categories.named(s.category).label
        done = label(s.recording, s.takeover, s.roles, s.parameters)
        assert done.verdict == "success"
        assert s.world in train


def test_what_nobody_did_is_no_example_of_it(trajectories: list[Trajectory]) -> None:
    where = categories.named("where-is-good")
    assert mining.mine(trajectories, [where], per_category=1, seed=0, side="train").scenarios
    found = mining.mine(
        trajectories, [restrict_to_done(where)], per_category=1, seed=0, side="train"
    )
    assert not found.scenarios and found.candidates["where-is-good"] == 0


def test_where_nobody_did_it_nothing_is_mined_for_learners(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sts(workspace, "mine", "none", "--split", "train", "--category", "where-is-good") == 1
    error = capsys.readouterr().err
    assert "on the train side, none of lambda-star that fits; expected recordings that do" in error
    assert error.count("\n") == 1 and not workspace.path("drafts", "none").exists()


def test_a_draft_holds_one_side_alone(
    workspace: Workspace, asked: list[Scenario], capsys: pytest.CaptureFixture[str]
) -> None:
    assert sts(workspace, "mine", "obey", *CHOSEN, "--per-category", "2") == 1
    said = "draft obey would mix the train and the test split"
    assert said in capsys.readouterr().err
    assert open_draft(workspace, "obey").ids() == [s.id for s in asked]
    assert sts(workspace, "mine", "tested", *CHOSEN, "--per-category", "2") == 0
    before = open_draft(workspace, "tested")
    capsys.readouterr()
    assert sts(workspace, "mine", "tested", "--split", "train", *CHOSEN) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert "draft tested would mix the train and the test split" in error
    assert open_draft(workspace, "tested") == before
    one = asked[0]
    where = ("--trajectory", one.trajectory, "--takeover", str(one.context_start + one.takeover))
    whom = ("--role", str(one.roles[0]), "--category", one.category)
    assert sts(workspace, "draft", "add", "tested", *where, *whom) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert "draft tested would mix the train and the test split" in error
    both = [asked[0], before.candidate(before.ids()[0])]
    with pytest.raises(StsError, match="the train and the test split"):
        drafts.begin(workspace, "both", both)
    assert (split_of_draft(before), split_of_draft(open_draft(workspace, "obey"))) == (
        "test",
        "train",
    )
    assert not workspace.path("drafts", "both").exists()


def test_a_file_of_the_test_side_put_among_training_data_is_not_exported(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name, split in (("learned", "train"), ("judged", "test")):
        words = ("mine", name, "--split", split, *CHOSEN, "--per-category", "1")
        assert sts(workspace, *words) == 0
    learned, judged = (open_draft(workspace, name) for name in ("learned", "judged"))
    for part in judged.parts:
        there = workspace.path(*learned.folder.split("/"), *part.split("/"))
        there.write_bytes(workspace.path(*judged.folder.split("/"), *part.split("/")).read_bytes())
    file = workspace.path("drafts", "learned", "draft.json")
    own = json.loads(file.read_text())
    file.write_text(json.dumps(own | {"parts": own["parts"] | judged.parts}))
    out = tmp_path / "learned.parquet"
    capsys.readouterr()
    assert sts(workspace, "trajectories", "export", str(out), "--draft", "learned") == 1
    error = capsys.readouterr().err
    assert "draft learned is of the test split" in error and error.count("\n") == 1
    assert not out.exists()


def test_training_data_is_never_frozen(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sts(workspace, "mine", "never", "--split", "train", *CHOSEN, "--per-category", "2") == 0
    assert sts(workspace, "draft", "accept", "never", "--all") == 0
    capsys.readouterr()
    assert sts(workspace, "suite", "freeze", "never") == 1
    error = capsys.readouterr().err
    assert "its world is of the train split" in error and error.count("\n") == 1
    assert not workspace.path("suites", "never").exists()


def test_what_is_asked_is_told_from_its_step_on(
    workspace: Workspace, asked: list[Scenario], tmp_path: Path
) -> None:
    file = tmp_path / "obey.parquet"
    assert sts(workspace, "trajectories", "export", str(file), "--draft", "obey") == 0
    found = {t.provenance["asked"]["id"]: t for t in store.read(file)}
    assert found.keys() == {s.id for s in asked}
    for s in asked:
        one = found[s.id]
        (told,) = one.instructions
        assert (told.text, told.given_at) == (s.instruction.text, s.takeover)
        assert one.latest_instructions() == [""] * 10 + [told.text] * (s.horizon + 1)
        assert one.split == "train"
        assert {p.name for p in one.participants} == {"local-search"}
        assert one.provenance["world"] == s.world
        assert one.episode.content_hash == s.recording.content_hash
    assert sts(workspace, "trajectories", "verify", str(file)) == 0


def test_rlds_says_it_in_the_words_of_each_step(
    workspace: Workspace,
    asked: list[Scenario],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ones = [s for s in asked if s.roles == (1,)]
    assert 0 < len(ones) < len(asked)
    out = tmp_path / "obey.rlds"
    words = ("export", str(out), "--draft", "obey", "--format", "rlds", "--role", "1")
    assert sts(workspace, "trajectories", *words) == 0
    left = len(asked) - len(ones)
    assert f"{left} of 12 are asked of others: export them by --role" in capsys.readouterr().err
    rows = pd.read_parquet(out, dtype_backend="numpy_nullable")
    told = {s.instruction.text for s in ones}
    for _, own in rows.groupby("episode_id", sort=False):
        said = own.language_instruction.tolist()
        assert set(said[:10]) == {""}
        assert set(said[10:]) <= told and len(set(said[10:])) == 1
    assert rows.episode_id.nunique() == len(ones)


def test_minari_brings_the_same_episodes_back(
    workspace: Workspace, asked: list[Scenario], tmp_path: Path
) -> None:
    out, other = tmp_path / "obey-v0", Workspace.open(str(tmp_path / "other"))
    words = ("--draft", "obey", "--format", "minari")
    assert sts(workspace, "trajectories", "export", str(out), *words) == 0
    assert sts(other, "trajectories", "import", str(out), "--format", "minari") == 0
    found = store.load(other)
    mine = [s for s in asked if s.roles == (0,)]
    assert {t.instructions[0].text for t in found} == {s.instruction.text for s in mine}
    assert {t.split for t in found} == {"train"} and len(found) == len(mine)


def test_what_an_edit_leaves_undone_is_no_example_of_it(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ("mine", "edited", "--split", "train", "--category", "catch-mate", "--seed", "4")
    assert sts(workspace, *words, "--per-category", "6") == 0
    draft = open_draft(workspace, "edited")
    label, every = categories.named("catch-mate").label, map(draft.candidate, draft.ids())
    steps = {s.id: label(s.recording, s.takeover, s.roles, s.parameters).step for s in every}
    id = max(steps, key=lambda one: steps[one] or 0)
    assert sts(workspace, "draft", "edit", "edited", id, "--length", "1") == 0
    out, export = tmp_path / "edited.parquet", ("trajectories", "export")
    capsys.readouterr()
    assert sts(workspace, *export, str(out), "--draft", "edited") == 1
    error = capsys.readouterr().err
    assert f"the recording of {id} does not do what it asks" in error and error.count("\n") == 1
    assert not out.exists()
    assert sts(workspace, "draft", "undo", "edited", id) == 0
    assert sts(workspace, *export, str(out), "--draft", "edited") == 0


def test_what_was_rejected_is_not_exported(workspace: Workspace, tmp_path: Path) -> None:
    assert sts(workspace, "mine", "some", "--split", "train", *CHOSEN, "--per-category", "2") == 0
    ids = open_draft(workspace, "some").ids()
    assert sts(workspace, "draft", "reject", "some", ids[0], "--reason", "unclear") == 0
    file = tmp_path / "some.parquet"
    assert sts(workspace, "trajectories", "export", str(file), "--draft", "some") == 0
    assert {t.provenance["asked"]["id"] for t in store.read(file)} == set(ids[1:])


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--draft", "nothing"), 2, "unknown draft 'nothing'"),
        (
            ("--draft", "judged"),
            1,
            "draft judged is of the test split, on which agents are evaluated",
        ),
        (
            ("--draft", "obey", "--format", "rlds", "--role", "7"),
            1,
            "draft obey asks nothing of participant 7",
        ),
        (("--draft", "obey", "--role", "1"), 2, "--role cannot be combined"),
    ],
)
def test_what_cannot_be_exported_is_one_line_and_writes_nothing(
    workspace: Workspace,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    if drafts.find(workspace, "judged") is None:
        assert sts(workspace, "mine", "judged", *CHOSEN, "--per-category", "1") == 0
    capsys.readouterr()
    out = tmp_path / "out"
    assert sts(workspace, "trajectories", "export", str(out), *words) == code
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
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


def test_the_learner_of_the_page_obeys_on_worlds_that_it_has_not_met(page: Path) -> None:
    workspace = Workspace.open(str(page / "w"))
    step = ("--category", "stepping:STEP")
    for line in (
        ("record", "--domain", "lambda-star", "--agent", "random", "--episodes", "60")
        + ("--steps", "12", "--seed", "31"),
        ("mine", "obey", *step, "--split", "train", "--per-category", "90", "--per-world", "4"),
        ("trajectories", "export", "obey.parquet", "--draft", "obey", "--format", "rlds"),
    ):
        assert sts(workspace, *line) == 0
    import obedient  # type: ignore[import-not-found]

    obedient.LEARNED.write_text(json.dumps(obedient.learn()))
    for words in (
        ("mine", "told", *step, "--per-category", "9"),
        ("draft", "accept", "told", "--all"),
        ("suite", "freeze", "told", *step),
        ("run", "told@1", "--agent", "obedient:Obedient", "--agent", "random"),
        ("label", "told@1", *step),
    ):
        assert sts(workspace, *words) == 0
    name = label_table.name_of("told@1")
    counts = label_table.count_verdicts(name, workspace.store.get(name))
    assert counts["obedient"]["success"] == 90
    assert 0 < counts["random"]["success"] < 30
