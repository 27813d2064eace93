"""Ratings tables, statistics, ranking, correlation and reports; `sts_analysis.api` is public."""
