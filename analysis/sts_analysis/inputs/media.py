"""Videos and images of what was judged, as a ratings table names them."""

import functools
import os
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from sts.errors import ArgumentError
from sts.names import is_one_line, quote

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
VIDEOS = (".mp4", ".webm", ".mov", ".ogv")
_MAX_CHARS = 2000
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)


def make_media_check(
    folder: Path | None, report_missing: Callable[[str], object]
) -> Callable[[str], str]:
    """Return a function that checks a cell of the column `media`.

    It returns an address as it is, and never opens it. It returns the path of a file relative to
    `folder`, with links followed, and "" for "" and for a file that does not exist. It raises
    `ArgumentError` for anything else, such as a path that leads out of `folder`, or a suffix that
    is not in `IMAGES` or `VIDEOS`.

    Args:
      folder: of the table; None for a table in memory, which can have only addresses.
      report_missing: is called with each path of a file that does not exist.
    """
    root = "" if folder is None else os.path.realpath(folder)
    resolve_parent = functools.cache(os.path.realpath)  # one of many files each

    def check_media(cell: str) -> str:
        if not is_one_line(cell, _MAX_CHARS):
            raise _error(f"at most {_MAX_CHARS} printable characters", cell)
        is_address = _ADDRESS.match(cell) is not None
        if is_address:
            path = _parse_address(cell)
        elif _SCHEME.match(cell) or cell.startswith(("/", "\\")):
            raise _error("a path in the table's folder, or an https:// or http:// address", cell)
        else:
            path = cell
        if PurePosixPath(path).suffix.lower() not in IMAGES + VIDEOS:
            raise _error(f"an image or a video ({' '.join(IMAGES + VIDEOS)})", cell)
        if is_address:
            return cell
        if not root:
            raise _error("an https:// or http:// address, as a data frame has no folder", cell)
        parent, name = os.path.split(path)
        place = os.path.join(resolve_parent(os.path.join(root, parent)), name)
        if os.path.islink(place):
            place = os.path.realpath(place)
        if os.path.commonpath((root, place)) != root:
            raise _error("a path in the table's folder", cell)
        if not os.path.lexists(place):
            report_missing(cell)
            return ""
        if not os.path.isfile(place):
            raise _error("a file in the table's folder", cell)
        return os.path.relpath(place, root)

    return check_media


def _parse_address(address: str) -> str:
    """Return the path of an address."""
    try:
        parts = urlsplit(address)
        sound = bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid host or port
        sound = False
    if not sound or any(map(str.isspace, address)):
        raise _error("an address such as https://example.org/clip.mp4", address)
    return parts.path


def _error(expected: str, cell: str) -> ArgumentError:
    return ArgumentError(f"expected {expected}, found {quote(cell)}")
