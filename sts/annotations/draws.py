"""Random numbers of a study, which follow from its seed and the names of what is drawn."""

import hashlib


def unit_hash(*parts: object) -> float:
    """Hash these parts, the seed first, to a number in [0, 1)."""
    text = " ".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) / 2**64
