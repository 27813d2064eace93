"""Whether a domain keeps what the rest of the suite relies on, claim by claim.

Any domain is held to the claims of `batches`; one that is made of an `Environment` to those of
`environments` besides. Python's and NumPy's global random generators are set alike before every
run, so that a world that draws from them fails the claim that says so, and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from sts.domains.adapted import Adapted
from sts.domains.conformance import batches, environments, runs
from sts.domains.conformance.runs import Trial
from sts.domains.known import domain as find_domain
from sts.errors import ArgumentError, StsError


class Verdict(NamedTuple):
    """What came of one claim: `ok` is None where it could not be checked, and `how` says why."""

    claim: str
    text: str
    ok: bool | None
    how: str


def check(
    name: str, *, seeds: int = 3, steps: int = 40, settings: dict[str, Any] | None = None
) -> Iterator[Verdict]:
    """Yields a verdict for each claim on the domain called `name`, as each is found.

    Args:
      name: an installed domain, FAMILY:NAME or `module:Class`.
      seeds: how many worlds are tried.
      steps: T, how long.
      settings: passed to the domain's `generate`.

    Raises:
      ArgumentError: nothing is asked for, or there is no such domain.
    """
    if seeds < 2 or steps < 2:
        raise ArgumentError(f"expected 2 seeds and 2 steps or more, found {seeds} and {steps}")
    domain = find_domain(name)
    claims = dict(batches.CLAIMS)
    if isinstance(domain, Adapted):
        claims |= environments.CLAIMS
    trial, failed = Trial(domain, name, seeds, steps, settings or {}), False
    for claim, (text, holds) in claims.items():
        if failed:
            yield Verdict(claim, text, None, "the claims above must hold first")
            continue
        found = _verdict(claim, text, holds, trial)
        failed = claim in batches.FIRST and found.ok is False
        yield found


def _verdict(claim: str, text: str, holds: Callable[[Trial], str | None], trial: Trial) -> Verdict:
    try:
        with runs.settled():
            unknown = holds(trial)
    except StsError as error:
        return Verdict(claim, text, False, str(error))
    except Exception as error:  # a domain may be anybody's
        return Verdict(claim, text, False, f"{type(error).__name__}: {error}")
    return Verdict(claim, text, None if unknown else True, unknown or "")
