"""How built-in agents go on from candidates: made in a process of its own, never waited for."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any

from sts.annotations.store import Store
from sts.errors import StsError, UnknownName
from sts.storage.workspace import Workspace
from sts.viewer.payload import shown
from sts_annotator_app.curation.drafts import Drafts, OpenDraft
from sts_scenarios.freezing import Looked
from sts_scenarios.profiles import Profiles

_POLL_S = 1.0
"""Seconds between looks at whether there is something to make."""
_BATCH_SIZE = 20
"""Profiles that are made before it is looked at once more what is in view."""
_LOG = logging.getLogger(__name__)


class PreviewWorker:
    """What is known by now of how agents go on; the process begins with the first question."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._profiles: dict[str, Profiles] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def prioritise(self, opened: OpenDraft, ids: Sequence[str]) -> None:
        """Has the profiles of a draft made, of these candidates first."""
        line = json.dumps([opened.draft.name, list(ids)]).encode() + b"\n"
        with self._lock:
            if self._process is None:
                # By its name: the script that Streamlit runs stands where a child would be begun.
                command = [sys.executable, "-m", __name__, str(self._workspace.root.resolve())]
                self._process = subprocess.Popen(command, stdin=subprocess.PIPE)
            if self._process.stdin is not None and self._process.poll() is None:
                with contextlib.suppress(OSError):
                    self._process.stdin.write(line)
                    self._process.stdin.flush()

    def count_passes(self, opened: OpenDraft, every: Iterable[Looked]) -> list[dict[str, Any]]:
        """Return of those whose profile is there how many continuations each agent passes."""
        out = []
        for one in every:
            try:
                profile = self._get_profiles(opened).of(one)
            except StsError:  # nothing can be said of its category, which the page says
                continue
            if profile is not None:
                rows = [[name, *passed] for name, passed in profile.passed.items()]
                out.append({"id": one.summary.id, "mark": opened.current_hash(one), "passed": rows})
        return out

    def load_episode(self, opened: OpenDraft, sent: object) -> dict[str, Any] | None:
        """Return the continuation of an agent that a page asks for, by `candidate` and `agent`."""
        id, agent = (
            (sent.get("candidate"), sent.get("agent")) if isinstance(sent, dict) else (None, None)
        )
        one = opened.candidates.get(id) if isinstance(id, str) else None
        if one is None or not isinstance(agent, str):
            return None
        own = {"id": one.summary.id, "mark": opened.current_hash(one), "agent": agent, "broken": ""}
        try:
            first = self._get_profiles(opened).first(one)
            if agent not in first:
                raise UnknownName("agent", agent, first)
            return own | {"episode": {**shown(self._workspace, first[agent]), "id": id}}
        except StsError as error:
            return own | {"episode": None, "broken": str(error)}

    def _get_profiles(self, opened: OpenDraft) -> Profiles:
        with self._lock:
            return self._profiles.setdefault(opened.draft.id, Profiles(opened.draft))


class _Requests:
    """What is in view by now, as the server tells it line by line; its end ends the process."""

    def __init__(self) -> None:
        self.latest: tuple[str, list[str]] | None = None
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in sys.stdin:
            name, ids = json.loads(line)
            self.latest = (name, ids)
        os._exit(0)

    def take_latest(self) -> tuple[str, list[str]] | None:
        """Return what was told since; None for nothing."""
        latest, self.latest = self.latest, None
        return latest


def run_worker(root: str) -> None:
    """Make profiles, those of what is in view first, until the server is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then ends this
    os.nice(10)
    workspace, near = Workspace.open(root), _Requests()
    every, profiles = Drafts(workspace), dict[str, Profiles]()
    asked: tuple[str, list[str]] | None = None
    with Store.open(workspace) as store:
        while True:
            asked = near.take_latest() or asked
            if asked is None:
                time.sleep(_POLL_S)
                continue
            name, ids = asked
            try:
                more = _make_batch(every.open_draft(name, store), ids, profiles)
            except StsError as error:
                _LOG.error("profiles of draft %s: %s", name, error)
                more = False
            asked = asked if more else None


def _make_batch(opened: OpenDraft, ids: Sequence[str], profiles: dict[str, Profiles]) -> bool:
    """Make a few profiles; return whether there are more to make."""
    own = profiles.setdefault(opened.draft.id, Profiles(opened.draft))
    first = [opened.candidates[id] for id in ids if id in opened.candidates]
    candidates = [*first, *opened.candidates.values()]
    return all(own.make_next(candidates) is not None for _ in range(_BATCH_SIZE))


if __name__ == "__main__":
    run_worker(sys.argv[1])
