"""Hostile files: too large once they are read, or with code in them."""

import ast
import io
import os
import pickle
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sts.cli.main import main
from sts.errors import DamagedData, StsError
from sts.storage import memory
from sts.storage.parquet import decode_table
from sts_analysis.api import load_ratings
from tests.access.apart import refusal
from tests.access.attempts import attempt
from tests.access.lying import SAID
from tests.programs import require_package

KIND = "Files from elsewhere"
ROOT = Path(__file__).parents[2]
LARGE = 2**26


TOO_LARGE = "half of the memory of this machine; use a smaller file or a larger machine"


@pytest.mark.slow
@attempt(
    KIND,
    "a table in Parquet whose cells are 5,000 times larger than the file, and which says that they "
    "are small",
    "one line, once the memory that reading may have (half of the machine's) is taken",
)
def test_table_that_lies_about_its_size_takes_limited_memory(tmp_path) -> None:
    file = tmp_path / "t.parquet"
    words = [sys.executable, "-m", "tests.access.lying", str(file), str(LARGE)]
    subprocess.run(words, check=True, cwd=ROOT)
    group = pq.ParquetFile(file).metadata.row_group(0)
    assert group.column(0).total_uncompressed_size == SAID and file.stat().st_size < LARGE / 5000
    assert refusal(LARGE // 2, "report", "--table", str(file)).endswith(TOO_LARGE)


@pytest.mark.slow
@attempt(
    KIND,
    "a table in CSV that takes more memory than reading may",
    "one line, by the report and by an import of judgements",
)
def test_wide_table_takes_limited_memory(tmp_path) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(b"agent,scenario,verdict\n" + b"a," * 2**24 + b"\n")
    for words in (["report", "--table"], ["annotations", "import"]):
        line = refusal(2**26, *words, str(file), "--workspace", str(tmp_path / "w"))
        assert line.endswith(TOO_LARGE)


def test_memory_limit_ends_with_its_block(monkeypatch) -> None:
    monkeypatch.setattr(memory, "memory_limit", lambda: 2**20)
    with pytest.raises(DamagedData, match=r"^big: reading it needs more than 0\.0 GiB"):
        with memory.limit_memory("big"):
            np.ones(2**26)
    assert np.ones(2**20).all()


def nested(depth: int) -> pa.DataType:
    kind: pa.DataType = pa.string()
    for _ in range(depth):
        kind = pa.list_(kind)
    return kind


@attempt(
    KIND,
    "a Parquet file with lists in lists, structures, maps or numbers where texts are asked for",
    "read as what it says, or one line; never a crash",
)
@pytest.mark.parametrize(
    "values",
    [
        pa.array([None], nested(200)),
        pa.array([{"a": {"b": "c"}}]),
        pa.array([[("k", "v")]], pa.map_(pa.string(), pa.string())),
        pa.array([b"\xff\xfe"], pa.binary()),
        pa.array([2**62]),
        pa.array([float("nan")]),
        pa.array([None], pa.null()),
        pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(["\u202e" * 9])),
    ],
    ids=lambda one: str(one.type)[:12],
)
@pytest.mark.parametrize("column", ["agent", "verdict", "step"])
def test_table_of_another_shape_is_refused(tmp_path, values, column) -> None:
    cells = {name: pa.array(["s"]) for name in ("agent", "scenario", "verdict", "step")}
    pq.write_table(pa.table(cells | {column: values}), tmp_path / "t.parquet")
    with pytest.raises(StsError) as refused:
        load_ratings(tmp_path / "t.parquet")
    assert "\n" not in str(refused.value)
    with pytest.raises(DamagedData):
        decode_table(
            "t", (tmp_path / "t.parquet").read_bytes(), "ratings", 1, {column: pa.string()}
        )


