"""Agent previews: response profiles of candidates, computed in a background process."""

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from sts.annotations.database.annotation_store import AnnotationStore
from sts.errors import StsError, UnknownName
from sts.storage.workspace import Workspace
from sts.viewer.payload import continuation_payload
from sts_annotator_app.curation.drafts import CachedDraft, DraftCache
from sts_scenarios.draft.freezing import DraftCandidate

_POLL_S = 1.0
"""Time between two checks for requests."""
_BATCH_SIZE = 20
"""Profiles computed before the requests are checked again."""
_LOG = logging.getLogger(__name__)


class PreviewWorker:
    """Agent previews available so far; the worker process starts with the first request."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def prioritise(self, opened: CachedDraft, ids: Sequence[str]) -> None:
        """Request the profiles of a draft, those of `ids` first."""
        line = json.dumps([opened.draft.name, list(ids)]).encode() + b"\n"
        with self._lock:
            if self._process is None:
                # Not multiprocessing: Streamlit replaces __main__, which a child would import.
                command = [sys.executable, "-m", __name__, str(self._workspace.root.resolve())]
                self._process = subprocess.Popen(command, stdin=subprocess.PIPE)
            if self._process.stdin is not None and self._process.poll() is None:
                with contextlib.suppress(OSError):
                    self._process.stdin.write(line)
                    self._process.stdin.flush()

    def count_passes(
        self, opened: CachedDraft, candidates: Iterable[DraftCandidate]
    ) -> list[dict[str, Any]]:
        """Return the pass counts of each agent, for the candidates whose profile is computed."""
        out = []
        for candidate in candidates:
            try:
                profile = opened.profiles.get(candidate)
            except StsError:  # its category is unknown here; the page reports that
                continue
            if profile is not None:
                rows = [[name, *passed] for name, passed in profile.passed.items()]
                view = {"id": candidate.summary.id, "mark": candidate.row_hash}
                out.append(view | {"passed": rows})
        return out

    def load_episode(self, opened: CachedDraft, sent: object) -> dict[str, Any] | None:
        """Return the continuation that a page requests by `candidate` and `agent`, or None."""
        sent = sent if isinstance(sent, dict) else {}
        id, agent = sent.get("candidate"), sent.get("agent")
        candidate = opened.candidates.get(id) if isinstance(id, str) else None
        if candidate is None or not isinstance(agent, str):
            return None
        view = {"id": candidate.summary.id, "mark": candidate.row_hash}
        view |= {"agent": agent, "broken": ""}
        try:
            first = opened.profiles.get_first_continuations(candidate)
            if agent not in first:
                raise UnknownName("agent", agent, first)
            return view | {
                "episode": {**continuation_payload(self._workspace, first[agent]), "id": id}
            }
        except StsError as error:
            return view | {"episode": None, "broken": str(error)}


def run_worker(root: str) -> None:
    """Compute profiles, the requested candidates first, until the server exits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl-C and then ends this
    os.nice(10)
    requests: deque[tuple[str, list[str]]] = deque(maxlen=1)  # only the latest counts
    threading.Thread(target=_read_requests, args=[requests], daemon=True).start()
    workspace = Workspace.open(root)
    drafts = DraftCache(workspace)
    request: tuple[str, list[str]] | None = None
    with AnnotationStore.open(workspace) as store:
        while True:
            request = requests.pop() if requests else request
            if request is None:
                time.sleep(_POLL_S)
                continue
            name, ids = request
            try:
                more = _make_batch(drafts.open_draft(name, store), ids)
            except StsError as error:
                _LOG.error("profiles of draft %s: %s", name, error)
                more = False
            request = request if more else None


def _read_requests(requests: deque[tuple[str, list[str]]]) -> None:
    """Read requests from standard input; exit the process when the server closes it."""
    for line in sys.stdin:
        name, ids = json.loads(line)
        requests.append((name, ids))
    os._exit(0)


def _make_batch(opened: CachedDraft, ids: Sequence[str]) -> bool:
    """Compute a batch of profiles; return True if more remain."""
    first = [opened.candidates[id] for id in ids if id in opened.candidates]
    candidates = [*first, *opened.candidates.values()]
    return all(opened.profiles.compute_next(candidates) is not None for _ in range(_BATCH_SIZE))


if __name__ == "__main__":
    run_worker(sys.argv[1])
