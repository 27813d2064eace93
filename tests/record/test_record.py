"""Everything that the record holds is as it was; each claim is a test, each difference has a place.

A change that is meant to change results writes the record again and says so.
"""

from pathlib import Path

import pytest

from tests.record import kept
from tests.record.claims import RECORDINGS, Claims

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", [name for name in Claims(Path()).every if name != "study"])
def test_claim_is_as_recorded(claims, name):
    assert kept.differences(kept.read()[name], claims.every[name]()) == []


def test_record_holds_500_trajectories():
    record = kept.read()
    assert sum(record[f"trajectories-{world}"]["trajectories"] for world in RECORDINGS) == 500


def test_study_of_300_answers_exports_as_recorded(claims, study_folder):
    assert kept.differences(kept.read()["study"], claims.study(study_folder)) == []
