"""The importer of the published program's episodes: everything replays, nothing altered enters."""

import json
import lzma
from pathlib import Path

import pytest

from sts.cli.main import main
from sts.engine.replay import verify
from sts.errors import DamagedData
from sts.storage.workspace import Workspace
from sts.trajectories import trajectory_store as store
from sts_lambda_star.published.importer import TEAMS, read
from tests.examples import SAMPLE_2016

CONTENT = SAMPLE_2016.read_bytes()
IMPORT = ["trajectories", "import", "--format", "lambdastar-2016"]


def altered(tmp_path: Path, change) -> Path:
    """Return a copy of the sample in which `change` was made to the list of its lines."""
    lines = [json.loads(line) for line in CONTENT.decode().splitlines()]
    change(lines)
    path = tmp_path / "altered.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


def test_every_position_and_reward_of_the_published_episodes_replays_exactly() -> None:
    found = read(SAMPLE_2016)
    assert len({t.id for t in found}) == len(found) == 3 * len(TEAMS)
    assert verify([t.episode for t in found]) == [None] * len(found)
    assert sum(abs(t.episode.rewards).sum() for t in found) > 1000
    assert {p.name for t in found for p in t.players} == set(TEAMS.values())
    assert len({t.world for t in found}) == 3, "the thirteen teams of an episode share a world"


def test_altered_reward_is_refused_with_its_step(tmp_path: Path, capsys) -> None:
    def change(lines):
        rewards = lines[7]["woc"]["r"]
        rewards[1] = 0.5 if rewards[1] != 0.5 else 1

    path = altered(tmp_path, change)
    assert main([*IMPORT, str(path), "--workspace", str(tmp_path / "w")]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "episode 0 team woc: step 6: player 1 receives" in error
    assert not (tmp_path / "w").exists()


def test_importing_twice_keeps_each_trajectory_once(tmp_path: Path, capsys) -> None:
    packed = tmp_path / "sample.jsonl.xz"
    packed.write_bytes(lzma.compress(CONTENT))
    for _ in range(2):
        assert main([*IMPORT, str(packed), "--workspace", str(tmp_path / "w")]) == 0
    assert "39 trajectories, every step replayed exactly" in capsys.readouterr().out
    assert len(store.load(Workspace.open(str(tmp_path / "w")))) == 39


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda lines: lines[3].pop("sarsa"), ":4: team sarsa is missing"),
        (lambda lines: lines[3]["sarsa"]["pos"].append(3), ":4: team sarsa: expected 3 cells"),
        (lambda lines: lines[3]["sarsa"].update(r=[0.3, 0, 0]), ":4: team sarsa: expected rewards"),
        (lambda lines: lines[3]["sarsa"].update(r=["1", 0, 0]), ":4: team sarsa: expected rewards"),
        (lambda lines: lines[3]["sarsa"].update(pos=[99, 1, 1]), "expected pos with integers"),
        (lambda lines: lines.pop(5), ":1: expected steps 1 to 25"),
        (lambda lines: lines[0].update(n=2), ":1: expected n with integers from 3"),
        (lambda lines: lines[0]["good_path"].pop(), ":1: expected 3 start cells and paths of 26"),
        (lambda lines: lines[0].update(ev="begin"), ":1: expected an object with ev"),
        (lambda lines: lines.pop(0), ":1: expected a start line before any step line"),
    ],
)
def test_damaged_line_is_refused_by_its_number(tmp_path: Path, change, found: str) -> None:
    with pytest.raises(DamagedData) as error:
        read(altered(tmp_path, change))
    assert found in str(error.value)


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("x.jsonl.xz", b"", "not an .xz file, or is truncated"),
        ("x.jsonl.xz", b"{}", "not an .xz file, or is truncated"),
        ("x.jsonl.xz", lzma.compress(CONTENT)[:500], "not an .xz file, or is truncated"),
        ("x.jsonl.xz", lzma.compress(b""), "expected JSON lines, found an empty"),
        ("x.jsonl", b"", "empty file"),
        ("x.jsonl", b"\n \n", "empty file"),
        ("x.jsonl", b"\xff\xfe\x00", "binary"),
        ("x.jsonl", b"{", "x.jsonl:1: not JSON"),
        *(("x.jsonl", CONTENT + end, ": not JSON") for end in (b"9" * 5000, b"[" * 100_000, b"{")),
    ],
)
def test_empty_binary_or_broken_file_is_refused(tmp_path: Path, name, content, found) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DamagedData) as error:
        read(tmp_path / name)
    assert found in str(error.value)
