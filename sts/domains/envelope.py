"""Serialised environment states with a header that identifies their domain, and a checksum.

Version 1: `STSD`, uint16 version, uint16 length of a JSON header {"domain", "version"}, the header,
the environment's own bytes, and the first 8 bytes of the BLAKE2b digest of everything before.
"""

import hashlib
import json
import struct

from sts.errors import DamagedState, NewerFormat, OtherVersion
from sts.storage.files import canonical_json

VERSION = 1
_MAGIC = b"STSD"
_HEAD = struct.Struct("<4sHH")
_CHECKSUM_BYTES = 8


def add_envelope(domain: str, version: str, state: bytes) -> bytes:
    """Add a header and a checksum to an environment's state."""
    header = canonical_json({"domain": domain, "version": version})
    body = _HEAD.pack(_MAGIC, VERSION, len(header)) + header + state
    return body + _checksum(body)


def remove_envelope(domain: str, version: str, raw: bytes) -> bytes:
    """Check header and checksum, and return the environment's state.

    Raises:
      DamagedState: it is truncated or altered, or of another domain.
      OtherVersion: it is intact, but of another version of the domain.
      NewerFormat: the envelope has a later format.
    """
    if len(raw) < _HEAD.size + _CHECKSUM_BYTES or raw[:4] != _MAGIC:
        raise DamagedState(f"expected a state of {domain}, found other bytes")
    _, number, size = _HEAD.unpack_from(raw)
    if number > VERSION:
        raise NewerFormat(f"state format {number}; this version reads up to {VERSION}: update sts")
    if _checksum(raw[:-_CHECKSUM_BYTES]) != raw[-_CHECKSUM_BYTES:]:
        raise DamagedState(f"a state of {domain} is truncated or altered")
    header = json.loads(raw[_HEAD.size : _HEAD.size + size])
    if header["domain"] != domain:
        raise DamagedState(f"expected a state of {domain}, found one of {header['domain']}")
    if header["version"] != version:
        raise OtherVersion(
            f"the state was made by version {header['version']!r} of {domain}, but {version!r} is "
            "installed; install the former, or record or import again"
        )
    return raw[_HEAD.size + size : -_CHECKSUM_BYTES]


def _checksum(raw: bytes) -> bytes:
    return hashlib.blake2b(raw, digest_size=_CHECKSUM_BYTES).digest()
