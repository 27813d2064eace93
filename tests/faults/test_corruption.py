"""Bits flipped in a file of each kind: the change is noticed or the value is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults import commands, corruption
from tests.faults.trials import make_generator

FLIPS = 200


@pytest.mark.slow
@pytest.mark.parametrize("kind", corruption.KINDS)
def test_no_flipped_bit_is_another_value(kind: str, tmp_path: Path) -> None:
    folder, random = commands.copy(tmp_path / "f"), make_generator(1, kind, 0)
    size = 8 * corruption.a_file(kind).stat().st_size
    places = random.choice(size, FLIPS, replace=False)
    assert "noticed" in {corruption.flip(kind, int(place), folder) for place in places}
