"""Browser application: annotate, review, curate, play and read the report."""
