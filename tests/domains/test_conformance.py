"""The conformance suite: good domains pass, and each bad one fails the claim that it breaks."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sts.cli.main import main
from sts.domains.conformance import check, environments
from sts.errors import ArgumentError
from tests.domains import worlds

BROKEN = worlds.BROKEN.items()
FIRST = {claim: world for world, claim in reversed(BROKEN)}
"""The world of each claim that the quick tier tries."""
ROOT = Path(__file__).resolve().parents[2]


def verdicts(name: str, **more) -> dict[str, bool | None]:
    return {one.claim: one.ok for one in check(name, **more)}


def test_lambda_star_keeps_every_claim() -> None:
    found = verdicts("lambda-star", settings={"participants": 3, "horizon": 60})
    assert len(found) == 14
    assert all(found.values())


def test_an_environment_keeps_every_claim() -> None:
    found = verdicts("tests.domains.worlds:Mortal")
    assert len(found) == 23
    assert all(found.values())


def test_a_world_that_is_not_compiled_is_checked_without_the_compiler() -> None:
    code = "import sys, sts.domains.conformance; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_what_cannot_be_known_is_not_called_ok() -> None:
    found = verdicts("tests.domains.worlds:Lanterns", settings={"length": 4})
    assert found.pop("ends") is None
    assert all(found.values())


@pytest.mark.parametrize(
    ("world", "claim"),
    [
        pytest.param(
            *(world, claim),
            id=world.__name__,
            marks=() if FIRST[claim] is world else pytest.mark.landing,
        )
        for world, claim in BROKEN
    ],
)
def test_a_bad_environment_fails_exactly_the_claim_that_it_breaks(world, claim) -> None:
    every = list(check(f"tests.domains.worlds:{world.__name__}", seeds=3, steps=24))
    failed = {one.claim: one.how for one in every if one.ok is False}
    assert list(failed) == [claim], failed
    assert len(failed[claim]) > 10


def test_a_failure_says_at_which_seed_and_step_and_how() -> None:
    every = {one.claim: one for one in check("tests.domains.worlds:Falls")}
    assert every["steps"].how == (
        "seed 0: domain 'tests.domains.worlds:Falls' failed to step at step 5: "
        "RuntimeError: a lantern fell"
    )
    moved = {one.claim: one for one in check("tests.domains.worlds:SeenIsMoved")}
    assert moved["looking"].how.startswith("seed 0, step 1: after observing the scene differs: ")


def test_after_a_world_that_cannot_be_stepped_the_rest_is_not_checked() -> None:
    found = verdicts("tests.domains.worlds:Falls")
    assert found.pop("described") is True
    assert found.pop("steps") is False
    assert set(found.values()) == {None}


@pytest.mark.parametrize(
    "name", ["EndsItselfIdle", pytest.param("EndsItselfAsked", marks=pytest.mark.landing)]
)
def test_a_world_that_ends_its_process_fails_the_claim_that_asks_for_it(name) -> None:
    every = list(check(f"tests.domains.worlds:{name}", seeds=2, steps=24))
    (bad,) = [one for one in every if one.ok is False]
    assert bad.how == "its process died of SIGABRT"
    assert every[-2].ok


@pytest.mark.landing
@pytest.mark.parametrize("name", ["Stuck", pytest.param("Restarts", marks=pytest.mark.landing)])
def test_a_world_that_hangs_where_nothing_interrupts_it_does_not_hang_the_check(
    name, monkeypatch
) -> None:
    monkeypatch.setenv("STS_PATIENCE", "4")
    every = {one.claim: one for one in check(f"tests.domains.worlds:{name}", seeds=2, steps=4)}
    assert [one.claim for one in every.values() if one.ok is False] == ["instructs"]
    assert "made no progress for 4 seconds" in every["instructs"].how


@pytest.mark.landing
def test_world_that_hangs_is_waited_for_once(tmp_path, monkeypatch) -> None:
    looks = tmp_path / "looks"
    monkeypatch.setenv("LOOKS", str(looks))
    monkeypatch.setenv("STS_PATIENCE", "3")
    found = verdicts("tests.domains.worlds:RendersForEver")
    failed = list(found.values()).index(False)
    assert set(list(found.values())[failed + 1 :]) == {None}
    assert looks.stat().st_size == 1


def test_a_world_that_cannot_be_made_is_one_line(capsys) -> None:
    assert main(["domain", "check", "tests.domains.worlds:Unmade"]) == 1
    error = capsys.readouterr().err
    assert "its process died of SIGABRT" in error
    assert error.count("\n") == 1


def test_text_is_hashed_otherwise_elsewhere_even_where_this_process_says_how() -> None:
    words = ["domain", "check", "tests.domains.worlds:OrderedByHash", "--steps", "24"]
    done = subprocess.run(
        [str(Path(sys.executable).parent / "sts"), *words],
        env=os.environ | {"PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "not ok       fresh" in done.stdout and done.stdout.count("not ok") == 1


@pytest.mark.parametrize("name", ["SeesNothingAtTimes", "CountsInEveryWay", "BeginsShortly"])
def test_an_odd_but_honest_world_keeps_every_claim(name) -> None:
    found = {one.claim: one for one in check(f"tests.domains.worlds:{name}", steps=24)}
    assert found.pop("ends").ok is None
    assert {one.claim: one.how for one in found.values() if not one.ok} == {}


def test_no_json_is_taken_for_a_pickle() -> None:
    words: list[Any] = [
        None,
        True,
        -1.5,
        2e30,
        "",
        ".",
        "N.",
        [],
        {},
        [1, "a."],
        {"(": "."},
        {".": [[]]},
    ]
    for text in (json.dumps(words, indent=indent) for indent in (None, 1)):
        assert not environments._is_pickle(text.encode())
    assert not any(environments._is_pickle(json.dumps(one).encode()) for one in words)
    told = [environments._is_pickle(pickle.dumps(words, protocol=one)) for one in range(6)]
    assert told == [True] * 6


def test_seeds_that_differ_in_name_only_are_not_called_other_worlds() -> None:
    found = {one.claim: one for one in check("tests.domains.worlds:OneWorldOfManyNames")}
    assert found["other-seeds"].ok is None
    assert "the same actions give the same scenes" in found["other-seeds"].how


def test_fewer_than_two_worlds_or_steps_say_nothing() -> None:
    with pytest.raises(ArgumentError, match="expected 2 seeds and 2 steps"):
        list(check("lambda-star", seeds=1))


def test_the_command_prints_a_line_a_claim_and_ends_with_1_where_one_fails(capsys) -> None:
    name = "tests.domains.worlds:GlobalWind"
    assert main(["domain", "check", name, "--set", "length=5", "--steps", "12"]) == 1
    lines = capsys.readouterr().out.splitlines()
    bad = next(i for i, line in enumerate(lines) if line.startswith("not ok"))
    assert lines[bad].split()[2] == "own-randomness"
    assert lines[bad + 1].strip().startswith("seed 0, step")
    assert lines[-1] == f"{name}: 20 of 23 claims hold, 1 do not"


def test_the_command_prints_json(capsys) -> None:
    name = "tests.domains.worlds:Mortal"
    assert main(["domain", "check", name, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["failed"] == 0
    assert {one["verdict"] for one in value["claims"]} == {"ok"}


def test_the_installed_domains_are_listed(capsys) -> None:
    assert main(["domain", "ls", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert "lambda-star" in [one["domain"] for one in value["domains"]]
    assert "gymnasium" in value["families"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["nowhere"], "unknown domain 'nowhere'"),
        (["json:loads"], "expected a class"),
        (["fractions:Fraction"], "is not an environment: it has no name, version, moves"),
        (["lambda-star", "--set", "size"], "expected a setting as KEY=VALUE, found 'size'"),
        (["lambda-star", "--set", "size=1", "--set", "size=2"], "size is given twice"),
    ],
)
def test_what_is_no_domain_is_one_line(words, line, capsys) -> None:
    assert main(["domain", "check", *words]) == 2
    error = capsys.readouterr().err
    assert line in error and error.count("\n") == 1
