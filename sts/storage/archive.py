"""A backup: the files of a workspace in one, `backup/1`, with what each is to hold.

It is a zip archive without compression, which any program opens. Its last file, `backup.json`, says
of each of the others how many bytes it has and their SHA-256. An archive that was cut off has no
list of what is in it, which stands at the end, and so is none.
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
from typing import Any, BinaryIO, NamedTuple

import sts
from sts.errors import DamagedData, NewerFormat
from sts.names import shown
from sts.storage.files import canonical_json, content_hash, parsed_json, regular, synchronise

FORMAT, VERSION = "backup", 1
MANIFEST = "backup.json"
_AT_ONCE = 2**20
_MOST_LISTED = 2**28
"""Bytes of the list of what is in an archive, and of its manifest: a million files have fewer."""
_DEEPEST, _LONGEST = 32, 255
_ELSEWHERE = (b".", b"..")
_END = struct.Struct("<4s4H2LH")
"""The end of a zip archive without a comment (PKWARE, APPNOTE 4.3.16)."""
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = 20
_WRONG = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, struct.error),
    *(EOFError, LookupError, ValueError, RuntimeError),
)
"""What the reader of zip archives raises; what it does not know how to unpack is the last."""
Progress = Callable[[int, int], None]


class Entry(NamedTuple):
    """What a file of a backup is to be.

    Attributes:
      bytes: how many it has.
      sha256: of these, hexadecimal.
      private: whether its owner alone may read it.
    """

    bytes: int
    sha256: str
    private: bool


class Manifest(NamedTuple):
    """What a backup says of itself.

    Attributes:
      workspace: the id of the workspace.
      sts: the version that made it.
      made: when that was begun, UTC, as "2026-11-23T14:05:09Z".
      files: every other file, by its path in the workspace.
    """

    workspace: str
    sts: str
    made: str
    files: dict[str, Entry]


def write(path: Path, workspace: str, sources: Iterable[tuple[str, Path]]) -> Manifest:
    """Writes an archive, readable to its owner alone, and synchronises it.

    Args:
      path: of the archive; nothing is there.
      workspace: the id of the workspace.
      sources: what it is to hold, as the path in the workspace and where that is; each is asked for
        when the one before is in. One that is gone by then is left out.

    Raises:
      DamagedData: one is no file, or has no name that every system can give a file.
      OSError: one cannot be read, or the archive not be written.
    """
    made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    manifest = Manifest(workspace, sts.__version__, made, {})
    opener = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(opener, "w+b") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name, source in sources:
                _check_name(str(source), name)
                with suppress(FileNotFoundError), regular(source) as opened:
                    manifest.files[name] = _put(archive, name, opened)
            archive.writestr(zipfile.ZipInfo(MANIFEST), _written(manifest))
        file.flush()
        os.fsync(file.fileno())
    return manifest


def _put(archive: zipfile.ZipFile, name: str, source: BinaryIO) -> Entry:
    """Adds as many bytes of a file as it has when it is opened: a file that grows is cut there."""
    told = os.fstat(source.fileno())
    info = zipfile.ZipInfo(name)
    info.file_size = left = told.st_size
    digest = hashlib.sha256()
    with archive.open(info, "w") as target:
        while left:
            piece = source.read(min(left, _AT_ONCE))
            if not piece:
                raise DamagedData(f"{name} became shorter while it was read; start again")
            target.write(piece)
            digest.update(piece)
            left -= len(piece)
    private = not told.st_mode & (stat.S_IRGRP | stat.S_IROTH)
    return Entry(told.st_size, digest.hexdigest(), private)


def _written(manifest: Manifest) -> bytes:
    own = {"format": FORMAT, "version_of_format": VERSION, **manifest._asdict()}
    own["files"] = {name: one._asdict() for name, one in manifest.files.items()}
    own["digest"] = content_hash(canonical_json(own))
    return json.dumps(own, indent=1, ensure_ascii=False).encode()


def manifest(path: Path) -> Manifest:
    """Returns what a backup says of itself; none of its other files is read.

    Raises:
      DamagedData: it is none, or is damaged.
      NewerFormat: a later version made it.
      FileNotFoundError: there is none.
    """
    with _opened(path) as (_, told):
        return told


def unpack(path: Path, folder: Path, progress: Progress = lambda done, total: None) -> Manifest:
    """Writes the files of a backup below `folder`, each held to its digest and synchronised.

    Args:
      path: of the backup.
      folder: an empty one.
      progress: is told how many files there are, of how many.

    Raises:
      DamagedData: it is no backup or damaged; not all of it may then be in the folder.
      NewerFormat: a later version made it.
      OSError: it cannot be read, or a file not be written.
    """
    with _opened(path) as (archive, told):
        for number, (name, entry) in enumerate(told.files.items(), start=1):
            _take(path, archive, name, entry, folder)
            progress(number, len(told.files))
    for inside, _, _ in os.walk(folder):
        synchronise(Path(inside))
    return told


def _take(path: Path, archive: zipfile.ZipFile, name: str, entry: Entry, folder: Path) -> None:
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    handle = os.open(
        target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if entry.private else 0o644
    )
    with os.fdopen(handle, "wb") as file:
        for piece in _pieces(path, archive, name):
            file.write(piece)
            digest.update(piece)
            size += len(piece)
        file.flush()
        os.fsync(file.fileno())
    if (size, digest.hexdigest()) != entry[:2]:
        raise DamagedData(f"{path} is damaged: {shown(name)} is not what was copied")


def _pieces(path: Path, archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    with _reading(path), archive.open(name) as source:
        while piece := source.read(_AT_ONCE):
            yield piece


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turns whatever the archive's reader finds wrong into one line."""
    try:
        yield
    except _WRONG as error:
        raise _damaged(path, str(error)) from None


