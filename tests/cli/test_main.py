"""The command line: one clear line for what is wrong, the right exit code, nothing lost."""

import errno
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sts.cli.main import main
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from tests.examples import SAMPLE_2016, accepted, scenarios


@pytest.fixture
def root(tmp_path: Path) -> Path:
    workspace = Workspace.open(str(tmp_path / "w"))
    suites.freeze(workspace, "mine", scenarios(2))
    return workspace.root


def fails(
    capsys: pytest.CaptureFixture[str], words: list[str], code: int, found: str, root: Path
) -> None:
    capsys.readouterr()
    assert main([*words, "--workspace", str(root)]) == code
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    assert error.startswith("sts: ")
    assert "Traceback" not in error
    assert re.search(found, error), error


RUN = ["run", "mine@1", "--agent", "random"]
SCORE = ["lambda-star", "score", "--agent", "random"]
RECORD = ["record", "--domain", "lambda-star", "--agent", "random", "--episodes", "2"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["fly"], r"unknown command 'fly'; known: .*annotate.*trajectories"),
        (["run"], "required: NAME@VERSION"),
        ([*RUN, "--fast"], "unrecognized arguments: --fast"),
        ([*RUN, "--continuations", "x"], "expected a whole number, found 'x'"),
        ([*RUN, "--continuations", "0"], "expected 1 or more"),
        ([*RUN, "--workers", "0"], "expected --workers of 1 or more, found 0"),
        ([*RUN, "--continuations", "10001"], "expected at most 10000 continuations a scenario"),
        ([*RUN, "--seed", str(2**63)], "expected a seed from -9"),
        ([*SCORE, "--episodes", "10000001"], "expected at most 10000000 episodes"),
        ([*SCORE, "--agent", "nobody"], "unknown agent 'nobody'; known: .*random"),
        ([*SCORE, "--agent", "randon"], "unknown agent 'randon'; .*; did you mean random"),
        ([*SCORE, "--team", "0"], "expected a team of 1 to 100 on a 10x10 grid, found 0"),
        (
            [*SCORE, "--complexity", "2-99"],
            "2 to 99 is out of range for 50 steps .* within 2 to 50",
        ),
        ([*SCORE, "--figure", "nowhere.png"], "--figure: expected a file name that ends in .svg"),
        (["run", "mine@1", "--agent", "nobody"], "unknown agent 'nobody'; known: .*random"),
        (["run", "mine@1", "--agent", "os:system"], "'os:system' is not an agent: expected a cla"),
        (["run", "mine@1", "--agent", "os:nothing"], "module os has no nothing"),
        (["run", "mine@1", "--agent", "no_such_module:X"], "cannot import no_such_module"),
        (["run", "mine@1", "--agent", "a b:c"], "expected agent as module:Name"),
        (["run", "mine@2", "--agent", "random"], "unknown suite version 'mine@2'; known: mine@1"),
        (["run", "other@1", "--agent", "random"], "unknown suite 'other@1'; known: .*mine@1"),
        (["run", "mine", "--agent", "random"], "unknown suite version 'mine'; known: mine@1"),
        ([*RECORD[:-1], "0"], "expected --episodes of 1 or more"),
        (
            ["record", "--agent", "random", "--episodes", "2", "--domain", "moon"],
            "unknown domain 'moon'; known: .*lambda-star",
        ),
        ([*RECORD, "--size", "2x9"], "expected sides from 3 to 255, found 2x9"),
        ([*RECORD, "--size", "9"], "expected a size like 10x10"),
        ([*RECORD, "--size", "9x999"], "expected sides from 3 to 255"),
        ([*RECORD, "--team", "0"], "expected --team of 1 or more"),
        ([*RECORD, "--team", "two"], "expected --team as a whole number, found 'two'"),
        ([*RECORD, "--team", "1_0"], "expected --team as a whole number, found '1_0'"),
        ([*RECORD, "--patterns", "odd"], "expected patterns paper or lambdastar-2016, found 'odd'"),
        ([*RECORD, "--set", "team"], "expected a setting as KEY=VALUE, found 'team'"),
        ([*RECORD, "--set", "team=2"], "'lambda-star' has no setting 'team'; it has height, "),
        (
            ["record", "--agent", "recorded", "--episodes", "1"],
            "environment: expected a domain",
        ),
        (
            ["record", "--agent", "babyai-bot", "--episodes", "1", "--size", "9x9"],
            "--size is for lambda-star; for babyai expected --set KEY=VALUE",
        ),
        ([*RECORD, "--team", "101"], "expected a team of 1 to 100"),
        ([*RECORD, "--steps", "0"], "found 2 of 0|expected 2 to"),
        (["record", "--agent", "os:system", "--episodes", "1"], "is not an agent"),
        (["trajectories", "import", "x", "--format", "mine"], "unknown format 'mine'; known: lamb"),
        (["trajectories", "show", "zz"], "unknown trajectory 'zz'"),
        (["suite", "freeze", "nothing"], "unknown draft 'nothing'; known: none yet"),
        (["suite", "freeze", "mine@1"], "mine@1 is already frozen; the next version is 2"),
        (["suite", "freeze", "mine@x"], "expected a version of 1 or more"),
        (["show", "ffff"], "unknown continuation 'ffff'"),
        (["show", "mine@1/nothing"], "unknown scenario of mine@1 'nothing'"),
        (["show", "ffff", "--frames", "1"], "expected --frames of 2 or more"),
    ],
)
def test_a_wrong_argument_is_one_line_and_exit_code_2(
    root: Path, capsys: pytest.CaptureFixture[str], words: list[str], found: str
) -> None:
    fails(capsys, words, 2, found, root)


