"""Measures in spans of runs, whose results stay in the workspace, so that a test can be resumed.

A span and its result depend on the agent's fingerprint, on what is measured and on the version of
this package, not on workers.
"""

import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import sts
from sts.agents.info import AgentInfo, isolation_key
from sts.errors import DamagedData, StsError
from sts.jobs.executors import OwnedTask
from sts.jobs.pool import create_pool
from sts.storage.checks import CheckResult, Findings
from sts.storage.files import canonical_json, content_hash
from sts.storage.workspace import Workspace

FOLDER, FORMAT = "measures", 2


class Span(NamedTuple):
    """Runs `first` to `stop` - 1 of an agent."""

    agent: str
    fingerprint: str
    first: int
    stop: int


def measure_runs(
    workspace: Workspace,
    measure: str,
    settings: dict[str, Any],
    infos: Mapping[str, AgentInfo],
    runs: tuple[int, int],  # R, and the most in a span
    work: Callable[[Span], dict[str, Any]],
    *,
    workers: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
    may_stop: bool = False,
) -> dict[str, dict[str, NDArray[Any]]]:
    """Return arrays [R, ...] of all runs of agents by name, measured unless the workspace has them.

    `work` is a function of a module, which returns lists, one entry for each run of a span, as
    JSON. Users' agents play in processes of their own. With `may_stop`, Ctrl-C returns the
    finished spans, from the first one on; agents without one are left out.

    Raises:
      DamagedData: a result in the workspace is damaged.
      StsError: an agent failed; what is finished is kept.
    """
    store, names = workspace.create().store, dict[Span, str]()
    found: dict[Span, Any] = {}
    for agent, info in infos.items():
        for first in range(0, runs[0], runs[1]):
            span = Span(agent, info.fingerprint, first, min(first + runs[1], runs[0]))
            names[span] = _name(measure, settings, span)
            with contextlib.suppress(FileNotFoundError):
                found[span] = _decode(names[span], store.get(names[span]))
    missing = [span for span in names if span not in found]
    progress(len(found), len(names))
    try:
        with create_pool(workers, len(missing)) as pool:
            for span in missing:
                owner = isolation_key(span.agent)
                pool.submit(span, OwnedTask(work, owner) if owner else work, span)
            for span, result in pool.completed():
                if isinstance(result, StsError):
                    raise result.with_prefix(f"agent {span.agent}")
                store.put_new(names[span], _encode(result))
                found[span] = result
                progress(len(found), len(names))
    except KeyboardInterrupt:
        if not (may_stop and found):
            raise
    parts = {
        agent: [found[span] for span in names if span.agent == agent and span in found]
        for agent in infos
    }
    return {
        agent: {kind: np.concatenate([part[kind] for part in own]) for kind in own[0]}
        for agent, own in parts.items()
        if own
    }


def check(workspace: Workspace) -> CheckResult:
    """Check the hash of every result."""
    findings, names = Findings(), sorted(workspace.store.list(FOLDER))
    for name in names:
        with findings.collect(name):
            _decode(name, workspace.store.get(name))
    return CheckResult({"parts": len(names)}, tuple(findings))


def _name(measure: str, settings: dict[str, Any], span: Span) -> str:
    kept = {"settings": settings, "fingerprint": span.fingerprint, "sts": sts.__version__}
    key = content_hash(canonical_json(kept))
    return f"{FOLDER}/{measure}/{key}/{span.first:06}-{span.stop:06}.json"


def _encode(result: Any) -> bytes:
    digest = content_hash(canonical_json(result))
    return canonical_json({"format": FORMAT, "content_hash": digest, "result": result})


def _decode(name: str, data: bytes) -> Any:
    try:
        content = json.loads(data)
        if content["format"] != FORMAT:
            raise DamagedData(
                f"{name}: format {content['format']}; this version reads {FORMAT}: remove the file"
            )
        if content["content_hash"] == content_hash(canonical_json(content["result"])):
            return content["result"]
    except (ValueError, TypeError, KeyError):
        pass
    raise DamagedData(f"{name} is damaged: remove the file, and it is measured again")
