"""Packages installed into a folder as an installer would, and `sts` run with that folder first."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    "sts",
    "scenarios/sts_scenarios",
    "analysis/sts_analysis",
    "annotator_app/sts_annotator_app",
    "worlds/lambda_star/sts_lambda_star",
    "worlds/babyai/sts_babyai",
    "worlds/overcooked/sts_overcooked",
)
"""The folders of the installed packages."""
Groups = dict[str, dict[str, str]]


def project(source: Path) -> dict[str, Any]:
    """Return the [project] table of a folder's pyproject.toml."""
    return tomllib.loads((source / "pyproject.toml").read_text())["project"]


def install(source: Path, site: Path, *packages: str) -> None:
    """Copy `packages` of the project in `source` to `site`, with what its metadata declares.

    Modification times are kept, so that compiled files stay valid.
    """
    for package in packages:
        shutil.copytree(source / package, site / package, dirs_exist_ok=True)
    own = project(source)
    declare(site, str(own["name"]), str(own["version"]), own["entry-points"])


def declare(site: Path, name: str, version: str, groups: Groups) -> None:
    """Write the metadata of an installed distribution: its name, version and entry points."""
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = []
    for group, points in groups.items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in points.items()), ""]
    (folder / "entry_points.txt").write_text("\n".join(lines))


def environment(site: Path) -> dict[str, str]:
    """Return an environment in which packages in `site` are found first."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("STS_")}
    return own | {"PYTHONPATH": str(site)}


_SESSION = """
import contextlib, io, json, sys
from sts.cli.main import main

def run(words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    return [code, out.getvalue(), err.getvalue()]

print(json.dumps([run(words) for words in json.load(sys.stdin)]))
"""


class Said(NamedTuple):
    """What came of a command line."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed with --json."""
        assert self.code == 0, self.err
        return json.loads(self.out)


def session(site: Path, folder: Path, *lines: str, **more: str) -> list[Said]:
    """Run command lines of `sts`, without the leading `sts`, in one process.

    Args:
      site: the folder whose packages are found first.
      folder: the current folder, with the workspace in it.
      lines: the command lines.
      more: further environment variables.
    """
    done = subprocess.run(
        [sys.executable, "-c", _SESSION],
        input=json.dumps([shlex.split(line) for line in lines]),
        env=environment(site) | more,
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [Said(*one) for one in json.loads(done.stdout)]
