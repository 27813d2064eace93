"""What it costs an export to check the chain of every author."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from uuid import uuid4

from sts.annotations import events, history
from sts.annotations.events import Event
from sts.annotations.store import Store
from sts.storage.workspace import Workspace
from tests.annotations.examples import some_items
from tests.benchmarks.measure import Sizes, Table
from tests.stores import add_person, enqueue

PEOPLE = 10
AIM = 1.0
"""CPU seconds for 100,000 judgements."""


def chains(sizes: Sizes) -> Table:
    """Measure how long reading and checking all judgements takes, on SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        with Store.open(Workspace.open(str(Path(folder) / "w"))) as store:
            number = _judge(store, clips=sizes.steps * 10)
            taken = min(_read(store) for _ in range(sizes.runs))
    return Table(
        "The check of an export",
        f"{number} judgements by {PEOPLE} people, read and held to their digests, the best of "
        f"{sizes.runs} runs. The aim is {AIM:g} CPU second for 100,000.",
        ("what", "aim, CPU seconds", "CPU seconds for 100,000"),
        [("reading and checking every judgement", AIM, taken * 100_000 / number)],
    )


def _judge(store: Store, clips: int) -> int:
    """Have everyone judge every clip; return the number of judgements."""
    enqueue(store, some_items(clips))
    people = [add_person(store, f"Annotator {n}").id for n in range(PEOPLE)]
    with store.database.write() as connection:
        items = [*history.read_history(connection).clips]
        for person in people:
            for item in items:
                said = Event(uuid4().hex, item, verdict="success", step=7, seconds=4.5, watched=1.0)
                events.append_event(connection, person, said, source="import", now=1.7e9)
    return PEOPLE * clips


def _read(store: Store) -> float:
    """Return the CPU seconds that one check takes."""
    begun = time.process_time()
    with store.database.read() as connection:
        found = history.read_history(connection)
    assert not found.findings
    return time.process_time() - begun
