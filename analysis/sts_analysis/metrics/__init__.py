"""Metrics of agents other than the pass rate, one a file: each a column of the validity matrix."""
