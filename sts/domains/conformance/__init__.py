"""Whether a domain keeps what the rest of the suite relies on, claim by claim.

The domain is tried in a worker process. One that ends its process, or does not come back, fails the
claim that it was tried on, and the next begins another process. After one that does not come back
no other claim is tried.

Any domain is held to the claims of `batches`; one that is made of an `Environment` to those of
`environments` besides. Python's and NumPy's global random generators are set alike before every
run, so that a world that draws from them fails the claim that says so, and seldom another.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from sts.domains.adapted import Adapted
from sts.domains.conformance import batches, environments, runs
from sts.domains.conformance.runs import Claim, Trial
from sts.errors import ArgumentError, StsError
from sts.jobs.deadlines import FORKED
from sts.jobs.pool import Died, Pool
from sts.jobs.processes import Hung


class Verdict(NamedTuple):
    """What came of one claim: `ok` is None where it could not be checked, and `how` says why."""

    claim: str
    text: str
    ok: bool | None
    how: str


def check(
    name: str, *, seeds: int = 3, steps: int = 40, settings: dict[str, Any] | None = None
) -> Iterator[Verdict]:
    """Yield a verdict for each claim on the domain called `name`, as each is found.

    Args:
      name: an installed domain, FAMILY:NAME or `module:Class`.
      seeds: how many worlds are tried.
      steps: T, how long.
      settings: passed to the domain's `generate`.

    Raises:
      ArgumentError: nothing is asked for, or there is no such domain.
      Died: the process in which it was made has.
    """
    if seeds < 2 or steps < 2:
        raise ArgumentError(f"expected 2 seeds and 2 steps or more, found {seeds} and {steps}")
    failed, asked = False, (name, seeds, steps, settings or {})
    with Pool(1, limited=True) as there:
        for claim, text in there.ask(_claims, asked):
            if failed:
                yield Verdict(claim, text, None, "the claims above must hold first")
                continue
            try:
                copies = there.copies
                ok, how = there.ask(_verdict, asked, claim)
                ok, how = (False, FORKED) if there.copies > copies else (ok, how)
            except Died as error:
                ok, how = False, str(error)
                failed = isinstance(error, Hung)  # and so might each of the others
            failed = failed or (claim in batches.FIRST and ok is False)
            yield Verdict(claim, text, ok, how)


_Asked = tuple[str, int, int, dict[str, Any]]
_TRIALS: list[Trial] = []
"""The one that this process has made, where it is the one apart."""


def _trial(asked: _Asked) -> Trial:
    if not _TRIALS:
        _TRIALS.append(Trial.of(*asked))
    return _TRIALS[0]


def _claims(asked: _Asked) -> list[tuple[str, str]]:
    """Return the name and the text of each claim that the domain is held to."""
    return [(claim, text) for claim, (text, _) in _held_to(_trial(asked)).items()]


def _held_to(trial: Trial) -> dict[str, Claim]:
    adapted = isinstance(trial.domain, Adapted)
    return batches.CLAIMS | (environments.CLAIMS if adapted else {})


def _verdict(asked: _Asked, claim: str) -> tuple[bool | None, str]:
    trial = _trial(asked)
    _, holds = _held_to(trial)[claim]
    try:
        with runs.settled():
            if claim not in batches.FIRST:
                trial.play()
            unknown = holds(trial)
    except StsError as error:
        return False, str(error)
    except BaseException as error:  # a domain may be anybody's
        return False, f"{type(error).__name__}: {error}"
    return None if unknown else True, unknown or ""
