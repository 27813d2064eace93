"""Archives of backups: damaged, truncated and hostile ones are refused and leave nothing."""

import hashlib
import io
import json
import os
import random
import stat
import struct
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from sts.errors import DamagedData, NewerFormat, StsError
from sts.storage import archive
from tests.access.attempts import attempt

FILES = {"workspace.toml": b"schema = 2\n", "a/b.parquet": bytes(range(256)) * 9, "a/c/empty": b""}
OWN = "5ca1ab1e" * 4


def sources(folder: Path, files: dict[str, bytes]) -> list[tuple[str, Path]]:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return [(name, folder / name) for name in files]


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """Return a backup of `FILES`."""
    archive.write_archive(tmp_path / "whole", OWN, sources(tmp_path / "from", FILES))
    return tmp_path / "whole"


def read_files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_packed_files_are_unpacked_here_and_by_any_zip_program(backup, tmp_path) -> None:
    (tmp_path / "to").mkdir()
    found = archive.extract_archive(backup, tmp_path / "to")
    assert read_files(tmp_path / "to") == FILES
    assert found.workspace == OWN
    assert found.files == {name: hashlib.sha256(data).hexdigest() for name, data in FILES.items()}
    with zipfile.ZipFile(backup) as opened:
        assert opened.testzip() is None
        assert {name: opened.read(name) for name in FILES} == FILES


def test_backup_and_its_private_files_are_private(tmp_path) -> None:
    every = sources(tmp_path / "from", {"secrets.toml": b"x", "workspace.toml": b"y"})
    every[0][1].chmod(0o600)
    archive.write_archive(tmp_path / "whole", OWN, every)
    (tmp_path / "to").mkdir()
    archive.extract_archive(tmp_path / "whole", tmp_path / "to")
    modes = [tmp_path / "whole", tmp_path / "to/secrets.toml", tmp_path / "to/workspace.toml"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in modes] == [0o600, 0o600, 0o644]


def test_missing_file_is_left_out_and_a_pipe_refused(tmp_path) -> None:
    (tmp_path / "there").write_bytes(b"there")
    every = [(name, tmp_path / name) for name in ("gone", "there")]
    assert [*archive.write_archive(tmp_path / "whole", OWN, every).files] == ["there"]
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DamagedData, match="found a named pipe"):
        archive.write_archive(tmp_path / "other", OWN, [("pipe", tmp_path / "pipe")])


def manifest_of(files: dict[str, bytes], **changes: object) -> bytes:
    """What a backup of files says of itself."""
    own: dict[str, object] = {
        "format": "backup",
        "version_of_format": archive.VERSION,
        "workspace": OWN,
        "sts": "0",
        "made": "2026-01-01T00:00:00Z",
        "files": {name: hashlib.sha256(raw).hexdigest() for name, raw in files.items()},
    }
    own |= changes
    own["files"] = own.pop("listed", own["files"])
    return json.dumps(own).encode()


def pack_files(
    files: dict[str, bytes], told: bytes | None = None, how: int = zipfile.ZIP_STORED
) -> bytes:
    """Return an archive of these files and of what it says of itself."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", how) as opened:
        for name, raw in files.items():
            opened.writestr(zipfile.ZipInfo(name), raw, how)
        opened.writestr(archive.MANIFEST, manifest_of(files) if told is None else told, 0)
    return made.getvalue()


def twice() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as opened, pytest.warns(UserWarning, match="Duplicate"):
        opened.writestr("a", b"one")
        opened.writestr("a", b"two")
        opened.writestr(archive.MANIFEST, manifest_of({"a": b"two"}))
    return made.getvalue()


def overlapping() -> bytes:
    """Many names of one file's bytes: it unpacks to more than it is."""
    raw = pack_files({"a": bytes(2**16)})
    place = raw.index(b"PK\1\2")
    end = raw.index(b"PK\5\6")
    own = raw[place : raw.index(b"PK\1\2", place + 1)]
    others = [f"{n:01x}".encode() for n in range(1, 16) if n != 10]
    listed = b"".join(own[:46] + name + own[47:] for name in others) + raw[place:end]
    count = len(others) + 2
    return (
        raw[:place]
        + listed
        + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(listed), place, 0)
    )


def with_end(number: int, value: int) -> bytes:
    """A backup whose last record says something else."""
    raw = pack_files(FILES)
    end = list(struct.unpack("<4s4H2LH", raw[-22:]))
    end[number] = value
    return raw[:-22] + struct.pack("<4s4H2LH", *end)


