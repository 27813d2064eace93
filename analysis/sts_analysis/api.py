"""The functions about results that `import sts` provides; `sts report` calls the same ones."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, Unpack

import pandas as pd

from sts.cli.arguments import show_progress, warn
from sts.errors import ArgumentError, DamagedData, UnknownName
from sts.provenance import collect_provenance
from sts.spellings import Spellings, make_spellings
from sts.storage.workspace import Workspace
from sts.suites.selections import Selection
from sts_analysis.inputs.files import TABLE_FORMATS
from sts_analysis.inputs.gather import (
    Gathered,
    add_scores,
    gather_table,
    use_pseudonyms,
)
from sts_analysis.inputs.mapping import (
    AS_WRITTEN,
    ColumnMapping,
    TableOptions,
    Words,
    make_mapping,
)
from sts_analysis.report import results
from sts_analysis.report.core import Options, Study
from sts_analysis.report.document import compute_report
from sts_analysis.report.notebook import NotebookReport


class ForeignFrame(Protocol):
    """A data frame of another library, such as polars."""

    def to_pandas(self) -> pd.DataFrame:
        """Return it as a data frame of pandas."""


Source = str | Path | pd.DataFrame | ForeignFrame | Selection
"""A ratings table, its file, or a suite: NAME@VERSION or what was loaded."""
Scores = str | Path | pd.DataFrame | ForeignFrame
TARGETS = ("sampled", "fixed")
UNITS = ("trajectory", "people")
GOALS = ("rank", "best")


def load_ratings(
    source: Source,
    *,
    columns: Mapping[str, str] | None = None,
    success: Words = (),
    failure: Words = (),
    same: str | Sequence[str] = (),
    distinct: str | Sequence[str] = (),
    workspace: Workspace | str | Path | None = None,
    **table: Unpack[TableOptions],
) -> pd.DataFrame:
    """Load and check a ratings table, one row per verdict.

    Args:
      source: a suite whose continuations were annotated or labelled, a file (.csv, .tsv, .parquet,
        .xlsx) or a data frame (pandas, polars);
        three columns are enough: `agent`, `scenario`, `verdict`. Verdicts are "success", "failure",
        "not_done" and "cannot_judge", booleans, or 1 and 0.
      columns: of a file or data frame, its names of columns: `{"agent": "Model"}`.
      success: of a file or data frame, the verdicts that mean success, such as "pass", (4, 5) or
        ">=4".
      failure: of a file or data frame, the verdicts that mean failure.
      same: of a file or data frame, spellings of one name: "Ann=ann" reads ann as Ann.
      distinct: of a file or data frame, similar names that are different: "Ann|ann".
      workspace: of the suite; None for `STS_WORKSPACE`, else `sts-workspace`.
      **table: of a file or data frame, further options: `not_done`, `cannot_judge`, `ignore`,
        `annotator_columns`, `model_annotator`, `leave_out`, `unused`, `keep_equal_rows`, `format`.

    Returns:
      The columns of the ratings table (docs/data_standard.md), with defaults for those that were
      missing. People of a suite have pseudonyms.

    Raises:
      StsError: a column or value is not as expected, or nothing of the suite is judged.

    Examples:
      >>> import pandas as pd
      >>> import sts
      >>> theirs = pd.DataFrame({"Model": ["m", "n"], "Item": [1, 1], "Score": [5, 2]})
      >>> columns = {"agent": "Model", "scenario": "Item", "verdict": "Score"}
      >>> sts.load_ratings(theirs, columns=columns, success=">=4")["verdict"].tolist()
      ['success', 'failure']
    """
    mapping = make_mapping(columns, success, failure, **table)
    gathered = _gather(source, mapping, make_spellings(same, distinct), None, workspace)
    for question in gathered.reading.questions if gathered.reading else ():
        warn(question)
    return gathered.ratings


def build_report(
    source: Source | Gathered,
    scores: Scores | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    success: Words = (),
    failure: Words = (),
    same: str | Sequence[str] = (),
    distinct: str | Sequence[str] = (),
    target: str = "sampled",
    unit: str = "trajectory",
    closed: str = "",
    goal: str = "",
    planned: int | None = None,
    seed: int = 0,
    contrasts: Sequence[tuple[str, str]] = (),
    compare_to: str | None = None,
    prediction_powered: bool = False,
    guessing_baseline: str | None = None,
    non_inferiority_margin: float | None = None,
    reference_agent: str | None = None,
    real_names: bool = False,
    clip_page: str = "",
    workspace: Workspace | str | Path | None = None,
    **table: Unpack[TableOptions],
) -> NotebookReport:
    """Rank agents from their ratings; a notebook shows the report as its page.

    Args:
      source: what was rated; see `load_ratings`.
      scores: other metrics of the agents: a table of `agent`, `metric`, `value`, or its file.
      columns: of a file or data frame, its names of columns; see `load_ratings`.
      success: of a file or data frame, the verdicts that mean success.
      failure: of a file or data frame, the verdicts that mean failure.
      same: spellings of one name in the table or in `scores`: "Ann=ann" reads ann as Ann.
      distinct: similar names there that are different: "Ann|ann".
      target: what intervals are about: "sampled", other scenarios like these, or "fixed", these.
      unit: what was drawn independently: "trajectory", or "people" to join all scenarios that the
        same people recorded (suites only).
      closed: of a file or data frame, why the study was closed before all was judged.
      goal: of a file or data frame judged in rounds, repeat the race of its agents: "rank" or
        "best"; it needs the columns `round` and `place`.
      planned: of a file or data frame, how many continuations of each agent in each scenario were
        planned; None for as many as the agent has at most in one scenario.
      seed: of random draws (permutations); equal seeds give equal reports.
      contrasts: pairs of agents whose comparison was planned beforehand.
      compare_to: another version of the suite, NAME@VERSION.
      prediction_powered: also estimate rates with labels of a rule where people have not judged.
      guessing_baseline: the agent whose passes count as guesses.
      non_inferiority_margin: difference in pass rate (0 to 1) that still counts as not worse.
      reference_agent: the agent that others may be not worse than; None for the best.
      real_names: show people's names instead of pseudonyms.
      clip_page: address of a page with supporting clips, which `sts report` writes; "" for none.
      workspace: of the suite; None for `STS_WORKSPACE`, else `sts-workspace`.
      **table: of a file or data frame, further options; see `load_ratings`.

    Returns:
      The report: its sections as attributes, `frames()`, and `save(folder)`.

    Raises:
      StsError: a table or an argument is not as expected.

    Examples:
      >>> import pandas as pd
      >>> import sts
      >>> table = pd.DataFrame({"agent": ["careful"] * 12 + ["hasty"] * 12})
      >>> table["scenario"] = [*range(12)] * 2
      >>> table["verdict"] = ["success"] * 12 + ["failure"] * 12
      >>> sts.build_report(table).headline
      'careful is best, ahead of hasty.'
    """
    if target not in TARGETS:
        raise UnknownName("target", target, TARGETS)
    if unit not in UNITS:
        raise UnknownName("unit", unit, UNITS)
    if goal not in ("", *GOALS):
        raise UnknownName("goal", goal, GOALS)
    if seed < 0:
        raise ArgumentError(f"seed: expected 0 or more, found {seed}")
    if planned is not None and planned < 1:
        raise ArgumentError(f"planned: expected 1 or more, found {planned}")
    mapping = make_mapping(columns, success, failure, **table)
    gathered = _gather(source, mapping, make_spellings(same, distinct), compare_to, workspace)
    if gathered.reading is not None:
        gathered = gathered if real_names else use_pseudonyms(gathered)
    elif real_names:
        from sts_analysis.inputs.workspace import called_by_name

        named = called_by_name(Workspace.open(workspace), gathered.ratings)
        gathered = gathered._replace(ratings=named)
    if scores is not None:
        gathered = add_scores(gathered, _find_table("scores", scores))
        if gathered.refused:
            raise DamagedData(gathered.refused)
    options = Options(
        target="fixed" if target == "fixed" else "sampled",
        seed=seed,
        people_are_units=unit == "people",
        closed=closed,
        goal=goal,
        planned=planned or 0,
        contrasts=tuple(contrasts),
        prediction_powered=prediction_powered,
        guessing_baseline=guessing_baseline or "",
        clip_page=clip_page,
        margin=non_inferiority_margin,
        reference_agent=reference_agent or "",
    )
    study = Study(gathered, options, collect_provenance())
    with show_progress("analysing", "sections") as progress:
        return NotebookReport(compute_report(study, progress), study)


def load_report(path: str | Path) -> NotebookReport:
    """Load a report from `report.json`, or from the folder that `sts report` has written.

    Raises:
      ArgumentError: there is no such file.
      DamagedData: it is not a report, or is one of an earlier version.
      NewerFormat: it is of a later version.

    Examples:
      >>> import pandas as pd
      >>> import sts
      >>> table = pd.DataFrame({"agent": ["a", "b"], "scenario": [1, 1], "verdict": [1, 0]})
      >>> page = sts.build_report(table).save("report")
      >>> [(row.agent, row.pass_rate) for row in sts.load_report(page.parent).ranking.rows]
      [('a', 1.0), ('b', 0.0)]
    """
    return NotebookReport(results.read_report(Path(path)))


def _gather(
    source: Source | Gathered,
    mapping: ColumnMapping,
    spellings: Spellings,
    compare_to: str | None,
    workspace: Workspace | str | Path | None,
) -> Gathered:
    """Return the ratings of a source, with what a report needs to know about them."""
    if isinstance(source, Selection):
        source = source.label
    is_suite = (
        isinstance(source, str) and "@" in source and Path(source).suffix not in TABLE_FORMATS
    )
    if (is_suite or isinstance(source, Gathered)) and mapping != AS_WRITTEN:
        raise ArgumentError("columns, success and failure need a file or a data frame")
    if isinstance(source, Gathered):
        return source
    if is_suite:
        from sts_analysis.inputs.workspace import gather

        gathered = gather(Workspace.open(workspace), str(source), compare_to)
        return gathered._replace(spellings=spellings)
    table = _find_table("source", source)
    if compare_to is not None:
        raise ArgumentError("compare_to needs a suite, NAME@VERSION; a table has no other version")
    return gather_table(table, mapping, spellings)


def _find_table(parameter: str, value: Any) -> pd.DataFrame | Path:
    """Return the data frame that was given, of any library, or the path of a file.

    Raises:
      ArgumentError: it is neither; names the parameter.
    """
    if isinstance(value, pd.DataFrame):
        return value
    if isinstance(value, str | Path):
        return Path(value)
    wrong = (
        f"{parameter}: expected a data frame or the path of a file, found {type(value).__name__}"
    )
    if isinstance(value, type) or not hasattr(value, "to_pandas"):
        raise ArgumentError(wrong)
    try:
        frame = value.to_pandas()
    except Exception as error:  # of any library, which may lack one of its own
        raise ArgumentError(f"{wrong}, which pandas cannot take over: {error}") from error
    if not isinstance(frame, pd.DataFrame):
        raise ArgumentError(f"{wrong}, a column of a table")
    return frame
