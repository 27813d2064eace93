"""The commands, hashes and inputs with which someone else makes the same report."""

import hashlib
import shlex

from sts_analysis.inputs.reading import describe_reading
from sts_analysis.report import results
from sts_analysis.report.core import Report


def format_instructions(report: Report) -> str:
    """Return how to repeat the report, as Markdown: commands, hashes, inputs and versions."""
    made = report.provenance
    commands = [["sts", "report", *made.arguments, "--paper"]]
    if made.suite_hash is not None:
        commands.insert(0, ["sts", "suite", "verify", report.conclusion.suite.split("+")[0]])
    digest = hashlib.sha256(results.encode(report)).hexdigest()
    hashes = {
        "hash of the suite": made.suite_hash,
        "hash of people's verdicts": made.annotations_hash,
        f"SHA-256 of {results.FILE}": digest,
    }
    lines = ["# To repeat this report", "", "```sh", *map(shlex.join, commands), "```", ""]
    lines += [f"- {what}: `{value}`" for what, value in hashes.items() if value]
    lines += [
        f"- input `{file.name}`: {file.rows:,} rows, SHA-256 `{file.sha256}`"
        for file in made.inputs
    ]
    if made.reading is not None:
        lines += [f"- {about}: {text}" for about, text in describe_reading(made.reading).items()]
    lines += [f"- {name} {version}" for name, version in made.versions.items()]
    return "\n".join(lines) + "\n"
