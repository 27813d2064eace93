"""Worker processes: every failure of one is reported, and costs no other its task."""

import contextlib
import itertools
import os
import signal
import stat
import subprocess
import sys
import threading
import time

import pytest

from sts.errors import ArgumentError, ReplayMismatch, StsError
from sts.jobs import pool as pools
from sts.jobs.deadlines import report_progress
from sts.jobs.executors import OwnedTask
from sts.jobs.pool import Pool, WorkerDied, create_pool
from sts.jobs.processes import WorkerHung


def differ() -> None:
    raise ReplayMismatch("step 3: elsewhere", step=3)


def divide() -> float:
    return 1 / 0


def leave() -> None:
    raise SystemExit(3)


def fill_the_disk() -> None:
    raise OSError(28, "No space left on device", "rows.parquet")


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("work", "error", "words"),
    [
        (differ, ReplayMismatch, "step 3: elsewhere"),
        (divide, ZeroDivisionError, "division by zero"),
        (fill_the_disk, OSError, "No space left"),
        (leave, StsError, "SystemExit: 3"),
        (interrupt, StsError, "^KeyboardInterrupt"),
    ],
)
def test_error_in_a_worker_is_the_same_error_here(work, error, words) -> None:
    with Pool(1) as pool:
        with pytest.raises(error, match=words) as caught:
            pool.run_task(work)
        found = vars(caught.value)
        if work is differ:
            assert found["step"] == 3
        elif work is fill_the_disk:
            assert (caught.value.errno, caught.value.filename) == (28, "rows.parquet")
        elif work is divide:
            assert "test_pool.py" in caught.value.__notes__[0]
        if work in (divide, fill_the_disk):
            with pytest.raises(StsError, match="^(ZeroDivisionError|OSError): "):
                pool.run_task(OwnedTask(work, "ann"))


def kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def write_into_its_pipe() -> None:
    for pipe in range(3, 64):
        with contextlib.suppress(OSError):
            if stat.S_ISSOCK(os.fstat(pipe).st_mode):
                os.write(pipe, b"babble")


def test_text_written_into_the_pipe_ends_the_worker() -> None:
    with Pool(1, limited=True) as pool:
        before = pool.run_task(os.getpid)
        with pytest.raises(WorkerDied):
            pool.run_task(write_into_its_pipe)
        assert pool.run_task(os.getpid) != before


def quit_silently() -> None:
    os._exit(0)


def stay_as_a_copy() -> None:
    if os.fork() == 0:
        time.sleep(600)
    os._exit(9)


@pytest.mark.parametrize(
    ("work", "line"),
    [
        (os.abort, "its process died of SIGABRT$"),
        (
            kill_itself,
            "its process died of SIGKILL: it was out of memory, or another program killed it$",
        ),
        (quit_silently, "its process ended with exit code 0 and without a result$"),
        (stay_as_a_copy, ".*exit code 9"),  # a copy holds the pipes that the process held
    ],
)
def test_death_of_a_worker_is_reported_with_its_cause(work, line) -> None:
    with pytest.raises(WorkerDied, match=f"^{line}"), Pool(1) as pool:
        pool.run_task(work)


def power(number: int) -> int:
    if number == 3:
        os._exit(9)
    return number**2


def test_dead_worker_costs_other_and_later_tasks_nothing() -> None:
    with Pool(2) as pool:
        for number in range(8):
            pool.submit(number, power, number)
        came = dict(pool.completed())
        assert "exit code 9" in str(came.pop(3))
        assert came == {number: number**2 for number in range(8) if number != 3}
        assert [pool.run_task(power, number) for number in (9, 10)] == [81, 100]


def test_temporary_folder_with_a_path_too_long_for_a_socket_works(tmp_path) -> None:
    folder = tmp_path / ("x" * 100)
    folder.mkdir()
    code = (
        "import os; from sts.jobs.pool import Pool\nwith Pool(1) as pool: pool.run_task(os.getpid)"
    )
    environment = os.environ | {"TMPDIR": str(folder)}
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 0


def place_of_work() -> tuple[bool, bool]:
    main = threading.current_thread() is threading.main_thread()
    return main, os.getpgrp() == os.getpid()


def test_work_runs_in_a_main_thread_apart_from_interrupts_and_users_code() -> None:
    with Pool(1, inside=True) as pool:
        assert pool.run_task(OwnedTask(place_of_work, "ann")) == (True, True)
        assert pool.run_task(os.getpid) == os.getpid() != pool.run_task(OwnedTask(os.getpid, "ann"))


