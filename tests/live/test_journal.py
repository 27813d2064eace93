"""The journal of a live session: what was appended is on disk, and nothing else is read."""

import os
import signal
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sts.errors import DamagedData, Unavailable
from sts.live.journal import Journal, read_events

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def write(path, texts):
    journal = Journal(path, new=True)
    for text in texts:
        journal.append("told", text=text)
    journal.close()


@given(texts=st.lists(TEXTS, max_size=5), cut=st.integers(0, 10**6))
@settings(max_examples=50)
def test_journal_cut_off_anywhere_keeps_every_whole_event_and_goes_on(tmp_path_factory, texts, cut):
    path = tmp_path_factory.mktemp("journal") / "a.jsonl"
    write(path, texts)
    raw = path.read_bytes()
    kept = raw[: cut % (len(raw) + 1)]
    path.write_bytes(kept)
    whole = [{"kind": "told", "text": text} for text in texts[: kept.count(b"\n")]]
    assert read_events(path) == whole
    journal = Journal(path, new=False)
    journal.append("resumed")
    journal.close()
    assert read_events(path) == [*whole, {"kind": "resumed"}]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lines: [lines[0], lines[1].replace(b"b", b"x"), *lines[2:]], "event 2 was altered"),
        (lambda lines: [lines[0], *lines[2:]], "event 2 was altered"),
        (lambda lines: [lines[1], lines[0], *lines[2:]], "event 1 was altered"),
        (lambda lines: [b"{", *lines], "event 1 cannot be read"),
        (lambda lines: [b"\xff", *lines], "event 1 cannot be read"),
        (lambda lines: [b"[" * 10**6, *lines], "event 1 cannot be read"),
    ],
)
def test_altered_lost_and_moved_events_are_found(tmp_path, change, words):
    path = tmp_path / "a.jsonl"
    write(path, ["a", "b", "c"])
    path.write_bytes(b"\n".join(change(path.read_bytes().split(b"\n"))))
    with pytest.raises(DamagedData, match=words):
        read_events(path)
    with pytest.raises(DamagedData, match=words):
        Journal(path, new=False)


def test_journal_is_open_in_one_process_only_and_is_never_overwritten(tmp_path):
    path = tmp_path / "a.jsonl"
    journal = Journal(path, new=True)
    with pytest.raises(Unavailable, match="another process has it open"):
        Journal(path, new=False)
    with pytest.raises(Unavailable, match="exists"):
        Journal(path, new=True)
    journal.close()
    Journal(path, new=False).close()
    (tmp_path / "b.jsonl").symlink_to(path)
    with pytest.raises(Unavailable):
        Journal(tmp_path / "b.jsonl", new=False)


FILL = """
import resource, signal, sys
from pathlib import Path
from sts.errors import Unavailable
from sts.live.journal import Journal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = Journal(Path(sys.argv[1]), new=True)
journal.append("told", text="before")
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
try:
    journal.append("told", text="x" * 5000)
except Unavailable as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
journal.append("told", text="after")
"""


def test_full_disk_leaves_the_journal_as_it_was(tmp_path):
    path = tmp_path / "a.jsonl"
    run = subprocess.run(
        [sys.executable, "-c", FILL, path], capture_output=True, text=True, check=True
    )
    assert str(path) in run.stdout and run.stdout.count("\n") == 1
    assert [event["text"] for event in read_events(path)] == ["before", "after"]


KILLED = """
import os, signal, sys
from pathlib import Path
from sts.live.journal import Journal
journal = Journal(Path(sys.argv[1]), new=True)
for n in range(10**6):
    journal.append("told", text=str(n))
    print(n, flush=True)
"""


def test_event_that_was_acknowledged_survives_kill_9(tmp_path):
    path = tmp_path / "a.jsonl"
    with subprocess.Popen([sys.executable, "-c", KILLED, path], stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        for _ in range(50):
            last = int(run.stdout.readline())
        os.kill(run.pid, signal.SIGKILL)
    events = read_events(path)
    assert [event["text"] for event in events] == [str(n) for n in range(len(events))]
    assert len(events) > last
