"""Small studies for tests of the report, and what its appendix makes of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from sts_analysis.inputs.gather import Gathered
from sts_analysis.inputs.ratings import check_ratings
from sts_analysis.inputs.scores import check_scores, empty_scores
from sts_analysis.inputs.subject import ComparedVersion, Subject
from sts_analysis.inputs.tables import from_frame
from sts_analysis.report.core import Options, Report, Study
from sts_analysis.report.document import load_appendix, render_appendix
from sts_analysis.report.sections import conclusion

VERDICTS = {"1": "success", "0": "failure", "-": "not_done", "?": "cannot_judge", "_": ""}


def make_rows(agents: Mapping[str, str], *, categories: int = 1, **columns: Any) -> pd.DataFrame:
    """Lay out verdicts: of each agent a word per scenario, in it (verdict, annotator) pairs.

    Each pair is a continuation of its own. A success is at step 3 of 10.

    Args:
      agents: words by name; in "1a0b" a says success of one continuation, b failure of another.
      categories: of which scenarios are, in turn.
      columns: more columns of the table.
    """
    rows = [
        (name, f"s{s:02}", f"c{s % categories}", f"{s}-{i}", *_read(word[i : i + 2]))
        for name, words in agents.items()
        for s, word in enumerate(words.split())
        for i in range(0, len(word), 2)
    ]
    names = ["agent", "scenario", "category", "continuation", "verdict", "step", "annotator"]
    return pd.DataFrame(rows, columns=names).assign(horizon="10", **columns)


def draw_rows(
    rates: Mapping[str, float], *, scenarios: int = 24, annotators: str = "abc", seed: int = 0
) -> pd.DataFrame:
    """Draw a study in which three continuations of each scenario are judged at random."""
    rng = np.random.default_rng(seed)

    def draw(rate: float) -> str:
        pairs = [("01"[int(rng.random() < rate)], rng.choice([*annotators])) for _ in range(3)]
        return "".join(map("".join, pairs))

    words = {agent: " ".join(draw(r) for _ in range(scenarios)) for agent, r in rates.items()}
    return make_rows(words, categories=4)


def make_study(
    rows: pd.DataFrame,
    *,
    subject: Subject | None = None,
    scores: pd.DataFrame | None = None,
    other: ComparedVersion | None = None,
    **options: Any,
) -> Study:
    """Make a study of a table of texts."""
    table = check_ratings(from_frame("table", rows.astype(str)))
    checked = empty_scores() if scores is None else check_scores(from_frame("scores", scores))
    gathered = Gathered(table, checked, subject or Subject("table"), Path("out"), other)
    return Study(gathered, Options(**options), {"sts": "1.0", "commit": None, "dirty": None})


def compute_appendix(study: Study) -> Report:
    """Compute the sections of the appendix, and the conclusion."""
    modules = {"conclusion": conclusion, **load_appendix()}
    fields = [(name, module.Result | None) for name, module in modules.items()]
    kind = msgspec.defstruct("AppendixReport", fields, bases=(Report,), kw_only=True)
    report = kind(**{name: module.compute(study) for name, module in modules.items()})
    assert isinstance(report, Report)
    return report


def read_section(report: Report, name: str) -> str:
    """Return the HTML of one section of the appendix; "" if it is absent."""
    found = re.search(f'<section id="{name}">(.*?)</section>', render_appendix(report), re.DOTALL)
    return found[1] if found else ""


def _read(pair: str) -> tuple[str, str, str]:
    verdict = VERDICTS[pair[0]]
    return verdict, "3" if verdict == "success" else "", pair[1] if verdict else ""
