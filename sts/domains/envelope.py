"""States of environments as bytes that say whose they are, and that cannot be damaged unseen.

Version 1: `STSD`, uint16 version, uint16 length of a JSON header {"domain", "version"}, the header,
the environment's own bytes, and the first 8 bytes of the BLAKE2b digest of everything before.
"""

from __future__ import annotations

import hashlib
import json
import struct

from sts.errors import DamagedState, NewerFormat, OtherVersion
from sts.storage.files import canonical_json

VERSION = 1
_MAGIC = b"STSD"
_HEAD = struct.Struct("<4sHH")
_SUM = 8


def wrap(domain: str, version: str, state: bytes) -> bytes:
    """Return an environment's state in its envelope."""
    header = canonical_json({"domain": domain, "version": version})
    body = _HEAD.pack(_MAGIC, VERSION, len(header)) + header + state
    return body + _sum(body)


def unwrap(domain: str, version: str, raw: bytes) -> bytes:
    """Return the state in an envelope of this domain and version.

    Raises:
      DamagedState: it is truncated or altered, or of another domain.
      OtherVersion: it is sound, and of another version.
      NewerFormat: the envelope is of a later format.
    """
    if len(raw) < _HEAD.size + _SUM or raw[:4] != _MAGIC:
        raise DamagedState(f"expected a state of {domain}, found other bytes")
    _, number, size = _HEAD.unpack_from(raw)
    if number > VERSION:
        raise NewerFormat(f"state format {number}; this version reads up to {VERSION}: update sts")
    if _sum(raw[:-_SUM]) != raw[-_SUM:]:
        raise DamagedState(f"a state of {domain} is truncated or altered")
    header = json.loads(raw[_HEAD.size : _HEAD.size + size])
    if header["domain"] != domain:
        raise DamagedState(f"expected a state of {domain}, found one of {header['domain']}")
    if header["version"] != version:
        raise OtherVersion(
            f"made by version {header['version']!r} of {domain}, and this is {version!r}: "
            "install what made it, or record and import anew"
        )
    return raw[_HEAD.size + size : -_SUM]


def _sum(raw: bytes) -> bytes:
    return hashlib.blake2b(raw, digest_size=_SUM).digest()