NAMES = ("../out", "/out", "a/../../out", "a//b", "./a", "", "a/")
HOSTILE: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "text": lambda: b"not a backup\n" * 99,
    "another archive": lambda: pack_files(FILES, told=b"{}"),
    "no manifest": lambda: pack_files(FILES).replace(b"backup.json", b"backup.jsom"),
    "a manifest that is no JSON": lambda: pack_files(FILES, told=b"{"),
    "a manifest of deep JSON": lambda: pack_files(FILES, told=b"[" * 99_999),
    "a manifest that lists no files": lambda: pack_files(FILES, told=manifest_of({}, listed=3)),
    "a manifest with a text for a number": lambda: pack_files(
        FILES, told=manifest_of(FILES, version_of_format="2")
    ),
    "a manifest with a number for a digest": lambda: pack_files(
        {"a": b"one"}, told=manifest_of({}, listed={"a": 1})
    ),
    "a manifest of fewer files": lambda: pack_files(FILES, told=manifest_of({})),
    "a manifest of more files": lambda: pack_files({}, told=manifest_of(FILES)),
    "a manifest of other bytes": lambda: pack_files({"a": b"one"}, told=manifest_of({"a": b"two"})),
    "compressed": lambda: pack_files({"a": bytes(2**20)}, how=zipfile.ZIP_DEFLATED),
    "a name twice": twice,
    "a file and a folder of one name": lambda: pack_files({"a": b"", "a/b": b""}),
    "names of one file's bytes": overlapping,
    "a list of four gigabytes": lambda: with_end(5, 2**32 - 2),
    "a list that begins elsewhere": lambda: with_end(6, 2**31),
    "something before": lambda: b"#!/bin/sh\n" + pack_files(FILES)[3:],
    **{f"the name {name[:12]!r}": partial(pack_files, {name: b"out"}) for name in NAMES},
}


@attempt(
    "Files from elsewhere",
    "a backup that is packed, altered, cut off, overlaps itself, or has names that lead elsewhere",
    "refused; nothing is written beside where it is unpacked",
)
@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_backup_is_refused_and_writes_nothing_elsewhere(case, tmp_path) -> None:
    file, folder = tmp_path / "given", tmp_path / "deep/er/to"
    file.write_bytes(HOSTILE[case]())
    folder.mkdir(parents=True)
    with pytest.raises(DamagedData) as error:
        archive.extract_archive(file, folder)
    assert "\n" not in str(error.value) and str(file) in str(error.value)
    outside = {path for path in tmp_path.rglob("*") if path.is_file()} - {file}
    assert all(path.is_relative_to(folder) for path in outside)


def test_backup_of_another_version_is_refused_by_its_number(tmp_path) -> None:
    (tmp_path / "later").write_bytes(pack_files(FILES, manifest_of(FILES, version_of_format=3)))
    with pytest.raises(NewerFormat, match="backup format 3; this version reads 2: update sts"):
        archive.extract_archive(tmp_path / "later", tmp_path / "to")
    (tmp_path / "earlier").write_bytes(pack_files(FILES, manifest_of(FILES, version_of_format=1)))
    with pytest.raises(StsError, match="restore it with the version that made it"):
        archive.extract_archive(tmp_path / "earlier", tmp_path / "to")
    assert not (tmp_path / "to").exists()


def test_truncated_backup_is_refused(backup, tmp_path) -> None:
    raw = backup.read_bytes()
    for size in range(0, len(raw), 37):
        (tmp_path / "cut").write_bytes(raw[:size])
        with pytest.raises(DamagedData):
            archive.extract_archive(tmp_path / "cut", tmp_path / "to")
    assert not (tmp_path / "to").exists()


def test_no_flipped_bit_of_a_backup_is_another_file(backup, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    raw, rng = backup.read_bytes(), random.Random(7)
    places = rng.sample(range(8 * len(raw)), 200)
    refused = 0
    for number, place in enumerate(places):
        changed = bytearray(raw)
        changed[place // 8] ^= 1 << place % 8
        (tmp_path / "flipped").write_bytes(changed)
        folder = tmp_path / f"to{number}"
        folder.mkdir()
        try:
            archive.extract_archive(tmp_path / "flipped", folder)
        except StsError as error:
            refused += 1
            assert "\n" not in str(error)
        else:
            assert read_files(folder) == FILES
    assert refused > 150
