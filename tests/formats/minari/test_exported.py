"""Our trajectories as Minari datasets: Minari reads them, and they come back exactly."""

import dataclasses
import json
import os
import subprocess
import sys

import h5py
import minari
import numpy as np
import pytest

from sts.cli.main import main
from sts.domains import load_domain
from sts.episodes import Instruction
from sts.errors import ArgumentError, DamagedData, NewerFormat, ReplayMismatch
from sts.formats.minari import exporter, importer
from sts.storage.workspace import Workspace
from sts.trajectories import trajectory_store as store
from sts.trajectories.trajectory import Player, Trajectory, make_trajectory
from tests.examples import recorded, state_after
from tests.formats.minari.conftest import DATA, forge
from tests.trajectories.bell import NAME, walks

NO_VERSIONS: tuple[object, ...] = (None, 1, [], {}, "", "0.5.4.9", "é")


def make_instructed_trajectory() -> Trajectory:
    """Return a trajectory of people, with an instruction."""
    (one,) = recorded(count=1)
    who = (Player("human", "Zoë"), Player("script", "setter"))
    said = Instruction("Go to Good — now.", "clean-take", 4, "setter", 0, "success", 9)
    silent = make_trajectory(one.episode, who, source="test", provenance={"a": [1, None]})
    moves = (one.episode.actions + 1) % 9
    return dataclasses.replace(silent, instructions=(said,), intended=moves)


def same(a: Trajectory, b: Trajectory) -> bool:
    fields = ("id", "players", "instructions", "world", "source", "provenance", "split")
    intended = [None if t.intended is None else t.intended.tolist() for t in (a, b)]
    return (
        a.episode.content_hash == b.episode.content_hash
        and intended[0] == intended[1]
        and all(getattr(a, name) == getattr(b, name) for name in fields)
    )


@pytest.mark.parametrize("player", [None, 1])
def test_export_and_import_return_the_same_trajectories(tmp_path, player):
    before = [
        *recorded(count=3),
        make_instructed_trajectory(),
        *recorded("random", count=2, team=4, steps=9),
    ]
    exporter.write(tmp_path / "ours-v0", before, player=player)
    after = importer.read(tmp_path / "ours-v0")
    assert len(after) == len(before)
    assert all(same(a, b) for a, b in zip(after, before, strict=True))
    infos = minari.MinariDataset(tmp_path / "ours-v0" / "data")[3].infos
    heard = [text.decode() for text in infos["language_instruction"]]
    assert heard == 4 * [""] + 21 * ["" if player else "Go to Good — now."]
    assert infos["is_person"].tolist() == 25 * [player is None]


def test_dataset_rewritten_by_minari_returns_the_same_trajectories(tmp_path, monkeypatch):
    before = [*recorded(count=4), make_instructed_trajectory()]
    exporter.write(tmp_path / "ours-v0", before)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    dataset = minari.load_dataset("ours-v0")
    names = ("observations", "actions", "rewards", "terminations", "truncations", "infos")
    buffers = [
        minari.data_collector.EpisodeBuffer(**{name: getattr(e, name) for name in names})
        for e in dataset
    ]
    spaces = {name: getattr(dataset, name) for name in ("observation_space", "action_space")}
    with pytest.warns(UserWarning):
        minari.create_dataset_from_buffers("again-v0", buffers, **spaces)
    file = tmp_path / "again-v0" / "data" / "metadata.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"sts_format": "minari/3"}))
    after = importer.read(tmp_path / "again-v0")
    assert all(same(a, b) for a, b in zip(after, before, strict=True))


