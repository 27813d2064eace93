"""Several processes on one store: nothing is assigned twice, nothing acknowledged is lost."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures import wait as wait_for
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import func, select

from sts.annotations import people as store_people
from sts.annotations import schema, views
from sts.annotations.store import Store
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, a_submission, some_items
from tests.stores import add_person, ask, claim_items, enqueue, submit

REQUIRED, PROCESSES = 3, 4


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(PROCESSES, mp_context=context) as pool:
        yield pool


class Place(NamedTuple):
    """What another process needs to open the same store."""

    root: str
    url: str

    def open(self) -> Store:
        os.environ["STS_DATABASE_URL"] = self.url
        return Store.open(Workspace.open(self.root))


@pytest.fixture
def place(workspace: Workspace) -> Place:
    return Place(str(workspace.root), os.environ.get("STS_DATABASE_URL", ""))


def judge_in_turns(place: Place, numbers: list[int]) -> list[tuple[int, str]]:
    """Lets several annotators judge until nothing is left; returns what each was given."""
    given: list[tuple[int, str]] = []
    with place.open() as store:
        left = list(numbers)
        while left:
            for number in list(left):
                claims = claim_items(store, number, suite=SUITE, count=2)
                if not claims:
                    left.remove(number)
                given += [(number, claim.item) for claim in claims]
                acks = submit(store, number, [a_submission(claim) for claim in claims])
                assert all(ack.status == "saved" for ack in acks)
    return given


def open_and_count(place: Place) -> int:
    with place.open() as store:
        return len(ask(store, store_people.everybody))


@pytest.mark.parametrize(
    ("items", "people"), [(40, 8), pytest.param(200, 24, marks=pytest.mark.landing)]
)
def test_no_item_is_ever_doubly_or_over_assigned_across_processes(
    place: Place, processes: ProcessPoolExecutor, items: int, people: int
) -> None:
    total = items * REQUIRED
    with place.open() as store:
        enqueue(store, some_items(items), required=REQUIRED)
        numbers = [add_person(store, f"annotator {i}").id for i in range(people)]
        shares = [numbers[i::PROCESSES] for i in range(PROCESSES)]
        runs = [processes.submit(judge_in_turns, place, share) for share in shares]
        given = [pair for run in runs for pair in run.result(timeout=600)]
        assert len(given) == len(set(given)) == total
        assert set(Counter(item for _, item in given).values()) == {REQUIRED}
        assert ask(store, views.progress, SUITE)[:4] == (items, items, total, total)


def test_one_annotator_in_several_windows_holds_no_item_twice(
    place: Place, processes: ProcessPoolExecutor
) -> None:
    with place.open() as store:
        enqueue(store, some_items(12), required=REQUIRED)
        ana = add_person(store, "Ana").id
        runs = [processes.submit(claim_five, place, ana) for _ in range(4)]
        queues = {tuple(run.result(timeout=600)) for run in runs}
        assert len(queues) == 1 and len(queues.pop()) == 5


def claim_five(place: Place, number: int) -> list[str]:
    with place.open() as store:
        return [claim.item for claim in claim_items(store, number, suite=SUITE, count=5)]


def test_processes_may_make_the_store_at_the_same_moment(
    place: Place, processes: ProcessPoolExecutor
) -> None:
    runs = [processes.submit(open_and_count, place) for _ in range(2 * PROCESSES)]
    wait_for(runs)
    assert [run.result() for run in runs] == [0] * 2 * PROCESSES


SENDER = """
import json, sys
from sts.annotations.store import Store
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, a_submission
from tests.stores import claim_items, submit

store = Store.open(Workspace.open(sys.argv[1]))
annotator = int(sys.argv[2])
while claims := claim_items(store, annotator, suite=SUITE, count=1):
    submission = a_submission(claims[0])
    print(json.dumps(submission), flush=True)
    [ack] = submit(store, annotator, [submission])
    print(json.dumps(ack), flush=True)
"""


def test_a_killed_process_loses_nothing_acknowledged_and_sending_again_doubles_nothing(
    workspace: Workspace,
) -> None:
    with Store.open(workspace) as store:
        enqueue(store, some_items(200))
        ana = add_person(store, "Ana").id
        outbox, acknowledged = send_until_killed(workspace.root, ana, lines=20)
        kept = {judgement.uuid for judgement in ask(store, views.history, ana, 500)}
        assert len(acknowledged) >= 10 and acknowledged <= kept <= {s["uuid"] for s in outbox}
        again = {ack.uuid: ack.status for ack in submit(store, ana, outbox)}
        assert {again[uuid] for uuid in kept} == {"duplicate"}
        assert {again[uuid] for uuid in set(again) - kept} <= {"saved"}
        with store.database.read() as connection:
            events = connection.execute(select(func.count()).select_from(schema.events))
            assert events.scalar_one() == len(outbox)
        assert ask(store, views.progress, SUITE).judged == len(outbox)


def send_until_killed(
    root: Path, annotator: int, lines: int
) -> tuple[list[dict[str, Any]], set[str]]:
    """Run a process that judges and kills it; return its outbox and what was acknowledged."""
    command = [sys.executable, "-c", SENDER, str(root.absolute()), str(annotator)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(lines)]
        os.kill(process.pid, signal.SIGKILL)
        said += process.stdout.readlines()
    whole = [json.loads(line) for line in said if line.endswith("\n")]
    outbox = [line for line in whole if isinstance(line, dict)]
    acks = [line for line in whole if isinstance(line, list)]
    assert {status for _, status, _ in acks} == {"saved"}
    return outbox, {uuid for uuid, _, _ in acks}
