"""The command line: one clear line for what is wrong, the right exit code, safe output."""

import errno
import io
import json
import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tqdm import tqdm

from sts.cli import arguments
from sts.cli.arguments import format_table, print_result, warn
from sts.cli.main import main
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from tests.examples import SAMPLE_2016, accepted, scenarios

RUN = ["run", "mine@1", "--agent", "random"]
SCORE = ["lambda-star", "score", "--agent", "random"]
RECORD = ["record", "--domain", "lambda-star", "--agent", "random", "--episodes", "2"]
IMPORT = ["trajectories", "import", "--format", "lambdastar-2016"]


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Return a workspace with a suite `mine@1`; agents are found in the current folder."""
    workspace = Workspace.open(str(tmp_path / "w"))
    suites.freeze_scenarios(workspace, "mine", scenarios(2))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return workspace.root


@pytest.fixture
def fails(root, capsys):
    """Return a function that checks the code and the line with which `sts` ends."""

    def fails(words, code, found, workspace=root):
        capsys.readouterr()
        assert main([*words, "--workspace", str(workspace)]) == code
        error = capsys.readouterr().err
        assert error.startswith("sts: ") and error.count("\n") == 1 and "Traceback" not in error
        assert re.search(found, error), error

    return fails


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
        ([*SCORE, "--agent", "randon"], "unknown agent 'randon'; .*; did you mean random"),
        ([*SCORE, "--team", "0"], "expected a team of 1 to 100 on a 10x10 grid, found 0"),
        ([*SCORE, "--complexity", "2-99"], "2 to 99 is out of range for 50 steps .*within 2 to 50"),
        ([*SCORE, "--figure", "nowhere.png"], "--figure: expected a file name that ends in .svg"),
        (["run", "mine@1", "--agent", "nobody"], "unknown agent 'nobody'; known: .*random"),
        (["run", "mine@1", "--agent", "os:system"], "'os:system' is not an agent: expected a cla"),
        (["run", "mine@2", "--agent", "random"], "unknown suite version 'mine@2'; known: mine@1"),
        (["run", "other@1", "--agent", "random"], "unknown suite 'other@1'; known: .*mine@1"),
        (["run", "mine", "--agent", "random"], "unknown suite version 'mine'; known: mine@1"),
        ([*RECORD[:-1], "0"], "expected --episodes of 1 or more"),
        (
            ["record", *RECORD[3:], "--domain", "moon"],
            "unknown domain 'moon'; known: .*lambda-star",
        ),
        ([*RECORD, "--size", "2x9"], "expected sides from 3 to 255, found 2x9"),
        ([*RECORD, "--size", "9"], "expected a size like 10x10"),
        ([*RECORD, "--size", "9x999"], "expected sides from 3 to 255"),
        ([*RECORD, "--team", "0"], "expected --team of 1 or more"),
        ([*RECORD, "--team", "two"], "expected --team as a whole number, found 'two'"),
        ([*RECORD, "--team", "1_0"], "expected --team as a whole number, found '1_0'"),
        ([*RECORD, "--patterns", "odd"], "expected patterns paper or lambdastar-2016, found 'odd'"),
        ([*RECORD, "--env-option", "team"], "expected a setting as KEY=VALUE, found 'team'"),
        (
            [*RECORD, "--env-option", "team=2"],
            "'lambda-star' has no setting 'team'; it has height, ",
        ),
        (["record", "--agent", "recorded", "--episodes", "1"], "environment: expected a domain"),
        (
            ["record", "--agent", "babyai-bot", "--episodes", "1", "--size", "9x9"],
            "--size is for lambda-star; for babyai expected --env-option KEY=VALUE",
        ),
        ([*RECORD, "--team", "101"], "expected a team of 1 to 100"),
        ([*RECORD, "--steps", "0"], "found 2 of 0|expected 2 to"),
        (["record", "--agent", "os:system", "--episodes", "1"], "is not an agent"),
        (["trajectories", "import", "x", "--format", "mine"], "unknown format 'mine'; known: json"),
        (["trajectories", "show", "zz"], "unknown trajectory 'zz'"),
        (["suite", "freeze", "nothing"], "unknown draft 'nothing'; known: none yet"),
        (["suite", "freeze", "mine@1"], "mine@1 is already frozen; the next version is 2"),
        (["suite", "freeze", "mine@x"], "expected a version of 1 or more"),
        (["show", "ffff"], "unknown continuation 'ffff'"),
        (["show", "mine@1/nothing"], "unknown scenario of mine@1 'nothing'"),
        (["show", "ffff", "--frames", "1"], "expected --frames of 2 or more"),
        ([*IMPORT, "\udcff.jsonl"], "expected arguments in UTF-8"),
    ],
)
def test_invalid_argument_prints_one_line_error_and_exits_with_2(fails, words, found):
    fails(words, 2, found)


def test_missing_or_foreign_file_prints_one_line_error_and_exits_with_1(fails, root, tmp_path):
    fails([*IMPORT, str(tmp_path / "none.jsonl")], 1, "none.jsonl: no such file")
    fails([*IMPORT, str(tmp_path)], 1, "expected a file, found a folder")
    fails(["trajectories", "verify", str(SAMPLE_2016)], 1, "expected a Parquet file")
    assert not root.joinpath("trajectories").exists()
    (tmp_path / "file").touch()
    fails(["suite", "ls"], 1, "expected a workspace folder", tmp_path / "file")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("schema = 3", "has schema 3; this version reads up to 2"),
        ("schema = ", "not valid TOML"),
        ("", "no integer `schema`"),
    ],
)
def test_foreign_workspace_is_rejected(fails, root, text, found):
    (root / "workspace.toml").write_text(text)
    fails(RUN, 1, found)


def test_edited_suite_is_not_run(fails, root):
    file = root / "suites" / "mine" / "1" / "suite.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"description": "better"}))
    fails(RUN, 1, "mine@1 in .* has been modified since it was frozen")
    assert not root.joinpath("continuations").exists()


def test_unwritable_folder_prints_one_line_error(fails, root):
    if os.geteuid() == 0:
        (root / "continuations").write_text("a file in the place of a folder")
        fails(RUN, 1, "a folder on its path is a file|File exists")
        return
    root.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        fails(RUN, 1, "permission denied")
    finally:
        root.chmod(stat.S_IRWXU)


def test_lack_of_memory_prints_one_line_error(fails, monkeypatch):
    def load(workspace, label):
        raise MemoryError

    monkeypatch.setattr(suites, "load", load)
    fails(RUN, 1, "not enough memory")


@pytest.mark.parametrize(
    ("limit", "found"), [("ENOSPC", "no space left on the disk"), ("EROFS", "disk is read-only")]
)
@pytest.mark.parametrize("words", [RUN, RECORD, ["suite", "freeze", "mine"]])
def test_full_or_read_only_disk_leaves_no_files(fails, root, monkeypatch, limit, found, words):
    accepted(Workspace.open(root), "mine", scenarios(8)[5:6])  # one that can be frozen

    def full(handle):
        raise OSError(getattr(errno, limit), "x", "the file")

    before = sorted(p for p in root.rglob("*") if p.is_file())
    monkeypatch.setattr(os, "fsync", full)
    fails(words, 1, found)
    assert sorted(p for p in root.rglob("*") if p.is_file()) == before


def sts(*words, **options):
    """Run `sts` in a process of its own."""
    command = [sys.executable, "-m", "sts.cli.main", *words]
    return subprocess.run(command, capture_output=True, text=True, **options)


def shell(line, **environment):
    """Run a line of shell in which `$STS` is the command; return its code and standard error."""
    own = {"STS": f"{sys.executable} -m sts.cli.main"} | environment
    done = subprocess.run(["bash", "-c", line], capture_output=True, env=os.environ | own)
    return done.returncode, done.stderr, done.stdout


def test_ascii_terminal_shows_escapes_of_other_letters():
    *ended, out = shell("$STS lambda-star --help", PYTHONIOENCODING="ascii")
    assert ended == [0, b""] and rb"\u039b" in out


def test_closed_output_pipe_ends_quietly(root):
    at = f"--workspace {root}"
    for line in (f"$STS suite ls {at} >&-", "$STS --help >&-", f"$STS suite ls {at} | head -0"):
        assert shell(f"set -o pipefail; {line}")[:2] == (0, b""), line


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("words", ["suite ls", "--help"])
def test_output_to_a_full_disk_prints_one_line_error(root, words):
    ended = shell(f"$STS {words} --workspace {root} >/dev/full")
    assert ended[:2] == (1, b"sts: no space left on the disk\n")


def test_debug_flag_prints_the_traceback_and_the_error(root, capsys):
    assert main(["run", "other@1", "--agent", "random", "--debug", "--workspace", str(root)]) == 2
    error = capsys.readouterr().err
    assert "Traceback" in error and error.splitlines()[-1].startswith("sts: unknown suite")


AGENT = """
from sts.domains.random import Random

