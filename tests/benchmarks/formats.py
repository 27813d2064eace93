"""Recorded trajectories written for others and read back, against our own files."""

from __future__ import annotations

import itertools
import tempfile
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq

from sts import agents
from sts.formats import rlds
from sts.formats.minari import exporter, importer
from sts.trajectories import store
from sts.trajectories.record import record
from tests.benchmarks.measure import Sizes, Table, seconds


def table(sizes: Sizes) -> Table:
    """Seconds and megabytes of each format."""
    made = record(
        agents.load("local-search"),
        domain="lambda-star",
        count=sizes.exported,
        steps=2 * sizes.steps,
        seed=0,
        settings={"height": 10, "width": 10, "participants": 3, "horizon": 2 * sizes.steps},
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, write, read in (
            ("parquet", store.export, store.read),
            ("minari", exporter.write, importer.read),
            ("rlds", rlds.write, pq.read_table),
        ):
            paths = (Path(folder) / f"{name}-v{run}" for run in itertools.count())

            def written(path: Path, write=write) -> None:
                write(path, made)

            writing = seconds(written, partial(next, paths), runs=sizes.slow)
            path = Path(folder) / f"{name}-v0"
            reading = seconds(read, partial(Path, path), runs=sizes.slow)
            rows.append((f"`{name}`", writing, reading, _megabytes(path)))
    return Table(
        "Formats",
        f"{sizes.exported} episodes of {2 * sizes.steps} steps, 3 participants on a 10x10 grid, "
        "kernels compiled before. `parquet` is our own and holds what happened; the others also "
        "hold what one participant saw, for which every episode is replayed and held against its "
        "recording. `minari` is hdf5 and `rlds` Parquet. Reading the first two checks every "
        "episode; `rlds` is only loaded.",
        ("format", "seconds to write", "seconds to read", "MB"),
        rows,
    )


def _megabytes(path: Path) -> float:
    files = [path] if path.is_file() else [f for f in path.rglob("*") if f.is_file()]
    return sum(f.stat().st_size for f in files) / 1e6
