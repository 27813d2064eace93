"""Rate limiting for invalid invitation links."""

import time
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

WINDOW_S = 60.0
"""Time after which the failures of an address are forgotten."""
MAX_FAILURES_PER_ADDRESS = 10
"""Failures within `WINDOW_S` after which an address is rejected without a lookup."""
MAX_FAILURES = 300
"""Failures of all addresses together, after which every address with a failure is rejected."""
MAX_ADDRESSES = 10_000
"""Addresses remembered at a time."""


class RateLimiter:
    """Failed attempts by address and in total.

    An invitation holds 256 random bits, so guessing is hopeless; the limit bounds what a flood of
    requests can cost. Addresses without a recent failure are never limited.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start without failures; `clock` returns seconds."""
        self._clock = clock
        self._failures: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def allows(self, address: str) -> bool:
        """Return True if an attempt from `address` may be looked up."""
        self._drop_expired()
        _, failures = self._failures.get(normalise_address(address), (0.0, 0))
        if failures == 0:
            return True
        return (
            failures < MAX_FAILURES_PER_ADDRESS
            and sum(count for _, count in self._failures.values()) < MAX_FAILURES
        )

    def record_failure(self, address: str) -> None:
        """Count a failed attempt from `address`."""
        self._drop_expired()
        key = normalise_address(address)
        since, failures = self._failures.get(key, (self._clock(), 0))
        self._failures[key] = since, failures + 1
        if len(self._failures) > MAX_ADDRESSES:
            self._failures.popitem(last=False)

    def clear_failures(self, address: str) -> None:
        """Forget the failures of `address`, from which a known person has signed in."""
        self._failures.pop(normalise_address(address), None)

    def _drop_expired(self) -> None:
        now = self._clock()
        while self._failures and next(iter(self._failures.values()))[0] + WINDOW_S <= now:
            self._failures.popitem(last=False)


@lru_cache(maxsize=65_536)
def normalise_address(address: str) -> str:
    """Return the key that an address is counted under: of IPv6 only the /64 network."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    return str(parsed.ipv4_mapped or parsed.exploded[:19])
