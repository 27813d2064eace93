"""Folders of a user's that are called as ours are: they take the place of none."""

import subprocess
import sys
from pathlib import Path

import pytest

from sts import registry
from sts.errors import ArgumentError

STS = [str(Path(sys.executable).parent / "sts")]
MODULE = [sys.executable, "-m", "sts.cli.main"]
AGENT = """
from sts.domains.random import Random


class Mine(Random):
    name, domain = "mine", "lambda-star"
"""
RECORD = ["record", "--episodes", "2", "--size", "5x5", "--steps", "5", "--agent"]


@pytest.fixture
def folder(tmp_path):
    """A user's folder whose modules have the names of this project's folders and packages."""
    for name in ("analysis", "scenarios", "annotator_app", "sts_analysis"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        (tmp_path / name / "agent.py").write_text(AGENT)
    (tmp_path / "sts_analysis" / "__init__.py").write_text("raise SystemExit('the user's')")
    (tmp_path / "sts").mkdir()
    (tmp_path / "sts" / "agent.py").write_text(AGENT)
    (tmp_path / "my_agents.py").write_text(AGENT)
    return tmp_path


def ran(command: list[str], folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*command, *words], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("command", "words", "said"),
    [
        (STS, ["--help"], "usage: sts"),
        (MODULE, ["--help"], "usage: sts"),
        pytest.param(
            *(MODULE, [*RECORD, "my_agents:Mine"], "2 trajectories of 5 steps"),
            marks=pytest.mark.slow,
        ),
        (MODULE, [*RECORD, "analysis.agent:Mine"], "2 trajectories of 5 steps"),
        (STS, [*RECORD, "my_agents:Mine"], "2 trajectories of 5 steps"),
    ],
    ids=["sts-help", "module-help", "module", "own-analysis", "sts"],
)
def test_user_folder_with_the_name_of_a_package_shadows_nothing(folder, command, words, said):
    done = ran(command, folder, *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert said in done.stdout


@pytest.mark.parametrize("name", ["sts_analysis.agent", "sts.agent", "random"])
def test_user_module_with_the_name_of_a_package_is_rejected(folder, name, monkeypatch):
    (folder / "random.py").write_text(AGENT)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    top = name.partition(".")[0]
    with pytest.raises(ArgumentError) as error:
        registry.load_path("agent", f"{name}:Mine")
    assert str(error.value) == (
        f"agent '{name}:Mine': {top} in {folder} has the name of an installed package, which takes "
        "precedence; rename yours"
    )


def test_user_package_named_sts_shadows_only_python_m(folder):
    (folder / "sts" / "__init__.py").touch()
    assert ran(STS, folder, "--version").returncode == 0
    done = ran(MODULE, folder, "--version")  # Python looks there first, and finds no `sts.cli`
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
