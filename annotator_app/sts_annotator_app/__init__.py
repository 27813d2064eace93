"""The browser application: annotate, take a turn, read the report."""
