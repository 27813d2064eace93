"""Columns and values of the ratings table.

One row is one judgement of a continuation; `docs/data_standard.md` describes the columns.
"""

import re

UNABLE = "cannot_judge"
VERDICTS = ("success", "failure", "not_done", UNABLE)
MARKED_VERDICTS = ("success", "failure")
"""Verdicts that have a marker, the step of the success or failure."""
SOURCES = ("human", "settled", "automatic", "model")
"""Sources of a verdict. A `settled` one is auto-resolved by an automatic label, without annotator;
it counts like a human one in pass rates, and nowhere else."""
TRUTH_SOURCES = RULE, PEOPLE = ("rule", "people")
"""Sources of the known verdict of a reference."""
ACCESS_LEVELS = ("observation", "world", "rehearsal", "recording")
"""Access levels of agents: all but the first are privileged."""
MAX_HORIZON = 2**31 - 1
"""The longest horizon, which fits into int32."""
TYPES = {
    "agent": "str",
    "scenario": "str",
    "category": "str",
    "continuation": "str",
    "annotator": "str",
    "verdict": "str",
    "step": "Int64",
    "horizon": "int64",
    "kind": "str",
    "trajectory": "str",
    "truth": "str",
    "truth_step": "Int64",
    "clip": "str",
    "media": "str",
    "seconds": "Float64",
    "source": "str",
    "sees": "str",
    "reason": "str",
    "extra": "int64",
    "adjudicated": "str",
    "adjudicated_step": "Int64",
    "rubric": "str",
    "order": "Int64",
    "twice": "int64",
    "round": "Int64",
    "place": "Float64",
    "cell": "Int64",
    "rubric_shown": "Int64",
    "truth_source": "str",
    "excluded": "str",
    "notes": "str",
}
"""Every column and its pandas type."""
WRITTEN_COLUMNS = tuple(TYPES)[:8]
"""Columns of every ratings table that `sts` writes."""
REQUIRED_COLUMNS = ("agent", "scenario", "verdict")
"""Columns that an imported ratings table must have; all others are optional."""


def column_types(*names: str) -> dict[str, str]:
    """Return the types of the columns `WRITTEN_COLUMNS` and `names`, in the table's order."""
    return {name: kind for name, kind in TYPES.items() if name in (*WRITTEN_COLUMNS, *names)}


USUAL_WORDS = {"1": "success", "0": "failure"}
"""Verdicts by other words for them, as `fold_word` returns the words."""
BOOLEANS = {"true": "1", "false": "0"}
_WHOLE_NUMBER = re.compile(r"([+-]?[0-9]+)\.0+")


def fold_word(word: str) -> str:
    """Return the form of a verdict in which it is compared: 1 for True, TRUE and 1.0."""
    folded = normalise_verdict(word)
    number = _WHOLE_NUMBER.fullmatch(folded)
    return number[1] if number else BOOLEANS.get(folded, folded)


def normalise_verdict(cell: str) -> str:
    """Normalise a verdict to lower case without outer spaces, as in `VERDICTS`."""
    return cell.strip().lower()
