"""Each two writing commands at once; and that a change which another has lost is found."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from sts.storage.workspace import Workspace
from tests.faults import commands, pairs
from tests.faults.commands import Outcome
from tests.faults.pairs import Serial
from tests.faults.pipeline import undisturbed
from tests.faults.trials import BrokenPromise, drawn
from tests.faults.values import PACKED, Masked

NAMES = sorted(commands.writing())


@pytest.mark.slow
@pytest.mark.parametrize("one", NAMES)
def test_two_commands_at_once_make_what_one_after_the_other_makes(one: str, tmp_path: Path) -> None:
    random = drawn(1, one, 0)
    for other in NAMES[NAMES.index(one) :]:
        last = int(random.integers(len(undisturbed(one).steps) + 1))
        pairs.at_once(one, other, last, tmp_path / other.replace(" ", "-"))


def test_a_change_that_is_lost_between_two_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apart = pairs.serial("suite tag", "suite save")
    assert all(alone not in apart.both for alone in apart.alone)
    steps = undisturbed("suite tag").steps
    late = next(i for i, step in enumerate(steps, 1) if step.startswith("replace"))
    assert steps[0] == "open w/workspace.toml"  # to lock it
    told = pairs.at_once("suite tag", "suite save", late, tmp_path / "locked")
    assert told == {"both succeed": 1}
    monkeypatch.setattr(Workspace, "locked", lambda self: nullcontext())
    with pytest.raises(BrokenPromise, match="tags/tiny.json.* is as in no order"):
        pairs.at_once("suite tag", "suite save", late - 1, tmp_path / "free", wait=60)


def test_two_that_succeed_with_different_results_are_found() -> None:
    apart = Serial(Masked(frozenset()), ({"a": 1}, {"a": 2}), ({"a": 3}, {"a": 4}))
    done, refused = Outcome(0, "", ()), Outcome(1, "", ("sts: there already",))
    assert pairs.judged(apart, [done, done], {"a": 2}, []) == {"both succeed": 1}
    assert pairs.judged(apart, [done, refused], {"a": 3}, []) == {"one refused": 1}
    with pytest.raises(BrokenPromise, match="in no order"):
        pairs.judged(apart, [done, done], {"a": 3}, [])
    with pytest.raises(BrokenPromise, match="in one line"):
        pairs.judged(apart, [done, Outcome(1, "", ())], {"a": 1}, [])


def test_what_a_backup_never_looked_at_is_found_in_it() -> None:
    row, other = f"out/backup{PACKED}continuation 1", f"out/backup{PACKED}continuation 2"
    orders = {"a": 1, row: 1, other: 1}, {"a": 1}
    apart = Serial(Masked(frozenset()), orders, orders)
    done = [Outcome(0, "", ())] * 2
    assert pairs.judged(apart, done, {"a": 1, row: 1}, []) == {"both succeed": 1}  # one in time
    for wrong in ({"a": 1, row: 2}, {"a": 1, f"{row}7": 1}):
        with pytest.raises(BrokenPromise, match="out/backup.* is as in no order"):
            pairs.judged(apart, done, wrong, [])
