"""The sections of the main page: each is one module with its result, and what it shows."""

ORDER = (
    "conclusion",
    "ranking",
    "next_steps",
    "categories",
    "clips",
    "judging",
    "score",
    "method",
)
"""The sections in the order of the page."""
