"""Worker processes: whatever one does is known, and costs no other its task."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from sts.errors import ArgumentError, ReplayMismatch, StsError
from sts.jobs.deadlines import WATCH, guarded
from sts.jobs.pool import Died, Pool


def differ() -> None:
    raise ReplayMismatch("step 3: elsewhere", step=3)


def divide() -> float:
    return 1 / 0


def leave() -> None:
    raise SystemExit(3)


def test_an_error_of_ours_in_a_worker_is_the_same_error_here() -> None:
    with pytest.raises(ReplayMismatch, match="step 3: elsewhere") as caught, Pool(1) as pool:
        pool.ask(differ)
    assert caught.value.step == 3


def test_another_error_comes_with_where_it_was_raised() -> None:
    with pytest.raises(ZeroDivisionError) as caught, Pool(1) as pool:
        pool.ask(divide)
    assert "test_pool.py" in caught.value.__notes__[0]


def test_who_leaves_a_worker_leaves_a_line() -> None:
    with pytest.raises(StsError, match="SystemExit: 3"), Pool(1) as pool:
        pool.ask(leave)


def kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def abort_a_call() -> None:
    with guarded("the world's step 7"):
        os.abort()


@pytest.mark.parametrize(
    ("work", "line"),
    [
        (os.abort, r"its process died of SIGABRT, in pool\.py, line \d+, _outcome"),
        (abort_a_call, r"the world's step 7: its process died of SIGABRT, in test_pool\.py, line "),
        (kill_itself, "its process died of SIGKILL, for want of memory or by somebody's hand"),
    ],
)
def test_it_is_said_what_a_worker_died_of(work, line: str) -> None:
    with pytest.raises(Died, match=f"^{line}"), Pool(1) as pool:
        pool.ask(work)


def power(number: int) -> int:
    if number == 3:
        os._exit(9)
    return number**2


def test_a_worker_that_dies_costs_the_others_and_later_tasks_nothing() -> None:
    with Pool(2) as pool:
        for number in range(8):
            pool.submit(number, power, number)
        came = dict(pool.completed())
        assert str(came.pop(3)) == "its process ended itself"
        assert came == {number: number**2 for number in range(8) if number != 3}
        assert [pool.ask(power, number) for number in (9, 10)] == [81, 100]


def stay_as_a_copy() -> None:
    if os.fork() == 0:
        time.sleep(600)
    os._exit(9)


def test_a_death_is_known_where_a_copy_holds_what_the_process_held() -> None:
    with pytest.raises(Died, match="its process ended itself"), Pool(1, os.setsid) as pool:
        pool.ask(stay_as_a_copy)


def test_a_temporary_folder_whose_path_is_too_long_for_a_socket_costs_only_time(tmp_path) -> None:
    folder = tmp_path / ("x" * 100)
    folder.mkdir()
    code = "import os; from sts.jobs.pool import Pool\nwith Pool(1) as pool: pool.ask(os.getpid)"
    environment = os.environ | {"TMPDIR": str(folder)}
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 0


def main_thread_that_ignores_interrupts() -> tuple[bool, bool]:
    main = threading.current_thread() is threading.main_thread()
    return main, signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_work_is_done_in_a_main_thread_that_leaves_interrupts_to_its_parent() -> None:
    with Pool(1) as pool:
        assert pool.ask(main_thread_that_ignores_interrupts) == (True, True)


def stop_itself() -> str:
    """Stops, until somebody has it go on."""
    goes_on = f"sleep 2; while kill -CONT {os.getpid()} 2>&-; do sleep 0.2; done"
    subprocess.Popen(["sh", "-c", goes_on], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with guarded("it"):
        os.kill(os.getpid(), signal.SIGSTOP)
        for _ in range(1000):
            pass
    return "in time"


def test_a_worker_that_is_stopped_for_a_while_does_not_hang(monkeypatch) -> None:
    monkeypatch.setenv("STS_PATIENCE", "0.5")
    with Pool(1) as pool:
        assert pool.ask(stop_itself) == "in time"


def rest_a_while() -> str:
    with guarded("it"):
        time.sleep(0.5)
    return "in time"


def test_a_time_in_which_nobody_looked_is_one_look(monkeypatch) -> None:
    with Pool(1) as pool:
        monkeypatch.setattr("sts.jobs.pool.time.monotonic", itertools.count(step=1000).__next__)
        assert pool.ask(rest_a_while) == "in time"


def rest_often() -> str:
    with guarded("it"):
        for _ in range(75):
            time.sleep(0.02)
            WATCH.count()
    return "in time"


def test_many_slow_worlds_in_a_worker_are_not_taken_for_one_that_hangs(monkeypatch) -> None:
    monkeypatch.setenv("STS_PATIENCE", "1")
    with Pool(1) as pool:
        assert pool.ask(rest_often) == "in time"


def wait_for_ever() -> None:
    with guarded("the world's step 7"):
        while True:
            time.sleep(0.01)


def test_python_that_hangs_is_interrupted_and_its_process_goes_on(monkeypatch) -> None:
    monkeypatch.setenv("STS_PATIENCE", "1")
    with Pool(1) as pool:
        before = pool.ask(os.getpid)
        with pytest.raises(StsError, match="the world's step 7: it has not come back after"):
            pool.ask(wait_for_ever)
        assert pool.ask(os.getpid) == before


def add_up_for_ever() -> int:
    with guarded("the world's step 7"):
        return sum(itertools.repeat(1))


def test_a_worker_that_nothing_interrupts_is_ended_and_costs_no_other(monkeypatch) -> None:
    monkeypatch.setenv("STS_PATIENCE", "1")
    with Pool(2) as pool:
        pool.submit("hangs", add_up_for_ever)
        pool.submit("works", power, 4)
        came = dict(pool.completed())
        assert came["works"] == 16 == pool.ask(power, 4)
    assert str(came["hangs"]).startswith(
        "the world's step 7: it does not come back, and cannot be interrupted, in test_pool.py, "
    )


def test_patience_must_be_a_time(monkeypatch) -> None:
    monkeypatch.setenv("STS_PATIENCE", "soon")
    with pytest.raises(ArgumentError, match="expected STS_PATIENCE to be a number of seconds"):
        Pool(1)


BUSY = """
import itertools, os, time
from sts.jobs.pool import Pool

with Pool(2) as pool:
    for _ in range(2):
        pool.submit(None, os.getpid)
    print(*(pid for _, pid in pool.completed()), flush=True)
    for _ in range(2):
        WORK
    time.sleep(600)
"""
SLEEPS = "pool.submit(None, time.sleep, 600)"
COMPUTES = "pool.submit(None, sum, itertools.repeat(1))"
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="no thread runs, and no system helps")


@pytest.mark.parametrize("work", ["pass", SLEEPS, pytest.param(COMPUTES, marks=on_linux)])
def test_workers_end_when_their_parent_is_killed(work: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", BUSY.replace("WORK", work)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    workers = [int(pid) for pid in process.stdout.readline().split()]
    process.kill()
    try:
        process.communicate(timeout=300)  # they all have its standard output open
    except subprocess.TimeoutExpired:
        for pid in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        raise
    assert workers
