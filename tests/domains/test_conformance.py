"""`sts domain check`: sound domains pass, and each broken one fails the claim that it breaks."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sts.cli.main import main
from sts.domains.conformance import ClaimResult, check
from sts.errors import ArgumentError
from tests.domains.worlds import BROKEN

FIRST = {claim: name for name, claim in reversed(BROKEN.items())}
"""The world of each claim that the quick tier tries."""
ROOT = Path(__file__).resolve().parents[2]
LANDING = pytest.mark.landing


def claims(name: str, **more: Any) -> dict[str, ClaimResult]:
    return {one.claim: one for one in check(f"tests.domains.worlds:{name}", **more)}


def test_sound_domains_keep_every_claim():
    star = list(check("lambda-star", settings={"n_players": 3, "horizon": 60}))
    assert len(star) == 14 and all(one.ok for one in star)
    mortal = claims("Mortal")
    assert len(mortal) == 23 and all(one.ok for one in mortal.values())


def test_check_of_a_plain_world_does_not_load_the_compiler():
    code = "import sys, sts.domains.conformance; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("Lanterns", {"settings": {"length": 4}}),
        ("SeesNothingAtTimes", {}),
        ("CountsInEveryWay", {}),
        ("BeginsShortly", {}),
    ],
)
def test_claim_that_cannot_be_decided_is_neither_ok_nor_failed(name, more):
    found = claims(name, steps=24, **more)
    assert found.pop("ends").ok is None
    assert {one.claim: one.how for one in found.values() if not one.ok} == {}


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        pytest.param(name, claim, marks=() if FIRST[claim] == name else pytest.mark.slow)
        for name, claim in BROKEN.items()
    ],
)
def test_broken_world_fails_only_the_claim_that_it_breaks(name, claim):
    failed = {c: one.how for c, one in claims(name, seeds=2, steps=24).items() if one.ok is False}
    assert list(failed) == [claim], failed
    assert len(failed[claim]) > 10


def test_batch_that_goes_on_with_other_worlds_than_it_was_told_fails():
    """As a run does when the shortest episodes of a batch have ended."""
    found = check("tests.domains.unsorted:Unsorted", settings={"n_players": 2, "horizon": 60})
    (independent,) = (one for one in found if one.claim == "side-by-side")
    assert independent.ok is False and "in a batch with 2 others it differs" in independent.how


def test_failure_names_seed_step_and_cause_and_ends_the_check():
    falls = claims("Falls")
    assert falls["steps"].how == (
        "seed 0: domain 'tests.domains.worlds:Falls' failed to step at step 5: "
        "RuntimeError: a lantern fell"
    )
    assert falls.pop("described").ok is True and falls.pop("steps").ok is False
    assert {one.ok for one in falls.values()} == {None}
    moved = claims("SeenIsMoved")["looking"].how
    assert moved.startswith("seed 0, step 1: after observing the scene differs: ")


@pytest.mark.parametrize("name", ["EndsItselfIdle", pytest.param("EndsItselfAsked", marks=LANDING)])
def test_world_that_ends_its_process_fails_one_claim_only(name):
    every = list(claims(name, seeds=2, steps=24).values())
    (bad,) = [one for one in every if one.ok is False]
    assert bad.how == "its process died of SIGABRT"
    assert every[-2].ok


@LANDING
@pytest.mark.parametrize("name", ["Stuck", "Restarts"])
def test_world_that_hangs_beyond_interruption_fails_one_claim(name, monkeypatch):
    monkeypatch.setenv("STS_PATIENCE", "4")
    every = claims(name, seeds=2, steps=4)
    assert [claim for claim, one in every.items() if one.ok is False] == ["instructs"]
    assert "made no progress for 4 seconds" in every["instructs"].how


@LANDING
def test_world_that_hangs_is_waited_for_once(tmp_path, monkeypatch):
    looks = tmp_path / "looks"
    monkeypatch.setenv("LOOKS", str(looks))
    monkeypatch.setenv("STS_PATIENCE", "3")
    found = [one.ok for one in claims("RendersForEver").values()]
    assert set(found[found.index(False) + 1 :]) == {None}
    assert looks.stat().st_size == 1


def test_fresh_process_hashes_text_differently_despite_pythonhashseed():
    words = ["domain", "check", "tests.domains.worlds:OrderedByHash", "--steps", "24"]
    done = subprocess.run(
        [str(Path(sys.executable).parent / "sts"), *words],
        env=os.environ | {"PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "not ok       fresh" in done.stdout and done.stdout.count("not ok") == 1


def test_seeds_that_differ_in_name_only_are_not_called_different_worlds():
    found = claims("OneWorldOfManyNames")["other-seeds"]
    assert found.ok is None and "the same actions give the same scenes" in found.how


def test_check_of_fewer_than_two_worlds_is_refused():
    with pytest.raises(ArgumentError, match="expected 2 seeds and 2 steps"):
        list(check("lambda-star", seeds=1))


def test_command_prints_a_line_per_claim_and_fails_with_the_check(capsys):
    name = "tests.domains.worlds:GlobalWind"
    assert main(["domain", "check", name, "--env-option", "length=5", "--steps", "12"]) == 1
    lines = capsys.readouterr().out.splitlines()
    bad = next(i for i, line in enumerate(lines) if line.startswith("not ok"))
    assert lines[bad].split()[2] == "own-randomness"
    assert lines[bad + 1].strip().startswith("seed 0, step")
    assert lines[-1] == f"{name}: 20 of 23 claims hold, 1 do not"
    assert main(["domain", "check", "tests.domains.worlds:Mortal", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["failed"] == 0
    assert {one["verdict"] for one in value["claims"]} == {"ok"}


def test_installed_domains_are_listed(capsys):
    assert main(["domain", "ls", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert "lambda-star" in [one["domain"] for one in value["domains"]]
    assert "gymnasium" in value["families"]


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        ("nowhere", 2, "unknown domain 'nowhere'"),
        ("json:loads", 2, "expected a class"),
        ("fractions:Fraction", 2, "is not an environment: it has no name, version, action_names"),
        ("lambda-star --env-option size", 2, "expected a setting as KEY=VALUE, found 'size'"),
        ("lambda-star --env-option size=1 --env-option size=2", 2, "size is given twice"),
        ("tests.domains.worlds:Unmade", 1, "its process died of SIGABRT"),
    ],
)
def test_invalid_domain_or_setting_is_refused(words, code, line, capsys):
    assert main(["domain", "check", *words.split()]) == code
    error = capsys.readouterr().err
    assert line in error and error.count("\n") == 1