def _damaged(path: Path, why: str) -> DamagedData:
    return DamagedData(f"{path}: expected a whole backup of a workspace: {why}")


@contextmanager
def _opened(path: Path) -> Iterator[tuple[zipfile.ZipFile, Manifest]]:
    """Yields an archive that holds what its manifest says, as far as that is seen from outside."""
    with regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        with _reading(path):
            _check_end(file, size)
            archive = zipfile.ZipFile(file)
        with archive:
            infos = archive.infolist()
            _check_entries(path, infos, size)
            told = _manifest(path, archive)
            sizes = {one.filename: one.file_size for one in infos if one.filename != MANIFEST}
            if sizes != {name: entry.bytes for name, entry in told.files.items()}:
                raise _damaged(path, f"its files are not those that {MANIFEST} names")
            yield archive, told


def _check_end(file: BinaryIO, size: int) -> None:
    """Refuses a list of files that is longer than any of ours before it is read into memory."""
    file.seek(max(size - _END.size - _LOCATOR - _END_64.size, 0))
    end = file.read()
    if len(end) < _END.size:
        raise zipfile.BadZipFile("it is too short")
    mark, *_, listed, _, comment = _END.unpack(end[-_END.size :])
    if mark != b"PK\5\6" or comment:
        raise zipfile.BadZipFile("it does not end as one does; it may have been cut off")
    if len(end) == _END.size + _LOCATOR + _END_64.size and end.startswith(b"PK\6\6"):
        listed = max(listed if listed < 2**32 - 1 else 0, _END_64.unpack(end[: _END_64.size])[8])
    if listed > _MOST_LISTED:
        raise zipfile.BadZipFile(f"the list of its files has {listed} bytes")
    file.seek(0)


def _check_entries(path: Path, infos: list[zipfile.ZipInfo], size: int) -> None:
    """Refuses names that lead elsewhere or stand twice, and what unpacks to more than it is."""
    names = {one.filename for one in infos}
    if len(names) < len(infos):
        raise _damaged(path, "a name stands in it twice")
    for one in infos:
        _check_name(str(path), one.orig_filename)
        if one.compress_type != zipfile.ZIP_STORED or one.flag_bits & 1:
            raise _damaged(path, f"{shown(one.filename)} is packed or encrypted")
        if one.file_size != one.compress_size or one.header_offset < 0:
            raise _damaged(path, f"{shown(one.filename)} is not where or as long as it says")
    if sum(one.file_size for one in infos) > size:
        raise _damaged(path, "its files come to more bytes than it has")
    if {parent.as_posix() for name in names for parent in Path(name).parents} & names:
        raise _damaged(path, "a file and a folder in it have one name")


def _check_name(where: str, name: str) -> None:
    """Refuses what is no path below a folder, in small steps that every system can name."""
    try:
        parts = name.encode().split(b"/")
    except UnicodeEncodeError:
        raise DamagedData(f"{where}: expected names in UTF-8; rename it") from None
    good = all(0 < len(one) <= _LONGEST and one not in _ELSEWHERE for one in parts)
    if not good or len(parts) > _DEEPEST or "\0" in name or "\\" in name:
        raise DamagedData(
            f"{where}: expected names of files inside a workspace, found {shown(name)}"
        )


def _manifest(path: Path, archive: zipfile.ZipFile) -> Manifest:
    with _reading(path):
        if archive.getinfo(MANIFEST).file_size > _MOST_LISTED:
            raise ValueError(f"{MANIFEST} is too large")
        own: dict[str, Any] = parsed_json(archive.read(MANIFEST).decode(), dict)
        if own.get("format") != FORMAT or type(own.get("version_of_format")) is not int:
            raise ValueError(f"{MANIFEST} says nothing of a backup")
    if own["version_of_format"] > VERSION:
        raise NewerFormat(
            f"{path}: backup format {own['version_of_format']}; this version reads up to "
            f"{VERSION}: update sts"
        )
    try:
        digest = own.pop("digest")
        whole = digest == content_hash(canonical_json(own))
        files = {name: _entry(one) for name, one in own["files"].items()}
        told = Manifest(str(own["workspace"]), str(own["sts"]), str(own["made"]), files)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise _damaged(path, f"{MANIFEST} cannot be read: {error!r}") from None
    if not whole:
        raise _damaged(path, f"{MANIFEST} was altered")
    return told


def _entry(own: Any) -> Entry:
    entry = Entry(**own)
    if [type(one) for one in entry] != [int, str, bool]:
        raise TypeError(f"expected bytes, sha256 and private, found {own!r:.80}")
    return entry
