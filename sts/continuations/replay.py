"""Replay of a few continuations of users' agents in new processes, before any of them count.

Code alone does not say what an agent plays: it may read a file, follow the order of a set, or draw
its weights. So some continuations of each source, the stored ones and each process of a run, are
played again in a new interpreter with another hash seed: as many as take a second, but at least one
or two. If one differs, none is used.
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np

from sts import agents
from sts.agents.info import AgentInfo, is_users
from sts.continuations import parts
from sts.continuations.index import Index
from sts.continuations.takeover import continue_all, group_by_shape, parse_partner_agent
from sts.errors import StsError
from sts.jobs.executors import OwnedTask
from sts.jobs.pool import WARM_UP_MODULE, Pool, WorkerDied
from sts.storage import parquet
from sts.storage.store import KeyValueStore
from sts.suites.suite import Scenario

MAX_SAMPLES = 32
"""Maximum number of continuations of one part that are played again: an order of texts may change
only one in ten."""
MAX_SECONDS = 1.0
"""Maximum time that they took together when they were made, if they are more than two."""
_COLUMNS = ("scenario", "agent", "fingerprint", "index", "together", "content_hash", "seconds")


class Sample(NamedTuple):
    """A stored continuation that is to be played again; see `Continuation`."""

    scenario: Scenario
    number: int  # of the continuation, its index
    together: int
    content_hash: str
    seconds: float


class _Replay(NamedTuple):
    """Samples of one agent, which are played again in one task."""

    agent: str  # as it is named for a run
    fingerprint: str
    seed: int
    samples: tuple[Sample, ...]


class ReplayChecks:
    """The replays of users' agents during a run, in the background; a context manager.

    Args:
      infos: the agents, by the names that a run was given.
      scenarios: of the run, by the same names: those that can be played again.
      seed: of the run.
      workers: the maximum number of processes.
    """

    def __init__(
        self,
        store: KeyValueStore,
        infos: Mapping[str, AgentInfo],
        scenarios: Mapping[str, Sequence[Scenario]],
        *,
        seed: int,
        workers: int,
    ) -> None:
        self._store, self._infos, self._seed = store, infos, seed
        self._scenarios = {name: {s.hash: s for s in own} for name, own in scenarios.items()}
        self._pool = Pool(max(1, min(workers, len(infos))), limited=True, method="spawn")
        self._pending: dict[int, _Replay] = {}
        self._retried: set[int] = set()
        self._sources: set[tuple[str, int]] = set()
        self._differing = dict.fromkeys(infos, 0)
        self._played = dict.fromkeys(infos, 0)
        self._errors: dict[str, StsError] = {}

    def __enter__(self) -> Self:
        """Start to load the agents."""
        for name in self._infos:
            self._submit(name, ())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Kill the processes."""
        self._pool.__exit__(kind, error, trace)

    def add_stored(self, index: Index, name: str) -> None:
        """Replay some stored continuations of an agent, from two parts if it has several."""
        info = self._infos[name]
        mask = index.mask_where("agent", (info.name,))
        mask &= index.mask_where("fingerprint", (info.fingerprint,))
        mask &= index.mask_where("scenario", self._scenarios[name])
        mask &= index.read_numbers("seed") == self._seed
        codes, part_names = index.read_codes("part")[mask], index.read_values("part")
        chosen = dict.fromkeys(part_names[code] for code in codes[[0, -1]].tolist())
        for part_name in chosen:
            self._submit(name, self._choose_samples(name, part_name, least=2 // len(chosen)))

    def add_part(self, name: str, process: int, part_name: str) -> None:
        """Replay some continuations of a part, if it is the first that its process made."""
        self._collect(self._pool.poll())
        if (name, process) in self._sources:
            return
        if samples := self._choose_samples(name, part_name, least=2):
            self._sources.add((name, process))
            self._submit(name, samples)

    def finish(self) -> dict[str, StsError]:
        """Wait for all replays, and return an error for each agent that differed or failed."""
        self._collect(self._pool.completed())
        errors = dict(self._errors)
        for name, count in self._differing.items():
            if count:
                errors[name] = StsError(
                    f"agent {name}: {count} of {self._played[name]} continuations differ when it "
                    "plays them again in a new process, so none counts; if a file that it reads "
                    "has changed, declare weights_digest or a new version; if its choices depend "
                    "on the process, such as the order of a set or unseeded weights, mend that or "
                    f"declare reproducible = False and a version{self._advise_on_partners(name)}"
                )
        return errors

    def _advise_on_partners(self, name: str) -> str:
        partners = {parse_partner_agent(s.partner) for s in self._scenarios[name].values()} - {""}
        own = ", ".join(sorted(filter(is_users, partners)))
        return f"; if its partner has changed ({own}), run it in a new workspace" if own else ""

    def _choose_samples(self, name: str, part_name: str, *, least: int) -> list[Sample]:
        """Return continuations of this run in a part, one of each scenario at most."""
        known = self._scenarios[name]
        info, schema = self._infos[name], {column: parts.SCHEMA[column] for column in _COLUMNS}
        table = parquet.decode_table(
            part_name, self._store.get(part_name), parts.FORMAT, parts.VERSION, schema
        )
        rows: dict[str, Sample] = {}
        for hash, *agent, index, together, content_hash, seconds in zip(
            *(table.column(column).to_pylist() for column in _COLUMNS), strict=True
        ):
            if agent == [info.name, info.fingerprint] and hash in known:
                sample = Sample(known[hash], index, together, content_hash, seconds)
                rows.setdefault(hash, sample)
        samples = list(rows.values())
        if not samples:
            return []
        cost = float(np.mean([sample.seconds * max(1, sample.together) for sample in samples]))
        affordable = int(min(MAX_SECONDS / max(cost, 1e-9), MAX_SAMPLES))
        count = min(max(affordable, least), len(samples))
        return [samples[i] for i in np.linspace(0, len(samples) - 1, count).astype(int)]

    def _submit(self, name: str, samples: Sequence[Sample]) -> None:
        task = _Replay(name, self._infos[name].fingerprint, self._seed, tuple(samples))
        self._hand_in(len(self._pending), task)

    def _hand_in(self, number: int, task: _Replay) -> None:
        self._pending[number] = task
        self._pool.submit(number, OwnedTask(play_again, task.agent), task)

    def _collect(self, results: Iterator[tuple[Any, Any]]) -> None:
        for number, outcome in results:
            task = self._pending[number]
            if isinstance(outcome, WorkerDied) and number not in self._retried:
                self._retried.add(number)
                self._hand_in(number, task)
            elif isinstance(outcome, StsError) and not task.samples:
                continue  # if it has continuations, they report it
            elif isinstance(outcome, StsError):
                self._errors.setdefault(
                    task.agent,
                    outcome.with_message(
                        f"agent {task.agent}: its continuations cannot be played again in a new "
                        f"process, so none counts: {outcome}"
                    ),
                )
            else:
                hashes = [sample.content_hash for sample in task.samples]
                self._played[task.agent] += len(hashes)
                self._differing[task.agent] += int(np.count_nonzero(np.not_equal(hashes, outcome)))


def play_again(task: _Replay) -> list[str]:
    """Play samples again and return their content hashes; without any, prepare for it.

    Raises:
      StsError: the agent cannot be loaded, or failed.
    """
    agent = agents.load_planned(task.agent, task.fingerprint)
    if not task.samples:
        importlib.import_module(WARM_UP_MODULE)
        return []
    hashes: dict[tuple[str, int], str] = {}
    batches = defaultdict[tuple[int, ...], list[Scenario]](list)
    for sample in task.samples:
        batches[sample.together, sample.together or sample.number].append(sample.scenario)
    for (together, index), scenarios in batches.items():
        indices = range(together) if together else (index,)
        for batch in group_by_shape(scenarios):
            played = continue_all(
                batch, agent, seed=task.seed, indices=indices, by_scenario=together > 0
            )
            hashes |= {(c.scenario_hash, c.identity.index): c.content_hash for c in played}
    return [hashes[sample.scenario.hash, sample.number] for sample in task.samples]