def test_minari_lists_loads_and_samples_an_exported_dataset(tmp_path, monkeypatch):
    every = recorded(count=3, team=2) + recorded(count=1, steps=9)
    exporter.write(tmp_path / "ours-v0", every, player=1)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    assert list(minari.list_local_datasets()) == ["ours-v0"]
    dataset = minari.load_dataset("ours-v0")
    assert (dataset.total_episodes, dataset.total_steps) == (4, 3 * 24 + 9)
    assert len(dataset.sample_episodes(2)) == 2
    for episode, one in zip(dataset, every, strict=True):
        steps, unit = one.episode.steps, load_domain("lambda-star").reward_unit
        assert episode.actions.tolist() == one.episode.actions[:, 1].tolist()
        assert episode.rewards.tolist() == (one.episode.rewards[:, 1] * unit).tolist()
        assert episode.truncations.tolist() == (steps - 1) * [False] + [True]
        assert not episode.terminations.any()
        assert all(dataset.action_space.contains(action) for action in episode.actions)
        for t in range(steps + 1):
            seen = {name: np.asarray(array[t]) for name, array in episode.observations.items()}
            assert dataset.observation_space.contains(seen)
    worlds = load_domain("lambda-star").restore([state_after(every[0], 11)])
    seen = worlds.observe((1,), team=(0, 1), world=False)
    first = dataset[0].observations
    for name in ("good", "evil", "team", "reward"):
        np.testing.assert_array_equal(first[name][11], getattr(seen, name)[0, 0])


def test_terminated_environment_terminates_its_episode(tmp_path):
    every = walks()
    exporter.write(tmp_path / "bells-v0", every)
    dataset = minari.MinariDataset(tmp_path / "bells-v0" / "data")
    for episode, one in zip(dataset, every, strict=True):
        rung = int(np.flatnonzero(one.episode.rewards.any(1))[0])
        assert episode.terminations.tolist() == [t >= rung for t in range(9)]
        assert not episode.truncations.any()
    after = importer.read(tmp_path / "bells-v0", domain=NAME)
    assert all(same(a, b) for a, b in zip(after, every, strict=True))


def test_export_and_import_leave_the_users_datasets_alone(tmp_path, monkeypatch):
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for variable in (None, str(elsewhere)):
        monkeypatch.delenv("MINARI_DATASETS_PATH", raising=False)
        if variable:
            monkeypatch.setenv("MINARI_DATASETS_PATH", variable)
        folder = tmp_path / f"to-{variable is None}" / "ours-v0"
        exporter.write(folder, recorded(count=1))
        importer.read(folder)
        assert os.environ.get("MINARI_DATASETS_PATH") == variable
    assert not list(home.iterdir()) and not elsewhere.exists()


def test_commands_export_and_import_a_relative_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    every = recorded(count=3)
    store.save(Workspace.open("a"), every)
    export = ["trajectories", "export", "ours-v0", "--format", "minari", "--workspace", "a"]
    assert main([*export, "--player", "1"]) == 0
    assert capsys.readouterr().out == "3 trajectories, player 1 of each -> ours-v0\n"
    assert main(export) == 1
    assert "ours-v0 exists: remove it" in capsys.readouterr().err
    for folder in ("ours-v0", "ours-v0/data"):
        take = ["trajectories", "import", folder, "--format", "minari", "--workspace", "b"]
        assert main(take) == 0
        assert "3 trajectories, every step replayed exactly" in capsys.readouterr().out
    assert [t.id for t in store.load(Workspace.open("b"))] == [t.id for t in every]


def changed_scene(one):
    scene = one.episode.scene.copy()
    scene[7, 0] += 1
    return dataclasses.replace(one, episode=dataclasses.replace(one.episode, scene=scene))


def without_steps(one):
    none = one.episode.slice_steps(one.episode.state, 0, 0)
    return make_trajectory(none, one.players, source="nothing 7", provenance={})


@pytest.mark.parametrize(
    ("name", "change", "player", "error", "message"),
    [
        *(
            (name, None, None, ArgumentError, "expected a folder named NAME-vN")
            for name in ("ours", "ours-v", "ours v0", "ours.v0")
        ),
        ("ours-v0", None, -1, ArgumentError, "expected --player of 0 to 1 .*, found -1"),
        ("ours-v0", None, 2, ArgumentError, "expected --player of 0 to 1 .*, found 2"),
        ("ours-v0", changed_scene, None, ReplayMismatch, "step 6: object 0 is at"),
        ("ours-v0", without_steps, None, ArgumentError, r"\(nothing 7\) has 0 steps, which Minari"),
    ],
)
def test_failed_export_leaves_no_files(tmp_path, name, change, player, error, message):
    (one,) = recorded(count=1)
    with pytest.raises(error, match=message):
        exporter.write(tmp_path / name, [one, change(one) if change else one], player=player)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def ours(tmp_path):
    exporter.write(tmp_path / "ours-v0", recorded(count=2))
    return tmp_path / "ours-v0"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sts_format": "minari/1"}, ""),
        ({"sts_format": "minari/4"}, "minari format 4; this version reads up to 3: update"),
        ({"minari_version": "9.1.0"}, r"written by Minari 9.1.0; Minari .* reads 0.4.0 to"),
        *(
            ({"minari_version": value}, "written by Minari .* is installed and reads")
            for value in NO_VERSIONS
        ),
    ],
)
def test_unsupported_version_of_minari_or_of_the_format_is_rejected(ours, changes, message):
    file = ours / "data" / "metadata.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    if not message:
        with h5py.File(ours / DATA, "a") as data:
            del data["episode_0/infos/intended"]
        assert len(importer.read(ours)) == 2
        return
    with pytest.raises(NewerFormat, match=message):
        importer.read(ours)


