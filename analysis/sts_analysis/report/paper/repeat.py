"""The commands and hashes with which someone else makes the same report."""

import hashlib
import shlex

from sts_analysis.report import json_form
from sts_analysis.report.schema import Report


def commands(report: Report) -> list[str]:
    """The commands that make the report, as a shell takes them."""
    options = ["--target", report.target, "--seed", str(report.seed)]
    for pair in report.contrasts:
        options += ["--contrast", pair.a, pair.b]
    held = report.questions.not_worse if report.questions else ()
    if held:
        options += ["--non-inferiority-margin", f"{100 * held[0].margin:g}"]
    if len(references := {one.reference for one in held}) == 1:
        options += ["--reference-agent", *references]
    if report.against is not None:
        options += ["--compare-to", report.against.suite]
    if report.provenance.suite_hash is not None:
        first = ["sts", "suite", "verify", report.suite.split("+")[0]]
        return [shlex.join(first), shlex.join(["sts", "report", report.suite, *options, "--paper"])]
    if report.metrics or report.metrics_left_out or report.metrics_of_unknown_agents:
        options += ["--scores", "FILE"]
    return [shlex.join(["sts", "report", "--table", report.suite, *options, "--paper"])]


def repeat(report: Report) -> str:
    """How to repeat the report, as Markdown: commands, hashes and versions."""
    made = report.provenance
    hashes = {
        "hash of the suite": made.suite_hash,
        "hash of what people had judged": made.annotations_hash,
        f"SHA-256 of {json_form.FILE}": hashlib.sha256(json_form.text(report).encode()).hexdigest(),
    }
    lines = ["# To repeat this report", "", "```sh", *commands(report), "```", ""]
    lines += [f"- {what}: `{value}`" for what, value in hashes.items() if value]
    lines += [f"- {name} {version}" for name, version in made.versions.items()]
    if made.commit:
        lines.append(f"- commit `{made.commit}`{', edited since' if made.dirty else ''}")
    return "\n".join(lines) + "\n"