def test_a_missing_or_foreign_file_is_one_line_and_exit_code_1(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    take = ["trajectories", "import", "--format", "lambdastar-2016"]
    fails(capsys, [*take, str(tmp_path / "none.jsonl")], 1, "none.jsonl: no such file", root)
    fails(capsys, [*take, str(tmp_path)], 1, "expected a file, found a folder", root)
    fails(capsys, ["trajectories", "verify", str(SAMPLE_2016)], 1, "expected a Parquet file", root)
    assert not root.joinpath("trajectories").exists()


def test_a_suite_edited_by_hand_is_not_run(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = root / "suites" / "mine" / "1" / "suite.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"description": "better"}))
    fails(capsys, RUN, 1, "mine@1 in .* has been modified since it was frozen", root)
    assert not root.joinpath("continuations").exists()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("schema = 3", "has schema 3; this version reads up to 2"),
        ("schema = ", "not valid TOML"),
        ("", "no integer `schema`"),
    ],
)
def test_a_foreign_workspace_is_refused(
    root: Path, capsys: pytest.CaptureFixture[str], text: str, found: str
) -> None:
    (root / "workspace.toml").write_text(text)
    fails(capsys, RUN, 1, found, root)


def test_a_file_is_no_workspace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "w"
    file.write_text("")
    fails(capsys, ["suite", "ls"], 1, "expected a workspace folder", file)


@pytest.mark.parametrize(
    ("limit", "found"), [("ENOSPC", "no space left on the disk"), ("EROFS", "disk is read-only")]
)
@pytest.mark.parametrize("words", [RUN, RECORD, ["suite", "freeze", "mine"]])
def test_a_full_or_read_only_disk_is_one_line_and_leaves_no_debris(
    root: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    found: str,
    words: list[str],
) -> None:
    accepted(Workspace.open(root), "mine", scenarios(1))

    def full(handle: int) -> None:
        raise OSError(getattr(errno, limit), "x", "the file")

    before = sorted(p for p in root.rglob("*") if p.is_file())
    monkeypatch.setattr(os, "fsync", full)
    assert main([*words, "--workspace", str(root)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    assert found in error
    assert sorted(p for p in root.rglob("*") if p.is_file()) == before


def test_a_really_full_disk_is_one_line(tmp_path: Path) -> None:
    if os.geteuid() != 0 or sys.platform != "linux":
        pytest.skip("mounting a small disk needs root on Linux")
    if shutil.which("mount") is None:
        pytest.skip("there is no `mount` here")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True
    )
    if mount.returncode != 0:
        pytest.skip("this machine does not let us mount a small disk")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "sts.cli.main"]
            + [*RECORD[:-1], "900", "--workspace", str(disk / "w")],
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
        assert "no space left on the disk" in done.stderr
        assert not list(disk.rglob("*.parquet"))
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_folder_that_is_not_ours_is_one_line(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if os.geteuid() == 0:
        blocked = root / "continuations"
        blocked.write_text("a file stands where a folder should")
        fails(capsys, RUN, 1, "a folder on its path is a file|File exists", root)
        return
    root.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        fails(capsys, RUN, 1, "permission denied", root)
    finally:
        root.chmod(stat.S_IRWXU)


def test_debug_shows_the_traceback_and_the_line(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "other@1", "--agent", "random", "--debug", "--workspace", str(root)]) == 2
    error = capsys.readouterr().err
    assert "Traceback" in error
    assert error.splitlines()[-1].startswith("sts: unknown suite")


def test_every_command_has_help_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line[:2] == "  "]
    assert {"demo", "record", "run", "report", "annotate", "lambda-star"} <= set(listed)
    for name in listed:
        assert main([name, "--help"]) == 0
        assert "example: sts " + name in capsys.readouterr().out