def test_folder_without_a_dataset_is_rejected(ours, tmp_path):
    with pytest.raises(DamagedData, match="is not a Minari dataset: data/metadata.json is missing"):
        importer.read(tmp_path)
    file = ours / "data" / "metadata.json"
    with pytest.raises(DamagedData, match="expected the folder of a Minari dataset, found a file"):
        importer.read(file)
    with pytest.raises(FileNotFoundError):
        importer.read(tmp_path / "none")
    for text in ("", "[]", "{}", "1"):
        file.write_text(text)
        with pytest.raises(DamagedData, match="not the metadata of a Minari dataset"):
            importer.read(ours)


@pytest.mark.parametrize("keep", [0, 100, 20_000])
def test_truncated_dataset_is_rejected(ours, keep):
    file = ours / DATA
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(DamagedData, match="Minari cannot read this dataset|not an exported traj"):
        importer.read(ours)


def test_damaged_bytes_are_rejected_or_harmless(ours):
    before = [t.id for t in importer.read(ours)]
    file = ours / DATA
    whole, rng, refused = file.read_bytes(), np.random.default_rng(0), 0
    for _ in range(80):
        damaged = np.frombuffer(whole, np.uint8).copy()
        damaged[rng.integers(0, len(whole), 30)] = rng.integers(0, 256, 30)
        file.write_bytes(damaged.tobytes())
        try:
            assert [t.id for t in importer.read(ours)] == before
        except DamagedData as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused > 20


@pytest.mark.parametrize("name", ["moves", "rewards", "scene", "says", "intended"])
def test_altered_episode_is_rejected(ours, name):
    with h5py.File(ours / DATA, "a") as file:
        steps = file["episode_1"]["infos"][name]
        steps[5, 0] = (steps[5, 0] + 1) % 3
    with pytest.raises(DamagedData, match="episode 1: trajectory [0-9a-f]{16} has been modified"):
        importer.read(ours)


@pytest.mark.parametrize("name", ["moves", "scene", "sts", "sts/state", "sts/record"])
def test_episode_without_its_record_is_rejected(ours, name):
    with h5py.File(ours / DATA, "a") as file:
        del file["episode_0"]["infos"][name]
    with pytest.raises(DamagedData, match="episode 0: not an exported trajectory"):
        importer.read(ours)


@pytest.mark.parametrize("absent", [False, True])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("world", value) for value in (5, None, [1], "not hexadecimal")),
        *(("provenance", value) for value in (None, "x", [1])),
        ("people", [[1, 2], [3, 4]]),
        ("source", 5),
        ("domain", 5),
    ],
)
def test_forged_record_is_rejected(ours, absent, name, value):
    """Its id fits its content, so that only the types show it."""
    changes = {name: value}
    if absent and name != "domain":
        changes["domain"] = "no_such_module:World"
    forge(ours, recorded(count=2)[0], **changes)
    with pytest.raises(DamagedData, match="episode 0: .*(not an exported trajectory|its world is)"):
        importer.read(ours)


@pytest.mark.parametrize("library", ["minari", "h5py", "PIL", "gymnasium"])
@pytest.mark.parametrize("module", ["exporter", "importer"])
def test_missing_library_error_names_the_extra_to_install(library, module):
    code = f"import sys; sys.modules[{library!r}] = None; import sts.formats.minari.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert done.returncode and last.startswith("sts.errors.MissingExtra")
    assert last.endswith("pip install 'standardised-test-suite[minari]'")
