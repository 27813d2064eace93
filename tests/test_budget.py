"""The quick tier stays quick: a test that costs too much fails, unless it is marked slow."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tests.budget import COMPILED, PIECE, SHARED, Meter, spent

TESTS = """
import subprocess, sys, time, pytest

BURN = "import time\\nwhile time.process_time() < 0.2: pass"

def burn():
    began = time.process_time()
    while time.process_time() - began < 0.2:
        pass

def test_at_rest():
    time.sleep(0.2)

def test_busy():
    burn()

def test_busy_elsewhere():
    subprocess.run([sys.executable, "-c", BURN])

@pytest.mark.slow
def test_busy_and_slow():
    burn()
"""


def test_a_test_that_costs_too_much_fails_unless_it_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    (tmp_path / "test_it.py").write_text(TESTS)
    monkeypatch.chdir(tmp_path)
    words = ["-s", "-rfp", "-p", "no:cacheprovider"]
    assert pytest.main(words, plugins=[Meter(budget=1, most=0.02)]) == 1
    out = capsys.readouterr().out
    assert "PASSED test_it.py::test_at_rest" in out
    assert "PASSED test_it.py::test_busy_and_slow" in out
    assert "FAILED test_it.py::test_busy - its call took " in out
    assert "FAILED test_it.py::test_busy_elsewhere - its call took " in out
    assert "CPU-seconds of 1 ==" in out


SHARING = """
import subprocess, sys, pytest

BURN = "import time\\nwhile time.process_time() < 0.2: pass"

@pytest.fixture(scope="session")
def server():
    yield
    subprocess.run([sys.executable, "-c", BURN])

def test_one(server):
    pass

def test_last():
    pass
"""


def test_what_a_session_shares_is_not_the_last_test_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_shared.py").write_text(SHARING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tests.budget.piece", lambda: PIECE)
    meter = Meter(budget=None, most=0.1)
    assert pytest.main(["-p", "no:cacheprovider"], plugins=[meter]) == 0
    capsys.readouterr()
    assert meter.folders[SHARED] >= 0.2
    assert meter.tests["test_shared.py::test_last"] < 0.1


def test_a_run_over_its_budget_fails_though_every_test_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_rest.py").write_text("def test_at_rest():\n    pass\n")
    monkeypatch.chdir(tmp_path)
    before = spent()
    for budget, code in ((before / 20, 1), (before + 1000, 0), (None, 0)):
        assert pytest.main(["-p", "no:cacheprovider"], plugins=[Meter(budget=budget)]) == code
        out = capsys.readouterr().out
        assert "1 passed" in out and ("no longer quick" in out) is bool(code)


def reported(meter: Meter, **properties: float) -> None:
    report = SimpleNamespace(
        nodeid="tests/jobs/test_pool.py::test_it", user_properties=list(properties.items())
    )
    meter.pytest_runtest_logreport(cast(pytest.TestReport, report))


WORKING = """
import time

def test_busy():
    began = time.process_time()
    while time.process_time() - began < 0.4:
        pass
"""


@pytest.mark.parametrize("times", [1, 2, 4])
def test_what_a_slower_machine_takes_counts_as_on_the_other(
    times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / f"test_work_{times}.py").write_text(WORKING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tests.budget.piece", lambda: times * PIECE)
    meter = Meter(budget=None)
    assert pytest.main(["-p", "no:cacheprovider"], plugins=[meter]) == 0
    capsys.readouterr()
    assert 0.4 / times <= meter.tests[f"test_work_{times}.py::test_busy"] < 0.6 / times
    assert meter.slowness == pytest.approx(times)


def test_work_counts_by_how_fast_the_machine_was_at_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    meter, paces = Meter(), []
    for times in [1] * 5 + [3] * 5:
        monkeypatch.setattr("tests.budget.piece", lambda times=times: times * PIECE)
        meter.due = 0.0
        paces.append(meter.pace())
    assert paces == [1.0] * 7 + [3.0] * 3


def test_what_is_compiled_once_in_a_clone_is_shown_and_not_of_the_budget() -> None:
    meter = Meter(budget=3)
    reported(meter, **{"cpu": 2.0, COMPILED: 9.0})
    assert meter.total == 2.0 and not meter.over
    assert meter.folders == {"tests/jobs": 2.0, COMPILED: 9.0}
