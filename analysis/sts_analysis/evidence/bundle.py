"""A report as one file to send: a zip of its folder, which opens by a double click once unpacked.

It is no single page: a browser would have to read every clip before it showed a number, and mail
programs refuse pages with scripts in them.
"""

import os
import tempfile
import zipfile
from pathlib import Path

from sts.errors import ArgumentError
from sts.names import quote
from sts.storage.files import check_place
from sts_analysis.report import json_form
from sts_analysis.report.write import EVIDENCE, PAGE

SUFFIX = ".zip"
_PARTS = (PAGE, json_form.FILE, "tables", "figures", EVIDENCE)
_BEGINNING = (1980, 1, 1, 0, 0, 0)
"""The time that every file is given, so that one report makes one zip."""


def check_bundle(file: Path) -> None:
    """Refuses a name that no zip can have.

    Raises:
      ArgumentError: it ends otherwise, or its folder is not there.
    """
    if file.suffix != SUFFIX or file.is_dir():
        raise ArgumentError(
            f"--zip: expected a file that ends with {SUFFIX}, found {quote(str(file))}"
        )
    if not file.parent.is_dir():
        raise ArgumentError(f"--zip: there is no folder {quote(str(file.parent))}; make it first")


def bundle(folder: Path, file: Path) -> int:
    """Writes a report's folder as one zip and returns its bytes; an earlier one is replaced.

    Raises:
      OSError: the disk is full, or read-only; an earlier one is then as it was.
    """
    check_place(file)
    handle, beside = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as raw:
            with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as zipped:
                for path in _files(folder):
                    name = f"{file.stem}/{path.relative_to(folder).as_posix()}"
                    entry = zipfile.ZipInfo(name, _BEGINNING)
                    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                    zipped.writestr(entry, path.read_bytes())
            raw.flush()
            os.fsync(raw.fileno())
        os.chmod(beside, 0o644)
        os.replace(beside, file)
    except BaseException:
        os.unlink(beside)
        raise
    return file.stat().st_size


def _files(folder: Path) -> list[Path]:
    """What of a folder is the report's, in order; nothing else that lies in it is sent."""
    own = [folder / name for name in _PARTS]
    inside = [path for one in own if one.is_dir() for path in one.rglob("*")]
    return sorted(path for path in [*own, *inside] if path.is_file())
