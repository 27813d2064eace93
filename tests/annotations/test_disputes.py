"""What judges of a clip disagree about."""

from __future__ import annotations

import pytest

from sts.annotations.opinions import classify_disagreement
from sts.annotations.remarks import Remark

DONE, MISSED = ("success", 4), ("failure", 4)
NOT_DONE, UNABLE = ("not_done", None), ("cannot_judge", None)
Said = tuple[str, int | None]


def said(*each: Said) -> list[Remark]:
    clip = ("", "", "", "", "")
    return [
        Remark(*clip, n, "", "", "", "verdict", verdict, step, "", "", "", 0.0)
        for n, (verdict, step) in enumerate(each)
    ]


@pytest.mark.parametrize(
    ("opinions", "about"),
    [
        ([DONE], ""),
        ([DONE, DONE], ""),
        ([DONE, MISSED], "outcome"),
        ([DONE, NOT_DONE, NOT_DONE], "outcome"),
        ([DONE, MISSED, UNABLE], "outcome"),
        ([MISSED, NOT_DONE], "verdict"),
        ([DONE, UNABLE], "verdict"),
        ([UNABLE, UNABLE], ""),
        ([NOT_DONE, NOT_DONE], ""),
        ([DONE, ("success", 9)], ""),
        ([DONE, ("success", 10)], "mark"),
        ([DONE, ("success", 7), ("success", 10)], "mark"),
        ([MISSED, ("failure", 20)], "mark"),
    ],
)
def test_a_dispute_is_about_the_outcome_before_the_verdict_before_the_mark(
    opinions: list[Said], about: str
) -> None:
    assert (
        classify_disagreement(said(*opinions), 5)
        == classify_disagreement(said(*reversed(opinions)), 5)
        == about
    )
