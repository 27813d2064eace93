"""Files: permissions from the first moment, one holder of a lock, JSON that can be trusted."""

import os
import threading
from pathlib import Path

import pytest

from sts.storage import files


def test_a_secret_file_is_never_seen_by_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    real = os.replace

    def replace(source: str, target: Path) -> None:
        seen.append(Path(source).stat().st_mode & 0o777)
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    files.write_atomically(tmp_path / "key", b"secret", mode=0o600)
    assert seen == [0o600]
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


def test_a_lock_has_one_holder_at_a_time_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "shared"
    path.write_text("kept")
    order: list[str] = []

    def second() -> None:
        with files.locked(path):
            order.append("second")

    with files.locked(path):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.2)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
    assert path.read_text() == "kept"


@pytest.mark.parametrize("text", ["NaN", '{"a": Infinity}', "[]", "{", "[" * 100_000, '"a"'])
def test_json_of_another_kind_or_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        files.parsed_json(text, dict)
    assert files.parsed_json('{"a": [1.5]}', dict) == {"a": [1.5]}
