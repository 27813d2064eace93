"""A package that fails to load, or takes a name of another, costs that name alone."""

import pytest

from tests.plugins.installing import Groups, Said, declare, session

GROUPS = (
    *("commands", "domains", "agents", "categories", "flags"),
    *("demos", "executors", "importers", "suites"),
)
WHY = "of sts-broken cannot be loaded: RuntimeError: out of order"
FAILING = {
    "broken": f"command 'broken' {WHY}",
    "demo --domain broken --no-app": f"demo 'broken' {WHY}",
    "record --domain broken --agent random --episodes 1": f"flags of domain 'broken' {WHY}",
    "record --agent broken --episodes 1": f"agent 'broken' {WHY}",
    "mine nowhere --category walk-on-water": f"categories of 'broken' {WHY}",
    "run core@2 --agent random --executor broken": f"executor 'broken' {WHY}",
    "trajectories import here.csv --format falls": (
        "here.csv: --format falls failed: RuntimeError: out of order"
    ),
    "trajectories export there --format falls": (
        "there: --format falls failed: RuntimeError: out of order"
    ),
}
"""Command lines that need the broken package, and their errors."""
INVALID = {
    "record --domain taken --agent random --episodes 1": "sts.flags:taken: expected a flag's name",
    "record --domain number --agent random --episodes 1": "sts.flags:number is no sequence of Flag",
    "demo --domain number --no-app": "sts.demos:number is not a Demo",
    "number": "sts.commands:number is not a Command",
    "trajectories import here.csv --format number": "sts.importers:number is no function",
    "trajectories export there --format number": "sts.exporters:number is no function",
    "suite ls": "sts.suites:number is not a package",
    "domain ls": "not usable: domain 'number': expected a class, found int",
}
"""Command lines that meet entry points of the wrong type, and what they print."""
TAKEN = ("record --agent oracle --episodes 1", "run core@2 --agent oracle")
WORKING = (
    *("--help", "record --help", "demo --help", "mine every --per-category 1"),
    "record --domain lambda-star --agent random --episodes 12 --steps 30 --size 8x8 --team 2",
    "mine m --category when-evil --per-category 1",
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
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Said]:
    site, folder = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("folder")
    (site / "broken_package.py").write_text("raise RuntimeError('out of\\norder')\n")
    points: Groups = {f"sts.{group}": {"broken": "broken_package:THING"} for group in GROUPS}
    points["sts.agents"]["oracle"] = "broken_package:Oracle"
    declare(site, "sts-broken", "1", points)
    (site / "falling_package.py").write_text(FALLS)
    points = {f"sts.{g}": {"number": "falling_package:NUMBER"} for g in (*GROUPS, "exporters")}
    for group in ("sts.importers", "sts.exporters"):
        points[group]["falls"] = "falling_package:call"
    points["sts.flags"]["taken"] = "falling_package:TAKEN"
    declare(site, "sts-falling", "1", points)
    (folder / "here.csv").touch()
    lines = [*WORKING[:3], *WORKING[4:], WORKING[3], *FAILING, *INVALID, *TAKEN]
    return dict(zip(lines, session(site, folder, *lines), strict=True))


def test_help_and_lists_name_the_broken_package_and_show_all_others(results):
    assert f"CANNOT BE USED: command 'broken' {WHY}" in results["--help"].out
    assert "  run           run agents on a suite" in results["--help"].out
    help = results["record --help"].out
    assert "--size HxW" in help and "--workspace DIR" in help
    assert "example: sts record --agent reader " in help
    assert results["demo --help"].code == 0
    assert "not usable: domain 'broken' of sts-broken" in results["domain ls"].out
    assert "lambda-star  up-left" in results["domain ls"].out
    assert f"CANNOT BE USED: packaged suite 'broken' {WHY}" in results["suite ls"].out
    assert "core@2" in results["suite ls"].out


@pytest.mark.parametrize(("line", "why"), FAILING.items())
def test_command_that_needs_the_broken_package_names_it(results, line, why):
    assert (results[line].code, results[line].err.removeprefix("noise\n")) == (1, f"sts: {why}\n")


def test_other_commands_work_next_to_a_broken_package(results):
    for line in WORKING:
        assert results[line].code == 0, results[line].err
    assert results[WORKING[4]].err == ""
    assert "1 scenario from" in results[WORKING[5]].out


@pytest.mark.parametrize("line", TAKEN)
def test_name_that_two_packages_declare_is_refused(results, line):
    assert results[line].code == 2 and results[line].err.count("\n") == 1
    assert "agent 'oracle' is installed by " in results[line].err
    for owner in (
        "sts-broken (broken_package:Oracle)",
        "standardised-test-suite (sts_lambda_star.",
    ):
        assert owner in results[line].err


@pytest.mark.parametrize(("line", "what"), INVALID.items())
def test_entry_point_of_the_wrong_type_is_named(results, line, what):
    assert what in results[line].out + results[line].err
    assert results[line].code == (0 if line.endswith(" ls") else 1)