class Mine(Random):
    name = "mine"
    {}
"""
WEATHER = "def act(self, o, i, m, d):\n        return o.weather"


@pytest.mark.parametrize(
    ("text", "code", "found"),
    [
        (WEATHER, 1, "at step 0: .*no attribute 'weather'; is it an agent for lambda-star"),
        ("deterministic = True", 1, "since the agent declares deterministic = True"),
    ],
)
def test_failing_user_agent_prints_one_line_error(fails, tmp_path, text, code, found):
    module = f"broken_{tmp_path.name}"
    (tmp_path / f"{module}.py").write_text(AGENT.format(text))
    fails(["run", "mine@1", "--agent", f"{module}:Mine"], code, found)


@pytest.mark.landing
def test_output_of_an_agent_is_not_mixed_with_json(root, tmp_path):
    chatty = "def act(self, *given):\n        print('thinking')\n        return super().act(*given)"
    (tmp_path / "chatty_agents.py").write_text(AGENT.format(chatty))
    words = ["run", "mine@1", "--agent", "chatty_agents:Mine", "--json", "--workspace", str(root)]
    done = sts(*words, cwd=tmp_path, check=True)
    assert json.loads(done.stdout) and "thinking" in done.stderr


HOSTILE = "a\x1b[2J\x9b1m\N{RIGHT-TO-LEFT OVERRIDE}b"
COLOURS = "\x1b[38;2;1;2;3;48;2;4;5;6m▀\x1b[0m"
SHOWN = r"a\x1b[2J\x9b1m\u202eb"


def test_unprintable_characters_are_escaped_and_colours_stay(capsys, monkeypatch):
    print_result(False, None, f"{HOSTILE}\n{COLOURS}{HOSTILE}")
    assert capsys.readouterr().out == f"{SHOWN}\n{COLOURS}{SHOWN}\n"
    assert main(["trajectories", "verify", HOSTILE]) == 1
    assert capsys.readouterr().err == f"sts: {SHOWN}: no such file\n"

    def run(argv, debug):
        warn(f"two\nlines {HOSTILE}")
        return 0

    monkeypatch.setattr("sts.cli.main._run", run)
    assert main(["record"]) == 0
    assert capsys.readouterr().err == f"sts: warning: two lines {SHOWN}\n"


def test_json_output_escapes_unprintable_characters(capsys):
    value = {HOSTILE: [HOSTILE, "\U000e0001", "Λ*"]}
    print_result(True, value, "")
    printed = capsys.readouterr().out
    assert json.loads(printed) == value and "Λ*" in printed
    assert all(line.isprintable() for line in printed.splitlines())


def test_table_cell_is_a_single_short_line():
    rows = format_table(
        ("name", "n"), [(f"{HOSTILE}\nfrozen: yes", 1), ("x" * 5000, 2)]
    ).splitlines()
    assert len(rows) == 3
    assert all(line.isprintable() and len(line) < 250 for line in rows)
    assert "... (5000 letters)" in rows[2]


def test_progress_bar_is_redrawn_while_waiting(monkeypatch):
    terminal, drawn = io.StringIO(), threading.Event()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(arguments, "_REFRESH_S", 0.01)
    monkeypatch.setattr(tqdm, "refresh", lambda bar: drawn.set())
    with arguments.show_progress("waiting", "things"):
        assert drawn.wait(60)
