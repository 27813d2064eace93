"""Identity of the continuations that people play."""

from sts.continuations.continuation import HUMAN, Identity
from sts.storage.files import content_hash
from sts.suites.suite import Scenario


def person_fingerprint(pseudonym: str) -> str:
    """Return the fingerprint that stands for a person in the identity of a continuation."""
    return content_hash(b"person", pseudonym.encode())[:16]


def make_identity(scenario: Scenario, pseudonym: str) -> Identity:
    """Return the identity of a person's continuation of a scenario."""
    return Identity(scenario.hash, HUMAN, person_fingerprint(pseudonym), 0, 0)
