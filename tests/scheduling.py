"""How tests share the cores: which worker runs which, and with how many threads.

A file's tests go to one worker, and a folder's whose fixtures are dear: what starts a browser,
servers or a database for its tests does so once. While one worker waits for these the others have
the cores; so there is one worker more than cores. Such folders begin, as they take longest.

Each worker collects all tests. Whoever is first to import a file of them rewrites its assertions,
for all; so each begins with another part of the files.

Linear algebra runs in one thread, in every process that a test starts too: threads that wait for
each other spin, and where each core has a test already they cost many times what they save.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # is read when NumPy is first imported
TOGETHER = ("tests/annotator_app/served/", "tests/annotations/")


def unit(nodeid: str) -> str:
    """Return what goes to one worker of which a test is part: a folder or a file."""
    file = nodeid.partition("::")[0]
    return next((folder for folder in TOGETHER if file.startswith(folder)), file)


def longest_first(items: list[pytest.Item]) -> None:
    """Put the folders that stay together before all other files."""
    places = {folder: place for place, folder in enumerate(TOGETHER)}
    items.sort(key=lambda item: places.get(unit(item.nodeid), len(places)))


def shares(files: Sequence[Path], worker: int, workers: int) -> list[Path]:
    """Return all files, in the order in which one of so many workers imports them."""
    first = len(files) * worker // workers
    return [*files[first:], *files[:first]]


def import_in_turn(config: pytest.Config) -> None:
    """Import the files of tests below the folders that are asked for, where workers share them."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    if not worker:
        return
    root, workers = config.rootpath, int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    files = sorted({file for asked in config.args for file in Path(asked).rglob("test_*.py")})
    for file in shares(files, int(worker), workers):
        name = ".".join(file.resolve().relative_to(root).with_suffix("").parts)
        with contextlib.suppress(Exception, pytest.skip.Exception):  # collecting says what of
            importlib.import_module(name)


class Scheduling(LoadFileScheduling):  # type: ignore[misc]
    """Hands out units in the order in which they were collected."""

    def __init__(self, config: pytest.Config, log: object) -> None:
        """Take what every scheduler of xdist does."""
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)