@attempt(
    KIND,
    "an archive, a pickle or a picture under the name of a table, a suite or a recording",
    "one line, exit code 1 or 2; nothing is unpacked",
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".zip", ".json", ".pkl", ""])
@pytest.mark.parametrize("what", ["zip", "pickle", "gzip", "nulls"])
def test_file_is_never_unpacked_because_of_its_name(tmp_path, capsys, what, suffix) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../outside.csv", b"0" * 10**7)
    contents = {
        "zip": packed.getvalue(),
        "pickle": pickle.dumps(Ran(str(tmp_path / "ran"))),
        "gzip": b"\x1f\x8b" + bytes(100),
        "nulls": bytes(10_000),
    }
    file = tmp_path / f"table{suffix}"
    file.write_bytes(contents[what])
    for words in (
        ["report", "--table", str(file)],
        ["annotations", "import", str(file)],
        ["trajectories", "import", "--format", "minari", str(file)],
    ):
        code = main([*words, "--workspace", str(tmp_path / "w")])
        said = capsys.readouterr().err.strip()
        assert code in (1, 2) and len(said.splitlines()) == 1, said
    assert not (tmp_path / "ran").exists() and not (tmp_path.parent / "outside.csv").exists()


class Ran:
    """Makes a folder where it is unpickled."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (self.folder,)


@attempt(
    KIND,
    "a pickle of twelve bytes that has its reader keep gigabytes",
    "refused; it takes no more than any other",
)
def test_pickle_takes_no_more_memory_than_its_size(tmp_path) -> None:
    require_package("overcooked_ai_py")
    from sts_overcooked import loader

    file = tmp_path / "trials.pickle"
    file.write_bytes(b"\x80\x04Nr" + struct.pack("<I", 2**25) + b".")
    tracemalloc.start()
    try:
        with pytest.raises(DamagedData, match="expected a pickled table"):
            loader.read_table(file)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


RUNS = {"eval", "exec", "compile", "__import__", "allow_pickle", "shell"}
UNPACKS = {"pickle", "marshal", "shelve", "dill", "yaml", "zipfile", "tarfile", "joblib"}
ALLOWED = {
    ("analysis/sts_analysis/evidence/bundle.py", "zipfile"),  # writes one
    ("analysis/sts_analysis/inputs/excel.py", "zipfile"),  # adds up how long its files are
    ("sts/jobs/pool.py", "pickle"),  # of a task, by a worker, from the process that started it
    ("sts/storage/archive.py", "zipfile"),  # of files that are as long as in it, below a folder
    ("worlds/overcooked/sts_overcooked/loader.py", "pickle"),  # by a reader that makes nothing
    ("worlds/overcooked/sts_overcooked/agents/cloned.py", "allow_pickle"),  # False
}


def dangerous(text: str) -> Iterator[str]:
    """Yield what of a module's text could run, or unpack, what is in a file."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from {one.name.partition(".")[0] for one in node.names} & UNPACKS
        elif isinstance(node, ast.ImportFrom):
            yield from {(node.module or "").partition(".")[0]} & UNPACKS
        elif isinstance(node, ast.Call):
            yield from {getattr(node.func, "id", "")} & RUNS
            yield from {one.arg or "" for one in node.keywords} & RUNS


@attempt(
    "Code named in data",
    "whether any module unpickles, evaluates, unpacks an archive, or calls a shell",
    "none but the readers of backups, which nothing is packed in, and of Overcooked's recordings, "
    "which makes nothing that a pickle names; and workers, which unpickle only the tasks of the "
    "process that started them",
)
def test_no_module_runs_or_unpacks_the_content_of_a_file() -> None:
    found = {
        (str(file.relative_to(ROOT)), name)
        for package in ("sts", "scenarios", "analysis", "annotator_app", "worlds")
        for file in (ROOT / package).rglob("*.py")
        for name in dangerous(file.read_text("utf-8"))
    }
    assert found == ALLOWED


@attempt(
    "Code named in data",
    "module:Class as the agent, scenario, category, annotator or metric of a table",
    "a name like any other; nothing is imported",
)
def test_name_in_a_table_is_never_imported(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "harmful.py").write_text("import pathlib; pathlib.Path('ran').touch()")
    lines = ["agent,scenario,category,annotator,verdict,continuation"]
    for agent in ("harmful:Class", "b"):
        own = [agent, *["harmful:Class"] * 3, "success"]
        lines += [",".join([*own, str(n)]) for n in range(3)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    scores = "agent,metric,value\nharmful:Class,harmful:Class,0.5\nb,harmful:Class,1\n"
    (tmp_path / "s.csv").write_text(scores)
    words = ["report", "--table", "t.csv", "--scores", "s.csv", "--out", "out"]
    assert main(words) == 0
    assert main(["annotations", "import", "t.csv", "--workspace", "w"]) in (0, 1, 2)
    assert "harmful" not in sys.modules and not (tmp_path / "ran").exists()
