"""Every value that is accepted is kept so that the chain of its author holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sts.annotations import imports
from sts.annotations.history import verify
from sts.annotations.imports import read_csv
from sts.annotations.store import Store
from sts.storage.workspace import Workspace
from tests.annotations.examples import HORIZON, SUITE, a_submission, some_items, statuses
from tests.stores import add_person, change, claim_items, enqueue, submit

NUMBERS = st.one_of(
    st.none(),
    st.sampled_from([0, -0.0, 0.0, 5e-324, 2.2250738585072014e-308, 0.1, 1, 10**8]),
    st.floats(0, 1),
    st.floats(0, 1e9),
    st.integers(0, 10**9),
)
VERDICTS = st.sampled_from(["success", "failure", "not_done", "cannot_judge"])
BOTH = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def test_accepted_answer_verifies_on_both_databases(workspace: Workspace) -> None:
    with Store.open(workspace) as store:
        enqueue(store, some_items(1))
        ana = add_person(store, "Ana").id
        [claim] = claim_items(store, ana, suite=SUITE)

        @BOTH
        @example("not_done", 1, 0.5, -0.0, "")
        @given(VERDICTS, st.integers(1, HORIZON), NUMBERS, NUMBERS, st.text(max_size=40))
        def send(verdict: str, step: int, watched: Any, seconds: Any, words: str) -> None:
            marked = verdict in ("success", "failure")
            sent = a_submission(
                claim,
                verdict=verdict,
                step=step if marked else None,
                watched=watched,
                seconds=seconds,
                reason=words,
            )
            note = {"uuid": uuid4().hex, "item": claim.item, "kind": "note", "text": words}
            assert set(statuses(submit(store, ana, [sent, note]))) <= {"saved", "extra", "refused"}
            assert verify(store.database).findings == ()

        send()
        assert verify(store.database).events > 60


def test_accepted_import_verifies_on_both_databases(workspace: Workspace, tmp_path: Path) -> None:
    cells = [-0.0, 0.0, 5e-324, 0.1 + 0.2, 1e9, 1.7976931348623157e308]
    lines = [f"random,s,c{n},Ana,not_done,{cell!r}" for n, cell in enumerate(cells)]
    table = tmp_path / "them.csv"
    table.write_text("\n".join(["agent,scenario,continuation,annotator,verdict,seconds", *lines]))
    with Store.open(workspace) as store:
        enqueue(store, some_items(len(cells)))
        assert change(store, imports.append, read_csv(table), required=1).added == len(cells)
        assert verify(store.database).findings == ()
