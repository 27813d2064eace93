"""A report as a single file to send: a zip of its folder, which opens once it is unpacked.

It is not a single page: a browser would have to read every clip before it showed a number, and mail
programs refuse pages with scripts.
"""

import os
import zipfile
from collections.abc import Collection
from pathlib import Path

from sts.errors import ArgumentError
from sts.names import quote
from sts.storage.files import check_place, open_part_folder

SUFFIX = ".zip"
_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of every file, so that equal reports make equal zips."""


def check_bundle(file: Path) -> None:
    """Check the name of a zip.

    Raises:
      ArgumentError: it has another ending, or its folder does not exist.
    """
    if file.suffix != SUFFIX or file.is_dir():
        raise ArgumentError(
            f"--zip: expected a file that ends with {SUFFIX}, found {quote(str(file))}"
        )
    if not file.parent.is_dir():
        raise ArgumentError(f"--zip: there is no folder {quote(str(file.parent))}; make it first")


def bundle(folder: Path, file: Path, entry_names: Collection[str]) -> int:
    """Write entries of a report's folder as a zip and return its bytes.

    Nothing else in the folder is sent. An earlier file is replaced.

    Raises:
      OSError: the disk is full or read-only; an earlier file is then unchanged.
    """
    check_place(file)
    entries = [folder / name for name in entry_names]
    inside = [path for entry in entries if entry.is_dir() for path in entry.rglob("*")]
    with open_part_folder(file) as beside:
        made = beside / file.name
        with made.open("wb") as raw:
            with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as zipped:
                for path in sorted(path for path in [*entries, *inside] if path.is_file()):
                    name = f"{file.stem}/{path.relative_to(folder).as_posix()}"
                    info = zipfile.ZipInfo(name, _TIME)
                    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                    zipped.writestr(info, path.read_bytes())
            raw.flush()
            os.fsync(raw.fileno())
        made.chmod(0o644)
        made.replace(file)
    return file.stat().st_size
