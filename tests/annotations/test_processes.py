"""Several processes on one store: nothing is assigned twice, nothing acknowledged is lost."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from sts.annotations.answers import progress
from sts.annotations.database import schema
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.people import people as store_people
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, a_submission, add_people, claim, some_items
from tests.stores import ask, enqueue, submit

REQUIRED, PROCESSES = 3, 4
Place = tuple[str, str]
"""Workspace and database URL with which another process opens the same store."""


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(PROCESSES, mp_context=context) as pool:
        yield pool


@pytest.fixture
def place(workspace: Workspace) -> Place:
    return str(workspace.root), os.environ.get("STS_DATABASE_URL", "")


def open_there(place: Place) -> AnnotationStore:
    root, os.environ["STS_DATABASE_URL"] = place
    return AnnotationStore.open(Workspace.open(root))


def judge_in_turns(place: Place, numbers: list[int]) -> list[tuple[int, str]]:
    """Let several annotators judge until nothing is left; return what each was given."""
    given: list[tuple[int, str]] = []
    with open_there(place) as store:
        left = list(numbers)
        while left:
            for number in list(left):
                claims = claim(store, number, 2)
                if not claims:
                    left.remove(number)
                given += [(number, one.item) for one in claims]
                acks = submit(store, number, [a_submission(one) for one in claims])
                assert all(ack.status == "saved" for ack in acks)
    return given


def open_and_count(place: Place) -> int:
    with open_there(place) as store:
        return len(ask(store, store_people.list_people))


def claim_five(place: Place, number: int) -> list[str]:
    with open_there(place) as store:
        return [one.item for one in claim(store, number, 5)]


@pytest.mark.parametrize(
    ("items", "people"), [(30, 8), pytest.param(200, 24, marks=pytest.mark.slow)]
)
def test_no_item_is_over_assigned_across_processes(place, processes, items, people) -> None:
    total = items * REQUIRED
    with open_there(place) as store:
        enqueue(store, some_items(items), required=REQUIRED)
        numbers = add_people(store, *(f"annotator {i}" for i in range(people)))
        shares = [numbers[i::PROCESSES] for i in range(PROCESSES)]
        runs = [processes.submit(judge_in_turns, place, share) for share in shares]
        given = [pair for run in runs for pair in run.result(timeout=600)]
        assert len(given) == len(set(given)) == total
        assert set(Counter(item for _, item in given).values()) == {REQUIRED}
        assert ask(store, progress.load_progress, SUITE)[:4] == (items, items, total, total)


def test_store_is_made_once_and_one_queue_kept_by_processes_at_once(place, processes) -> None:
    runs = [processes.submit(open_and_count, place) for _ in range(2 * PROCESSES)]
    assert [run.result(timeout=600) for run in runs] == [0] * 2 * PROCESSES
    with open_there(place) as store:
        enqueue(store, some_items(12), required=REQUIRED)
        (ana,) = add_people(store, "Ana")
        runs = [processes.submit(claim_five, place, ana) for _ in range(4)]
        (queue,) = {tuple(run.result(timeout=600)) for run in runs}
        assert len(queue) == 5


SENDER = """
import json, sys
from sts.annotations.database.annotation_store import AnnotationStore
from sts.storage.workspace import Workspace
from tests.annotations.examples import a_submission, claim
from tests.stores import submit

store = AnnotationStore.open(Workspace.open(sys.argv[1]))
annotator = int(sys.argv[2])
while claims := claim(store, annotator, 1):
    submission = a_submission(claims[0])
    print(json.dumps(submission), flush=True)
    [ack] = submit(store, annotator, [submission])
    print(json.dumps(ack), flush=True)
"""


class Sender:
    """A process in which a person judges until it is killed, and what it has printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process, self._printed = process, process.stdout
        self.lines = [self._printed.readline() for _ in range(20)]

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.lines += self._printed.readlines()

    def _parsed(self, kind: type) -> list[Any]:
        every = (json.loads(line) for line in self.lines if line.endswith("\n"))
        return [one for one in every if isinstance(one, kind)]

    def outbox(self) -> list[dict[str, Any]]:
        return self._parsed(dict)

    def acknowledged(self) -> set[str]:
        assert {status for _, status, _ in self._parsed(list)} == {"saved"}
        return {uuid for uuid, _, _ in self._parsed(list)}


@contextmanager
def sender(root: Path, annotator: int) -> Iterator[Sender]:
    command = [sys.executable, "-c", SENDER, str(root.absolute()), str(annotator)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield Sender(process)


def test_killed_process_loses_nothing_acknowledged_and_doubles_nothing(workspace) -> None:
    with AnnotationStore.open(workspace) as store:
        enqueue(store, some_items(200))
        (ana,) = add_people(store, "Ana")
        with sender(workspace.root, ana) as sent:
            sent.kill()
        outbox, acknowledged = sent.outbox(), sent.acknowledged()
        kept = {
            judgement.uuid for judgement in ask(store, progress.load_recent_judgements, ana, 500)
        }
        assert len(acknowledged) >= 10 and acknowledged <= kept <= {s["uuid"] for s in outbox}
        again = {ack.uuid: ack.status for ack in submit(store, ana, outbox)}
        assert {again[uuid] for uuid in kept} == {"duplicate"}
        assert {again[uuid] for uuid in set(again) - kept} <= {"saved"}
        with store.database.read() as connection:
            events = connection.execute(select(func.count()).select_from(schema.events))
            assert events.scalar_one() == len(outbox)
        assert ask(store, progress.load_progress, SUITE).judged == len(outbox)
