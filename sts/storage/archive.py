"""A backup: the files of a workspace in one zip archive, with the SHA-256 of each, `backup/2`.

The archive is not compressed, and any program opens it. Its last file, `backup.json`, lists the
others. An archive that was cut off lacks the list at its end, so no reader opens it.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import struct
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import sts
from sts.errors import DamagedData, NewerFormat, StsError
from sts.names import shown
from sts.storage.files import parsed_json, regular, synchronise
from sts.storage.memory import bounded

FORMAT, VERSION = "backup", 2
MANIFEST = "backup.json"
_CHUNK_BYTES = 2**20
_ARCHIVE_ERRORS = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, struct.error, EOFError, RuntimeError),
    *(LookupError, TypeError, ValueError, AttributeError),
    *(FileExistsError, IsADirectoryError, NotADirectoryError),
)
"""What comes of a bad archive, of a bad manifest, and of a name that is a file and a folder."""


class Manifest(NamedTuple):
    """What a backup says of itself.

    Attributes:
      workspace: the id of the workspace.
      sts: the version that made it.
      made: when that was begun, UTC, as "2026-11-23T14:05:09Z".
      files: the SHA-256 of every other file, hexadecimal, by its path in the workspace.
    """

    workspace: str
    sts: str
    made: str
    files: dict[str, str]


def write(path: Path, workspace: str, sources: Iterable[tuple[str, Path]]) -> Manifest:
    """Write an archive, readable to its owner alone, and synchronise it.

    `sources` are paths in the workspace and where these are. Each is asked for when the one before
    is in, and left out if it is gone by then.

    Raises:
      DamagedData: one is no file, or its name is not UTF-8.
    """
    made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    manifest = Manifest(workspace, sts.__version__, made, {})
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w+b") as file:
        with zipfile.ZipFile(file, "w") as archive:
            for name, source in sources:
                with suppress(FileNotFoundError):
                    manifest.files[name] = _add_file(archive, name, source)
            own = {"format": FORMAT, "version_of_format": VERSION, **manifest._asdict()}
            text = json.dumps(own, indent=1, ensure_ascii=False)
            archive.writestr(zipfile.ZipInfo(MANIFEST), text)
        file.flush()
        os.fsync(file.fileno())
    return manifest


def _add_file(archive: zipfile.ZipFile, name: str, source: Path) -> str:
    """Add a file with its permissions; return its digest."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise DamagedData(f"{source}: expected names in UTF-8; rename it") from None
    info, digest = zipfile.ZipInfo(name), hashlib.sha256()
    with regular(source) as file:
        info.external_attr = os.fstat(file.fileno()).st_mode << 16
        with archive.open(info, "w", force_zip64=True) as target:
            while piece := file.read(_CHUNK_BYTES):
                digest.update(piece)
                target.write(piece)
    return digest.hexdigest()


def unpack(
    path: Path, folder: Path, progress: Callable[[int, int], None] = lambda done, total: None
) -> Manifest:
    """Write the files of a backup below `folder`, each held to its digest and synchronised.

    Raises:
      DamagedData: it is no backup or damaged; not all of it may then be in the folder.
      NewerFormat: a later version made it.
      StsError: an earlier version made it.
    """
    with regular(path) as file, _translate_errors(path), zipfile.ZipFile(file) as archive:
        size, every = os.fstat(file.fileno()).st_size, archive.infolist()
        if sum(info.file_size for info in every) > size or any(i.header_offset < 0 for i in every):
            raise ValueError("its files come to more bytes than it has, or are not where it says")
        infos = [info for info in every if info.filename != MANIFEST]
        manifest = _parse_manifest(path, archive.read(MANIFEST))
        if {info.filename for info in infos} != manifest.files.keys():
            raise ValueError(f"its files are not those that {MANIFEST} names")
        for number, info in enumerate(infos, start=1):
            _extract_file(archive, info, folder, manifest.files[info.filename])
            progress(number, len(infos))
    for inside, _, _ in os.walk(folder):
        synchronise(Path(inside))
    return manifest


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Name an archive of which anything is wrong, and give its reader no more than its memory."""
    try:
        with bounded(str(path)):
            yield
    except _ARCHIVE_ERRORS as error:
        raise DamagedData(f"{path}: expected a whole backup of a workspace: {error}") from None


def _parse_manifest(path: Path, raw: bytes) -> Manifest:
    own = parsed_json(raw.decode(), dict)
    version = own["version_of_format"]
    if own["format"] != FORMAT or type(version) is not int:
        raise ValueError(f"{MANIFEST} says nothing of a backup")
    if version != VERSION:
        remedy = "update sts" if version > VERSION else "restore it with the version that made it"
        raise (NewerFormat if version > VERSION else StsError)(
            f"{path}: backup format {version}; this version reads {VERSION}: {remedy}"
        )
    return Manifest(str(own["workspace"]), str(own["sts"]), str(own["made"]), dict(own["files"]))


def _extract_file(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, folder: Path, digest: str
) -> None:
    """Write a file where none is, with its permissions, and hold it to its digest."""
    target = os.path.join(folder, info.filename)
    # What leads out of the folder is written inside it, under another name.
    if os.path.lexists(target) or archive.extract(info, folder) != target:
        raise ValueError(f"{shown(info.filename)} is in it twice, or leads elsewhere")
    private = not (info.external_attr >> 16) & (stat.S_IRGRP | stat.S_IROTH)
    os.chmod(target, 0o600 if private else 0o644)
    with open(target, "rb") as file:
        os.fsync(file.fileno())
        if hashlib.file_digest(file, "sha256").hexdigest() != digest:
            raise ValueError(f"{shown(info.filename)} is not what was copied")
