"""Backups: the files of a workspace in an uncompressed zip archive, `backup/2`.

The last file in the archive, `backup.json`, lists the others with their SHA-256. A truncated
archive cannot be opened, as a zip archive has its directory at the end.
"""

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
from sts.names import quote
from sts.storage.files import open_regular, parse_versioned_json, sync_folder
from sts.storage.memory import limit_memory

FORMAT, VERSION = "backup", 2
MANIFEST = "backup.json"
_CHUNK_BYTES = 2**20
_ARCHIVE_ERRORS = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, struct.error, EOFError, RuntimeError),
    *(LookupError, TypeError, ValueError, AttributeError),
    *(FileExistsError, IsADirectoryError, NotADirectoryError),
)
"""Errors of an invalid archive or manifest, or of a name used for both a file and a folder."""


class Manifest(NamedTuple):
    """The manifest of a backup."""

    workspace: str  # the ID of the workspace
    sts: str  # the version that made the backup
    made: str  # the start time, UTC, such as "2026-11-23T14:05:09Z"
    files: dict[str, str]  # the hexadecimal SHA-256 of every other file, by path in the workspace


def write_archive(path: Path, workspace: str, sources: Iterable[tuple[str, Path]]) -> Manifest:
    """Write an archive with permissions 0600, and wait until it is on disk.

    `sources` yields paths in the workspace and the files to read. It is consumed lazily, and files
    that no longer exist are skipped.

    Raises:
      DamagedData: a source is not a regular file, or its name is not UTF-8.
    """
    made_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    manifest = Manifest(workspace, sts.__version__, made_at, {})
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w+b") as file:
        with zipfile.ZipFile(file, "w") as archive:
            for name, source in sources:
                with suppress(FileNotFoundError):
                    manifest.files[name] = _add_file(archive, name, source)
            content = {"format": FORMAT, "version_of_format": VERSION, **manifest._asdict()}
            text = json.dumps(content, indent=1, ensure_ascii=False)
            archive.writestr(zipfile.ZipInfo(MANIFEST), text)
        file.flush()
        os.fsync(file.fileno())
    return manifest


def _add_file(archive: zipfile.ZipFile, name: str, source: Path) -> str:
    """Add a file with its permissions, and return its SHA-256."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise DamagedData(f"{source}: expected a name in UTF-8; rename the file") from None
    info, digest = zipfile.ZipInfo(name), hashlib.sha256()
    with open_regular(source) as file:
        info.external_attr = os.fstat(file.fileno()).st_mode << 16
        with archive.open(info, "w", force_zip64=True) as target:
            while piece := file.read(_CHUNK_BYTES):
                digest.update(piece)
                target.write(piece)
    return digest.hexdigest()


def extract_archive(
    path: Path, folder: Path, progress: Callable[[int, int], None] = lambda done, total: None
) -> Manifest:
    """Extract a backup into `folder`, verify every file, and wait until all are on disk.

    Raises:
      DamagedData: it is not a backup, or damaged; `folder` may then be incomplete.
      NewerFormat: a later version made it.
      StsError: an earlier version made it.
    """
    with open_regular(path) as file, _translate_errors(path), zipfile.ZipFile(file) as archive:
        size, entries = os.fstat(file.fileno()).st_size, archive.infolist()
        total = sum(info.file_size for info in entries)
        if total > size or any(info.header_offset < 0 for info in entries):
            raise ValueError("the sizes or positions of its files are wrong")
        infos = [info for info in entries if info.filename != MANIFEST]
        manifest = _parse_manifest(path, archive.read(MANIFEST))
        if {info.filename for info in infos} != manifest.files.keys():
            raise ValueError(f"its files are not those listed in {MANIFEST}")
        for number, info in enumerate(infos, start=1):
            _extract_file(archive, info, folder, manifest.files[info.filename])
            progress(number, len(infos))
    for inside, _, _ in os.walk(folder):
        sync_folder(Path(inside))
    return manifest


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Open a context that limits memory, and raises DamagedData for any invalid archive."""
    try:
        with limit_memory(str(path)):
            yield
    except _ARCHIVE_ERRORS as error:
        raise DamagedData(f"{path}: expected a whole backup of a workspace: {error}") from None


def _parse_manifest(path: Path, raw: bytes) -> Manifest:
    content = parse_versioned_json(raw.decode(), dict)
    version = content["version_of_format"]
    if content["format"] != FORMAT or type(version) is not int:
        raise ValueError(f"{MANIFEST} is not the manifest of a backup")
    if version != VERSION:
        remedy = "update sts" if version > VERSION else "restore it with the version that made it"
        raise (NewerFormat if version > VERSION else StsError)(
            f"{path}: backup format {version}; this version reads {VERSION}: {remedy}"
        )
    workspace, made_by, made_at = (str(content[key]) for key in ("workspace", "sts", "made"))
    return Manifest(workspace, made_by, made_at, dict(content["files"]))


def _extract_file(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, folder: Path, digest: str
) -> None:
    """Extract a new file with its permissions, and verify its digest."""
    target = os.path.join(folder, info.filename)
    # `extract` changes a path that leads out of the folder.
    if os.path.lexists(target) or archive.extract(info, folder) != target:
        raise ValueError(f"{quote(info.filename)} occurs twice, or is outside the folder")
    private = not (info.external_attr >> 16) & (stat.S_IRGRP | stat.S_IROTH)
    os.chmod(target, 0o600 if private else 0o644)
    with open(target, "rb") as file:
        os.fsync(file.fileno())
        if hashlib.file_digest(file, "sha256").hexdigest() != digest:
            raise ValueError(f"the checksum of {quote(info.filename)} does not match")
