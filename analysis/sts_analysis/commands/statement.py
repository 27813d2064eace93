"""`sts suite statement`: the statement of standards of a suite, as in the appendix of a report."""

from itertools import groupby

import msgspec

from sts.cli.command import Result
from sts.provenance import collect_provenance
from sts.storage.workspace import Workspace
from sts.suites.folders import list_versions
from sts.suites.selections import load_selection
from sts.suites.statement import FILE, QUESTIONS
from sts_analysis.inputs.workspace import NothingJudged, describe_subject, gather
from sts_analysis.report.appendix import statement
from sts_analysis.report.core import Options, Study


def describe_statement(workspace: Workspace, suite: str) -> Result:
    """Show the statement of a suite; without judgements, what is known before them."""
    chosen, note = load_selection(workspace, suite), ""
    subject = describe_subject(workspace, chosen)
    try:
        study = Study(gather(workspace, suite), Options(), collect_provenance())
    except NothingJudged as error:
        study, note = None, f"\n{error}"
    found = statement.make_statement(subject, study)
    lines = [f"Statement of standards of {subject.name}"]
    for standard, rows in groupby(found.rows, lambda row: row.standard):
        lines += ["", standard, *(f"  {row.item} ({row.source}): {row.text}" for row in rows)]
    missing = sum(row.source == "missing" for row in found.rows)
    lines += ["", f"{missing} of {len(found.rows)} items are missing{note}"]
    file = list_versions(workspace)[chosen.suite.name][chosen.suite.version] / FILE
    lines.append(f"answers of the curator, in {file}: {', '.join(QUESTIONS)}")
    return Result({"suite": subject.name, **msgspec.to_builtins(found)}, "\n".join(lines))
