"""What a paper takes from a report: figures, tables, captions, and the paragraph on methods."""

FORMATS = ("svg", "pdf", "png")
FOLDER = "paper"
COLUMNS = {1: "one_column", 2: "two_columns"}
FIGURES = ("pass_rates", "categories", "time_to_success")
TABLES = ("ranking", "comparisons", "categories", "correlations")
TEXTS = ("captions.md", "figures.tex", "methods.tex", "methods.txt", "references.bib", "repeat.md")
NAMES = frozenset(
    f"{FOLDER}/{name}"
    for name in (
        *TEXTS,
        *(f"{name}_{width}.{s}" for name in FIGURES for width in COLUMNS.values() for s in FORMATS),
        *(f"table_{name}.{suffix}" for name in TABLES for suffix in ("tex", "csv")),
    )
)
"""Every file that the folder can have; other files in it are the user's."""
