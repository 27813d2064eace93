"""Names that categories of other packages may use, next to `sts.plugin`.

Each name is imported when it is first used.

`docs/plugins.md` lists the names with what they are for.
"""

from typing import Any

from sts.lazy import load_name

GROUPS: dict[str, dict[str, str]] = {
    "Categories": {
        "Candidate": "sts_scenarios.rules.category:Candidate",
        "CandidateColumns": "sts_scenarios.rules.category:CandidateColumns",
        "Category": "sts_scenarios.rules.category:Category",
        "ControlPolicies": "sts_scenarios.rules.category:ControlPolicies",
        "Criterion": "sts_scenarios.rules.category:Criterion",
        "iter_environments": "sts_scenarios.rules.environments:iter_environments",
        "Label": "sts_scenarios.rules.category:Label",
        "load_category": "sts_scenarios.rules.categories:load_category",
        "Overlay": "sts_scenarios.rules.category:Overlay",
        "Prefilter": "sts_scenarios.rules.category:Prefilter",
        "Rubric": "sts_scenarios.rules.category:Rubric",
    },
    "Categories whose instructions name a task": {
        "difficulty_by_steps": "sts_scenarios.rules.solvability:difficulty_by_steps",
        "encode_proposals": "sts_scenarios.rules.solvability:encode_proposals",
        "label_attempt": "sts_scenarios.rules.solvability:label_attempt",
        "make_candidates": "sts_scenarios.rules.solvability:make_candidates",
        "make_label": "sts_scenarios.rules.solvability:make_label",
        "NOT_DONE": "sts_scenarios.rules.solvability:NOT_DONE",
        "Proposal": "sts_scenarios.rules.solvability:Proposal",
        "steps_needed": "sts_scenarios.rules.solvability:steps_needed",
        "Task": "sts_scenarios.rules.solvability:Task",
        "template_fields": "sts_scenarios.rules.solvability:template_fields",
        "why_not_proposed": "sts_scenarios.rules.solvability:why_not_proposed",
    },
}
"""The names by subject, each with its `module:Name`, or the module that it is."""
HOMES = {name: home for names in GROUPS.values() for name, home in names.items()}
__all__ = tuple(sorted(HOMES))  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    value = load_name(__name__, name, HOMES)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES})
