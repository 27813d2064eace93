"""A package that does not load, or takes a name of another, costs that name and nothing else."""

from __future__ import annotations

import pytest

from tests.plugins.installing import Said, declare, session

GROUPS = (
    *("commands", "domains", "agents", "categories", "flags"),
    *("demos", "executors", "importers", "suites"),
)
BROKEN = {f"sts.{group}": {"broken": "broken_package:THING"} for group in GROUPS}
TAKEN = {"sts.agents": {"oracle": "broken_package:Oracle"}}
LINES = (
    "--help",
    "record --help",
    "demo --help",
    "domain ls",
    "suite ls",
    "broken",
    "demo --domain broken --no-app",
    "record --domain broken --agent random --episodes 1",
    "record --agent broken --episodes 1",
    "record --agent oracle --episodes 1",
    "record --domain lambda-star --agent random --episodes 12 --steps 30 --size 8x8 --team 2",
    "mine m --category when-evil --per-category 1",
    "mine every --per-category 1",
    "mine nowhere --category walk-on-water",
    "run core@2 --agent oracle",
    "trajectories import here.csv --format falls",
    "trajectories export there --format falls",
    "record --domain taken --agent random --episodes 1",
    "record --domain number --agent random --episodes 1",
    "demo --domain number --no-app",
    "number",
    "trajectories import here.csv --format number",
    "trajectories export there --format number",
    "run core@2 --agent random --executor broken",
)
FALLS = """
from sts.cli.settings import Flag

def call(*given, **more):
    print("noise")
    raise RuntimeError("out of\\norder")

NUMBER = 3
TAKEN = (Flag("workspace", "W", "which every command has", dict),)
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Said]:
    site, folder = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("folder")
    (site / "broken_package.py").write_text("raise RuntimeError('out of\\norder')\n")
    declare(
        site, "sts-broken", "1", BROKEN | {"sts.agents": BROKEN["sts.agents"] | TAKEN["sts.agents"]}
    )
    (site / "falling_package.py").write_text(FALLS)
    points = {
        f"sts.{group}": {"falls": "falling_package:call"} for group in ("importers", "exporters")
    }
    for group in (*GROUPS, "exporters"):
        points.setdefault(f"sts.{group}", {})["number"] = "falling_package:NUMBER"
    points["sts.flags"]["taken"] = "falling_package:TAKEN"
    declare(site, "sts-falling", "1", points)
    (folder / "here.csv").touch()
    return dict(zip(LINES, session(site, folder, *LINES), strict=True))


def test_help_and_lists_name_it_and_show_all_else(said: dict[str, Said]) -> None:
    why = "of sts-broken cannot be loaded: RuntimeError: out of order"
    assert f"CANNOT BE USED: command 'broken' {why}" in said["--help"].out
    assert "  run           let agents continue" in said["--help"].out
    assert "--size HxW" in said["record --help"].out
    assert "example: sts record --agent reader " in said["record --help"].out
    assert said["demo --help"].code == 0
    assert "not usable: domain 'broken' of sts-broken" in said["domain ls"].out
    assert "lambda-star  up-left" in said["domain ls"].out
    assert f"CANNOT BE USED: packaged suite 'broken' {why}" in said["suite ls"].out
    assert "core@2" in said["suite ls"].out


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("broken", "command 'broken'"),
        ("demo --domain broken --no-app", "demo 'broken'"),
        ("record --domain broken --agent random --episodes 1", "flags of domain 'broken'"),
        ("record --agent broken --episodes 1", "agent 'broken'"),
        ("mine nowhere --category walk-on-water", "categories of 'broken'"),
        ("run core@2 --agent random --executor broken", "executor 'broken'"),
    ],
)
def test_its_own_names_are_one_line(said: dict[str, Said], line: str, what: str) -> None:
    why = "of sts-broken cannot be loaded: RuntimeError: out of order"
    assert (said[line].code, said[line].err) == (1, f"sts: {what} {why}\n")


def test_what_is_not_its_goes_on(said: dict[str, Said]) -> None:
    recorded, mined = LINES[10], "mine m --category when-evil --per-category 1"
    assert (said[recorded].code, said[recorded].err) == (0, "")
    assert said[mined].code == 0 and "1 scenarios from" in said[mined].out
    assert said["mine every --per-category 1"].code == 0


@pytest.mark.parametrize(
    "line", ["record --agent oracle --episodes 1", "run core@2 --agent oracle"]
)
def test_a_name_that_two_packages_give_is_refused(said: dict[str, Said], line: str) -> None:
    assert said[line].code == 2 and said[line].err.count("\n") == 1
    assert "agent 'oracle' is installed by " in said[line].err
    for owner in ("sts-broken (broken_package:Oracle)", "standardised-test-suite (sts.worlds."):
        assert owner in said[line].err


@pytest.mark.parametrize(("line", "file"), [(LINES[15], "here.csv"), (LINES[16], "there")])
def test_a_format_that_fails_is_one_line(said: dict[str, Said], line: str, file: str) -> None:
    assert said[line].code == 1
    assert (
        said[line].err == f"noise\nsts: {file}: --format falls failed: RuntimeError: out of order\n"
    )


def test_a_flag_that_every_command_has_is_refused_to_who_wants_it_alone(
    said: dict[str, Said],
) -> None:
    assert said[LINES[17]].code == 1
    assert "sts.flags:taken: expected a flag's name" in said[LINES[17]].err
    assert said[LINES[17]].err.count("\n") == 1
    assert "--workspace DIR" in said["record --help"].out


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (LINES[18], "sts.flags:number is no sequence of Flag"),
        (LINES[19], "sts.demos:number is not a Demo"),
        (LINES[20], "sts.commands:number is not a Command"),
        (LINES[21], "sts.importers:number is no function"),
        (LINES[22], "sts.exporters:number is no function"),
        ("suite ls", "sts.suites:number is not a package"),
        ("domain ls", "not usable: domain 'number': expected a class, found int"),
    ],
)
def test_what_is_no_such_thing_is_said_and_hides_nothing(
    said: dict[str, Said], line: str, what: str
) -> None:
    assert what in said[line].out + said[line].err
    assert "core@2" in said["suite ls"].out and "lambda-star" in said["domain ls"].out
