"""Costs of a look at a race, for the processor and for those who judge meanwhile."""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import uuid4

import numpy as np
from sqlalchemy import select

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.schema import items
from sts.annotations.log import events
from sts.annotations.records import Claim
from sts.continuations.run import run
from sts.storage.workspace import Workspace
from sts.suites import selections
from sts_analysis.planning.looks import make_due_look
from sts_annotator_app.queueing import fill_queue
from sts_annotator_app.racing import LookMaker
from tests.annotations.examples import a_submission
from tests.benchmarks.measure import Rows
from tests.stores import add_person, claim_items, submit

SUITE, CONTINUATIONS, JUDGEMENTS, PEOPLE = "core@3", 10, 100_000, 20
AGENTS = (
    "random local-search blind rule stigmergy wisdom-of-the-crowd bidding dictatorship "
    "binary-tree imitation oracle reader reader-without-memory reader-near reader-half "
    "reader-without-evil reader-without-counting reader-without-answers reader-noisy-30 "
    "reader-noisy-60"
).split()
COUNT = len(AGENTS)
AIM = 1
"""CPU seconds of a look, in addition to imports."""
ANSWERS = 200
"""Answers that are timed."""


def looks() -> Rows:
    """Yield what a look takes at which all of a large study is judged, and what answers take."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = _play(folder)
        with AnnotationStore.open(workspace) as store:
            fill_queue(workspace, store, selections.load_selection(workspace, SUITE))
            people = [add_person(store, f"script {n}").id for n in range(PEOPLE)]
            held = claim_items(store, people[0], suite=SUITE, count=2 * ANSWERS)
            make_due_look(store, workspace, SUITE)  # none is due, but all is imported
            _judge(store, people)
            begun, cpu = time.perf_counter(), time.process_time()
            assert make_due_look(store, workspace, SUITE)
            yield "a look", AIM, time.process_time() - cpu, time.perf_counter() - begun
            yield "an answer", None, None, _answer(store, people[0], held[:ANSWERS])
            with _looking(workspace, store):
                taken = _answer(store, people[0], held[ANSWERS:])
            yield "an answer beside looks without end", None, None, taken


def _play(folder: str) -> Workspace:
    workspace = Workspace.open(folder).create()
    suite = selections.load_selection(workspace, SUITE)
    run(
        workspace, suite.scenarios, AGENTS, count=CONTINUATIONS, seed=0, workers=1,
        progress=lambda *_: None,
    )  # fmt: skip
    return workspace


def _judge(store: AnnotationStore, people: list[int]) -> None:
    """Judge `JUDGEMENTS` times in all, each clip about as often."""
    rng = np.random.default_rng(0)
    with store.database.write() as connection:
        clips = [*connection.scalars(select(items.c.id))]
        for number, turn in enumerate(rng.permutation(JUDGEMENTS)):
            step = 7 if rng.random() < 0.5 else None
            event = events.Event(
                uuid4().hex,
                clips[number % len(clips)],
                verdict="success" if step else "not_done",
                step=step,
                seconds=4.5,
                watched=1.0,
            )
            person = people[turn % PEOPLE]
            events.append_event(connection, person, event, source="import", now=time.time())


def _answer(store: AnnotationStore, person: int, held: Sequence[Claim]) -> float:
    """Answer claims one after the other; return the median seconds of an answer."""
    taken = []
    for claim in held:
        begun = time.perf_counter()
        submit(store, person, [a_submission(claim)])
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


@contextmanager
def _looking(workspace: Workspace, store: AnnotationStore) -> Iterator[None]:
    """Make looks meanwhile, as the annotators' server does."""
    maker, stopped = LookMaker(workspace, SUITE, lambda: store), threading.Event()

    def work() -> None:
        while not stopped.is_set():
            maker.make_look()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
