"""Two writing commands at once make what one after the other makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults import commands, pairs
from tests.faults.pipeline import undisturbed
from tests.faults.trials import make_generator

NAMES = sorted(commands.writing())


@pytest.mark.slow
@pytest.mark.parametrize("one", NAMES)
def test_two_commands_at_once_make_what_one_after_the_other_makes(one: str, tmp_path: Path) -> None:
    random = make_generator(1, one, 0)
    for other in NAMES[NAMES.index(one) :]:
        last = int(random.integers(len(undisturbed(one).steps) + 1))
        pairs.at_once(one, other, last, tmp_path / other.replace(" ", "-"))
