"""Datasets that were made to do harm."""

import contextlib
import zlib
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pytest

from sts.errors import ArgumentError, DamagedData, StsError
from sts.formats.minari import exporter, importer, sizes
from tests.access.apart import refusal
from tests.access.attempts import attempt
from tests.examples import recorded
from tests.formats.minari.conftest import DATA, forge
from tests.trajectories.bell import walks

KIND = "Files from elsewhere"
REWARDS = "episode_0/rewards"
SECRET = b"a secret of 24 bytes...."


def empty(file: h5py.File, name: str, size: int) -> None:
    """Put `size` bytes of zeros in the place of an array, packed a thousand times smaller."""
    del file[name]
    chunk = min(size, 2**24)
    more = {"chunks": (chunk // 8,), "compression": "gzip"}
    made = file.create_dataset(name, shape=(size // 8,), dtype="f8", **more)
    packed = zlib.compress(bytes(chunk), 9)
    for at in range(0, size, chunk):
        made.id.write_direct_chunk((at // 8,), packed)


def bomb(file: h5py.File, place: Path) -> None:
    empty(file, REWARDS, sizes.MAX_BYTES + 2**24)


def many_bombs(file: h5py.File, place: Path) -> None:
    empty(file, REWARDS, sizes.MAX_BYTES // 4)
    for n in range(5):
        file[f"episode_1/again {n}"] = file[REWARDS]


def circle(file: h5py.File, place: Path) -> None:
    file["episode_0/infos/all"] = file["/"]


def soft_link(file: h5py.File, place: Path) -> None:
    file["episode_0/more"] = h5py.SoftLink("/episode_1")


def other_file(file: h5py.File, place: Path) -> None:
    with h5py.File(place / "other.hdf5", "w") as other:
        other["secret"] = np.zeros(3)
    del file[REWARDS]
    file[REWARDS] = h5py.ExternalLink(str(place / "other.hdf5"), "/secret")


def raw_file(file: h5py.File, place: Path) -> None:
    (place / "secret").write_bytes(SECRET)
    del file[REWARDS]
    file.create_dataset(REWARDS, shape=(3,), dtype="f8", external=[(place / "secret", 0, 24)])


def virtual(file: h5py.File, place: Path) -> None:
    with h5py.File(place / "other.hdf5", "w") as other:
        other["secret"] = np.zeros(3)
    layout = h5py.VirtualLayout(shape=(3,), dtype="f8")
    layout[:] = h5py.VirtualSource(place / "other.hdf5", "secret", shape=(3,))
    del file[REWARDS]
    file.create_virtual_dataset(REWARDS, layout)


@attempt(
    KIND,
    "an HDF5 file that unpacks a thousand times, stands in itself, or leads to other files by a "
    "soft or external link, external storage or a virtual array",
    "refused before an array is read; a dataset unpacks to 4 GiB at most",
)
@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (bomb, "at most 4294967296 bytes unpacked"),
        (many_bombs, "at most 4294967296 bytes unpacked"),
        (circle, "is linked from several places, or from itself"),
        (soft_link, "is a soft or external link, which is not allowed"),
        (other_file, "is a soft or external link, which is not allowed"),
        (raw_file, "is stored in another file, which is not allowed"),
        (virtual, "is stored in another file, which is not allowed"),
    ],
)
def test_dataset_neither_unpacks_without_limit_nor_leads_to_other_files(
    collect, tmp_path, harm, words
):
    folder = collect()
    with h5py.File(folder / DATA, "a") as file:
        harm(file, tmp_path)
    with pytest.raises(DamagedData, match=words):
        importer.read(folder)


@attempt(
    KIND,
    "a Minari dataset in Arrow's format that unpacks to more memory than reading may take",
    "one line, once the memory that reading may have (half of the machine's) is taken",
)
def test_dataset_of_arrow_takes_no_more_memory_than_allowed(collect, tmp_path):
    folder = collect(format="arrow", episodes=1)
    (file,) = [one for one in (folder / "data" / "0").iterdir() if one.suffix != ".json"]
    with pa.ipc.open_file(pa.OSFile(str(file))) as kept:
        large = pa.concat_tables([kept.read_all()] * 2**18).combine_chunks()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(str(file), large.schema, options=options) as out:
        out.write_table(large, max_chunksize=len(large))
    assert large.nbytes > 2**26
    del large
    assert file.stat().st_size < 2**22
    words = ["trajectories", "import", "--format", "minari", str(folder)]
    line = refusal(2**25, *words, "--workspace", str(tmp_path / "w"))
    assert line.endswith(
        "half of the memory of this machine; use a smaller file or a larger machine"
    )


@attempt(
    "Code named in data",
    "a dataset of ours whose world is a module:Class that lies in the current folder",
    "refused, and nothing is imported, unless --domain names it",
)
def test_code_named_in_a_dataset_is_imported_only_with_domain(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "harmful_world.py").write_text("import pathlib; pathlib.Path('ran').touch()")
    exporter.write(tmp_path / "theirs-v0", recorded(count=1))
    forge(tmp_path / "theirs-v0", recorded(count=1)[0], domain="harmful_world:World")
    for named in (None, "other_world:World"):
        with pytest.raises(ArgumentError, match="its world is the Python class 'harmful_world:W"):
            importer.read(tmp_path / "theirs-v0", domain=named)
    assert not (tmp_path / "ran").exists()
    with contextlib.suppress(StsError):
        importer.read(tmp_path / "theirs-v0", domain="harmful_world:World")
    assert (tmp_path / "ran").exists()


def test_custom_environment_is_read_when_it_is_named(tmp_path):
    (one,) = walks(1)
    exporter.write(tmp_path / "mine-v0", [one])
    assert importer.read(tmp_path / "mine-v0", domain=one.episode.domain)
