"""The importer of the published program's episodes: everything replays, nothing altered enters."""

import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sts.cli.main import main
from sts.domains import domain
from sts.engine.replay import verify
from sts.errors import DamagedData
from sts.storage.workspace import Workspace
from sts.trajectories import store
from sts.worlds.lambda_star.published.importer import TEAMS, read
from tests.examples import SAMPLE_2016


def altered(tmp_path: Path, change: Callable[[list[dict[str, Any]]], object]) -> Path:
    lines = [json.loads(line) for line in SAMPLE_2016.read_text().splitlines()]
    change(lines)
    path = tmp_path / "altered.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


def test_every_position_and_reward_of_the_published_episodes_replays_exactly() -> None:
    found = read(SAMPLE_2016)
    assert len(found) == 3 * len(TEAMS)
    assert verify(domain("lambda-star"), [t.episode for t in found]) == [None] * len(found)
    assert sum(abs(t.episode.rewards).sum() for t in found) > 1000


def test_each_participant_is_recorded_as_the_behaviour_that_played_it() -> None:
    names = {p.name for t in read(SAMPLE_2016) for p in t.participants}
    assert names == set(TEAMS.values())


def test_worlds_are_shared_by_the_thirteen_teams_of_an_episode() -> None:
    found = read(SAMPLE_2016)
    assert len({t.world for t in found}) == 3
    assert len({t.id for t in found}) == len(found)


def test_an_altered_reward_is_refused_with_its_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def change(lines: list[dict[str, Any]]) -> None:
        rewards = lines[7]["woc"]["r"]
        rewards[1] = 0.5 if rewards[1] != 0.5 else 1

    path = altered(tmp_path, change)
    code = main(
        ["trajectories", "import", str(path), "--format", "lambdastar-2016"]
        + ["--workspace", str(tmp_path / "w")]
    )
    error = capsys.readouterr().err
    assert code == 1
    assert error.count("\n") == 1
    assert "episode 0 team woc: step 6: participant 1 receives" in error
    assert not (tmp_path / "w").exists()


def test_importing_twice_keeps_each_trajectory_once(tmp_path: Path) -> None:
    command = ["trajectories", "import", str(SAMPLE_2016), "--format", "lambdastar-2016"]
    for _ in range(2):
        assert main([*command, "--workspace", str(tmp_path)]) == 0
    assert len(store.load(Workspace.open(str(tmp_path)))) == 39


def test_a_packed_file_is_imported_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sample.jsonl.xz"
    path.write_bytes(lzma.compress(SAMPLE_2016.read_bytes()))
    plain, packed = read(SAMPLE_2016), read(path)
    assert [t.episode.state for t in packed] == [t.episode.state for t in plain]
    command = ["trajectories", "import", str(path), "--format", "lambdastar-2016"]
    assert main([*command, "--workspace", str(tmp_path / "w")]) == 0
    assert "39 trajectories, every step replayed exactly" in capsys.readouterr().out


@pytest.mark.parametrize(
    "content", [b"", b"{}", lzma.compress(SAMPLE_2016.read_bytes())[:500], lzma.compress(b"")]
)
def test_a_packed_file_that_is_broken_or_empty_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl.xz"
    path.write_bytes(content)
    with pytest.raises(
        DamagedData, match=r"not an \.xz file, or is truncated|expected JSON lines, found an empty"
    ):
        read(path)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda lines: lines[3].pop("sarsa"), ":4: team sarsa is missing"),
        (lambda lines: lines[3]["sarsa"]["pos"].append(3), ":4: team sarsa: expected 3 cells"),
        (
            lambda lines: lines[3]["sarsa"]["r"].__setitem__(0, 0.3),
            ":4: team sarsa: expected rewards",
        ),
        (
            lambda lines: lines[3]["sarsa"]["r"].__setitem__(0, "1"),
            ":4: team sarsa: expected rewards",
        ),
        (
            lambda lines: lines[3]["sarsa"]["pos"].__setitem__(0, 99),
            "expected pos with integers from 1",
        ),
        (lambda lines: lines.pop(5), ":1: expected steps 1 to 25"),
        (lambda lines: lines[0].update(n=2), ":1: expected n with integers from 3"),
        (lambda lines: lines[0]["good_path"].pop(), ":1: expected 3 start cells and paths of 26"),
        (lambda lines: lines[0].update(ev="begin"), ":1: expected an object with ev"),
        (lambda lines: lines.pop(0), ":1: expected a start line before any step line"),
    ],
)
def test_a_damaged_line_is_refused_by_its_number(
    tmp_path: Path, change: Callable[[list[dict[str, Any]]], object], found: str
) -> None:
    with pytest.raises(DamagedData) as error:
        read(altered(tmp_path, change))
    assert found in str(error.value)


@pytest.mark.parametrize(
    ("content", "found"),
    [(b"", "empty file"), (b"\n \n", "empty file"), (b"\xff\xfe\x00", "binary"), (b"{", ":1:")],
)
def test_an_empty_binary_or_broken_file_is_refused(
    tmp_path: Path, content: bytes, found: str
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(DamagedData) as error:
        read(path)
    assert found in str(error.value)


@pytest.mark.parametrize("line", ["9" * 5000, "[" * 100_000, "{"])
def test_a_line_that_is_no_json_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "t.jsonl").write_text(SAMPLE_2016.read_text() + line)
    with pytest.raises(DamagedData, match=r"t\.jsonl:[0-9]+: not JSON"):
        read(tmp_path / "t.jsonl")
