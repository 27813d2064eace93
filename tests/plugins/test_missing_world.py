"""Everything else works after a world is removed: its folder, and its line in `pyproject.toml`."""

import json
import shutil
from importlib import import_module
from pathlib import Path

import pytest

from tests.plugins.installing import PACKAGES, ROOT, Groups, declare, project, session


def install_without(world: str, site: Path) -> set[str]:
    """Install the project to `site` without a world; return the names that are gone."""
    kept = [package for package in PACKAGES if not package.startswith(f"worlds/{world}/")]
    assert len(kept) == len(PACKAGES) - 1
    for package in kept:
        shutil.copytree(ROOT / package, site / Path(package).name)
    own = project(ROOT)
    groups: Groups = {"console_scripts": own["scripts"], **own["entry-points"]}
    plugins = groups["sts.plugins"]
    groups["sts.plugins"] = {k: v for k, v in plugins.items() if v != f"sts_{world}.entry_points"}
    declare(site, str(own["name"]), str(own["version"]), groups)
    (name,) = plugins.keys() - groups["sts.plugins"].keys()
    registered = import_module(plugins[name]).ENTRY_POINTS
    return {name for points in registered.values() for name in points}


@pytest.mark.parametrize(
    ("world", "agents", "worlds", "suite"),
    [
        pytest.param(
            *("overcooked", ("rule", "random"), "--size 6x6 --team 2 --episodes 16", "core@2"),
            marks=pytest.mark.slow,
        ),
        (
            *("lambda_star", ("babyai-seeker", "random")),
            *("--env-option level=GoToLocal --episodes 12 --seed 2", "babyai@2"),
        ),
    ],
)
def test_pipeline_works_without_a_world(world, agents, worlds, suite, tmp_path):
    site, folder = tmp_path / "site", tmp_path / "folder"
    folder.mkdir()
    names = install_without(world, site)
    assert {world.replace("_", "-")} < names and not set(agents) & names
    players = " ".join(f"--agent {agent}" for agent in agents)
    lines = (
        "--help",
        "record --help",
        "domain ls --json",
        "suite ls --json",
        f"suite show {suite} --json",
        f"record {players} {worlds} --steps 36 --json",
        "trajectories verify",
        "mine m --per-category 2 --json",
        "draft accept m --all",
        "suite freeze m",
        f"run m@1 {players} --continuations 1",
        "label m@1",
        "report m@1 --clips none --out report",
        "demo --help",
        f"demo --domain {world.replace('_', '-')}",
    )
    slow = {"NUMBA_DISABLE_JIT": "1"}  # compiling every kernel takes longer than a few steps
    said = dict(zip(lines, session(site, folder, *lines, **slow), strict=True))
    *good, refused = said.values()
    assert [one.err for one in good if one.code] == []
    assert refused.code == 2 and refused.err.startswith("sts: unknown demo")
    names -= {"coverage"}  # a metric, and a word
    for line in ("--help", "record --help", "domain ls --json", "demo --help"):
        assert not [name for name in names if f" {name} " in said[line].out], line
    listed = {one["suite"]: one for one in said["suite ls --json"].json}
    assert listed[suite]["scenarios"] >= 50
    assert not [one for one in listed.values() if "CANNOT" in one["description"]]
    found = json.loads((folder / "report" / "report.json").read_text())
    assert {one["agent"] for one in found["ranking"]["rows"]} == set(agents)
