"""The sections of the appendix, built like those of the main page."""

ORDER = (
    "rates",
    "conditions",
    "comparisons",
    "variance",
    "looks",
    "scenarios",
    "pairs",
    "dialogues",
    "tags",
    "dimensions",
    "consistency",
    "time_to_success",
    "annotators",
    "unjudgeable",
    "error_analysis",
    "corrected",
    "label_sources",
    "correlations",
    "version",
    "prediction_powered",
    "guessing",
    "statement",
    "terms",
    "provenance",
)
"""The sections in the order of the page."""
