"""How often somebody may try to enter with a link that is none."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

WINDOW_S = 60.0
"""Seconds after which the failures of an address are forgotten."""
MAX_FAILURES_PER_ADDRESS = 10
"""Failures of one address within that time, after which it is refused unheard."""
MAX_FAILURES = 300
"""Failures of all addresses, after which one that has failed before is refused unheard."""
MAX_ADDRESSES = 10_000
"""Addresses remembered at a time."""


class RateLimiter:
    """Failed attempts, by address and over all.

    An invitation holds 256 random bits, so no number of attempts finds one. What is limited is what
    a flood can cost; whoever has not failed lately is heard during one as well.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Remembers nothing yet; `clock` counts seconds."""
        self._clock = clock
        self._failures: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def allows(self, address: str) -> bool:
        """Whether an attempt from `address` is heard."""
        self._drop_expired()
        _, own = self._failures.get(normalise_address(address), (0.0, 0))
        if own == 0:
            return True
        return (
            own < MAX_FAILURES_PER_ADDRESS
            and sum(count for _, count in self._failures.values()) < MAX_FAILURES
        )

    def record_failure(self, address: str) -> None:
        """Note that an attempt from `address` failed."""
        self._drop_expired()
        counted = normalise_address(address)
        since, own = self._failures.get(counted, (self._clock(), 0))
        self._failures[counted] = since, own + 1
        if len(self._failures) > MAX_ADDRESSES:
            self._failures.popitem(last=False)

    def clear_failures(self, address: str) -> None:
        """Forgets the failures of `address`: somebody whom the study knows is there."""
        self._failures.pop(normalise_address(address), None)

    def _drop_expired(self) -> None:
        now = self._clock()
        while self._failures and next(iter(self._failures.values()))[0] + WINDOW_S <= now:
            self._failures.popitem(last=False)


@lru_cache(maxsize=65_536)
def normalise_address(address: str) -> str:
    """Return what an address is counted as: one person has 2^64 of the sixth version."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    return str(parsed.ipv4_mapped or parsed.exploded[:19])
