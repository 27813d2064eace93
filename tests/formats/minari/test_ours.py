"""Our trajectories as Minari datasets: Minari reads them, and they come back exactly."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import minari
import numpy as np
import pytest

from sts.cli.main import main
from sts.domains import domain
from sts.episodes import Instruction
from sts.errors import ArgumentError, DamagedData, NewerFormat, ReplayMismatch
from sts.formats.minari import exporter, importer
from sts.storage.files import canonical_json
from sts.storage.workspace import Workspace
from sts.trajectories import store
from sts.trajectories.types import Participant, Trajectory, trajectory
from tests.examples import recorded, state_after
from tests.trajectories.bell import NAME, walks


def told() -> Trajectory:
    """A trajectory of people, with an instruction."""
    (one,) = recorded(count=1)
    who = (Participant("human", "Zoë"), Participant("script", "setter"))
    said = Instruction("Go to Good — now.", "clean-take", 4, "setter")
    silent = trajectory(one.episode, who, source="test", provenance={"a": [1, None]})
    return dataclasses.replace(silent, instructions=(said,))


def same(a: Trajectory, b: Trajectory) -> bool:
    fields = ("id", "participants", "instructions", "world", "source", "provenance", "split")
    return a.episode.content_hash == b.episode.content_hash and all(
        getattr(a, name) == getattr(b, name) for name in fields
    )


@pytest.mark.parametrize("role", [None, 1])
def test_what_is_exported_comes_back_exactly(tmp_path: Path, role: int | None) -> None:
    before = [*recorded(count=3), told(), *recorded("random", count=2, team=4, steps=9)]
    exporter.write(tmp_path / "ours-v0", before, role=role)
    after = importer.read(tmp_path / "ours-v0")
    assert len(after) == len(before)
    assert all(same(a, b) for a, b in zip(after, before, strict=True))


def test_a_dataset_that_minari_has_read_and_written_again_comes_back_exactly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = recorded(count=4)
    exporter.write(tmp_path / "ours-v0", before)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    dataset = minari.load_dataset("ours-v0")
    buffers = [
        minari.data_collector.EpisodeBuffer(
            observations=e.observations,
            actions=e.actions,
            rewards=e.rewards,
            terminations=e.terminations,
            truncations=e.truncations,
            infos=e.infos,
        )
        for e in dataset
    ]
    with pytest.warns(UserWarning):
        minari.create_dataset_from_buffers(
            "again-v0",
            buffers,
            observation_space=dataset.observation_space,
            action_space=dataset.action_space,
        )
    file = tmp_path / "again-v0" / "data" / "metadata.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"sts_format": "minari/2"}))
    after = importer.read(tmp_path / "again-v0")
    assert all(same(a, b) for a, b in zip(after, before, strict=True))


def test_minari_lists_loads_and_samples_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    every = recorded(count=3, team=2) + recorded(count=1, steps=9)
    exporter.write(tmp_path / "ours-v0", every, role=1)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    assert list(minari.list_local_datasets()) == ["ours-v0"]
    dataset = minari.load_dataset("ours-v0")
    assert (dataset.total_episodes, dataset.total_steps) == (4, 3 * 24 + 9)
    assert len(dataset.sample_episodes(2)) == 2
    for episode, one in zip(dataset, every, strict=True):
        steps, unit = one.episode.steps, domain("lambda-star").reward_unit
        assert episode.actions.tolist() == one.episode.moves[:, 1].tolist()
        assert episode.rewards.tolist() == (one.episode.rewards[:, 1] * unit).tolist()
        assert episode.truncations.tolist() == (steps - 1) * [False] + [True]
        assert not episode.terminations.any()
        assert all(dataset.action_space.contains(action) for action in episode.actions)
        for t in range(steps + 1):
            seen = {name: np.asarray(array[t]) for name, array in episode.observations.items()}
            assert dataset.observation_space.contains(seen)


def test_observations_are_what_the_participant_saw(tmp_path: Path) -> None:
    (one,) = recorded(count=1, team=2)
    exporter.write(tmp_path / "ours-v0", [one], role=1)
    (episode,) = minari.MinariDataset(tmp_path / "ours-v0" / "data")
    for step in (0, 11, 24):
        worlds = domain("lambda-star").restore([state_after(one, step)])
        seen = worlds.observe((1,), team=(0, 1), world=False)
        for name in ("good", "evil", "team", "reward"):
            np.testing.assert_array_equal(
                episode.observations[name][step], getattr(seen, name)[0, 0]
            )


def test_a_world_that_ends_terminates_its_episode(tmp_path: Path) -> None:
    every = walks()
    exporter.write(tmp_path / "bells-v0", every)
    dataset = minari.MinariDataset(tmp_path / "bells-v0" / "data")
    for episode, one in zip(dataset, every, strict=True):
        rung = int(np.flatnonzero(one.episode.rewards.any(1))[0])
        assert episode.terminations.tolist() == [t >= rung for t in range(9)]
        assert not episode.truncations.any()
    after = importer.read(tmp_path / "bells-v0", domain=NAME)
    assert all(same(a, b) for a, b in zip(after, every, strict=True))


def test_the_users_own_datasets_are_not_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_commands_export_and_import_by_a_relative_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    every = recorded(count=3)
    store.save(Workspace.open("a"), every)
    export = ["trajectories", "export", "ours-v0", "--format", "minari", "--workspace", "a"]
    assert main([*export, "--role", "1"]) == 0
    assert capsys.readouterr().out == "3 trajectories, participant 1 of each -> ours-v0\n"
    assert main(export) == 1
    assert "ours-v0 exists: remove it" in capsys.readouterr().err
    for folder in ("ours-v0", "ours-v0/data"):
        take = ["trajectories", "import", folder, "--format", "minari", "--workspace", "b"]
        assert main(take) == 0
        assert "3 trajectories, every step replayed exactly" in capsys.readouterr().out
    assert [t.id for t in store.load(Workspace.open("b"))] == [t.id for t in every]


@pytest.mark.parametrize("name", ["ours", "ours-v", "ours v0", "ours.v0"])
def test_a_folder_that_minari_could_not_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ArgumentError, match="expected a folder named NAME-vN"):
        exporter.write(tmp_path / name, recorded(count=1))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("role", [-1, 2])
def test_a_participant_that_there_is_not_is_refused(tmp_path: Path, role: int) -> None:
    with pytest.raises(ArgumentError, match=f"expected --role of 0 to 1 .*, found {role}"):
        exporter.write(tmp_path / "ours-v0", recorded(count=1), role=role)
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_of_an_export_that_fails(tmp_path: Path) -> None:
    (one,) = recorded(count=1)
    scene = one.episode.scene.copy()
    scene[7, 0] += 1
    altered = dataclasses.replace(one, episode=dataclasses.replace(one.episode, scene=scene))
    with pytest.raises(ReplayMismatch, match="step 6: object 0 is at"):
        exporter.write(tmp_path / "ours-v0", [one, altered])
    assert not list(tmp_path.iterdir())


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    exporter.write(tmp_path / "ours-v0", recorded(count=2))
    return tmp_path / "ours-v0"


def alter(folder: Path, **changes: object) -> None:
    file = folder / "data" / "metadata.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def test_a_dataset_of_version_1_is_read(ours: Path) -> None:
    alter(ours, sts_format="minari/1")
    assert len(importer.read(ours)) == 2


def test_a_later_version_of_minari_or_of_ours_is_refused_by_name(ours: Path) -> None:
    alter(ours, sts_format="minari/3")
    with pytest.raises(NewerFormat, match="minari format 3; this version reads up to 2: update"):
        importer.read(ours)
    alter(ours, minari_version="9.1.0")
    with pytest.raises(NewerFormat, match=r"written by Minari 9.1.0; Minari .* reads 0.4.0 to"):
        importer.read(ours)


def test_a_folder_that_is_no_dataset_is_refused(ours: Path, tmp_path: Path) -> None:
    with pytest.raises(DamagedData, match="is not a Minari dataset: data/metadata.json is missing"):
        importer.read(tmp_path)
    with pytest.raises(DamagedData, match="expected the folder of a Minari dataset, found a file"):
        importer.read(ours / "data" / "metadata.json")
    with pytest.raises(FileNotFoundError):
        importer.read(tmp_path / "none")


@pytest.mark.parametrize("text", ["", "[]", "{}", "1"])
def test_metadata_of_something_else_is_refused(ours: Path, text: str) -> None:
    (ours / "data" / "metadata.json").write_text(text)
    with pytest.raises(DamagedData, match="not the metadata of a Minari dataset"):
        importer.read(ours)


@pytest.mark.parametrize("keep", [0, 100, 20_000])
def test_a_truncated_dataset_is_refused(ours: Path, keep: int) -> None:
    file = ours / "data" / "main_data.hdf5"
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(
        DamagedData, match="Minari cannot read this dataset|not an exported trajectory"
    ):
        importer.read(ours)


def test_whatever_is_damaged_in_a_file_is_one_line_or_harmless(ours: Path) -> None:
    """Most of a file is unused; what is used must be refused by name or come back as it was."""
    before = [t.id for t in importer.read(ours)]
    file = ours / "data" / "main_data.hdf5"
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


def test_an_empty_episode_is_refused_by_its_source(tmp_path: Path) -> None:
    (one,) = recorded(count=1)
    none = one.episode.part(one.episode.state, 0, 0)
    empty = trajectory(none, one.participants, source="nothing 7", provenance={})
    with pytest.raises(
        ArgumentError, match=r"\(nothing 7\) has 0 steps, which Minari does not allow"
    ):
        exporter.write(tmp_path / "ours-v0", [one, empty])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value", [None, 1, [], {}, "", "0.5.4.9", "é"])
def test_a_version_that_is_none_is_refused(ours: Path, value: object) -> None:
    alter(ours, minari_version=value)
    with pytest.raises(NewerFormat, match="written by Minari .* is installed and reads"):
        importer.read(ours)


@pytest.mark.parametrize("name", ["moves", "rewards", "scene", "says"])
def test_an_altered_episode_is_refused(ours: Path, name: str) -> None:
    with h5py.File(ours / "data" / "main_data.hdf5", "a") as file:
        steps = file["episode_1"]["infos"][name]
        steps[5, 0] = (steps[5, 0] + 1) % 3
    with pytest.raises(DamagedData, match="episode 1: trajectory [0-9a-f]{16} has been modified"):
        importer.read(ours)


@pytest.mark.parametrize("name", ["moves", "scene", "sts", "sts/state", "sts/record"])
def test_an_episode_without_what_leads_back_is_refused(ours: Path, name: str) -> None:
    with h5py.File(ours / "data" / "main_data.hdf5", "a") as file:
        del file["episode_0"]["infos"][name]
    with pytest.raises(DamagedData, match="episode 0: not an exported trajectory"):
        importer.read(ours)


def test_people_without_names_are_refused(ours: Path) -> None:
    with h5py.File(ours / "data" / "main_data.hdf5", "a") as file:
        sts = file["episode_0/infos/sts"]
        told = json.loads(bytes(sts["record"][()])) | {"people": [[1, 2], [3, 4]]}
        del sts["record"]
        sts["record"] = np.frombuffer(canonical_json(told), np.uint8)
    with pytest.raises(
        DamagedData, match="episode 0: not an exported trajectory: .* kind and name"
    ):
        importer.read(ours)


@pytest.mark.parametrize("absent", [False, True])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("world", value) for value in (5, None, [1], "not hexadecimal")),
        *(("provenance", value) for value in (None, "x", [1])),
        ("source", 5),
        ("domain", 5),
    ],
)
def test_a_forged_record_is_refused_before_it_is_kept(
    ours: Path, absent: bool, name: str, value: object
) -> None:
    """Its id is that of what it says, so that nothing but the types tells it."""
    (one, _) = recorded(count=2)
    with h5py.File(ours / "data" / "main_data.hdf5", "a") as file:
        sts = file["episode_0/infos/sts"]
        told = json.loads(bytes(sts["record"][()])) | {name: value}
        if absent and name != "domain":
            told["domain"] = "no_such_module:World"
        forged = dataclasses.replace(
            one,
            episode=dataclasses.replace(one.episode, domain=told["domain"]),
            participants=tuple(Participant(*who) for who in told["people"]),
            source=told["source"],
        )
        del sts["record"]
        record = canonical_json(told | {"id": forged.id})
        sts["record"] = np.frombuffer(record, np.uint8)
    with pytest.raises(DamagedData, match="episode 0: .*(not an exported trajectory|its world is)"):
        importer.read(ours)


@pytest.mark.parametrize("library", ["minari", "h5py", "PIL", "gymnasium"])
@pytest.mark.parametrize("module", ["exporter", "importer"])
def test_without_the_extra_one_line_says_what_to_install(library: str, module: str) -> None:
    code = f"import sys; sys.modules[{library!r}] = None; import sts.formats.minari.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert done.returncode and last.startswith("sts.errors.MissingExtra")
    assert last.endswith("pip install 'standardised-test-suite[minari]'")
