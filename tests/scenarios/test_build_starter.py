"""The packaged suite can be built again: the same recordings and seeds give the same suite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scenarios.suites import build_starter
from sts.suites import store
from sts.suites.types import Suite
from tests.examples import SAMPLE_2016


@pytest.fixture(scope="module", autouse=True)
def _small() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_starter, "RECORDINGS", build_starter.RECORDINGS[:2])
        patch.setattr(build_starter, "EPISODES", 20)
        patch.setattr(build_starter, "PER_CATEGORY", 1)
        yield


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    folder = tmp_path_factory.mktemp("first") / "a"
    made = build_starter.build(folder, [SAMPLE_2016])
    assert made.hash == store.read(folder).hash
    return made


def test_two_builds_agree_in_every_hash(first: Suite, tmp_path: Path) -> None:
    second = build_starter.build(tmp_path / "b", [SAMPLE_2016])
    assert first.hash == second.hash
    assert {s.category for s in first.scenarios} == {
        s.category for s in store.read(Path(build_starter.__file__).parent / "starter/1").scenarios
    }


def test_another_seed_builds_another_suite(
    first: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_starter, "SEED", build_starter.SEED + 1)
    second = build_starter.build(tmp_path / "b", [SAMPLE_2016])
    assert {s.hash for s in first.scenarios} != {s.hash for s in second.scenarios}


def test_a_trace_that_is_not_there_stops_the_build(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build_starter.main([str(tmp_path / "out"), str(tmp_path / "none.jsonl")]) == 1
    assert "none.jsonl" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert build_starter.main([str(tmp_path / "out")]) == 2
