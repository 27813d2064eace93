"""Conformance tests of domains, as a list of claims that are tested one by one.

`batches` has the claims for all domains, `environments` further ones for an `Environment`. The
domain runs in a worker process. If the process exits or hangs, the current claim fails, and the
next is tested in a new process; after a hang, the remaining claims are skipped.

The global random generators of Python and NumPy are seeded before every run, so a domain that uses
them fails the claim about them, and rarely another.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from sts.domains.adapter import EnvironmentDomain
from sts.domains.conformance import batches, environments, runs
from sts.domains.conformance.runs import Claim, ConformanceRun
from sts.domains.registry import load_domain
from sts.errors import ArgumentError, StsError
from sts.jobs.deadlines import FORK_ERROR
from sts.jobs.pool import Pool, WorkerDied
from sts.jobs.processes import WorkerHung


class ClaimResult(NamedTuple):
    """The result of testing one claim."""

    claim: str  # its name
    text: str  # its description
    ok: bool | None  # True or False, or None if it was not tested
    how: str  # the reason for a failure, or why it was not tested; else ""


def check(
    name: str, *, seeds: int = 3, steps: int = 40, settings: dict[str, Any] | None = None
) -> Iterator[ClaimResult]:
    """Test a domain in `seeds` worlds of `steps` steps; yield the result of each claim.

    `settings` are passed to the domain's `generate`.

    Raises:
      ArgumentError: too few seeds or steps, or there is no such domain.
      WorkerDied: the process died while it loaded the domain.
    """
    if seeds < 2 or steps < 2:
        raise ArgumentError(f"expected 2 seeds and 2 steps or more, found {seeds} and {steps}")
    failed, arguments = False, (name, seeds, steps, settings or {})
    with Pool(1, limited=True) as pool:
        for claim, text in pool.run_task(_list_claims, arguments):
            if failed:
                yield ClaimResult(claim, text, None, "the claims above must hold first")
                continue
            try:
                copies = pool.ended_forks
                ok, how = pool.run_task(_test_claim, arguments, claim)
                ok, how = (False, FORK_ERROR) if pool.ended_forks > copies else (ok, how)
            except WorkerDied as error:
                ok, how = False, str(error)
                failed = isinstance(error, WorkerHung)  # other claims are likely to hang, too
            failed = failed or (claim in batches.BASIC_CLAIMS and ok is False)
            yield ClaimResult(claim, text, ok, how)


_RunArguments = tuple[str, int, int, dict[str, Any]]
_RUNS: list[ConformanceRun] = []
"""The run of this process, if it is the worker process."""


def _get_run(arguments: _RunArguments) -> ConformanceRun:
    if not _RUNS:
        _RUNS.append(ConformanceRun(load_domain(arguments[0]), *arguments))
    return _RUNS[0]


def _list_claims(arguments: _RunArguments) -> list[tuple[str, str]]:
    """Return the name and text of each claim that applies to the domain."""
    return [(claim, text) for claim, (text, _) in _applicable_claims(_get_run(arguments)).items()]


def _applicable_claims(trial: ConformanceRun) -> dict[str, Claim]:
    return batches.CLAIMS | (
        environments.CLAIMS if isinstance(trial.domain, EnvironmentDomain) else {}
    )


def _test_claim(arguments: _RunArguments, claim: str) -> tuple[bool | None, str]:
    trial = _get_run(arguments)
    _, holds = _applicable_claims(trial)[claim]
    try:
        with runs.fixed_global_seed():
            if claim not in batches.BASIC_CLAIMS:
                trial.play_all()
            unknown = holds(trial)
    except StsError as error:
        return False, str(error)
    except BaseException as error:  # third-party code
        return False, f"{type(error).__name__}: {error}"
    return None if unknown else True, unknown or ""