@pytest.mark.parametrize("words", ["--help", "record --help", "demo --help", "mine --help"])
def test_help_imports_nothing_heavy(words: str, tmp_path: Path) -> None:
    heavy = {"numpy", "numba", "pandas", "pyarrow", "streamlit", "sqlalchemy", "altair"}
    assert not heavy & imported(words, tmp_path)


def test_listing_suites_imports_no_world_and_no_compiler(root: Path, tmp_path: Path) -> None:
    modules = imported(f"suite ls --workspace {root}", tmp_path)
    assert "sts.suites.folders" in modules and not {"numba", "pandas", "streamlit"} & modules
    assert not [name for name in modules if name.startswith("sts.worlds.")]


def imported(words: str, folder: Path) -> set[str]:
    """Return the modules that a command line imports."""
    code = f"import sys; from sts.cli.main import main; main({words.split()})"
    code += "; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def test_a_user_agent_that_fails_is_named_with_its_step(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    head = "import numpy as np\nfrom sts.agents import Agent, Choice\n"
    body = "class {0}(Agent):\n    name = '{0}'\n    def act(self, o, i, m, d):\n        {1}\n"
    cases = {
        "Divides": ("return 1 / 0", "agent 'Divides' failed at step 0: ZeroDivisionError"),
        "Leaves": ("raise SystemExit(0)", "agent 'Leaves' failed at step 0: SystemExit: 0"),
        "Nothing": ("return None", "expected .Choice, memory. from act"),
        "Wide": ("return Choice(np.ones((*o.cell.shape, 10))), m", "found float64"),
        "Empty": ("return Choice(np.zeros((*o.cell.shape, 9))), m", "found weights"),
        "Negative": ("return Choice(-np.ones((*o.cell.shape, 9))), m", "found weights"),
        "Nan": ("return Choice(np.full((*o.cell.shape, 9), np.nan)), m", "found weights"),
        "Asks": ("return o.weather", "no attribute 'weather'; is it an agent for lambda-star"),
        "Far": ("return Choice(np.full(o.cell.shape, 9)), m", "an action outside 0..8"),
    }
    text = head + "".join(body.format(name, line) for name, (line, _) in cases.items())
    (tmp_path / "broken_agents.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, (_, found) in cases.items():
        fails(capsys, ["run", "mine@1", "--agent", f"broken_agents:{name}"], 1, found, root)


def test_an_agent_that_calls_itself_deterministic_and_is_not_is_refused(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hasty_agents.py").write_text(
        "from sts.domains.random import Random\n"
        "class Hasty(Random):\n    name, deterministic = 'hasty', True\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ["run", "mine@1", "--agent", "hasty_agents:Hasty"]
    fails(capsys, words, 1, "since the agent declares deterministic = True", root)


def test_what_an_agent_prints_is_not_mixed_with_json(root: Path, tmp_path: Path) -> None:
    (tmp_path / "chatty_agents.py").write_text(
        "from sts.domains.random import Random\n"
        "class Chatty(Random):\n    name = 'chatty'\n"
        "    def act(self, *given):\n"
        "        print('thinking')\n        return super().act(*given)\n"
    )
    words = ["run", "mine@1", "--agent", "chatty_agents:Chatty", "--json"]
    command = [sys.executable, "-m", "sts.cli.main", *words, "--workspace", str(root)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) and "thinking" in done.stderr


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of shell in which `$STS` is the command."""
    sts = f"{sys.executable} -m sts.cli.main"
    return subprocess.run(
        ["bash", "-c", line], capture_output=True, env=os.environ | {"STS": sts} | environment
    )


def test_a_terminal_without_greek_shows_numbers(root: Path) -> None:
    done = shell(f"$STS suite ls --workspace {root}", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\u039b" in done.stdout


def test_output_that_nobody_takes_ends_quietly(root: Path) -> None:
    at = f"--workspace {root}"
    for line in (f"$STS suite ls {at} >&-", "$STS --help >&-", f"$STS suite ls {at} | head -0"):
        done = shell(f"set -o pipefail; {line}")
        assert (done.returncode, done.stderr) == (0, b""), line


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("words", ["suite ls", "--help"])
def test_output_to_a_full_disk_is_one_line(root: Path, words: str) -> None:
    done = shell(f"$STS {words} --workspace {root} >/dev/full")
    assert (done.returncode, done.stderr) == (1, b"sts: no space left on the disk\n")


def test_arguments_that_are_no_text_are_refused(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    take = ["trajectories", "import", "--format", "lambdastar-2016"]
    fails(capsys, [*take, "\udcff.jsonl"], 2, "expected arguments in UTF-8", root)


def test_want_of_memory_is_one_line(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(workspace: Workspace, label: str) -> None:
        raise MemoryError

    monkeypatch.setattr(suites, "load", load)
    fails(capsys, RUN, 1, "not enough memory", root)