def count_processes(tasks: int, *, isolated: bool = False) -> int:
    """Return how many processes other than this one a pool of two gives tasks to."""
    with create_pool(2, tasks, isolated=isolated) as pool:
        for number in range(tasks):
            pool.submit(number, os.getpid)
        return len({pid for _, pid in pool.completed()} - {os.getpid()})


def test_workers_are_started_only_if_the_tasks_take_long_enough(monkeypatch) -> None:
    assert count_processes(100) == 0
    assert 1 <= count_processes(100, isolated=True) <= 2
    assert 1 <= count_processes(3) <= 2, "too few to tell from the first"
    monkeypatch.setattr(pools, "START_S", 0.0)
    assert 1 <= count_processes(100) <= 2


def test_owners_never_share_a_process() -> None:
    with Pool(2) as pool:
        for number, owner in enumerate(("ann", "bob", "ann", "cy", "bob", "", "cy", "ann")):
            work = OwnedTask(os.getpid, owner) if owner else os.getpid
            pool.submit((owner, number), work)
        found = list(pool.completed())
    owners: dict[int, set[str]] = {}
    for (owner, _), process in found:
        owners.setdefault(process, set()).add(owner)
    assert all(len(own) == 1 for own in owners.values())
    assert sorted(number for (_, number), _ in found) == list(range(8))


def rest_a_while() -> str:
    time.sleep(0.5)
    return "in time"


def test_slow_worker_is_not_ended_while_the_pool_was_busy_or_sets_no_limit(monkeypatch) -> None:
    monkeypatch.setenv("STS_PATIENCE", "0.1")
    with Pool(1) as pool:
        assert pool.run_task(rest_a_while) == "in time"
    monkeypatch.delenv("STS_PATIENCE")
    with Pool(1, limited=True) as pool:
        monkeypatch.setattr("sts.jobs.pool.time.monotonic", itertools.count(step=1000).__next__)
        assert pool.run_task(rest_a_while) == "in time"


def rest_often() -> str:
    for _ in range(150):
        time.sleep(0.02)
        report_progress()
    return "in time"


@pytest.mark.landing
def test_worker_that_reports_progress_is_not_ended(monkeypatch) -> None:
    monkeypatch.setenv("STS_PATIENCE", "1.5")
    with Pool(1, limited=True) as pool:
        assert pool.run_task(rest_often) == "in time"


def add_up_endlessly() -> int:
    return sum(itertools.repeat(1))


def wait_endlessly() -> None:
    threading.Thread(target=time.sleep, args=(600,)).start()  # no daemon: it holds up the end
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(0.01)


@pytest.mark.parametrize("work", [add_up_endlessly, wait_endlessly])
def test_worker_without_progress_is_ended_and_costs_no_other(work, monkeypatch) -> None:
    monkeypatch.setenv("STS_PATIENCE", "1.5")
    with Pool(2) as pool:
        pool.submit("hangs", OwnedTask(work, "ann"))
        pool.submit("works", power, 4)
        came = dict(pool.completed())
        assert came["works"] == 16 == pool.run_task(power, 4)
    assert isinstance(came["hangs"], WorkerHung)
    assert "made no progress for 1.5 seconds and was killed; set STS_PATIENCE" in str(came["hangs"])


def leave_a_thread() -> str:
    threading.Thread(target=time.sleep, args=(600,)).start()
    return "done"


def test_endless_thread_does_not_delay_the_end() -> None:
    began = time.monotonic()
    with Pool(1) as pool:
        assert pool.run_task(leave_a_thread) == "done"
    assert time.monotonic() - began < 300


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan"])
def test_patience_must_be_a_positive_number(text, monkeypatch) -> None:
    monkeypatch.setenv("STS_PATIENCE", text)
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


@pytest.mark.landing
@pytest.mark.parametrize("work", ["pass", SLEEPS, pytest.param(COMPUTES, marks=on_linux)])
def test_workers_end_when_their_parent_is_killed(work) -> None:
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


@pytest.mark.landing
@pytest.mark.skipif(sys.platform != "linux", reason="there is no fork server")
@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_worker_starts_when_the_fork_server_was_killed(times: int) -> None:
    from multiprocessing import forkserver

    for _ in range(times):
        with Pool(1) as pool:
            assert pool.run_task(abs, -7) == 7
        os.kill(vars(forkserver._forkserver)["_forkserver_pid"], signal.SIGKILL)
    with Pool(1) as pool:
        assert pool.run_task(abs, -7) == 7
